import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ListTree } from "lucide-react";
import { own } from "../../api/client";
import type { Key, LoggedRequest } from "../../api/console";
import { useMay } from "../../lib/session";
import { t } from "../../text/settings";
import { Button, ButtonLink } from "../../ui/button";
import { Card, PageHeader } from "../../ui/display";
import { Empty, Failed, SkeletonRows } from "../../ui/feedback";
import { SearchField, Select, Switch } from "../../ui/fields";
import { RequestDetail } from "./requestdetail";
import { RequestTable } from "./requesttable";

/** What of the log is shown; it stands in the address. */
interface Filter {
  status?: string;
  method?: string;
  key?: string;
  path?: string;
}

const fields = ["status", "method", "key", "path"] as const;

const liveEvery = 2_000;

export function Requests() {
  const search = useSearch({ strict: false }) as Filter & { live?: unknown; request?: string };
  const navigate = useNavigate();
  const set = (next: Record<string, unknown>) =>
    navigate({ to: ".", replace: true, search: ((old: object) => ({ ...old, ...next })) as never });
  const admin = useMay("admin");
  const filter: Filter = Object.fromEntries(fields.filter((f) => search[f]).map((f) => [f, String(search[f])]));
  const log = useQuery({
    queryKey: ["requests", filter],
    queryFn: () => own<LoggedRequest[]>("GET", `/requests?${new URLSearchParams(filter as Record<string, string>)}`),
    refetchInterval: search.live ? liveEvery : false,
    placeholderData: (before) => before,
  });
  const clear = () => set(Object.fromEntries(fields.map((f) => [f, undefined])));
  return (
    <>
      <PageHeader title={t.requests.title} sub={admin ? t.requests.sub : t.requests.subOwn}>
        <Switch isSelected={!!search.live} onChange={(on) => set({ live: on ? 1 : undefined })}>
          {t.requests.live}
        </Switch>
      </PageHeader>
      <Filters filter={filter} set={set} />
      <Card flush>
        {log.isPending ? (
          <SkeletonRows />
        ) : log.error ? (
          <Failed error={log.error} retry={log.refetch} />
        ) : (
          <RequestTable
            rows={log.data}
            open={(r) => set({ request: r.id })}
            empty={<Nothing filtered={Object.keys(filter).length > 0} clear={clear} />}
          />
        )}
      </Card>
      <RequestDetail of={log.data?.find((r) => r.id === search.request)} close={() => set({ request: undefined })} />
    </>
  );
}

function Nothing({ filtered, clear }: { filtered: boolean; clear: () => void }) {
  if (filtered)
    return <Empty title={t.requests.noMatch} action={<Button onPress={clear}>{t.requests.clear}</Button>} />;
  return (
    <Empty
      icon={<ListTree aria-hidden="true" />}
      title={t.requests.empty}
      action={
        <ButtonLink look="primary" href="/settings/api/keys?new=1">
          {t.requests.createKey}
        </ButtonLink>
      }
    >
      {t.requests.emptyHint}
    </Empty>
  );
}

const statuses = [
  { id: "", label: t.requests.statuses.any },
  { id: "2xx", label: t.requests.statuses.success },
  { id: "3xx", label: t.requests.statuses.unchanged },
  { id: "4xx", label: t.requests.statuses.client },
  { id: "5xx", label: t.requests.statuses.server },
];

const methods = [
  { id: "", label: t.requests.anyMethod },
  ...["GET", "POST", "PATCH", "DELETE"].map((m) => ({ id: m, label: m })),
];

function Filters({ filter, set }: { filter: Filter; set: (next: Record<string, unknown>) => void }) {
  const keys = useQuery({ queryKey: ["keys"], queryFn: () => own<Key[]>("GET", "/keys") });
  const named = (keys.data ?? []).map((k) => ({ id: k.id, label: `${k.name} …${k.last4}` }));
  return (
    <div className="mb-3 flex flex-wrap gap-2 no-print">
      <SearchField
        label={t.requests.path}
        placeholder={t.requests.pathHint}
        className="w-full sm:w-60"
        value={filter.path ?? ""}
        onChange={(v) => set({ path: v || undefined })}
      />
      <Select
        label={t.status}
        hideLabel
        className="w-36"
        value={filter.status ?? ""}
        onChange={(v) => set({ status: v || undefined })}
        options={statuses}
      />
      <Select
        label={t.requests.method}
        hideLabel
        className="w-34"
        value={filter.method ?? ""}
        onChange={(v) => set({ method: v || undefined })}
        options={methods}
      />
      <Select
        label={t.requests.key}
        hideLabel
        className="w-44"
        value={filter.key ?? ""}
        onChange={(v) => set({ key: v || undefined })}
        options={[{ id: "", label: t.requests.anyKey }, ...named]}
      />
    </div>
  );
}
