package ga4

import (
	"slices"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/adplatform/transport"
)

// errorTable has the errors of calls to Google Analytics: the status, and the
// reason after a slash.
var errorTable = slices.Concat(
	googleauth.ReasonErrors("both the Google Analytics Data API and the Google Analytics Admin API", "Google Analytics data"),
	googleauth.StatusErrors(askViewer, restoreProperty),
)

const (
	askViewer       = "Ask an administrator of the property for the Viewer role, without restrictions, for the Google account that granted access: Google Analytics, Admin, Property access management."
	restoreProperty = "Look for the property in Google Analytics, Admin, Trash. Restore it there, or turn it off in the connection; its past metrics stay."
)

// Errors returns the errors that Google documents for our calls, also those of
// OAuth.
func Errors() transport.ErrorTable { return slices.Concat(errorTable, googleauth.TokenErrors) }
