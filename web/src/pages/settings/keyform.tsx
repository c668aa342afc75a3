import { useState } from "react";
import { Form } from "react-aria-components";
import type { Refusal } from "../../api/client";
import type { Access, NewKey } from "../../api/console";
import { words } from "../../lib/format";
import { useSession } from "../../lib/session";
import { common } from "../../text/common";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { Select, Switch, TextField } from "../../ui/fields";
import { Actions } from "../../ui/overlay";
import { usePeople } from "./people";

/** What keys can be narrowed to. */
export const families = ["campaigns", "creative", "analytics", "audiences", "connections", "webhooks"] as const;

const lives = [
  { id: "30", label: t.keyForm.days(30) },
  { id: "90", label: t.keyForm.days(90) },
  { id: "180", label: t.keyForm.days(180) },
  { id: "365", label: t.keyForm.year },
];

const levels = [
  { id: "none", label: t.keyForm.levels.none },
  { id: "read", label: t.keyForm.levels.read },
  { id: "write", label: t.keyForm.levels.write },
];

type Levels = Record<string, string>;

/** What a new key is to be. */
export function KeyForm(p: { make: (key: NewKey) => void; cancel: () => void; busy: boolean; error: Refusal | null }) {
  const { endless_keys: endless } = useSession().workspace;
  const [name, setName] = useState("");
  const [holder, setHolder] = useState("");
  const services = usePeople().data?.members.filter((m) => m.service) ?? [];
  const [life, setLife] = useState("90");
  const [narrow, setNarrow] = useState(false);
  const [given, setGiven] = useState<Levels>(Object.fromEntries(families.map((f) => [f, "read"])));
  const [addresses, setAddresses] = useState("");
  const f = p.error?.fields ?? {};
  const known = ["name", "user_id", "expires_in_days", "ip_allow_list"];
  const unplaced = Object.entries(f).filter(([field]) => !known.some((k) => field.startsWith(k)));
  const send = () => {
    const lines = addresses.split(/[\s,]+/).filter(Boolean);
    p.make({
      ...(holder ? { user_id: holder } : {}),
      name: name.trim(),
      expires_in_days: Number(life),
      scopes: narrow ? scopesOf(given) : null,
      ip_allow_list: lines.length > 0 ? lines : null,
    });
  };
  return (
    <Form
      className="grid gap-4"
      onSubmit={(e) => {
        e.preventDefault();
        send();
      }}
    >
      {p.error && (p.error.details.length === 0 || unplaced.length > 0 || p.error.says("proof_required")) ? (
        <Note tone="bad">{unplaced.map(([, m]) => m).join(" ") || p.error.message}</Note>
      ) : null}
      <TextField
        label={common.name}
        hint={t.keyForm.nameHint}
        autoFocus
        isRequired
        maxLength={100}
        value={name}
        onChange={setName}
        error={f.name}
      />
      {services.length > 0 ? (
        <Select
          label={t.keyForm.actsAs}
          value={holder}
          onChange={setHolder}
          options={[
            { id: "", label: t.you },
            ...services.map((m) => ({ id: m.id, label: m.name, hint: t.keyForm.service(words(m.role)) })),
          ]}
          error={f.user_id}
        />
      ) : null}
      <Select
        label={t.keyForm.expiration}
        value={life}
        onChange={setLife}
        options={endless ? [...lives, { id: "0", label: t.never }] : lives}
        error={f.expires_in_days}
        hint={life === "0" ? t.keyForm.neverHint : t.keyForm.expirationHint}
      />
      <div className="grid gap-2">
        <Switch isSelected={narrow} onChange={setNarrow}>
          {holder ? t.keyForm.limitService : t.keyForm.limitOwn}
        </Switch>
        {narrow ? <Narrowing given={given} set={setGiven} /> : null}
      </div>
      <TextField
        label={t.keyForm.addresses}
        hint={t.keyForm.addressesHint}
        rows={2}
        mono
        value={addresses}
        onChange={setAddresses}
        error={Object.entries(f).find(([field]) => field.startsWith("ip_allow_list"))?.[1]}
      />
      <Actions>
        <Button onPress={p.cancel}>{common.cancel}</Button>
        <Button type="submit" look="primary" busy={p.busy}>
          {t.keys.create}
        </Button>
      </Actions>
    </Form>
  );
}

function scopesOf(given: Levels): Record<string, Access> {
  return Object.fromEntries(Object.entries(given).filter(([, v]) => v !== "none")) as Record<string, Access>;
}

function Narrowing({ given, set }: { given: Levels; set: (next: Levels) => void }) {
  return (
    <div className="divide-y divide-line rounded-lg border border-line">
      {families.map((f) => (
        <div key={f} className="flex items-center justify-between gap-4 px-3 py-1.5">
          <span className="text-sm">{words(f)}</span>
          <Select
            label={t.keyForm.accessTo(words(f))}
            hideLabel
            className="w-40"
            value={given[f] ?? "none"}
            onChange={(v) => set({ ...given, [f]: v })}
            options={levels}
          />
        </div>
      ))}
    </div>
  );
}
