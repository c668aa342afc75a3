package duckdb_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"fanfare/internal/fact"
	"fanfare/internal/metrics/duckdb"
)

// lyingFooter is a Parquet file of 26 bytes that announces ten million columns.
func lyingFooter() []byte {
	// A version, then the head of a list of structures.
	footer := binary.AppendUvarint([]byte{0x15, 0x02, 0x19, 0xfc}, 10_000_000)
	footer = append(footer, 0, 0, 0)
	file := append([]byte("PAR1"), footer...)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(footer)))
	return append(file, "PAR1"...)
}

// TestParquetBombs reads small files that expand to large ones. None may be read,
// and the reading process must stay within its memory.
func TestParquetBombs(t *testing.T) {
	dir := t.TempDir()
	e := openFiles(t, dir)
	wide := make([]string, 200)
	for i := range wide {
		wide[i] = fmt.Sprintf("repeat('y', 4000) AS c%d", i)
	}
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"one long text in many rows", parquet(t, e, dir, "SELECT repeat('x', 1000000) AS a FROM range(100)"), `Column "a" has a cell of 1000000 bytes; at most 4096 are read.`},
		{"long bytes in many rows", parquet(t, e, dir, "SELECT encode(repeat('x', 1000000)) AS a FROM range(100)"), `Column "a" has a cell of 1000000 bytes; at most 4096 are read.`},
		{"one short text in too many cells", parquet(t, e, dir, "SELECT "+strings.Join(wide, ", ")+" FROM range(100)"), "Its cells have more than 64 MiB of text."},
		{"pages that compress well", parquet(t, e, dir, "SELECT range || repeat('x', 100000) AS a FROM range(1400)"), "Its cells have more than 64 MiB of text."},
		{"too many numbers", parquet(t, e, dir, "SELECT COLUMNS(*) FROM (SELECT 1 AS a FROM range(200000)), (SELECT "+strings.ReplaceAll(strings.Join(wide[:50], ", "), "repeat('y', 4000)", "1")+")"), "It has 10200000 cells (200000 rows of 51 columns); at most 4000000 are read."},
		{"too many empty cells", parquet(t, e, dir, "SELECT "+strings.ReplaceAll(strings.Join(wide, ", "), "repeat('y', 4000)", "''")+" FROM range(20001)"), "It has 4000200 cells (20001 rows of 200 columns); at most 4000000 are read."},
		{"too many rows", parquet(t, e, dir, "SELECT 1 AS a FROM range(200001)"), "It has more than 200000 rows."},
		{"too many columns", parquet(t, e, dir, "SELECT 1 AS a, "+strings.Join(wide, ", ")), "It has more than 200 columns."},
		{"a lying footer", lyingFooter(), ""},
	} {
		err := (duckdb.Parquet{Dir: dir}).ReadParquet(t.Context(), tt.file, bounds, func([]string, [][]string) error { return nil })
		var large *fact.FileTooLargeError
		switch {
		case tt.want == "" && !errors.Is(err, fact.ErrUnreadableFile):
			t.Errorf("%s: got %v want %v", tt.name, err, fact.ErrUnreadableFile)
		case tt.want != "" && (!errors.As(err, &large) || large.What != tt.want):
			t.Errorf("%s: got %v want %q", tt.name, err, tt.want)
		}
		var used syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil {
			t.Fatal(err)
		}
		// The kernel counts the memory of this test for those that it starts.
		const most = 700 << 10
		t.Logf("%s: %d bytes, readers used at most %d MB", tt.name, len(tt.file), used.Maxrss>>10)
		if used.Maxrss > most {
			t.Fatalf("%s: a reader used %d kB of memory, want at most %d", tt.name, used.Maxrss, most)
		}
	}
	spoolIsEmpty(t, dir)
}

// TestParquetListsAreLeftOut reads a file with a column of lists without that
// column.
func TestParquetListsAreLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openFiles(t, dir)
	file := parquet(t, e, dir, "SELECT 5 AS clicks, list_resize([1]::INT[], 10000, 7) AS l, {'a': 1} AS r FROM range(500)")
	rows := 0
	err := (duckdb.Parquet{Dir: dir}).ReadParquet(t.Context(), file, bounds, func(columns []string, list [][]string) error {
		for _, row := range list {
			if len(columns) != 3 || row[0] != "5" || row[1] != "" || row[2] != "" {
				t.Fatalf("got %q = %q want 5 and nothing", columns, row)
			}
		}
		rows += len(list)
		return nil
	})
	if err != nil || rows != 500 {
		t.Errorf("got %d rows, %v want 500", rows, err)
	}
}

// TestParquetInBytes checks that rows with much text are passed a few at a time.
func TestParquetInBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openFiles(t, dir)
	file := parquet(t, e, dir, "SELECT range || repeat('x', 4000) AS a, repeat('y', 4000) AS b FROM range(3000)")
	rows, most := 0, 0
	err := (duckdb.Parquet{Dir: dir}).ReadParquet(t.Context(), file, bounds, func(_ []string, list [][]string) error {
		rows, most = rows+len(list), max(most, len(list))
		return nil
	})
	if err != nil || rows != 3000 || most*8000 > 1<<20+8000 {
		t.Errorf("got %d rows, at most %d at once, %v want 3000 and about 1 MiB", rows, most, err)
	}
}
