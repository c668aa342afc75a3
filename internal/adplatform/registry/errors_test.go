package registry_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/adplatform/ga4"
	"fanfare/internal/adplatform/google"
	"fanfare/internal/adplatform/linkedin"
	"fanfare/internal/adplatform/meta"
	"fanfare/internal/adplatform/microsoft"
	"fanfare/internal/adplatform/tiktok"
	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

var update = flag.Bool("update", false, "write docs/PLATFORM-ERRORS.md")

const errorPage = "../../../docs/PLATFORM-ERRORS.md"

// errorTables are the tables of the clients in the order of the page.
var errorTables = []struct {
	platform, codes string
	table           transport.ErrorTable
}{
	{"google_ads", "The member of `errorCode` and its value, or the status and the reason of its `ErrorInfo`, or an OAuth error.", google.Errors()},
	{"meta_ads", "The code and the subcode.", meta.Errors()},
	{"tiktok_ads", "The return code, or `http` and the HTTP status of an answer without a code.", tiktok.Errors()},
	{"linkedin_ads", "The HTTP status, and the code, the service error code or the OAuth error.", linkedin.Errors()},
	{"ga4", "The status and the reason of its `ErrorInfo`, or an OAuth error.", ga4.Errors()},
	{"microsoft_ads", "The number of the code, or `AADSTS` and the number of a sign-in error, or an OAuth error.", microsoft.Errors()},
}

// classWords say what a class means, and what Fanfare does by itself.
var classWords = map[connection.Class]struct{ word, itself string }{
	connection.Transient:     {"goes away by itself", "Nothing. Fanfare tries again."},
	connection.Throttled:     {"a limit is reached", "Nothing. Fanfare waits."},
	connection.Expired:       {"the token has expired", "Nothing. Fanfare renews the token."},
	connection.Revoked:       {"access has ended", ""},
	connection.Forbidden:     {"a right is missing", ""},
	connection.TooLarge:      {"too much data at once", "Nothing. Fanfare asks for fewer days."},
	connection.Refused:       {"the request is refused", ""},
	connection.Sunset:        {"the API version has ended", ""},
	connection.Gone:          {"it does not exist any more", ""},
	connection.PagesDisagree: {"pages do not belong together", "Nothing. Fanfare reads the report again."},
}

// TestErrorTables checks that each row says what it must, that no row hides
// another, and that the page in the documentation is the one in the code.
func TestErrorTables(t *testing.T) {
	t.Parallel()
	for _, p := range errorTables {
		for i := range p.table {
			k := &p.table[i]
			if k.Code == "" || k.Source == "" || classWords[k.Class].word == "" {
				t.Errorf("%s: got %+v, want a code, a class and a source", p.platform, k)
			}
			if self := k.Class == connection.Transient || k.Class == connection.PagesDisagree || k.Class == connection.TooLarge; self && k.Remedy != "" {
				t.Errorf("%s %s: got the remedy %q for an error that goes away by itself", p.platform, k.Code, k.Remedy)
			}
			first, _, _ := strings.Cut(k.Code, "-")
			if strings.HasPrefix(k.Code, "-") || !strings.Contains(k.Code, "-") {
				first = k.Code
			}
			if found := p.table.Find(k.Text, first); found != k && (found == nil || found.Code == k.Code && found.Text == k.Text) {
				t.Errorf("%s %s: another row of the same code comes first", p.platform, k.Code)
			}
		}
	}
	got := errorsText()
	if *update {
		if err := os.WriteFile(errorPage, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(errorPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is not the table in the code: run go test ./internal/adplatform/registry -run ErrorTables -update", errorPage)
	}
}

// errorsText returns the page for the documentation.
func errorsText() string {
	var b strings.Builder
	b.WriteString(`# Errors of the platforms

What the platforms document for the calls of Fanfare, what it means and what to do. Fanfare shows the remedy beside the platform's own words:
in ` + "`sync.last_error`, in `status_reason`, in the gaps of accounts, in `push_error`" + ` and in the answer when you connect.

The part after a slash is the subcode or the reason. A code without one has any. ` + "`*`" + ` is any code, and ` + "`200-299`" + ` a range. The first row that fits counts.
The sandbox answers with any of these codes: ` + "`POST /_sandbox/faults {\"platform\": \"meta_ads\", \"fault\": \"code\", \"code\": \"190/463\"}`" + `.

This page is made from the code of the clients.
`)
	for _, p := range errorTables {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| Code | What it means | What to do | Source |\n|---|---|---|---|\n", p.platform, p.codes)
		for rest := p.table; len(rest) > 0; {
			n := slices.IndexFunc(rest, func(k transport.KnownError) bool {
				return k.Text != rest[0].Text || k.Class != rest[0].Class || k.Remedy != rest[0].Remedy || k.Source != rest[0].Source
			})
			if n < 0 || rest[0].Text != "" {
				n = map[bool]int{true: 1, false: len(rest)}[rest[0].Text != ""]
			}
			writeErrors(&b, rest[:n])
			rest = rest[n:]
		}
	}
	return b.String()
}

// writeErrors writes a row for errors with the same class and remedy.
func writeErrors(b *strings.Builder, rows transport.ErrorTable) {
	var codes []string
	for _, k := range rows {
		code := "`" + k.Code + "`"
		if k.Text != "" {
			code += " with “" + k.Text + "” in the message"
		}
		codes = append(codes, code)
	}
	k := rows[0]
	words := classWords[k.Class]
	remedy := words.itself
	if text := connection.Remediation(&connection.Error{Class: k.Class, Remedy: k.Remedy}); k.Remedy != "" || remedy == "" {
		remedy = *text
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s |\n", strings.Join(codes, ", "), words.word, remedy, k.Source)
}
