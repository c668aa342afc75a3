// What can be done with the selected campaigns at once.

import { Archive, Pause, Play } from "lucide-react";
import { t } from "../../text/campaigns";
import { common } from "../../text/common";
import { Button } from "../../ui/button";
import { Bar } from "../../ui/display";
import { Note } from "../../ui/feedback";
import type { Action, Progress } from "./act";
import type { Campaign } from "./data";

const actions: { id: Action; label: string; icon: typeof Pause }[] = [
  { id: "pause", label: t.pause, icon: Pause },
  { id: "resume", label: t.resume, icon: Play },
  { id: "archive", label: t.archive, icon: Archive },
];

export function BulkBar({
  selected,
  run,
  clear,
  busy,
}: {
  selected: Campaign[];
  run: (campaigns: Campaign[], action: Action) => void;
  clear: () => void;
  busy: boolean;
}) {
  return (
    <section
      aria-label={t.bulk.label}
      className="flex flex-wrap items-center gap-2 border-b border-line bg-accent-soft px-4 py-2 text-sm"
    >
      <span className="num mr-2 font-medium">{t.list.selected(selected.length)}</span>
      {actions.map(({ id, label, icon: Icon }) => {
        const able = selected.filter((c) => c.allowed_actions.includes(id as "pause"));
        return (
          <Button key={id} size="sm" isDisabled={able.length === 0 || busy} onPress={() => run(able, id)}>
            <Icon aria-hidden="true" />
            {label}
            {able.length < selected.length ? <span className="num text-muted">{able.length}</span> : null}
          </Button>
        );
      })}
      <Button size="sm" look="quiet" onPress={clear}>
        {t.bulk.clear}
      </Button>
    </section>
  );
}

/** How far a change of many is, and in the end which could not be changed. */
export function BulkProgress({ progress: p, close }: { progress: Progress; close: () => void }) {
  if (p.finished < p.total) {
    const text = t.bulk.progress(p.finished, p.total);
    return (
      <div role="status" className="mb-3 flex items-center gap-3 text-sm text-muted">
        <span className="num whitespace-nowrap">{text}</span>
        <Bar share={p.finished / p.total} label={text} tone="accent" />
      </div>
    );
  }
  return (
    <div className="mb-3">
      <Note
        tone="bad"
        title={t.bulk.failed[p.action](p.failed.length, p.total)}
        action={
          <Button size="sm" onPress={close}>
            {common.close}
          </Button>
        }
      >
        <ul>
          {p.failed.map(({ campaign, reason }) => (
            <li key={campaign.id}>
              <span className="font-medium">{campaign.name}</span>: {reason}
            </li>
          ))}
        </ul>
      </Note>
    </div>
  );
}
