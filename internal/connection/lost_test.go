package connection_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fanfare/internal/adplatform/sandbox"
	"fanfare/internal/connection"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/record"
	"fanfare/internal/store/storetest"
)

// lose has the service note that all facts of a connection are gone.
func (s *syncFixture) lose(id string) (lost, resyncs bool) {
	s.t.Helper()
	lost, resyncs, err := s.connections.Lost(s.t.Context(), record.Cause{Workspace: s.Workspace, Actor: record.System}, ident.ID(id))
	if err != nil {
		s.t.Fatal(err)
	}
	return lost, resyncs
}

// linkedIn connects an account of LinkedIn with a token. Its first run is queued.
func (s *syncFixture) linkedIn() {
	s.t.Helper()
	s.withToken("linkedin_ads")
}

// withToken connects an account of a platform with a token. Its first run is
// queued.
func (s *syncFixture) withToken(platform string) {
	s.t.Helper()
	s.connections.HistoryDays = 120
	granted, err := s.registry.Server().Grant(sandboxAccounts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.id = s.connect(map[string]any{
		"platform": platform, "name": "With a token", "credentials": map[string]string{
			"access_token": granted[platform].AccessToken, "client_id": "client", "client_secret": "client-secret",
		},
	}).OK().ID()
}

// remedy is what the connection says about its lost data, empty if it has lost
// none.
func (s *syncFixture) remedy() string {
	s.t.Helper()
	c := s.connection()
	if c.DataLostAt == nil {
		if c.StatusReason != nil && c.StatusReason.Code == connection.DataLost {
			s.t.Errorf("got reason %+v without data_lost_at", c.StatusReason)
		}
		return ""
	}
	if c.StatusReason == nil || c.StatusReason.Code != connection.DataLost {
		return "none"
	}
	return *c.StatusReason.Remediation
}

// warned reports whether reports say that data is lost.
func (s *syncFixture) warned() bool {
	s.t.Helper()
	_, warnings := s.spendBy("platform")
	return strings.Contains(strings.Join(warnings, " "), "data_lost")
}

// wantLost checks the remedy and the warning of reports.
func (s *syncFixture) wantLost(when, remedy string) {
	s.t.Helper()
	if got := s.remedy(); !strings.Contains(got, remedy) || (remedy == "") != (got == "") {
		s.t.Errorf("%s: got remedy %q want %q", when, got, remedy)
	}
	want(s.t, when+": warning of reports", remedy != "", s.warned())
}

const (
	saidByPatch = "set data_lost_at to null with PATCH /v1/connections/{id}"
	readAgain   = "None is needed"
)

// TestLostOwnData sends a part of lost data again: the loss ends only when the
// sender says so.
func TestLostOwnData(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		send := func(rows string) { s.ingest(ingest.DefaultSource, rows).OK() }
		send(`[{"date":"2026-11-13","clicks":1,"spend":10},{"date":"2026-11-14","clicks":2,"spend":20}]`)
		s.id = s.ownData()
		s.wantLost("before", "")
		seen := record.Stamp{Version: s.connection().Version}.ETag()
		lost, resyncs := s.lose(s.id)
		want(t, "lost and read again", []bool{true, false}, []bool{lost, resyncs})
		s.wantLost("after the loss", saidByPatch)
		s.Answer(s.connections.Update(t.Context(), s.Cause(), ident.ID(s.id), record.ParseMatch([]string{seen}), storetest.Sent(t, `{"data_lost_at":null}`))).Fault(fault.PreconditionFailed)
		s.wantLost("after a caller who has not seen it", saidByPatch)
		send(`[{"date":"2026-11-14","clicks":2,"spend":20}]`)
		s.wantLost("after one row", saidByPatch)
		first := s.connection().DataLostAt

		s.Clock.Advance(time.Hour)
		seen = record.Stamp{Version: s.connection().Version}.ETag()
		s.lose(s.id)
		since := s.connection().DataLostAt
		want(t, "time of the second loss", first.Add(time.Hour), *since)
		want(t, "time of its reason", *since, s.connection().StatusReason.Since)
		s.Answer(s.connections.Update(t.Context(), s.Cause(), ident.ID(s.id), record.ParseMatch([]string{seen}), storetest.Sent(t, `{"data_lost_at":null}`))).Fault(fault.PreconditionFailed)

		for value, code := range map[string]string{`"2026-11-15T09:14:07.512Z"`: "invalid_value", `false`: "invalid_type", `"null"`: "invalid_format"} {
			e := s.patch(`{"data_lost_at":` + value + `}`).Fault("validation_failed")
			want(t, "details of "+value, []any{"data_lost_at", code}, []any{e.Details[0].Field, e.Details[0].Code})
		}
		s.patch(map[string]any{"data_lost_at": since}).OK()
		s.wantLost("after refused patches", saidByPatch)
		s.patch(`{"name":"Shop"}`).OK()
		s.wantLost("after another change", saidByPatch)

		s.Clock.Advance(time.Minute) // events of the same instant have no order
		version := s.connection().Version
		s.patch(`{"data_lost_at":null}`).OK()
		s.wantLost("after the sender said so", "")
		want(t, "version", version+1, s.connection().Version)
		s.patch(`{"data_lost_at":null}`).OK()
		want(t, "version after the same again", version+1, s.connection().Version)
		var previous []any
		for _, e := range s.Events("resource_id", s.id) {
			if changes := e["previous"].(map[string]any); e["type"] == "connection.updated" && changes["data_lost_at"] != nil {
				previous = append(previous, changes["data_lost_at"])
			}
		}
		want(t, "events", []any{first.String(), since.String()}, previous)
	})
}

// TestLostPlatform loses the facts of a platform: the loss ends when all of its
// history was read again, whatever happens meanwhile.
func TestLostPlatform(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		s.linkedIn()
		s.Sync(s.id)
		s.Sync(s.id)
		s.sync(`{"mode":"backfill","start_date":"2026-06-01","end_date":"2026-07-18"}`)
		want(t, "first day", "2026-06-01", s.connection().Sync.BackfilledSince.String())

		lost, resyncs := s.lose(s.id)
		want(t, "lost and read again", []bool{true, true}, []bool{lost, resyncs})
		s.wantLost("after the loss", readAgain)
		s.patch(`{"data_lost_at":null}`).Fault("invalid_state")
		s.Sync(s.id)
		s.wantLost("after 90 days", readAgain)
		s.sync(`{"mode":"full","streams":["campaigns"]}`)
		s.wantLost("after a sync without metrics", readAgain)
		s.sync(recent)
		s.wantLost("after some days", readAgain)

		// Access ends before the rest is read, and with it the queued run.
		once := 1
		s.addFault(sandbox.FaultRule{Platform: sandbox.LinkedInAds, Fault: sandbox.FaultRevokedToken, Count: &once})
		s.Sync(s.id)
		want(t, "status", connection.StatusReauthRequired, s.connection().Status)
		want(t, "warning without access", true, s.warned())
		s.patch(`{"data_lost_at":null}`).Fault("invalid_state")
		s.reconnectLinkedIn()
		s.wantLost("after access was granted anew", readAgain)
		s.Clock.Advance(2 * time.Hour)
		s.Sync(s.id)
		s.wantLost("after a scheduled run", readAgain)

		// The rest fails at first, and is tried again after the next run.
		s.faults.report = func(_ context.Context, q connection.Report) error {
			if q.First < today-100 {
				return &connection.Error{Class: connection.Forbidden, Code: "no", Message: "No."}
			}
			return nil
		}
		s.Sync(s.id)
		s.faults.report = nil
		s.wantLost("after a part of the rest", readAgain)
		s.Clock.Advance(2 * time.Hour)
		s.Sync(s.id)
		s.Sync(s.id)
		s.wantLost("after all of it", "")
		c := s.connection()
		want(t, "first day again", "2026-06-01", c.Sync.BackfilledSince.String())
	})
}

// reconnectLinkedIn grants access again.
func (s *syncFixture) reconnectLinkedIn() {
	s.t.Helper()
	granted, err := s.registry.Server().Grant(sandboxAccounts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.reconnect(map[string]any{"credentials": map[string]string{"access_token": granted[sandbox.LinkedInAds].AccessToken}}).OK()
}

// TestLostUnreadable loses facts that no sync reads again: of accounts that are
// switched off, and of days that the platform reports no longer. A person has
// to accept that.
func TestLostUnreadable(t *testing.T) {
	withSyncFixture(t, func(_ *testing.T, s *syncFixture) {
		s.connections.HistoryDays = 90
		s.sync(`{"mode":"full"}`)
		s.lose(s.id)
		s.Sync(s.id)
		s.wantLost("with accounts that are off", "are switched off and were not read again. To accept the loss, "+saidByPatch)
		s.patch(`{"data_lost_at":null}`).OK()
		s.wantLost("after it was accepted", "")

		s.withToken("tiktok_ads")
		s.Sync(s.id)
		s.Sync(s.id)
		s.Clock.Advance(700 * 24 * time.Hour)
		s.lose(s.id)
		s.Sync(s.id)
		s.Sync(s.id)
		s.wantLost("with days of long ago", "no longer reports days before")
		s.patch(`{"data_lost_at":null}`).OK()
		s.wantLost("after that was accepted", "")
	}, "linkedin_ads")
}

// TestLostDisconnected loses facts of connections that are disconnected: reports
// say so until that is accepted or the facts are erased.
func TestLostDisconnected(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		source := func(name string) {
			s.ingest(name, `[{"date":"2026-11-13","clicks":1,"spend":10}]`).OK()
			s.id = s.ownData()
		}
		source("before")
		s.lose(s.id)
		s.disconnect(false).OK()
		s.wantLost("disconnected after the loss", "is disconnected")
		s.patch(`{"data_lost_at":null,"name":"Other"}`).Fault("archived")
		s.patch(`{"data_lost_at":null}`).OK()
		s.wantLost("accepted", "")

		source("after")
		s.disconnect(false).OK()
		lost, resyncs := s.lose(s.id)
		want(t, "lost and read again", []bool{true, false}, []bool{lost, resyncs})
		s.wantLost("disconnected before the loss", "is disconnected")
		s.disconnect(true).OK()
		s.wantLost("erased", "")

		source("erased")
		s.disconnect(true).OK()
		lost, _ = s.lose(s.id)
		want(t, "lost what was erased", false, lost)
		s.wantLost("erased before the loss", "")
	})
}

// TestLostDuringFirstSync loses the facts while the first run is at work: all
// days are read again, not only those that the run had left.
func TestLostDuringFirstSync(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		reads := 0
		ctx, stop := context.WithCancel(t.Context())
		s.faults.report = func(context.Context, connection.Report) error {
			if reads++; reads == 3 {
				stop()
				return ctx.Err()
			}
			return nil
		}
		id := s.ask(`{"mode":"full"}`)
		if _, err := s.work(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v want that the work was broken off", err)
		}
		lost, resyncs := s.lose(s.id)
		want(t, "lost and read again", []bool{true, true}, []bool{lost, resyncs})
		r := s.run(id)
		want(t, "the run at work", connection.RunCanceled, r.Status)
		var next []string
		for _, r := range s.runs() {
			if r.Status == connection.RunQueued {
				next = append(next, r.Trigger+" "+r.Mode)
			}
		}
		want(t, "the next run", []string{"initial full"}, next)
		want(t, "reason", connection.DataLost, s.connection().StatusReason.Code)
	}, "meta_ads")
}

// TestLostForgetsAnswers sends own data again under the same idempotency key
// after it was lost: it is stored again.
func TestLostForgetsAnswers(t *testing.T) {
	withSyncFixture(t, func(t *testing.T, s *syncFixture) {
		send := func() (replayed bool) {
			const key = "october-1"
			stored, err := s.DB.StoredResponse(t.Context(), s.Workspace, key)
			s.must(err)
			if stored == nil {
				s.ingestOnce(ingest.DefaultSource, `[{"date":"2026-11-14","clicks":1}]`, &record.Idempotency{Key: key, Fingerprint: "f", Status: 200}).OK()
			}
			return stored != nil
		}
		send()
		want(t, "replayed", true, send())
		own := s.ownData()
		if lost, resyncs := s.lose(own); !lost || resyncs {
			t.Fatalf("got %v, %v want lost, and not read again", lost, resyncs)
		}
		want(t, "replayed after the loss", false, send())
	})
}
