// Where the money goes, and what comes back from there.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type Schemas, take, v1 } from "../../api/client";
import { useMetric } from "../../lib/catalogue";
import { figure, percent } from "../../lib/format";
import type { Range } from "../../lib/range";
import { t } from "../../text/overview";
import { Bar, Card, Delta } from "../../ui/display";
import { Empty, Failed, SkeletonRows } from "../../ui/feedback";
import { MetricName } from "../../ui/metric";
import { DataTable, type TableColumn } from "../../ui/table";
import { named } from "../creative/data";

type Row = Schemas["ChannelReport"]["data"][number];

const metrics = ["spend", "spend_share", "conversions", "cpa", "roas"] as const;

export function Channels({ range, className }: { range: Range; className?: string }) {
  const query = { ...range.query, metrics: [...metrics], limit: 100 };
  const report = useQuery({
    queryKey: ["analytics", "channels", query],
    queryFn: () => take(v1.GET("/v1/analytics/channels", { params: { query } })),
    placeholderData: keepPreviousData,
  });
  const currency = report.data?.meta.currency ?? "USD";
  const metric = useMetric();
  const columns = columnsOf(metric, currency, report.data?.meta.totals?.metrics);
  return (
    <Card title={t.channels.title} sub={t.channels.sub} flush className={className}>
      {report.isPending ? (
        <SkeletonRows rows={5} />
      ) : report.isError ? (
        <Failed error={report.error} retry={() => report.refetch()} />
      ) : (
        <DataTable
          label={t.channels.title}
          columns={range.compare === "none" ? columns.filter((c) => c.id !== "change") : columns}
          rows={report.data.data}
          rowKey={(r) => r.channel.id}
          href={(r) => `/campaigns?channel=${r.channel.id}`}
          empty={<Empty title={t.empty}>{t.emptyHint}</Empty>}
        />
      )}
    </Card>
  );
}

function columnsOf(
  metric: ReturnType<typeof useMetric>,
  currency: string,
  totals?: Schemas["MetricValues"],
): TableColumn<Row>[] {
  const numeric = (name: "spend" | "conversions" | "cpa" | "roas", wide = false): TableColumn<Row> => ({
    id: name,
    name: <MetricName name={name} short />,
    label: metric(name).label,
    width: name === "spend" || name === "conversions" ? 108 : 84,
    align: "end",
    wide,
    cell: (r) => figure(r.metrics[name], metric(name).format, currency),
    total: figure(totals?.[name], metric(name).format, currency),
  });
  return [
    {
      id: "name",
      name: t.channels.channel,
      minWidth: 76,
      cell: (r) => <span className="font-medium">{named(r.channel.id)}</span>,
      total: t.channels.total,
    },
    numeric("spend"),
    {
      id: "share",
      name: t.channels.share,
      minWidth: 104,
      wide: true,
      cell: (r) => (
        <div className="flex items-center gap-2">
          <Bar share={r.metrics.spend_share ?? 0} label={t.channels.shareOf(named(r.channel.id))} tone="accent" />
          <span className="num w-9 text-right text-xs text-muted">{percent(r.metrics.spend_share, 0)}</span>
        </div>
      ),
    },
    numeric("conversions", true),
    numeric("cpa", true),
    numeric("roas"),
    {
      id: "change",
      name: t.channels.change,
      width: 104,
      align: "end",
      cell: (r) => <Delta value={r.change?.roas ?? null} />,
    },
  ];
}
