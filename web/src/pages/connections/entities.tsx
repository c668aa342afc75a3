// What the platform has, and which record of ours each is.

import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link2, SearchX, Unlink } from "lucide-react";
import { useState } from "react";
import { DialogTrigger } from "react-aria-components";
import { type Schemas, take, v1 } from "../../api/client";
import { ago, words } from "../../lib/format";
import { useMay } from "../../lib/session";
import { useView } from "../../lib/view";
import { t } from "../../text/connections";
import { Button, TextLink } from "../../ui/button";
import { Badge, Card, type Tone } from "../../ui/display";
import { Empty, Failed, Note, SkeletonRows } from "../../ui/feedback";
import { Select } from "../../ui/fields";
import { Popover } from "../../ui/overlay";
import { DataTable, type TableColumn } from "../../ui/table";
import { say } from "../../ui/toast";
import { PickList } from "../analytics/pick";
import type { Connection, Entity } from "./queries";

type Kind = Entity["kind"];

function useLink(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (body: Schemas["LinkRequest"]) =>
      (await take(v1.POST("/v1/connections/{id}/links", { params: { path: { id } }, body }))).data,
    onSuccess: () => {
      for (const key of ["connections", "campaigns", "creative", "audiences", "analytics"]) {
        client.invalidateQueries({ queryKey: [key] });
      }
    },
  });
}

export function Entities({ connection: c }: { connection: Connection }) {
  const [view, set] = useView();
  const admin = useMay("admin") && c.status !== "disconnected";
  const kind = (view("kind") || "campaign") as Kind;
  const linked = view("linked");
  const list = useInfiniteQuery({
    queryKey: ["connections", "entities", c.id, kind, linked],
    queryFn: ({ pageParam }) =>
      take(
        v1.GET("/v1/connections/{id}/entities", {
          params: {
            path: { id: c.id },
            query: {
              limit: 100,
              kind: [kind],
              ...(linked ? { linked: linked === "yes" } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });
  const rows = list.data?.pages.flatMap((p) => p.data) ?? [];
  return (
    <Card
      flush
      title={t.links.title}
      sub={t.links.sub}
      action={
        <div className="flex flex-wrap items-center gap-2">
          <Select
            label={t.links.type}
            hideLabel
            className="w-32"
            value={kind}
            onChange={(v) => set({ kind: v === "campaign" ? "" : v })}
            options={[
              { id: "campaign", label: t.links.types.campaign },
              { id: "creative", label: t.links.types.creative },
              { id: "audience", label: t.links.types.audience },
            ]}
          />
          <Select
            label={t.links.linked}
            hideLabel
            className="w-32"
            value={linked}
            onChange={(v) => set({ linked: v })}
            options={[
              { id: "", label: t.links.all },
              { id: "no", label: words("not_linked") },
              { id: "yes", label: t.links.linked },
            ]}
          />
          {admin ? <ByName connection={c} /> : null}
        </div>
      }
    >
      {list.error ? (
        <Failed error={list.error} retry={() => list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows />
      ) : (
        <DataTable
          label={t.links.table}
          columns={columnsOf(c, admin)}
          rows={rows}
          rowKey={(e) => `${e.kind} ${e.platform} ${e.external_id}`}
          more={list.hasNextPage ? () => list.fetchNextPage() : undefined}
          loadingMore={list.isFetchingNextPage}
          className="max-h-160"
          empty={
            <Empty
              icon={<SearchX aria-hidden="true" />}
              title={linked ? t.links.noMatch : t.links.empty}
              action={linked ? <Button onPress={() => set({ linked: "" })}>{t.clearFilter}</Button> : undefined}
            />
          }
        />
      )}
    </Card>
  );
}

/** Links everything whose name exactly one record of ours has. */
function ByName({ connection: c }: { connection: Connection }) {
  const link = useLink(c.id);
  const [open, setOpen] = useState(false);
  return (
    <DialogTrigger isOpen={open} onOpenChange={setOpen}>
      <Button size="md">
        <Link2 aria-hidden="true" />
        {t.links.byName}
      </Button>
      <Popover aria-label={t.links.byName} placement="bottom end" className="grid w-80 gap-3 p-3">
        <p className="text-sm text-muted">{t.links.byNameHint}</p>
        {link.data?.ambiguous.length ? (
          <Note tone="warn" title={t.links.ambiguous}>
            {link.data.ambiguous.join(", ")}
          </Note>
        ) : null}
        <Button
          look="primary"
          size="sm"
          className="justify-self-end"
          busy={link.isPending}
          onPress={() =>
            link.mutate(
              { match: "name" },
              {
                onSuccess: (r) => {
                  say(r.linked === 0 ? t.links.nothing : t.links.count(r.linked));
                  if (r.ambiguous.length === 0) setOpen(false);
                },
              },
            )
          }
        >
          {t.links.submit}
        </Button>
      </Popover>
    </DialogTrigger>
  );
}

const pushTones: Record<string, Tone> = { pending: "info", applied: "good", failed: "bad", drifted: "warn" };

const pages: Record<Kind, string> = { campaign: "/campaigns/", creative: "/creative/", audience: "/audiences/" };

function columnsOf(c: Connection, admin: boolean): TableColumn<Entity>[] {
  return [
    {
      id: "name",
      name: t.links.onPlatform,
      minWidth: 200,
      cell: (e) => (
        <span className="block min-w-0">
          <span className="block truncate font-medium">
            {e.url && /^https?:\/\//.test(e.url) ? (
              <TextLink href={e.url} target="_blank" rel="noreferrer noopener">
                {e.name}
              </TextLink>
            ) : (
              e.name
            )}
          </span>
          <span className="block truncate font-mono text-2xs text-muted">{e.external_id}</span>
        </span>
      ),
    },
    {
      id: "status",
      name: t.links.platformStatus,
      wide: true,
      cell: (e) => (
        <span className="text-muted">{e.external_status ? words(e.external_status.toLowerCase()) : "–"}</span>
      ),
    },
    {
      id: "push",
      name: t.links.update,
      wide: true,
      width: 190,
      cell: (e) =>
        e.push ? <Badge tone={pushTones[e.push]}>{words(e.push)}</Badge> : <span className="text-faint">–</span>,
    },
    { id: "seen", name: t.links.seen, wide: true, width: 120, cell: (e) => ago(e.synced_at) },
    {
      id: "record",
      name: t.links.record,
      minWidth: 190,
      cell: (e) =>
        e.record_id ? (
          <Linked connection={c} entity={e} admin={admin} />
        ) : admin ? (
          <LinkTo connection={c} entity={e} />
        ) : (
          "–"
        ),
    },
  ];
}

const keyOf = (kind: Kind) => (kind === "creative" ? "creative" : `${kind}s`);

/** The name of a record. One list answers for most; only what is not on it is asked for alone. */
function useName(kind: Kind, id: string): string {
  const list = useQuery({
    queryKey: [keyOf(kind), "pick", ""],
    queryFn: () => recordsOf(kind, ""),
    staleTime: 60_000,
  });
  const listed = list.data?.find((r) => r.id === id)?.name;
  const alone = useQuery({
    queryKey: [keyOf(kind), "name", id],
    queryFn: async () => {
      const params = { path: { id } };
      if (kind === "campaign") return (await take(v1.GET("/v1/campaigns/{id}", { params }))).data.name;
      if (kind === "creative") return (await take(v1.GET("/v1/creative/{id}", { params }))).data.name;
      return (await take(v1.GET("/v1/audiences/{id}", { params }))).data.name;
    },
    enabled: !!list.data && !listed,
    staleTime: 300_000,
  });
  return listed ?? alone.data ?? id;
}

function Linked({ connection: c, entity: e, admin }: { connection: Connection; entity: Entity; admin: boolean }) {
  const id = e.record_id as string;
  const name = useName(e.kind, id);
  const link = useLink(c.id);
  const put = (record_id: string | null) => ({ links: [{ kind: e.kind, external_id: e.external_id, record_id }] });
  return (
    <span className="flex items-center justify-between gap-2">
      <TextLink href={`${pages[e.kind]}${id}`} className="truncate">
        {name}
      </TextLink>
      {admin ? (
        <Button
          look="quiet"
          size="sm"
          icon
          aria-label={t.links.unlinkOf(e.name)}
          busy={link.isPending}
          onPress={() =>
            link.mutate(put(null), {
              onSuccess: () => say(t.links.undone(e.name), () => link.mutate(put(id))),
            })
          }
        >
          <Unlink aria-hidden="true" />
        </Button>
      ) : null}
    </span>
  );
}

async function recordsOf(kind: Kind, q: string): Promise<{ id: string; name: string }[]> {
  const params = { query: { limit: 100, ...(q ? { q } : {}) } };
  if (kind === "campaign") return (await take(v1.GET("/v1/campaigns", { params }))).data;
  if (kind === "creative") return (await take(v1.GET("/v1/creative", { params }))).data;
  return (await take(v1.GET("/v1/audiences", { params }))).data;
}

function LinkTo({ connection: c, entity: e }: { connection: Connection; entity: Entity }) {
  const [open, setOpen] = useState(false);
  const [text, setText] = useState("");
  const link = useLink(c.id);
  const records = useQuery({
    queryKey: [keyOf(e.kind), "pick", text],
    queryFn: () => recordsOf(e.kind, text.trim()),
    enabled: open,
    placeholderData: (old) => old,
  });
  const choose = (record_id: string | undefined) => {
    if (!record_id) return;
    setOpen(false);
    link.mutate(
      { links: [{ kind: e.kind, external_id: e.external_id, record_id }] },
      { onSuccess: () => say(t.links.done(e.name)) },
    );
  };
  return (
    <DialogTrigger isOpen={open} onOpenChange={setOpen}>
      <Button size="sm" busy={link.isPending} aria-label={t.links.linkOf(e.name)}>
        {t.links.link}
      </Button>
      <Popover aria-label={t.links.linkTo(e.name)} placement="bottom end" className="">
        <PickList
          label={t.links.yours[e.kind]}
          single
          loading={records.isPending}
          choices={(records.data ?? []).map((r) => ({ id: r.id, label: r.name }))}
          selected={[]}
          onChange={(ids) => choose(ids[0])}
          onSearch={setText}
        />
      </Popover>
    </DialogTrigger>
  );
}
