import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ListTree } from "lucide-react";
import { own } from "../../api/client";
import type { Key, LoggedRequest } from "../../api/console";
import { useMay } from "../../lib/session";
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
      <PageHeader
        title="Requests"
        sub={`The last 1,000 calls ${admin ? "with any key of this workspace" : "with your keys"}. What was sent and answered is not kept.`}
      >
        <Switch isSelected={!!search.live} onChange={(on) => set({ live: on ? 1 : undefined })}>
          Live
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
  if (filtered) return <Empty title="No call is like that" action={<Button onPress={clear}>Clear filters</Button>} />;
  return (
    <Empty
      icon={<ListTree aria-hidden="true" />}
      title="No calls yet"
      action={
        <ButtonLink look="primary" href="/settings/api/keys?new=1">
          Create a key
        </ButtonLink>
      }
    >
      Each call of the API shows here within a moment, with its answer's code and how long it took.
    </Empty>
  );
}

const statuses = [
  { id: "", label: "Any status" },
  { id: "2xx", label: "2xx, done" },
  { id: "3xx", label: "3xx, not changed" },
  { id: "4xx", label: "4xx, refused" },
  { id: "5xx", label: "5xx, failed" },
];

const methods = [
  { id: "", label: "Any method" },
  ...["GET", "POST", "PATCH", "DELETE"].map((m) => ({ id: m, label: m })),
];

function Filters({ filter, set }: { filter: Filter; set: (next: Record<string, unknown>) => void }) {
  const keys = useQuery({ queryKey: ["keys"], queryFn: () => own<Key[]>("GET", "/keys") });
  const named = (keys.data ?? []).map((k) => ({ id: k.id, label: `${k.name} …${k.last4}` }));
  return (
    <div className="mb-3 flex flex-wrap gap-2 no-print">
      <SearchField
        label="Path holds"
        placeholder="Path, such as /campaigns"
        className="w-full sm:w-60"
        value={filter.path ?? ""}
        onChange={(v) => set({ path: v || undefined })}
      />
      <Select
        label="Status"
        hideLabel
        className="w-36"
        value={filter.status ?? ""}
        onChange={(v) => set({ status: v || undefined })}
        options={statuses}
      />
      <Select
        label="Method"
        hideLabel
        className="w-34"
        value={filter.method ?? ""}
        onChange={(v) => set({ method: v || undefined })}
        options={methods}
      />
      <Select
        label="Key"
        hideLabel
        className="w-44"
        value={filter.key ?? ""}
        onChange={(v) => set({ key: v || undefined })}
        options={[{ id: "", label: "Any key" }, ...named]}
      />
    </div>
  );
}
