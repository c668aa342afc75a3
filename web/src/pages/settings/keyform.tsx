import { useState } from "react";
import { Form } from "react-aria-components";
import type { Refusal } from "../../api/client";
import type { Access, NewKey } from "../../api/console";
import { useSession } from "../../lib/session";
import { Button } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { Select, Switch, TextField } from "../../ui/fields";
import { Actions } from "../../ui/overlay";
import { usePeople } from "./people";

/** What keys can be narrowed to. */
export const families = ["campaigns", "creative", "analytics", "audiences", "connections", "webhooks"] as const;

const lives = [
  { id: "30", label: "30 days" },
  { id: "90", label: "90 days" },
  { id: "180", label: "180 days" },
  { id: "365", label: "1 year" },
];

const levels = [
  { id: "none", label: "No access" },
  { id: "read", label: "Read" },
  { id: "write", label: "Read and write" },
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
        label="Name"
        hint="What the key is for, such as “Nightly export”."
        autoFocus
        isRequired
        maxLength={100}
        value={name}
        onChange={setName}
        error={f.name}
      />
      {services.length > 0 ? (
        <Select
          label="Acts as"
          value={holder}
          onChange={setHolder}
          options={[
            { id: "", label: "You" },
            ...services.map((m) => ({ id: m.id, label: m.name, hint: `Service user, ${m.role}` })),
          ]}
          error={f.user_id}
        />
      ) : null}
      <Select
        label="Expires after"
        value={life}
        onChange={setLife}
        options={endless ? [...lives, { id: "0", label: "Never" }] : lives}
        error={f.expires_in_days}
        hint={
          life === "0"
            ? "A key that never ends is a risk if it is ever lost."
            : "You are warned before, and can rotate it."
        }
      />
      <div className="grid gap-2">
        <Switch isSelected={narrow} onChange={setNarrow}>
          Allow only some of what {holder ? "it" : "you"} may do
        </Switch>
        {narrow ? <Narrowing given={given} set={setGiven} /> : null}
      </div>
      <TextField
        label="Allowed addresses"
        hint="One network per line, such as 203.0.113.0/24. Empty: from anywhere."
        rows={2}
        mono
        value={addresses}
        onChange={setAddresses}
        error={Object.entries(f).find(([field]) => field.startsWith("ip_allow_list"))?.[1]}
      />
      <Actions>
        <Button onPress={p.cancel}>Cancel</Button>
        <Button type="submit" look="primary" busy={p.busy}>
          Create key
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
          <span className="text-sm">{f.charAt(0).toUpperCase() + f.slice(1)}</span>
          <Select
            label={`Access to ${f}`}
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
