package fact

import (
	"fanfare/internal/clock"
	"fanfare/internal/ident"
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

// LostSource is a connection whose facts were lost and are not all stored again.
// Own marks own data, whose rows may name any campaign.
type LostSource struct {
	ID  ident.ID
	Own bool
}
