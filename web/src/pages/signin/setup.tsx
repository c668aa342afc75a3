import { useState } from "react";
import { own } from "../../api/client";
import type { Session, SignInResult } from "../../api/console";
import { common } from "../../text/common";
import { rich } from "../../text/rich";
import { t } from "../../text/signin";
import { Button, ButtonLink } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { TextField } from "../../ui/textfield";
import { Ask, Panel } from "./panel";
import { NewPasswordField } from "./password";
import { enter, token, useTry } from "./way";

/** The first person makes the first account and workspace. */
export function SetUp({ session }: { session: Session }) {
  if (session.state !== "setup") {
    return (
      <Panel title={t.alreadySetUp} sub={t.alreadySetUpHint}>
        <ButtonLink look="primary" className="h-9! w-full" href={`/sign-in${location.search}`}>
          {t.signIn}
        </ButtonLink>
      </Panel>
    );
  }
  return <Owner />;
}

const empty = {
  token,
  name: "",
  email: "",
  password: "",
  workspace: "",
  currency: likelyCurrency(),
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
};

function Owner() {
  const [v, setV] = useState(empty);
  const attempt = useTry(async () => {
    const { workspace: name, currency, timezone, ...owner } = v;
    const body = { ...owner, workspace: { name, currency, timezone } };
    await enter(await own<SignInResult>("POST", "/setup", body), () => location.assign(`/sign-in${location.search}`));
  });
  const f = attempt.fields;
  const set = (field: keyof typeof v) => ({
    value: v[field],
    onChange: (value: string) => setV({ ...v, [field]: value }),
    error: f[field] ?? f[`workspace.${field}`],
    isRequired: true,
  });
  return (
    <Panel title={t.setupTitle} sub={t.setupHint}>
      <Ask attempt={attempt}>
        {token && !f.token ? null : (
          <>
            <Note title={t.setupLink}>
              {rich(t.setupLinkHint, { command: <code className="font-mono">fanfare user reset</code> })}
            </Note>
            <TextField label={t.setupToken} hint={t.setupTokenHint} mono autoComplete="off" {...set("token")} />
          </>
        )}
        <TextField label={t.yourName} autoComplete="name" autoFocus={!!token} {...set("name")} />
        <TextField label={common.email} type="email" autoComplete="username" {...set("email")} />
        <NewPasswordField label={common.password} {...set("password")} />
        <hr className="border-line" />
        <TextField
          label={t.workspace}
          hint={t.workspaceHint}
          autoComplete="organization"
          {...set("workspace")}
          error={f["workspace.name"]}
        />
        <div className="grid grid-cols-[7rem_1fr] gap-4">
          <TextField label={common.currency} hint={common.currencyHint} autoComplete="off" {...set("currency")} />
          <TextField label={common.timeZone} hint={t.timeZoneHint} autoComplete="off" {...set("timezone")} />
        </div>
        <Button type="submit" look="primary" className="h-9!" busy={attempt.busy}>
          {t.setUp}
        </Button>
      </Ask>
    </Panel>
  );
}

/** What money is likely where the browser is; browsers know regions but not their money. */
function likelyCurrency(): string {
  const region = new Intl.Locale(navigator.language).maximize().region ?? "";
  const euro = "AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK";
  if (euro.includes(region) && region) return "EUR";
  const others: Record<string, string> = {
    AU: "AUD",
    BR: "BRL",
    CA: "CAD",
    CH: "CHF",
    DK: "DKK",
    GB: "GBP",
    IN: "INR",
    JP: "JPY",
    MX: "MXN",
    NO: "NOK",
    PL: "PLN",
    SE: "SEK",
  };
  return others[region] ?? "USD";
}
