// What happened to a campaign, the latest first.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { own, type Schemas, take, v1 } from "../../../api/client";
import type { Member } from "../../../api/console";
import { ago, instant, words } from "../../../lib/format";
import { useMay, useSession } from "../../../lib/session";
import { t } from "../../../text/campaigns";
import { Button } from "../../../ui/button";
import { Card } from "../../../ui/display";
import { Failed, SkeletonRows } from "../../../ui/feedback";
import type { Campaign } from "../data";

type Event = Schemas["Event"];

export function Activity({ campaign }: { campaign: Campaign }) {
  const events = useInfiniteQuery({
    queryKey: ["events", campaign.id],
    queryFn: ({ pageParam }) =>
      take(
        v1.GET("/v1/events", {
          params: { query: pageParam ? { cursor: pageParam } : { resource_id: campaign.id, limit: 20, order: "desc" } },
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  });
  const { user } = useSession();
  const { data: people } = useQuery({
    queryKey: ["members", "names"],
    queryFn: async () => {
      const { members } = await own<{ members: Member[] }>("GET", "/members");
      return new Map(members.map((m) => [m.id, m.name || m.email]));
    },
    enabled: useMay("admin"),
    staleTime: 300_000,
  });
  return (
    <Card title={t.detail.activity} flush>
      {events.isPending ? (
        <SkeletonRows rows={3} />
      ) : events.isError ? (
        <Failed error={events.error} retry={() => events.refetch()} />
      ) : (
        <>
          <ol className="px-4 pb-4">
            {events.data.pages
              .flatMap((p) => p.data)
              .map((e) => (
                <Entry key={e.id} event={e} who={e.actor.id === user.id ? t.detail.you : actor(e, people)} />
              ))}
          </ol>
          {events.hasNextPage ? (
            <div className="px-4 pb-4">
              <Button size="sm" busy={events.isFetchingNextPage} onPress={() => events.fetchNextPage()}>
                {t.detail.older}
              </Button>
            </div>
          ) : null}
        </>
      )}
    </Card>
  );
}

function Entry({ event: e, who }: { event: Event; who: string }) {
  return (
    <li className="relative border-l border-line pb-4 pl-5 text-sm last:border-transparent last:pb-0">
      <span
        aria-hidden="true"
        className="absolute -left-1 top-1.5 size-2 rounded-full border border-line-strong bg-surface"
      />
      <p>
        <span className="font-medium">{words(e.type.replace(/^.*\./, ""))}</span>
        <span className="text-muted"> {what(e)}</span>
      </p>
      <p className="text-xs text-faint">
        {who} ·{" "}
        <time dateTime={e.timestamp} title={instant(e.timestamp)}>
          {ago(e.timestamp)}
        </time>
      </p>
    </li>
  );
}

function actor(e: Event, people?: Map<string, string>): string {
  if (e.actor.type === "system") return "Fanfare";
  return people?.get(e.actor.id ?? "") ?? (e.actor.type === "api_key" ? t.detail.anApiKey : t.detail.aMember);
}

/** Fields that change along with every other. */
const alongside = new Set([
  "version",
  "updated_at",
  "allowed_actions",
  "status",
  "launched_at",
  "paused_at",
  "archived_at",
]);

function what(e: Event): string {
  if (e.type === "campaign.delivery_changed") {
    const { delivery } = e.data as { delivery?: Campaign["delivery"] };
    return delivery ? t.detail.toStatus(words(delivery.status)) : "";
  }
  if (e.type !== "campaign.updated") return "";
  return Object.keys(e.previous)
    .filter((k) => !alongside.has(k))
    .map((k) => words(k).toLowerCase())
    .join(", ");
}
