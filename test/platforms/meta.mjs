// Meta's own SDK against the sandbox. It asks for what our client asks for, in
// the same order; what only the sandbox is to show comes after the mark.
import assert from 'node:assert/strict';
import sdk from 'facebook-nodejs-business-sdk';
import { answer, control, fails, grant, intent } from './sandbox.mjs';

const { AdAccount, AdReportRun, Campaign, FacebookAdsApi, User } = sdk;
FacebookAdsApi.init(grant.access_token, 'en_US', false);

const limit = 500;

// rest reads what is behind the first page.
const rest = async (cursor) => {
  const all = [...cursor];
  while (cursor.hasNext()) {
    cursor = await cursor.next();
    all.push(...cursor);
  }
  return all.map((object) => object._data);
};

// Reports have deleted objects only if their status is named. Lists have
// archived ones then, and refuse deleted ones.
const statuses = {
  campaign: ['ACTIVE', 'ARCHIVED', 'DELETED', 'IN_PROCESS', 'PAUSED', 'WITH_ISSUES'],
  adset: ['ACTIVE', 'ARCHIVED', 'CAMPAIGN_PAUSED', 'DELETED', 'IN_PROCESS', 'PAUSED', 'WITH_ISSUES'],
  ad: ['ACTIVE', 'ADSET_PAUSED', 'ARCHIVED', 'CAMPAIGN_PAUSED', 'DELETED', 'DISAPPROVED', 'IN_PROCESS', 'PAUSED', 'PENDING_BILLING_INFO',
    'PENDING_REVIEW', 'PREAPPROVED', 'WITH_ISSUES'],
};
const listed = (level) => ({ limit, effective_status: statuses[level].filter((status) => status !== 'DELETED') });

const accounts = await rest(await new User('me').getAdAccounts(['account_id', 'name', 'account_status', 'currency', 'timezone_name', 'user_tasks'], { limit }));
const account = new AdAccount(`act_${accounts[0].account_id}`);
const campaigns = await rest(await account.getCampaigns(['id', 'name', 'status', 'effective_status'], listed('campaign')));
const groups = await rest(await account.getAdSets(['id', 'targeting', 'optimization_goal', 'promoted_object'], listed('adset')));
const ads = await rest(await account.getAds(['id', 'name', 'status', 'effective_status', 'creative{object_story_spec{link_data{link}}}'], listed('ad')));
const audiences = await rest(await account.getCustomAudiences(['id', 'name', 'approximate_count_lower_bound'], { limit }));

const question = (level) => ({
  level: level.level,
  time_increment: 1,
  time_range: { since: intent.first, until: intent.last },
  summary: ['impressions'],
  ...(statuses[level.level] && { filtering: [{ field: `${level.level}.effective_status`, operator: 'IN', value: statuses[level.level] }] }),
  ...(level.breakdowns && { breakdowns: level.breakdowns }),
});
const sum = (rows) => rows.reduce((total, row) => total + Number(row.impressions), 0);
const impressions = [];
for (const level of intent.levels) {
  const rows = await rest(await account.getInsights(level.fields, { ...question(level), limit }));
  impressions.push(sum(rows));
}

// A report that is too large is made in the background.
const large = intent.levels.at(-1);
await fails('meta_ads', 'too_large');
await assert.rejects(account.getInsights(large.fields, { ...question(large), limit }), (e) => e.status === 500 && /reduce the amount/.test(e.message));
const run = await account.getInsightsAsync(large.fields, question(large));
assert.ok(run instanceof AdReportRun);
await fails('meta_ads', 'async_stuck');
const states = [];
do {
  states.push((await run.get(['async_status', 'async_percent_completion', 'error_code', 'error_subcode', 'error_user_msg'])).async_status);
} while (states.at(-1) === 'Job Running');
assert.deepEqual(states, ['Job Running', 'Job Completed']);
impressions.push(sum(await rest(await run.getInsights([], { summary: ['impressions'], limit }))));

const campaign = new Campaign(campaigns[0].id);
assert.equal((await campaign.update([], { status: 'PAUSED' })).success, true);
const paused = (await campaign.get(['id', 'status', 'effective_status']))._data;

const asked = (await control('GET', 'journal')).data.length;

// What comes from here on is not compared: how the SDK understands what goes
// wrong, and smaller pages.
await fails('meta_ads', 'throttle');
await assert.rejects(
  account.getCampaigns(['id']),
  (e) => e.name === 'FacebookRequestError' && e.status === 400 && e.response.code === 80000 && 'x-business-use-case-usage' in e.headers,
);
for (const [fault, code, subcode] of [['expired_token', 190, 463], ['revoked_token', 190, 458], ['version_sunset', 2635], ['account_disabled', 200]]) {
  await fails('meta_ads', fault);
  await assert.rejects(account.getCampaigns(['id']), (e) => e.response.code === code && e.response.error_subcode === subcode);
}
await assert.rejects(account.getInsights(['no_such_field'], question(large)), (e) => e.response.code === 100);
await assert.rejects(new Campaign('404').get(['id']), (e) => e.response.code === 100 && e.response.error_subcode === 33);

const byCampaign = { level: 'campaign', fields: ['campaign_id', 'impressions'] };
const small = await account.getInsights(byCampaign.fields, { ...question(byCampaign), limit: 7 });
assert.equal(small.length, 7);
const paged = await rest(small);
const whole = await rest(await account.getInsights(byCampaign.fields, { ...question(byCampaign), limit: 5000 }));
assert.deepEqual(paged, whole);

answer({ accounts, campaigns, groups, ads, audiences, impressions, paused, asked });
