package connection

import (
	"fmt"

	"fanfare/internal/body"
	"fanfare/internal/fault"
	"fanfare/internal/record"
	"fanfare/internal/secret"
)

// readSpec reads a connection that a caller wants to create.
func readSpec(f *body.Reader) (spec Spec) {
	body.Set(&spec.Platform, f.Choice("platform", body.Required, Connectable))
	body.Set(&spec.Name, f.Text("name", body.Required, 1, MaxName))
	readConfig(f, &spec.Config)
	spec.Credentials = readGiven(f)
	body.Set(&spec.WriteEnabled, f.Flag("write_enabled"))
	body.Set(&spec.LinkByName, f.Flag("link_by_name"))
	spec.Selection = readSelection(f)
	if events := readConversionEvents(f); events != nil {
		spec.ConversionEvents = *events
	}
	f.Done()
	return spec
}

// unknownAccounts reports accounts that the connection does not have, at their
// place in the body.
func (c *Connection) unknownAccounts(f *body.Reader, u *Update) {
	for i, account := range f.Object.Get("accounts").Items {
		v := account.Get("external_id")
		if v == nil {
			continue
		}
		if _, named := u.Accounts[v.Text]; named && c.account(v.Text) == nil {
			f.Bad(fmt.Sprintf("accounts[%d].external_id", i), "not_found", "names no account of the connection.", nil)
		}
	}
}

// otherLoss reports another time of a loss than the connection has.
func (c *Connection) otherLoss(f *body.Reader, u *Update) {
	if at := u.DataLostAt; at != nil && (c.DataLostAt == nil || *at != *c.DataLostAt) {
		f.Bad("data_lost_at", "invalid_value", "must be null or the current value, because only the service sets a time. Send null when all data that matters was sent again, or to accept the loss.", nil)
	}
}

// maxSeed is the largest whole number that every JSON reader takes exactly.
const maxSeed = 1<<53 - 1

func readConfig(f *body.Reader, c *Config) {
	n := f.Nested("config", body.Optional)
	if n == nil {
		return
	}
	c.Seed = n.Integer("seed", body.Optional, 0, maxSeed)
	body.Set(&c.Currency, n.Currency("currency", body.Optional))
	body.Set(&c.Timezone, n.Zone("timezone", body.Optional))
	n.Done()
}

// Limits of tokens.
const (
	maxToken    = 4096
	maxClientID = 512
)

// readGiven reads credentials that a caller brings, nil where there are none.
func readGiven(f *body.Reader) *Given {
	n := f.Nested("credentials", body.Optional)
	if n == nil {
		return nil
	}
	g := &Given{}
	hidden := func(name string) (t secret.Text) {
		if v := n.Text(name, body.Optional, 1, maxToken); v != nil {
			t = secret.New(*v)
		}
		return t
	}
	g.Access, g.Refresh, g.ClientSecret = hidden("access_token"), hidden("refresh_token"), hidden("client_secret")
	body.Set(&g.ClientID, n.Text("client_id", body.Optional, 1, maxClientID))
	if key := n.Nested("service_account", body.Optional); key != nil {
		g.ServiceAccount = readServiceAccount(key)
	}
	n.Done()
	return g
}

// readOnly are the members that only the service sets.
var readOnly = []string{
	"id", "platform", "status", "status_reason", "capabilities", "scopes_granted", "scopes_missing", "credentials_expire_at", "config", "account_selection", "health",
	"authorization_url", "reauth_url", "version", "created_by", "created_at", "updated_at", "archived_at",
}

// readUpdate reads what a caller wants changed.
func readUpdate(f *body.Reader) (u Update) {
	u.Name = f.Text("name", body.Optional, 1, MaxName)
	u.WriteEnabled, u.LinkByName = f.Flag("write_enabled"), f.Flag("link_by_name")
	u.ConversionEvents = readConversionEvents(f)
	u.DataLostAt = f.Instant("data_lost_at")
	u.DataComplete = f.Object.Get("data_lost_at") != nil && f.Object.Get("data_lost_at").Kind == body.KindNull
	if n := f.Nested("sync", body.Optional); n != nil {
		u.IntervalMinutes = n.Integer("interval_minutes", body.Optional, MinInterval, MaxInterval)
		u.LookbackDays = n.Integer("lookback_days", body.Optional, MinLookback, MaxLookback)
		n.Done("state", "current_run_id", "last_run_id", "last_success_at", "last_error", "next_run_at", "data_through", "backfilled_since")
	}
	for _, o := range f.Objects("accounts", MaxAccounts) {
		account := o.Text("external_id", body.Required, 1, MaxAccountID)
		on := o.Flag("enabled")
		erase := o.Flag("delete_metrics")
		if o.Object.Get("enabled") == nil {
			o.Bad(o.At("enabled"), "required", "is required.", nil)
		}
		o.Done("platform", "name", "currency", "timezone", "url", "reports")
		if account != nil && on != nil {
			if u.Accounts == nil {
				u.Accounts = map[string]bool{}
			}
			u.Accounts[*account] = *on
			if erase != nil && *erase {
				u.Delete = append(u.Delete, *account)
			}
		}
	}
	return u
}

// readRequest reads which days a caller wants synced.
func readRequest(f *body.Reader) (req Request) {
	defer f.Done()
	req.Mode = ModeIncremental
	mode := f.Choice("mode", body.Optional, Modes)
	body.Set(&req.Mode, mode)
	if f.Object.Get("streams") != nil {
		if req.Streams = f.Choices("streams", len(Streams), Streams); len(req.Streams) == 0 && f.Err() == nil {
			f.Bad("streams", "too_few_items", "must have at least 1 item; leave it out for everything.", fault.Meta{"minimum": 1})
		}
	}
	req.First, req.Last = f.Day("start_date"), f.Day("end_date")
	if mode == nil && f.Object.Get("mode") != nil {
		// Nobody knows which days would be right with it.
		return req
	}
	backfill := req.Mode == ModeBackfill
	for _, name := range []string{"start_date", "end_date"} {
		switch there := f.Object.Get(name) != nil; {
		case backfill && !there:
			f.Bad(name, "required", "is required for mode backfill.", nil)
		case !backfill && there:
			f.Bad(name, "incompatible_fields", "is for mode backfill only.", nil)
		}
	}
	if req.First != nil && req.Last != nil && *req.First > *req.Last {
		f.Bad("end_date", "invalid_value", "must not be before start_date.", nil)
	}
	return req
}

// invalid returns the fault of an invalid body for an operation that has no
// precondition. If-Match is compared only then, so that faults have the same
// order for all operations.
func (c *Connection) invalid(f *body.Reader, match record.Match) error {
	wrong := f.Err()
	if wrong == nil {
		return nil
	}
	if err := match.Check(c.Version); err != nil {
		return err
	}
	return wrong
}

// maxLinks is how many links one call may make.
const maxLinks = 1000

// readLinks reads what a caller wants linked.
func readLinks(f *body.Reader) (req LinkRequest) {
	for _, o := range f.Objects("links", maxLinks) {
		req.Links = append(req.Links, readLink(o))
	}
	req.ByName = f.Choice("match", body.Optional, []string{"name"}) != nil
	f.Done()
	return req
}

func readLink(o *body.Reader) (l LinkWish) {
	body.Set(&l.Kind, o.Choice("kind", body.Required, Kinds))
	body.Set(&l.External, o.Text("external_id", body.Required, 1, MaxAccountID))
	if v := o.Object.Get("record_id"); v != nil && v.Kind == body.KindNull {
		o.Skip("record_id")
	} else {
		body.Set(&l.Record, o.ID("record_id", body.Required))
	}
	o.Done()
	return l
}
