package crash_test

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
	_ "github.com/mattn/go-sqlite3" // to look at the file beside the server

	"fanfare/internal/app"
	"fanfare/internal/store"
)

// checkAudit checks the chain of the audit log, with one entry for the
// workspace and one for each version of each record.
func (d *drill) checkAudit() {
	d.t.Helper()
	out := d.server.Run("audit", "verify", "--json")
	var report store.AuditReport
	if err := json.Unmarshal([]byte(out.Out), &report); err != nil || out.Code != 0 || len(report.Faults) > 0 {
		d.t.Errorf("seed %d: audit verify: %v %+v", d.seed, err, out)
		return
	}
	want := int64(1)
	for _, r := range d.records {
		want += r.Version
	}
	if report.Entries != want || report.Chains != 1 {
		d.t.Errorf("seed %d: %d audit entries in %d chains, want %d in 1", d.seed, report.Entries, report.Chains, want)
	}
}

// checkFile runs SQLite's integrity check.
func (d *drill) checkFile() {
	d.t.Helper()
	if d.postgres != nil {
		return
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(d.data, "fanfare.db")+"?mode=ro")
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		d.t.Errorf("seed %d: integrity_check: %s %v", d.seed, verdict, err)
	}
}

// checkStore checks the store after the server has stopped: all tables agree on
// the records.
func (d *drill) checkStore() {
	d.t.Helper()
	setting := filepath.Join(d.data, "fanfare.db")
	if d.postgres != nil {
		setting = d.postgresURL
	}
	e, err := app.OpenEngine(d.t.Context(), setting)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	refs, versions := map[string]bool{}, map[string]bool{}
	for _, r := range d.records {
		for _, tag := range r.Tags {
			refs["tag "+tag+" "+r.ID] = true
		}
		refs["channel search "+r.ID] = true
		for v := range r.Version {
			versions[fmt.Sprintf("%s %d", r.ID, v+1)] = true
		}
	}
	d.compareSets("ref", refs, d.rows(e, `SELECT kind, value, record_id FROM ref`, func(r *store.Rows) (string, error) {
		return r.Text() + " " + r.Text() + " " + r.Text(), nil
	}))
	d.compareSets("event", versions, d.rows(e, `SELECT resource_id, doc FROM event WHERE type LIKE 'campaign.%'`, func(r *store.Rows) (string, error) {
		id := r.Text()
		var v struct {
			Data recordState `json:"data"`
		}
		err := json.Unmarshal(r.Bytes(), &v)
		return fmt.Sprintf("%s %d", id, v.Data.Version), err
	}))
	d.compareSets("audit", versions, d.rows(e, `SELECT entry FROM audit WHERE seq > 1`, func(r *store.Rows) (string, error) {
		var v struct {
			Target  string `json:"target"`
			Version int64  `json:"version"`
		}
		err := json.Unmarshal(r.Bytes(), &v)
		return fmt.Sprintf("%s %d", v.Target, v.Version), err
	}))
	records, now := map[string]bool{}, d.rows(e, `SELECT id, version, status, name, doc FROM campaign`, func(r *store.Rows) (string, error) {
		columns := fmt.Sprintf("%s %d %s %s", r.Text(), r.Int(), r.Text(), r.Text())
		s, err := readState(r.Bytes())
		if inside := fmt.Sprintf("%s %d %s %s", s.ID, s.Version, s.Status, s.Name); inside != columns {
			err = fmt.Errorf("columns say %s, the document %s", columns, inside)
		}
		return columns, err
	})
	for _, r := range d.records {
		records[fmt.Sprintf("%s %d %s %s", r.ID, r.Version, r.Status, r.Name)] = true
	}
	d.compareSets("campaign", records, now)
	answers := d.rows(e, `SELECT resource_id, version FROM once`, func(r *store.Rows) (string, error) {
		return fmt.Sprintf("%s %d", r.Text(), r.Int()), nil
	})
	for answer := range answers {
		if !versions[answer] {
			d.t.Errorf("seed %d: an answer is remembered for %s, which is not there", d.seed, answer)
		}
	}
}

// rows returns a table as a set of lines without duplicates.
func (d *drill) rows(e store.Engine, query string, line func(*store.Rows) (string, error)) map[string]bool {
	d.t.Helper()
	rows, err := e.Query(store.Across(d.t.Context()), query)
	if err != nil {
		d.t.Fatal(err)
	}
	set := map[string]bool{}
	for rows.Next() {
		l, err := line(rows)
		if err != nil || set[l] {
			d.t.Errorf("seed %d: %s: %s is wrong or comes twice: %v", d.seed, query, l, err)
		}
		set[l] = true
	}
	return set
}

func (d *drill) compareSets(table string, want, got map[string]bool) {
	d.t.Helper()
	if maps.Equal(want, got) {
		return
	}
	var missing, extra []string
	for l := range want {
		if !got[l] {
			missing = append(missing, l)
		}
	}
	for l := range got {
		if !want[l] {
			extra = append(extra, l)
		}
	}
	slices.Sort(missing)
	slices.Sort(extra)
	d.t.Errorf("seed %d: table %s lacks %q and has %q too much", d.seed, table, missing[:min(5, len(missing))], extra[:min(5, len(extra))])
}
