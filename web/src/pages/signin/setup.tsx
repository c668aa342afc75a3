import { useState } from "react";
import { own } from "../../api/client";
import type { Session, SignInResult } from "../../api/console";
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
      <Panel title="This server is set up" sub="Its owner has an account already.">
        <ButtonLink look="primary" className="h-9! w-full" href={`/sign-in${location.search}`}>
          Sign in
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
    <Panel title="Set up Fanfare" sub="You become the owner of this server's first workspace.">
      <Ask attempt={attempt}>
        {token && !f.token ? null : (
          <>
            <Note title="Open the setup link from the server's log">
              The server logs the link when it starts, in the line "no one can sign in yet". Restart the server to get a
              new link. To sign in as an existing owner, run <code className="font-mono">fanfare user reset</code> on
              the server.
            </Note>
            <TextField
              label="Setup token"
              hint="The part of the setup link after #."
              mono
              autoComplete="off"
              {...set("token")}
            />
          </>
        )}
        <TextField label="Your name" autoComplete="name" autoFocus={!!token} {...set("name")} />
        <TextField label="E-mail" type="email" autoComplete="username" {...set("email")} />
        <NewPasswordField label="Password" {...set("password")} />
        <hr className="border-line" />
        <TextField
          label="Workspace"
          hint="Usually the name of your company."
          autoComplete="organization"
          {...set("workspace")}
          error={f["workspace.name"]}
        />
        <div className="grid grid-cols-[7rem_1fr] gap-4">
          <TextField label="Currency" hint="Such as EUR" autoComplete="off" {...set("currency")} />
          <TextField label="Time zone" hint="Days begin and end there" autoComplete="off" {...set("timezone")} />
        </div>
        <Button type="submit" look="primary" className="h-9!" busy={attempt.busy}>
          Set up
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
