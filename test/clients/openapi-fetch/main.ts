// Creates campaigns, launches one, sends numbers, queries them and pages
// through the campaigns, with types that openapi-typescript generated.
import createClient from "openapi-fetch";
import type { paths } from "./fanfare.gen.js";

const client = createClient<paths, "application/json">({
  baseUrl: process.env.FANFARE_URL,
  headers: { Authorization: `Bearer ${process.env.FANFARE_API_KEY}` },
});

/** What was answered; an error throws with the message of the server. */
function ok<T>(res: { data?: T; error?: { error: { message: string } } | undefined }): T {
  if (res.data === undefined) throw new Error(res.error?.error.message ?? "no answer");
  return res.data;
}

const created = [];
for (let i = 0; i < 3; i++) {
  const { data } = ok(
    await client.POST("/v1/campaigns", {
      params: { header: { "Idempotency-Key": `openapi-fetch-${i}` } },
      body: {
        name: `openapi-fetch ${i}`,
        channels: ["search"],
        budget: { type: "daily", amount: "150.00", currency: "EUR" },
      },
    }),
  );
  created.push(data);
}
const first = created[0];
if (!first) throw new Error("no campaign was created");

const launched = ok(await client.POST("/v1/campaigns/{id}/launch", { params: { path: { id: first.id } } }));

ok(
  await client.POST("/v1/ingest/metrics", {
    params: { query: { source: "openapi-fetch", currency: "EUR" } },
    body: [{ date: "2026-11-01", campaign_id: first.id, clicks: 7, spend: "12345678.25" }],
  }),
);

const answer = ok(
  await client.POST("/v1/analytics/query", {
    body: {
      metrics: ["spend", "clicks"],
      dimensions: ["campaign_id"],
      date_range: { start_date: "2026-11-01", end_date: "2026-11-02" },
      currency: "EUR",
    },
  }),
);

const names: string[] = [];
let cursor: string | undefined;
do {
  const page = ok(await client.GET("/v1/campaigns", { params: { query: { limit: 2, order: "asc", cursor } } }));
  names.push(...page.data.map((c) => c.name));
  cursor = page.next_cursor ?? undefined;
} while (cursor);

const row = answer.data[0];
console.log(
  JSON.stringify({
    status: launched.data.status,
    amount: launched.data.budget?.amount,
    linked: row?.dimensions.campaign_id === first.id,
    clicks: row?.metrics.clicks,
    spend: row?.metrics.spend,
    names,
  }),
);
