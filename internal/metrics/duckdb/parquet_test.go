package duckdb_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fanfare/internal/fact"
	"fanfare/internal/metrics/duckdb"
)

var bounds = fact.FileLimits{Rows: 200_000, Columns: 200, Cells: 4_000_000, Cell: 4096, Text: 64 << 20}

// parquet creates a file with a statement.
func parquet(t *testing.T, e *duckdb.Engine, dir, query string) []byte {
	t.Helper()
	name := filepath.Join(dir, "spool", "made.parquet")
	if err := e.Exec(t.Context(), "COPY ("+query+") TO '"+name+"' (FORMAT parquet)"); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestReadParquet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openFiles(t, dir)
	file := parquet(t, e, dir, `SELECT DATE '2026-02-28' AS day, 1234567890.123456::DECIMAL(18,6) AS spend, 9007199254740993 AS clicks, NULL::INTEGER AS leads, 'a,"b' AS "odd ""name""", true AS yes
		UNION ALL SELECT NULL, -0.5, 0, 7, '', false`)
	var got [][]string
	err := (duckdb.Parquet{Dir: dir}).ReadParquet(t.Context(), file, bounds, func(columns []string, rows [][]string) error {
		if want := []string{"day", "spend", "clicks", "leads", `odd "name"`, "yes"}; !slices.Equal(columns, want) {
			t.Errorf("columns: got %q want %q", columns, want)
		}
		got = append(got, rows...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"2026-02-28", "1234567890.123456", "9007199254740993", "", `a,"b`, "true"}, {"", "-0.500000", "0", "7", "", "false"}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("rows: got %q want %q", got, want)
	}
	spoolIsEmpty(t, dir)
}

func TestReadParquetInParts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openFiles(t, dir)
	file := parquet(t, e, dir, "SELECT range AS n FROM range(2500)")
	var sizes []int
	count := func(_ []string, rows [][]string) error { sizes = append(sizes, len(rows)); return nil }
	if err := (duckdb.Parquet{Dir: dir}).ReadParquet(t.Context(), file, bounds, count); err != nil || !slices.Equal(sizes, []int{1000, 1000, 500}) {
		t.Errorf("got %v, %v want parts of 1000, 1000, 500", sizes, err)
	}
	enough := errors.New("enough")
	if err := (duckdb.Parquet{Dir: dir}).ReadParquet(t.Context(), file, bounds, func([]string, [][]string) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v want %v", err, enough)
	}
	spoolIsEmpty(t, dir)
}

// TestReadBrokenParquet reads files that are not Parquet, truncated or changed. A
// changed byte may stay unnoticed, but the server must survive.
func TestReadBrokenParquet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openFiles(t, dir)
	write(t, e, batchOf(1))
	whole := parquet(t, e, dir, "SELECT range AS n, 'text ' || range AS s FROM range(100)")
	ignore := func([]string, [][]string) error { return nil }
	for _, file := range [][]byte{nil, []byte("PAR1"), []byte("PAR1PAR1"), []byte("a,b\n1,2\n"), whole[:len(whole)-1], whole[:len(whole)/2], whole[4:]} {
		if err := (duckdb.Parquet{Dir: dir}).ReadParquet(t.Context(), file, bounds, ignore); err == nil {
			t.Errorf("%d bytes: got no error", len(file))
		}
	}
	for i := 0; i < len(whole); i += len(whole)/20 + 1 {
		changed := slices.Clone(whole)
		changed[i] ^= 0xff
		_ = (duckdb.Parquet{Dir: dir}).ReadParquet(t.Context(), changed, bounds, ignore)
	}
	if got := clicks(t, e); got != 10 {
		t.Errorf("clicks afterwards: got %d want 10", got)
	}
	spoolIsEmpty(t, dir)
}
