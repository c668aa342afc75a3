package google

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// reportView is a resource of Google Ads and its selected fields.
type reportView struct{ resource, fields string }

// rowKey identifies a row of a view.
type rowKey struct{ date, campaign, group, ad, assetGroup, country, location, age, device, action string }

func (r *row) key() rowKey {
	return rowKey{
		r.Segments.Date, r.Campaign.ID, r.AdGroup.ID, r.AdGroupAd.Ad.ID, r.AssetGroup.ID, r.GeographicView.CountryCriterionID, r.GeographicView.LocationType,
		r.AdGroupCriterion.AgeRange.Type, r.Segments.Device, r.Segments.ConversionAction,
	}
}

// viewRow is a row of a view and its metrics.
type viewRow struct {
	row
	date   clock.Date
	values fact.Values
}

// readView reads the rows of a view without duplicates and calls each with the
// part of a fact that all levels share.
func (c *Client) readView(ctx context.Context, creds connection.Credentials, q *connection.Report, v reportView, each func(r *row, as fact.Row)) error {
	metrics := countedMetrics + ", " + conversionMetrics
	if len(q.Conversions) > 0 {
		metrics = countedMetrics
	}
	rows, err := c.readRows(ctx, creds, q, v, metrics)
	if err != nil {
		return err
	}
	if len(q.Conversions) > 0 {
		if rows, err = c.addChosenConversions(ctx, creds, q, v, rows); err != nil {
			return err
		}
	}
	for i := range rows {
		r := &rows[i]
		as := fact.Row{Date: r.date, Values: r.values}
		if r.Campaign.ID != "" {
			as.Campaign, as.Channel = fact.Entity{ExternalID: r.Campaign.ID, Name: r.Campaign.Name}, channelOf(r.Campaign.Type)
		}
		each(&r.row, as)
	}
	return nil
}

// readRows reads metrics of a view.
func (c *Client) readRows(ctx context.Context, creds connection.Credentials, q *connection.Report, v reportView, metrics string) ([]viewRow, error) {
	fields := metrics
	if v.fields != "" {
		fields = v.fields + ", " + metrics
	}
	gaql := fmt.Sprintf("SELECT segments.date, %s FROM %s WHERE segments.date BETWEEN '%s' AND '%s'", fields, v.resource, q.First, q.Last)
	rows, err := c.query(ctx, creds, q.Account, gaql, false)
	if err != nil {
		return nil, err
	}
	seen := googleauth.SeenRows[rowKey]{}
	var list []viewRow
	for i := range rows {
		r := viewRow{row: rows[i]}
		var ok bool
		if r.date, ok = clock.ParseDate(r.Segments.Date); !ok {
			return nil, googleauth.MalformedAnswer("A row of Google's report has no day.")
		}
		if r.values, err = r.Metrics.values(); err != nil {
			return nil, err
		}
		fresh, err := seen.Add(r.key(), r.values)
		if err != nil {
			return nil, err
		}
		if fresh {
			list = append(list, r)
		}
	}
	return list, nil
}

// addChosenConversions adds the conversions of the chosen conversion actions to
// rows that have none. Google has no other metrics by conversion action, so they
// are a query of their own.
func (c *Client) addChosenConversions(ctx context.Context, creds connection.Credentials, q *connection.Report, v reportView, rows []viewRow) ([]viewRow, error) {
	by := v
	by.fields = strings.TrimPrefix(v.fields+", segments.conversion_action, segments.conversion_action_name", ", ")
	conversions, err := c.readRows(ctx, creds, q, by, chosenMetrics)
	if err != nil {
		return nil, err
	}
	at := map[rowKey]int{}
	for i := range rows {
		rows[i].values.Set(fact.Conversions, 0)
		rows[i].values.Set(fact.Revenue, 0)
		at[rows[i].key()] = i
	}
	some := false
	for _, r := range conversions {
		if !slices.Contains(q.Conversions, r.Segments.ConversionName) {
			continue
		}
		some = true
		r.Segments.ConversionAction = ""
		i, there := at[r.key()]
		if !there {
			at[r.key()] = len(rows)
			rows = append(rows, r)
			continue
		}
		for _, m := range []fact.Measure{fact.Conversions, fact.Revenue} {
			rows[i].values.Set(m, rows[i].values.V[m]+r.values.V[m])
		}
	}
	if some || len(rows) == 0 {
		return rows, nil
	}
	return c.withoutUnknownConversions(ctx, creds, q, rows)
}

// withoutUnknownConversions makes conversions unknown if the account has none of
// the chosen conversion actions: zero would say that they were counted.
func (c *Client) withoutUnknownConversions(ctx context.Context, creds connection.Credentials, q *connection.Report, rows []viewRow) ([]viewRow, error) {
	actions, err := c.query(ctx, creds, q.Account, "SELECT conversion_action.id, conversion_action.name FROM conversion_action", false)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(actions, func(r row) bool { return slices.Contains(q.Conversions, r.ConversionAction.Name) }) {
		return rows, nil
	}
	for i := range rows {
		known := fact.Values{}
		for m := range fact.Measure(fact.NumMeasures) {
			if n, ok := rows[i].values.Get(m); ok && m != fact.Conversions && m != fact.Revenue {
				known.Set(m, n)
			}
		}
		rows[i].values = known
	}
	q.AddNote(connection.Note{
		Code: connection.NoteNotIncluded, First: q.First, Last: q.Last, Measure: fact.Conversions,
		Message: "The account has no conversion action named " + strings.Join(q.Conversions, " or ") + ". Conversions are unknown; choose conversion actions of the account.",
	})
	return rows, nil
}
