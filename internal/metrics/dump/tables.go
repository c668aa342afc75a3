package dump

import (
	"slices"

	"fanfare/internal/fact"
	"fanfare/internal/metrics/numbers"
)

// Names of tables with a rule of their own.
const (
	Workspaces = "workspace"
	Words      = "word"
	Sources    = "source"
	Entities   = "entity"
	Imports    = "import"
	Replaced   = "replaced"
)

// Tables returns the tables of a dump, in their order. Keys and the codes of
// words are unique within a workspace, and so are the numbers of imports, which
// rise in the order of their writes. A kind is a position in numbers.Kinds, a
// family one in fact.Families. cover has windows that an import emptied. replaced
// has facts that an import replaced; above is the number of that import. Tables
// that engines derive from facts are not in a dump.
func Tables() []Table {
	list := []Table{
		{Name: Workspaces, Columns: []string{"key", "id", "generation", "mirrored"}, Texts: []string{"id"}},
		{Name: Words, Columns: []string{"workspace", "code", "text"}, Texts: []string{"text"}},
		{Name: Sources, Columns: []string{"workspace", "key", "connection", "platform", "account", "currency", "zone"}, Texts: []string{"connection", "platform", "account", "currency", "zone"}},
		{Name: Entities, Columns: []string{"workspace", "key", "connection", "kind", "external", "name", "record", "variant"}, Texts: []string{"connection", "external", "name", "record", "variant"}},
		{Name: "record", Columns: []string{"workspace", "id", "kind", "name", "status", "objective", "type"}, Texts: []string{"id", "kind", "name", "status", "objective", "type"}},
		{Name: "tag", Columns: []string{"workspace", "record", "tag"}, Texts: []string{"record", "tag"}},
		{Name: Imports, Columns: []string{"workspace", "key", "id", "written"}, Texts: []string{"id"}},
		{Name: "cover", Columns: []string{"workspace", "import", "family", "source", "first", "last"}},
		{Name: Replaced, Columns: append(slices.Clone(numbers.FactColumns), "family", "above")},
	}
	for _, f := range fact.Families {
		list = append(list, Table{Name: f, Columns: numbers.FactColumns})
	}
	return list
}
