package fact

import (
	"fanfare/internal/clock"
	"fanfare/internal/money"
)

// CampaignSpend is the spend of a campaign, in millionths of the currency's
// unit.
type CampaignSpend struct {
	Total int64
	// Today is the spend of the day of AsOf.
	Today    int64
	Currency money.Currency
	// Known is false if an amount has no exchange rate to the currency.
	Known bool
	AsOf  clock.Instant
}
