"""Sends the calls of the intent with Microsoft's own SDK, to the sandbox."""

import json
import os
import sys

import openapi_client.models.campaign
import openapi_client.models.customer
import openapi_client.models.reporting
from bingads.authorization import AuthorizationData, OAuthTokens, OAuthWebAuthCodeGrant
from bingads.service_client import ServiceClient

# Importing a model shadows the package of the same name.
customer, campaign, reporting = (sys.modules["openapi_client.models." + name] for name in ("customer", "campaign", "reporting"))

given = json.loads(os.environ["SANDBOX_INPUT"])
grant, intent = given["grant"], given["intent"]
tokens = OAuthTokens(grant["access_token"], 3600, grant["refresh_token"])
authentication = OAuthWebAuthCodeGrant(client_id="client", client_secret="client-secret", redirection_uri="https://fanfare.test/", oauth_tokens=tokens)


def service(name, account=None, owner=None):
    access = AuthorizationData(account_id=account, customer_id=owner, developer_token="developer-token", authentication=authentication)
    return ServiceClient(name, 13, access, "production", location=os.environ["SANDBOX_URL"] + "/microsoft")


accounts = service("CustomerManagementService")
user = accounts.get_user(customer.GetUserRequest(user_id=None)).user
by_user = customer.Predicate(field="UserId", operator="Equals", value=user.id)
found = accounts.search_accounts(customer.SearchAccountsRequest(predicates=[by_user], page_info=customer.Paging(index=0, size=1000))).accounts
account, owner = found[0].id, found[0].parent_customer_id

campaigns = service("CampaignManagementService", account, owner)
kinds = campaign.CampaignType
every = kinds.SEARCH | kinds.SHOPPING | kinds.DYNAMICSEARCHADS | kinds.AUDIENCE | kinds.HOTEL | kinds.PERFORMANCEMAX | kinds.APP | kinds.OBJECTIVEBASED
failed = campaigns.update_campaigns(campaign.UpdateCampaignsRequest(account_id=account, campaigns=[campaign.Campaign(id=intent["campaign"], status="Paused")])).partial_errors
seen = campaigns.get_campaigns_by_ids(campaign.GetCampaignsByIdsRequest(account_id=account, campaign_ids=[intent["campaign"]], campaign_type=every)).campaigns

reports = service("ReportingService", account, owner)
day = reporting.Date(day=1, month=10, year=2026)
request = reporting.CampaignPerformanceReportRequest(
    report_name="fanfare", format="Csv", format_version="2.0", return_only_complete_data=False, exclude_report_header=False, exclude_report_footer=True,
    exclude_column_headers=False, aggregation="Daily", columns=intent["columns"], scope=reporting.AccountThroughCampaignReportScope(account_ids=[account]),
    time=reporting.ReportTime(custom_date_range_start=day, custom_date_range_end=day, report_time_zone="AmsterdamBerlinBernRomeStockholmVienna"),
)
submitted = reports.submit_generate_report(reporting.SubmitGenerateReportRequest(report_request=request))
polled = reports.poll_generate_report(reporting.PollGenerateReportRequest(report_request_id=submitted.report_request_id)).report_request_status

with open(os.environ["SANDBOX_OUTPUT"], "w", encoding="utf-8") as out:
    json.dump({
        "account": account, "currency": found[0].currency_code.value, "zone": found[0].time_zone.value, "failed": len(failed or []),
        "status": seen[0].status.value, "report": polled.status.value, "url": polled.report_download_url or "",
    }, out)
