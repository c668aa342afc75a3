import { useState } from "react";
import { own } from "../../api/client";
import { common } from "../../text/common";
import { t } from "../../text/signin";
import { Button, ButtonLink } from "../../ui/button";
import { TextField } from "../../ui/textfield";
import { Ask, Panel } from "./panel";
import { useTry } from "./way";

/** Asks for a link with which one chooses a new password. */
export function AskReset({ mail }: { mail: boolean }) {
  const [email, setEmail] = useState("");
  const [sent, setSent] = useState(false);
  const attempt = useTry(async () => {
    await own("POST", "/reset", { email });
    setSent(true);
  });
  const back = (
    <ButtonLink className="h-9! w-full" href="/sign-in">
      {t.backToSignIn}
    </ButtonLink>
  );
  if (!mail) {
    return (
      <Panel title={t.resetTitle} sub={t.resetNoMail}>
        {back}
      </Panel>
    );
  }
  if (sent) {
    return (
      <Panel title={t.checkEmail} sub={t.checkEmailHint(email)}>
        {back}
      </Panel>
    );
  }
  return (
    <Panel title={t.resetTitle} sub={t.resetHint}>
      <Ask attempt={attempt}>
        <TextField
          label={common.email}
          type="email"
          autoComplete="username"
          autoFocus
          isRequired
          value={email}
          onChange={setEmail}
          error={attempt.fields.email}
        />
        <Button type="submit" look="primary" className="h-9!" busy={attempt.busy}>
          {t.sendLink}
        </Button>
      </Ask>
      <div className="mt-3">{back}</div>
    </Panel>
  );
}
