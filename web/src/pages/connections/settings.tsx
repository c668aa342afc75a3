// What can be changed about a connection, and how it is ended.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { type Refusal, type Schemas, take, v1 } from "../../api/client";
import { common } from "../../text/common";
import { t } from "../../text/connections";
import { Button } from "../../ui/button";
import { Card } from "../../ui/display";
import { Note } from "../../ui/feedback";
import { Checkbox, Select, Switch, TextField } from "../../ui/fields";
import { Confirm } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { every } from "./interval";
import { type Connection, isOwn } from "./queries";

const intervals = [15, 30, 60, 180, 360, 720, 1440].map((n) => ({ id: String(n), label: every(n) }));

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
      say(t.settings.saved);
      client.invalidateQueries({ queryKey: ["connections"] });
    },
  });
  const refusal = save.error as Refusal | null;
  const f = refusal?.fields ?? {};
  const writes = c.capabilities.includes("write_campaigns");
  const known = intervals.some((i) => i.id === interval);
  return (
    <Card title={t.settings.title} sub={t.settings.sub}>
      <Form
        className="grid gap-4"
        onSubmit={(e) => {
          e.preventDefault();
          save.mutate();
        }}
      >
        <TextField label={common.name} value={name} onChange={setName} error={f.name} isRequired />
        {own ? null : (
          <>
            <div className="grid gap-4 sm:grid-cols-2">
              <Select
                label={t.frequency}
                value={interval}
                onChange={setInterval}
                error={f["sync.interval_minutes"]}
                options={known ? intervals : [{ id: interval, label: every(Number(interval)) }, ...intervals]}
              />
              <TextField
                label={t.settings.lookback}
                hint={t.settings.lookbackHint}
                inputMode="numeric"
                value={lookback}
                onChange={setLookback}
                error={f["sync.lookback_days"]}
              />
            </div>
            {choosesEvents ? (
              <TextField
                label={t.settings.events}
                hint={t.settings.eventsHint}
                value={events}
                onChange={setEvents}
                error={f.conversion_events}
              />
            ) : null}
            <div className="grid gap-1.5">
              <Switch isSelected={byName} onChange={setByName}>
                {t.settings.linkByName}
              </Switch>
              <Switch isSelected={write} onChange={setWrite} isDisabled={!writes}>
                {t.settings.write}
              </Switch>
              {writes ? null : <p className="text-xs text-muted">{t.settings.noWrite}</p>}
            </div>
          </>
        )}
        {refusal && Object.keys(f).length === 0 ? <Note tone="bad">{refusal.message}</Note> : null}
        <div className="flex justify-end">
          <Button type="submit" look="primary" busy={save.isPending}>
            {common.save}
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
    <Card title={t.settings.disconnect} sub={t.settings.disconnectSub}>
      <Button onPress={() => setOpen(true)} className="text-bad!">
        {t.settings.disconnectOpen}
      </Button>
      <Confirm
        title={t.settings.disconnectTitle(c.name)}
        action={purge ? t.settings.disconnectErase : t.settings.disconnect}
        danger
        isOpen={open}
        onOpenChange={setOpen}
        confirm={async () => {
          await take(v1.DELETE("/v1/connections/{id}", { params: { path: { id: c.id }, query: { purge } } }));
          for (const key of ["connections", "campaigns", "analytics"]) client.invalidateQueries({ queryKey: [key] });
          say(t.settings.disconnected(c.name));
        }}
      >
        <p className="font-medium text-ink">{t.settings.stops}</p>
        <ul className="mb-3 mt-1 list-disc pl-5">
          <li>{t.settings.stopsAccess}</li>
          <li>{t.settings.stopsSync}</li>
          <li>{t.settings.stopsCampaigns}</li>
        </ul>
        <p className="font-medium text-ink">{t.settings.stays}</p>
        <ul className="mb-4 mt-1 list-disc pl-5">
          <li>{purge ? t.settings.staysHistory : t.settings.staysData}</li>
          <li>{t.settings.staysNew}</li>
        </ul>
        <Checkbox isSelected={purge} onChange={setPurge}>
          {t.settings.erase}
        </Checkbox>
      </Confirm>
    </Card>
  );
}
