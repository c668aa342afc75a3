package movestore

import (
	"slices"

	"fanfare/internal/metrics/dump"
	"fanfare/internal/store"
)

// number is a number of a workspace in a dump.
type number struct{ workspace, number int64 }

// summer sums up a dump by table. Engines number texts in their own ways, so it
// replaces each number by what it stands for.
type summer struct {
	report func(rows int64)
	rows   int64
	now    *dump.Table
	sums   map[string]store.RowSum
	// meanings has the packed meanings of numbers, by the table that has them.
	meanings map[string]map[number][]byte
	row      []byte
}

func newSummer(report func(rows int64)) *summer {
	s := &summer{report: report, sums: map[string]store.RowSum{}, meanings: map[string]map[number][]byte{}}
	for _, name := range []string{dump.Workspaces, dump.Words, dump.Sources, dump.Entities, dump.Imports} {
		s.meanings[name] = map[number][]byte{}
	}
	return s
}

// begin begins a table.
func (s *summer) begin(t *dump.Table) error {
	s.now = t
	// An engine may dump words that no fact uses; facts have the meanings.
	if t.Name != dump.Words {
		s.sums[t.Name] = store.RowSum{}
	}
	return nil
}

// reportEvery is how many rows pass between two reports.
const reportEvery = 100_000

// add adds a row.
func (s *summer) add(values []dump.Value) error {
	if s.rows++; s.rows%reportEvery == 0 {
		s.report(s.rows)
	}
	s.row = s.row[:0]
	for i, v := range values {
		s.value(i, v, values[0].Number)
	}
	s.keep(values)
	if sum, counts := s.sums[s.now.Name]; counts {
		sum.Add(s.row)
		s.sums[s.now.Name] = sum
	}
	return nil
}

// value packs a value of a row. workspace is the number of its workspace.
func (s *summer) value(column int, v dump.Value, workspace int64) {
	name := s.now.Columns[column]
	switch {
	case s.now.Text(column):
		s.row = store.AppendText(s.row, v.Text)
	case v.Null:
		s.row = store.AppendNull(s.row)
	case s.own(name):
		// An engine chooses these by itself.
	default:
		if table := meaningOf(name); table != "" {
			of := number{workspace, v.Number}
			if table == dump.Workspaces {
				of = number{0, v.Number}
			}
			// A deleted import has no meaning, and engines may forget its number.
			s.row = store.AppendText(s.row, s.meanings[table][of])
			return
		}
		s.row = store.AppendInt(s.row, v.Number)
	}
}

// own reports whether a column of the table differs between engines with the
// same facts: numbers of rows, and the generation, which a restore raises.
func (s *summer) own(column string) bool {
	switch s.now.Name {
	case dump.Workspaces:
		return column == "key" || column == "generation"
	case dump.Words:
		return column == "code"
	}
	return column == "key"
}

// meaningOf returns the table of a column's numbers, empty if the number is a
// value of its own.
func meaningOf(column string) string {
	switch column {
	case "workspace":
		return dump.Workspaces
	case "source":
		return dump.Sources
	case "campaign", "creative", "audience":
		return dump.Entities
	case "channel", "country", "age_range", "gender", "device":
		return dump.Words
	case "import", "above":
		return dump.Imports
	}
	return ""
}

// keep stores the meaning of a number: the row that has it.
func (s *summer) keep(values []dump.Value) {
	numbers := s.meanings[s.now.Name]
	switch s.now.Name {
	case dump.Workspaces:
		numbers[number{0, values[0].Number}] = slices.Clone(s.row)
	case dump.Words, dump.Sources, dump.Entities, dump.Imports:
		numbers[number{values[0].Number, values[1].Number}] = slices.Clone(s.row)
	}
}
