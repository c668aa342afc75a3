package ingest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"fanfare/internal/money"
	"fanfare/internal/nearest"
)

// delimiters that text is tried with, the likelier first.
var delimiters = []rune{',', ';', '\t', '|'}

// headerWithin is how many records from the top the header is looked for in:
// exports begin with a title and a range of days.
const headerWithin = 30

// split finds what separates the columns and which line names them: the one
// with the most cells that are names of fields. Where nothing is known, it is
// the first line that is as wide as most.
func split(text string) (delimiter rune, header int) {
	most, widest := 0, 0
	for _, d := range delimiters {
		top := topOf(text, d)
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

// top is a record near the top of the file.
type top struct {
	line  int
	cells []string
}

// topOf reads the first records. What was read of one that is too wide counts,
// so that the delimiter is found and the error names the width.
func topOf(text string, delimiter rune) []top {
	var list []top
	r := splitter{text: text, mark: byte(delimiter)}
	for len(list) < headerWithin && r.next() {
		if r.rest == "" {
			continue
		}
		line, err := r.line, r.record()
		list = append(list, top{line, slices.Clone(r.cells[:min(len(r.cells), MaxColumns+1)])})
		if err != nil {
			// What is wrong with the file shows when all of it is read.
			break
		}
	}
	return list
}

// widestOf is the first line of the width that most lines have.
func widestOf(list []top) (line, width int) {
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

// fieldOf finds the field of a column's name.
func fieldOf(column string) (named, bool) {
	if len(column) > MaxID {
		return named{}, false
	}
	name := normal(column)
	n, ok := byWord[name]
	if !ok {
		base, _ := bare(name)
		n, ok = byWord[base]
	}
	return n, ok
}

// propose maps columns to fields by their names.
func propose(columns []string, t *template) []Column {
	list := make([]Column, len(columns))
	ranks := map[field]int{}
	owner := map[field]int{}
	for i, name := range columns {
		list[i] = Column{Name: name, Confidence: None, Sample: []string{}}
		n, ok := fieldOf(name)
		if t != nil {
			if f, is := t.columns[normal(name)]; is {
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
		list[i].read(n.field, confidence)
	}
	for i := range list {
		if f, ok := guess(list[i].Name); ok && list[i].Field == nil {
			if _, taken := owner[f]; !taken {
				owner[f] = i
				list[i].read(f, Guess)
			}
		}
	}
	return list
}

func (c *Column) read(f field, confidence Confidence) {
	name := f.String()
	c.Field, c.Confidence = &name, confidence
}

// guess finds the name that a column's name is a slip of: one with as many
// words, each of them the same or nearly.
func guess(column string) (field, bool) {
	name, _ := bare(normal(column))
	words := strings.Fields(name)
	for _, candidate := range allWords {
		meant := strings.Fields(candidate)
		if len(meant) == len(words) && nearly(words, meant) {
			return byWord[candidate].field, true
		}
	}
	return 0, false
}

func nearly(words, meant []string) bool {
	for i, w := range words {
		if w != meant[i] && (min(len(w), len(meant[i])) < 5 || nearest.Word(w, meant[i:i+1]) == "") {
			return false
		}
	}
	return len(words) > 0
}

// survey is what the cells of a file tell.
type survey struct {
	marks marks
	days  days
	// currency is the one that all cells of a column of currencies have.
	currency money.Currency
	mixed    bool
}

// survey looks at all cells once. It fills in the samples and settles which
// columns of ids hold ours.
func (g *grid) survey(columns []Column) (*survey, error) {
	v := &survey{}
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
			v.see(fields[i], cell, &ours[i])
		}
		return nil
	})
	for i := range columns {
		if ours[i] < 0 {
			external := fieldsByName["external_"+*columns[i].Field]
			columns[i].Field = nil
			if !slices.Contains(fields, external) {
				columns[i].read(external, Synonym)
			}
		}
	}
	return v, err
}

const maxSampleText = 100

// unread is the field of a column that is not read.
const unread = numFields

// fieldsOf returns what the columns are read as.
func fieldsOf(columns []Column) []field {
	fields := make([]field, len(columns))
	for i, c := range columns {
		fields[i] = unread
		if c.Field != nil {
			fields[i] = fieldsByName[*c.Field]
		}
	}
	return fields
}

// see looks at one cell. ours is above 0 for a column with ids of ours and
// below for one with those of others.
func (v *survey) see(f field, cell string, ours *int) {
	switch f {
	case fieldDate:
		v.days.see(cell)
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
	if m, counts := f.measure(); counts || f == unread && utf8.RuneCountInString(cell) < 30 {
		v.marks.see(cell, counts && !m.Scaled())
	}
}

// currencyOf finds the currency that the file is in: in the name of a column
// of amounts, such as "Amount spent (USD)", or in a column of its own.
func (v *survey) currencyOf(columns []Column) money.Currency {
	for _, c := range columns {
		if c.Field == nil {
			continue
		}
		if m, ok := fieldsByName[*c.Field].measure(); !ok || !m.Money() {
			continue
		}
		_, bracket := bare(normal(c.Name))
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

// decimal is the mark that most numbers are written with.
// Choice: where none tells, text with semicolons has decimal commas, because
// it is written where the comma could not separate the columns.
func (v *survey) decimal(delimiter rune) string {
	if v.marks.comma > v.marks.point || v.marks.comma == v.marks.point && delimiter == ';' {
		return ","
	}
	return "."
}

// isParquet reports whether bytes begin and end as a Parquet file does.
func isParquet(b []byte) bool {
	const magic = "PAR1"
	return len(b) >= 12 && string(b[:4]) == magic && string(b[len(b)-4:]) == magic
}
