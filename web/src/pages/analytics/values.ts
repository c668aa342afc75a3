import { useQuery } from "@tanstack/react-query";
import { take, v1 } from "../../api/client";
import { type DateRange, type Query, type Result, valueName } from "./query";

/** An answer and the query that it answers: rows of one query must not be drawn as rows of another. */
export type Answered = Result & { asked: Query };

/** Sends a query; the signal stops one that nobody waits for any more. */
export async function ask(query: Query, signal: AbortSignal, cursor?: string): Promise<Answered> {
  const body = cursor ? { ...query, cursor } : query;
  const result = (await take(v1.POST("/v1/analytics/query", { body: body as never, signal }))) as Result;
  return { ...result, asked: query };
}

/** The values that a dimension has in a period, largest first, from the numbers themselves. */
export function useValues(field: string, range: DateRange | undefined, enabled = true) {
  return useQuery({
    queryKey: ["analytics", "values", field, range ?? null],
    queryFn: async ({ signal }) => {
      const dimensions = [field] as Query["dimensions"];
      const { data } = await ask({ metrics: ["impressions"], dimensions, date_range: range, limit: 200 }, signal);
      return data.flatMap((r) => {
        const value = r.dimensions[field];
        return value == null ? [] : [{ value, name: valueName(field, value, r.labels?.[field]) }];
      });
    },
    staleTime: 300_000,
    enabled,
  });
}
