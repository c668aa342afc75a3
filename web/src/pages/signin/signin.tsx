import { KeyRound } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { own } from "../../api/client";
import type { Ceremony, Session, SignInResult } from "../../api/console";
import { keepNext } from "../../lib/next";
import { common } from "../../text/common";
import { t } from "../../text/signin";
import { Button, ButtonLink, TextLink } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { TextField } from "../../ui/textfield";
import { Ask, Panel } from "./panel";
import { type Answer, hasPasskeys, signWith } from "./passkey";
import { PasswordField } from "./password";
import { enter, useTry } from "./way";

/** The single sign-on reports an error as a code, because an address must not put words into a page. */
const problems: Record<string, string> = t.problems;

type Second = (ticket: string) => void;

export function SignIn({ ways, second }: { ways: Session["ways"]; second: Second }) {
  const passkey = usePasskey(ways.passkey && hasPasskeys, second);
  const problem = new URLSearchParams(location.search).get("problem");
  return (
    <Panel title={t.title}>
      <div className="grid gap-3">
        {problem ? <Note tone="bad">{problems[problem] ?? t.problems.other}</Note> : null}
        {passkey.message ? <Note tone="bad">{passkey.message}</Note> : null}
        {passkey.can ? (
          <Button look="primary" className="h-9!" busy={passkey.busy} onPress={() => passkey.run()}>
            <KeyRound aria-hidden="true" />
            {t.withPasskey}
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
          {common.or}
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
        label={common.email}
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
        <PasswordField
          label={common.password}
          value={password}
          onChange={setPassword}
          error={attempt.fields.password}
        />
        <TextLink href="/reset" className="absolute right-0 top-0 text-xs leading-5">
          {t.forgot}
        </TextLink>
      </div>
      <Button type="submit" look={only ? "primary" : "plain"} className="h-9!" busy={attempt.busy}>
        {t.signIn}
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
