// LinkedIn's own SDK against the sandbox. It asks for what our client asks
// for, in the same order; what only the sandbox is to show comes after the
// mark.
import assert from 'node:assert/strict';
import sdk from 'linkedin-api-client';
import { answer, control, fails, grant, intent } from './sandbox.mjs';

const client = new sdk.RestliClient();
const with_token = { accessToken: grant.access_token, versionString: intent.version };
const find = (resourcePath, finderName, queryParams, pathKeys = {}) =>
  client.finder({ resourcePath, finderName, queryParams, pathKeys, ...with_token }).then((response) => response.data.elements);

const accounts = await find('/adAccounts', 'search', { search: { status: { values: ['ACTIVE', 'CANCELED', 'PENDING_DELETION', 'REMOVED'] } }, pageSize: 1000 });
const account = String(accounts[0].id);
const states = ['ACTIVE', 'PAUSED', 'ARCHIVED', 'CANCELED', 'DRAFT', 'PENDING_DELETION', 'REMOVED'];
const campaigns = await find('/adAccounts/{account}/adCampaigns', 'search', { search: { status: { values: [...states, 'COMPLETED'] } }, pageSize: 1000 }, { account });
const creatives = await find('/adAccounts/{account}/creatives', 'criteria', { intendedStatuses: states, pageSize: 100 }, { account });
const segments = await find('/adSegments', 'accounts', { accounts: [`urn:li:sponsoredAccount:${account}`], start: 0, count: 100 });

const urns = campaigns.map((c) => `urn:li:sponsoredCampaign:${c.id}`);
const day = (text) => {
  const [year, month, of] = text.split('-').map(Number);
  return { year, month, day: of };
};
const analytics = (cut, facet) =>
  find('/adAnalytics', cut.pivots.length > 1 ? 'statistics' : 'analytics', {
    ...(cut.pivots.length > 1 ? { pivots: cut.pivots } : { pivot: { value: cut.pivots[0] } }),
    timeGranularity: { value: 'DAILY' }, dateRange: { start: day(intent.first), end: day(intent.last) }, ...facet, fields: cut.fields.join(','),
  });
const whole_account = { accounts: [`urn:li:sponsoredAccount:${account}`] };
const impressions = [];
for (const cut of intent.levels) {
  impressions.push((await analytics(cut, whole_account)).reduce((n, row) => n + row.impressions, 0));
}

const one = { resourcePath: '/adAccounts/{account}/adCampaigns/{id}', pathKeys: { account, id: String(campaigns[0].id) }, ...with_token };
assert.equal((await client.partialUpdate({ ...one, patchSetObject: { status: 'PAUSED' } })).status, 204);
const paused = (await client.get(one)).data;

const auth = new sdk.AuthClient({ clientId: intent.app, clientSecret: intent.secret, redirectUrl: 'https://fanfare.test/back' });
const refreshed = await auth.exchangeRefreshTokenForAccessToken(grant.refresh_token);
assert.ok(refreshed.access_token && refreshed.expires_in > 0 && refreshed.refresh_token_expires_in > 0);

const asked = (await control('GET', 'journal')).data.length;

// Errors as the SDK shows them.
const refused = (status, code) => (e) => e.response.status === status && e.response.data.code === code;
const whole = () => analytics(intent.levels[0], whole_account);
await fails('linkedin_ads', 'throttle');
await assert.rejects(whole(), refused(429, 'TOO_MANY_REQUESTS'));
await fails('linkedin_ads', 'expired_token');
await assert.rejects(whole(), refused(401, 'EXPIRED_ACCESS_TOKEN'));
await fails('linkedin_ads', 'version_sunset');
await assert.rejects(whole(), refused(426, 'NONEXISTENT_VERSION'));
// What is not known is not there, and amounts are text.
const [row] = await whole();
assert.ok(!('approximateMemberReach' in row) && typeof row.costInLocalCurrency === 'string');
// A query that is too long goes through a tunnel: the SDK makes it the body.
const cut = intent.levels[1];
const tunnelled = await analytics(cut, { campaigns: Array.from({ length: 100 }, () => urns).flat().slice(0, 100) });
assert.deepEqual(tunnelled, await analytics(cut, { campaigns: urns }));

answer({ accounts, campaigns, creatives, segments, impressions, paused, asked });
