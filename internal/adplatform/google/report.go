package google

import (
	"cmp"
	"context"
	"fmt"

	"fanfare/internal/adplatform/googleauth"
	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// reportView is a resource of Google Ads and its selected fields.
type reportView struct{ resource, fields string }

const campaignFields = "campaign.id, campaign.name, campaign.advertising_channel_type"

// levelViews are the levels whose rows are read from one view.
var levelViews = map[connection.Level]reportView{
	connection.LevelAccount:  {"customer", ""},
	connection.LevelCampaign: {"campaign", campaignFields},
	connection.LevelAd: {
		"ad_group_ad",
		campaignFields + ", ad_group.id, ad_group_ad.ad.id, ad_group_ad.ad.name, ad_group_ad.ad.responsive_search_ad.headlines",
	},
}

// breakdown is read by ad group, to assign rows to audiences, and by campaign,
// to include campaigns without ad groups, such as Performance Max.
type breakdown struct {
	family                  fact.Family
	groupView, campaignView reportView
	set                     func(to *fact.Row, from *row)
}

const (
	groupFields = campaignFields + ", ad_group.id"
	geoFields   = ", geographic_view.country_criterion_id, geographic_view.location_type"
	unknown     = "unknown"
)

// Choice: Google has no report by age and gender, and a row for each of both
// would count twice. The demographic report is by age; genders are unknown, and
// so is the age of rows without an ad group.
var breakdowns = map[connection.Level]breakdown{
	connection.LevelGeo: {
		fact.Geo,
		reportView{"geographic_view", groupFields + geoFields},
		reportView{"geographic_view", campaignFields + geoFields},
		func(to *fact.Row, from *row) { to.Country = countryOf(from.GeographicView.CountryCriterionID) },
	},
	connection.LevelDevice: {
		fact.Device,
		reportView{"ad_group", groupFields + ", segments.device"},
		reportView{"campaign", campaignFields + ", segments.device"},
		func(to *fact.Row, from *row) { to.Device = cmp.Or(devices[from.Segments.Device], unknown) },
	},
	connection.LevelDemographic: {
		fact.Demographic,
		reportView{"age_range_view", groupFields + ", ad_group_criterion.age_range.type"},
		levelViews[connection.LevelCampaign],
		func(to *fact.Row, from *row) {
			to.AgeRange, to.Gender = cmp.Or(ageRanges[from.AdGroupCriterion.AgeRange.Type], unknown), unknown
		},
	},
}

// rowKey identifies a row of a view.
type rowKey struct{ date, campaign, group, ad, country, location, age, device string }

// readView reads the rows of a view without duplicates and calls each with the
// part of a fact that all levels share.
func (c *Client) readView(ctx context.Context, creds connection.Credentials, q *connection.Report, v reportView, each func(r *row, as fact.Row)) error {
	fields := selectedMetrics
	if v.fields != "" {
		fields = v.fields + ", " + selectedMetrics
	}
	gaql := fmt.Sprintf("SELECT segments.date, %s FROM %s WHERE segments.date BETWEEN '%s' AND '%s'", fields, v.resource, q.First, q.Last)
	rows, err := c.query(ctx, creds, q.Account, gaql, false)
	if err != nil {
		return err
	}
	seen := googleauth.SeenRows[rowKey]{}
	for i := range rows {
		r := &rows[i]
		date, ok := clock.ParseDate(r.Segments.Date)
		if !ok {
			return googleauth.MalformedAnswer("A row of Google's report has no day.")
		}
		values, err := r.Metrics.values()
		if err != nil {
			return err
		}
		fresh, err := seen.Add(rowKey{
			r.Segments.Date, r.Campaign.ID, r.AdGroup.ID, r.AdGroupAd.Ad.ID, r.GeographicView.CountryCriterionID, r.GeographicView.LocationType,
			r.AdGroupCriterion.AgeRange.Type, r.Segments.Device,
		}, values)
		if err != nil {
			return err
		}
		if !fresh {
			continue
		}
		as := fact.Row{Date: date, Values: values}
		if r.Campaign.ID != "" {
			as.Campaign, as.Channel = fact.Entity{ExternalID: r.Campaign.ID, Name: r.Campaign.Name}, channelOf(r.Campaign.Type)
		}
		each(r, as)
	}
	return nil
}

// Report implements connection.Client.
func (c *Client) Report(ctx context.Context, creds connection.Credentials, q connection.Report, each func([]fact.Row) error) error {
	audiences := groupAudiences(q.Entities)
	var rows []fact.Row
	var err error
	if cut, ok := breakdowns[q.Level]; ok {
		rows, err = c.readBreakdown(ctx, creds, &q, cut, audiences)
	} else {
		err = c.readView(ctx, creds, &q, levelViews[q.Level], func(r *row, as fact.Row) {
			if ad := &r.AdGroupAd.Ad; ad.ID != "" {
				as.Creative, as.Audience = fact.Entity{ExternalID: ad.ID, Name: ad.displayName()}, audiences[r.AdGroup.ID]
			}
			rows = append(rows, as)
		})
	}
	if err != nil || len(rows) == 0 {
		return err
	}
	return each(rows)
}

// groupAudiences returns the audience of each ad group.
func groupAudiences(e *connection.Entities) map[string]fact.Entity {
	groups := map[string]fact.Entity{}
	if e == nil {
		return groups
	}
	names := map[string]string{}
	for _, a := range e.Audiences {
		names[a.External] = a.Name
	}
	for group, audience := range e.Groups {
		groups[group] = fact.Entity{ExternalID: audience, Name: names[audience]}
	}
	return groups
}

// readBreakdown reads a breakdown. Rows of ad groups belong to the group's
// audience, the remainder of the campaign to none.
//
// Ad groups are read first: metrics of today grow, so campaigns have at least
// as much as their groups.
func (c *Client) readBreakdown(ctx context.Context, creds connection.Credentials, q *connection.Report, cut breakdown, audiences map[string]fact.Entity) ([]fact.Row, error) {
	sums := rowSums{at: map[fact.Row]int{}}
	divided := cut.family == fact.Demographic
	if divided || len(audiences) > 0 {
		err := c.readView(ctx, creds, q, cut.groupView, func(r *row, as fact.Row) {
			as.Family, as.Audience = cut.family, audiences[r.AdGroup.ID]
			if !divided && !as.Audience.IsSet() {
				return
			}
			rest := as
			rest.Audience = fact.Entity{}
			cut.set(&as, r)
			if divided {
				r = &row{} // the campaign's own rows have no age
			}
			cut.set(&rest, r)
			sums.add(as, 1)
			sums.add(rest, -1)
		})
		if err != nil {
			return nil, err
		}
	}
	err := c.readView(ctx, creds, q, cut.campaignView, func(r *row, as fact.Row) {
		as.Family = cut.family
		cut.set(&as, r)
		sums.add(as, 1)
	})
	if err != nil {
		return nil, err
	}
	return sums.nonZeroRows()
}

// rowSums adds rows with the same key.
type rowSums struct {
	at   map[fact.Row]int
	list []fact.Row
}

func (s *rowSums) add(r fact.Row, sign int64) {
	key := r
	key.Values, key.Campaign.Name, key.Audience.Name = fact.Values{}, "", ""
	i, there := s.at[key]
	if !there {
		i = len(s.list)
		s.at[key] = i
		s.list = append(s.list, r)
		s.list[i].Values = fact.Values{}
	}
	to := &s.list[i].Values
	for m := range fact.Measure(fact.NumMeasures) {
		if n, known := r.Values.Get(m); known {
			to.Set(m, to.V[m]+sign*n)
		}
	}
}

// roundingTolerance is how far rounded ad groups may exceed their campaign, in
// millionths.
const roundingTolerance = 1000

// nonZeroRows returns the sums that are not zero. It returns an error if a sum
// is negative.
func (s *rowSums) nonZeroRows() ([]fact.Row, error) {
	rows := s.list[:0]
	for _, r := range s.list {
		some := false
		for m, n := range r.Values.V {
			m := fact.Measure(m)
			if n < 0 && n > -roundingTolerance && m.Scaled() {
				n = 0
				r.Values.Set(m, 0)
			}
			if n < 0 {
				return nil, googleauth.ReportChanged("less_than_its_parts", fmt.Sprintf(
					"On %s campaign %s has less %s than its groups together.", r.Date, r.Campaign.ExternalID, m))
			}
			some = some || n != 0
		}
		if some {
			rows = append(rows, r)
		}
	}
	return rows, nil
}
