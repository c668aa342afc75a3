package metricstest

import (
	"fmt"

	"fanfare/internal/fact"
	"fanfare/internal/ident"
)

func (t ruleTest) undoChains() {
	a := fact.Entity{ExternalID: "a"}
	window := []fact.Window{{Source: euro, First: monday - 5, Last: monday + 5}}
	for i, replace := range [][]fact.Window{nil, window} {
		b, c := ident.ID(fmt.Sprint("imp_b", i)), ident.ID(fmt.Sprint("imp_c", i))
		t.write(&fact.Batch{Replace: window, Rows: []fact.Row{fact1(euro, monday, a, fact.Clicks, 1), fact1(euro, monday+1, a, fact.Clicks, 50)}})
		t.write(&fact.Batch{Import: b, Replace: replace, Rows: []fact.Row{fact1(euro, monday, a, fact.Clicks, 2)}})
		t.write(&fact.Batch{Import: c, Replace: replace, Rows: []fact.Row{fact1(euro, monday, a, fact.Clicks, 3)}})
		rest := int64(50)
		if replace != nil {
			rest = 0
		}
		t.wants("the last", plan(fact.Clicks), total(3+rest))
		t.undo(b, 0)
		t.wants("the last, the middle undone", plan(fact.Clicks), total(3+rest))
		t.undo(c, 1)
		t.wants("the first", plan(fact.Clicks), total(51))
		t.undo(c, 0)
		t.wants("undone twice", plan(fact.Clicks), total(51))
	}
}

// importOnce writes an import again after what came later, and after its undo.
func (t ruleTest) importOnce() {
	a := fact.Entity{ExternalID: "a"}
	first := &fact.Batch{Import: "imp_b", Replace: []fact.Window{{Source: euro, First: monday, Last: monday + 1}}, Rows: []fact.Row{fact1(euro, monday, a, fact.Clicks, 2)}}
	t.write(first)
	t.write(&fact.Batch{Import: "imp_c", Rows: []fact.Row{fact1(euro, monday, a, fact.Clicks, 3), fact1(euro, monday+1, a, fact.Clicks, 30)}})
	t.write(first)
	t.wants("what came later", plan(fact.Clicks), total(33))
	t.undo("imp_c", 2)
	t.wants("the first", plan(fact.Clicks), total(2))
	t.undo("imp_b", 1)
	t.write(first)
	t.wants("undone", plan(fact.Clicks))
}

func (t ruleTest) newerStays() {
	a := fact.Entity{ExternalID: "a"}
	t.writeRows(fact1(euro, monday, a, fact.Clicks, 1))
	t.write(&fact.Batch{Import: "imp_b", Rows: []fact.Row{fact1(euro, monday, a, fact.Clicks, 2), fact1(euro, monday+1, a, fact.Clicks, 20)}})
	t.writeRows(fact1(euro, monday, a, fact.Clicks, 3))
	t.undo("imp_b", 1)
	t.wants("newer than the import", plan(fact.Clicks), total(3))
	// A window that an import emptied stays empty after the undo of another
	// import.
	t.write(&fact.Batch{Import: "imp_e", Replace: []fact.Window{{Source: euro, First: monday, Last: monday}}})
	t.write(&fact.Batch{Import: "imp_f", Rows: []fact.Row{fact1(euro, monday+3, a, fact.Clicks, 9)}})
	t.undo("imp_f", 1)
	t.wants("emptied by a live import", plan(fact.Clicks))
	t.undo("imp_e", 0)
	t.wants("that is undone", plan(fact.Clicks), total(3))
	// A window that was emptied later stays empty.
	t.write(&fact.Batch{Import: "imp_c", Replace: []fact.Window{{Source: euro, First: monday, Last: monday + 9}}})
	t.write(&fact.Batch{Replace: []fact.Window{{Source: euro, First: monday, Last: monday}}})
	t.undo("imp_c", 0)
	t.wants("emptied after the import", plan(fact.Clicks))
}
