package meta

import (
	"slices"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// Sources of Meta's errors.
const (
	insightsPage  = transport.Source("developers.facebook.com/documentation/ads-commerce/marketing-api/insights/error-codes")
	practicesPage = transport.Source("developers.facebook.com/documentation/ads-commerce/marketing-api/insights/best-practices")
	graphPage     = transport.Source("developers.facebook.com/docs/graph-api/guides/error-handling")
	limitsPage    = transport.Source("developers.facebook.com/docs/graph-api/overview/rate-limiting")
	adsPage       = transport.Source("developers.facebook.com/documentation/ads-commerce/marketing-api/error-reference")
	campaignPage  = transport.Source("developers.facebook.com/docs/marketing-api/reference/ad-campaign-group (Error Codes)")
	proofPage     = transport.Source("developers.facebook.com/docs/graph-api/guides/secure-requests (appsecret_proof)")
	loginPage     = transport.Source("developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow; message seen by others")
	airbyteCode   = transport.Source("Airbyte source-facebook-marketing, streams/common.py")
)

// Remedies of several errors.
const (
	reconnect    = "Connect the account again: select Reconnect on the connection."
	signInThere  = "Log in at www.facebook.com with the profile that connected the account, follow the instructions there, then connect the account again."
	grantAgain   = "Ask an administrator of the ad account for the permission: Meta Business Suite, Settings, Ad accounts, Assign people. Then connect the account again and allow everything. Meta takes a permission away that was not used for 90 days."
	setSecret    = "Compare App ID and App secret in FANFARE_OAUTH with the App Dashboard, App settings, Basic, or give client_id and client_secret with the access token."
	askReview    = "The Meta app may only read accounts of people with a role in the app. Request Full Access of Ads Management Standard Access and ads_read in the App Dashboard, App Review, Permissions and features."
	checkObject  = "Check in Meta Business Suite, Settings, Ad accounts, that the ad account exists, and that the person or the system user who connected it is assigned to it."
	updateServer = "Update Fanfare: Meta has ended version " + Version + " of the Marketing API."
)

// errorTable has Meta's errors, the most specific first: a text or a subcode is
// more specific than the code, and the code more than the status, because even
// throttling is a 400.
var errorTable = slices.Concat(
	// Too much data for one answer.
	insightsPage.Errors(connection.TooLarge, "", "*/1504018", "*/1504038", "*/1487534"),
	airbyteCode.Text(connection.TooLarge, "", "*", "reduce the amount of data"),
	graphPage.Text(connection.TooLarge, "", "*", "after cursor specified exceeds the max limit"),
	airbyteCode.Text(connection.TooLarge, "", "1", "an unknown error occurred"),
	// These have a code that is usually transient and stay.
	insightsPage.Errors(connection.Refused, "Meta has no data for this breakdown in this ad account, so the days of this report stay empty.", "2/1504041"),
	insightsPage.Errors(connection.Refused, "A custom metric of the ad account cannot be computed. Correct or delete it in Ads Manager, Columns, Customize columns.", "2/1504042"),

	// Throttling.
	limitsPage.Errors(connection.Throttled, "", "4", "17", "32", "341", "613", "80000-80014"),

	// Tokens.
	graphPage.Errors(connection.Expired, reconnect, "190/463"),
	graphPage.Errors(connection.Revoked, "The person has removed the app. "+reconnect, "190/458"),
	graphPage.Errors(connection.Revoked, signInThere, "190/459", "190/464"),
	graphPage.Errors(connection.Revoked, "The password has changed. "+reconnect, "190/460"),
	graphPage.Errors(connection.Revoked, "The token is not valid any more. "+reconnect, "190/467"),
	graphPage.Errors(connection.Revoked, "The person has no role on the Page any more. Assign the role in Meta Business Suite, Settings, Pages. "+reconnect, "190/492"),
	loginPage.Text(connection.Forbidden, setSecret, "190", "validating application"),
	graphPage.Errors(connection.Revoked, reconnect, "190", "102"),
	adsPage.Text(connection.Revoked, reconnect, "2500", "active access token"),

	// The app.
	proofPage.Text(connection.Forbidden, "Set the app secret of the Meta app in FANFARE_OAUTH, or give client_id and client_secret with the access token. The secret is in the App Dashboard, App settings, Basic.", "100", "appsecret_proof"),
	adsPage.Text(connection.Forbidden, setSecret, "104", "signature"),
	loginPage.Text(connection.Forbidden, setSecret, "1", "client secret"),
	loginPage.Text(connection.Forbidden, setSecret, "100", "client secret"),
	loginPage.Text(connection.Forbidden, setSecret, "101", "validating application"),
	loginPage.Text(connection.Refused, "Compare Valid OAuth Redirect URIs in the App Dashboard, Facebook Login for Business, Settings, with FANFARE_PUBLIC_URL and the path /oauth/callback/meta_ads, then start the connection again.", "*", "redirect_uri"),
	loginPage.Text(connection.Refused, "The code of the consent page is used up or too old. Start the connection again.", "100", "authorization code"),
	loginPage.Errors(connection.Forbidden, "Connect again and allow every permission on Meta's page.", "access_denied"),
	graphPage.Errors(connection.Forbidden, "Add the use case for the Marketing API to the app in the App Dashboard, Use cases.", "3"),
	adsPage.Errors(connection.Forbidden, askReview, "270", "294"),

	// Permissions and objects.
	graphPage.Errors(connection.Forbidden, grantAgain, "10", "200-299"),
	adsPage.Errors(connection.Forbidden, checkObject, "100/33"),
	graphPage.Errors(connection.Gone, checkObject, "803"),

	// Faults that end by themselves. 368 is a block for a while.
	airbyteCode.Errors(connection.Transient, "", "*/99"),
	insightsPage.Errors(connection.Transient, "", "2/1504043", "*/2490547"),
	graphPage.Errors(connection.Transient, "", "1", "2", "368"),
	airbyteCode.Errors(connection.Transient, "", "104"),
	campaignPage.Errors(connection.Transient, "", "960"),

	// Requests.
	adsPage.Errors(connection.Sunset, updateServer, "2635"),
	campaignPage.Errors(connection.PagesDisagree, "", "2642"),
	campaignPage.Errors(connection.Refused, "Meta keeps metrics for 37 months. Older days cannot be read any more; import them from a report that you have.", "3018"),
	campaignPage.Errors(connection.Refused, "", "100", "105", "194", "2500"),
)

// Errors returns the errors that Meta documents for our calls.
func Errors() transport.ErrorTable { return slices.Clone(errorTable) }
