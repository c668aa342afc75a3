import { useState } from "react";
import { own } from "../../api/client";
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
      Back to sign-in
    </ButtonLink>
  );
  if (!mail) {
    return (
      <Panel
        title="Reset your password"
        sub="This server sends no e-mail. Ask an admin of your workspace for a link: Settings, Members, Reset link."
      >
        {back}
      </Panel>
    );
  }
  if (sent) {
    return (
      <Panel
        title="Look into your mail"
        sub={`If ${email} has an account here, a link is on its way. It works once, for an hour.`}
      >
        {back}
      </Panel>
    );
  }
  return (
    <Panel title="Reset your password" sub="You get a link by e-mail with which you choose a new one.">
      <Ask attempt={attempt}>
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username"
          autoFocus
          isRequired
          value={email}
          onChange={setEmail}
          error={attempt.fields.email}
        />
        <Button type="submit" look="primary" className="h-9!" busy={attempt.busy}>
          Send the link
        </Button>
      </Ask>
      <div className="mt-3">{back}</div>
    </Panel>
  );
}
