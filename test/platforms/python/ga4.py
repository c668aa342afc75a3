"""Google's own SDKs for GA4 against the sandbox: the Admin API finds the
property, the Data API reports on it, both over REST."""
from google.analytics import admin_v1beta
from google.analytics.admin import AnalyticsAdminServiceClient
from google.analytics.data_v1beta import BetaAnalyticsDataClient
from google.analytics.data_v1beta.types import (
    BatchRunReportsRequest, CheckCompatibilityRequest, DateRange, Dimension, Filter, FilterExpression, FilterExpressionList, GetMetadataRequest, Metric,
    MetricAggregation, MetricType, OrderBy, RunReportRequest)
from google.api_core import exceptions
from google.oauth2.credentials import Credentials

from sandbox import Totals, answer, fails, first, grant, intent, last, micros, refused

credentials = Credentials(None, refresh_token=grant["refresh_token"], token_uri="https://oauth2.googleapis.com/token",
                          client_id=intent["app"], client_secret=intent["secret"])
totals = Totals()

# Accounts and properties, with the client that Google's quickstart uses and
# with that of the beta.
admin = AnalyticsAdminServiceClient(credentials=credentials, transport="rest")
accounts = list(admin.list_accounts())
summaries = list(admin.list_account_summaries())
assert [a.name for a in accounts] == [s.account for s in summaries] and accounts[0].region_code and accounts[0].create_time
beta = admin_v1beta.AnalyticsAdminServiceClient(credentials=credentials, transport="rest")
properties = list(beta.list_properties(request={"filter": f"parent:{summaries[0].account}", "page_size": 1}))
name = f"properties/{grant['account_id']}"
assert name in [p.name for p in properties] and name in [p.property for s in summaries for p in s.property_summaries]
mine = beta.get_property(name=name)
assert mine.currency_code == "EUR" and mine.time_zone == "Europe/Berlin" and mine.service_level == admin_v1beta.ServiceLevel.GOOGLE_ANALYTICS_STANDARD
events = list(beta.list_key_events(parent=name))
assert "purchase" in [e.event_name for e in events] and events[0].counting_method == admin_v1beta.KeyEvent.CountingMethod.ONCE_PER_EVENT
streams = list(beta.list_data_streams(parent=name))
assert streams[0].type_ == admin_v1beta.DataStream.DataStreamType.WEB_DATA_STREAM and streams[0].web_stream_data.measurement_id.startswith("G-")

data = BetaAnalyticsDataClient(credentials=credentials, transport="rest")
known = data.get_metadata(GetMetadataRequest(name=f"{name}/metadata"))
assert {"sessions", "totalUsers"} <= {m.api_name for m in known.metrics} and "sessionSource" in {d.api_name for d in known.dimensions}


def report(dimensions, metrics, **more):
    return RunReportRequest(property=name, dimensions=[Dimension(name=d) for d in dimensions], metrics=[Metric(name=m) for m in metrics],
                            date_ranges=[DateRange(start_date=first, end_date=last)], **more)


def run(*args, **more):
    return data.run_report(report(*args, **more), retry=None)


def number(row, i):
    return micros(row.metric_values[i].value)


truth = {"conversions_micros": lambda r: number(r, 0), "revenue_micros": lambda r: number(r, 1)}
days = run(["date"], ["keyEvents", "totalRevenue"])
assert [h.type_ for h in days.metric_headers] == [MetricType.TYPE_FLOAT, MetricType.TYPE_CURRENCY] and len(days.rows) == days.row_count == 30
totals.add("by day", days.rows, truth)

# Sessions by source, filtered, with totals.
names = ["sessions", "totalUsers", "newUsers", "screenPageViews", "engagedSessions", "bounceRate", "averageSessionDuration", "eventCount", "keyEvents", "totalRevenue"]
filters = FilterExpression(and_group=FilterExpressionList(expressions=[
    FilterExpression(filter=Filter(field_name="sessionSource", in_list_filter=Filter.InListFilter(values=["google", "facebook"]))),
    FilterExpression(not_expression=FilterExpression(filter=Filter(field_name="sessionMedium", string_filter=Filter.StringFilter(
        match_type=Filter.StringFilter.MatchType.CONTAINS, value="nothing of this name")))),
]))
sources = run(["sessionSource", "sessionMedium"], names, dimension_filter=filters, keep_empty_rows=True, return_property_quota=True,
              metric_aggregations=[MetricAggregation.TOTAL, MetricAggregation.MAXIMUM, MetricAggregation.COUNT],
              order_bys=[OrderBy(metric=OrderBy.MetricOrderBy(metric_name="sessions"), desc=True)])
sessions = [int(r.metric_values[0].value) for r in sources.rows]
assert sessions == sorted(sessions, reverse=True) and sessions[0] > 0 and {r.dimension_values[0].value for r in sources.rows} == {"google", "facebook"}
assert int(sources.totals[0].metric_values[0].value) == sum(sessions) and int(sources.maximums[0].metric_values[0].value) == max(sessions)
assert sources.totals[0].dimension_values[0].value == "RESERVED_TOTAL" and sources.property_quota.tokens_per_day.remaining > 0
for row in sources.rows:
    value = dict(zip(names, (float(v.value) for v in row.metric_values)))
    assert value["engagedSessions"] <= value["sessions"] and 0 <= value["bounceRate"] <= 1 and value["newUsers"] <= value["totalUsers"] <= value["sessions"], value
assert sources.metadata.currency_code == "EUR" and sources.metadata.time_zone == "Europe/Berlin"

# Pages make up the whole; several ranges add a dimension.
whole = run(["date", "country", "deviceCategory"], ["keyEvents", "totalRevenue"], limit=100000)
rows = []
while len(rows) < whole.row_count:
    page = run(["date", "country", "deviceCategory"], ["keyEvents", "totalRevenue"], limit=700, offset=len(rows))
    assert page.rows and page.row_count == whole.row_count
    rows += page.rows
assert [str(r) for r in rows] == [str(r) for r in whole.rows]
totals.add("by country and device, in pages", rows, truth)
two = data.run_report(RunReportRequest(property=name, metrics=[Metric(name="keyEvents"), Metric(name="totalRevenue")], date_ranges=[
    DateRange(start_date=first, end_date=intent["middle"], name="before"), DateRange(start_date=intent["after"], end_date=last, name="after")]))
assert {r.dimension_values[0].value for r in two.rows} == {"before", "after"}
totals.add("two ranges", two.rows, truth)
batch = data.batch_run_reports(BatchRunReportsRequest(property=name, requests=[
    report(["sessionDefaultChannelGroup"], ["keyEvents", "totalRevenue"]), report(["sessionCampaignName", "eventName"], ["eventCount"])]))
totals.add("by channel, in a batch", batch.reports[0].rows, truth)
assert batch.reports[1].row_count > 0
fit = data.check_compatibility(CheckCompatibilityRequest(property=name, dimensions=[Dimension(name="sessionSource")], metrics=[Metric(name="sessions")]))
assert fit.dimension_compatibilities and fit.metric_compatibilities

# Errors as the SDK shows them.
with refused(exceptions.BadRequest, lambda e: "sessionSauce" in e.message):
    run(["sessionSauce"], ["sessions"])
with refused(exceptions.Forbidden, lambda e: e.code == 403):
    beta.get_property(name="properties/404")
with refused(exceptions.Forbidden, lambda e: "permission" in e.message):
    data.run_report(RunReportRequest(property="properties/404", metrics=[Metric(name="sessions")], date_ranges=[DateRange(start_date=first, end_date=last)]))
fails("ga4", "throttle", ":runReport")
with refused(exceptions.TooManyRequests, lambda e: e.code == 429 and e.details):
    run(["date"], ["sessions"])

answer(totals=totals.list, accounts=[p.name.removeprefix("properties/") for p in properties])
