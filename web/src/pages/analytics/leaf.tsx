// The editor of one condition: field, operator by kind, values with suggestions.

import { useState } from "react";
import type { Catalogue } from "../../lib/catalogue";
import { t } from "../../text/analytics";
import { Button } from "../../ui/button";
import { Select, TextField } from "../../ui/fields";
import { PickList } from "./pick";
import { type DateRange, type Leaf, operands, operators, valueName } from "./query";
import { useValues } from "./values";

const listed = new Set<Leaf["op"]>(["eq", "ne", "in", "not_in"]);

export function LeafEditor({
  catalogue,
  range,
  leaf,
  top,
  onDone,
}: {
  catalogue: Catalogue;
  range: DateRange | undefined;
  leaf: Leaf;
  /** Conditions on metrics may stand only on the top level. */
  top: boolean;
  onDone: (leaf: Leaf) => void;
}) {
  const [draft, setDraft] = useState(leaf);
  const metric = catalogue.metrics.some((m) => m.name === draft.field);
  const ops = (metric ? catalogue.operators.metric : catalogue.operators.dimension) as Leaf["op"][];
  const { least } = operands(draft.op);
  const values = (draft.values ?? []).filter((v) => v !== "");
  const ready = least === 0 || values.length >= least;
  const fields = [
    ...catalogue.dimensions.map((d) => ({ id: d.name as string, label: d.label })),
    ...(top ? catalogue.metrics.map((m) => ({ id: m.name as string, label: m.label, hint: t.filter.metric })) : []),
  ];
  const setField = (field: string) => {
    const number = catalogue.metrics.some((m) => m.name === field);
    setDraft({ field, op: number ? "gte" : "in", values: [] });
  };
  const setOp = (op: Leaf["op"]) => {
    const most = operands(op).many ? Number.POSITIVE_INFINITY : operands(op).least;
    setDraft({ ...draft, op, values: (draft.values ?? []).slice(0, most) });
  };
  return (
    <div>
      <div className="grid grid-cols-2 gap-2 p-2">
        <Select label={t.filter.field} hideLabel value={draft.field} onChange={setField} options={fields} />
        <Select
          label={t.filter.operator}
          hideLabel
          value={draft.op}
          onChange={(op) => setOp(op as Leaf["op"])}
          options={ops.map((id) => ({ id, label: operators[id] ?? id }))}
        />
      </div>
      <Values
        key={draft.field}
        {...{ catalogue, range, draft, metric }}
        onChange={(v) => setDraft({ ...draft, values: v })}
      />
      <div className="flex justify-end border-t border-line p-2">
        <Button
          look="primary"
          size="sm"
          isDisabled={!ready}
          onPress={() =>
            onDone(
              least === 0
                ? { field: draft.field, op: draft.op }
                : { ...draft, values: metric ? values.map((v) => (Number.isNaN(Number(v)) ? v : Number(v))) : values },
            )
          }
        >
          {t.filter.apply}
        </Button>
      </div>
    </div>
  );
}

function Values({
  catalogue,
  range,
  draft,
  metric,
  onChange,
}: {
  catalogue: Catalogue;
  range: DateRange | undefined;
  draft: Leaf;
  metric: boolean;
  onChange: (values: (string | number)[]) => void;
}) {
  const values = draft.values ?? [];
  const { least, many } = operands(draft.op);
  if (least === 0) return null;
  if (!metric && listed.has(draft.op)) {
    return (
      <Listed
        {...{ catalogue, range }}
        field={draft.field}
        single={!many}
        selected={values.map(String)}
        onChange={onChange}
      />
    );
  }
  if (metric || !many) {
    return (
      <div className="grid grid-flow-col gap-2 px-2 pb-2">
        {Array.from({ length: least }, (_, i) => (
          <TextField
            // biome-ignore lint/suspicious/noArrayIndexKey: a first and a second value
            key={i}
            label={least === 1 ? t.filter.value : i === 0 ? t.filter.from : t.filter.to}
            inputMode={metric ? "decimal" : "text"}
            value={String(values[i] ?? "")}
            onChange={(v) => onChange(put(values, i, least, v))}
          />
        ))}
      </div>
    );
  }
  return (
    <div className="px-2 pb-2">
      <TextField
        label={t.filter.text}
        hint={t.filter.textHint}
        value={values.join(",")}
        onChange={(v) => onChange(v === "" ? [] : v.split(","))}
      />
    </div>
  );
}

function put(values: (string | number)[], at: number, length: number, v: string) {
  return Array.from({ length }, (_, i) => (i === at ? v : (values[i] ?? "")));
}

function Listed({
  catalogue,
  range,
  field,
  single,
  selected,
  onChange,
}: {
  catalogue: Catalogue;
  range: DateRange | undefined;
  field: string;
  single: boolean;
  selected: string[];
  onChange: (values: string[]) => void;
}) {
  const info = catalogue.dimensions.find((d) => d.name === field);
  const fixed = (info?.allowed ?? []).map((value) => ({ value, name: valueName(field, value) }));
  const found = useValues(field, range, fixed.length === 0);
  const known = fixed.length > 0 ? fixed : (found.data ?? []);
  const all = [
    ...known,
    ...selected
      .filter((v) => !known.some((k) => k.value === v))
      .map((value) => ({ value, name: valueName(field, value) })),
  ];
  return (
    <PickList
      label={info?.label ?? field}
      single={single}
      loading={found.isLoading}
      empty={t.filter.noValue}
      choices={all.map((k) => ({ id: k.value, label: k.name }))}
      selected={selected}
      onChange={onChange}
    />
  );
}
