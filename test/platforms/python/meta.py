"""Meta's own SDK against the sandbox, used as its documentation shows."""
from facebook_business.adobjects.ad import Ad
from facebook_business.adobjects.adaccount import AdAccount
from facebook_business.adobjects.adreportrun import AdReportRun
from facebook_business.adobjects.adset import AdSet
from facebook_business.adobjects.adsinsights import AdsInsights
from facebook_business.adobjects.campaign import Campaign
from facebook_business.adobjects.user import User
from facebook_business.api import FacebookAdsApi
from facebook_business.exceptions import FacebookRequestError

from sandbox import Totals, answer, fails, first, grant, intent, last, micros, refused

FacebookAdsApi.init(app_id=intent["app"], app_secret=intent["secret"], access_token=grant["access_token"])
totals = Totals()

# Accounts: without fields they have both ids.
mine = list(User(fbid="me").get_ad_accounts())
assert all(a["id"] == "act_" + a["account_id"] for a in mine), mine
account = AdAccount(f"act_{grant['account_id']}")
A = AdAccount.Field
account.api_get(fields=[A.name, A.currency, A.timezone_name, A.timezone_offset_hours_utc, A.account_status, A.amount_spent, A.balance, A.spend_cap,
                        A.created_time, A.business_name, A.business_country_code, A.age, A.min_daily_budget, A.timezone_id, A.owner])
assert account[A.currency] == "EUR" and account[A.timezone_name] == "Europe/Berlin" and account[A.timezone_id] > 0
assert account[A.timezone_offset_hours_utc] == 2 and int(account[A.amount_spent]) > 0 and account[A.balance].isdigit()

# Objects, in short pages that the SDK follows.
C = Campaign.Field
campaigns = list(account.get_campaigns(fields=[C.id, C.name, C.objective, C.status, C.effective_status, C.created_time, C.updated_time, C.start_time,
                                               C.buying_type, C.special_ad_categories, C.bid_strategy, C.daily_budget, C.budget_remaining],
                                       params={"limit": 2}))
assert len(campaigns) == len({c["id"] for c in campaigns}) > 2
for c in campaigns:
    assert c[C.created_time] <= c[C.updated_time] and c[C.buying_type] == "AUCTION" and c[C.special_ad_categories] == []
cursor = account.get_campaigns(fields=[C.id], params={"limit": 2, "summary": "total_count"})
assert cursor.total() == len(campaigns), cursor.total()
running = list(account.get_campaigns(fields=[C.id], params={"effective_status": [Campaign.EffectiveStatus.active]}))
assert 0 < len(running) <= len(campaigns)
adset = account.get_ad_sets(fields=[AdSet.Field.id, AdSet.Field.campaign_id, AdSet.Field.billing_event, AdSet.Field.targeting, AdSet.Field.updated_time])[0]
ads = list(Campaign(adset["campaign_id"]).get_ads(fields=[Ad.Field.id, Ad.Field.adset_id, Ad.Field.creative, Ad.Field.updated_time]))
assert adset["billing_event"] == "IMPRESSIONS" and any(ad["adset_id"] == adset["id"] for ad in ads)
changed = account.get_campaigns(fields=[C.id, C.updated_time], params={
    "filtering": [{"field": "campaign.updated_time", "operator": "GREATER_THAN", "value": 1}], "limit": 500})
assert len(list(changed)) == len(campaigns)

# Reports by day, with metrics and breakdowns of the SDK's enums.
F, B = AdsInsights.Field, AdsInsights.Breakdowns
metrics = {"impressions": lambda r: int(r[F.impressions]), "clicks": lambda r: int(r[F.clicks]), "spend_micros": lambda r: micros(r[F.spend])}
fields = [F.campaign_id, F.campaign_name, F.impressions, F.clicks, F.spend, F.ctr, F.cpc, F.cpm, F.frequency, F.reach, F.objective, F.account_currency,
          F.actions, F.action_values, F.cost_per_action_type, F.purchase_roas, F.unique_clicks, F.quality_ranking, F.optimization_goal, F.results]
days = {"time_range": {"since": first, "until": last}, "time_increment": 1, "limit": 200}


def insights(name, level, breakdowns=(), family="base", **more):
    rows = list(account.get_insights(fields=fields, params={**days, "level": level, "breakdowns": list(breakdowns), **more}))
    totals.add(name, rows, metrics, family)
    for row in rows:
        assert all(b in row for b in breakdowns), row
    return rows


def close(got, want):
    return abs(float(got) - want) < 1e-4


def everything(level, kind):
    """Asks for objects of all statuses. Reports leave deleted ones out otherwise."""
    statuses = [value for name, value in vars(kind.EffectiveStatus).items() if not name.startswith("_")]
    return {"filtering": [{"field": f"{level}.effective_status", "operator": "IN", "value": statuses}]}


deleted = everything("campaign", Campaign)
for row in insights("campaigns by day", "campaign", **deleted):
    if int(row[F.clicks]):
        assert close(row[F.cpc], float(row[F.spend]) / int(row[F.clicks])) and close(row[F.ctr], 100 * int(row[F.clicks]) / int(row[F.impressions])), row
    if F.reach in row and int(row[F.reach]):
        assert close(row[F.frequency], int(row[F.impressions]) / int(row[F.reach])), row
    if row.get(F.purchase_roas):
        value = next(a["value"] for a in row[F.action_values] if a["action_type"] == "omni_purchase")
        assert close(row[F.purchase_roas][0]["value"], float(value) / float(row[F.spend])), row
    for cost in row.get(F.cost_per_action_type, []):
        count = next(a["value"] for a in row[F.actions] if a["action_type"] == cost["action_type"])
        assert close(cost["value"], float(row[F.spend]) / float(count)), row
assert any(row.get(F.purchase_roas) for row in insights("account by day", "account"))
platforms = insights("by platform", "account", [B.publisher_platform, B.platform_position])
assert {r["publisher_platform"] for r in platforms} <= {"facebook", "instagram", "audience_network", "messenger", "threads", "unknown"}
assert len({r["publisher_platform"] for r in platforms}) > 1
regions = insights("by region", "account", [B.region])
assert len({r["region"] for r in regions}) > 1
insights("by country", "campaign", [B.country], "geo", **deleted)
insights("by age and gender", "account", [B.age, B.gender], "demographic")
hours = insights("by hour", "account", [B.hourly_stats_aggregated_by_advertiser_time_zone])
assert {h["hourly_stats_aggregated_by_advertiser_time_zone"] for h in hours} == {f"{h:02}:00:00 - {h:02}:59:59" for h in range(24)}
# The same days as several ranges, and as a preset.
ranges = list(account.get_insights(fields=fields, params={"level": "account", "time_ranges": [
    {"since": first, "until": intent["middle"]}, {"since": intent["after"], "until": last}]}))
assert [r["date_start"] for r in ranges] == [first, intent["after"]]
totals.add("several ranges", ranges, metrics)
month = account.get_insights(fields=fields, params={"date_preset": AdsInsights.DatePreset.last_30d})
assert len(month) == 1

# A report in the background.
job = account.get_insights_async(fields=fields, params={**days, "level": "ad", **everything("ad", Ad)})
fails("meta_ads", "async_stuck")
states = []
while not states or states[-1] != "Job Completed":
    job = job.api_get()
    states.append(job[AdReportRun.Field.async_status])
assert states == ["Job Running", "Job Completed"], states
assert job[AdReportRun.Field.async_percent_completion] == 100 and job[AdReportRun.Field.date_start] == first
# What deleted ad sets had is in the report by ad set, and not in the one by ad.
ads = list(job.get_result(params={"limit": 300}))
totals.add("ads in the background", ads, metrics, "ads")
listed = {s["id"] for s in account.get_ad_sets(fields=[AdSet.Field.id], params={"limit": 500})}
sets = list(account.get_insights(fields=fields + [F.adset_id], params={**days, "level": "adset", **everything("adset", AdSet), "limit": 1000}))
totals.add("ad sets by day", sets, metrics)
totals.add("ads and deleted ad sets", ads + [r for r in sets if r[F.adset_id] not in listed], metrics)

# A change and its state.
campaign = Campaign(running[0]["id"])
campaign.api_update(params={C.status: Campaign.Status.paused})
paused = campaign.api_get(fields=[C.status, C.effective_status, C.configured_status])
assert paused[C.status] == paused[C.effective_status] == Campaign.Status.paused, paused
campaign[C.status] = Campaign.Status.active
campaign.remote_update()
assert campaign.api_get(fields=[C.status])[C.status] == Campaign.Status.active

# Several calls in one.
batch = FacebookAdsApi.get_default_api().new_batch()
names = []
for c in campaigns[:3]:
    Campaign(c["id"]).api_get(fields=[C.name], batch=batch, success=lambda r: names.append(r.json()["name"]))
assert batch.execute() is None and names == [c[C.name] for c in campaigns[:3]], names

# Errors as the SDK shows them.
error = FacebookRequestError
with refused(error, lambda e: e.api_error_code() == 100 and "no_such_field" in e.api_error_message() and e.http_status() == 400):
    account.get_insights(fields=["no_such_field"])
with refused(error, lambda e: e.api_error_code() == 100 and "nonexisting field (nam)" in e.api_error_message()):
    list(account.get_campaigns(fields=["nam"]))
with refused(error, lambda e: e.api_error_code() == 100 and e.api_error_subcode() == 33):
    AdAccount("act_404").api_get(fields=[A.name])
fails("meta_ads", "throttle")
with refused(error, lambda e: e.api_error_code() == 80000 and not e.api_transient_error() and "x-business-use-case-usage" in {
        k.lower() for k in e.http_headers()}):
    list(account.get_campaigns(fields=[C.id]))
fails("meta_ads", "expired_token")
with refused(error, lambda e: e.api_error_code() == 190 and e.api_error_subcode() == 463 and e.api_error_type() == "OAuthException"):
    list(account.get_campaigns(fields=[C.id]))

answer(totals=totals.list, accounts=[a["account_id"] for a in mine])
