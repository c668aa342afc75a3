// Starting a sync and seeing how far it is.

import { ChevronDown, RefreshCw } from "lucide-react";
import { useState } from "react";
import { Form } from "react-aria-components";
import type { Refusal } from "../../api/client";
import { count, day, instant, words } from "../../lib/format";
import { addDays, today } from "../../lib/range";
import { useMay, useSession } from "../../lib/session";
import { common } from "../../text/common";
import { t } from "../../text/connections";
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
    sync.mutate({ mode }, { onSuccess: (run) => say(run.coalesced ? t.sync.already : t.sync.started) });
  const why = !editor ? t.sync.needsEditor : c.status === "connected" || c.status === "error" ? "" : t.sync.needsAccess;
  if (why) {
    return (
      <TooltipTrigger delay={200}>
        <Button aria-disabled className="opacity-50">
          <RefreshCw aria-hidden="true" />
          {t.sync.now}
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
        {t.sync.now}
      </Button>
      <MenuTrigger>
        <Button look="primary" icon aria-label={t.sync.more} className="rounded-l-none border-l border-accent-ink/25">
          <ChevronDown aria-hidden="true" />
        </Button>
        <Menu label={t.sync.more}>
          <MenuItem onAction={() => start("full")}>{t.sync.recent}</MenuItem>
          <MenuItem onAction={() => setBackfill(true)}>{t.sync.older}</MenuItem>
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
    <Dialog title={t.sync.backfill} isOpen={isOpen} onOpenChange={onOpenChange}>
      {(close) => (
        <Form
          className="grid gap-4"
          onSubmit={(e) => {
            e.preventDefault();
            sync.mutate({ mode: "backfill", start_date: from, end_date: to }, { onSuccess: close });
          }}
        >
          <p className="text-sm text-muted">{t.sync.backfillHint}</p>
          <div className="grid grid-cols-2 gap-3">
            <TextField type="date" label={t.sync.from} value={from} onChange={setFrom} error={f.start_date} />
            <TextField type="date" label={t.sync.to} value={to} onChange={setTo} error={f.end_date} />
          </div>
          {refusal && !f.start_date && !f.end_date ? <Note tone="bad">{refusal.message}</Note> : null}
          <Actions>
            <Button onPress={close}>{common.cancel}</Button>
            <Button type="submit" look="primary" busy={sync.isPending}>
              {t.sync.startBackfill}
            </Button>
          </Actions>
        </Form>
      )}
    </Dialog>
  );
}

/** How far a part of a run is: its steps and its rows. */
export const stepsOf = (s: Pick<SyncRun["streams"][number], "slices_done" | "slices_total" | "records_written">) =>
  t.sync.steps(count(s.slices_done), count(s.slices_total), t.sync.rows(s.records_written));

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
          {total > 0
            ? stepsOf({ slices_done: done, slices_total: total, records_written: run.totals.records_written })
            : t.sync.rows(run.totals.records_written)}
        </span>
      </div>
      <Bar share={total > 0 ? done / total : 0} label={t.sync.progress} tone="accent" />
      {run.streams.length > 0 ? (
        <ul className="grid gap-1">
          {run.streams.map((s) => (
            <li key={s.name} className="num flex justify-between gap-4 text-xs text-muted">
              <span>{words(s.name)}</span>
              <span>{t.sync.stream(words(s.status), stepsOf(s))}</span>
            </li>
          ))}
        </ul>
      ) : null}
      {run.waiting_until ? <p className="text-xs text-warn">{t.sync.resumes(instant(run.waiting_until))}</p> : null}
    </div>
  );
}
