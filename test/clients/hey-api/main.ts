// Creates campaigns, launches one, sends numbers, queries them and pages
// through the campaigns, with a client that @hey-api/openapi-ts generated.
import { client } from "./fanfare/client.gen.js";
import { createCampaign, ingestMetrics, launchCampaign, listCampaigns, queryAnalytics } from "./fanfare/sdk.gen.js";

client.setConfig({
  baseUrl: process.env.FANFARE_URL as `https://${string}`,
  auth: () => process.env.FANFARE_API_KEY,
  throwOnError: true,
});
const throwOnError = true;

const created = [];
for (let i = 0; i < 3; i++) {
  const { data } = await createCampaign({
    throwOnError,
    headers: { "Idempotency-Key": `hey-api-${i}` },
    body: {
      name: `hey-api ${i}`,
      channels: ["search"],
      budget: { type: "daily", amount: "150.00", currency: "EUR" },
    },
  });
  created.push(data.data);
}
const first = created[0];
if (!first) throw new Error("no campaign was created");

const launched = await launchCampaign({ throwOnError, path: { id: first.id } });

await ingestMetrics({
  throwOnError,
  query: { source: "hey-api", currency: "EUR" },
  body: [{ date: "2026-11-01", campaign_id: first.id, clicks: 7, spend: "12345678.25" }],
});

const answer = await queryAnalytics({
  throwOnError,
  body: {
    metrics: ["spend", "clicks"],
    dimensions: ["campaign_id"],
    date_range: { start_date: "2026-11-01", end_date: "2026-11-02" },
    currency: "EUR",
  },
});
if (typeof answer.data === "string") throw new Error("the answer is not JSON");

const names: string[] = [];
let cursor: string | undefined;
do {
  const { data } = await listCampaigns({ throwOnError, query: { limit: 2, order: "asc", cursor } });
  names.push(...data.data.map((c) => c.name));
  cursor = data.next_cursor ?? undefined;
} while (cursor);

const row = answer.data.data[0];
console.log(
  JSON.stringify({
    status: launched.data.data.status,
    amount: launched.data.data.budget?.amount,
    linked: row?.dimensions.campaign_id === first.id,
    clicks: row?.metrics.clicks,
    spend: row?.metrics.spend,
    names,
  }),
);
