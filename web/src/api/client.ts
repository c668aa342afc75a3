// How the console calls the server. The public operations go through the mirror
// of /v1 for signed-in browsers, so every page uses what API users use.
import createClient, { type Middleware } from "openapi-fetch";
import { before } from "../lib/next";
import { errors } from "../text/errors";
import { explain, explainField } from "./explain";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

export interface Detail {
  field?: string;
  in?: string;
  code: string;
  message: string;
  meta?: Record<string, unknown>;
}

/** What the server says when it refuses; the message tells the fix. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Detail[],
    readonly requestId: string,
    /** Seconds until it is worth trying again, 0 where the server does not say. */
    readonly retryAfter = 0,
  ) {
    super(message);
    this.name = "Refusal";
  }

  /** Whether the server says so in a detail. */
  says(code: string): boolean {
    return this.code === code || this.details.some((d) => d.code === code);
  }

  /** Messages by field, for forms. */
  get fields(): Record<string, string> {
    return Object.fromEntries(this.details.filter((d) => d.field).map((d) => [d.field as string, d.message]));
  }
}

interface ErrorBody {
  error?: { code: string; message: string; details: Detail[]; request_id: string };
}

function refusal(status: number, body: ErrorBody | undefined, retryAfter?: string | null): Refusal {
  const e = body?.error;
  if (e) {
    const details = e.details.map((d) => (d.field ? { ...d, message: explainField(d) } : d));
    return new Refusal(
      status,
      e.code,
      explain(e.code, e.message, e.details),
      details,
      e.request_id,
      Number(retryAfter) || 0,
    );
  }
  return new Refusal(status, "unreachable", errors.unreachable, [], "");
}

let workspace = "";

/** Says which workspace this tab shows, so that the server can tell when another tab has switched. */
export function believeIn(id: string) {
  workspace = id;
}

/** Goes to sign-in, which leads back to this page. */
export function toSignIn() {
  location.assign(before("/sign-in"));
}

const here: Middleware = {
  onRequest({ request }) {
    if (workspace) request.headers.set("Fanfare-Workspace", workspace);
    // A request that changes something and breaks off may be sent again.
    if (request.method === "POST") request.headers.set("Idempotency-Key", crypto.randomUUID());
    return request;
  },
  onResponse({ response }) {
    if (response.status === 401) toSignIn();
    return undefined;
  },
};

const client = createClient<paths>({
  baseUrl: "/console",
  // Lists stand in one parameter with commas; the server refuses a parameter that is given twice.
  querySerializer: { array: { style: "form", explode: false } },
});
client.use(here);

/** The operations of /v1, typed from the contract. */
export const v1 = client;

/** Takes the body of an answer, or throws the refusal. */
export async function take<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  let a: { data?: T; error?: unknown; response: Response };
  try {
    a = await answer;
  } catch {
    throw refusal(0, undefined);
  }
  if (a.data === undefined || !a.response.ok) throw refusal(a.response.status, a.error as ErrorBody);
  return a.data;
}

/** Calls the console's own backend; see console.ts for what it answers. */
export async function own<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = {};
  if (workspace) headers["Fanfare-Workspace"] = workspace;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(`/console/api${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw refusal(0, undefined);
  }
  const answer = (await response.json().catch(() => undefined)) as ({ data: T } & ErrorBody) | undefined;
  if (!response.ok || !answer) {
    const r = refusal(response.status, answer, response.headers.get("Retry-After"));
    if (response.status === 401 && !path.startsWith("/session")) toSignIn();
    throw r;
  }
  return answer.data;
}
