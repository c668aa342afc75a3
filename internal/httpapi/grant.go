package httpapi

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"fanfare/internal/connection"
	"fanfare/internal/fault"
)

// grantPage is the page of the OAuth callback: it asks the user to confirm the
// access or shows the result. The form posts to the URL of the page, so that
// the HTML does not repeat the authorization code.
var grantPage = template.Must(template.New("grant").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Title}} – Fanfare</title><meta name="viewport" content="width=device-width"></head>
<body style="font: 1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 4rem auto; padding: 0 1rem">
<h1>{{.Title}}</h1>
{{- with .Asked}}
<p>The workspace <strong>“{{$.Workspace}}”</strong> on this Fanfare server asks for access to your {{.Platform}} accounts, for its connection “{{.Connection}}”.
{{- with .Key}} The request was made with the API key “{{.}}”.{{end}}</p>
<p>It will read your campaigns and their metrics{{if .Write}}, and <strong>launch, pause and resume campaigns</strong> for you{{end}}.</p>
<p>Nothing is connected yet. If you do not know this workspace, cancel.</p>
<form method="post"><button style="font: inherit; padding: .5rem 1rem">Give access</button> <a href="?error=access_denied" style="padding: .5rem 1rem">Cancel</a></form>
{{- else}}
<p>{{.Message}}</p>
{{- end}}
</body></html>
`))

type grantView struct {
	Title, Message string
	Workspace      string
	Asked          *connection.Grantee
}

// hGrantPolicy allows the form to post only to this server and forbids framing.
var hGrantPolicy = []string{"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"}

// grantAccess handles the OAuth callback of a platform. A connection that was
// started in a session is completed only in that session. For one that was
// started with an API key, the user has to confirm with a POST.
func (a *API) grantAccess(r *request, platform string) error {
	confirmed := r.http.Method == http.MethodPost
	switch {
	case confirmed:
		if err := a.ownForm(r.http); err != nil {
			return err
		}
	case r.http.Method != http.MethodGet && r.http.Method != http.MethodHead:
		return r.onlyTakes("GET", "HEAD", "POST")
	}
	ctx, cancel := context.WithTimeout(r.http.Context(), a.TimeLimit)
	defer cancel()
	q := r.http.URL.Query()
	v := connection.Visit{Platform: platform, State: q.Get("state"), Code: q.Get("code"), Denied: q.Get("error"), Session: r.session, Confirmed: confirmed}
	if v.Code == "" {
		v.Code = q.Get("auth_code")
	}
	if v.State == "" && v.Denied != "" {
		return a.sendGrant(r, http.StatusBadRequest, grantView{Title: "Not connected", Message: "Access was not granted."})
	}
	d, asked, err := a.Connections.Complete(ctx, v)
	f, told := errors.AsType[*fault.Error](err)
	switch {
	case err != nil && !told:
		return err
	case err != nil:
		return a.sendGrant(r, http.StatusBadRequest, grantView{Title: "Not connected", Message: f.Message})
	case asked != nil:
		return a.askGrant(ctx, r, asked)
	case confirmed:
		return a.sendGrant(r, http.StatusOK, grantView{Title: "Connected", Message: "Access is granted and the first sync has started. You can close this page."})
	}
	r.w.Header()["Location"] = []string{"/connections/" + string(d.ID())}
	r.head(http.StatusFound)
	return nil
}

// askGrant shows which workspace and connection ask for access.
func (a *API) askGrant(ctx context.Context, r *request, asked *connection.Grantee) error {
	w, err := a.Accounts.Workspace(ctx, asked.Workspace)
	if err != nil {
		return err
	}
	return a.sendGrant(r, http.StatusOK, grantView{Title: fmt.Sprintf("Give “%s” access to %s?", w.Name, asked.Platform), Workspace: w.Name, Asked: asked})
}

func (a *API) sendGrant(r *request, status int, view grantView) error {
	var b strings.Builder
	if err := grantPage.Execute(&b, view); err != nil {
		return err
	}
	h := r.w.Header()
	// The URL contains the authorization code, so other sites must not get it
	// as the referrer. The form still sends the origin.
	h["Content-Security-Policy"], h["Referrer-Policy"] = hGrantPolicy, []string{"same-origin"}
	a.send(r, status, "text/html; charset=utf-8", []byte(b.String()))
	return nil
}

// ownForm returns a fault unless the browser states that the form comes from
// this server. Every browser sends Sec-Fetch-Site or Origin.
func (a *API) ownForm(hr *http.Request) error {
	site, origin := hr.Header.Get("Sec-Fetch-Site"), hr.Header.Get("Origin")
	if site == "same-origin" || site == "" && (origin == a.origin || origin == "https://"+hr.Host) {
		return nil
	}
	const message = "This was sent from another site. Open the page again and confirm there."
	return fault.New(fault.InsufficientPermissions, message, fault.Detail{Code: "cross_origin", Message: message})
}
