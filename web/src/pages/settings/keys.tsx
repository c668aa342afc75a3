import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Ellipsis, KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { own } from "../../api/client";
import type { Key } from "../../api/console";
import { ago, count, day, instant, none, words } from "../../lib/format";
import { useMay } from "../../lib/session";
import { common } from "../../text/common";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Card, PageHeader, Sparkline, Status } from "../../ui/display";
import { Empty, Failed, Note, SkeletonRows } from "../../ui/feedback";
import { Select } from "../../ui/fields";
import { Hint, Menu, MenuItem, MenuTrigger } from "../../ui/overlay";
import { ShowCall } from "../../ui/showcall";
import { DataTable, type TableColumn } from "../../ui/table";
import { RevokeKey, RotateKey } from "./keyend";
import { families } from "./keyform";
import { NewKey } from "./newkey";
import { usePeople } from "./people";

/** Ends with what one does to a key. */
interface Doing {
  what: "rotate" | "revoke";
  key: Key;
}

/** Whose keys one may rotate: one's own, and as an admin those of service users. */
function useMayRotate(): (k: Key) => boolean {
  const people = usePeople();
  return (k) => k.mine || !!people.data?.members.some((m) => m.service && m.id === k.user.id);
}

const live = (k: Key) => k.status === "active" || k.status === "expiring";

export function Keys() {
  const search = useSearch({ strict: false }) as { show?: string; new?: unknown };
  const navigate = useNavigate();
  const set = (next: Record<string, unknown>) =>
    navigate({ to: ".", replace: true, search: ((old: object) => ({ ...old, ...next })) as never });
  const keys = useQuery({ queryKey: ["keys"], queryFn: () => own<Key[]>("GET", "/keys") });
  const [doing, setDoing] = useState<Doing | null>(null);
  const all = search.show === "all";
  const list = keys.data ?? [];
  const rows = all ? list : list.filter(live);
  const open = () => set({ new: 1 });
  return (
    <>
      <PageHeader title={t.keys.title} sub={t.keys.sub}>
        <ShowCall call={{ method: "GET", path: "/v1/me" }} />
        <Select
          label={t.keys.show}
          hideLabel
          className="w-32"
          value={all ? "all" : "active"}
          onChange={(v) => set({ show: v === "all" ? "all" : undefined })}
          options={[
            { id: "active", label: t.keys.active },
            { id: "all", label: t.keys.all },
          ]}
        />
        <Button look="primary" onPress={open}>
          <Plus aria-hidden="true" />
          {t.keys.create}
        </Button>
      </PageHeader>
      <div className="grid gap-4">
        <Warnings keys={list} rotate={(key) => setDoing({ what: "rotate", key })} />
        <Card flush>
          {keys.isPending ? (
            <SkeletonRows />
          ) : keys.error ? (
            <Failed error={keys.error} retry={keys.refetch} />
          ) : (
            <KeyTable
              rows={rows}
              act={setDoing}
              none={list.length > 0 ? () => set({ show: "all" }) : undefined}
              create={open}
            />
          )}
        </Card>
      </div>
      <NewKey isOpen={!!search.new} close={() => set({ new: undefined })} />
      <RotateKey target={doing?.what === "rotate" ? doing.key : null} close={() => setDoing(null)} />
      <RevokeKey target={doing?.what === "revoke" ? doing.key : null} close={() => setDoing(null)} />
    </>
  );
}

/** What cannot wait: keys that others may have read, and those that end soon. */
function Warnings({ keys, rotate }: { keys: Key[]; rotate: (key: Key) => void }) {
  const mayRotate = useMayRotate();
  const expiring = keys.filter((k) => k.status === "expiring");
  return (
    <>
      {keys
        .filter((k) => k.exposed && live(k))
        .map((k) => (
          <Note
            key={k.id}
            tone="bad"
            title={t.keys.exposed(k.name)}
            action={
              mayRotate(k) ? (
                <Button size="sm" onPress={() => rotate(k)}>
                  {t.keys.rotateNow}
                </Button>
              ) : null
            }
          >
            {mayRotate(k) ? t.keys.exposedMine : t.keys.exposedOther(k.user.name || k.user.email)}
          </Note>
        ))}
      {expiring.length > 0 ? (
        <Note
          tone="warn"
          title={
            expiring.length === 1 ? t.keys.expiring(expiring[0]?.name ?? "") : t.keys.expiringMany(expiring.length)
          }
        >
          {t.keys.expiringHint(expiring.map((k) => ({ name: k.name, when: ago(k.expires_at) })))}
        </Note>
      ) : null}
    </>
  );
}

function KeyTable(p: { rows: Key[]; act: (d: Doing) => void; none?: () => void; create: () => void }) {
  const admin = useMay("admin");
  const columns: TableColumn<Key>[] = [
    {
      id: "name",
      name: common.name,
      width: 180,
      cell: (k) => (
        <span className="block min-w-0">
          <span className="block truncate font-medium">{k.name}</span>
          <span className="block font-mono text-xs text-muted">fanf_…{k.last4}</span>
        </span>
      ),
    },
    {
      id: "user",
      name: t.keys.user,
      wide: true,
      cell: (k) => <span className="block truncate">{k.mine ? t.you : k.user.name || k.user.email}</span>,
    },
    { id: "scopes", name: t.keys.access, wide: true, minWidth: 96, cell: (k) => <AccessOf of={k} /> },
    {
      id: "calls",
      name: t.keys.requests,
      align: "end",
      wide: true,
      width: 165,
      cell: (k) => (
        <span className="flex items-center justify-end gap-1">
          <Sparkline values={k.daily} width={64} height={20} label={t.keys.perDay(count(k.requests_30d))} />
          <span className="w-17 shrink-0">{count(k.requests_30d)}</span>
        </span>
      ),
    },
    { id: "used", name: t.keys.lastUsed, wide: true, width: 102, cell: (k) => <LastUse of={k} /> },
    {
      id: "expires",
      name: t.keys.expires,
      wide: true,
      width: 108,
      cell: (k) =>
        k.expires_at ? (
          <span className="whitespace-nowrap" title={instant(k.expires_at)}>
            {day(k.expires_at)}
          </span>
        ) : (
          t.never
        ),
    },
    { id: "status", name: t.status, width: 98, cell: (k) => <Status value={k.status} /> },
    {
      id: "menu",
      name: <span className="sr-only">{t.actions}</span>,
      label: t.actions,
      width: 52,
      cell: (k) => (live(k) && (k.mine || admin) ? <KeyMenu of={k} act={p.act} /> : null),
    },
  ];
  return (
    <DataTable
      label={t.keys.title}
      columns={columns}
      rows={p.rows}
      rowKey={(k) => k.id}
      empty={
        p.none ? (
          <Empty title={t.keys.noActive} action={<Button onPress={p.none}>{t.keys.showAll}</Button>}>
            {t.keys.noActiveHint}
          </Empty>
        ) : (
          <Empty
            icon={<KeyRound aria-hidden="true" />}
            title={t.keys.empty}
            action={
              <Button look="primary" onPress={p.create}>
                {t.keys.create}
              </Button>
            }
          >
            {t.keys.emptyHint}
          </Empty>
        )
      }
    />
  );
}

function AccessOf({ of }: { of: Key }) {
  if (of.scopes === null) return <>{t.keys.sameAccess}</>;
  const open = families.filter((f) => of.scopes?.[f]);
  if (open.length === 0) return <>{t.keys.noAccess}</>;
  return (
    <Hint
      text={
        <span className="grid gap-0.5">
          {open.map((f) => (
            <span key={f}>{t.keys.level(words(f), t.keyForm.levels[of.scopes?.[f] ?? "none"])}</span>
          ))}
        </span>
      }
    >
      <span className="whitespace-nowrap">{t.keys.some(open.length, families.length)}</span>
    </Hint>
  );
}

function LastUse({ of }: { of: Key }) {
  if (!of.last_used_at) return <span className="text-faint">{none}</span>;
  return (
    <Hint
      text={
        <span className="grid gap-0.5">
          <span>{instant(of.last_used_at)}</span>
          <span>{of.last_ip ? t.keys.usedFrom(of.last_ip) : t.keys.usedFromUnknown}</span>
          {of.last_user_agent ? <span className="break-all text-muted">{of.last_user_agent}</span> : null}
        </span>
      }
    >
      {ago(of.last_used_at)}
    </Hint>
  );
}

function KeyMenu({ of, act }: { of: Key; act: (d: Doing) => void }) {
  const mayRotate = useMayRotate();
  return (
    <MenuTrigger>
      <Button look="quiet" size="sm" icon aria-label={t.actionsFor(of.name)}>
        <Ellipsis aria-hidden="true" />
      </Button>
      <Menu label={t.actionsFor(of.name)}>
        {mayRotate(of) ? <MenuItem onAction={() => act({ what: "rotate", key: of })}>{t.keys.rotate}</MenuItem> : null}
        <MenuItem href={`/settings/api/requests?key=${of.id}`}>{t.keys.viewRequests}</MenuItem>
        <MenuItem danger onAction={() => act({ what: "revoke", key: of })}>
          {t.keys.revoke}
        </MenuItem>
      </Menu>
    </MenuTrigger>
  );
}
