package ingest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"fanfare/internal/money"
	"fanfare/internal/nearest"
)

// delimiters are tried in this order, most likely first.
var delimiters = []rune{',', ';', '\t', '|'}

// maxHeaderLine is the number of records in which the header is searched:
// exports start with a title and a date range.
const maxHeaderLine = 30

// detectDelimiter detects the delimiter and the header line: the line with the
// most cells that are field names. If no name is known, it is the first line
// that is as wide as most lines.
func detectDelimiter(text string) (delimiter rune, header int) {
	most, widest := 0, 0
	for _, d := range delimiters {
		top := headLines(text, d)
		for _, r := range top {
			known := 0
			for _, cell := range r.cells {
				if _, ok := fieldOf(cell); ok {
					known++
				}
			}
			if known > most {
				most, delimiter, header = known, d, r.line
			}
		}
		if line, width := widestOf(top); most == 0 && width > widest {
			widest, delimiter, header = width, d, line
		}
	}
	return delimiter, header
}

// headLine is one of the first records of the file.
type headLine struct {
	line  int
	cells []string
}

// headLines reads the first records. It counts the cells of a record that is
// too wide, so that the delimiter is found and the error names the width.
func headLines(text string, delimiter rune) []headLine {
	var list []headLine
	r := splitter{text: text, mark: byte(delimiter)}
	for len(list) < maxHeaderLine && r.next() {
		if r.rest == "" {
			continue
		}
		line, err := r.line, r.record()
		list = append(list, headLine{line, slices.Clone(r.cells[:min(len(r.cells), MaxColumns+1)])})
		if err != nil {
			// The full parse reports errors of the file.
			break
		}
	}
	return list
}

// widestOf returns the first line with the most frequent width.
func widestOf(list []headLine) (line, width int) {
	counts := map[int]int{}
	for _, r := range list {
		counts[len(r.cells)]++
	}
	for _, r := range list {
		if w := len(r.cells); counts[w] > counts[width] || counts[w] == counts[width] && w > width {
			line, width = r.line, w
		}
	}
	return line, width
}

// fieldOf returns the field of a column name.
func fieldOf(column string) (named, bool) {
	if len(column) > MaxID {
		return named{}, false
	}
	name := normalizeName(column)
	n, ok := byWord[name]
	if !ok {
		base, _ := splitBracket(name)
		n, ok = byWord[base]
	}
	return n, ok
}

// proposeColumns maps columns to fields by name.
func proposeColumns(columns []string, t *template) []Column {
	list := make([]Column, len(columns))
	ranks := map[field]int{}
	owner := map[field]int{}
	for i, name := range columns {
		list[i] = Column{Name: name, Confidence: None, Sample: []string{}}
		n, ok := fieldOf(name)
		if t != nil {
			if f, is := t.columns[normalizeName(name)]; is {
				n, ok = named{fieldsByName[f], -1}, true
			}
		}
		if !ok {
			continue
		}
		if rank, taken := ranks[n.field]; taken && rank <= n.rank {
			continue
		}
		if before, taken := owner[n.field]; taken {
			list[before].Field, list[before].Confidence = nil, None
		}
		ranks[n.field], owner[n.field] = n.rank, i
		confidence := Synonym
		if name == n.field.String() {
			confidence = Exact
		}
		list[i].setField(n.field, confidence)
	}
	for i := range list {
		if f, ok := guessField(list[i].Name); ok && list[i].Field == nil {
			if _, taken := owner[f]; !taken {
				owner[f] = i
				list[i].setField(f, Guess)
			}
		}
	}
	return list
}

func (c *Column) setField(f field, confidence Confidence) {
	name := f.String()
	c.Field, c.Confidence = &name, confidence
}

// guessField returns the field whose name is most similar to a misspelled
// column name: with the same number of words, each equal or nearly equal.
func guessField(column string) (field, bool) {
	name, _ := splitBracket(normalizeName(column))
	words := strings.Fields(name)
	for _, candidate := range allWords {
		meant := strings.Fields(candidate)
		if len(meant) == len(words) && isSimilar(words, meant) {
			return byWord[candidate].field, true
		}
	}
	return 0, false
}

func isSimilar(words, meant []string) bool {
	for i, w := range words {
		if w != meant[i] && (min(len(w), len(meant[i])) < 5 || nearest.Word(w, meant[i:i+1]) == "") {
			return false
		}
	}
	return len(words) > 0
}

// columnStats is the evidence from the cells of a file.
type columnStats struct {
	marks separatorCounts
	days  dateFormats
	// currency is the currency of all cells in a currency column.
	currency money.Currency
	mixed    bool
}

// survey reads all cells once. It sets the samples and decides which id columns
// have ids of records.
func (g *grid) survey(columns []Column) (*columnStats, error) {
	v := &columnStats{}
	ours := make([]int, len(columns))
	fields := fieldsOf(columns)
	rows := 0
	err := g.each(func(_ int, cells []string) error {
		if rows++; rows > MaxFileRows {
			return tooManyRows(MaxFileRows)
		}
		for i := range columns {
			cell := clean(cells[i])
			if cell == "" {
				continue
			}
			c := &columns[i]
			if len(c.Sample) < maxSample {
				c.Sample = append(c.Sample, cut(cell, maxSampleText))
			}
			v.observe(fields[i], cell, &ours[i])
		}
		return nil
	})
	for i := range columns {
		if ours[i] < 0 {
			external := fieldsByName["external_"+*columns[i].Field]
			columns[i].Field = nil
			if !slices.Contains(fields, external) {
				columns[i].setField(external, Synonym)
			}
		}
	}
	return v, err
}

const maxSampleText = 100

// ignoredField is the field of a column that is not read.
const ignoredField = numFields

// fieldsOf returns the fields of the columns.
func fieldsOf(columns []Column) []field {
	fields := make([]field, len(columns))
	for i, c := range columns {
		fields[i] = ignoredField
		if c.Field != nil {
			fields[i] = fieldsByName[*c.Field]
		}
	}
	return fields
}

// observe counts one cell. ours rises for ids of records and falls for other
// ids.
func (v *columnStats) observe(f field, cell string, ours *int) {
	switch f {
	case fieldDate:
		v.days.observe(cell)
		return
	case fieldCurrency:
		code := money.Currency(strings.ToUpper(cell))
		if _, ok := code.Digits(); ok {
			v.mixed = v.mixed || v.currency != "" && v.currency != code
			v.currency = code
		}
		return
	case fieldCampaign, fieldCreative, fieldAudience:
		if *ours == 0 {
			*ours = -1
		}
		for i := range links {
			if links[i].field == f && links[i].fits(cell) {
				*ours = 1
			}
		}
		return
	default:
	}
	if m, counts := f.measure(); counts || f == ignoredField && utf8.RuneCountInString(cell) < 30 {
		v.marks.count(cell, counts && !m.Scaled())
	}
}

// currencyOf returns the currency of the file: from the name of an amount
// column, such as "Amount spent (USD)", or from a currency column.
func (v *columnStats) currencyOf(columns []Column) money.Currency {
	for _, c := range columns {
		if c.Field == nil {
			continue
		}
		if m, ok := fieldsByName[*c.Field].measure(); !ok || !m.Money() {
			continue
		}
		_, bracket := splitBracket(normalizeName(c.Name))
		code := money.Currency(strings.ToUpper(bracket))
		if _, ok := code.Digits(); ok {
			return code
		}
	}
	if v.mixed {
		return ""
	}
	return v.currency
}

// decimal returns the decimal mark of most numbers.
//
// Choice: without evidence, text with semicolons has decimal commas, because it
// comes from locales where the comma cannot separate columns.
func (v *columnStats) decimal(delimiter rune) string {
	if v.marks.comma > v.marks.point || v.marks.comma == v.marks.point && delimiter == ';' {
		return ","
	}
	return "."
}

// isParquet reports whether bytes start and end like a Parquet file.
func isParquet(b []byte) bool {
	const magic = "PAR1"
	return len(b) >= 12 && string(b[:4]) == magic && string(b[len(b)-4:]) == magic
}
