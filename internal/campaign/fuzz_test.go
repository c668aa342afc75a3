package campaign_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fanfare/internal/campaign"
	"fanfare/internal/fault"
)

// wantFault fails the test unless err is a fault of the caller.
func wantFault(t *testing.T, err error) {
	t.Helper()
	if !fault.Is(err, fault.MalformedJSON) && !fault.Is(err, fault.ValidationFailed) {
		t.Fatalf("got error %v, want a fault of the caller", err)
	}
}

// FuzzCampaign checks that an accepted record, sent as a patch of itself,
// changes nothing.
func FuzzCampaign(f *testing.F) {
	for _, seed := range []string{
		`{"name":"One"}`,
		`{"name":"One","budget":{"type":"daily","amount":5000,"daily_cap":"0.01"},"tags":["A","b"],"metadata":{"k":"v"}}`,
		`{"name":"One","schedule":{"start_at":"2027-01-01T00:00:00+01:00","end_at":null,"timezone":"Europe/Berlin"},"channels":["search"]}`,
		`{"name":"One","goal":{"metric":"cpa","target":1e-7,"direction":"at_most"},"attribution":{"click_days":30},"experiment":{"split":"even","winner_metric":"ctr"}}`,
		`{"name":"One","tracking":{"landing_url":"https://example.com/{{campaign.id}}","utm":{"source":"{{channel}}"},"auto_tag":true}}`,
		`{"name":5,"x":1,"status":"active","tags":[null]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		spec, err := campaign.ReadSpec(sent)
		if err != nil {
			wantFault(t, err)
			return
		}
		stored, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, patch := range [][]byte{stored, []byte(`{}`)} {
			again, err := campaign.PatchSpec(stored, patch)
			if err != nil {
				t.Fatalf("%s: got %v for %s, want it to be accepted again", sent, err, stored)
			}
			if diff := cmp.Diff(spec, again, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%s: the record changed (-first +second):\n%s", sent, diff)
			}
		}
	})
}

// FuzzPatch checks that any patch of a full record is accepted or rejected with
// faults that name fields.
func FuzzPatch(f *testing.F) {
	const full = `{"name":"One","description":"d","budget":{"type":"daily","amount":"5.00","currency":"USD","pacing":"even","daily_cap":null},"tags":["a"],"metadata":{"k":"v"},"status":"draft","version":3}`
	for _, seed := range []string{`{}`, `{"name":null}`, `{"budget":{"amount":6}}`, `{"budget":null,"metadata":{"k":null}}`, `{"status":"draft","version":3}`, `{"status":"active"}`, `{"tags":[]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, patch []byte) {
		spec, err := campaign.PatchSpec([]byte(full), patch)
		if err != nil {
			wantFault(t, err)
			return
		}
		if strings.TrimSpace(spec.Name) == "" || len(spec.Metadata) > 50 {
			t.Fatalf("got %+v from %s, want a valid record", spec, patch)
		}
	})
}
