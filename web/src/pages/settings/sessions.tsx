import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Monitor, Smartphone } from "lucide-react";
import { own } from "../../api/client";
import type { OpenSession } from "../../api/console";
import { ago, instant } from "../../lib/format";
import { t } from "../../text/settings";
import { Button } from "../../ui/button";
import { Badge, Card } from "../../ui/display";
import { Failed, SkeletonRows } from "../../ui/feedback";
import { say } from "../../ui/toast";
import { device } from "./device";

const methods: Record<string, string> = t.sessions.methods;

/** Where one is signed in. */
export function SessionsCard() {
  const client = useQueryClient();
  const list = useQuery({ queryKey: ["sessions"], queryFn: () => own<OpenSession[]>("GET", "/sessions") });
  const end = useMutation({
    mutationFn: (sessions: OpenSession[]) => Promise.all(sessions.map((s) => own("DELETE", `/sessions/${s.id}`))),
    onSuccess: (_r, { length: n }) => say(t.sessions.ended(n)),
    onSettled: () => client.invalidateQueries({ queryKey: ["sessions"] }),
  });
  const others = (list.data ?? []).filter((s) => !s.current);
  return (
    <Card
      title={t.sessions.title}
      sub={t.sessions.sub}
      flush
      action={
        others.length > 1 ? (
          <Button busy={end.isPending} onPress={() => end.mutate(others)}>
            {t.sessions.endOthers}
          </Button>
        ) : null
      }
    >
      {list.isPending ? (
        <SkeletonRows rows={2} />
      ) : list.error ? (
        <Failed error={list.error} retry={list.refetch} />
      ) : (
        <ul className="divide-y divide-line border-t border-line">
          {list.data.map((s) => (
            <Row key={s.id} session={s} end={() => end.mutate([s])} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function Row({ session: s, end }: { session: OpenSession; end: () => void }) {
  const name = device(s.user_agent);
  const Icon = /iPhone|Android/.test(name) ? Smartphone : Monitor;
  return (
    <li className="flex items-center gap-3 px-4 py-2.5 text-sm">
      <Icon className="size-4 shrink-0 text-faint" aria-hidden="true" />
      <span className="min-w-0 grow">
        <span className="flex flex-wrap items-center gap-x-2">
          <span className="font-medium">{name}</span>
          {s.current ? <Badge tone="good">{t.sessions.current}</Badge> : null}
        </span>
        <span className="block text-xs text-muted">
          {[
            s.ip,
            methods[s.method] ?? s.method,
            t.sessions.signedIn(instant(s.created_at)),
            ...(s.current ? [] : [t.sessions.lastUsed(ago(s.last_used_at))]),
          ].join(" · ")}
        </span>
      </span>
      {s.current ? null : (
        <Button size="sm" look="quiet" aria-label={t.sessions.endOf(name)} onPress={end}>
          {t.sessions.end}
        </Button>
      )}
    </li>
  );
}
