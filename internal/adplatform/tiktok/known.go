package tiktok

import (
	"slices"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// Sources of TikTok's errors.
const (
	codesPage   = transport.Source("business-api.tiktok.com/portal/docs?id=1737172488964097 (Return codes)")
	statusPage  = transport.Source("business-api.tiktok.com/portal/docs?id=1749734684478466 (HTTP status)")
	airbyteCode = transport.Source("Airbyte source-tiktok-marketing, changelog; not in TikTok's list")
)

// Remedies of several codes.
const (
	askAccount   = "Ask an admin of the ad account to give the TikTok user who connected it access: TikTok Ads Manager, Account Setup, User management, or Business Center, Users. Analyst is enough to sync, Operator or Admin to change campaigns. Then reconnect."
	checkApp     = "Compare App ID and Secret in FANFARE_OAUTH with My Apps, App Detail, Basic Information at business-api.tiktok.com, and check there that the app is approved."
	reconnect    = "Select Reconnect on the connection and grant access again."
	startAgain   = "The code of the consent page is used up or too old. Start the connection again. If it fails again, compare App ID and Secret in FANFARE_OAUTH with My Apps, App Detail at business-api.tiktok.com."
	turnOff      = "The ad account was deleted, or its ID is wrong. Turn it off in the connection; its past metrics stay."
	updateServer = "Update Fanfare: TikTok has ended version " + version + " of its API, or this part of it."
)

// errorTable has TikTok's return codes. Codes of files, creators, pixels and of
// TikTok's own sandbox are not here, because no call of ours can meet them; the
// ranges at the end classify them. The code http is that of an answer without
// TikTok's envelope, with the HTTP status after the slash.
var errorTable = slices.Concat(
	codesPage.Errors(connection.Forbidden, askAccount, "40001", "40106", "40119"),
	codesPage.Errors(connection.Forbidden, "TikTok offers this only to apps and advertisers that it has allowed. Ask your TikTok representative to add you.", "40118"),
	codesPage.Errors(connection.Forbidden, "Add the permission in My Apps, App Detail, Scope of permission at business-api.tiktok.com. When TikTok has approved the app again, reconnect.", "40125"),
	codesPage.Errors(connection.Forbidden, checkApp, "40113"),
	codesPage.Errors(connection.Forbidden, "Complete the developer profile at ads.tiktok.com/marketing_api/developer/register. It works when TikTok has approved the profile.", "40124"),
	codesPage.Errors(connection.Forbidden, "TikTok does not accept calls from the country of this server. The operator has to use an address in another country.", "41000"),
	// Tokens do not expire by themselves, so an invalid one needs a new consent.
	codesPage.Errors(connection.Revoked, reconnect, "40102", "40103", "40104", "40105", "40107"),
	codesPage.Errors(connection.Refused, startAgain, "40101", "40110", "40115"),
	codesPage.Errors(connection.Refused, checkApp, "40109", "40112", "40116"),
	codesPage.Errors(connection.Gone, "", "40007"),
	codesPage.Errors(connection.Gone, turnOff, "40300", "40301"),
	airbyteCode.Errors(connection.TooLarge, "", "40067"),
	codesPage.Errors(connection.Throttled, "", "40016", "40100", "40132", "40133"),
	// Choice: a repeated request is refused while the first one is under way.
	codesPage.Errors(connection.Transient, "", "40050"),
	codesPage.Errors(connection.Transient, "", "40200", "40201", "40202", "40700", "60001"),
	codesPage.Errors(connection.Sunset, updateServer, "40006", "40010", "40051", "41001"),
	codesPage.Errors(connection.Refused, "", "40000", "40002", "40008", "40011", "40108", "40117", "41002"),
	codesPage.Errors(connection.Transient, "", "50000", "50002", "51305"),
	codesPage.Errors(connection.Refused, "", "40000-49999"),
	codesPage.Errors(connection.Transient, "", "50000-59999"),

	// Choice: TikTok does not document the answer of a version that has ended.
	// All requested paths exist, so an unknown path means that.
	statusPage.Errors(connection.Sunset, updateServer, "http/404"),
	statusPage.Errors(connection.Throttled, "", "http/429"),
	statusPage.Errors(connection.Transient, "", "http/500", "http/502", "http/503", "http/504"),
)

// Errors returns the errors that TikTok documents for our calls.
func Errors() transport.ErrorTable { return slices.Clone(errorTable) }
