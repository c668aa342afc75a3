// What can be changed about a connection, and how it is ended.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { type Refusal, type Schemas, take, v1 } from "../../api/client";
import { Button } from "../../ui/button";
import { Card } from "../../ui/display";
import { Note } from "../../ui/feedback";
import { Checkbox, Select, Switch, TextField } from "../../ui/fields";
import { Confirm } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { platformName } from "./glyph";
import { type Connection, isOwn } from "./queries";

const intervals = [
  { id: "15", label: "Every 15 minutes" },
  { id: "30", label: "Every 30 minutes" },
  { id: "60", label: "Every hour" },
  { id: "180", label: "Every 3 hours" },
  { id: "360", label: "Every 6 hours" },
  { id: "720", label: "Every 12 hours" },
  { id: "1440", label: "Once a day" },
];

export function ConnectionSettings({ connection: c }: { connection: Connection }) {
  return (
    <div className="grid max-w-2xl gap-4">
      <Change connection={c} />
      <Disconnect connection={c} />
    </div>
  );
}

function Change({ connection: c }: { connection: Connection }) {
  const client = useQueryClient();
  const own = isOwn(c);
  const [name, setName] = useState(c.name);
  const [interval, setInterval] = useState(String(c.sync.interval_minutes ?? 60));
  const [lookback, setLookback] = useState(String(c.sync.lookback_days));
  const [write, setWrite] = useState(c.write_enabled);
  const [byName, setByName] = useState(c.link_by_name);
  const [events, setEvents] = useState(c.conversion_events.join(", "));
  const choosesEvents = !own && c.platform !== "sandbox";
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: async () => {
      const body: Schemas["ConnectionPatch"] = { name };
      if (!own) {
        body.sync = { interval_minutes: Number(interval), lookback_days: Number(lookback) };
        body.write_enabled = write;
        body.link_by_name = byName;
      }
      if (choosesEvents) {
        body.conversion_events = events
          .split(",")
          .map((e) => e.trim())
          .filter(Boolean);
      }
      return (await take(v1.PATCH("/v1/connections/{id}", { params: { path: { id: c.id } }, body }))).data;
    },
    onSuccess: () => {
      say("Saved");
      client.invalidateQueries({ queryKey: ["connections"] });
    },
  });
  const refusal = save.error as Refusal | null;
  const f = refusal?.fields ?? {};
  const writes = c.capabilities.includes("write_campaigns");
  const known = intervals.some((i) => i.id === interval);
  return (
    <Card title="Settings" sub="They take effect with the next sync.">
      <Form
        className="grid gap-4"
        onSubmit={(e) => {
          e.preventDefault();
          save.mutate();
        }}
      >
        <TextField label="Name" value={name} onChange={setName} error={f.name} isRequired />
        {own ? null : (
          <>
            <div className="grid gap-4 sm:grid-cols-2">
              <Select
                label="How often"
                value={interval}
                onChange={setInterval}
                error={f["sync.interval_minutes"]}
                options={known ? intervals : [{ id: interval, label: `Every ${interval} minutes` }, ...intervals]}
              />
              <TextField
                label="Past days to read again"
                hint="Platforms change numbers of past days."
                inputMode="numeric"
                value={lookback}
                onChange={setLookback}
                error={f["sync.lookback_days"]}
              />
            </div>
            {choosesEvents ? (
              <TextField
                label="Events that count as conversions"
                hint="Names on the platform, separated by commas. Empty means the account's own choice. A change reads all days again."
                value={events}
                onChange={setEvents}
                error={f.conversion_events}
              />
            ) : null}
            <div className="grid gap-1.5">
              <Switch isSelected={byName} onChange={setByName}>
                Link what has the name of exactly one record of yours with every sync
              </Switch>
              <Switch isSelected={write} onChange={setWrite} isDisabled={!writes}>
                Write launch, pause and resume of linked campaigns to the platform
              </Switch>
              {writes ? null : (
                <p className="text-xs text-muted">The access does not allow writing. Reconnect and grant it.</p>
              )}
            </div>
          </>
        )}
        {refusal && Object.keys(f).length === 0 ? <Note tone="bad">{refusal.message}</Note> : null}
        <div className="flex justify-end">
          <Button type="submit" look="primary" busy={save.isPending}>
            Save
          </Button>
        </div>
      </Form>
    </Card>
  );
}

function Disconnect({ connection: c }: { connection: Connection }) {
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const [purge, setPurge] = useState(false);
  return (
    <Card title="Disconnect" sub="Ends the access. It cannot be undone.">
      <Button onPress={() => setOpen(true)} className="text-bad!">
        Disconnect…
      </Button>
      <Confirm
        title={`Disconnect ${c.name}?`}
        action={purge ? "Disconnect and erase" : "Disconnect"}
        danger
        isOpen={open}
        onOpenChange={setOpen}
        confirm={async () => {
          await take(v1.DELETE("/v1/connections/{id}", { params: { path: { id: c.id }, query: { purge } } }));
          for (const key of ["connections", "campaigns", "analytics"]) client.invalidateQueries({ queryKey: [key] });
          say(`Disconnected ${c.name}`);
        }}
      >
        <p className="font-medium text-ink">What stops</p>
        <ul className="mb-3 mt-1 list-disc pl-5">
          <li>The stored credentials are erased at once, and {platformName(c.platform)} is told in the background.</li>
          <li>Nothing is synced any more.</li>
          <li>Campaigns on it get the issue “no connection”.</li>
        </ul>
        <p className="font-medium text-ink">What stays</p>
        <ul className="mb-4 mt-1 list-disc pl-5">
          <li>{purge ? "The connection's record and the history of its syncs." : "All numbers that are there."}</li>
          <li>Connecting again makes a new connection.</li>
        </ul>
        <Checkbox isSelected={purge} onChange={setPurge}>
          Erase the numbers that came through it too
        </Checkbox>
      </Confirm>
    </Card>
  );
}
