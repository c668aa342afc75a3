// What can be done with the selected campaigns at once.
import { Archive, Pause, Play } from "lucide-react";
import { Button } from "../../ui/button";
import { Bar } from "../../ui/display";
import { Note } from "../../ui/feedback";
import { type Action, done, type Progress } from "./act";
import type { Campaign } from "./data";

const actions: { id: Action; label: string; icon: typeof Pause }[] = [
  { id: "pause", label: "Pause", icon: Pause },
  { id: "resume", label: "Resume", icon: Play },
  { id: "archive", label: "Archive", icon: Archive },
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
      aria-label="Selected campaigns"
      className="flex flex-wrap items-center gap-2 border-b border-line bg-accent-soft px-4 py-2 text-sm"
    >
      <span className="num mr-2 font-medium">{selected.length} selected</span>
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
        Clear selection
      </Button>
    </section>
  );
}

/** How far a change of many is, and in the end which could not be changed. */
export function BulkProgress({ progress: p, close }: { progress: Progress; close: () => void }) {
  if (p.finished < p.total) {
    const text = `${p.finished} of ${p.total} ${done[p.action]}`;
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
        title={`${p.failed.length} of ${p.total} could not be ${done[p.action]}`}
        action={
          <Button size="sm" onPress={close}>
            Close
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
