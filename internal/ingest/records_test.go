package ingest

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"fanfare/internal/fault"
)

// byLibrary reads records with the standard library, and whether any is longer
// than is allowed.
func byLibrary(t interface{ Fatal(...any) }, text string, mark rune) (lines []int, all [][]string, long bool) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = mark, -1, true
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return lines, all, long
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			long = long || len(c) > MaxCell
		}
		line, _ := r.FieldPos(0)
		lines, all = append(lines, line), append(all, cells)
	}
}

func compareRecords(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, text string, mark rune,
) {
	lines, want, long := byLibrary(t, text, mark)
	i := 0
	err := records(text, mark, func(line int, cells []string) error {
		if i >= len(want) || line != lines[i] || strings.Join(cells, "\x00") != strings.Join(want[i], "\x00") || len(cells) != len(want[i]) {
			t.Fatalf("%q: record %d: got line %d %q, want %v %q", text, i, line, cells, lines, want)
		}
		i++
		return nil
	})
	if long != (err != nil) || err == nil && i != len(want) {
		t.Fatalf("%q: got %d records, %v want %d, too long: %v", text, i, err, len(want), long)
	}
}

// TestRecords compares records with those of the standard library.
func TestRecords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "a", "a,b\n", "a,b\r\nc,d\r\n", "\n\n a,b\n\n\nc", "\r\n\r\na\r", "a,\n,b\n,", `"a","b"`, `"a""b",c`, "\"a\nb\",c\nd", "\"a\r\nb\"\r\nc", `"a`, "\"a\n", "\"a\n\nb",
		`"a"b",c`, `"a" ,b`, `a"b,c"`, `""`, `"",""`, "\"\"\n\"\"", `"`, "\"\n", `"""`, "\"a\"\r\nb", "\"a\"\rb", "\r", "a\rb,c",
	} {
		compareRecords(t, text, ',')
	}
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{`"`, `""`, ",", ";", "\n", "\r\n", "\r", "a", "é", strings.Repeat("x", 1500)})).Draw(rt, "parts")
		compareRecords(rt, strings.Join(parts, ""), rapid.SampledFrom(delimiters).Draw(rt, "mark"))
	})
}

func FuzzRecords(f *testing.F) {
	f.Add("a,b\n\"c\"\"d\",e\r\n")
	f.Add("\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) && !strings.Contains(text, "\x00") {
			compareRecords(t, text, ',')
		}
	})
}

// TestLongRecords checks that a record that is too long is refused before it is
// read, by the memory that is allocated for it.
func TestLongRecords(t *testing.T) {
	const size = 20 << 20
	header := "date,clicks\n"
	for name, text := range map[string]string{
		"commas":               strings.Repeat(",", size),
		"one cell":             strings.Repeat("x", size),
		"columns":              strings.Repeat("column,", size/7),
		"commas below":         header + strings.Repeat(",", size),
		"one cell below":       header + strings.Repeat("x", size),
		"an open quote":        header + `"` + strings.Repeat("x\n", size/2),
		"quotes":               header + `"` + strings.Repeat(`""`, size/2),
		"a record of lines":    header + strings.Repeat("\"\n\",", size/4),
		"a name that is twice": strings.Repeat("a,", 16_000) + "\n1\n",
	} {
		look := func() error {
			delimiter, line := detectDelimiter(text)
			g, err := textGrid(text, delimiter, line)
			if err != nil {
				return err
			}
			_, err = g.survey(proposeColumns(g.columns, nil))
			return err
		}
		if err := look(); !fault.Is(err, fault.ValidationFailed) {
			t.Errorf("%s: got %v want validation_failed", name, err)
		}
		if n := testing.AllocsPerRun(1, func() { _ = look() }); n > 60_000 {
			t.Errorf("%s: got %.0f allocations want few", name, n)
		}
	}
}
