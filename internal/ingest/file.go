package ingest

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/clock"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
)

// detectColumns detects the format of a file and the fields of its columns.
func (s *Service) detectColumns(ctx context.Context, i *Import, b []byte) error {
	i.File.Format = FormatCSV
	if isParquet(b) {
		i.File.Format = FormatParquet
	} else {
		text, encoding, err := decodeText(b)
		if err != nil {
			return err
		}
		delimiter, header := detectDelimiter(text)
		mark := string(delimiter)
		i.Detected = Detected{Delimiter: &mark, Encoding: &encoding, HeaderRow: header}
	}
	g, err := s.openGrid(ctx, i, b)
	if err != nil {
		return err
	}
	t := recognizeTemplate(g.columns)
	if t != nil {
		i.Detected.Template = &t.name
	}
	i.Columns = proposeColumns(g.columns, t)
	v, err := g.survey(i.Columns)
	if err != nil {
		return err
	}
	decimal := "."
	if i.File.Format == FormatCSV {
		decimal = v.decimal(rune((*i.Detected.Delimiter)[0]))
	}
	i.Detected.Decimal = &decimal
	i.Detected.dates(v, t)
	if i.Currency == "" {
		i.Currency = v.currencyOf(i.Columns)
	}
	i.setProblem()
	return nil
}

func (d *Detected) dates(v *columnStats, t *template) {
	format := v.days.format()
	if format == "" && t != nil && v.days.seen > 0 {
		format = t.dateFormat
	}
	d.DateFormat = nil
	if format != "" {
		d.DateFormat = &format
	}
}

// setProblem sets Mapping from the columns.
func (i *Import) setProblem() {
	i.Mapping = map[string]string{}
	for _, c := range i.Columns {
		if c.Field != nil {
			i.Mapping[c.Name] = *c.Field
		}
	}
}

// openGrid opens the file in the import's format.
func (s *Service) openGrid(ctx context.Context, i *Import, b []byte) (*grid, error) {
	if i.File.Format == FormatParquet {
		return parquetGrid(ctx, s.parquet, b)
	}
	text, _, err := decodeText(b)
	if err != nil {
		return nil, err
	}
	return textGrid(text, rune((*i.Detected.Delimiter)[0]), i.Detected.HeaderRow)
}

// missingField returns the information that is missing to read rows, or nil.
func (i *Import) missingField() *Problem {
	fields := fieldsOf(i.Columns)
	measures := slices.ContainsFunc(fields, func(f field) bool { _, ok := f.measure(); return ok })
	switch {
	case !slices.Contains(fields, fieldDate):
		return &Problem{Field: "mapping", Code: "required", Message: "No column was found that holds the day. Say in mapping which one is date.", Meta: fault.Meta{"field": "date"}}
	case !measures:
		return &Problem{Field: "mapping", Code: "required", Message: "No column was found that holds a measure. Say in mapping which ones are " + strings.Join(fact.Measures[:3], ", ") + " and so on.", Meta: fault.Meta{"any_of": fact.Measures}}
	case i.Detected.DateFormat == nil:
		return &Problem{Field: "date_format", Code: "required", Message: "The days can be read in more than one way, or in none. Say in date_format how they are written.", Meta: fault.Meta{"allowed": DateFormats}}
	}
	return nil
}

// fileReader parses the rows of a file into a rowSet.
type fileReader struct {
	*rowSet
	grid     *grid
	fields   []field
	date     int
	decimal  byte
	format   string
	currency string
	// unknown are the fields of the file's only breakdown. A row without a
	// value has the value unknown.
	unknown uint64
	rows    int
	skipped int
	scratch []byte
}

// readFile parses all rows and settles them.
func (s *Service) readFile(ctx context.Context, i *Import, b []byte) (*fileReader, error) {
	g, err := s.openGrid(ctx, i, b)
	if err != nil {
		return nil, err
	}
	if len(g.columns) != len(i.Columns) {
		return nil, fmt.Errorf("read import %s: its file has %d columns, want %d", i.ID, len(g.columns), len(i.Columns))
	}
	zone, err := clock.Zone(i.Timezone)
	if err != nil {
		return nil, fmt.Errorf("read import %s: %w", i.ID, err)
	}
	r := &fileReader{
		rowSet: newRowSet("line", clock.DateIn(s.now(), zone)), grid: g, fields: fieldsOf(i.Columns), format: *i.Detected.DateFormat,
		decimal: (*i.Detected.Decimal)[0], currency: string(i.Currency),
	}
	// Choice: numbers in files may have more decimals than are stored, as in
	// spreadsheets and binary fractions; they are rounded. The API is exact.
	r.round, r.most, r.dayLike = true, maxErrors, r.format
	r.date = slices.Index(r.fields, fieldDate)
	if t := templateOf(i.Detected.Template); t != nil && t.channel != "" {
		r.channel = t.channel
	}
	r.unknown = breakdownOf(r.fields)
	r.reserve(g.lines)
	if err := g.each(r.readLine); err != nil {
		return nil, err
	}
	return r, r.resolveLinks(ctx, i.WorkspaceID, s.records)
}

// breakdownOf returns the breakdown fields of the file's family. It returns
// none if the columns are of several families; each row then decides.
func breakdownOf(fields []field) (given uint64) {
	family := fact.Base
	for _, f := range fields {
		if f == ignoredField || f.family() == fact.Base {
			continue
		}
		if family != fact.Base && family != f.family() {
			return 0
		}
		family, given = f.family(), given|1<<f
	}
	return given
}

// readLine parses one line.
func (r *fileReader) readLine(line int, cells []string) error {
	switch {
	case !slices.ContainsFunc(cells, func(c string) bool { return clean(c) != "" }):
		return nil
	case r.isSummary(cells):
		r.skipped++
		return nil
	}
	if r.rows++; r.rows > MaxFileRows {
		return tooManyRows(MaxFileRows)
	}
	r.beginRow(line)
	r.given = r.unknown
	end := ""
	for i, f := range r.fields {
		cell := clean(cells[i])
		switch {
		case f == ignoredField || cell == "":
		case f == fieldEndDate:
			end = cell
		default:
			r.readCell(f, cell)
		}
	}
	if last, ok := parseDay(end, r.format); end != "" && (!ok || last != r.row.Date) {
		r.refuseField(fieldEndDate, "invalid_value", "is not the day of the row. Export the report by day: a fact is about one day.", nil)
	}
	r.endRow()
	return nil
}

// totals are the words that summary lines start with.
var totals = []string{"total", "grand total", "summary", "results from", "gesamt", "summe"}

// isSummary reports whether a line is not a row: it has no date, and is marked
// as a total or has only numbers.
func (r *fileReader) isSummary(cells []string) bool {
	day := clean(cells[r.date])
	if _, ok := parseDay(day, r.format); ok {
		return false
	}
	first := cells[slices.IndexFunc(cells, func(c string) bool { return clean(c) != "" })]
	for _, word := range totals {
		for _, cell := range []string{first, day} {
			if cell = strings.TrimSpace(cell); len(cell) >= len(word) && strings.EqualFold(cell[:len(word)], word) {
				return true
			}
		}
	}
	if day != "" {
		return false
	}
	for i, f := range r.fields {
		if f > fieldChannel && f < firstMeasure && clean(cells[i]) != "" {
			return false
		}
	}
	return true
}

// readCell sets a value that is not empty.
func (r *fileReader) readCell(f field, cell string) {
	switch m, counts := f.measure(); {
	case counts:
		plain, ok := plainNumber(cell, r.decimal)
		if !ok {
			r.given |= 1 << f
			r.refuseField(f, badFormat, fmt.Sprintf("is no number with the decimal mark %q: %q.", string(r.decimal), cut(cell, 40)), fault.Meta{"value": cut(cell, 40), "decimal": string(r.decimal)})
			return
		}
		r.scratch = append(r.scratch[:0], plain...)
		r.setMeasure(f, m, r.scratch)
		r.given |= 1 << f
	case f == fieldDate:
		d, ok := parseDay(cell, r.format)
		r.setDate(d, ok)
	case f == fieldCurrency:
		if !strings.EqualFold(cell, r.currency) {
			r.refuseField(f, "currency_mismatch", fmt.Sprintf("is not %s, the currency of the import. Import each currency by itself.", r.currency), fault.Meta{"currency": r.currency})
		}
	default:
		r.scratch = append(r.scratch[:0], value(f, cell)...)
		r.setField(f, r.scratch, false)
	}
}

// value converts a cell to a value of the API.
func value(f field, cell string) string {
	allowed := choices[f]
	if allowed == nil && f != fieldCountry {
		return cell
	}
	word := strings.ToLower(cell)
	if f == fieldAgeRange {
		word = strings.ReplaceAll(strings.ReplaceAll(word, "–", "-"), " - ", "-")
	}
	if v, ok := values[f][strings.ReplaceAll(word, "_", " ")]; ok {
		return v
	}
	if f == fieldCountry {
		return strings.ToUpper(cell)
	}
	if joined := strings.NewReplacer(" ", "_", "-", "_").Replace(word); f == fieldChannel && slices.Contains(allowed, joined) {
		return joined
	}
	return word
}

// preview returns the preview of the parsed rows.
func (r *fileReader) preview() Preview {
	p := emptyPreview()
	p.RowCount, p.ValidCount, p.ErrorCount, p.SkippedCount = r.rows, len(r.rowSet.rows), r.rejected, r.skipped
	var sums [fact.NumMeasures]exactSum
	for i := range r.rowSet.rows {
		row := &r.rowSet.rows[i]
		if i < maxPreview {
			p.Rows = append(p.Rows, appendRow(nil, row))
		}
		for m := range sums {
			if v, known := row.Values.Get(fact.Measure(m)); known {
				sums[m].add(v)
			}
		}
	}
	for m := range sums {
		// Choice: reach of several days is not added up.
		if t := &sums[m]; t.known && !t.lost && fact.Measure(m) != fact.Reach {
			p.Totals[fact.Measures[m]] = appendMeasure(nil, t.n, fact.Measure(m))
		}
	}
	if len(r.rowSet.rows) > 0 {
		first, last := r.span()
		p.StartDate, p.EndDate = &first, &last
	}
	for _, refused := range r.refused {
		for _, problem := range refused.problems {
			if len(p.Errors) < maxErrors {
				p.Errors = append(p.Errors, LineError{refused.index, problem})
			}
		}
	}
	return p
}

func emptyPreview() Preview {
	return Preview{Rows: []jsontext.Value{}, Errors: []LineError{}, Totals: map[string]jsontext.Value{}}
}

// appendRow appends a row as JSON in the fields of the API.
func appendRow(b []byte, r *fact.Row) jsontext.Value {
	b = append(b, `{"date":"`...)
	b = append(b, r.Date.String()...)
	b = append(b, '"')
	text := func(f field, s string) {
		if s != "" {
			b = append(append(append(b, `,"`...), f.String()...), `":`...)
			// The text of a row is valid UTF-8, so this cannot fail.
			b, _ = jsontext.AppendQuote(b, s)
		}
	}
	text(fieldAccount, r.Source.Account)
	text(fieldChannel, r.Channel)
	for i := range links {
		// The external id and the name follow the record's id in the list of
		// fields.
		e, f := links[i].entity(r), links[i].field
		text(f, string(e.Record))
		text(f+1, e.ExternalID)
		text(f+2, e.Name)
	}
	text(fieldCountry, r.Country)
	text(fieldAgeRange, r.AgeRange)
	text(fieldGender, r.Gender)
	text(fieldDevice, r.Device)
	for m := range fact.Measure(fact.NumMeasures) {
		if v, known := r.Values.Get(m); known {
			b = append(append(append(b, `,"`...), m.String()...), `":`...)
			b = appendMeasure(b, v, m)
		}
	}
	return append(b, '}')
}

// bytesOf reads the uploaded bytes.
func (s *Service) bytesOf(i *Import) ([]byte, error) {
	f, _, err := s.files.Open(i.WorkspaceID, i.File.SHA256)
	if err != nil {
		return nil, fmt.Errorf("open file of import %s: %w", i.ID, err)
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil && int64(len(b)) != i.File.Bytes {
		err = fmt.Errorf("it has %d bytes, want %d", len(b), i.File.Bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("read file of import %s: %w", i.ID, err)
	}
	return b, nil
}

// Template returns a CSV template: all fields and one valid row.
func Template() []byte {
	example := map[string]string{
		"date": "2026-11-15", "account_id": DefaultAccount, "channel": "email", "external_campaign_id": "newsletter-46", "campaign_name": "Newsletter 46",
		"creative_name": "Subject A", "audience_name": "Customers", "clicks": "310", "spend": "12.50", "conversions": "14.5", "revenue": "1290.40",
		"sends": "4211", "deliveries": "4190", "opens": "1733", "bounces": "21", "unsubscribes": "9", "complaints": "1",
	}
	row := make([]string, len(Fields))
	for i, f := range Fields {
		row[i] = example[f]
	}
	return []byte(strings.Join(Fields, ",") + "\r\n" + strings.Join(row, ",") + "\r\n")
}
