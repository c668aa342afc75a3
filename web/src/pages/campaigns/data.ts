// Campaigns and their numbers as the pages read them.
import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { type Schemas, take, v1 } from "../../api/client";
import type { Range } from "../../lib/range";

export type Campaign = Schemas["Campaign"];
export type Values = Schemas["MetricValues"];
export type Metric = Schemas["Metric"];
export type Numbers = Schemas["QueryResult"];
export type Query = Partial<Schemas["AnalyticsQuery"]> & Pick<Schemas["AnalyticsQuery"], "metrics">;

export const statuses: Campaign["status"][] = ["draft", "active", "paused", "completed", "archived"];
export const deliveries: Schemas["DeliveryStatus"][] = [
  "not_launched",
  "pending_start",
  "delivering",
  "limited",
  "blocked",
  "paused",
  "ended",
];
export const objectives = ["awareness", "traffic", "engagement", "leads", "app_promotion", "sales"] as const;

/** What the list of campaigns is narrowed to. */
export interface Filter {
  q: string;
  status: string[];
  delivery: string[];
  channel: string[];
  objective: string[];
  tag: string;
}

/** The columns that are no metric and can be sorted by, and what the server calls that. */
export const plainSorts = {
  created_at: "created_at",
  updated_at: "updated_at",
  name: "name",
  status: "status",
  delivery: "delivery_status",
  objective: "objective",
  schedule: "start_at",
} as const;

/** How the server is asked to sort all campaigns by a column: by a field, or by a metric in the period. */
function sortBy(column: string, range: Range) {
  const plain = plainSorts[column as keyof typeof plainSorts];
  if (plain) return { sort: plain };
  return {
    sort: "metric" as const,
    metric: column as Metric,
    metric_start_date: range.from,
    metric_end_date: range.to,
  };
}

const some = <T>(list: string[]) => (list.length > 0 ? (list as T[]) : undefined);

/** A view as parameters of the list; what is not set is left out. */
export function listQuery(f: Filter, sort: string, order: "asc" | "desc", range: Range) {
  return {
    limit: 100,
    ...sortBy(sort, range),
    order,
    q: f.q || undefined,
    status: some<Campaign["status"]>(f.status),
    delivery_status: some<Schemas["DeliveryStatus"]>(f.delivery),
    channel: some<Schemas["Channel"]>(f.channel),
    objective: some<(typeof objectives)[number]>(f.objective),
    tag: f.tag || undefined,
  };
}

export type ListQuery = ReturnType<typeof listQuery>;

/** One page of the list; the cursor has all parameters but the size of the page. */
export const readPage = (query: ListQuery, cursor: string | null) =>
  take(v1.GET("/v1/campaigns", { params: { query: cursor ? { limit: query.limit, cursor } : query } }));

/** Pages that are read again as a whole. Of a longer list the page shows what it has changed itself. */
const fewPages = 3;

const isLong = (data: unknown) => ((data as Pages | undefined)?.pages?.length ?? 0) > fewPages;

export const campaignsQuery = (query: ListQuery) =>
  infiniteQueryOptions({
    queryKey: ["campaigns", "list", query],
    queryFn: ({ pageParam }) => readPage(query, pageParam),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchOnMount: (q) => !isLong(q.state.data),
    refetchOnWindowFocus: (q) => !isLong(q.state.data),
    refetchOnReconnect: (q) => !isLong(q.state.data),
  });

export const campaignQuery = (id: string) =>
  queryOptions({
    queryKey: ["campaigns", id],
    queryFn: async () => (await take(v1.GET("/v1/campaigns/{id}", { params: { path: { id } } }))).data,
  });

/** The answer to a question about numbers. */
export const numbersQuery = (body: Query) =>
  queryOptions({
    queryKey: ["analytics", "query", body],
    queryFn: async () =>
      (await take(v1.POST("/v1/analytics/query", { body: body as Schemas["AnalyticsQuery"] }))) as Numbers,
    placeholderData: keepPreviousData,
  });

/** A question about some campaigns in a period, one row each. */
export function ofCampaigns(filters: Schemas["Filters"], metrics: Metric[], range: Range): Query {
  return {
    metrics,
    dimensions: ["campaign_id"],
    date_range: { start_date: range.from, end_date: range.to },
    filters,
    ...(range.compare === "none" ? {} : { compare: { to: range.compare, match_weekday: false } }),
  };
}

/** The same for one page of the list. */
export function ofPage(campaigns: Campaign[], metrics: Metric[], range: Range): Query {
  const ids = campaigns.map((c) => c.id).sort();
  return { ...ofCampaigns({ field: "campaign_id", op: "in", values: ids }, metrics, range), limit: 100 };
}

type Pages = { pages: { data: Campaign[] }[]; pageParams: unknown[] };

/** Changes a campaign wherever pages show it, and returns how it was. */
export function changeKept(client: QueryClient, id: string, change: (c: Campaign) => Campaign): Campaign | undefined {
  let before = client.getQueryData<Campaign>(["campaigns", id]);
  if (before) client.setQueryData(["campaigns", id], change(before));
  client.setQueriesData<Pages>({ queryKey: ["campaigns", "list"] }, (old) => {
    if (!old) return old;
    const pages = old.pages.map((p) => ({
      ...p,
      data: p.data.map((c) => {
        if (c.id !== id) return c;
        before ??= c;
        return change(c);
      }),
    }));
    return { ...old, pages };
  });
  return before;
}

/** Lets every page that depends on campaigns look again. */
export function useRefresh(): () => void {
  const client = useQueryClient();
  return () => {
    const shown = client.getQueriesData({ queryKey: ["campaigns", "list"], type: "active" });
    const refetchType = shown.some(([, data]) => isLong(data)) ? "none" : "active";
    client.invalidateQueries({ queryKey: ["campaigns"], refetchType });
    client.invalidateQueries({ queryKey: ["events"] });
    client.invalidateQueries({ queryKey: ["analytics", "query"], refetchType });
  };
}

/** Something that a campaign can use. */
export interface Choice {
  id: string;
  name: string;
  status: string;
}

// Each loads the first hundred that match what is typed; nobody reads more.
const lists = {
  audiences: (q?: string) => v1.GET("/v1/audiences", { params: { query: { limit: 100, q } } }),
  creative: (q?: string) => v1.GET("/v1/creative", { params: { query: { limit: 100, q } } }),
  connections: (q?: string) => v1.GET("/v1/connections", { params: { query: { limit: 100, q } } }),
};

export type ChoiceKind = keyof typeof lists;

/** What can be chosen, by a part of its name. */
export function useChoices(kind: ChoiceKind, text: string) {
  return useQuery({
    queryKey: [kind, "choices", text],
    queryFn: async (): Promise<Choice[]> =>
      (await take<{ data: Choice[] }>(lists[kind](text || undefined) as never)).data,
    placeholderData: keepPreviousData,
  });
}
