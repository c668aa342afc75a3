import { useEffect, useState } from "react";
import { own } from "../../api/client";
import type { Link, Session, SignedIn, SignInResult } from "../../api/console";
import { t } from "../../text/signin";
import { Button, ButtonLink } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { Spinner } from "../../ui/spinner";
import { TextField } from "../../ui/textfield";
import { Ask, Panel } from "./panel";
import { NewPasswordField, PasswordField } from "./password";
import { enter, token, told, useTry } from "./way";

// Asked once for a page, because what lets one in works once.
let looked: Promise<Link> | undefined;
let entered: Promise<SignInResult> | undefined;

/** Follows a one-time link: joins a workspace, sets a new password, or goes in. */
export function FollowLink({ session, second }: { session: Session; second: (ticket: string) => void }) {
  const [link, setLink] = useState<Link | null>(null);
  const [fault, setFault] = useState("");
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page has one link
  useEffect(() => {
    const go = async () => {
      if (!token) throw new Error(t.linkCut);
      looked ??= own<Link>("POST", "/link/look", { token });
      const found = await looked;
      if (found.kind !== "sign_in") return setLink(found);
      entered ??= own<SignInResult>("POST", "/session/link", { token });
      await enter(await entered, second);
    };
    go().catch((e: Error) => setFault(told(e)));
  }, []);
  if (fault) {
    return (
      <Panel title={t.linkInvalid}>
        <div className="grid gap-4">
          <Note tone="bad">{fault}</Note>
          <ButtonLink className="h-9!" href="/sign-in">
            {t.toSignIn}
          </ButtonLink>
        </div>
      </Panel>
    );
  }
  if (!link) {
    return (
      <p role="status" aria-label={t.linkOpening} className="grid place-items-center py-16 text-faint">
        <Spinner className="size-5" />
      </p>
    );
  }
  if (link.kind === "invite" && session.state === "signed_in" && session.user.email === link.email) {
    return <Accept link={link} />;
  }
  return link.kind === "invite" ? <Join link={link} second={second} /> : <Renew link={link} second={second} />;
}

interface Props {
  link: Link;
  second: (ticket: string) => void;
}

/** Sends what a link asks for. */
function useFollow(body: { name: string; password: string }, second: Props["second"]) {
  return useTry(async () => enter(await own<SignInResult>("POST", "/link", { token, ...body }), second));
}

/** Whoever is in already only has to say yes. */
function Accept({ link }: { link: Link }) {
  const attempt = useTry(async () => {
    await own("POST", "/link", { token });
    const session = await own<SignedIn>("GET", "/session");
    const joined = session.workspaces.find((w) => w.name === link.workspace);
    if (joined) await own("POST", "/session/workspace", { workspace_id: joined.id });
    await enter({ state: "signed_in" }, () => {});
  });
  return (
    <Panel title={t.joinWorkspace(link.workspace)} sub={t.signedInAs(link.email)}>
      <Ask attempt={attempt}>
        <Button type="submit" look="primary" className="h-9!" busy={attempt.busy}>
          {t.join}
        </Button>
      </Ask>
    </Panel>
  );
}

function Join({ link, second }: Props) {
  const [name, setName] = useState(link.name);
  const [password, setPassword] = useState("");
  const attempt = useFollow({ name, password }, second);
  const f = attempt.fields;
  return (
    <Panel title={t.joinWorkspace(link.workspace)} sub={t.invitedAs(link.email)}>
      <Ask attempt={attempt}>
        {/* For the browser's store of passwords. */}
        <input hidden autoComplete="username" value={link.email} readOnly />
        {link.known ? (
          <PasswordField
            label={t.yourPassword}
            autoFocus
            value={password}
            onChange={setPassword}
            error={f.password ? t.wrongPassword : f.name}
          />
        ) : (
          <>
            <TextField
              label={t.yourName}
              autoComplete="name"
              autoFocus
              isRequired
              value={name}
              onChange={setName}
              error={f.name}
            />
            <NewPasswordField label={t.choosePassword} value={password} onChange={setPassword} error={f.password} />
          </>
        )}
        <Button type="submit" look="primary" className="h-9!" busy={attempt.busy}>
          {t.join}
        </Button>
      </Ask>
    </Panel>
  );
}

function Renew({ link, second }: Props) {
  const [password, setPassword] = useState("");
  const attempt = useFollow({ name: link.name, password }, second);
  return (
    <Panel title={t.renewTitle} sub={t.renewHint(link.email)}>
      <Ask attempt={attempt}>
        <input hidden autoComplete="username" value={link.email} readOnly />
        <NewPasswordField
          label={t.newPassword}
          autoFocus
          value={password}
          onChange={setPassword}
          error={attempt.fields.password}
        />
        <Button type="submit" look="primary" className="h-9!" busy={attempt.busy}>
          {t.saveAndSignIn}
        </Button>
      </Ask>
    </Panel>
  );
}
