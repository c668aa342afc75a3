// One connection: does it work, what does it reach, what has it brought.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { type Refusal, take, v1 } from "../../api/client";
import { ago, count, day, instant, none, percent } from "../../lib/format";
import { useMay } from "../../lib/session";
import { useView } from "../../lib/view";
import { Button, TextLink } from "../../ui/button";
import { Card, Facts, PageHeader, Status } from "../../ui/display";
import { Failed, Note, SkeletonRows } from "../../ui/feedback";
import { Actions, Dialog } from "../../ui/overlay";
import { ShowCall, tab } from "../../ui/showcall";
import { Accounts } from "./accounts";
import { Check } from "./check";
import { Access } from "./connect";
import { Entities } from "./entities";
import { Glyph, platformName } from "./glyph";
import { History } from "./history";
import { Lost } from "./lost";
import { Progress, SyncNow } from "./progress";
import { type Connection, connectionQuery, isOwn, platformsQuery, syncQuery, useReconnect } from "./queries";
import { ConnectionSettings } from "./settings";

const back = <TextLink href="/connections">Connections</TextLink>;

export function ConnectionDetail() {
  const { id } = useParams({ strict: false }) as { id: string };
  const [view, set] = useView();
  const admin = useMay("admin");
  const one = useQuery(connectionQuery(id));
  const c = one.data;
  if (one.error) {
    return (
      <>
        <PageHeader title="Connection" back={back} />
        <Failed error={one.error} retry={() => one.refetch()} />
      </>
    );
  }
  if (!c) return <SkeletonRows />;
  const own = isOwn(c);
  const gone = c.status === "disconnected";
  const tabs: [string, string][] = [
    ["", "Overview"],
    ...(own ? [] : ([["syncs", "Syncs"]] as [string, string][])),
    ["links", "Links"],
    ...(admin && !gone ? ([["settings", "Settings"]] as [string, string][]) : []),
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
          <TabList aria-label="Parts" className="mb-4 flex overflow-x-auto border-b border-line">
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
    return (
      <Note title="Disconnected">Nothing is synced any more. The numbers that came through it are still here.</Note>
    );
  }
  const waits = c.status === "pending" || c.status === "reauth_required";
  const reason = c.status_reason?.code === "data_lost" ? null : c.status_reason;
  if (!reason && !waits) return null;
  return (
    <Note
      tone={c.status === "pending" ? "warn" : "bad"}
      title={reason?.message ?? (c.status === "pending" ? "Access is not granted yet" : "Access has ended")}
      action={admin && (waits || c.status === "error") ? <Reconnect connection={c} /> : undefined}
    >
      {reason?.remediation ??
        (c.status === "pending"
          ? "Grant access at the platform. It is dropped when nobody does within an hour."
          : "Grant access anew. The connection keeps its numbers.")}
      {reason ? <span className="text-muted"> Since {instant(reason.since)}.</span> : null}
      {admin ? null : <span className="text-muted"> An admin can do it.</span>}
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
        {c.status === "pending" ? "Grant access" : "Reconnect"}
      </Button>
      {platform ? (
        <Dialog title={`Reconnect ${c.name}`} isOpen={open} onOpenChange={setOpen}>
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
              <Button onPress={() => setOpen(false)}>Cancel</Button>
              <Button
                look="primary"
                busy={reconnect.isPending}
                onPress={() => reconnect.mutate(credentials, { onSuccess: () => setOpen(false) })}
              >
                Reconnect
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
        run.data.status === "waiting"
          ? "Waiting for the platform"
          : run.data.status === "queued"
            ? "Sync is queued"
            : "Syncing"
      }
      action={
        editor ? (
          <Button size="sm" busy={cancel.isPending} onPress={() => cancel.mutate(id)}>
            Cancel
          </Button>
        ) : undefined
      }
    >
      <Progress run={run.data} />
    </Card>
  );
}

function every(minutes: number): string {
  if (minutes % 1440 === 0) return minutes === 1440 ? "Once a day" : `Every ${minutes / 1440} days`;
  if (minutes % 60 === 0) return minutes === 60 ? "Every hour" : `Every ${minutes / 60} hours`;
  return `Every ${minutes} minutes`;
}

function Overview({ connection: c }: { connection: Connection }) {
  const { sync, health } = c;
  const last = useQuery({ ...syncQuery(sync.last_run_id ?? ""), enabled: !!sync.last_run_id });
  const own = isOwn(c);
  const zones = [...new Set(c.accounts.map((a) => a.timezone))];
  const currencies = [...new Set(c.accounts.map((a) => a.currency))];
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <Card title="Numbers">
        <Facts
          items={[
            ["Data through", day(sync.data_through, true)],
            ["Since", day(sync.backfilled_since, true)],
            ["Days that may change", own ? none : `The last ${sync.lookback_days}`],
            ["Currency", currencies.join(", ") || none],
            ["Days in", zones.join(", ") || none],
          ]}
        />
      </Card>
      <Card title={own ? "How they come" : "Schedule"}>
        <Facts
          items={
            own
              ? [
                  ["By", c.platform === "csv" ? "Files that are imported" : "Rows that a program sends"],
                  ["Last time", ago(sync.last_success_at)],
                ]
              : [
                  ["How often", sync.interval_minutes === null ? none : every(sync.interval_minutes)],
                  [
                    "Last sync",
                    sync.last_success_at ? `${ago(sync.last_success_at)}, ${instant(sync.last_success_at)}` : "Not yet",
                  ],
                  ["Rows", last.data ? `${count(last.data.totals.records_written)} with the last sync` : none],
                  ["Next sync", sync.next_run_at ? ago(sync.next_run_at) : none],
                  [
                    "Worked",
                    health.success_rate_7d === null
                      ? none
                      : `${percent(health.success_rate_7d, 0)} of the syncs in 7 days`,
                  ],
                  ...(c.credentials_expire_at
                    ? [["Access ends", instant(c.credentials_expire_at)] as [string, string]]
                    : []),
                ]
          }
        />
        {sync.last_error ? (
          <div className="mt-4">
            <Note tone="warn" title="The last sync had a problem">
              {sync.last_error.message} {sync.last_error.remediation}
            </Note>
          </div>
        ) : null}
        {c.scopes_missing.length > 0 ? (
          <div className="mt-4">
            <Note tone="warn" title="Access is missing rights">
              {c.scopes_missing.join(", ")}. Reconnect and grant them.
            </Note>
          </div>
        ) : null}
      </Card>
    </div>
  );
}
