// When a campaign runs, what it is for and where it stands on the platforms.
import { useMetric } from "../../../lib/catalogue";
import { ago, figure, instant, none, words } from "../../../lib/format";
import { useSession } from "../../../lib/session";
import { TextLink } from "../../../ui/button";
import { Badge, Card, Facts, Status } from "../../../ui/display";
import { platformName } from "../../connections/glyph";
import { named } from "../../creative/data";
import type { Campaign } from "../data";
import { linkPage } from "../issues";

/** Only what a browser may open. */
const safe = (url: string | null) => (url && /^https?:\/\//i.test(url) ? url : null);

export function Outside({ href, children }: { href: string; children: React.ReactNode }) {
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer noopener"
      className="break-all rounded-sm text-accent-text underline-offset-2 outline-none hover:underline focus-visible:ring-focus"
    >
      {children}
    </a>
  );
}

export function Schedule({ campaign: c }: { campaign: Campaign }) {
  const zone = c.schedule.timezone;
  return (
    <Card title="Schedule" sub={`Times in ${zone}`}>
      <Facts
        items={[
          ["Start", c.schedule.start_at ? instant(c.schedule.start_at, zone) : "At launch"],
          ["End", c.schedule.end_at ? instant(c.schedule.end_at, zone) : "When it is paused"],
          ...times(c).map(([name, at]): [string, string] => [name, instant(at, zone)]),
        ]}
      />
    </Card>
  );
}

function times(c: Campaign): [string, string][] {
  const all: [string, string | null][] = [
    ["Launched", c.launched_at],
    ["Paused", c.paused_at],
    ["Completed", c.completed_at],
    ["Archived", c.archived_at],
  ];
  return all.filter((t): t is [string, string] => t[1] !== null);
}

export function Details({ campaign: c }: { campaign: Campaign }) {
  const metric = useMetric();
  const { currency } = useSession().workspace;
  const url = safe(c.tracking?.landing_url ?? null);
  const goal = c.goal
    ? `${metric(c.goal.metric).label} ${c.goal.direction === "at_most" ? "at most" : "at least"} ${figure(c.goal.target, metric(c.goal.metric).format, c.budget?.currency ?? currency)}`
    : none;
  return (
    <Card title="Details">
      <Facts
        items={[
          ["Objective", c.objective ? named(c.objective) : none],
          ["Channels", c.channels.length > 0 ? c.channels.map(named).join(", ") : none],
          ["Goal", goal],
          [
            "Landing page",
            url ? (
              <Outside key="url" href={url}>
                {url}
              </Outside>
            ) : (
              (c.tracking?.landing_url ?? none)
            ),
          ],
          [
            "Attribution",
            `${words(c.attribution.model)}, ${c.attribution.click_days} d click, ${c.attribution.view_days} d view`,
          ],
          [
            "Tags",
            c.tags.length > 0 ? (
              <span key="tags" className="flex flex-wrap gap-1">
                {c.tags.map((t) => (
                  <Badge key={t}>#{t}</Badge>
                ))}
              </span>
            ) : (
              none
            ),
          ],
          ["Description", c.description ?? none],
          ["Made by", `${c.created_by.name ?? words(c.created_by.type)}, ${ago(c.created_at)}`],
          [
            "Id",
            <code key="id" className="font-mono text-xs break-all">
              {c.id}
            </code>,
          ],
        ]}
      />
    </Card>
  );
}

const pushes: Record<string, { word: string; tone: "good" | "warn" | "bad" }> = {
  pending: { word: "Change on its way", tone: "warn" },
  applied: { word: "Change applied", tone: "good" },
  failed: { word: "Change failed", tone: "bad" },
  drifted: { word: "Changed on the platform", tone: "warn" },
};

export function Links({ campaign: c }: { campaign: Campaign }) {
  return (
    <Card title="On the platforms" flush>
      {c.external_refs.length === 0 ? (
        <p className="px-4 pb-4 text-sm text-muted">
          No platform campaign is linked, so no platform delivers or reports on this campaign.{" "}
          <TextLink href={linkPage(c)} className="underline">
            Link platform campaign
          </TextLink>
        </p>
      ) : (
        <ul className="divide-y divide-line border-t border-line">
          {c.external_refs.map((r) => {
            const push = r.push ? pushes[r.push] : null;
            const url = safe(r.url);
            return (
              <li key={r.connection_id + r.external_id} className="px-4 py-2.5 text-sm">
                <div className="flex items-center justify-between gap-2">
                  <TextLink href={`/connections/${r.connection_id}`} className="min-w-0 truncate">
                    {platformName(r.platform)}
                  </TextLink>
                  {r.external_status ? <Status value={r.external_status.toLowerCase()} /> : null}
                </div>
                <p className="break-words text-xs text-muted">
                  {url ? (
                    <Outside href={url}>{r.external_id}</Outside>
                  ) : (
                    <code className="font-mono">{r.external_id}</code>
                  )}
                  {r.synced_at ? ` · read ${ago(r.synced_at)}` : ""}
                </p>
                {push ? (
                  <p className="mt-1">
                    <Badge tone={push.tone}>{push.word}</Badge>
                  </p>
                ) : null}
              </li>
            );
          })}
        </ul>
      )}
    </Card>
  );
}
