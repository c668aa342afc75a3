// How the workspace does, on one page.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { take, v1 } from "../api/client";
import { type Range, useRange } from "../lib/range";
import { useSession } from "../lib/session";
import { t } from "../text/overview";
import { Card, PageHeader } from "../ui/display";
import { Failed } from "../ui/feedback";
import { RangePicker } from "../ui/range";
import { ShowCall } from "../ui/showcall";
import { Channels } from "./overview/channels";
import { Cards, type Trend, TrendCard, Warnings } from "./overview/figures";
import { Freshness } from "./overview/freshness";
import { Ranking, rankOf } from "./overview/ranking";
import { FirstSteps } from "./overview/start";

const metrics = ["spend", "revenue", "roas", "conversions", "cpa", "impressions", "clicks", "ctr"] as const;
type Metric = (typeof metrics)[number];

export function Overview() {
  const [range] = useRange();
  const { workspace } = useSession();
  const search = useSearch({ strict: false }) as { by?: string };
  const query = { ...range.query, metrics: [...metrics], granularity: range.granularity };
  const connections = useQuery({
    queryKey: ["connections", "overview"],
    queryFn: async () =>
      (await take(v1.GET("/v1/connections", { params: { query: { limit: 100, sort: "platform", order: "asc" } } })))
        .data,
  });
  const campaigns = useQuery({
    queryKey: ["campaigns", "any"],
    queryFn: async () =>
      (await take(v1.GET("/v1/campaigns", { params: { query: { limit: 1, status: ["all"] } } }))).data.length > 0,
  });
  const connected = (connections.data?.length ?? 0) > 0;
  const known = connections.isSuccess && campaigns.isSuccess;
  const blank = known && !connected && !campaigns.data;
  return (
    <>
      <PageHeader title={t.title} sub={workspace.name}>
        {blank ? null : <RangePicker />}
        <ShowCall call={{ method: "GET", path: "/v1/analytics/overview", query }} />
      </PageHeader>
      {known ? <FirstSteps connected={connected} created={campaigns.data} /> : null}
      {blank ? (
        <p className="px-1 text-sm text-muted">{t.blank}</p>
      ) : (
        <div className="grid gap-4">
          <Performance query={query} />
          <div className="grid items-start gap-4 lg:grid-cols-5">
            <Channels range={range} className="lg:col-span-3" />
            <Freshness connections={connections} className="lg:col-span-2" />
          </div>
          <Ranking range={range} by={rankOf(search.by)} />
        </div>
      )}
    </>
  );
}

interface PerformanceQuery {
  start_date: string;
  end_date: string;
  compare?: "previous_period" | "previous_year";
  metrics: Metric[];
  granularity: Range["granularity"];
}

function Performance({ query }: { query: PerformanceQuery }) {
  const report = useQuery({
    queryKey: ["analytics", "overview", query],
    queryFn: async (): Promise<Trend> => {
      const { data, meta } = await take(v1.GET("/v1/analytics/overview", { params: { query } }));
      return { ...data, series: data.series ?? [], meta };
    },
    placeholderData: keepPreviousData,
  });
  if (report.isError) {
    return (
      <Card>
        <Failed error={report.error} retry={() => report.refetch()} />
      </Card>
    );
  }
  return (
    <>
      <Warnings meta={report.data?.meta} />
      <Cards names={metrics} trend={report.data} className="grid-cols-2 md:grid-cols-4" />
      <TrendCard names={metrics} trend={report.data} />
    </>
  );
}
