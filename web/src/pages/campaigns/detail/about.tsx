// When a campaign runs, what it is for and where it stands on the platforms.

import { useMetric } from "../../../lib/catalogue";
import { ago, figure, instant, none, words } from "../../../lib/format";
import { useSession } from "../../../lib/session";
import { t } from "../../../text/campaigns";
import { rich } from "../../../text/rich";
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
    <Card title={t.detail.schedule} sub={t.detail.timesIn(zone)}>
      <Facts
        items={[
          [t.detail.start, c.schedule.start_at ? instant(c.schedule.start_at, zone) : t.atLaunch],
          ["End", c.schedule.end_at ? instant(c.schedule.end_at, zone) : t.detail.end],
          ...times(c).map(([name, at]): [string, string] => [name, instant(at, zone)]),
        ]}
      />
    </Card>
  );
}

function times(c: Campaign): [string, string][] {
  const all: [string, string | null][] = [
    [t.detail.whenPaused, c.launched_at],
    [t.detail.launched, c.paused_at],
    [t.detail.paused, c.completed_at],
    [t.detail.completed, c.archived_at],
  ];
  return all.filter((t): t is [string, string] => t[1] !== null);
}

export function Details({ campaign: c }: { campaign: Campaign }) {
  const metric = useMetric();
  const { currency } = useSession().workspace;
  const url = safe(c.tracking?.landing_url ?? null);
  const goal = c.goal
    ? (c.goal.direction === "at_most" ? t.detail.atMost : t.detail.atLeast)(
        metric(c.goal.metric).label,
        figure(c.goal.target, metric(c.goal.metric).format, c.budget?.currency ?? currency),
      )
    : none;
  return (
    <Card title={t.detail.details}>
      <Facts
        items={[
          [t.detail.objective, c.objective ? named(c.objective) : none],
          [t.detail.channels, c.channels.length > 0 ? c.channels.map(named).join(", ") : none],
          [t.detail.goal, goal],
          [
            t.detail.landing,
            url ? (
              <Outside key="url" href={url}>
                {url}
              </Outside>
            ) : (
              (c.tracking?.landing_url ?? none)
            ),
          ],
          [
            t.detail.attribution,
            t.detail.attributionIs(words(c.attribution.model), c.attribution.click_days, c.attribution.view_days),
          ],
          [
            t.detail.tags,
            c.tags.length > 0 ? (
              <span key="tags" className="flex flex-wrap gap-1">
                {c.tags.map((tag) => (
                  <Badge key={tag}>#{tag}</Badge>
                ))}
              </span>
            ) : (
              none
            ),
          ],
          [t.detail.description, c.description ?? none],
          [t.detail.createdBy, t.detail.byAt(c.created_by.name ?? words(c.created_by.type), ago(c.created_at))],
          [
            t.detail.id,
            <code key="id" className="font-mono text-xs break-all">
              {c.id}
            </code>,
          ],
        ]}
      />
    </Card>
  );
}

const pushTones: Record<string, "good" | "warn" | "bad"> = {
  pending: "warn",
  applied: "good",
  failed: "bad",
  drifted: "warn",
};
const pushTexts: Record<string, string> = t.detail.push;

export function Links({ campaign: c }: { campaign: Campaign }) {
  return (
    <Card title={t.detail.platforms} flush>
      {c.external_refs.length === 0 ? (
        <p className="px-4 pb-4 text-sm text-muted">
          {rich(t.detail.notLinked, {
            link: (
              <TextLink href={linkPage(c)} className="underline">
                {t.delivery.link}
              </TextLink>
            ),
          })}
        </p>
      ) : (
        <ul className="divide-y divide-line border-t border-line">
          {c.external_refs.map((r) => {
            const push = r.push ? pushTexts[r.push] : null;
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
                  {r.synced_at ? ` · ${t.detail.synced(ago(r.synced_at))}` : ""}
                </p>
                {push ? (
                  <p className="mt-1">
                    <Badge tone={pushTones[r.push ?? ""]}>{push}</Badge>
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
