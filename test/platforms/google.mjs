// The client library for Google Ads that is used most, against the sandbox. It
// asks for what our client asks for, in the same order; what only the sandbox
// is to show comes after the mark. What the library does over gRPC alone is
// checked against Google's own description of its API, and so is every answer.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { GoogleAdsApi, errors } from 'google-ads-api';
import { answer, control, fails, grant, intent } from './sandbox.mjs';

const require = createRequire(import.meta.url);
const { protobuf } = require('google-gax');
const described = protobuf.Root.fromJSON(require('google-ads-node/build/protos/protos.json'));
described.resolveAll();
const services = 'google.ads.googleads.v24.services.';
const line = described.lookupType(`${services}GoogleAdsRow`);

// wellFormed sees that a value is written as the description of its field has
// it in JSON.
const wellFormed = (field, value, path) => {
  if (field.repeated && Array.isArray(value)) {
    value.forEach((one, i) => plain(field, one, `${path}[${i}]`));
  } else {
    plain(field, value, path);
  }
};
const plain = (field, value, path) => {
  const type = field.resolvedType;
  if (field.type === 'google.protobuf.FieldMask' || type?.fullName === '.google.protobuf.FieldMask') {
    assert.equal(typeof value, 'string', path);
  } else if (type instanceof protobuf.Enum) {
    assert.ok(value in type.values, `${path}: ${type.name} has no ${value}`);
  } else if (type instanceof protobuf.Type) {
    object(type, value, path);
  } else {
    const kind = { bool: 'boolean', double: 'number', float: 'number', int32: 'number' }[field.type] ?? 'string';
    assert.equal(typeof value, kind, `${path} is a ${field.type}`);
  }
};
const object = (type, value, path = type.name) => {
  assert.equal(typeof value, 'object', path);
  for (const [name, inner] of Object.entries(value)) {
    assert.match(name, /^[a-z][A-Za-z0-9]*$/, path);
    const field = type.fields[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
    assert.ok(field, `${path}: ${type.name} has no ${name}`);
    wellFormed(field, inner, `${path}.${name}`);
  }
};

// selectable sees that the fields of a query are there to be selected.
const selectable = (query) => {
  const fields = query.match(/^SELECT (.*?) FROM /s)[1].split(',');
  for (const field of fields) {
    let type = line;
    for (const name of field.trim().split('.')) {
      assert.ok(type?.fields[name], `${field}: there is no ${name}`);
      type = type.fields[name].resolvedType;
    }
  }
};

// ruled sees that a call is one that a method of Google's has a rule for.
const ruled = (call, service, method, request) => {
  const { get, post } = described.lookupService(services + service).methods[method].parsedOptions.find((o) => o['(google.api.http)'])['(google.api.http)'];
  const rule = new RegExp(`^${(get ?? post).replace(/\{\w+=\*\}/g, '\\d+').replace(/^\/v\d+/, '/v\\d+')}$`);
  assert.equal(call.method, get ? 'GET' : 'POST');
  assert.match(call.path, rule);
  if (post) {
    object(described.lookupType(services + request), call.body);
  }
};

intent.queries.forEach(selectable);
ruled(intent.list, 'CustomerService', 'ListAccessibleCustomers');
ruled(intent.mutate, 'CampaignService', 'MutateCampaigns', 'MutateCampaignsRequest');
// The check can fail.
assert.throws(() => selectable('SELECT metrics.video_views FROM campaign'));
assert.throws(() => ruled({ ...intent.mutate, body: { operations: [{ update: { status: 'STOPPED' } }] } }, 'CampaignService', 'MutateCampaigns', 'MutateCampaignsRequest'));

const api = new GoogleAdsApi({ client_id: 'sandbox-app', client_secret: 'sandbox-secret', developer_token: 'none' });
const options = { customer_id: grant.account_id, refresh_token: grant.refresh_token };
const customer = api.Customer(options);

const impressions = [];
for (const report of intent.reports) {
  const rows = await customer.report(report);
  assert.ok(rows.length > 0, report.entity);
  if (report.metrics) {
    impressions.push(rows.reduce((sum, row) => sum + Number(row.metrics.impressions), 0));
  }
}
const { data } = await control('GET', 'journal');
const asked = data.length;

// The answers as they came, and by the other ways of asking.
const raw = new GoogleAdsApi({ client_id: 'sandbox-app', client_secret: 'sandbox-secret', developer_token: 'none', disable_parsing: true }).Customer(options);
for (const query of intent.queries) {
  const rows = await raw.query(query);
  rows.forEach((row) => object(line, row));
  const streamed = [];
  for await (const row of raw.queryStream(query)) {
    streamed.push(row);
  }
  assert.deepEqual(streamed, rows);
  const paged = await raw.query(query, { search_settings: { return_total_results_count: true } });
  assert.deepEqual(paged, rows);
}

// Failures come back as what the library knows them by: numbers of enums such as
// QuotaErrorEnum.QuotaError.
const known = (e, kind, code) => {
  assert.ok(e instanceof errors.GoogleAdsFailure, `${code}: ${e}`);
  const name = kind.replace(/(^|_)(.)/g, (_, __, letter) => letter.toUpperCase());
  const number = errors[`${name}Enum`][name][code];
  assert.ok(number > 1, code);
  assert.equal(e.errors[0].error_code[kind], number, code);
  return true;
};
const failing = async (fault, kind, code) => {
  await fails('google_ads', fault, 'googleAds:');
  await assert.rejects(customer.query('SELECT campaign.id, metrics.clicks FROM campaign'), (e) => known(e, kind, code));
};
await failing('throttle', 'quota_error', 'RESOURCE_EXHAUSTED');
await failing('expired_token', 'authentication_error', 'OAUTH_TOKEN_EXPIRED');
await failing('too_large', 'query_error', 'DATE_RANGE_TOO_WIDE');
await failing('version_sunset', 'request_error', 'UNSUPPORTED_VERSION');
await failing('account_disabled', 'authorization_error', 'CUSTOMER_NOT_ENABLED');
await assert.rejects(customer.query('SELECT campaign.nme FROM campaign'), (e) => known(e, 'query_error', 'UNRECOGNIZED_FIELD'));

answer({ asked, impressions });
