// Google's own SDK for GA4 against the sandbox. It asks for what our client asks
// for, in the same order; what only the sandbox is to show comes after the mark.
import assert from 'node:assert/strict';
import { BetaAnalyticsDataClient } from '@google-analytics/data';
import { answer, control, fails, grant, intent } from './sandbox.mjs';

const client = new BetaAnalyticsDataClient({
  fallback: true, // REST in place of gRPC
  credentials: { type: 'authorized_user', client_id: 'sandbox-app', client_secret: 'sandbox-secret', refresh_token: grant.refresh_token },
});
const named = (names) => names.map((name) => ({ name }));
const once = { retry: { retryCodes: [] } };
const ask = (report, more = {}) =>
  client.runReport(
    {
      property: `properties/${grant.account_id}`,
      dimensions: named(report.dimensions),
      metrics: named(['keyEvents', 'totalRevenue']),
      dateRanges: [{ startDate: report.start, endDate: report.end }],
      orderBys: report.dimensions.map((dimensionName) => ({ dimension: { dimensionName } })),
      limit: 100000,
      returnPropertyQuota: true,
      ...more,
    },
    once,
  );

const events = [];
for (const report of intent.reports) {
  const [got] = await ask(report);
  assert.equal(got.rows.length, got.rowCount);
  assert.ok(got.rowCount > 0);
  assert.deepEqual(got.dimensionHeaders.map((h) => h.name), report.dimensions);
  assert.deepEqual(got.metricHeaders.map((h) => h.type), ['TYPE_FLOAT', 'TYPE_CURRENCY']);
  assert.equal(got.metadata.currencyCode, 'EUR');
  assert.equal(got.metadata.timeZone, 'Europe/Berlin');
  assert.ok(got.propertyQuota.tokensPerHour.remaining > 0);
  assert.match(got.rows[0].metricValues[1].value, /^\d+(\.\d+)?$/);
  events.push(got.rows.reduce((sum, row) => sum + Number(row.metricValues[0].value), 0));
}
const { data } = await control('GET', 'journal');
const asked = data.length;

// Pages make up the whole.
const report = intent.reports.at(-1);
const [whole] = await ask(report);
const rows = [];
for (let offset = 0; offset < whole.rowCount; offset += 50) {
  const [page] = await ask(report, { limit: 50, offset });
  assert.equal(page.rowCount, whole.rowCount);
  rows.push(...page.rows);
}
assert.deepEqual(rows, whole.rows);

// Failures come back as such, with what the platform said.
const failing = async (fault, code, word) => {
  await fails('ga4', fault, ':runReport');
  await assert.rejects(ask(report), (e) => {
    assert.equal(Number(e.code), code, `${fault}: ${e}`);
    assert.match(e.message, new RegExp(word));
    return true;
  });
};
await failing('throttle', 429, 'RESOURCE_EXHAUSTED');
await failing('expired_token', 401, 'UNAUTHENTICATED');
await failing('too_large', 504, 'DEADLINE_EXCEEDED');
await failing('account_disabled', 403, 'PERMISSION_DENIED');
await assert.rejects(ask({ ...report, dimensions: ['campaign'] }), (e) => Number(e.code) === 400);

answer({ asked, events });
