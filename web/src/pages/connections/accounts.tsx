import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { take, v1 } from "../../api/client";
import { day } from "../../lib/format";
import { useMay } from "../../lib/session";
import { common } from "../../text/common";
import { t } from "../../text/connections";
import { Button, TextLink } from "../../ui/button";
import { Card } from "../../ui/display";
import { Failed, SkeletonRows } from "../../ui/feedback";
import { Switch } from "../../ui/fields";
import { Confirm } from "../../ui/overlay";
import { DataTable, type TableColumn } from "../../ui/table";
import { say } from "../../ui/toast";
import { CallPlan } from "./check";
import { platformName } from "./glyph";
import type { Connection } from "./queries";

type Account = Connection["accounts"][number];

/** The accounts that the access reaches, and which of them are synced. */
export function Accounts({ connection: c }: { connection: Connection }) {
  const client = useQueryClient();
  const admin = useMay("admin");
  const [deleting, setDeleting] = useState<Account | null>(null);
  const key = ["connections", "accounts", c.id];
  const list = useQuery({
    queryKey: key,
    queryFn: async () => (await take(v1.GET("/v1/connections/{id}/accounts", { params: { path: { id: c.id } } }))).data,
  });
  const change = useMutation({
    mutationFn: async (a: { external_id: string; enabled: boolean; delete_metrics: boolean }) =>
      take(v1.PATCH("/v1/connections/{id}", { params: { path: { id: c.id } }, body: { accounts: [a] } })),
    onMutate: (a) => {
      const before = client.getQueryData<Account[]>(key);
      client.setQueryData<Account[]>(key, (old) =>
        old?.map((x) => (x.external_id === a.external_id ? { ...x, enabled: a.enabled } : x)),
      );
      return { before };
    },
    onError: (_e, _a, context) => client.setQueryData(key, context?.before),
    onSettled: () => client.invalidateQueries({ queryKey: ["connections"] }),
  });
  const turn = (a: Account, enabled: boolean) => {
    change.mutate({ external_id: a.external_id, enabled, delete_metrics: false });
    say(enabled ? t.account.on(a.name) : t.account.off(a.name), () =>
      change.mutate({ external_id: a.external_id, enabled: !enabled, delete_metrics: false }),
    );
  };
  const keepOff = (a: Account) => {
    change.mutate({ external_id: a.external_id, enabled: false, delete_metrics: false });
    say(t.account.kept(a.name));
  };
  const columns: TableColumn<Account>[] = [
    {
      id: "name",
      name: t.account.account,
      minWidth: 180,
      cell: (a) => (
        <span className="block min-w-0">
          <span className="block truncate font-medium">
            {a.url && /^https?:\/\//.test(a.url) ? (
              <TextLink href={a.url} target="_blank" rel="noreferrer noopener">
                {a.name}
              </TextLink>
            ) : (
              a.name
            )}
          </span>
          <span className="block truncate font-mono text-2xs text-muted">{a.external_id}</span>
        </span>
      ),
    },
    { id: "platform", name: t.account.platform, wide: true, cell: (a) => platformName(a.platform) },
    { id: "currency", name: common.currency, width: 100, wide: true, cell: (a) => a.currency },
    { id: "zone", name: common.timeZone, wide: true, cell: (a) => a.timezone },
    {
      id: "complete",
      name: t.account.completeThrough,
      wide: true,
      cell: (a) => day(a.reports.find((r) => r.report === "base")?.complete_through),
    },
    {
      id: "enabled",
      name: t.account.synced,
      width: 190,
      cell: (a) => (
        <span className="flex items-center gap-3">
          <Switch
            aria-label={t.account.sync(a.name)}
            isSelected={a.enabled}
            isDisabled={!admin || c.status === "disconnected"}
            onChange={(on) => turn(a, on)}
          />
          {admin && !a.enabled && a.reports.some((r) => r.start_date) ? (
            <Button size="sm" onPress={() => setDeleting(a)}>
              {t.account.delete}
            </Button>
          ) : null}
        </span>
      ),
    },
  ];
  return (
    <Card flush title={t.accounts} sub={admin ? t.account.sub : t.account.subOther}>
      {list.error ? (
        <Failed error={list.error} retry={() => list.refetch()} />
      ) : !list.data ? (
        <SkeletonRows rows={3} />
      ) : (
        <DataTable
          label={t.accounts}
          columns={columns}
          rows={list.data}
          rowKey={(a) => `${a.platform} ${a.external_id}`}
          empty={<p className="px-6 py-8 text-center text-sm text-muted">{t.account.empty}</p>}
        />
      )}
      {list.data ? (
        <TurnedOff accounts={list.data} admin={admin} sync={(a) => turn(a, true)} keepOff={keepOff} />
      ) : null}
      {list.data ? <Gaps accounts={list.data} /> : null}
      <CallPlan connection={c} />
      <Confirm
        title={t.account.deleteTitle(deleting?.name ?? "")}
        action={t.account.delete}
        danger
        isOpen={deleting !== null}
        onOpenChange={() => setDeleting(null)}
        confirm={async () => {
          if (deleting)
            await change.mutateAsync({ external_id: deleting.external_id, enabled: false, delete_metrics: true });
        }}
      >
        {t.account.deleteHint}
      </Confirm>
    </Card>
  );
}

/** Why the server has turned an account off by itself, by the codes of its gaps. */
const offReasons: Record<string, string> = {
  account_not_listed: t.account.unlisted,
  account_changed: t.account.changed,
};

/** Accounts that the server has turned off by itself. Their later days are missing until someone decides. */
function TurnedOff({
  accounts,
  admin,
  sync,
  keepOff,
}: {
  accounts: Account[];
  admin: boolean;
  sync: (a: Account) => void;
  keepOff: (a: Account) => void;
}) {
  const off = accounts.flatMap((a) => {
    const gap = a.enabled ? undefined : a.reports.flatMap((r) => r.gaps).find((g) => offReasons[g.code]);
    return gap ? [{ account: a, gap }] : [];
  });
  if (off.length === 0) return null;
  return (
    <div className="border-t border-line px-6 py-4 text-sm">
      <h3 className="font-medium">{t.account.review}</h3>
      <ul className="mt-2 space-y-3">
        {off.map(({ account: a, gap }) => (
          <li key={`${a.platform} ${a.external_id}`} className="flex flex-wrap items-center justify-between gap-3">
            <span className="min-w-0 flex-1">
              <span className="font-medium">{t.account.turnedOff(a.name)}</span> {offReasons[gap.code]}{" "}
              {t.account.notFinal(day(gap.start_date, true))}
            </span>
            {admin ? (
              <span className="flex gap-2">
                <Button size="sm" aria-label={t.account.syncAgainOf(a.name)} onPress={() => sync(a)}>
                  {t.account.syncAgain}
                </Button>
                <Button size="sm" aria-label={t.account.keepOffOf(a.name)} onPress={() => keepOff(a)}>
                  {t.account.keepOff}
                </Button>
              </span>
            ) : null}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The label of each report. */
const reportNames: Record<string, string> = t.account.reports;

/**
 * Days whose numbers are missing or not all there. Breakdowns that are older than the totals are not listed: that is so
 * between any two nights.
 */
function Gaps({ accounts }: { accounts: Account[] }) {
  const gaps = accounts.flatMap((a) =>
    a.reports.flatMap((r) =>
      r.gaps
        .filter((g) => g.code !== "older_than_totals" && (a.enabled || !offReasons[g.code]))
        .map((g) => ({ account: a, report: r.report, ...g })),
    ),
  );
  if (gaps.length === 0) return null;
  return (
    <div className="border-t border-line px-6 py-4 text-sm">
      <h3 className="font-medium">{t.account.incomplete}</h3>
      <ul className="mt-2 space-y-2">
        {gaps.slice(0, 20).map((g) => (
          <li key={`${g.account.external_id} ${g.report} ${g.start_date} ${g.code}`}>
            <span className="font-medium">
              {g.account.name}, {reportNames[g.report] ?? g.report}, {day(g.start_date, true)} – {day(g.end_date, true)}
            </span>
            : {g.message} <span className="text-muted">{g.remediation ?? (g.missing ? t.account.retry : "")}</span>
          </li>
        ))}
      </ul>
      {gaps.length > 20 ? <p className="mt-2 text-muted">{t.account.more(gaps.length - 20)}</p> : null}
    </div>
  );
}
