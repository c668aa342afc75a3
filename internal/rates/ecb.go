package rates

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/money"
)

// ParsedFile is the content of a file of exchange rates.
type ParsedFile struct {
	// Rates are sorted by day and currency, without duplicates.
	Rates []Rate
	// Skipped is the number of skipped rates by unknown currency, such as one
	// that the euro replaced.
	Skipped map[string]int
}

// Parse parses a file of the European Central Bank: the daily file and the
// history, with one column per currency, or the export of its data portal, with
// one line per rate. Errors name the line.
func Parse(r io.Reader) (ParsedFile, error) {
	text := bufio.NewReader(r)
	if mark, _ := text.Peek(3); bytes.Equal(mark, []byte("\ufeff")) {
		_, _ = text.Discard(3)
	}
	lines := csv.NewReader(text)
	lines.FieldsPerRecord, lines.TrimLeadingSpace, lines.ReuseRecord = -1, true, true
	head, err := lines.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return ParsedFile{}, fmt.Errorf("read rates: %w", err)
	}
	p := parser{ParsedFile: ParsedFile{Skipped: map[string]int{}}, seen: map[rateKey]Decimal{}}
	read, err := p.lineParser(slices.Clone(head))
	if err != nil {
		return ParsedFile{}, err
	}
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return ParsedFile{}, fmt.Errorf("read rates: %w", err)
		}
		if err := read(fields); err != nil {
			line, _ := lines.FieldPos(0)
			return ParsedFile{}, fmt.Errorf("read rates, line %d: %w", line, err)
		}
	}
	if len(p.Rates) == 0 {
		return ParsedFile{}, errors.New("the file has no rate of a known currency")
	}
	slices.SortFunc(p.Rates, func(a, b Rate) int {
		if a.Date != b.Date {
			return int(a.Date) - int(b.Date)
		}
		return strings.Compare(string(a.Currency), string(b.Currency))
	})
	return p.ParsedFile, nil
}

type rateKey struct {
	currency money.Currency
	date     clock.Date
}

type parser struct {
	ParsedFile
	seen map[rateKey]Decimal
}

// lineParser detects the file format from its header and returns the parser of
// a line.
func (p *parser) lineParser(head []string) (func(fields []string) error, error) {
	for i := range head {
		head[i] = strings.TrimSpace(head[i])
	}
	if len(head) > 1 && head[0] == "Date" {
		return func(fields []string) error { return p.parseWideLine(head, fields) }, nil
	}
	at := map[string]int{}
	for i, name := range head {
		at[name] = i
	}
	for _, name := range []string{"FREQ", "CURRENCY", "CURRENCY_DENOM", "TIME_PERIOD", "OBS_VALUE"} {
		if _, there := at[name]; !there {
			return nil, errors.New("this is no file of rates of the European Central Bank: its first line neither starts with Date nor has FREQ, CURRENCY, CURRENCY_DENOM, TIME_PERIOD and OBS_VALUE")
		}
	}
	return func(fields []string) error { return p.parseLongLine(at, head, fields) }, nil
}

// parseWideLine parses a line with a day and one column per currency. Lines end
// in a comma, so the last column has no name.
func (p *parser) parseWideLine(head, fields []string) error {
	if len(fields) != len(head) {
		return fmt.Errorf("line has %d columns, the first line has %d", len(fields), len(head))
	}
	date, err := parseDate(strings.TrimSpace(fields[0]))
	if err != nil {
		return err
	}
	for i, text := range fields[1:] {
		if name := head[i+1]; name != "" {
			if err := p.addRate(date, name, strings.TrimSpace(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseLongLine parses a line with one rate.
func (p *parser) parseLongLine(at map[string]int, head, fields []string) error {
	if len(fields) != len(head) {
		return fmt.Errorf("line has %d columns, the first line has %d", len(fields), len(head))
	}
	field := func(name string) string { return strings.TrimSpace(fields[at[name]]) }
	if freq, base := field("FREQ"), field("CURRENCY_DENOM"); freq != "D" || base != string(Base) {
		return fmt.Errorf("it is a rate of frequency %q against %q; export daily rates (D) against the euro", freq, base)
	}
	date, err := parseDate(field("TIME_PERIOD"))
	if err != nil {
		return err
	}
	return p.addRate(date, field("CURRENCY"), field("OBS_VALUE"))
}

// parseDate parses 2026-11-13 and 13 November 2026.
func parseDate(text string) (clock.Date, error) {
	if d, ok := clock.ParseDate(text); ok {
		return d, nil
	}
	t, err := time.Parse("2 January 2006", text)
	if err != nil {
		return 0, fmt.Errorf("%q is no day such as 2026-11-13 or 13 November 2026", text)
	}
	return clock.DateIn(t, time.UTC), nil
}

// addRate adds one rate. It skips empty values, for which no rate was
// published.
func (p *parser) addRate(date clock.Date, code, text string) error {
	if text == "" || text == "N/A" || text == "NaN" {
		return nil
	}
	value, ok := ParseDecimal(text)
	if !ok {
		return fmt.Errorf("the rate %q of %s is no number above 0 with at most %d digits after the point", text, code, decimals)
	}
	currency := money.Currency(code)
	if _, known := currency.Digits(); !known || currency == Base {
		p.Skipped[code]++
		return nil
	}
	k := rateKey{currency, date}
	if was, twice := p.seen[k]; twice {
		if was != value {
			return fmt.Errorf("%s has another rate on %s before: %s and %s", code, date, was, value)
		}
		return nil
	}
	p.seen[k] = value
	p.Rates = append(p.Rates, Rate{Date: date, Currency: currency, PerEuro: value})
	return nil
}
