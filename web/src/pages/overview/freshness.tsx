// How fresh the numbers of each connection are, and what to do where they are not.

import { Cable } from "lucide-react";
import { Link } from "react-aria-components";
import type { Schemas } from "../../api/client";
import { ago, day } from "../../lib/format";
import { t } from "../../text/overview";
import { ButtonLink, TextLink } from "../../ui/button";
import { Card, Status } from "../../ui/display";
import { Empty, Failed, SkeletonRows } from "../../ui/feedback";
import { platformName } from "../connections/glyph";

type Connection = Schemas["Connection"];

interface Loaded {
  data?: Connection[];
  isPending: boolean;
  error: unknown;
  refetch: () => void;
}

export function Freshness({ connections, className }: { connections: Loaded; className?: string }) {
  const { data } = connections;
  return (
    <Card
      title={t.freshness.title}
      sub={t.freshness.sub}
      action={
        <TextLink href="/connections" className="text-sm">
          {t.freshness.all}
        </TextLink>
      }
      flush
      className={className}
    >
      {connections.isPending ? (
        <SkeletonRows rows={4} />
      ) : connections.error ? (
        <Failed error={connections.error} retry={connections.refetch} />
      ) : data?.length === 0 ? (
        <Empty
          icon={<Cable aria-hidden="true" />}
          title={t.freshness.empty}
          action={<ButtonLink href="/connections?new=1">{t.freshness.connect}</ButtonLink>}
        />
      ) : (
        <ul className="divide-y divide-line border-t border-line">
          {data?.map((c) => (
            <Line key={c.id} connection={c} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function Line({ connection: c }: { connection: Connection }) {
  return (
    <li className="px-4 py-2.5 text-sm">
      <div className="flex items-center justify-between gap-3">
        <Link
          href={`/connections/${c.id}`}
          className="min-w-0 truncate rounded-sm py-0.5 font-medium outline-none hover:underline focus-visible:ring-focus"
        >
          {c.name}
        </Link>
        <Status value={c.status} />
      </div>
      <p className="text-xs text-muted">
        {platformName(c.platform)} · {synced(c)}
        {c.sync.data_through ? ` · ${t.freshness.through(day(c.sync.data_through))}` : ""}
      </p>
      {c.status_reason ? (
        <p className="mt-1 text-xs text-bad">
          {c.status_reason.message}{" "}
          <TextLink href={`/connections/${c.id}`} className="underline">
            {c.status === "reauth_required" ? t.freshness.grant : t.freshness.details}
          </TextLink>
        </p>
      ) : null}
    </li>
  );
}

function synced(c: Connection): string {
  if (c.sync.state !== "idle") return c.sync.state === "running" ? t.freshness.running : t.freshness.queued;
  if (c.sync.interval_minutes === null && !c.sync.last_success_at) return t.freshness.waiting;
  return c.sync.last_success_at ? t.freshness.synced(ago(c.sync.last_success_at)) : t.freshness.never;
}
