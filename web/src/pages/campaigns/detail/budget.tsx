// What may be spent, what is spent, and whether that is on plan.

import { useQuery } from "@tanstack/react-query";
import { ago, instant, money, percent, words } from "../../../lib/format";
import { useRange } from "../../../lib/range";
import { t } from "../../../text/campaigns";
import { Bar, Card, Facts } from "../../../ui/display";
import { MetricName } from "../../../ui/metric";
import { spentShare } from "../columns";
import { type Campaign, numbersQuery, ofPage } from "../data";

export function Budget({ campaign: c }: { campaign: Campaign }) {
  const [range] = useRange();
  const pace = useQuery({ ...numbersQuery(ofPage([c], ["pacing"], range)), enabled: c.budget !== null }).data?.data[0]
    ?.metrics.pacing;
  if (!c.budget) {
    return (
      <Card title={t.detail.budget}>
        <p className="text-sm text-muted">{t.detail.noBudget}</p>
        {c.spend_to_date ? (
          <p className="num mt-2 text-sm">{t.detail.spent(money(c.spend_to_date.amount, c.spend_to_date.currency))}</p>
        ) : null}
      </Card>
    );
  }
  const { amount, currency, type, pacing, daily_cap } = c.budget;
  const share = spentShare(c);
  // Pacing is spend over plan, so the plan is spend over pacing.
  const plan = pace && c.spend_to_date ? Number(c.spend_to_date.amount) / pace : null;
  return (
    <Card title={t.detail.budget}>
      <p className="num text-xl font-semibold tracking-tight">
        {money(amount, currency)}
        <span className="ml-1 text-sm font-normal text-muted">{type === "daily" ? t.perDay : t.inTotal}</span>
      </p>
      {share !== null ? (
        <div className="mb-4 mt-3">
          <Bar share={share} label={t.detail.budgetSpent} />
          <p className="num mt-1 flex justify-between text-xs text-muted">
            <span>{t.detail.shareSpent(percent(share, 0))}</span>
            {c.budget_remaining ? (
              <span>{t.detail.left(money(c.budget_remaining.amount, c.budget_remaining.currency))}</span>
            ) : null}
          </p>
        </div>
      ) : (
        <div className="mb-3" />
      )}
      <Facts
        items={[
          [t.detail.spentToDate, spent(c)],
          ...(plan !== null
            ? [[t.detail.expected, <Num key="plan">{money(plan, currency)}</Num>] as [string, React.ReactNode]]
            : []),
          [<MetricName key="pacing" name="pacing" />, <Pace key="pace" value={pace ?? null} />],
          [t.detail.pacingType, words(pacing)],
          ...(daily_cap
            ? [[t.detail.dailyCap, <Num key="cap">{money(daily_cap, currency)}</Num>] as [string, React.ReactNode]]
            : []),
        ]}
      />
    </Card>
  );
}

function Num({ children }: { children: React.ReactNode }) {
  return <span className="num">{children}</span>;
}

function spent(c: Campaign) {
  if (!c.spend_to_date) return t.detail.notReported;
  const { amount, currency, as_of } = c.spend_to_date;
  return (
    <span className="num" title={instant(as_of)}>
      {money(amount, currency)} <span className="text-xs text-faint">{ago(as_of)}</span>
    </span>
  );
}

function Pace({ value }: { value: number | null }) {
  if (value === null) return <span className="text-muted">{t.detail.pacingUnknown}</span>;
  const off = Math.abs(value - 1);
  const word = off <= 0.1 ? t.detail.onPlan : value > 1 ? t.detail.ahead : t.detail.behind;
  return (
    <span className="num">
      {percent(value, 0)} <span className={off <= 0.1 ? "text-good" : "text-warn"}>{word}</span>
    </span>
  );
}
