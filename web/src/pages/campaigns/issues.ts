// Delivery issues as people read them: what is wrong, how to fix it and where.

import { t } from "../../text/campaigns";
import { locale } from "../../text/language";
import { named } from "../creative/data";
import type { Campaign } from "./data";

export type Issue = Campaign["delivery"]["issues"][number];

export interface Described {
  title: string;
  fix: string | null;
  /** Whether nothing is delivered until it is fixed. */
  blocks: boolean;
  /** The page on which it can be fixed, and what the link to it says. */
  place?: { to: string; label: string };
}

// The server says which campaigns are blocked, not which issue blocks them.
const blocking = new Set<Issue["code"]>(["no_creative_ready", "budget_exhausted"]);

const pages: [string, string][] = [
  ["aud_", "/audiences/"],
  ["crv_", "/creative/"],
  ["con_", "/connections/"],
];

/** The issues to show. That no platform is connected is a part of that no platform campaign is linked. */
export function issuesOf(c: Campaign): Issue[] {
  const { issues } = c.delivery;
  return issues.some((i) => i.code === "not_linked") ? issues.filter((i) => i.code !== "no_connection") : issues;
}

export function describe(i: Issue, c: Campaign): Described {
  if (i.code === "not_linked") return notLinked(c);
  const page = pages.find(([prefix]) => i.resource_id?.startsWith(prefix));
  const text = (t.issues as Record<string, { title: unknown; fix: string }>)[i.code];
  return {
    title: typeof text?.title === "string" ? text.title : i.message,
    fix: text?.fix ?? i.remediation,
    blocks: blocking.has(i.code),
    place: page ? { to: `${page[1]}${i.resource_id}`, label: t.delivery.open } : undefined,
  };
}

/** Where platform campaigns are linked: on the campaign's own connection if it has one. */
export function linkPage(c: Campaign): string {
  const id = c.external_refs[0]?.connection_id ?? c.connection_ids[0];
  return id ? `/connections/${id}?tab=links` : "/connections";
}

function notLinked(c: Campaign): Described {
  const running = c.status === "active";
  const live = c.external_refs.filter((r) => !running || r.enabled !== false || r.push === "pending");
  const place = { to: linkPage(c), label: t.delivery.link };
  if (live.length > 0) {
    const rest = c.channels.filter((channel) => !live.some((r) => r.channel === channel)).map(named);
    const channels = new Intl.ListFormat(locale, { type: "conjunction" }).format(rest);
    return {
      title: t.issues.not_linked_channels.title(channels),
      fix: t.issues.not_linked_channels.fix,
      blocks: false,
      place,
    };
  }
  if (c.external_refs.length > 0) {
    return {
      title: t.issues.not_linked_disabled.title,
      fix: t.issues.not_linked_disabled.fix,
      blocks: true,
      place: { to: linkPage(c), label: t.delivery.openConnection },
    };
  }
  return {
    title: t.issues.not_linked.title,
    fix: t.issues.not_linked.fix,
    blocks: true,
    place,
  };
}
