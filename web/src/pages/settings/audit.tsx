import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Download, ScrollText } from "lucide-react";
import { own } from "../../api/client";
import type { AuditEntry } from "../../api/console";
import { ago, instant, words } from "../../lib/format";
import { useMay, useSession } from "../../lib/session";
import { t } from "../../text/settings";
import { Button, ButtonLink, TextLink } from "../../ui/button";
import { Card, PageHeader } from "../../ui/display";
import { Empty, Failed, SkeletonRows } from "../../ui/feedback";
import { Select } from "../../ui/fields";
import { Hint } from "../../ui/overlay";
import { DataTable, type TableColumn } from "../../ui/table";
import { actionWords, groups, placeOf } from "./actions";

const pageSize = 50;

export function Audit() {
  const search = useSearch({ strict: false }) as { action?: string };
  const navigate = useNavigate();
  const may = useMay("admin");
  const action = search.action ?? "";
  const set = (next: string) =>
    navigate({ to: ".", replace: true, search: ((old: object) => ({ ...old, action: next || undefined })) as never });
  return (
    <>
      <PageHeader title={t.audit.title} sub={t.audit.sub}>
        {may ? (
          <>
            <Select label={t.audit.filter} hideLabel className="w-36" value={action} onChange={set} options={groups} />
            <ButtonLink href="/console/api/audit.ndjson" download="audit.ndjson">
              <Download aria-hidden="true" />
              {t.audit.export}
            </ButtonLink>
          </>
        ) : null}
      </PageHeader>
      <Card flush>
        {may ? (
          <Entries action={action} clear={() => set("")} />
        ) : (
          <Empty title={t.audit.closed}>{t.audit.closedHint}</Empty>
        )}
      </Card>
    </>
  );
}

function Entries({ action, clear }: { action: string; clear: () => void }) {
  const { timezone } = useSession().workspace;
  const log = useInfiniteQuery({
    queryKey: ["audit", action],
    queryFn: ({ pageParam }) => {
      const q = new URLSearchParams();
      if (pageParam) q.set("before", String(pageParam));
      if (action) q.set("action", action);
      return own<AuditEntry[]>("GET", `/audit?${q}`);
    },
    initialPageParam: 0,
    getNextPageParam: (last) => (last.length < pageSize ? undefined : last.at(-1)?.seq),
  });
  if (log.isPending) return <SkeletonRows />;
  if (log.error) return <Failed error={log.error} retry={log.refetch} />;
  const rows = log.data.pages.flat();
  return (
    <>
      <DataTable
        label={t.audit.title}
        columns={columns(timezone)}
        rows={rows}
        rowKey={(e) => String(e.seq)}
        empty={
          action ? (
            <Empty title={t.audit.noMatch} action={<Button onPress={clear}>{t.audit.showAll}</Button>} />
          ) : (
            <Empty icon={<ScrollText aria-hidden="true" />} title={t.audit.empty} />
          )
        }
      />
      {log.hasNextPage ? (
        <div className="flex justify-center py-3">
          <Button look="quiet" busy={log.isFetchingNextPage} onPress={() => log.fetchNextPage()}>
            {t.audit.older}
          </Button>
        </div>
      ) : null}
    </>
  );
}

function columns(zone: string): TableColumn<AuditEntry>[] {
  return [
    {
      id: "action",
      name: t.audit.action,
      cell: (e) => (
        <span className="block min-w-0">
          <span className="block truncate font-medium">{actionWords(e.action)}</span>
          <Target id={e.target} />
        </span>
      ),
    },
    { id: "actor", name: t.audit.by, width: 180, cell: (e) => <Actor of={e} /> },
    {
      id: "ip",
      name: t.ipAddress,
      wide: true,
      width: 150,
      cell: (e) => <span className="block truncate font-mono text-xs">{e.ip}</span>,
    },
    {
      id: "at",
      name: t.when,
      width: 120,
      cell: (e) => (
        <Hint
          text={
            <span className="grid gap-0.5">
              <span>{instant(e.at)}</span>
              <span className="text-muted">{t.audit.inZone(instant(e.at, zone), zone)}</span>
              {e.request_id ? <span className="font-mono text-2xs text-faint">{e.request_id}</span> : null}
            </span>
          }
        >
          {ago(e.at)}
        </Hint>
      ),
    },
  ];
}

function Actor({ of: { actor } }: { of: AuditEntry }) {
  if (actor.type === "user") return <span className="block truncate">{actor.name || actor.id}</span>;
  return (
    <span className="block min-w-0">
      <span className="block truncate">{actor.name || actor.id || "Fanfare"}</span>
      <span className="block text-xs text-muted">{words(actor.type)}</span>
    </span>
  );
}

function Target({ id }: { id: string }) {
  if (!id) return null;
  const at = placeOf(id);
  const text = <span className="font-mono text-xs">{id}</span>;
  return at ? (
    <TextLink href={at} className="block truncate">
      {text}
    </TextLink>
  ) : (
    <span className="block truncate text-muted">{text}</span>
  );
}
