package google

import (
	"cmp"
	"context"
	"fmt"

	"fanfare/internal/clock"
	"fanfare/internal/connection"
	"fanfare/internal/fact"
)

// breakdown is read by ad group, to assign rows to audiences, and by campaign,
// to include campaigns without ad groups, such as Performance Max. A breakdown
// without campaignView exists by ad group only.
type breakdown struct {
	family fact.Family
	// name is what the rows are by, for people.
	name                    string
	groupView, campaignView reportView
	// set sets the value of the breakdown, setUnknown that of the remainder.
	set        func(to *fact.Row, from *row)
	setUnknown func(to *fact.Row)
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
		fact.Geo, "country",
		reportView{"geographic_view", groupFields + geoFields},
		reportView{"geographic_view", campaignFields + geoFields},
		func(to *fact.Row, from *row) { to.Country = countryOf(from.GeographicView.CountryCriterionID) },
		func(*fact.Row) {},
	},
	connection.LevelDevice: {
		fact.Device, "device",
		reportView{"ad_group", groupFields + ", segments.device"},
		reportView{"campaign", campaignFields + ", segments.device"},
		func(to *fact.Row, from *row) { to.Device = cmp.Or(devices[from.Segments.Device], unknown) },
		func(to *fact.Row) { to.Device = unknown },
	},
	connection.LevelDemographic: {
		fact.Demographic, "age",
		reportView{"age_range_view", groupFields + ", ad_group_criterion.age_range.type"},
		reportView{},
		func(to *fact.Row, from *row) {
			to.AgeRange, to.Gender = cmp.Or(ageRanges[from.AdGroupCriterion.AgeRange.Type], unknown), unknown
		},
		func(to *fact.Row) { to.AgeRange, to.Gender = unknown, unknown },
	},
}

// readBreakdown reads a breakdown. Rows of ad groups belong to the group's
// audience, those of the campaign beyond them to none. What the campaign has
// beyond all rows is of an unknown value: views leave out what they do not know.
//
// The whole is read last: metrics of today grow, so that it has at least as much
// as its parts.
func (c *Client) readBreakdown(ctx context.Context, creds connection.Credentials, q *connection.Report, cut breakdown, audiences map[string]fact.Entity) ([]fact.Row, error) {
	sums := rowSums{at: map[fact.Row]int{}}
	byCampaign := cut.campaignView.resource != ""
	if !byCampaign || len(audiences) > 0 {
		err := c.readView(ctx, creds, q, cut.groupView, func(r *row, as fact.Row) {
			as.Family, as.Audience = cut.family, audiences[r.AdGroup.ID]
			if byCampaign && !as.Audience.IsSet() {
				return
			}
			cut.set(&as, r)
			sums.add(as, 1)
			if byCampaign {
				as.Audience = fact.Entity{}
				sums.add(as, -1)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if byCampaign {
		err := c.readView(ctx, creds, q, cut.campaignView, func(r *row, as fact.Row) {
			as.Family = cut.family
			cut.set(&as, r)
			sums.add(as, 1)
		})
		if err != nil {
			return nil, err
		}
	}
	rest, err := c.readRest(ctx, creds, q, cut, &sums)
	if err != nil {
		return nil, err
	}
	rest.addTo(&sums, q, cut)
	return sums.nonZeroRows(), nil
}

// campaignDay identifies a campaign on a day.
type campaignDay struct {
	date     clock.Date
	campaign string
}

// campaignRest is what campaigns have beyond the rows of a breakdown. A negative
// value means that the rows have more.
type campaignRest struct {
	at   map[campaignDay]int
	list []fact.Row
}

func (r *campaignRest) rowOf(of *fact.Row) *fact.Row {
	key := campaignDay{of.Date, of.Campaign.ExternalID}
	i, there := r.at[key]
	if !there {
		i = len(r.list)
		r.at[key] = i
		r.list = append(r.list, fact.Row{Family: of.Family, Date: of.Date, Channel: of.Channel, Campaign: of.Campaign})
	}
	return &r.list[i]
}

// readRest reads the totals of campaigns and subtracts the rows of a breakdown.
func (c *Client) readRest(ctx context.Context, creds connection.Credentials, q *connection.Report, cut breakdown, sums *rowSums) (*campaignRest, error) {
	rest := &campaignRest{at: map[campaignDay]int{}}
	err := c.readView(ctx, creds, q, levelViews[connection.LevelCampaign], func(_ *row, as fact.Row) {
		as.Family = cut.family
		rest.rowOf(&as).Values = as.Values
	})
	if err != nil {
		return nil, err
	}
	sums.clearNegative()
	for i := range sums.list {
		part := &sums.list[i]
		to := rest.rowOf(part)
		for m := range fact.Measure(fact.NumMeasures) {
			if n, known := part.Values.Get(m); known {
				to.Values.Set(m, to.Values.V[m]-n)
			}
		}
	}
	return rest, nil
}

// roundingTolerance is how far rounded rows may differ from their campaign, in
// millionths.
const roundingTolerance = 1000

// addTo adds the rest to the rows. Where the rows have more than their campaign,
// they stay as Google reports them, and a note has the difference.
func (r *campaignRest) addTo(sums *rowSums, q *connection.Report, cut breakdown) {
	excess := map[fact.Measure]*connection.Note{}
	for i := range r.list {
		rest := &r.list[i]
		cut.setUnknown(rest)
		for m, n := range rest.Values.V {
			m := fact.Measure(m)
			if n >= 0 {
				continue
			}
			rest.Values.Set(m, 0)
			if n > -roundingTolerance && m.Scaled() {
				continue
			}
			note := excess[m]
			if note == nil {
				note = &connection.Note{Code: connection.NoteTotalDiffers, First: rest.Date, Last: rest.Date, Measure: m, Amount: new(int64)}
				excess[m] = note
			}
			*note.Amount += n
			note.First, note.Last = min(note.First, rest.Date), max(note.Last, rest.Date)
		}
		sums.add(*rest, 1)
	}
	for m := range fact.Measure(fact.NumMeasures) {
		if note := excess[m]; note != nil {
			note.Message = fmt.Sprintf("Google reports more %s by %s than for the campaigns from %s to %s. Compare shares, not totals.", m, cut.name, note.First, note.Last)
			q.AddNote(*note)
		}
	}
}

// rowSums adds rows with the same key.
type rowSums struct {
	at   map[fact.Row]int
	list []fact.Row
}

func (s *rowSums) add(r fact.Row, sign int64) {
	key := r
	key.Values, key.Campaign.Name, key.Creative.Name, key.Audience.Name = fact.Values{}, "", "", ""
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

// clearNegative sets negative values to zero: ad groups with an audience have more
// than their campaign.
func (s *rowSums) clearNegative() {
	for i := range s.list {
		for m, n := range s.list[i].Values.V {
			if n < 0 {
				s.list[i].Values.Set(fact.Measure(m), 0)
			}
		}
	}
}

// nonZeroRows returns the sums that are not zero.
func (s *rowSums) nonZeroRows() []fact.Row {
	rows := s.list[:0]
	for _, r := range s.list {
		if r.Values.V != [fact.NumMeasures]int64{} {
			rows = append(rows, r)
		}
	}
	return rows
}
