// The period of a query and what it is compared with.

import type { Schemas } from "../../api/client";
import { words } from "../../lib/format";
import { addDays, today } from "../../lib/range";
import { useSession } from "../../lib/session";
import { t } from "../../text/analytics";
import { common } from "../../text/common";
import { Checkbox, Select, TextField } from "../../ui/fields";
import { Part } from "./parts";
import type { BuilderProps } from "./props";
import { type DateRange, faultAt, type Query } from "./query";

const isDays = (r: DateRange | undefined): r is Schemas["DaysRange"] => !!r && "start_date" in r;

function Days({
  range,
  onChange,
  fault,
}: {
  range: Schemas["DaysRange"];
  onChange: (r: DateRange) => void;
  fault: (member: string) => string | undefined;
}) {
  return (
    <div className="mt-2 grid grid-cols-2 gap-2">
      <TextField
        type="date"
        label={t.filter.from}
        value={range.start_date}
        error={fault("start_date")}
        onChange={(v) => v && onChange({ ...range, start_date: v })}
      />
      <TextField
        type="date"
        label={t.filter.to}
        value={range.end_date}
        error={fault("end_date")}
        onChange={(v) => v && onChange({ ...range, end_date: v })}
      />
    </div>
  );
}

/** The last 30 full days, to begin from. */
function month(zone: string): Schemas["DaysRange"] {
  const end = addDays(today(zone), -1);
  return { start_date: addDays(end, -29), end_date: end };
}

export function Period({ query: q, onChange, catalogue, details }: BuilderProps) {
  const zone = useSession().workspace.timezone;
  const range = q.date_range;
  const days = isDays(range);
  return (
    <Part
      title={t.period.title}
      fault={faultAt(
        details.filter((d) => !d.field?.endsWith("_date")),
        "date_range",
      )}
      action={<span className="text-xs text-faint">{common.daysIn(q.timezone ?? zone)}</span>}
    >
      <Select
        label={t.period.title}
        hideLabel
        value={days ? "days" : ((range as Schemas["PresetRange"] | undefined)?.preset ?? "last_30_days")}
        onChange={(id) =>
          onChange({
            ...q,
            date_range: id === "days" ? month(zone) : { preset: id as Schemas["Preset"] },
          })
        }
        options={[
          ...catalogue.presets.map((id) => ({ id: id as string, label: words(id) })),
          { id: "days", label: t.period.custom },
        ]}
      />
      {days ? (
        <Days
          range={range}
          onChange={(date_range) => onChange({ ...q, date_range })}
          fault={(member) => faultAt(details, `date_range.${member}`)}
        />
      ) : null}
    </Part>
  );
}

const names: Record<string, string> = {
  previous_period: t.period.previousPeriod,
  previous_year: t.period.previousYear,
  custom: t.period.custom,
};

export function Comparison({ query: q, onChange, catalogue, details }: BuilderProps) {
  const zone = useSession().workspace.timezone;
  const c = q.compare;
  const set = (compare: Query["compare"]) => onChange({ ...q, compare });
  return (
    <Part
      title={t.period.compareWith}
      fault={faultAt(
        details.filter((d) => !d.field?.endsWith("_date")),
        "compare",
      )}
    >
      <Select
        label={t.period.compareWith}
        hideLabel
        value={c?.to ?? "none"}
        onChange={(id) => {
          if (id === "none") set(undefined);
          else if (id === "custom") set({ to: "custom", date_range: month(zone) });
          else set({ to: id as Schemas["Compare"]["to"] });
        }}
        options={[
          { id: "none", label: t.period.none },
          ...catalogue.comparisons.map((id) => ({ id: id as string, label: names[id] ?? words(id) })),
        ]}
      />
      {c && isDays(c.date_range) ? (
        <Days
          range={c.date_range}
          onChange={(date_range) => set({ ...c, date_range })}
          fault={(member) => faultAt(details, `compare.date_range.${member}`)}
        />
      ) : null}
      {c ? (
        <div className="mt-1.5">
          <Checkbox
            isSelected={c.match_weekday ?? false}
            onChange={(on) => set({ ...c, match_weekday: on || undefined })}
          >
            {t.period.matchWeekday}
          </Checkbox>
        </div>
      ) : null}
    </Part>
  );
}
