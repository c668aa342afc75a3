// Connecting a platform: which one, then what it needs.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton, Form } from "react-aria-components";
import { type Refusal, type Schemas, take, v1 } from "../../api/client";
import { count, day, words } from "../../lib/format";
import { useSession } from "../../lib/session";
import { common } from "../../text/common";
import { t } from "../../text/connections";
import { Button } from "../../ui/button";
import { Failed, Note, SkeletonRows } from "../../ui/feedback";
import { RadioGroup, Switch, TextField } from "../../ui/fields";
import { Actions, Dialog } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { Glyph } from "./glyph";
import { goToGrant, type PlatformInfo, platformsQuery } from "./queries";

export function Connect({ isOpen, onOpenChange }: { isOpen: boolean; onOpenChange: (open: boolean) => void }) {
  const platforms = useQuery({ ...platformsQuery, enabled: isOpen });
  const [chosen, setChosen] = useState<PlatformInfo | null>(null);
  return (
    <Dialog
      title={chosen ? t.connect.titleOf(chosen.name) : t.connect.title}
      side
      isOpen={isOpen}
      onOpenChange={(open) => {
        setChosen(null);
        onOpenChange(open);
      }}
    >
      {(close) =>
        chosen ? (
          <Details key={chosen.platform} platform={chosen} back={() => setChosen(null)} close={close} />
        ) : platforms.data ? (
          <ul className="grid gap-2">
            {platforms.data.map((p) => (
              <li key={p.platform}>
                <PlatformTile platform={p} choose={() => setChosen(p)} />
              </li>
            ))}
          </ul>
        ) : platforms.error ? (
          <Failed error={platforms.error} retry={platforms.refetch} />
        ) : (
          <SkeletonRows rows={5} />
        )
      }
    </Dialog>
  );
}

/** What a platform brings, in a few words. */
function brings(p: PlatformInfo): string {
  if (p.auth === "none") return t.connect.sandbox;
  const names: Record<string, string> = t.connect.data;
  const data = p.capabilities.flatMap((c) => (c.startsWith("read_") ? [names[c.slice(5)] ?? words(c.slice(5))] : []));
  return p.capabilities.includes("write_campaigns") ? t.connect.readsAndWrites(data) : t.connect.reads(data);
}

function PlatformTile({ platform: p, choose }: { platform: PlatformInfo; choose: () => void }) {
  return (
    <AriaButton
      onPress={choose}
      className="flex w-full cursor-default items-center gap-3 rounded-lg border border-line px-3 py-2.5 text-left outline-none transition-colors hover:bg-hover focus-visible:ring-focus"
    >
      <Glyph platform={p.platform} />
      <span className="min-w-0 grow">
        <span className="block text-sm font-medium">{p.name}</span>
        <span className="block text-xs text-muted">{brings(p)}</span>
      </span>
    </AriaButton>
  );
}

type Credentials = Schemas["CredentialsInput"];

function Details({ platform: p, back, close }: { platform: PlatformInfo; back: () => void; close: () => void }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [name, setName] = useState(p.name);
  const [way, setWay] = useState(p.auth === "none" || p.configured ? "grant" : "tokens");
  const [credentials, setCredentials] = useState<Credentials>({});
  const [config, setConfig] = useState<Record<string, string>>({});
  const [write, setWrite] = useState(false);
  const [byName, setByName] = useState(true);
  const connect = useMutation({
    meta: { quiet: true },
    mutationFn: async () =>
      (
        await take(
          v1.POST("/v1/connections", {
            body: {
              platform: p.platform,
              name,
              write_enabled: write,
              link_by_name: byName,
              ...(p.config_fields.length > 0 ? { config: given(config) } : {}),
              ...(way === "tokens" ? { credentials: filled(credentials) } : {}),
            },
          }),
        )
      ).data,
    onSuccess: (c) => {
      client.invalidateQueries({ queryKey: ["connections"] });
      if (goToGrant(c)) return;
      close();
      say(t.connect.done(c.name));
      navigate({ to: "/connections/$id", params: { id: c.id } });
    },
  });
  const refusal = connect.error as Refusal | null;
  const f = refusal?.fields ?? {};
  return (
    <Form
      className="grid gap-4"
      onSubmit={(e) => {
        e.preventDefault();
        connect.mutate();
      }}
    >
      <div>
        <Button look="quiet" size="sm" className="-ml-2" onPress={back}>
          <ChevronLeft aria-hidden="true" />
          {t.connect.allPlatforms}
        </Button>
      </div>
      <p className="text-sm text-muted">
        {[
          brings(p),
          t.connect.history,
          p.history_days ? t.connect.keeps(count(p.history_days)) : "",
          p.sunset_on && p.api_version ? t.connect.sunset(p.api_version, day(p.sunset_on, true)) : "",
        ]
          .filter(Boolean)
          .join(" ")}
      </p>
      <TextField label={common.name} value={name} onChange={setName} error={f.name} isRequired autoFocus />
      {p.auth === "oauth" ? (
        <Access platform={p} way={way} setWay={setWay} value={credentials} onChange={setCredentials} fields={f} />
      ) : null}
      <ConfigFields names={p.config_fields} value={config} onChange={setConfig} fields={f} />
      <div className="grid gap-1.5">
        <Switch isSelected={byName} onChange={setByName}>
          {t.settings.linkByName}
        </Switch>
        {p.capabilities.includes("write_campaigns") ? (
          <Switch isSelected={write} onChange={setWrite}>
            {t.settings.write}
          </Switch>
        ) : null}
      </div>
      {refusal && (refusal.details.length === 0 || f.platform || f.credentials) ? (
        <Note tone="bad">{refusal.message}</Note>
      ) : null}
      <Actions>
        <Button onPress={close}>{common.cancel}</Button>
        <Button type="submit" look="primary" busy={connect.isPending}>
          {p.auth === "oauth" && way === "grant" ? t.connect.continueTo(p.name) : t.connect.submit}
        </Button>
      </Actions>
    </Form>
  );
}

/** How access is granted: by a person on the platform's page, or with tokens of one's own. */
export function Access({
  platform: p,
  way,
  setWay,
  value,
  onChange,
  fields,
}: {
  platform: PlatformInfo;
  way: string;
  setWay: (way: string) => void;
  value: Credentials;
  onChange: (v: Credentials) => void;
  fields: Record<string, string>;
}) {
  const names = p.credential_fields as (keyof Credentials)[];
  const tokens = names.filter((n) => n !== "service_account");
  return (
    <>
      {p.configured ? (
        <RadioGroup
          label={t.connect.access}
          value={way}
          onChange={setWay}
          options={[
            { id: "grant", label: t.connect.signIn, hint: t.connect.signInHint },
            { id: "tokens", label: t.connect.tokens, hint: t.connect.tokensHint },
          ]}
        />
      ) : (
        <Note>{t.connect.noClient(p.name)}</Note>
      )}
      {way === "tokens"
        ? tokens.map((n) => (
            <TextField
              key={n}
              label={words(n)}
              type="password"
              autoComplete="off"
              mono
              value={value[n] ?? ""}
              onChange={(v) => onChange({ ...value, [n]: v })}
              error={fields[`credentials.${n}`]}
            />
          ))
        : null}
      {way === "tokens" && names.includes("service_account") ? (
        <KeyFile onChange={(key) => onChange({ ...value, service_account: key })} fields={fields} />
      ) : null}
    </>
  );
}

/** The JSON key file of a service account, instead of tokens. */
function KeyFile({
  onChange,
  fields,
}: {
  onChange: (key: Credentials["service_account"]) => void;
  fields: Record<string, string>;
}) {
  const [text, setText] = useState("");
  const wrong = text.trim() !== "" && !keyFile(text) ? t.connect.keyFileWrong : undefined;
  const refused = Object.entries(fields).find(([name]) => name.startsWith("credentials.service_account"))?.[1];
  return (
    <TextField
      label={t.connect.keyFile}
      hint={t.connect.keyFileHint}
      autoComplete="off"
      mono
      rows={4}
      value={text}
      onChange={(v) => {
        setText(v);
        onChange(keyFile(v));
      }}
      error={wrong ?? refused}
    />
  );
}

/** Reads a key file; undefined if the text is none. */
function keyFile(text: string): Credentials["service_account"] {
  try {
    const file = JSON.parse(text);
    return file && typeof file === "object" && !Array.isArray(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

const hints: Record<string, string> = {
  seed: t.connect.seedHint,
  currency: t.connect.currencyHint,
  timezone: t.connect.timeZoneHint,
};

function ConfigFields({
  names,
  value,
  onChange,
  fields,
}: {
  names: string[];
  value: Record<string, string>;
  onChange: (v: Record<string, string>) => void;
  fields: Record<string, string>;
}) {
  const { workspace } = useSession();
  const defaults: Record<string, string> = { currency: workspace.currency, timezone: workspace.timezone };
  return names.map((n) => (
    <TextField
      key={n}
      label={n === "timezone" ? common.timeZone : words(n)}
      hint={hints[n]}
      placeholder={defaults[n] ?? ""}
      inputMode={n === "seed" ? "numeric" : "text"}
      value={value[n] ?? ""}
      onChange={(v) => onChange({ ...value, [n]: v })}
      error={fields[`config.${n}`]}
    />
  ));
}

const filled = (c: Credentials): Credentials => Object.fromEntries(Object.entries(c).filter(([, v]) => v));

function given(config: Record<string, string>): Schemas["ConnectionConfig"] {
  const entries = Object.entries(config).filter(([, v]) => v.trim() !== "");
  return Object.fromEntries(entries.map(([k, v]) => [k, k === "seed" && /^\d+$/.test(v) ? Number(v) : v.trim()]));
}
