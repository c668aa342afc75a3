// Starting a sync and seeing how far it is.
import { ChevronDown, RefreshCw } from "lucide-react";
import { useState } from "react";
import { Form } from "react-aria-components";
import type { Refusal } from "../../api/client";
import { count, day, instant, words } from "../../lib/format";
import { addDays, today } from "../../lib/range";
import { useMay, useSession } from "../../lib/session";
import { Button } from "../../ui/button";
import { Bar } from "../../ui/display";
import { Note } from "../../ui/feedback";
import { TextField } from "../../ui/fields";
import { Actions, Dialog, Menu, MenuItem, MenuTrigger, TooltipBody, TooltipTrigger } from "../../ui/overlay";
import { say } from "../../ui/toast";
import { type Connection, type SyncRun, useSync } from "./queries";

export function SyncNow({ connection: c }: { connection: Connection }) {
  const editor = useMay("editor");
  const sync = useSync(c.id);
  const [backfill, setBackfill] = useState(false);
  const start = (mode: "incremental" | "full") =>
    sync.mutate({ mode }, { onSuccess: (run) => say(run.coalesced ? "A sync is under way already" : "Sync started") });
  const why = !editor
    ? "Editors can start a sync."
    : c.status === "connected" || c.status === "error"
      ? ""
      : "Grant access first.";
  if (why) {
    return (
      <TooltipTrigger delay={200}>
        <Button aria-disabled className="opacity-50">
          <RefreshCw aria-hidden="true" />
          Sync now
        </Button>
        <TooltipBody>{why}</TooltipBody>
      </TooltipTrigger>
    );
  }
  return (
    <div className="flex">
      <Button
        look="primary"
        className="rounded-r-none"
        busy={sync.isPending || c.sync.state !== "idle"}
        onPress={() => start("incremental")}
      >
        {sync.isPending || c.sync.state !== "idle" ? null : <RefreshCw aria-hidden="true" />}
        Sync now
      </Button>
      <MenuTrigger>
        <Button
          look="primary"
          icon
          aria-label="Other ways to sync"
          className="rounded-l-none border-l border-accent-ink/25"
        >
          <ChevronDown aria-hidden="true" />
        </Button>
        <Menu label="Other ways to sync">
          <MenuItem onAction={() => start("full")}>Read the last 90 days again</MenuItem>
          <MenuItem onAction={() => setBackfill(true)}>Read older days…</MenuItem>
        </Menu>
      </MenuTrigger>
      <Backfill connection={c} isOpen={backfill} onOpenChange={setBackfill} />
    </div>
  );
}

function Backfill({
  connection: c,
  isOpen,
  onOpenChange,
}: {
  connection: Connection;
  isOpen: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const zone = useSession().workspace.timezone;
  const before = addDays(c.sync.backfilled_since ?? addDays(today(zone), -90), -1);
  const [from, setFrom] = useState(addDays(before, -89));
  const [to, setTo] = useState(before);
  const sync = useSync(c.id);
  const refusal = sync.error as Refusal | null;
  const f = refusal?.fields ?? {};
  return (
    <Dialog title="Read older days" isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => (
        <Form
          className="grid gap-4"
          onSubmit={(e) => {
            e.preventDefault();
            sync.mutate({ mode: "backfill", start_date: from, end_date: to }, { onSuccess: close });
          }}
        >
          <p className="text-sm text-muted">
            Days in the accounts' own time zones. Scheduled syncs go first, so this may take a while.
          </p>
          <div className="grid grid-cols-2 gap-3">
            <TextField type="date" label="From" value={from} onChange={setFrom} error={f.start_date} />
            <TextField type="date" label="To" value={to} onChange={setTo} error={f.end_date} />
          </div>
          {refusal && !f.start_date && !f.end_date ? <Note tone="bad">{refusal.message}</Note> : null}
          <Actions>
            <Button onPress={close}>Cancel</Button>
            <Button type="submit" look="primary" busy={sync.isPending}>
              Read them
            </Button>
          </Actions>
        </Form>
      )}
    </Dialog>
  );
}

export const streamNames: Record<string, string> = {
  campaigns: "Campaigns",
  creative: "Creative",
  audiences: "Audiences",
  metrics_daily: "Numbers of each day",
};

/** How far a run is, stream by stream. */
export function Progress({ run }: { run: SyncRun }) {
  const total = run.streams.reduce((n, s) => n + s.slices_total, 0);
  const done = run.streams.reduce((n, s) => n + s.slices_done, 0);
  return (
    <div className="grid gap-3 text-sm">
      <div aria-live="polite" className="flex flex-wrap justify-between gap-x-4 text-muted">
        <span>
          {words(run.mode)}, {day(run.window.start_date)} – {day(run.window.end_date)}
        </span>
        <span className="num">
          {total > 0 ? `${count(done)} of ${count(total)} parts, ` : ""}
          {count(run.totals.records_written)} rows
        </span>
      </div>
      <Bar share={total > 0 ? done / total : 0} label="Progress of the sync" tone="accent" />
      {run.streams.length > 0 ? (
        <ul className="grid gap-1">
          {run.streams.map((s) => (
            <li key={s.name} className="num flex justify-between gap-4 text-xs text-muted">
              <span>{streamNames[s.name] ?? words(s.name)}</span>
              <span>
                {words(s.status)}, {count(s.slices_done)} of {count(s.slices_total)}, {count(s.records_written)} rows
              </span>
            </li>
          ))}
        </ul>
      ) : null}
      {run.waiting_until ? (
        <p className="text-xs text-warn">The platform asked for time. It goes on at {instant(run.waiting_until)}.</p>
      ) : null}
    </div>
  );
}
