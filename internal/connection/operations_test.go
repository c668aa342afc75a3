package connection_test

import (
	"strings"

	"fanfare/internal/body"
	"fanfare/internal/campaign"
	"fanfare/internal/connection"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/page"
	"fanfare/internal/record"
	"fanfare/internal/store/storetest"
)

// options is the body of an action; nil is none.
func (s *syncFixture) options(v any) *body.Value {
	s.t.Helper()
	if v == nil {
		v = "{}"
	}
	return storetest.Sent(s.t, v)
}

func (s *syncFixture) connect(v any) *storetest.Answer {
	s.t.Helper()
	return s.Answer(s.connections.Create(s.t.Context(), s.Cause(), storetest.Sent(s.t, v), home))
}

func (s *syncFixture) patch(v any) *storetest.Answer {
	s.t.Helper()
	return s.Answer(s.connections.Update(s.t.Context(), s.Cause(), ident.ID(s.id), record.Match{}, storetest.Sent(s.t, v)))
}

func (s *syncFixture) reconnect(v any) *storetest.Answer {
	s.t.Helper()
	return s.Answer(s.connections.Reconnect(s.t.Context(), s.Cause(), ident.ID(s.id), record.Match{}, s.options(v), home))
}

func (s *syncFixture) disconnect(purge bool) *storetest.Answer {
	return s.Answer(s.connections.Disconnect(s.t.Context(), s.Cause(), ident.ID(s.id), record.Match{}, purge))
}

// request asks for a sync.
func (s *syncFixture) request(v any) *storetest.Answer {
	s.t.Helper()
	return s.Answer(s.connections.Sync(s.t.Context(), s.Cause(), ident.ID(s.id), record.Match{}, s.options(v)))
}

func (s *syncFixture) cancel(run ident.ID) *storetest.Answer {
	return s.Answer(s.connections.Cancel(s.t.Context(), s.Cause(), run, record.Match{}))
}

// links takes a request to link or unlink what the connection has.
func (s *syncFixture) links(v any) *storetest.Answer {
	s.t.Helper()
	answer, err := s.connections.Link(s.t.Context(), s.Cause(), ident.ID(s.id), record.Match{}, s.options(v))
	return s.Answer(record.Doc{JSON: answer}, err)
}

// entities lists the entities of the connection.
func (s *syncFixture) entities(kinds []string, linked *bool) []connection.Link {
	s.t.Helper()
	list, err := s.connections.Entities(s.t.Context(), s.Workspace, ident.ID(s.id), kinds, linked, "", 100)
	s.must(err)
	return list
}

// ingest sends rows of own data.
func (s *syncFixture) ingest(source, rows string) *storetest.Answer {
	return s.ingestOnce(source, rows, nil)
}

func (s *syncFixture) ingestOnce(source, rows string, once *record.Idempotency) *storetest.Answer {
	cause := s.Cause()
	cause.Idempotency = once
	answer, err := s.imports.Ingest(s.t.Context(), cause, ingest.Feed{Source: source, Mode: ingest.Upsert, Defaults: home, Body: []byte(rows)})
	return s.Answer(record.Doc{JSON: answer}, err)
}

// ownData is the newest connection of own data.
func (s *syncFixture) ownData() string {
	s.t.Helper()
	q := page.Query{Limit: 100, Sort: "created_at", Desc: true, Filters: []page.Filter{{Name: "platform", Values: []string{connection.PlatformAPI}}}}
	return s.Members(s.connections.List(s.t.Context(), s.Workspace, q))[0]["id"].(string)
}

var campaignDefaults = campaign.Defaults{Timezone: home.Zone, Currency: home.Currency}

func (s *syncFixture) newCampaign(v any) *storetest.Answer {
	return s.Answer(s.Campaigns.Create(s.t.Context(), s.Cause(), storetest.Sent(s.t, v), campaignDefaults))
}

func (s *syncFixture) newAudience(v any) *storetest.Answer {
	return s.Answer(s.Audiences.Create(s.t.Context(), s.Cause(), storetest.Sent(s.t, v)))
}

func (s *syncFixture) getCampaign(id string) *storetest.Answer {
	return s.Answer(s.Campaigns.Get(s.t.Context(), s.Workspace, ident.ID(id)))
}

func (s *syncFixture) patchCampaign(id string, v any) *storetest.Answer {
	return s.Answer(s.Campaigns.Update(s.t.Context(), s.Cause(), ident.ID(id), record.Match{}, storetest.Sent(s.t, v), campaignDefaults))
}

// transition moves a campaign.
func (s *syncFixture) transition(id, verb string) *storetest.Answer {
	ctx, cause, at := s.t.Context(), s.Cause(), ident.ID(id)
	switch verb {
	case "archive":
		return s.Answer(s.Campaigns.Archive(ctx, cause, at, record.Match{}))
	case "restore":
		return s.Answer(s.Campaigns.Restore(ctx, cause, at, record.Match{}))
	}
	return s.Answer(s.Campaigns.Transition(ctx, cause, at, record.Match{}, campaign.Action(verb)))
}

// record reads a campaign or an audience.
func (s *syncFixture) record(id string) *storetest.Answer {
	if strings.HasPrefix(id, ident.Audience+"_") {
		return s.Answer(s.Audiences.Get(s.t.Context(), s.Workspace, ident.ID(id)))
	}
	return s.getCampaign(id)
}
