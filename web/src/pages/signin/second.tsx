import { useState } from "react";
import { own } from "../../api/client";
import type { SignInResult } from "../../api/console";
import { common } from "../../text/common";
import { t } from "../../text/signin";
import { Button } from "../../ui/button";
import { TextField } from "../../ui/textfield";
import { Ask, Panel } from "./panel";
import { enter, useTry } from "./way";

/** The second step: a code of the app, or a recovery code. */
export function SecondStep({ ticket, back }: { ticket: string; back: () => void }) {
  const [code, setCode] = useState("");
  const [lost, setLost] = useState(false);
  const attempt = useTry(async () => {
    await enter(await own<SignInResult>("POST", "/session/totp", { ticket, code }), back);
  });
  const other = () => {
    setLost(!lost);
    setCode("");
  };
  return (
    <Panel title={t.secondTitle} sub={lost ? t.secondRecovery : t.secondApp}>
      <Ask attempt={attempt}>
        <TextField
          key={String(lost)}
          label={lost ? t.recoveryCode : t.code}
          mono
          autoFocus
          isRequired
          inputMode={lost ? "text" : "numeric"}
          autoComplete="one-time-code"
          maxLength={lost ? undefined : 7}
          value={code}
          onChange={setCode}
          error={attempt.fields.code}
        />
        <Button type="submit" look="primary" className="h-9!" busy={attempt.busy}>
          {t.continue}
        </Button>
      </Ask>
      <div className="mt-3 flex justify-between">
        <Button look="quiet" size="sm" className="-ml-2.5" onPress={back}>
          {common.back}
        </Button>
        <Button look="quiet" size="sm" className="-mr-2.5" onPress={other}>
          {lost ? t.useApp : t.useRecovery}
        </Button>
      </div>
    </Panel>
  );
}
