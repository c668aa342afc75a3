// TikTok's own SDK against the sandbox. It asks for what our client asks for,
// in the same order; what only the sandbox is to show comes after the mark.
import assert from 'node:assert/strict';
import { AccountManagementApi, AdApi, AdgroupApi, AudienceApi, AuthenticationApi, CampaignCreationApi, ReportingApi } from 'tiktok-business-api-sdk-official';
import { answer, control, fails, grant, intent } from './sandbox.mjs';

const token = grant.access_token;

// ask calls a method of the SDK, which takes a callback.
const ask = (api, method, ...args) =>
  new Promise((done, failed) => api[method](...args, (error, data) => (error ? failed(error) : done(data.data))));

// rest reads a list to its end.
const rest = async (page) => {
  const all = [];
  for (let n = 1, pages = 1; n <= pages; n++) {
    const data = await page(n);
    all.push(...data.list);
    pages = data.page_info.total_page;
  }
  return all;
};

const granted = await ask(new AuthenticationApi(), 'oauth2AdvertiserGet', intent.app, intent.secret, token);
const accounts = await ask(new AccountManagementApi(), 'advertiserInfo', granted.list.map((a) => a.advertiser_id), token, {
  fields: ['advertiser_id', 'name', 'currency', 'timezone', 'display_timezone', 'status'],
});
const account = accounts.list[0].advertiser_id;
const list = (api, method, fields, page_size, filtering) =>
  rest((page) => ask(api, method, account, token, { page, page_size, ...(fields && { fields }), ...(filtering && { filtering }) }));
// What lists leave out by themselves is asked for: deleted objects, TopView ads and promoted posts.
const everything = async (api, method, fields, secondary_status) => {
  const all = [];
  for (const filter of [{}, { buying_types: ['RESERVATION_TOP_VIEW'] }, { campaign_system_origins: ['PROMOTE'] }]) {
    all.push(...(await list(api, method, fields, 1000, { ...filter, secondary_status })));
  }
  return all;
};
const campaignFields = ['campaign_id', 'campaign_name', 'operation_status', 'secondary_status'];
const campaigns = await everything(new CampaignCreationApi(), 'campaignGet', campaignFields, 'CAMPAIGN_STATUS_ALL');
const groups = await list(new AdgroupApi(), 'adgroupGet', ['adgroup_id', 'audience_ids'], 1000, { secondary_status: 'ADGROUP_STATUS_ALL' });
const ads = await everything(new AdApi(), 'adGet', ['ad_id', 'ad_name', 'operation_status', 'secondary_status', 'landing_page_url'], 'AD_STATUS_ALL');
const audiences = await list(new AudienceApi(), 'dmpCustomAudienceList', undefined, 100);

const only = (field_name, ...values) => ({ field_name, filter_type: 'IN', filter_value: JSON.stringify(values) });
const promoted = [only('campaign_system_origins', 'PROMOTE')];
const parts = (cut) =>
  cut.data_level === 'AUCTION_ADVERTISER' ? [[], promoted] : [[only('buying_type', 'AUCTION', 'RESERVATION_RF')], [only('buying_type', 'RESERVATION_TOP_VIEW')], promoted];
const report = (cut, page, page_size = 1000, part = []) => {
  const filtering = cut.status ? [...part, only(cut.status, 'STATUS_ALL')] : part;
  return ask(new ReportingApi(), 'reportIntegratedGet', cut.report_type, token, {
    advertiser_id: account, service_type: 'AUCTION', data_level: cut.data_level, dimensions: cut.dimensions, metrics: cut.metrics,
    start_date: intent.first, end_date: intent.last, page, page_size,
    ...(filtering.length > 0 && { filtering }), ...(cut.report_type === 'BASIC' && { enable_total_metrics: true }),
  });
};
const gmvMax = { report_type: 'TT_SHOP', data_level: 'AUCTION_ADVERTISER', dimensions: ['advertiser_id', 'stat_time_day'], metrics: ['spend'] };
const impressions = [];
for (const cut of intent.levels) {
  const rows = [];
  for (const part of parts(cut)) {
    rows.push(...(await rest((page) => report(cut, page, 1000, part))));
  }
  impressions.push(rows.reduce((sum, row) => sum + Number(row.metrics.impressions), 0));
  if (cut.data_level === 'AUCTION_CAMPAIGN') {
    await rest((page) => report(gmvMax, page));
  }
}

const api = new CampaignCreationApi();
const campaign = campaigns[0].campaign_id;
await ask(api, 'campaignStatusUpdate', token, { body: { advertiser_id: account, campaign_ids: [campaign], operation_status: 'DISABLE' } });
const paused = await ask(api, 'campaignGet', account, token, {
  filtering: { campaign_ids: [campaign] }, fields: campaignFields,
});

const asked = (await control('GET', 'journal')).data.length;

// Errors come with the status of success, and the SDK sees them all the same.
await fails('tiktok_ads', 'throttle');
await assert.rejects(report(intent.levels[0], 1), /code: 40100/);
await fails('tiktok_ads', 'revoked_token');
await assert.rejects(report(intent.levels[0], 1), /code: 40105/);
await fails('tiktok_ads', 'too_large');
await assert.rejects(report(intent.levels[0], 1), /code: 40067/);
// What is not known is a dash; short pages follow each other.
const whole = await report(intent.levels[0], 1);
assert.equal(whole.list[0].metrics.reach, '-');
const pages = [1, 2, 3].map((page) => report(intent.levels[0], page, 10));
assert.deepEqual((await Promise.all(pages)).flatMap((page) => page.list), whole.list.slice(0, 30));

answer({ accounts: accounts.list, campaigns, groups, ads, audiences, impressions, paused: paused.list[0], asked });
