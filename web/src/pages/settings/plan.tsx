import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { own } from "../../api/client";
import type { Usage } from "../../api/console";
import { count, instant, words } from "../../lib/format";
import { addDays, today } from "../../lib/range";
import { useSession } from "../../lib/session";
import { rich } from "../../text/rich";
import { t } from "../../text/settings";
import { Chart, type ChartData } from "../../ui/chart";
import { Badge, Bar, Card } from "../../ui/display";
import { Failed, Skeleton } from "../../ui/feedback";

export const usageQuery = {
  queryKey: ["usage"],
  queryFn: () => own<Usage>("GET", "/usage"),
  refetchInterval: 15_000,
};

/** The plan, and how much of its limits is used. */
export function PlanCard() {
  const { plan } = useSession().workspace;
  const usage = useQuery(usageQuery);
  return (
    <Card title={t.plan.title} action={<Badge tone="accent">{words(plan)}</Badge>}>
      {usage.error ? (
        <Failed error={usage.error} retry={usage.refetch} />
      ) : (
        <div className="grid gap-5">
          <div className="grid gap-5 sm:grid-cols-2">
            <Limit name={t.plan.minute} window={usage.data?.minute} />
            <Limit name={t.plan.today} window={usage.data?.day} />
          </div>
          {usage.data ? <Calls daily={usage.data.daily} /> : <Skeleton className="h-48 w-full" />}
        </div>
      )}
    </Card>
  );
}

function Limit({ name, window: w }: { name: string; window: Usage["day"] | undefined }) {
  if (w === undefined) return <Skeleton className="h-12 w-full" />;
  if (w === null) {
    return (
      <div className="text-sm">
        <p className="text-muted">{name}</p>
        <p className="font-medium">{t.noLimit}</p>
      </div>
    );
  }
  const used = w.limit - w.remaining;
  return (
    <div className="grid gap-1.5">
      <p className="flex items-baseline justify-between gap-2 text-sm">
        <span className="text-muted">{name}</span>
        <span className="num">
          {rich(t.plan.used(count(w.limit)), { used: <span className="font-medium">{count(used)}</span> })}
        </span>
      </p>
      <Bar share={w.limit > 0 ? used / w.limit : 0} label={t.plan.usedOf(name)} />
      <p className="num text-xs text-muted">{t.plan.resets(instant(w.reset_at))}</p>
    </div>
  );
}

function Calls({ daily }: { daily: number[] }) {
  const data = useMemo<ChartData>(() => {
    const last = today("UTC");
    return {
      kind: "bar",
      dates: true,
      currency: "USD",
      categories: daily.map((_, i) => addDays(last, i + 1 - daily.length)),
      series: [{ name: t.plan.requests, values: daily, format: "count" }],
    };
  }, [daily]);
  const total = daily.reduce((a, b) => a + b, 0);
  return (
    <div>
      <h3 className="text-sm font-medium">
        {t.plan.total(total)} <span className="font-normal text-muted">{t.plan.utc}</span>
      </h3>
      <Chart title={t.plan.chart} data={data} height={180} />
    </div>
  );
}
