package campaign_test

import (
	"context"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"

	"fanfare/internal/campaign"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/store/storetest"
)

// ref is a platform campaign that a test links.
func ref(connection ident.ID, channel string, enabled bool) record.ExternalRef {
	status := map[bool]string{true: "ACTIVE", false: "PAUSED"}[enabled]
	return record.ExternalRef{
		ConnectionID: connection, Platform: "meta_ads", ExternalID: string(connection) + channel, ExternalStatus: &status, Enabled: &enabled, Channel: &channel,
		SyncedAt: clock.At(storetest.Start),
	}
}

// setRefs links a campaign to platform campaigns.
func (l *refService) setRefs(t *testing.T, id ident.ID, refs ...record.ExternalRef) {
	t.Helper()
	look := func(context.Context) ([]record.ExternalRef, error) { return refs, nil }
	if err := l.UpdateRefs(t.Context(), l.cause.Workspace, id, look); err != nil {
		t.Fatal(err)
	}
}

// TestNotLinked checks which campaigns have no delivery.
func TestNotLinked(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	l.refs.issues = map[ident.ID]string{"con_old": "connection_reauth_required", "con_off": "no_connection"}
	l.refs.archived = ids("con_off")
	unknown := ref("con_2", "social", true)
	unknown.Enabled, unknown.Channel = nil, nil
	for _, tt := range []struct {
		name        string
		connections []ident.ID
		channels    []string
		refs        []record.ExternalRef
		status      string
		codes       []string
	}{
		{"nothing", nil, nil, nil, "blocked", []string{"no_connection", "not_linked"}},
		{"connected only", ids("con_2"), nil, nil, "blocked", []string{"not_linked"}},
		{"own data", ids("con_1"), []string{"email", "sms"}, nil, "delivering", nil},
		{"linked, no connection named", nil, nil, []record.ExternalRef{ref("con_2", "social", true)}, "delivering", nil},
		{"linked and connected", ids("con_2"), []string{"social"}, []record.ExternalRef{ref("con_2", "social", true)}, "delivering", nil},
		{"one of two channels", nil, []string{"social", "search"}, []record.ExternalRef{ref("con_2", "social", true)}, "limited", []string{"not_linked"}},
		{"the other is paused there", nil, []string{"social", "search"}, []record.ExternalRef{ref("con_2", "social", true), ref("con_2", "search", false)}, "limited", []string{"not_linked"}},
		{"both channels", nil, []string{"social", "search"}, []record.ExternalRef{ref("con_2", "social", true), ref("con_3", "search", true)}, "delivering", nil},
		{"paused there", nil, nil, []record.ExternalRef{ref("con_2", "social", false)}, "blocked", []string{"not_linked"}},
		{"access has ended", nil, nil, []record.ExternalRef{ref("con_old", "social", true)}, "limited", []string{"connection_reauth_required"}},
		{"disconnected", nil, nil, []record.ExternalRef{ref("con_off", "social", true)}, "blocked", []string{"no_connection", "not_linked"}},
		{"one of two disconnected", nil, nil, []record.ExternalRef{ref("con_off", "social", true), ref("con_2", "social", true)}, "limited", []string{"no_connection"}},
		{"linked before an update of the server", nil, []string{"search"}, []record.ExternalRef{unknown}, "delivering", nil},
	} {
		spec := completeSpec(budget("daily", 100, 0, "USD"))
		spec.ConnectionIDs, spec.Channels = tt.connections, tt.channels
		id := l.create(t, spec)
		l.setRefs(t, id, tt.refs...)
		l.act(t, id, campaign.Launch)
		check := func(what, wanted string) {
			t.Helper()
			status, issues := deliveryOf(read(c, string(id)))
			want(t, tt.name+what, wanted, status)
			for _, code := range tt.codes {
				if issues[code] == "" {
					t.Errorf("%s%s: got issues %v want %s", tt.name, what, issues, code)
				}
			}
			want(t, tt.name+what+": issues", len(tt.codes), len(issues))
		}
		check("", tt.status)
	}
}

// TestPausedNeedsNoEnabledLink checks that a paused campaign whose platform
// campaign is paused as requested has no issue.
func TestPausedNeedsNoEnabledLink(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	spec := completeSpec(budget("daily", 100, 0, "USD"))
	spec.ConnectionIDs = nil
	id := l.active(t, spec)
	l.setRefs(t, id, ref("con_2", "social", true))
	l.act(t, id, campaign.Pause)
	l.setRefs(t, id, ref("con_2", "social", false))
	status, issues := deliveryOf(read(c, string(id)))
	want(t, "delivery", "paused", status)
	want(t, "issues", map[string]string{}, issues)
	l.act(t, id, campaign.Resume)
	status, issues = deliveryOf(read(c, string(id)))
	want(t, "delivery once resumed", "blocked", status)
	want(t, "issues once resumed", 1, len(issues))
}

// TestOwnDataDelivers checks that own data of a campaign counts as delivery.
func TestOwnDataDelivers(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	spec := completeSpec(budget("daily", 100, 0, "USD"))
	spec.ConnectionIDs = nil
	id := l.active(t, spec)
	l.spend.set(id, usd(today, 5))
	l.updateSpend(t)
	want(t, "with own data", "5.00 USD, 95.00 USD left, active/delivering []", spendAndStatus(c, id))
	l.spend.set(id)
	l.updateSpend(t)
	want(t, "without", "none, none left, active/blocked [no_connection not_linked]", spendAndStatus(c, id))
}

// fakePlatforms returns platform campaigns as a launch requests them: those
// whose state can be written are pending.
type fakePlatforms struct{ refs []record.ExternalRef }

func (f *fakePlatforms) Request(context.Context, ident.ID, ident.ID, bool) ([]record.ExternalRef, error) {
	return slices.Clone(f.refs), nil
}

// TestCheckLaunch checks that the issues before a launch are those after it,
// and that the check changes nothing.
func TestCheckLaunch(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	l := newRefService(c)
	off, written := ref("con_2", "social", false), ref("con_2", "social", false)
	pending := "pending"
	written.Push = &pending
	for _, tt := range []struct {
		name   string
		linked []record.ExternalRef
		refs   []record.ExternalRef
		codes  []string
	}{
		{"not linked", nil, nil, []string{"not_linked"}},
		{"paused there, state not written", []record.ExternalRef{off}, []record.ExternalRef{off}, []string{"not_linked"}},
		{"paused there, state written", []record.ExternalRef{off}, []record.ExternalRef{written}, nil},
		{"enabled there", []record.ExternalRef{ref("con_2", "social", true)}, []record.ExternalRef{ref("con_2", "social", true)}, nil},
	} {
		spec := completeSpec(budget("daily", 100, 0, "USD"))
		spec.ConnectionIDs = ids("con_2")
		id := l.create(t, spec)
		l.setRefs(t, id, tt.linked...)
		l.Platforms = &fakePlatforms{tt.refs}
		before := read(c, string(id))
		d, err := l.CheckLaunch(t.Context(), c.Workspace, id, record.Match{})
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Status   string `json:"status"`
			Delivery struct {
				Issues []struct {
					Code string `json:"code"`
				} `json:"issues"`
			} `json:"delivery"`
		}
		if err := json.Unmarshal(d.JSON, &got); err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, i := range got.Delivery.Issues {
			codes = append(codes, i.Code)
		}
		want(t, tt.name, tt.codes, codes)
		want(t, tt.name+": status", "draft", got.Status)
		want(t, tt.name+": the record", before, read(c, string(id)))
		l.Platforms = nil
	}
}
