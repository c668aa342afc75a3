package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fanfare/internal/ingest"
)

// TestImportCommands imports a file and undoes the import, on a data folder
// without a server and on one with a running server.
func TestImportCommands(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"alone", "beside a server"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if mode != "alone" {
				p.serve()
			}
			w := p.workspace()
			p.imports()
			if mode == "alone" {
				p.serve()
			}
			status, body := p.server.Call(w.APIKey, http.MethodGet, "/v1/imports?status=undone", "")
			if status != http.StatusOK || !strings.Contains(body, `"name":"november.csv"`) {
				t.Errorf("got %d %s want the import that was undone", status, body)
			}
			p.server.Stop()
		})
	}
}

// imports runs the import commands.
func (p *testInstall) imports() {
	p.Helper()
	file := filepath.Join(p.TempDir(), "november.csv")
	write := func(text string) {
		p.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			p.Fatal(err)
		}
	}
	write("day;cost;what\n03/04/2026;1.234,50;7\n")
	wants(p.T, p.run(1, "import", file, "--yes").Errors, "date_format")
	wants(p.T, p.run(0, "import", file, "--date-format", "DD/MM/YYYY", "--dry-run").Out, "november.csv", `delimiter ";"`, `decimal ","`, "cost", "spend", "1234.5", "2026-04-03", "Nothing was imported.")
	wants(p.T, p.run(2, "import", file, "--date-format", "DD/MM/YYYY").Errors, "--yes")
	wants(p.T, p.run(2, "import", file, "--map", "what", "--yes").Errors, "column=field")

	var i ingest.Import
	p.read(&i, "import", file, "--date-format", "DD/MM/YYYY", "--map", "what=clicks", "--source", "till", "--currency", "CHF", "--yes", "--json")
	if i.Status != ingest.StatusCommitted || i.Source != "till" || i.Currency != "CHF" || *i.RowsWritten != 1 || i.Mapping["what"] != "clicks" {
		p.Errorf("got %+v want it committed as told", i)
	}
	write("day,clicks\n2026-11-01,1\n2026-11-02,x\n")
	wants(p.T, p.run(1, "import", file, "--yes").Errors, "1 of 2 rows are invalid", "--skip-errors")
	wants(p.T, p.run(0, "import", file, "--yes", "--skip-errors").Out, "Imported 1 rows", "fanfare import undo imp_")

	wants(p.T, p.run(0, "import", "list").Out, "ID", "STATUS", string(i.ID), "committed", "ready", "november.csv", "till")
	wants(p.T, p.run(0, "import", "undo", string(i.ID)).Out, "was undone")
	wants(p.T, p.run(exitConflict, "import", "undo", string(i.ID)).Errors, "undone")
	p.run(exitNotFound, "import", filepath.Join(p.TempDir(), "nothing.csv"), "--yes")
	p.run(exitUsage, "import", "list", "--limit", "0")
}
