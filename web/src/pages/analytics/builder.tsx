// The query builder. Every control changes one member of the body.

import { ChevronRight, Plus } from "lucide-react";
import { Button as AriaButton, DialogTrigger, Disclosure, DisclosurePanel, Heading } from "react-aria-components";
import type { Schemas } from "../../api/client";
import { words } from "../../lib/format";
import { useSession } from "../../lib/session";
import { t } from "../../text/analytics";
import { common } from "../../text/common";
import { Button } from "../../ui/button";
import { Checkbox, Select } from "../../ui/fields";
import { MetricName } from "../../ui/metric";
import { Popover } from "../../ui/overlay";
import { Conditions } from "./filters";
import { Chip, Part, Typed } from "./parts";
import { Comparison, Period } from "./period";
import { type Choice, PickList } from "./pick";
import type { BuilderProps } from "./props";
import { conditions, faultAt, isSeries, type Query, withConditions } from "./query";

export function Builder(p: BuilderProps) {
  const { query: q, onChange, catalogue, details } = p;
  const filters = Array.isArray(q.filters) ? "filters" : "filters.and";
  return (
    <>
      <Metrics {...p} />
      <Dimensions {...p} />
      <Part
        title={t.build.filter}
        fault={faultAt(
          details.filter((d) => d.field === "filters"),
          "filters",
        )}
      >
        <Conditions
          catalogue={catalogue}
          range={q.date_range}
          details={details}
          list={conditions(q.filters)}
          paths={(i) => [`${filters}[${i}]`]}
          onChange={(list) => onChange(withConditions(q, list))}
        />
      </Part>
      <Period {...p} />
      <Comparison {...p} />
      <More {...p} />
    </>
  );
}

/** Groups of metrics, by what people look for. */
const groups: Record<string, string[]> = {
  delivery: ["impressions", "clicks", "reach", "frequency", "ctr", "engagements", "engagement_rate"],
  cost: ["spend", "cpc", "cpm", "cpa", "cpl", "cpe", "cpv", "spend_share", "pacing"],
  results: ["conversions", "revenue", "leads", "cvr", "roas", "roi", "aov", "conversion_share"],
  video: ["video_views", "video_completions", "video_completion_rate"],
  messages: [
    "sends",
    "deliveries",
    "opens",
    "bounces",
    "unsubscribes",
    "complaints",
    "delivery_rate",
    "bounce_rate",
    "open_rate",
    "unsubscribe_rate",
    "complaint_rate",
  ],
};

const groupOf = (name: string) => Object.keys(groups).find((g) => groups[g]?.includes(name)) ?? "other";

function AddButton({ label }: { label: string }) {
  return (
    <Button look="quiet" size="sm" icon aria-label={label}>
      <Plus aria-hidden="true" />
    </Button>
  );
}

function Metrics({ query: q, onChange, catalogue, details }: BuilderProps) {
  const order = [...Object.keys(groups), "other"];
  const full = q.metrics.length >= (catalogue.limits.metrics ?? 20);
  const choices: Choice[] = catalogue.metrics
    .map((m) => ({
      id: m.name as string,
      label: m.label,
      hint: m.formula ? `${m.description} ${m.formula}` : m.description,
      group: groupOf(m.name),
      off: full && !q.metrics.includes(m.name) ? t.build.mostMetrics(catalogue.limits.metrics ?? 20) : undefined,
    }))
    .toSorted((a, b) => order.indexOf(a.group) - order.indexOf(b.group))
    .map((c) => ({ ...c, group: t.build.groups[c.group as keyof typeof t.build.groups] }));
  const set = (metrics: string[]) => onChange(pruned({ ...q, metrics: metrics as Query["metrics"] }));
  return (
    <Part
      title={t.build.metrics}
      fault={q.metrics.length === 0 ? t.chooseMetric : faultAt(details, "metrics")}
      action={
        <DialogTrigger>
          <AddButton label={t.build.chooseMetrics} />
          <Popover aria-label={t.build.metrics} placement="bottom end" className="">
            <PickList label={t.build.metrics} choices={choices} selected={q.metrics} onChange={set} />
          </Popover>
        </DialogTrigger>
      }
    >
      <div className="flex flex-wrap gap-1.5">
        {q.metrics.map((m) => (
          <Chip
            key={m}
            name={catalogue.metrics.find((x) => x.name === m)?.label ?? words(m)}
            remove={() => set(q.metrics.filter((x) => x !== m))}
          >
            <MetricName name={m} />
          </Chip>
        ))}
      </div>
    </Part>
  );
}

/** Takes out what is sorted by but no longer asked for. */
function pruned(q: Query): Query {
  const names = new Set<string>([...q.metrics, ...(q.dimensions ?? []), ...(isSeries(q) ? ["date"] : [])]);
  const kept = q.order_by?.filter((o) => names.has(o.field.replace(/^(previous|change)\./, "")));
  return { ...q, order_by: kept?.length ? kept : undefined };
}

function Dimensions({ query: q, onChange, catalogue, details }: BuilderProps) {
  const chosen = q.dimensions ?? [];
  const most = catalogue.limits.dimensions ?? 5;
  const labelOf = (name: string) => catalogue.dimensions.find((d) => d.name === name)?.label ?? words(name);
  // What stands in a filter must be in the same report as what is broken down by.
  const asked = [...chosen, ...fieldsOf(conditions(q.filters))];
  const choices: Choice[] = catalogue.dimensions.map((d) => {
    const against = asked.find((name) => name !== d.name && d.incompatible_with.some((x) => x === name));
    const off = chosen.includes(d.name)
      ? undefined
      : against
        ? t.build.incompatible(labelOf(against))
        : chosen.length >= most
          ? t.build.mostDimensions(most)
          : undefined;
    return { id: d.name, label: d.label, hint: d.description, off };
  });
  const set = (list: string[]) =>
    onChange(pruned({ ...q, dimensions: list.length ? (list as Query["dimensions"]) : undefined }));
  return (
    <Part
      title={t.build.breakDown}
      fault={faultAt(details, "dimensions")}
      action={
        <DialogTrigger>
          <AddButton label={t.build.chooseDimensions} />
          <Popover aria-label={t.build.dimensions} placement="bottom end" className="">
            <PickList label={t.build.dimensions} choices={choices} selected={chosen} onChange={set} />
          </Popover>
        </DialogTrigger>
      }
    >
      <div className="grid gap-2">
        {chosen.length > 0 ? (
          <div className="flex flex-wrap gap-1.5">
            {chosen.map((d) => (
              <Chip key={d} name={labelOf(d)} remove={() => set(chosen.filter((x) => x !== d))} />
            ))}
          </div>
        ) : (
          <p className="text-xs text-muted">{t.build.noDimension}</p>
        )}
        <Select
          label={t.build.overTime}
          hideLabel
          value={q.granularity ?? "none"}
          error={faultAt(details, "granularity")}
          onChange={(g) =>
            onChange(pruned({ ...q, granularity: g === "none" ? undefined : (g as Schemas["Granularity"]) }))
          }
          options={catalogue.granularities.map((g) => ({
            id: g,
            label: g === "none" ? t.build.wholePeriod : t.build.by[g as keyof typeof t.build.by],
          }))}
        />
      </div>
    </Part>
  );
}

function fieldsOf(list: ReturnType<typeof conditions>): string[] {
  return list.flatMap((n) => {
    if ("field" in n) return [n.field];
    if ("not" in n) return fieldsOf([n.not]);
    return fieldsOf("or" in n ? n.or : n.and);
  });
}

function More({ query: q, onChange, catalogue, details }: BuilderProps) {
  const workspace = useSession().workspace;
  const order = q.order_by?.[0];
  const fields = [
    ...(isSeries(q) ? [{ id: "date", label: common.date }] : []),
    ...(q.dimensions ?? []).map((d) => ({
      id: d as string,
      label: catalogue.dimensions.find((x) => x.name === d)?.label ?? words(d),
    })),
    ...q.metrics.map((m) => ({
      id: m as string,
      label: catalogue.metrics.find((x) => x.name === m)?.label ?? words(m),
    })),
    ...(q.compare
      ? q.metrics.map((m) => ({
          id: `change.${m}`,
          label: t.build.changeOf(catalogue.metrics.find((x) => x.name === m)?.label ?? words(m)),
        }))
      : []),
  ];
  const sort = (field: string, dir?: string) =>
    onChange({
      ...q,
      order_by: field === "" ? undefined : [{ field, ...(dir ? { order: dir as "asc" | "desc" } : {}) }],
    });
  const faulty = faultAt(details, "order_by", "limit", "currency", "timezone", "include");
  return (
    <Disclosure defaultExpanded={!!faulty} className="group border-t border-line px-4 py-2">
      <Heading level={3}>
        <AriaButton
          slot="trigger"
          className="flex h-8 w-full cursor-default items-center gap-1.5 rounded-md text-sm font-medium outline-none focus-visible:ring-focus"
        >
          <ChevronRight
            className="size-3.5 text-faint transition-transform group-data-[expanded]:rotate-90"
            aria-hidden="true"
          />
          {t.build.more}
        </AriaButton>
      </Heading>
      <DisclosurePanel>
        <div className="grid gap-3 pb-2 pt-1">
          <div className="grid grid-cols-[1fr_7rem] gap-2">
            <Select
              label={t.build.sortBy}
              value={order?.field ?? ""}
              onChange={(f) => sort(f)}
              error={faultAt(details, "order_by")}
              options={[{ id: "", label: t.build.defaultSort }, ...fields]}
            />
            <Select
              label={t.build.direction}
              value={order?.order ?? ""}
              isDisabled={!order}
              onChange={(d) => sort(order?.field ?? "", d)}
              options={[
                { id: "", label: t.build.defaultDirection },
                { id: "desc", label: t.build.highToLow },
                { id: "asc", label: t.build.lowToHigh },
              ]}
            />
          </div>
          <div className="grid grid-cols-2 gap-2">
            <Typed
              label={t.build.pageSize}
              inputMode="numeric"
              value={q.limit === undefined ? "" : String(q.limit)}
              placeholder={String(catalogue.limits.default_limit)}
              error={faultAt(details, "limit")}
              onCommit={(v) => onChange({ ...q, limit: v === "" ? undefined : Number(v) })}
            />
            <Typed
              label={common.currency}
              value={q.currency ?? ""}
              placeholder={workspace.currency}
              error={faultAt(details, "currency")}
              onCommit={(v) => onChange({ ...q, currency: v.toUpperCase() || undefined })}
            />
          </div>
          <Typed
            label={t.build.timeZone}
            value={q.timezone ?? ""}
            placeholder={workspace.timezone}
            error={faultAt(details, "timezone")}
            onCommit={(v) => onChange({ ...q, timezone: v || undefined })}
          />
          <Checkbox
            isSelected={q.include?.empty_rows ?? false}
            onChange={(on) => onChange({ ...q, include: on ? { ...q.include, empty_rows: true } : undefined })}
          >
            {t.build.emptyRows}
          </Checkbox>
          {faultAt(details, "include") ? (
            <p role="alert" className="text-xs text-bad">
              {faultAt(details, "include")}
            </p>
          ) : null}
        </div>
      </DisclosurePanel>
    </Disclosure>
  );
}
