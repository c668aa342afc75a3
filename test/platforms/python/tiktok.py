"""TikTok's own SDK against the sandbox."""
from business_api_client import (
    AccountManagementApi, AdApi, AdgroupApi, ApiClient, AuthenticationApi, CampaignCreationApi, CampaignStatusUpdateBody, FilteringCampaignGet, ReportingApi)
from business_api_client.tiktok_business.tiktok_exceptions import TiktokSDKError

from sandbox import Totals, answer, fails, first, grant, intent, last, micros, refused

client = ApiClient()
token, account = grant["access_token"], grant["account_id"]
totals = Totals()


def pages(ask, **more):
    """Reads a list to its end."""
    rows, page = [], 1
    while True:
        data = ask(page=page, **more)["data"]
        rows += data["list"]
        if page >= data["page_info"]["total_page"]:
            assert len(rows) == data["page_info"]["total_number"]
            return rows
        page += 1


granted = AuthenticationApi(client).oauth2_advertiser_get(intent["app"], intent["secret"], token)["data"]["list"]
assert account in [a["advertiser_id"] for a in granted]
info = AccountManagementApi(client).advertiser_info([account], token)["data"]["list"][0]
assert info["currency"] == "EUR" and info["display_timezone"] == "Europe/Berlin" and info["status"] == "STATUS_ENABLE"

api = CampaignCreationApi(client)
campaigns = pages(lambda **k: api.campaign_get(account, token, **k), page_size=2)
assert len({c["campaign_id"] for c in campaigns}) == len(campaigns) > 2
some = api.campaign_get(account, token, fields=["campaign_id", "campaign_name", "budget", "budget_mode", "objective_type", "create_time", "rta_id"],
                        filtering=FilteringCampaignGet(campaign_ids=[campaigns[0]["campaign_id"]]))["data"]["list"]
assert len(some) == 1 and some[0]["budget"] > 0 and some[0]["rta_id"] is None, some
groups = pages(lambda **k: AdgroupApi(client).adgroup_get(account, token, **k), page_size=100)
ads = pages(lambda **k: AdApi(client).ad_get(account, token, **k), page_size=100)
assert {ad["adgroup_id"] for ad in ads} == {g["adgroup_id"] for g in groups}

reporting = ReportingApi(client)


def report(name, dimensions, metrics, family="base", kind="BASIC", level="AUCTION_CAMPAIGN", page_size=1000, part=False, **more):
    """Reads a report to its end."""
    def ask(**page):
        return reporting.report_integrated_get(kind, token, advertiser_id=account, service_type="AUCTION", data_level=level, dimensions=dimensions,
                                               metrics=metrics, start_date=first, end_date=last, page_size=page_size, **page, **more)
    rows = pages(ask)
    truth = {"impressions": lambda r: int(r["metrics"]["impressions"]), "clicks": lambda r: int(r["metrics"]["clicks"]),
             "spend_micros": lambda r: micros(r["metrics"]["spend"])}
    if "complete_payment" in metrics:
        truth["conversions_micros"] = lambda r: micros(r["metrics"]["complete_payment"])
        truth["revenue_micros"] = lambda r: micros(r["metrics"]["total_complete_payment_rate"])
    totals.add(name, rows, truth, family, part=part)
    return rows


basic = ["spend", "impressions", "clicks"]
rows = report("campaigns by day", ["campaign_id", "stat_time_day"], basic + [
    "campaign_name", "objective_type", "ctr", "cpc", "cpm", "reach", "frequency", "conversion", "cost_per_conversion", "conversion_rate", "complete_payment",
    "total_complete_payment_rate", "complete_payment_roas", "value_per_complete_payment", "video_play_actions", "video_watched_2s", "video_views_p25",
    "average_video_play", "likes", "comments", "shares", "follows", "profile_visits", "result", "cost_per_result", "result_rate", "skan_conversion"], page_size=50)
for row in rows:
    m = row["metrics"]
    assert m["campaign_name"] and m["objective_type"], row
    if int(m["clicks"]):
        assert abs(float(m["cpc"]) - float(m["spend"]) / int(m["clicks"])) <= 0.01 and abs(float(m["ctr"]) - 100 * int(m["clicks"]) / int(m["impressions"])) <= 0.01, m
    if float(m["spend"]):
        assert abs(float(m["complete_payment_roas"]) - float(m["total_complete_payment_rate"]) / float(m["spend"])) <= 0.01, m
# The total of a report is that of its pages.
data = reporting.report_integrated_get("BASIC", token, advertiser_id=account, service_type="AUCTION", data_level="AUCTION_ADVERTISER", dimensions=["advertiser_id"],
                                       metrics=basic, start_date=first, end_date=last, enable_total_metrics=True, page_size=1)["data"]
assert int(data["total_metrics"]["impressions"]) == sum(int(r["metrics"]["impressions"]) for r in rows), data
report("ads", ["ad_id"], basic + ["ad_name", "adgroup_id", "campaign_id", "ad_text"], level="AUCTION_AD", part=True)
report("ad groups by day", ["adgroup_id", "stat_time_day"], basic + ["adgroup_name"], level="AUCTION_ADGROUP", part=True)
report("by country", ["country_code", "stat_time_day"], basic, "geo", level="AUCTION_ADVERTISER")
report("by audience", ["campaign_id", "age", "gender"], basic, "demographic", "AUDIENCE")
report("by province", ["province_id"], basic, kind="AUDIENCE", level="AUCTION_ADVERTISER")
report("by platform", ["platform", "stat_time_day"], basic, "device", "AUDIENCE", "AUCTION_ADVERTISER")
hours = reporting.report_integrated_get("BASIC", token, advertiser_id=account, service_type="AUCTION", data_level="AUCTION_ADVERTISER",
                                        dimensions=["advertiser_id", "stat_time_hour"], metrics=basic, start_date=first, end_date=first, page_size=100)["data"]["list"]
assert {r["dimensions"]["stat_time_hour"] for r in hours} <= {f"{first} {h:02}:00:00" for h in range(24)} and len(hours) > 12
totals.add("hours of a day", hours, {"impressions": lambda r: int(r["metrics"]["impressions"]), "spend_micros": lambda r: micros(r["metrics"]["spend"])}, days=(first, first))

# A change and its state.
id = next(c["campaign_id"] for c in campaigns if c["operation_status"] == "ENABLE")
done = api.campaign_status_update(token, body=CampaignStatusUpdateBody(advertiser_id=account, campaign_ids=[id], operation_status="DISABLE"))["data"]
assert done["campaign_ids"] == [id]
paused = api.campaign_get(account, token, filtering=FilteringCampaignGet(campaign_ids=[id]))["data"]["list"][0]
assert paused["operation_status"] == "DISABLE" and paused["secondary_status"] == "CAMPAIGN_STATUS_DISABLE", paused


# Errors come with the status of success, and the SDK raises them.
def code(number, word=""):
    return lambda e: f"{number}" in str(e) and word in str(e)


with refused(TiktokSDKError, code(40002, "no_such_metric")):
    report("", ["campaign_id"], ["no_such_metric"])
with refused(TiktokSDKError, code(40002, "no_such_field")):
    api.campaign_get(account, token, fields=["no_such_field"])
with refused(TiktokSDKError, code(40001)):
    api.campaign_get("404", token)
for fault, number in (("throttle", 40100), ("revoked_token", 40105)):
    fails("tiktok_ads", fault)
    with refused(TiktokSDKError, code(number)):
        api.campaign_get(account, token)

answer(totals=totals.list, accounts=[a["advertiser_id"] for a in granted])
