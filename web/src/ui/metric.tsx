import type { Schemas } from "../api/client";
import { useMetric } from "../lib/catalogue";
import { ago, day } from "../lib/format";
import { common } from "../text/common";
import { Hint } from "./overlay";

const abbreviated = /^(ctr|cp[a-z]|cvr|roas|roi|aov)$/;

/** A metric's name; on hover its meaning, formula, source and how fresh it is. */
export function MetricName({
  name,
  short,
  freshness,
  asOf,
}: {
  name: string;
  /** Shows the abbreviation where there is one, for headings of narrow columns. */
  short?: boolean;
  freshness?: Schemas["Freshness"];
  asOf?: string;
}) {
  const m = useMetric()(name);
  return (
    <Hint
      text={
        <span className="grid gap-1">
          <span className="font-medium">{m.label}</span>
          {m.description ? <span className="text-muted">{m.description}</span> : null}
          {m.formula ? <code className="font-mono text-2xs">{m.formula}</code> : null}
          <span className="text-faint">
            {[
              common.metricSource,
              freshness?.data_through && common.metricThrough(day(freshness.data_through)),
              asOf && common.metricRead(ago(asOf)),
            ]
              .filter(Boolean)
              .join(", ")}
          </span>
        </span>
      }
    >
      {short && abbreviated.test(name) ? name.toUpperCase() : m.label}
    </Hint>
  );
}
