// What the list is narrowed to, and which columns it shows.

import { ChevronDown, Columns3 } from "lucide-react";
import { CheckboxGroup } from "react-aria-components";
import { useMetric } from "../../lib/catalogue";
import { t } from "../../text/campaigns";
import { Button } from "../../ui/button";
import { Checkbox, SearchField, Select } from "../../ui/fields";
import { DialogTrigger, Popover } from "../../ui/overlay";
import { channels, named } from "../creative/data";
import { allColumns, columnsOf, presets } from "./columns";
import { deliveries, objectives, statuses } from "./data";
import { type Change, nothing, type View } from "./view";

export function Filters({ view, set, tags }: { view: View; set: (c: Change) => void; tags: string[] }) {
  const f = view.filter;
  return (
    <div className="flex flex-wrap items-center gap-2 no-print">
      <SearchField label={t.list.searchByName} value={f.q} onChange={(q) => set({ q })} className="w-full sm:w-56" />
      <Several name={t.list.status} ids={statuses} chosen={f.status} onChange={(status) => set({ status })} />
      <Several name={t.list.channel} ids={channels} chosen={f.channel} onChange={(channel) => set({ channel })} />
      <Several name={t.list.delivery} ids={deliveries} chosen={f.delivery} onChange={(delivery) => set({ delivery })} />
      <Several
        name={t.list.objective}
        ids={objectives}
        chosen={f.objective}
        onChange={(objective) => set({ objective })}
      />
      {tags.length > 0 || f.tag ? (
        <Select
          label={t.list.tag}
          hideLabel
          className="w-32"
          value={f.tag || "any"}
          onChange={(tag) => set({ tag: tag === "any" ? "" : tag })}
          options={[
            { id: "any", label: t.list.anyTag },
            ...[...new Set([...tags, ...(f.tag ? [f.tag] : [])])].map((t) => ({ id: t, label: `#${t}` })),
          ]}
        />
      ) : null}
      {view.narrowed > 0 ? (
        <Button look="quiet" onPress={() => set(nothing)}>
          {t.list.clearAll}
        </Button>
      ) : null}
    </div>
  );
}

/** A filter of which several values can hold. */
function Several({
  name,
  ids,
  chosen,
  onChange,
}: {
  name: string;
  ids: readonly string[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}) {
  const shown = chosen.length > 2 ? t.list.selected(chosen.length) : chosen.map(named).join(", ");
  return (
    <DialogTrigger>
      <Button className={chosen.length > 0 ? "border-accent! bg-accent-soft! text-accent-text!" : ""}>
        {name}
        {shown ? <span className="font-normal">{shown}</span> : null}
        <ChevronDown className="size-3.5!" aria-hidden="true" />
      </Button>
      <Popover aria-label={name} placement="bottom start">
        <Choices
          label={name}
          options={ids.map((id) => ({ id, label: named(id) }))}
          value={chosen}
          onChange={onChange}
        />
      </Popover>
    </DialogTrigger>
  );
}

export function Choices({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: { id: string; label: string }[];
  value: string[];
  onChange: (value: string[]) => void;
}) {
  return (
    <CheckboxGroup
      aria-label={label}
      value={value}
      onChange={onChange}
      className="flex max-h-80 min-w-40 flex-col gap-1 overflow-y-auto"
    >
      {options.map((o) => (
        <Checkbox key={o.id} value={o.id}>
          {o.label}
        </Checkbox>
      ))}
    </CheckboxGroup>
  );
}

/** Chooses a set of columns, or columns one by one. */
export function ColumnPicker({ view, set }: { view: View; set: (c: Change) => void }) {
  const metric = useMetric();
  const shown = columnsOf(view.preset, view.columns);
  const all = allColumns(metric);
  return (
    <div className="flex items-center gap-2 no-print">
      <Select
        label={t.list.columns}
        hideLabel
        className="w-36"
        value={view.preset in presets ? view.preset : "custom"}
        onChange={(id) =>
          set(id === "custom" ? { view: id, columns: shown } : { view: id === "performance" ? "" : id, columns: "" })
        }
        options={[
          ...Object.entries(presets).map(([id, p]) => ({ id, label: p.label })),
          { id: "custom", label: t.list.custom },
        ]}
      />
      <DialogTrigger>
        <Button icon aria-label={t.list.chooseColumns}>
          <Columns3 aria-hidden="true" />
        </Button>
        <Popover aria-label={t.list.columns} placement="bottom end">
          <Choices
            label={t.list.columns}
            options={all}
            value={shown}
            // Columns keep their usual order, whichever was ticked first.
            onChange={(ids) => set({ view: "custom", columns: all.map((c) => c.id).filter((id) => ids.includes(id)) })}
          />
        </Popover>
      </DialogTrigger>
    </div>
  );
}
