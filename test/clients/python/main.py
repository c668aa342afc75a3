"""Creates campaigns, launches one, sends numbers, queries them and pages
through the campaigns, with a client that openapi-python-client generated."""

import json
import os

from fanfare import AuthenticatedClient
from fanfare.api.analytics import query_analytics
from fanfare.api.campaigns import create_campaign, launch_campaign, list_campaigns
from fanfare.api.data import ingest_metrics
from fanfare.models import (
    AnalyticsQuery,
    BudgetCreateType0,
    BudgetTypeInput,
    CampaignCreate,
    ChannelInput,
    DaysRange,
    DimensionNameInput,
    Error,
    FactRow,
    ListCampaignsOrder,
    MetricInput,
)
from fanfare.types import UNSET

client = AuthenticatedClient(
    base_url=os.environ["FANFARE_URL"],
    token=os.environ["FANFARE_API_KEY"],
)


def ok(answer):
    """What was answered; an error raises with the message of the server."""
    if answer is None or isinstance(answer, Error):
        raise SystemExit(answer.error.message if answer else "no answer")
    return answer


created = [
    ok(
        create_campaign.sync(
            client=client,
            idempotency_key=f"python-{i}",
            body=CampaignCreate(
                name=f"Python {i}",
                channels=[ChannelInput.SEARCH],
                budget=BudgetCreateType0(type_=BudgetTypeInput.DAILY, amount="150.00", currency="EUR"),
            ),
        )
    ).data
    for i in range(3)
]
first = created[0]

launched = ok(launch_campaign.sync(first.id, client=client)).data

ok(
    ingest_metrics.sync(
        client=client,
        source="python",
        currency="EUR",
        body=[FactRow(date="2026-11-01", campaign_id=first.id, clicks=7, spend="12345678.25")],
    )
)

row = ok(
    query_analytics.sync(
        client=client,
        body=AnalyticsQuery(
            metrics=[MetricInput.SPEND, MetricInput.CLICKS],
            dimensions=[DimensionNameInput.CAMPAIGN_ID],
            date_range=DaysRange(start_date="2026-11-01", end_date="2026-11-02"),
            currency="EUR",
        ),
    )
).data[0]

names, cursor = [], UNSET
while cursor is not None:
    page = ok(list_campaigns.sync(client=client, limit=2, order=ListCampaignsOrder.ASC, cursor=cursor))
    names += [c.name for c in page.data]
    cursor = page.next_cursor

print(
    json.dumps(
        {
            "status": launched.status,
            "amount": launched.budget.amount,
            "linked": row.dimensions["campaign_id"] == first.id,
            "clicks": row.metrics["clicks"],
            "spend": row.metrics["spend"],
            "names": names,
        }
    )
)
