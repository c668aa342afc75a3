// One connection: does it work, what does it reach, what has it brought.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { type Refusal, take, v1 } from "../../api/client";
import { ago, count, day, instant, none, percent } from "../../lib/format";
import { useMay } from "../../lib/session";
import { useView } from "../../lib/view";
import { common } from "../../text/common";
import { t } from "../../text/connections";
import { Button, TextLink } from "../../ui/button";
import { Card, Facts, PageHeader, Status } from "../../ui/display";
import { Failed, Note, SkeletonRows } from "../../ui/feedback";
import { Actions, Dialog } from "../../ui/overlay";
import { ShowCall, tab } from "../../ui/showcall";
import { Accounts } from "./accounts";
import { Check } from "./check";
import { Access } from "./connect";
import { Entities } from "./entities";
import { explain } from "./explain";
import { Glyph, platformName } from "./glyph";
import { History } from "./history";
import { every } from "./interval";
import { Lost } from "./lost";
import { Progress, SyncNow } from "./progress";
import { type Connection, connectionQuery, isOwn, platformsQuery, syncQuery, useReconnect } from "./queries";
import { ConnectionSettings } from "./settings";

const back = <TextLink href="/connections">{t.title}</TextLink>;

export function ConnectionDetail() {
  const { id } = useParams({ strict: false }) as { id: string };
  const [view, set] = useView();
  const admin = useMay("admin");
  const one = useQuery(connectionQuery(id));
  const c = one.data;
  if (one.error) {
    return (
      <>
        <PageHeader title={t.connection} back={back} />
        <Failed error={one.error} retry={() => one.refetch()} />
      </>
    );
  }
  if (!c) return <SkeletonRows />;
  const own = isOwn(c);
  const gone = c.status === "disconnected";
  const tabs: [string, string][] = [
    ["", t.tabs.overview],
    ...(own ? [] : ([["syncs", t.tabs.syncs]] as [string, string][])),
    ["links", t.tabs.links],
    ...(admin && !gone ? ([["settings", t.tabs.settings]] as [string, string][]) : []),
  ];
  return (
    <>
      <PageHeader
        back={back}
        icon={<Glyph platform={c.platform} />}
        title={c.name}
        badge={<Status value={c.status} />}
        sub={platformName(c.platform)}
      >
        <ShowCall call={{ method: "GET", path: `/v1/connections/${c.id}` }} />
        {own || gone ? null : <SyncNow connection={c} />}
      </PageHeader>
      <div className="grid gap-4">
        <Lost connection={c} />
        <Remedy connection={c} />
        <Current connection={c} />
        <Tabs
          selectedKey={tabs.some(([key]) => key === view("tab")) ? view("tab") || "overview" : "overview"}
          onSelectionChange={(key) => set({ tab: key === "overview" ? "" : String(key) })}
        >
          <TabList aria-label={t.connection} className="mb-4 flex overflow-x-auto border-b border-line">
            {tabs.map(([key, name]) => (
              <Tab key={key} id={key || "overview"} className={tab}>
                {name}
              </Tab>
            ))}
          </TabList>
          <TabPanel id="overview" className="grid gap-4 outline-none">
            <Overview connection={c} />
            {own ? null : <Accounts connection={c} />}
            {own || gone || !admin || c.status === "pending" ? null : <Check connection={c} />}
          </TabPanel>
          <TabPanel id="syncs" className="outline-none">
            <History connection={c} />
          </TabPanel>
          <TabPanel id="links" className="outline-none">
            <Entities connection={c} />
          </TabPanel>
          <TabPanel id="settings" className="outline-none">
            <ConnectionSettings key={c.id} connection={c} />
          </TabPanel>
        </Tabs>
      </div>
    </>
  );
}

/** What is wrong and what to do about it. */
function Remedy({ connection: c }: { connection: Connection }) {
  const admin = useMay("admin");
  if (c.status === "disconnected") {
    return <Note title={t.access.disconnected}>{t.access.disconnectedHint}</Note>;
  }
  const waits = c.status === "pending" || c.status === "reauth_required";
  const reason = c.status_reason?.code === "data_lost" ? null : c.status_reason;
  if (!reason && !waits) return null;
  const explained = reason ? explain(c, reason) : null;
  return (
    <Note
      tone={c.status === "pending" ? "warn" : "bad"}
      title={explained?.message ?? (c.status === "pending" ? t.access.pending : t.access.ended)}
      action={admin && (waits || c.status === "error") ? <Reconnect connection={c} /> : undefined}
    >
      {explained?.fix ?? (c.status === "pending" ? t.access.pendingHint : t.access.endedHint)}
      {reason ? <span className="text-muted"> {t.since(instant(reason.since))}</span> : null}
      {admin ? null : <span className="text-muted"> {t.access.askAdmin}</span>}
    </Note>
  );
}

/** Grants access anew: at the platform where the server has a client for it, with tokens otherwise. */
function Reconnect({ connection: c }: { connection: Connection }) {
  const platforms = useQuery(platformsQuery);
  const platform = platforms.data?.find((p) => p.platform === c.platform);
  const reconnect = useReconnect(c.id);
  const [open, setOpen] = useState(false);
  const [way, setWay] = useState("tokens");
  const [credentials, setCredentials] = useState({});
  const refusal = reconnect.error as Refusal | null;
  const begin = () => {
    if (platform?.auth === "oauth" && !platform.configured) setOpen(true);
    else reconnect.mutate(undefined);
  };
  return (
    <>
      <Button size="sm" busy={reconnect.isPending} isDisabled={!platform} onPress={begin}>
        {c.status === "pending" ? t.access.grant : t.access.reconnect}
      </Button>
      {platform ? (
        <Dialog title={t.access.reconnectTitle(c.name)} isOpen={open} onOpenChange={setOpen}>
          <div className="grid gap-4">
            <Access
              platform={platform}
              way={way}
              setWay={setWay}
              value={credentials}
              onChange={setCredentials}
              fields={refusal?.fields ?? {}}
            />
            <Actions>
              <Button onPress={() => setOpen(false)}>{common.cancel}</Button>
              <Button
                look="primary"
                busy={reconnect.isPending}
                onPress={() => reconnect.mutate(credentials, { onSuccess: () => setOpen(false) })}
              >
                {t.access.reconnect}
              </Button>
            </Actions>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}

/** The run that is under way. */
function Current({ connection: c }: { connection: Connection }) {
  const client = useQueryClient();
  const id = c.sync.current_run_id;
  const run = useQuery({ ...syncQuery(id ?? ""), enabled: !!id });
  const status = run.data?.status;
  useEffect(() => {
    if (!status || ["queued", "running", "waiting"].includes(status)) return;
    client.invalidateQueries({ queryKey: ["connections"] });
    client.invalidateQueries({ queryKey: ["analytics"] });
  }, [status, client]);
  const cancel = useMutation({
    mutationFn: async (run: string) =>
      (await take(v1.POST("/v1/syncs/{id}/cancel", { params: { path: { id: run } }, body: {} as never }))).data,
    onSuccess: () => client.invalidateQueries({ queryKey: ["connections"] }),
  });
  const editor = useMay("editor");
  if (!id || !run.data) return null;
  return (
    <Card
      title={
        run.data.status === "waiting" ? t.sync.waiting : run.data.status === "queued" ? t.sync.queued : t.sync.running
      }
      action={
        editor ? (
          <Button size="sm" busy={cancel.isPending} onPress={() => cancel.mutate(id)}>
            {t.sync.cancel}
          </Button>
        ) : undefined
      }
    >
      <Progress run={run.data} />
    </Card>
  );
}

function Overview({ connection: c }: { connection: Connection }) {
  const { sync, health } = c;
  const last = useQuery({ ...syncQuery(sync.last_run_id ?? ""), enabled: !!sync.last_run_id });
  const own = isOwn(c);
  const zones = [...new Set(c.accounts.map((a) => a.timezone))];
  const currencies = [...new Set(c.accounts.map((a) => a.currency))];
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <Card title={t.data.title}>
        <Facts
          items={[
            [t.dataThrough, day(sync.data_through, true)],
            [t.data.from, day(sync.backfilled_since, true)],
            [t.data.mayChange, own ? none : common.lastDays(sync.lookback_days)],
            [common.currency, currencies.join(", ") || none],
            [common.timeZone, zones.join(", ") || none],
          ]}
        />
      </Card>
      <Card title={own ? t.data.source : t.data.schedule}>
        <Facts
          items={
            own
              ? [
                  [t.data.method, c.platform === "csv" ? t.data.files : t.data.api],
                  [t.data.lastUpdate, ago(sync.last_success_at)],
                ]
              : [
                  [t.frequency, sync.interval_minutes === null ? none : every(sync.interval_minutes)],
                  [
                    t.lastSync,
                    sync.last_success_at ? `${ago(sync.last_success_at)}, ${instant(sync.last_success_at)}` : t.never,
                  ],
                  [t.rows, last.data ? t.data.rowsLast(count(last.data.totals.records_written)) : none],
                  [t.nextSync, sync.next_run_at ? ago(sync.next_run_at) : none],
                  [
                    t.data.success,
                    health.success_rate_7d === null ? none : t.data.successWeek(percent(health.success_rate_7d, 0)),
                  ],
                  ...(c.credentials_expire_at
                    ? [[t.access.expires, instant(c.credentials_expire_at)] as [string, string]]
                    : []),
                ]
          }
        />
        {sync.last_error ? (
          <div className="mt-4">
            <Note tone="warn" title={t.data.lastProblem}>
              {sync.last_error.message} {sync.last_error.remediation}
            </Note>
          </div>
        ) : null}
        {c.scopes_missing.length > 0 ? (
          <div className="mt-4">
            <Note tone="warn" title={t.access.missing}>
              {t.access.missingHint(c.scopes_missing.join(", "))}
            </Note>
          </div>
        ) : null}
      </Card>
    </div>
  );
}
