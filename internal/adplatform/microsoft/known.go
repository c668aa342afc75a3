package microsoft

import (
	"slices"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

// The pages that document the errors, as of November 2024.
const (
	codesPage  transport.Source = "learn.microsoft.com/advertising/guides/operation-error-codes"
	signInPage transport.Source = "learn.microsoft.com/entra/identity-platform/reference-error-codes"
	tokenPage  transport.Source = "learn.microsoft.com/advertising/guides/handle-service-errors-exceptions"
)

// Remedies of several codes.
const (
	askRole    = "Ask a super admin of the account in Microsoft Advertising to give the connected user access to it, with the role Standard or higher to change campaigns."
	signInWork = "Connect again and sign in with the work account that has access to Microsoft Advertising."
	askServer  = "The server sends a request that Microsoft does not accept. Update the server, or report the message to its developers."
)

// errorTable has the errors that our calls can meet. Codes that are not here are
// refusals.
var errorTable = slices.Concat(
	codesPage.Errors(connection.Transient, "", "0", "2004", codeUnknownReport),
	codesPage.Errors(connection.Refused, askServer, "100", "113"),
	codesPage.Errors(connection.Revoked, "Connect again. If that does not help, the operator checks the developer token in FANFARE_OAUTH: it must be one for production, of an active user.", codeCredentials),
	codesPage.Errors(connection.Forbidden, askRole, codeForbidden, "2003"),
	codesPage.Errors(connection.Expired, "", "109"),
	codesPage.Errors(connection.Refused, "The operator checks that FANFARE_OAUTH has a developer token: microsoft_ads=ID:SECRET:DEVELOPER_TOKEN.", "116"),
	codesPage.Errors(connection.Throttled, "", "117", "207", "4204"),
	codesPage.Errors(connection.Revoked, "Connect again and sign in with the primary login of this user in Microsoft Advertising.", "120"),
	codesPage.Errors(connection.Revoked, signInWork, "122", "124", "125"),
	codesPage.Errors(connection.Revoked, "Connect again and sign in with the personal Microsoft account that has access to Microsoft Advertising.", "123"),
	codesPage.Errors(connection.Gone, "The campaign was deleted in Microsoft Advertising, or belongs to another account.", "1100"),
	codesPage.Errors(connection.Gone, "The account was deleted in Microsoft Advertising. Turn it off here; its past metrics stay.", "1102"),
	codesPage.Errors(connection.Refused, "Microsoft does not allow this change of the campaign's status. Check the campaign in Microsoft Advertising.", "1120"),
	codesPage.Errors(connection.TooLarge, "", "2030"),
	codesPage.Errors(connection.Refused, "The campaign belongs to an experiment. Change the experiment in Microsoft Advertising.", "6133"),
	signInPage.Errors(connection.Refused, "The operator adds the redirect address of this server to the app's registration in Microsoft Entra.", "AADSTS50011"),
	signInPage.Errors(connection.Forbidden, "An admin of the organization allows the app to use Microsoft Advertising, then connect again.", "AADSTS650052"),
	signInPage.Errors(connection.Forbidden, "The operator checks the client ID in FANFARE_OAUTH and that the app allows accounts of all organizations and personal accounts.", "AADSTS700016"),
	signInPage.Errors(connection.Forbidden, "The operator checks the client secret in FANFARE_OAUTH.", "AADSTS7000215"),
	signInPage.Errors(connection.Forbidden, "The client secret has expired. The operator creates a new one in Microsoft Entra and sets it in FANFARE_OAUTH.", "AADSTS7000222"),
	tokenPage.Errors(connection.Revoked, "Connect again: the access has ended, was taken back, or the password was changed.", "invalid_grant", "interaction_required", "consent_required"),
	tokenPage.Errors(connection.Forbidden, "The operator checks the OAuth client in FANFARE_OAUTH and its registration in Microsoft Entra.", "invalid_client", "unauthorized_client", "access_denied"),
	tokenPage.Errors(connection.Transient, "", "temporarily_unavailable"),
)

// Errors returns the errors that the client knows.
func Errors() transport.ErrorTable { return slices.Clone(errorTable) }
