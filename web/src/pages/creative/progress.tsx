// A generation while it runs and how it ends; the dialog and the page of a
// creative show the same.

import { useEffect, useState } from "react";
import { Label, ProgressBar } from "react-aria-components";
import { useMay } from "../../lib/session";
import { common } from "../../text/common";
import { t } from "../../text/creative";
import { Button } from "../../ui/button";
import { Note } from "../../ui/feedback";
import { reasonOf } from "./brief";
import { type Creative, named, useArchive, useRetry } from "./data";

function useSeconds(since: string): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const tick = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(tick);
  }, []);
  return Math.max(0, Math.round((now - Date.parse(since)) / 1000));
}

/** Says how a generation goes. edit leads back to the form, where there is one. */
export function Progress({ creative: c, edit }: { creative: Creative; edit?: () => void }) {
  if (c.status === "failed") return <Broken creative={c} edit={edit} />;
  if (c.status === "generating") return <Running creative={c} />;
  return null;
}

function Running({ creative: c }: { creative: Creative }) {
  const seconds = useSeconds(c.generation?.started_at ?? c.created_at);
  const archive = useArchive();
  const may = useMay("editor");
  const where = c.channels.map(named).join(", ");
  return (
    <div className="rounded-lg border border-line p-4">
      <ProgressBar isIndeterminate className="grid gap-2">
        <div className="flex items-baseline justify-between gap-4 text-sm">
          <Label className="font-medium">
            {c.generation?.started_at
              ? where
                ? t.progress.workingFor(where)
                : t.progress.working
              : t.progress.waiting}
          </Label>
          <span className="num text-muted">{seconds} s</span>
        </div>
        <div className="h-1.5 overflow-hidden rounded-full bg-sunken">
          <div className="h-full w-full rounded-full bg-accent animate-shimmer" />
        </div>
      </ProgressBar>
      <div className="mt-3 flex flex-wrap items-center justify-between gap-3">
        <p className="text-xs text-muted">
          {c.generation?.provider === "composer" ? t.progress.composer : t.progress.model}
        </p>
        {may ? (
          <Button size="sm" onPress={() => archive.mutate(c.id)} busy={archive.isPending}>
            {common.cancel}
          </Button>
        ) : null}
      </div>
    </div>
  );
}

/** Says that the built-in composer replaced a model, and why. */
export function FallbackNote({ creative: c }: { creative: Creative }) {
  const f = c.generation?.replaced;
  if (!f) return null;
  return (
    <Note
      tone="warn"
      title={
        f.part === "pictures"
          ? t.progress.replacedImages(named(f.provider))
          : t.progress.replacedText(named(f.provider))
      }
    >
      {f.message}
    </Note>
  );
}

function Broken({ creative: c, edit }: { creative: Creative; edit?: () => void }) {
  const retry = useRetry();
  const may = useMay("editor");
  const e = c.generation?.error;
  return (
    <Note tone="bad" title={t.progress.failed}>
      <p>{e ? reasonOf(e) : t.progress.noReason}</p>
      {may ? (
        <div className="mt-2.5 flex flex-wrap gap-2">
          {e?.retryable !== false ? (
            <Button size="sm" onPress={() => retry.mutate(c.id)} busy={retry.isPending}>
              {common.tryAgain}
            </Button>
          ) : null}
          {edit ? (
            <Button size="sm" onPress={edit}>
              {t.editBrief}
            </Button>
          ) : null}
        </div>
      ) : null}
    </Note>
  );
}
