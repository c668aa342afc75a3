"""LinkedIn's own SDK against the sandbox."""
from linkedin_api.clients.auth.client import AuthClient
from linkedin_api.clients.restli.client import RestliClient
from requests.exceptions import HTTPError

from sandbox import Totals, answer, fails, first, grant, intent, last, micros, refused


class Client:
    """LinkedIn's client, whose callers have to look at the status of answers."""

    def __getattr__(self, method):
        def call(**arguments):
            got = getattr(RestliClient(), method)(**arguments)
            got.response.raise_for_status()
            return got
        return call


client = Client()
access = {"access_token": grant["access_token"], "version_string": intent["version"]}
account = grant["account_id"]
urn = f"urn:li:sponsoredAccount:{account}"
totals = Totals()

# Accounts: those of the member, and by a search.
users = client.finder(resource_path="/adAccountUsers", finder_name="authenticatedUser", **access).elements
assert urn in [u["account"] for u in users] and users[0]["role"] and users[0]["user"].startswith("urn:li:person:")
accounts = client.finder(resource_path="/adAccounts", finder_name="search", query_params={"search": {"status": {"values": ["ACTIVE"]}}}, **access).elements
assert account in [str(a["id"]) for a in accounts]
mine = client.get(resource_path="/adAccounts/{id}", path_keys={"id": account}, **access).entity
assert mine["currency"] == "EUR" and mine["changeAuditStamps"]["created"]["time"] > 0

# Campaigns in pages, one by one, and several at once.
groups = client.finder(resource_path="/adAccounts/{account}/adCampaignGroups", finder_name="search", path_keys={"account": account},
                       query_params={"search": {"status": {"values": ["ACTIVE", "PAUSED"]}}}, **access).elements
campaigns, page = [], {"pageSize": 3}
while True:
    got = client.finder(resource_path="/adAccounts/{account}/adCampaigns", finder_name="search", path_keys={"account": account}, query_params={
        "search": {"status": {"values": ["ACTIVE", "PAUSED"]}}, "sortOrder": "DESCENDING", **page}, **access)
    campaigns += got.elements
    token = got.response.json().get("metadata", {}).get("nextPageToken")
    if not token:
        break
    page["pageToken"] = token
assert len({c["id"] for c in campaigns}) == len(campaigns) > 2
assert {c["campaignGroup"] for c in campaigns} == {f"urn:li:sponsoredCampaignGroup:{g['id']}" for g in groups}
path = {"resource_path": "/adAccounts/{account}/adCampaigns/{id}", "path_keys": {"account": account, "id": campaigns[0]["id"]}}
one = client.get(**path, **access).entity
assert one["costType"] and one["locale"]["language"] == "en" and one["runSchedule"]["start"] > 0 and one["servingStatuses"] and one["unitCost"]["currencyCode"] == "EUR", one
two = client.batch_get(resource_path="/adAccounts/{account}/adCampaigns", path_keys={"account": account}, ids=[c["id"] for c in campaigns[:2]] + [404], **access)
assert set(two.results) == {str(c["id"]) for c in campaigns[:2]} and set(two.errors) == {"404"}, two.errors
creatives = client.finder(resource_path="/adAccounts/{account}/creatives", finder_name="criteria", path_keys={"account": account},
                          query_params={"campaigns": [f"urn:li:sponsoredCampaign:{campaigns[0]['id']}"]}, **access).elements
assert creatives and creatives[0]["review"]["status"] and creatives[0]["createdAt"] > 0


def day(text):
    year, month, of = map(int, text.split("-"))
    return {"year": year, "month": month, "day": of}


def analytics(pivot, fields, finder="analytics", granularity="DAILY", facet=None, **more):
    pivots = {"pivots": pivot} if finder == "statistics" else {"pivot": pivot}
    return client.finder(resource_path="/adAnalytics", finder_name=finder, query_params={
        **pivots, "timeGranularity": granularity, "dateRange": {"start": day(first), "end": day(last)}, **(facet or {"accounts": [urn]}),
        "fields": ",".join(fields), **more}, **access).elements


basic = ["impressions", "clicks", "costInLocalCurrency"]
truth = {"impressions": lambda r: r["impressions"], "clicks": lambda r: r["clicks"], "spend_micros": lambda r: micros(r["costInLocalCurrency"])}
fields = basic + ["dateRange", "pivotValues", "externalWebsiteConversions", "conversionValueInLocalCurrency", "oneClickLeads", "oneClickLeadFormOpens", "totalEngagements",
                  "videoViews", "videoStarts", "videoCompletions", "landingPageClicks", "likes", "comments", "shares", "follows", "companyPageClicks", "costInUsd"]
rows = analytics("CAMPAIGN", fields)
totals.add("campaigns by day", rows, {**truth, "conversions_micros": lambda r: 1_000_000 * r["externalWebsiteConversions"],
                                      "revenue_micros": lambda r: micros(r["conversionValueInLocalCurrency"]), "leads": lambda r: r["oneClickLeads"]})
assert all(r["pivotValues"][0].startswith("urn:li:sponsoredCampaign:") and r["dateRange"]["start"] == r["dateRange"]["end"] for r in rows)
totals.add("account by month", analytics("ACCOUNT", basic, granularity="MONTHLY"), truth)
totals.add("campaigns and creatives", analytics(["CAMPAIGN", "CREATIVE"], basic + ["pivotValues"], "statistics", "ALL"), truth, part=True)
totals.add("by campaign group", analytics("CAMPAIGN_GROUP", basic, facet={"campaignGroups": [f"urn:li:sponsoredCampaignGroup:{g['id']}" for g in groups]}), truth)
for pivot in ("MEMBER_INDUSTRY", "MEMBER_SENIORITY", "MEMBER_JOB_FUNCTION", "MEMBER_COMPANY_SIZE"):
    rows = analytics(pivot, basic + ["pivotValues"], granularity="ALL", sortBy={"field": "IMPRESSIONS", "order": "DESCENDING"})
    assert [r["impressions"] for r in rows] == sorted((r["impressions"] for r in rows), reverse=True) and len(rows) > 2, rows
    totals.add(f"by {pivot}", rows, truth)
totals.add("by country", analytics("MEMBER_COUNTRY_V2", basic), truth, "geo")
totals.add("by device", analytics("IMPRESSION_DEVICE_TYPE", basic), truth, "device")
# A long query is sent as the body of a POST.
urns = [f"urn:li:sponsoredCampaign:{c['id']}" for c in campaigns]
assert analytics("CAMPAIGN", basic, facet={"campaigns": urns + [f"urn:li:sponsoredCampaign:{n}" for n in range(10**9, 10**9 + 100)]}) == analytics("CAMPAIGN", basic)

# A change and its state.
running = next(c for c in campaigns if c["status"] == "ACTIVE")
path["path_keys"]["id"] = running["id"]
assert client.partial_update(**path, patch_set_object={"status": "PAUSED"}, **access).status_code == 204
assert client.get(**path, **access).entity["status"] == "PAUSED"

auth = AuthClient(client_id=intent["app"], client_secret=intent["secret"], redirect_url="https://fanfare.test/back")
fresh = auth.exchange_refresh_token_for_access_token(grant["refresh_token"])
assert fresh.access_token and fresh.expires_in > 0 and fresh.refresh_token_expires_in > 0
state = auth.introspect_access_token(fresh.access_token)
assert state.active and state.status == "active" and state.expires_at > state.created_at and "r_ads_reporting" in state.scope, vars(state)


# Errors as the SDK shows them.
def status(number, code, word=""):
    def check(e):
        body = e.response.json()
        return e.response.status_code == body["status"] == number and body["code"] == code and word in body["message"]
    return check


with refused(HTTPError, status(400, "ILLEGAL_ARGUMENT", "noSuchField")):
    analytics("CAMPAIGN", ["noSuchField"])
with refused(HTTPError, status(403, "ACCESS_DENIED")):
    client.get(resource_path="/adAccounts/{id}", path_keys={"id": 404}, **access)
with refused(HTTPError, status(404, "RESOURCE_NOT_FOUND")):
    client.get(resource_path=path["resource_path"], path_keys={"account": account, "id": 404}, **access)
for fault, number, code in (("throttle", 429, "TOO_MANY_REQUESTS"), ("expired_token", 401, "EXPIRED_ACCESS_TOKEN"), ("version_sunset", 426, "NONEXISTENT_VERSION")):
    fails("linkedin_ads", fault)
    with refused(HTTPError, status(number, code)):
        analytics("CAMPAIGN", basic)

answer(totals=totals.list, accounts=[str(a["id"]) for a in accounts])
