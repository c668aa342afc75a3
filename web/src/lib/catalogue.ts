// What metrics and dimensions there are, from the server's own catalogue.
import { queryOptions, useQuery } from "@tanstack/react-query";
import { type Schemas, take, v1 } from "../api/client";
import { metrics } from "../text/metrics";
import type { Format } from "./format";
import { words } from "./format";

export type Catalogue = Schemas["AnalyticsSchemaEnvelope"]["data"];
export type MetricInfo = Catalogue["metrics"][number];

/** The catalogue in the language of the page. The server's texts are for developers. */
function translated(c: Catalogue): Catalogue {
  const labels: Record<string, string> = metrics.labels;
  const descriptions: Record<string, string> = metrics.descriptions;
  const text = <T extends { name: string; label: string; description: string }>(x: T): T => ({
    ...x,
    label: labels[x.name] ?? x.label,
    description: descriptions[x.name] ?? x.description,
  });
  return { ...c, metrics: c.metrics.map(text), dimensions: c.dimensions.map(text) };
}

export const catalogueQuery = queryOptions({
  queryKey: ["analytics", "schema"],
  queryFn: async () => translated((await take(v1.GET("/v1/analytics/schema"))).data),
  staleTime: Number.POSITIVE_INFINITY,
});

/** A metric's name, format and meaning; a plain guess until the catalogue is there. */
export function useMetric(): (
  name: string,
) => Pick<MetricInfo, "label" | "description" | "formula"> & { format: Format } {
  const { data } = useQuery(catalogueQuery);
  return (name) =>
    data?.metrics.find((m) => m.name === name) ?? { label: words(name), description: "", formula: "", format: "count" };
}

/** Metrics of which less is better. */
const costs = new Set([
  "cpc",
  "cpm",
  "cpa",
  "cpl",
  "cpe",
  "cpv",
  "bounce_rate",
  "bounces",
  "unsubscribes",
  "unsubscribe_rate",
  "complaints",
  "complaint_rate",
]);

/** Which way a metric should go. More spend is neither good nor bad. */
export function better(metric: string): "up" | "down" | "none" {
  if (metric === "spend") return "none";
  return costs.has(metric) ? "down" : "up";
}
