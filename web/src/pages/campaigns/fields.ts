// A campaign as a form holds it, and back.
import { parseAbsolute, parseDateTime, toCalendarDateTime, toZoned } from "@internationalized/date";
import type { Schemas } from "../../api/client";
import type { Campaign } from "./data";

/** What a form holds. Everything is text or a list of ids; "none" stands for nothing chosen. */
export interface Fields {
  name: string;
  description: string;
  objective: string;
  channels: string[];
  budgetType: string;
  amount: string;
  currency: string;
  pacing: string;
  dailyCap: string;
  start: string;
  end: string;
  timezone: string;
  audiences: string[];
  excluded: string[];
  creatives: string[];
  connections: string[];
  goalMetric: string;
  goalTarget: string;
  goalDirection: string;
  landingUrl: string;
  tags: string;
}

export function blank(currency: string, timezone: string): Fields {
  return {
    name: "",
    description: "",
    objective: "none",
    channels: [],
    budgetType: "none",
    amount: "",
    currency,
    pacing: "even",
    dailyCap: "",
    start: "",
    end: "",
    timezone,
    audiences: [],
    excluded: [],
    creatives: [],
    connections: [],
    goalMetric: "none",
    goalTarget: "",
    goalDirection: "at_most",
    landingUrl: "",
    tags: "",
  };
}

/** An instant as a date and time field shows it in a zone. */
function local(instant: string | null, zone: string): string {
  return instant ? toCalendarDateTime(parseAbsolute(instant, zone)).toString().slice(0, 16) : "";
}

/** The instant that a date and time field means; what cannot be read goes as it is, so that the server says so. */
function absolute(text: string, zone: string): string | null {
  if (!text) return null;
  try {
    return toZoned(parseDateTime(text), zone).toAbsoluteString();
  } catch {
    return text;
  }
}

export function fieldsOf(c: Campaign, currency: string): Fields {
  const zone = c.schedule.timezone;
  return {
    name: c.name,
    description: c.description ?? "",
    objective: c.objective ?? "none",
    channels: c.channels,
    budgetType: c.budget?.type ?? "none",
    amount: c.budget?.amount ?? "",
    currency: c.budget?.currency ?? currency,
    pacing: c.budget?.pacing ?? "even",
    dailyCap: c.budget?.daily_cap ?? "",
    start: local(c.schedule.start_at, zone),
    end: local(c.schedule.end_at, zone),
    timezone: zone,
    audiences: c.audience_ids,
    excluded: c.excluded_audience_ids,
    creatives: c.creative_ids,
    connections: c.connection_ids,
    goalMetric: c.goal?.metric ?? "none",
    goalTarget: c.goal ? String(c.goal.target) : "",
    goalDirection: c.goal?.direction ?? "at_most",
    landingUrl: c.tracking?.landing_url ?? "",
    tags: c.tags.join(", "),
  };
}

type Body = Record<string, unknown>;

function bodyOf(f: Fields): Body {
  return {
    name: f.name,
    description: f.description || null,
    objective: f.objective === "none" ? null : f.objective,
    channels: f.channels,
    budget:
      f.budgetType === "none"
        ? null
        : {
            type: f.budgetType,
            amount: f.amount,
            currency: f.currency,
            pacing: f.pacing,
            daily_cap: f.dailyCap || null,
          },
    schedule: {
      start_at: absolute(f.start, f.timezone),
      end_at: absolute(f.end, f.timezone),
      timezone: f.timezone,
    },
    audience_ids: f.audiences,
    excluded_audience_ids: f.excluded,
    creative_ids: f.creatives,
    connection_ids: f.connections,
    goal:
      f.goalMetric === "none"
        ? null
        : { metric: f.goalMetric, target: Number(f.goalTarget), direction: f.goalDirection },
    // The form shows the landing page alone; UTM parameters stay as they are.
    tracking: { landing_url: f.landingUrl || null },
    tags: f.tags
      .split(",")
      .map((t) => t.trim())
      .filter(Boolean),
  };
}

const isBody = (v: unknown): v is Body => typeof v === "object" && v !== null && !Array.isArray(v);

/** The members of now that are not as they were; objects are compared member by member. */
function difference(was: Body, now: Body): Body {
  const out: Body = {};
  for (const [name, value] of Object.entries(now)) {
    const old = was[name];
    if (JSON.stringify(old) === JSON.stringify(value)) continue;
    out[name] = isBody(old) && isBody(value) ? difference(old, value) : value;
  }
  return out;
}

/** A new campaign: what was left as the form begins is left out. */
export function createBody(f: Fields, workspace: { currency: string; timezone: string }): Schemas["CampaignCreate"] {
  const nothing = bodyOf(blank(workspace.currency, workspace.timezone));
  return { ...difference(nothing, bodyOf(f)), name: f.name } as Schemas["CampaignCreate"];
}

/** What was changed, and nothing else: a start that has passed must not be sent again. */
export function patchBody(was: Fields, now: Fields): Schemas["CampaignPatch"] {
  return difference(bodyOf(was), bodyOf(now)) as Schemas["CampaignPatch"];
}

/** The message about a field, or about anything inside it. */
export function errorAt(errors: Record<string, string>, field: string): string | undefined {
  const at = Object.keys(errors).find((k) => k === field || k.startsWith(`${field}.`) || k.startsWith(`${field}[`));
  return at ? errors[at] : undefined;
}
