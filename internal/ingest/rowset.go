package ingest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/nearest"
)

// rowSet collects the rows of one call or file. For each row, call begin, put
// for each field, then end. resolveLinks does what needs
// all rows.
type rowSet struct {
	// indexed is the word that names a row's position: index or line.
	indexed string
	// channel and account are the defaults of rows that name none.
	channel, account string
	// first and last are the allowed days.
	first, last clock.Date
	// dayLike is the expected date format.
	dayLike string
	// round allows numbers with more decimals than are stored.
	round bool
	// families, if set, are the only families that rows may have.
	families []fact.Family
	// most is the maximum number of rejected rows with their problems.
	most int

	rows []fact.Row
	// at has the position of each row.
	at       []int
	refused  []rejectedRow
	rejected int
	// listed is how many rejected rows this pass added.
	listed   int
	accounts map[string]*fact.Source
	words    map[string]string

	row      fact.Row
	index    int
	given    uint64
	bad      bool
	problems []Problem
	// hints is the remaining number of "did you mean" lookups. It limits the
	// work if every row is invalid.
	hints int
}

// rejectedRow is a rejected row.
type rejectedRow struct {
	index    int
	problems []Problem
	// row is the row as far as it could be parsed.
	row fact.Row
}

// maxProblems is the maximum number of problems per row.
const maxProblems = 50

func newRowSet(indexed string, now clock.Date) *rowSet {
	// Choice: data from the future is an error, but two days are allowed,
	// because of time zones and inexact clocks.
	return &rowSet{
		indexed: indexed, channel: "other", account: DefaultAccount, dayLike: "2026-11-15", first: clock.MakeDate(2000, 1, 1), last: now + 2,
		most: MaxRejected, hints: 500, accounts: map[string]*fact.Source{}, words: map[string]string{},
	}
}

// reserve allocates space for about that many rows.
func (s *rowSet) reserve(rows int) {
	rows = min(rows, MaxFileRows)
	s.rows, s.at = make([]fact.Row, 0, rows), make([]int, 0, rows)
}

func (s *rowSet) beginRow(index int) {
	s.row, s.index, s.given, s.bad, s.problems = fact.Row{}, index, 0, false, nil
}

// refuse adds a problem to the row. After the limit, it only marks the row as
// invalid.
func (s *rowSet) refuse(field, code, message string, meta fault.Meta) {
	s.bad = true
	if s.canList() {
		s.problems = append(s.problems, Problem{Field: field, Code: code, Message: message, Meta: meta})
	}
}

func (s *rowSet) canList() bool { return s.listed < s.most && len(s.problems) < maxProblems }

func (s *rowSet) refuseField(f field, code, message string, meta fault.Meta) {
	s.refuse(f.String(), code, f.String()+" "+message, meta)
}

// unknown rejects a member that is not a field.
func (s *rowSet) unknown(name string) {
	if !s.canList() {
		s.bad = true
		return
	}
	message, meta := "There is no such field.", fault.Meta(nil)
	if s.hints--; s.hints >= 0 {
		if near := nearest.Word(name, Fields); near != "" {
			message, meta = "There is no such field. Did you mean "+near+"?", fault.Meta{"did_you_mean": near}
		}
	}
	s.refuse(cut(name, MaxID), "unknown_field", message, meta)
}

// cut shortens text that is returned to the caller.
func cut(s string, most int) string {
	for i := range s {
		if most--; most < 0 {
			return s[:i]
		}
	}
	return s
}

func (s *rowSet) has(f field) bool { return s.given&(1<<f) != 0 }

// intern returns one shared copy of equal texts.
func (s *rowSet) intern(b []byte) string {
	w, there := s.words[string(b)]
	if !there {
		w = string(b)
		s.words[w] = w
	}
	return w
}

// setField sets a field from text. number means that the value was a JSON
// number; dates and words cannot be numbers.
func (s *rowSet) setField(f field, b []byte, number bool) {
	s.given |= 1 << f
	if m, ok := f.measure(); ok {
		s.setMeasure(f, m, b)
		return
	}
	if number && f != fieldAccount && f != fieldExternalCampaign && f != fieldExternalCreative && f != fieldExternalAudience {
		// Choice: platform ids may be numbers, because many programs treat them
		// as numbers.
		s.refuseField(f, "invalid_type", "must be a string.", fault.Meta{"expected": "a string"})
		return
	}
	switch f {
	case fieldDate:
		d, ok := clock.ParseDate(s.intern(b))
		s.setDate(d, ok)
	case fieldChannel:
		s.row.Channel = s.choice(f, b)
	case fieldAgeRange:
		s.row.AgeRange = s.choice(f, b)
	case fieldGender:
		s.row.Gender = s.choice(f, b)
	case fieldDevice:
		s.row.Device = s.choice(f, b)
	case fieldCountry:
		if s.row.Country = s.intern(b); !fact.IsCountry(s.row.Country) {
			s.refuseField(f, "invalid_value", "must be an ISO 3166 code in upper case, such as DE.", nil)
		}
	default:
		s.setText(f, b)
	}
}

func (s *rowSet) setText(f field, b []byte) {
	text := s.text(f, b)
	switch f {
	case fieldAccount:
		// Account names are trimmed.
		if text = strings.TrimSpace(text); text != "" {
			s.row.Source = s.source(text)
		}
	case fieldExternalCampaign:
		s.row.Campaign.ExternalID = text
	case fieldCampaignName:
		s.row.Campaign.Name = text
	case fieldExternalCreative:
		s.row.Creative.ExternalID = text
	case fieldCreativeName:
		s.row.Creative.Name = text
	case fieldExternalAudience:
		s.row.Audience.ExternalID = text
	case fieldAudienceName:
		s.row.Audience.Name = text
	default:
		s.setLink(f, text)
	}
}

func (s *rowSet) setLink(f field, text string) {
	for i := range links {
		if l := &links[i]; l.field == f {
			if l.fits(text) {
				l.entity(&s.row).Record = ident.ID(text)
			} else if text != "" {
				s.missing(f, ident.ID(text))
			}
		}
	}
}

func (s *rowSet) missing(f field, id ident.ID) {
	d := fault.MissingRef(f.String(), id)
	s.refuse(d.Field, d.Code, d.Message, d.Meta)
}

// text checks an id or a name. It returns empty if it is invalid.
func (s *rowSet) text(f field, b []byte) string {
	most := MaxID
	switch f {
	case fieldCampaignName, fieldCreativeName, fieldAudienceName:
		most = MaxName
	case fieldCampaign, fieldCreative, fieldAudience:
		most = MaxRecordID
	default:
	}
	w := s.intern(b)
	switch n := utf8.RuneCountInString(w); {
	case strings.TrimFunc(w, unicode.IsSpace) == "":
		s.refuseField(f, "too_short", "must have at least 1 visible character; leave it out where there is nothing to say.", fault.Meta{"minimum": 1})
	case n > most:
		s.refuseField(f, "too_long", fmt.Sprintf("must have at most %d characters; it has %d.", most, n), fault.Meta{"maximum": most, "actual": n})
	case strings.ContainsRune(w, 0):
		s.refuseField(f, "invalid_value", "must not contain the character U+0000.", nil)
	default:
		return w
	}
	return ""
}

func (s *rowSet) choice(f field, b []byte) string {
	allowed := choices[f]
	for _, c := range allowed {
		if c == string(b) {
			return c
		}
	}
	meta, hint := fault.Meta{"allowed": allowed}, ""
	if s.hints--; s.hints >= 0 && s.canList() {
		if near := nearest.Word(string(b), allowed); near != "" {
			meta["did_you_mean"], hint = near, " Did you mean "+near+"?"
		}
	}
	s.refuseField(f, "invalid_value", "must be one of "+strings.Join(allowed, ", ")+"."+hint, meta)
	return ""
}

func (s *rowSet) setDate(d clock.Date, ok bool) {
	s.given |= 1 << fieldDate
	switch {
	case !ok:
		s.refuseField(fieldDate, badFormat, "must be a day such as "+s.dayLike+".", nil)
	case d < s.first:
		s.refuseField(fieldDate, tooSmall, fmt.Sprintf("must not be before %s.", s.first), fault.Meta{"minimum": s.first})
	case d > s.last:
		s.refuseField(fieldDate, tooLarge, fmt.Sprintf("must not be after %s.", s.last), fault.Meta{"maximum": s.last})
	}
	s.row.Date = d
}

func (s *rowSet) setMeasure(f field, m fact.Measure, b []byte) {
	v, code := parseMeasure(b, m, s.round)
	switch code {
	case "":
		s.row.Values.Set(m, v)
	case notWhole:
		s.refuseField(f, code, "must be a whole number.", fault.Meta{"expected": "a whole number"})
	case badFormat:
		shape := "a plain whole number such as 1500."
		if m.Scaled() {
			shape = "a plain decimal with at most 6 digits after the point, such as 1500.25."
		}
		s.refuseField(f, code, "must be "+shape, nil)
	case tooSmall:
		least := int64(0)
		if m.Scaled() {
			least = -fact.MaxValue
		}
		text := string(appendMeasure(nil, least, m))
		s.refuseField(f, code, "must be at least "+text+".", fault.Meta{"minimum": text})
	default:
		text := string(appendMeasure(nil, fact.MaxValue, m))
		s.refuseField(f, code, "must be at most "+text+".", fault.Meta{"maximum": text})
	}
}

// source returns the account with that name. All its rows share it, so that the
// connection can be set later.
func (s *rowSet) source(account string) *fact.Source {
	a := s.accounts[account]
	if a == nil {
		a = &fact.Source{Account: account}
		s.accounts[account] = a
	}
	return a
}

// endRow checks the fields of a row in combination and adds the row.
func (s *rowSet) endRow() {
	s.require()
	s.breakdown()
	for i := range links {
		// Choice: the name identifies an entity without an id, so that rows
		// with only a name are distinct and can be replaced.
		if e := links[i].entity(&s.row); !e.IsSet() {
			e.ExternalID = cut(e.Name, MaxID)
		}
	}
	if s.row.Channel == "" {
		s.row.Channel = s.channel
	}
	if s.row.Source == nil {
		s.row.Source = s.source(s.account)
	}
	if s.bad {
		s.reject(rejectedRow{s.index, s.problems, s.row})
		return
	}
	s.rows, s.at = append(s.rows, s.row), append(s.at, s.index)
}

func (s *rowSet) require() {
	if !s.has(fieldDate) {
		s.refuseField(fieldDate, "required", "is required.", nil)
	}
	const measures = (uint64(1)<<fieldEndDate - 1) &^ (uint64(1)<<firstMeasure - 1)
	if s.given&measures == 0 {
		s.refuse("", "required", "A row needs at least one measure: "+strings.Join(fact.Measures, ", ")+".", fault.Meta{"any_of": fact.Measures})
	}
}

// breakdown sets the family of the row and rejects a mix of families.
func (s *rowSet) breakdown() {
	by := fieldDate
	for _, f := range []field{fieldCountry, fieldAgeRange, fieldGender, fieldDevice} {
		switch {
		case !s.has(f):
		case s.row.Family == fact.Base:
			by, s.row.Family = f, f.family()
		case s.row.Family != f.family():
			s.incompatible(f, by, "send one row for each breakdown")
		}
	}
	if s.row.Family != fact.Base {
		for _, f := range []field{fieldCreative, fieldExternalCreative, fieldCreativeName} {
			if s.has(f) {
				s.incompatible(f, by, "breakdowns are by campaign, not by creative")
			}
		}
	}
	if s.families != nil && !s.bad && !slices.Contains(s.families, s.row.Family) {
		s.refuse("families", "incompatible_fields", fmt.Sprintf("The row is of family %s, which is not among the families to be replaced.", s.row.Family), fault.Meta{"family": s.row.Family.String()})
	}
}

func (s *rowSet) incompatible(f, with field, why string) {
	s.refuseField(f, "incompatible_fields", fmt.Sprintf("cannot be in a row with %s: %s.", with, why), fault.Meta{"fields": []string{with.String(), f.String()}})
}

func (s *rowSet) reject(r rejectedRow) {
	if s.listed < s.most {
		s.refused = append(s.refused, r)
	}
	s.listed++
	s.rejected++
}
