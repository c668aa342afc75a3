package registry_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/google"
	"fanfare/internal/adplatform/linkedin"
	"fanfare/internal/adplatform/meta"
	"fanfare/internal/adplatform/microsoft"
	"fanfare/internal/adplatform/tiktok"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
	"fanfare/internal/secret"
)

// fixedBody answers every request with the same body.
type fixedBody string

func (c fixedBody) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}

// TestPlatformStatusValues checks that only the platform's own status of the
// requested campaign counts as enabled or stopped.
func TestPlatformStatusValues(t *testing.T) {
	t.Parallel()
	wrap := map[string]func(campaign string) string{
		"meta":     func(c string) string { return c },
		"linkedin": func(c string) string { return c },
		"google":   func(c string) string { return `[{"results":[{"campaign":` + c + `}]}]` },
		"microsoft": func(c string) string {
			return `{"Account":{"Id":"1234567890","ParentCustomerId":"9"},"Campaigns":[` + c + `],"PartialErrors":[]}`
		},
		"tiktok": func(c string) string { return `{"code":0,"message":"OK","data":{"list":[` + c + `]}}` },
	}
	clients := map[string]func(o transport.Options) connection.Client{
		"meta":      func(o transport.Options) connection.Client { return meta.New(o) },
		"linkedin":  func(o transport.Options) connection.Client { return linkedin.New(o) },
		"google":    func(o transport.Options) connection.Client { return google.New(o) },
		"microsoft": func(o transport.Options) connection.Client { return microsoft.New(o) },
		"tiktok":    func(o transport.Options) connection.Client { return tiktok.New(o) },
	}
	enabled := connection.Observed{Runs: true}
	stopped := connection.Observed{Stopped: true}
	unknown := connection.Observed{}
	for _, tt := range []struct {
		platform, campaign string
		want               connection.Observed
	}{
		{"meta", `{"id":"7","status":"PAUSED","effective_status":"PAUSED"}`, stopped},
		{"meta", `{"id":"7","status":"PAUSED"}`, stopped},
		{"meta", `{"id":"7","status":"ARCHIVED","effective_status":"ARCHIVED"}`, stopped},
		{"meta", `{"id":"7","status":"ACTIVE","effective_status":"WITH_ISSUES"}`, enabled},
		{"meta", `{"id":"7","status":"ACTIVE","effective_status":"ACTIVE"}`, enabled},
		{"meta", `{"id":"7","status":"PAUSED","effective_status":"ACTIVE"}`, enabled},
		{"meta", `{"id":"7","status":"ACTIVE","effective_status":"PAUSED"}`, unknown},
		{"meta", `{"id":"7","status":"PAUSED","effective_status":"IN_PROCESS"}`, unknown},
		{"meta", `{"id":"7","status":"IN_PROCESS"}`, unknown},
		{"meta", `{"id":"7","status":"paused"}`, unknown},
		{"meta", `{"id":"7","status":""}`, unknown},
		{"meta", `{"id":"7"}`, unknown},
		{"meta", `{"id":"1","status":"PAUSED","effective_status":"PAUSED"}`, unknown},
		{"meta", `{"status":"PAUSED","effective_status":"PAUSED"}`, unknown},
		{"meta", `{}`, unknown},
		{"meta", `null`, unknown},
		{"linkedin", `{"id":7,"status":"PAUSED"}`, stopped},
		{"linkedin", `{"id":7,"status":"COMPLETED"}`, stopped},
		{"linkedin", `{"id":7,"status":"ACTIVE"}`, enabled},
		{"linkedin", `{"id":7,"status":null}`, unknown},
		{"linkedin", `{"id":7,"status":"UNKNOWN"}`, unknown},
		{"linkedin", `{"id":8,"status":"PAUSED"}`, unknown},
		{"linkedin", `{}`, unknown},
		{"linkedin", `null`, unknown},
		{"google", `{"id":"7","status":"PAUSED"}`, stopped},
		{"google", `{"id":"7","status":"REMOVED"}`, stopped},
		{"google", `{"id":"7","status":"ENABLED"}`, enabled},
		{"google", `{"id":"7","status":"UNSPECIFIED"}`, unknown},
		{"google", `{"id":"7"}`, unknown},
		{"google", `{"id":"8","status":"PAUSED"}`, unknown},
		{"google", `{}`, unknown},
		{"microsoft", `{"Id":"7","Status":"Paused"}`, stopped},
		{"microsoft", `{"Id":"7","Status":"BudgetAndManualPaused"}`, stopped},
		{"microsoft", `{"Id":"7","Status":"Suspended"}`, stopped},
		{"microsoft", `{"Id":"7","Status":"Deleted"}`, stopped},
		{"microsoft", `{"Id":"7","Status":"Active"}`, enabled},
		{"microsoft", `{"Id":"7","Status":"BudgetPaused"}`, enabled},
		{"microsoft", `{"Id":"7","Status":"Limited"}`, unknown},
		{"microsoft", `{"Id":"7"}`, unknown},
		{"microsoft", `{"Id":"8","Status":"Paused"}`, unknown},
		{"microsoft", `{}`, unknown},
		{"tiktok", `{"campaign_id":"7","operation_status":"DISABLE"}`, stopped},
		{"tiktok", `{"campaign_id":"7","operation_status":"ENABLE"}`, enabled},
		{"tiktok", `{"campaign_id":"7","operation_status":"DELETE"}`, unknown},
		{"tiktok", `{"campaign_id":"7"}`, unknown},
	} {
		client := clients[tt.platform](transport.Options{Base: "http://platform.test", Do: fixedBody(wrap[tt.platform](tt.campaign)), Now: time.Now})
		got, err := client.Status(t.Context(), connection.Credentials{Access: secret.New("token")}, "1234567890", "7")
		if err != nil {
			t.Errorf("%s %s: %v", tt.platform, tt.campaign, err)
		}
		if got.Runs != tt.want.Runs || got.Stopped != tt.want.Stopped {
			t.Errorf("%s %s: got %+v want %+v", tt.platform, tt.campaign, got, tt.want)
		}
	}
}
