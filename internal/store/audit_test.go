package store_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"fanfare/internal/campaign"
	"fanfare/internal/ident"
	"fanfare/internal/record"
	"fanfare/internal/store"
	"fanfare/internal/store/pgtest"
	"fanfare/internal/store/storetest"
)

// auditLine is a row of the audit log.
type auditLine struct {
	workspace   string
	seq, at     int64
	entry, hash string
}

// forger changes an audit log as an attacker with access to the database can.
type forger struct {
	r     *mathrand.Rand
	lines []auditLine
	heads map[string]auditLine
}

// chain returns the indexes of one workspace's entries in lines.
func (f *forger) chain() (places []int) {
	one := f.lines[f.r.IntN(len(f.lines))].workspace
	for i, l := range f.lines {
		if l.workspace == one {
			places = append(places, i)
		}
	}
	return places
}

// rehash returns the correct hash of an entry.
func (l auditLine) rehash(before string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%d\n%s", before, l.workspace, l.seq, l.at, l.entry))
	return hex.EncodeToString(sum[:])
}

// flip changes one character.
func (f *forger) flip(s string) string {
	b := []byte(s)
	i := f.r.IntN(len(b))
	for was := b[i]; b[i] == was; {
		b[i] = "0123456789abcdef{}:,"[f.r.IntN(20)]
	}
	return string(b)
}

// forgeries are the kinds of tampering.
var forgeries = map[string]func(f *forger) []change{
	"edit the entry": func(f *forger) []change {
		l := f.any()
		return []change{{`UPDATE audit SET entry = $1 WHERE workspace_id = $2 AND seq = $3`, []any{f.flip(l.entry), l.workspace, l.seq}}}
	},
	"edit the entry and its hash": func(f *forger) []change {
		chain := f.chain()
		i := f.r.IntN(len(chain))
		l, before := f.lines[chain[i]], ""
		if i > 0 {
			before = f.lines[chain[i-1]].hash
		}
		l.entry = f.flip(l.entry)
		return []change{{`UPDATE audit SET entry = $1, hash = $2 WHERE workspace_id = $3 AND seq = $4`, []any{l.entry, l.rehash(before), l.workspace, l.seq}}}
	},
	"edit the entry and all hashes from there": func(f *forger) (list []change) {
		chain := f.chain()
		at := f.r.IntN(len(chain))
		before := ""
		if at > 0 {
			before = f.lines[chain[at-1]].hash
		}
		for n, i := range chain[at:] {
			l := f.lines[i]
			if n == 0 {
				l.entry = f.flip(l.entry)
			}
			before = l.rehash(before)
			list = append(list, change{`UPDATE audit SET entry = $1, hash = $2 WHERE workspace_id = $3 AND seq = $4`, []any{l.entry, before, l.workspace, l.seq}})
		}
		return list
	},
	"edit the time": func(f *forger) []change {
		l := f.any()
		return []change{{`UPDATE audit SET at = at + $1 WHERE workspace_id = $2 AND seq = $3`, []any{1 + f.r.Int64N(1e12), l.workspace, l.seq}}}
	},
	"edit the hash": func(f *forger) []change {
		l := f.any()
		return []change{{`UPDATE audit SET hash = $1 WHERE workspace_id = $2 AND seq = $3`, []any{f.flip(l.hash), l.workspace, l.seq}}}
	},
	"delete one": func(f *forger) []change {
		l := f.any()
		return []change{{`DELETE FROM audit WHERE workspace_id = $1 AND seq = $2`, []any{l.workspace, l.seq}}}
	},
	"delete the tail": func(f *forger) []change {
		chain := f.chain()
		from := f.lines[chain[f.r.IntN(len(chain))]]
		return []change{{`DELETE FROM audit WHERE workspace_id = $1 AND seq >= $2`, []any{from.workspace, from.seq}}}
	},
	"delete one and close the gap": func(f *forger) []change {
		l := f.any()
		list := []change{{`DELETE FROM audit WHERE workspace_id = $1 AND seq = $2`, []any{l.workspace, l.seq}}}
		for seq := l.seq + 1; seq <= f.heads[l.workspace].seq; seq++ {
			list = append(list, change{`UPDATE audit SET seq = $1 WHERE workspace_id = $2 AND seq = $3`, []any{seq - 1, l.workspace, seq}})
		}
		return list
	},
	"delete the chain's end": func(f *forger) []change {
		return []change{{`DELETE FROM audit_head WHERE workspace_id = $1`, []any{f.any().workspace}}}
	},
	"delete the whole chain": func(f *forger) []change {
		w := f.any().workspace
		return []change{{`DELETE FROM audit WHERE workspace_id = $1`, []any{w}}, {`DELETE FROM audit_head WHERE workspace_id = $1`, []any{w}}}
	},
	"edit the chain's end": func(f *forger) []change {
		h := f.heads[f.any().workspace]
		if f.r.IntN(2) == 0 {
			return []change{{`UPDATE audit_head SET hash = $1 WHERE workspace_id = $2`, []any{f.flip(h.hash), h.workspace}}}
		}
		return []change{{`UPDATE audit_head SET seq = seq + $1 WHERE workspace_id = $2`, []any{1 + f.r.IntN(5), h.workspace}}}
	},
	"swap two": func(f *forger) []change {
		chain := f.chain()
		i := f.r.IntN(len(chain))
		j := (i + 1 + f.r.IntN(len(chain)-1)) % len(chain)
		a, b := f.lines[chain[i]], f.lines[chain[j]]
		set := `UPDATE audit SET at = $1, entry = $2, hash = $3 WHERE workspace_id = $4 AND seq = $5`
		return []change{{set, []any{b.at, b.entry, b.hash, a.workspace, a.seq}}, {set, []any{a.at, a.entry, a.hash, b.workspace, b.seq}}}
	},
	"swap two entries": func(f *forger) []change {
		chain := f.chain()
		i := f.r.IntN(len(chain))
		j := (i + 1 + f.r.IntN(len(chain)-1)) % len(chain)
		a, b := f.lines[chain[i]], f.lines[chain[j]]
		set := `UPDATE audit SET entry = $1 WHERE workspace_id = $2 AND seq = $3`
		return []change{{set, []any{b.entry, a.workspace, a.seq}}, {set, []any{a.entry, b.workspace, b.seq}}}
	},
	"append one": func(f *forger) []change {
		l := f.any()
		h := f.heads[l.workspace]
		l.seq, l.entry = h.seq+1, f.flip(l.entry)
		return []change{{insertLine, []any{l.workspace, l.seq, l.at, l.entry, l.rehash(h.hash)}}}
	},
	"insert before all": func(f *forger) []change {
		l := f.any()
		l.seq = []int64{0, -1, -1 << 40, -1 << 63}[f.r.IntN(4)]
		return []change{{insertLine, []any{l.workspace, l.seq, l.at, l.entry, l.rehash("")}}}
	},
	"insert far behind": func(f *forger) []change {
		l := f.any()
		h := f.heads[l.workspace]
		l.seq = []int64{h.seq + 2, 1 << 40, 1<<63 - 1}[f.r.IntN(3)]
		return []change{{insertLine, []any{l.workspace, l.seq, l.at, l.entry, l.rehash(h.hash)}}}
	},
	"insert between": func(f *forger) []change {
		l := f.any()
		var list []change
		for seq := f.heads[l.workspace].seq; seq > l.seq; seq-- {
			list = append(list, change{`UPDATE audit SET seq = $1 WHERE workspace_id = $2 AND seq = $3`, []any{seq + 1, l.workspace, seq}})
		}
		return append(list, change{insertLine, []any{l.workspace, l.seq + 1, l.at, l.entry, l.rehash(l.hash)}})
	},
	"a chain for nobody": func(f *forger) []change {
		l := f.any()
		l.workspace, l.seq = "wks_nobody", 1
		return []change{{insertLine, []any{l.workspace, l.seq, l.at, l.entry, l.rehash("")}}}
	},
	"move to another chain": func(f *forger) []change {
		l := f.any()
		for w, h := range f.heads {
			if w != l.workspace {
				return []change{{`UPDATE audit SET workspace_id = $1, seq = $2 WHERE workspace_id = $3 AND seq = $4`, []any{w, h.seq + 1, l.workspace, l.seq}}}
			}
		}
		return nil
	},
}

const insertLine = `INSERT INTO audit (workspace_id, seq, at, entry, hash) VALUES ($1, $2, $3, $4, $5)`

// restoreAudit restores the original log.
const restoreAudit = `DELETE FROM audit; DELETE FROM audit_head; INSERT INTO audit SELECT * FROM kept; INSERT INTO audit_head SELECT * FROM kept_head`

// change is a statement that tampers with the log.
type change struct {
	query string
	args  []any
}

func (f *forger) any() auditLine { return f.lines[f.r.IntN(len(f.lines))] }

// read reads the current log.
func (f *forger) read(t *testing.T, e store.Engine) {
	t.Helper()
	rows, err := e.Query(store.Across(t.Context()), `SELECT workspace_id, seq, at, entry, hash FROM audit ORDER BY workspace_id, seq`)
	if err != nil {
		t.Fatal(err)
	}
	f.heads = map[string]auditLine{}
	for rows.Next() {
		l := auditLine{rows.Text(), rows.Int(), rows.Int(), rows.Text(), rows.Text()}
		f.lines = append(f.lines, l)
		f.heads[l.workspace] = l
	}
}

// TestDrillAudit tampers with the audit log in every detectable way and checks
// that VerifyAudit finds it.
func TestDrillAudit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, open func(t *testing.T) store.Engine) {
		w := storetest.NewFixture(t, open(t))
		for i := range 3 {
			if i > 0 {
				w.Workspace, _, _ = w.AddWorkspace(fmt.Sprintf("owner-%d@example.com", i))
			}
			for n := range 8 {
				c := w.Draft(fmt.Sprint(n))
				w.Insert(c)
				if _, err := w.Campaigns.Transition(t.Context(), w.Cause(), c.ID, record.Match{}, campaign.Launch); err != nil {
					t.Fatal(err)
				}
			}
		}
		times := 1000
		if e := w.Raw.Traits(); !e.Exclusive && os.Getenv("FANFARE_DRILL") != "full" {
			times = 300
		}
		seed := mathrand.Uint64()
		f := &forger{r: mathrand.New(mathrand.NewPCG(seed, 0))}
		f.read(t, w.Raw)
		write := func(fn func(tx store.Tx) error) {
			t.Helper()
			if err := w.Raw.Write(store.Across(t.Context()), fn); err != nil {
				t.Fatal(err)
			}
		}
		write(func(tx store.Tx) error {
			return tx.Script(`CREATE TABLE kept AS SELECT * FROM audit; CREATE TABLE kept_head AS SELECT * FROM audit_head`)
		})
		kinds := slices.Sorted(maps.Keys(forgeries))
		missed := 0
		for i := range times {
			kind := kinds[i%len(kinds)]
			changes := forgeries[kind](f)
			write(func(tx store.Tx) error {
				if err := tx.Script(restoreAudit); err != nil {
					return err
				}
				for _, c := range changes {
					if _, err := tx.Exec(c.query, c.args...); err != nil {
						return fmt.Errorf("%s: %w", kind, err)
					}
				}
				return nil
			})
			report, err := w.DB.VerifyAudit(t.Context(), func(int64) {})
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Faults) == 0 {
				missed++
				t.Errorf("seed %d: %s was not seen: %v", seed, kind, changes)
			}
		}
		write(func(tx store.Tx) error { return tx.Script(restoreAudit) })
		report, err := w.DB.VerifyAudit(t.Context(), func(int64) {})
		if err != nil || len(report.Faults) > 0 || report.Entries != int64(len(f.lines)) || report.Chains != len(f.heads) {
			t.Errorf("the true log: %+v, %v", report, err)
		}
		t.Logf("seed %d: %d of %d forgeries of %d kinds seen, in %d entries of %d chains", seed, times-missed, times, len(kinds), len(f.lines), len(f.heads))
	})
}

// TestAuditTogether runs many writers in two workspaces on three nodes. The
// chains must have no gap and no fork.
func TestAuditTogether(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	w := storetest.NewFixture(t, node(t, url))
	second, _, _ := w.AddWorkspace("second@example.com")
	const nodes, writers, times = 3, 8, 6
	var group sync.WaitGroup
	for range nodes {
		db := store.New(node(t, url), 0, w.Clock.Now, rand.Reader)
		service := campaign.New(db.Campaigns(), nil, nil, w.Clock.Now, rand.Reader)
		for i := range writers {
			workspace := []ident.ID{w.Workspace, second}[i%2]
			group.Go(func() {
				for n := range times {
					cause := w.Cause()
					cause.Workspace = workspace
					if _, err := service.CreateSpec(t.Context(), cause, w.Draft(fmt.Sprint(n)).Spec); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	group.Wait()
	for _, workspace := range []ident.ID{w.Workspace, second} {
		const want = 1 + nodes*writers/2*times
		w.Count(want, `SELECT count(*) FROM audit WHERE workspace_id = $1`, string(workspace))
		w.Count(want, `SELECT max(seq) FROM audit WHERE workspace_id = $1`, string(workspace))
		w.Count(want, `SELECT seq FROM audit_head WHERE workspace_id = $1`, string(workspace))
	}
	report, err := w.DB.VerifyAudit(t.Context(), func(int64) {})
	if err != nil || len(report.Faults) > 0 || report.Chains != 2 {
		t.Errorf("got %+v, %v", report, err)
	}
}
