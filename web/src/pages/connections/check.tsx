import { useMutation, useQuery } from "@tanstack/react-query";
import { take, v1 } from "../../api/client";
import { t } from "../../text/connections";
import { Button } from "../../ui/button";
import { Card } from "../../ui/display";
import { Failed, Note } from "../../ui/feedback";
import { platformName } from "./glyph";
import type { Connection } from "./queries";

/** How many calls the accounts need, and whether they fit the platform's quotas. */
export function CallPlan({ connection: c }: { connection: Connection }) {
  const accounts = c.accounts.filter((a) => a.enabled).map((a) => a.external_id);
  const plan = useQuery({
    queryKey: ["connections", "call-plan", c.id, accounts],
    enabled: c.platform !== "sandbox" && c.status !== "disconnected" && c.accounts.length > 0,
    queryFn: async () =>
      (await take(v1.GET("/v1/connections/{id}/call-plan", { params: { path: { id: c.id } } }))).data,
  });
  return plan.data?.map((p) => (
    <p key={p.platform} className="border-t border-line px-6 py-4 text-sm text-muted">
      {p.quotas.some((q) => !q.fits) ? <span className="font-medium text-warn">{t.check.overQuota} </span> : null}
      {p.message}
    </p>
  ));
}

/** Tries what the connection needs and shows what fails, with the remedy. */
export function Check({ connection: c }: { connection: Connection }) {
  const check = useMutation({
    mutationFn: async () =>
      (await take(v1.POST("/v1/connections/{id}/check", { params: { path: { id: c.id } } }))).data,
  });
  const found = check.data?.checks.filter((x) => x.status === "failed" || x.status === "warning") ?? [];
  return (
    <Card title={t.check.title} sub={t.check.sub}>
      <div className="grid gap-3">
        <div>
          <Button onPress={() => check.mutate()} busy={check.isPending}>
            {t.check.run}
          </Button>
        </div>
        {check.error ? <Failed error={check.error} /> : null}
        {check.data?.ok ? <Note title={t.check.ok}>{t.check.made(check.data.checks.length)}</Note> : null}
        {found.map((x) => (
          <Note
            key={`${x.name} ${x.platform} ${x.account_id}`}
            tone={x.status === "failed" ? "bad" : "warn"}
            title={
              x.account_id
                ? t.check.accountProblem(platformName(x.platform), x.account_id, x.message)
                : t.check.problem(platformName(x.platform), x.message)
            }
          >
            {x.remediation}
          </Note>
        ))}
      </div>
    </Card>
  );
}
