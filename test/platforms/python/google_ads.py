"""The types of Google's own SDK for Google Ads against the sandbox. The SDK
itself uses gRPC, so the calls are those of the REST API, and each answer is
parsed as the type that Google declares: an unknown member, enum value or number
format fails."""
from google.ads.googleads.v26.errors.types.errors import GoogleAdsFailure
from google.ads.googleads.v26.services.types.campaign_service import MutateCampaignsRequest, MutateCampaignsResponse
from google.ads.googleads.v26.services.types.customer_service import ListAccessibleCustomersResponse
from google.ads.googleads.v26.services.types.google_ads_service import SearchGoogleAdsRequest, SearchGoogleAdsResponse, SearchGoogleAdsStreamResponse
from google.oauth2.credentials import Credentials
from google.auth.transport.requests import AuthorizedSession
from google.protobuf import json_format

from sandbox import Totals, answer, fails, first, grant, intent, last, refused

HOST = "https://googleads.googleapis.com/v26"
session = AuthorizedSession(Credentials(None, refresh_token=grant["refresh_token"], token_uri="https://oauth2.googleapis.com/token",
                                        client_id=intent["app"], client_secret=intent["secret"]))
session.headers["developer-token"] = "none"
customer = grant["account_id"]
totals = Totals()


class Failure(Exception):
    """An answer with an error, whose details are of Google's types."""

    def __init__(self, response):
        body = response.json()
        # The error of a stream is in a list.
        error = (body[0] if isinstance(body, list) else body)["error"]
        assert error["code"] == response.status_code, error
        details = [d for d in error["details"] if d["@type"].endswith("v26.errors.GoogleAdsFailure")]
        self.status = error["status"]
        self.failure = strict(GoogleAdsFailure, {k: v for k, v in details[0].items() if k != "@type"})
        super().__init__(str(error))

    def code(self):
        return self.failure.errors[0].error_code


def strict(kind, value):
    """Parses JSON as a type, and refuses what the type does not have."""
    return kind(json_format.ParseDict(value, kind.pb(kind()), ignore_unknown_fields=False))


def call(kind, path, body=None):
    response = session.get(f"{HOST}/{path}") if body is None else session.post(f"{HOST}/{path}", json=body)
    if response.status_code != 200:
        raise Failure(response)
    value = response.json()
    return [strict(kind, v) for v in value] if isinstance(value, list) else strict(kind, value)


def search(query):
    """Reads all pages of a query."""
    rows, token = [], ""
    while True:
        request = SearchGoogleAdsRequest(query=query, page_token=token)
        page = call(SearchGoogleAdsResponse, f"customers/{customer}/googleAds:search", json_format.MessageToDict(SearchGoogleAdsRequest.pb(request)))
        rows += page.results
        token = page.next_page_token
        if not token:
            return rows, page


def stream(query):
    """Reads the stream of a query."""
    parts = call(SearchGoogleAdsStreamResponse, f"customers/{customer}/googleAds:searchStream", {"query": query})
    return [row for part in parts for row in part.results]


names = call(ListAccessibleCustomersResponse, "customers:listAccessibleCustomers").resource_names
assert f"customers/{customer}" in names
mine = stream("SELECT customer.id, customer.descriptive_name, customer.currency_code, customer.time_zone, customer.manager, customer.test_account, customer.status, "
              "customer.auto_tagging_enabled FROM customer")[0].customer
assert mine.currency_code == "EUR" and mine.time_zone == "Europe/Berlin" and not mine.manager and str(mine.id) == customer
campaigns = stream("SELECT campaign.id, campaign.name, campaign.status, campaign.serving_status, campaign.primary_status, campaign.advertising_channel_type, "
                   "campaign.advertising_channel_sub_type, campaign.bidding_strategy_type, campaign.start_date_time, campaign.end_date_time, campaign_budget.amount_micros, "
                   "campaign.network_settings.target_google_search, campaign.optimization_score FROM campaign ORDER BY campaign.id")
ids = [r.campaign.id for r in campaigns]
assert ids == sorted(ids) and len(ids) > 2 and all(r.campaign_budget.amount_micros > 0 for r in campaigns)
groups = stream("SELECT ad_group.id, ad_group.name, ad_group.status, ad_group.type, ad_group.cpc_bid_micros, campaign.id FROM ad_group LIMIT 50")
ads = stream("SELECT ad_group_ad.ad.id, ad_group_ad.ad.name, ad_group_ad.ad.type, ad_group_ad.ad.final_urls, ad_group_ad.status, ad_group_ad.policy_summary.approval_status, "
             "ad_group.id FROM ad_group_ad WHERE ad_group_ad.status != 'REMOVED'")
assert groups and ads and all(r.ad_group_ad.ad.final_urls for r in ads)

days = f"segments.date BETWEEN '{first}' AND '{last}'"
truth = {"impressions": lambda r: r.metrics.impressions, "clicks": lambda r: r.metrics.clicks, "spend_micros": lambda r: r.metrics.cost_micros}
rows, page = search(
    "SELECT campaign.id, campaign.name, segments.date, segments.day_of_week, segments.month, metrics.impressions, metrics.clicks, metrics.cost_micros, metrics.ctr, "
    "metrics.average_cpc, metrics.average_cpm, metrics.conversions, metrics.conversions_value, metrics.all_conversions, metrics.cost_per_conversion, "
    "metrics.conversions_from_interactions_rate, metrics.interactions, metrics.interaction_rate, metrics.engagements, metrics.view_through_conversions, "
    f"metrics.search_impression_share, metrics.value_per_conversion FROM campaign WHERE {days} ORDER BY segments.date DESC, metrics.impressions DESC")
totals.add("campaigns by day", rows, {**truth, "conversions_micros": lambda r: round(1e6 * r.metrics.conversions),
                                      "revenue_micros": lambda r: round(1e6 * r.metrics.conversions_value)})
order = [(r.segments.date, r.metrics.impressions) for r in rows]
assert order == sorted(order, reverse=True)
for r in rows:
    if r.metrics.clicks:
        assert abs(r.metrics.average_cpc - r.metrics.cost_micros / r.metrics.clicks) < 1 and abs(r.metrics.ctr - r.metrics.clicks / r.metrics.impressions) < 1e-6
assert {p for p in page.field_mask.paths} >= {"metrics.ctr", "segments.day_of_week"}
totals.add("customer", stream(f"SELECT customer.id, metrics.impressions, metrics.clicks, metrics.cost_micros FROM customer WHERE {days}"), truth)
for name, fields, view in (
        ("by device", "segments.device", "campaign"), ("by network", "segments.ad_network_type", "campaign"), ("by hour", "segments.hour", "campaign"),
        ("by week", "segments.week", "customer"), ("by slot", "segments.slot", "campaign")):
    totals.add(name, stream(f"SELECT {fields}, metrics.impressions, metrics.clicks, metrics.cost_micros FROM {view} WHERE {days}"), truth)
for view, fields in (("geographic_view", "geographic_view.country_criterion_id, geographic_view.location_type"), ("gender_view", "ad_group_criterion.gender.type"),
                     ("age_range_view", "ad_group_criterion.age_range.type"), ("keyword_view", "ad_group_criterion.keyword.text, ad_group_criterion.keyword.match_type"),
                     ("search_term_view", "search_term_view.search_term, search_term_view.status"), ("landing_page_view", "landing_page_view.unexpanded_final_url")):
    stream(f"SELECT {fields}, metrics.impressions, metrics.clicks FROM {view} WHERE {days} LIMIT 20")
month = stream("SELECT campaign.id, metrics.clicks FROM campaign WHERE segments.date DURING LAST_30_DAYS AND campaign.status IN ('ENABLED', 'PAUSED') LIMIT 3")
assert len(month) == 3

# A change and its state.
running = next(r.campaign for r in campaigns if r.campaign.status.name == "ENABLED")
request = {"operations": [{"updateMask": "status", "update": {"resourceName": running.resource_name, "status": "PAUSED"}}], "responseContentType": "MUTABLE_RESOURCE"}
strict(MutateCampaignsRequest, request)
done = call(MutateCampaignsResponse, f"customers/{customer}/campaigns:mutate", request)
assert done.results[0].resource_name == running.resource_name and done.results[0].campaign.status.name == "PAUSED", done
paused = stream(f"SELECT campaign.status FROM campaign WHERE campaign.id = {running.id}")[0].campaign
assert paused.status.name == "PAUSED"

# Errors are of Google's types.
with refused(Failure, lambda e: e.code().query_error.name == "UNRECOGNIZED_FIELD" and e.status == "INVALID_ARGUMENT"):
    search("SELECT campaign.nam FROM campaign")
with refused(Failure, lambda e: e.code().query_error.name == "BAD_RESOURCE_TYPE_IN_FROM_CLAUSE"):
    search("SELECT campaign.id FROM campaigns")
with refused(Failure, lambda e: e.code().authorization_error.name == "USER_PERMISSION_DENIED" and e.status == "PERMISSION_DENIED"):
    customer, own = "4040404040", customer
    search("SELECT campaign.id FROM campaign")
customer = own
for fault, kind, name in (("throttle", "quota_error", "RESOURCE_EXHAUSTED"), ("account_disabled", "authorization_error", "CUSTOMER_NOT_ENABLED")):
    fails("google_ads", fault, "googleAds:")
    with refused(Failure, lambda e: getattr(e.code(), kind).name == name):
        search("SELECT campaign.id, metrics.clicks FROM campaign")

answer(totals=totals.list, accounts=[n.removeprefix("customers/") for n in names])
