// Conditions: a tree of "all of" and "any of", each leaf a chip that opens its editor.

import { Plus, X } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton, DialogTrigger } from "react-aria-components";
import type { Detail } from "../../api/client";
import type { Catalogue } from "../../lib/catalogue";
import { count, words } from "../../lib/format";
import { t } from "../../text/analytics";
import { locale } from "../../text/language";
import { Button } from "../../ui/button";
import { Select } from "../../ui/fields";
import { Popover } from "../../ui/overlay";
import { LeafEditor } from "./leaf";
import { type DateRange, faultAt, type Leaf, type Node, operands, operators, valueName } from "./query";
import { useValues } from "./values";

interface Context {
  catalogue: Catalogue;
  range: DateRange | undefined;
  details: Detail[];
}

/** A list of conditions; path is where it stands in the body. */
export function Conditions({
  list,
  paths,
  onChange,
  depth = 1,
  ...context
}: Context & { list: Node[]; paths: (i: number) => string[]; onChange: (list: Node[]) => void; depth?: number }) {
  const set = (i: number, node: Node | null) =>
    onChange(node ? list.with(i, node) : list.filter((_, other) => other !== i));
  return (
    <div className="grid gap-1.5">
      {list.map((node, i) => (
        <Condition
          // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no name of their own
          key={i}
          {...context}
          node={node}
          paths={paths(i)}
          depth={depth}
          onChange={(n) => set(i, n)}
        />
      ))}
      <div className="-ml-2.5 flex flex-wrap gap-1">
        <AddLeaf {...context} top={depth === 1} onAdd={(leaf) => onChange([...list, leaf])} />
        {depth === 1 ? (
          <Button look="quiet" size="sm" onPress={() => onChange([...list, { or: [] }])}>
            <Plus aria-hidden="true" />
            {t.filter.anyOf}
          </Button>
        ) : null}
      </div>
    </div>
  );
}

function AddLeaf({ top, onAdd, ...context }: Context & { top: boolean; onAdd: (leaf: Leaf) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <DialogTrigger isOpen={open} onOpenChange={setOpen}>
      <Button look="quiet" size="sm">
        <Plus aria-hidden="true" />
        {t.filter.condition}
      </Button>
      <Popover aria-label={t.filter.newCondition} placement="bottom start" className="w-76">
        <LeafEditor
          {...context}
          top={top}
          leaf={{ field: "channel", op: "in", values: [] }}
          onDone={(leaf) => {
            onAdd(leaf);
            setOpen(false);
          }}
        />
      </Popover>
    </DialogTrigger>
  );
}

type NodeProps = Context & {
  node: Node;
  paths: string[];
  depth: number;
  onChange: (node: Node | null) => void;
};

function Condition(p: NodeProps) {
  if ("field" in p.node) return <LeafChip {...p} node={p.node} />;
  if ("not" in p.node) {
    return (
      <Box title={t.filter.not} remove={() => p.onChange(null)}>
        <Condition
          {...p}
          node={p.node.not}
          paths={p.paths.map((f) => `${f}.not`)}
          depth={p.depth + 1}
          onChange={(n) => p.onChange(n ? { not: n } : null)}
        />
      </Box>
    );
  }
  const any = "or" in p.node;
  const list = "or" in p.node ? p.node.or : p.node.and;
  const { node: _, onChange, paths, ...rest } = p;
  return (
    <Box
      title={any ? t.filter.anyOf : t.filter.allOf}
      pick={(id) => onChange(id === "or" ? { or: list } : { and: list })}
      picked={any ? "or" : "and"}
      remove={() => onChange(null)}
    >
      <Conditions
        {...rest}
        list={list}
        depth={p.depth + 1}
        paths={(i) => paths.map((f) => `${f}.${any ? "or" : "and"}[${i}]`)}
        onChange={(next) => onChange(any ? { or: next } : { and: next })}
      />
    </Box>
  );
}

function Box({
  title,
  picked,
  pick,
  remove,
  children,
}: {
  title: string;
  picked?: string;
  pick?: (id: string) => void;
  remove: () => void;
  children: React.ReactNode;
}) {
  return (
    <div role="group" aria-label={title} className="rounded-md border border-line p-2">
      <div className="mb-1.5 flex items-center justify-between gap-2">
        {pick && picked ? (
          <Select
            label={t.filter.combine}
            hideLabel
            className="w-24"
            value={picked}
            onChange={pick}
            options={[
              { id: "or", label: t.filter.anyOf },
              { id: "and", label: t.filter.allOf },
            ]}
          />
        ) : (
          <span className="text-xs font-medium text-muted">{title}</span>
        )}
        <Button look="quiet" size="sm" icon aria-label={t.filter.removeGroup(title)} onPress={remove}>
          <X aria-hidden="true" />
        </Button>
      </div>
      {children}
    </div>
  );
}

function LeafChip({ node, paths, depth, onChange, ...context }: NodeProps & { node: Leaf }) {
  const [open, setOpen] = useState(false);
  const dimension = context.catalogue.dimensions.find((d) => d.name === node.field);
  const metric = context.catalogue.metrics.find((m) => m.name === node.field);
  const { data: known } = useValues(node.field, context.range, !!dimension?.identifies);
  const name = dimension?.label ?? metric?.label ?? words(node.field);
  const shown = (v: string | number) =>
    typeof v === "number" ? count(v) : (known?.find((k) => k.value === v)?.name ?? valueName(node.field, v));
  const values = (node.values ?? []).map(shown);
  const text =
    values.length > 2
      ? `${values.slice(0, 2).join(", ")} +${values.length - 2}`
      : new Intl.ListFormat(locale, { type: "conjunction" }).format(values);
  const fault = faultAt(context.details, ...paths);
  return (
    <div>
      <div
        className={`flex min-h-7 items-center rounded-md border bg-sunken text-sm ${fault ? "border-bad" : "border-line"}`}
      >
        <DialogTrigger isOpen={open} onOpenChange={setOpen}>
          <AriaButton className="min-w-0 grow cursor-default rounded-md px-2 py-1 text-left outline-none hover:bg-hover focus-visible:ring-focus">
            <span className="font-medium">{name}</span>{" "}
            <span className="text-muted">{operators[node.op] ?? node.op}</span>{" "}
            {operands(node.op).least > 0 ? <span className="break-words">{text}</span> : null}
          </AriaButton>
          <Popover aria-label={t.filter.conditionOn(name)} placement="bottom start" className="w-76">
            <LeafEditor
              {...context}
              top={depth === 1}
              leaf={node}
              onDone={(leaf) => {
                onChange(leaf);
                setOpen(false);
              }}
            />
          </Popover>
        </DialogTrigger>
        <AriaButton
          aria-label={t.filter.removeCondition(name)}
          onPress={() => onChange(null)}
          className="grid size-6 shrink-0 cursor-default place-items-center rounded text-faint outline-none hover:text-ink focus-visible:ring-focus"
        >
          <X className="size-3.5" aria-hidden="true" />
        </AriaButton>
      </div>
      {fault ? (
        <p role="alert" className="mt-1 text-xs text-bad">
          {fault}
        </p>
      ) : null}
    </div>
  );
}
