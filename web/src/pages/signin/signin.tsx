import { KeyRound } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { own } from "../../api/client";
import type { Ceremony, Session, SignInResult } from "../../api/console";
import { keepNext } from "../../lib/next";
import { Button, ButtonLink, TextLink } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { TextField } from "../../ui/textfield";
import { Ask, Panel } from "./panel";
import { type Answer, hasPasskeys, signWith } from "./passkey";
import { PasswordField } from "./password";
import { enter, useTry } from "./way";

/** What went wrong at the single sign-on comes back as a code, because an address must not put words into a page. */
const problems: Record<string, string> = {
  not_invited: "Nobody has invited you yet, or your e-mail is not verified there. Ask an admin for an invitation.",
  no_workspace: "You are not a member of any workspace. Ask an admin of the workspace to invite you.",
  rate_limit_exceeded: "There were too many tries. Wait, then try again.",
};

type Second = (ticket: string) => void;

export function SignIn({ ways, second }: { ways: Session["ways"]; second: Second }) {
  const passkey = usePasskey(ways.passkey && hasPasskeys, second);
  const problem = new URLSearchParams(location.search).get("problem");
  return (
    <Panel title="Sign in to Fanfare">
      <div className="grid gap-3">
        {problem ? <Note tone="bad">{problems[problem] ?? "The single sign-on did not work. Try again."}</Note> : null}
        {passkey.message ? <Note tone="bad">{passkey.message}</Note> : null}
        {passkey.can ? (
          <Button look="primary" className="h-9!" busy={passkey.busy} onPress={() => passkey.run()}>
            <KeyRound aria-hidden="true" />
            Sign in with a passkey
          </Button>
        ) : null}
        {ways.oidc ? (
          <ButtonLink className="h-9!" href="/console/api/oidc/start" onPress={keepNext}>
            {ways.oidc}
          </ButtonLink>
        ) : null}
      </div>
      {ways.password && (passkey.can || ways.oidc) ? (
        <div className="my-4 flex items-center gap-3 text-xs text-faint before:h-px before:grow before:bg-line after:h-px after:grow after:bg-line">
          or
        </div>
      ) : null}
      {ways.password ? <ByPassword second={second} only={!passkey.can && !ways.oidc} /> : null}
    </Panel>
  );
}

function ByPassword({ second, only }: { second: Second; only: boolean }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const attempt = useTry(async () => {
    await enter(await own<SignInResult>("POST", "/session", { email, password }), second);
  });
  return (
    <Ask attempt={attempt}>
      <TextField
        label="E-mail"
        type="email"
        name="email"
        autoComplete="username webauthn"
        autoFocus
        isRequired
        value={email}
        onChange={setEmail}
        error={attempt.fields.email}
      />
      <div className="relative">
        <PasswordField label="Password" value={password} onChange={setPassword} error={attempt.fields.password} />
        <TextLink href="/reset" className="absolute right-0 top-0 text-xs leading-5">
          Forgot it?
        </TextLink>
      </div>
      <Button type="submit" look={only ? "primary" : "plain"} className="h-9!" busy={attempt.busy}>
        Sign in
      </Button>
    </Ask>
  );
}

interface Signed {
  ticket: string;
  response: Answer;
}

async function sign(how?: { signal: AbortSignal; offered: boolean }): Promise<Signed> {
  const ceremony = await own<Ceremony>("POST", "/session/passkey/begin");
  return { ticket: ceremony.ticket, response: await signWith(ceremony, how) };
}

/** Signs in by passkey on a press, and beside that offers passkeys where the e-mail is typed. */
function usePasskey(can: boolean, second: Second) {
  const waiting = useRef<AbortController>(null);
  const attempt = useTry(async (signed?: Signed) => {
    waiting.current?.abort();
    await enter(await own<SignInResult>("POST", "/session/passkey", signed ?? (await sign())), second);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: offered once, when the page opens
  useEffect(() => {
    if (!can) return;
    const control = new AbortController();
    waiting.current = control;
    offer(control.signal)
      .then((signed) => (signed ? attempt.run(signed) : undefined))
      .catch(() => {}); // nobody has asked for it yet; the button tells what is wrong
    return () => control.abort();
  }, [can]);
  return { can, ...attempt };
}

async function offer(signal: AbortSignal): Promise<Signed | null> {
  const able = await PublicKeyCredential.isConditionalMediationAvailable?.();
  return able && !signal.aborted ? sign({ signal, offered: true }) : null;
}
