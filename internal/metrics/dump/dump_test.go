package dump_test

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"fanfare/internal/metrics/dump"
)

var tables = []dump.Table{
	{Name: "names", Columns: []string{"key", "name"}, Texts: []string{"name"}},
	{Name: "none", Columns: []string{"key"}},
	{Name: "numbers", Columns: []string{"a", "b"}},
}

func write(t interface{ Fatalf(string, ...any) }, rows [][][]dump.Value) []byte {
	var b bytes.Buffer
	w, err := dump.NewWriter(&b)
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	for i := range tables {
		if err := w.Table(&tables[i]); err != nil {
			t.Fatalf("table: %v", err)
		}
		for _, row := range rows[i] {
			if err := w.Row(row); err != nil {
				t.Fatalf("row: %v", err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	return b.Bytes()
}

func read(b []byte) (rows [][][]dump.Value, err error) {
	err = dump.Read(bytes.NewReader(b), tables, func(*dump.Table) error {
		rows = append(rows, nil)
		return nil
	}, func(row []dump.Value) error {
		last := &rows[len(rows)-1]
		*last = append(*last, append([]dump.Value(nil), row...))
		return nil
	})
	return rows, err
}

// TestRoundTrip compares what was written with what is read, and reads no stream
// that was cut off or changed.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	number := rapid.Custom(func(t *rapid.T) dump.Value {
		if rapid.Bool().Draw(t, "null") {
			return dump.Value{Null: true}
		}
		return dump.Value{Number: rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, math.MaxInt64, math.MinInt64})).Draw(t, "number")}
	})
	text := rapid.Custom(func(t *rapid.T) dump.Value { return dump.Value{Text: rapid.SliceOf(rapid.Byte()).Draw(t, "text")} })
	rapid.Check(t, func(t *rapid.T) {
		want := [][][]dump.Value{nil, nil, nil}
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			want[0] = append(want[0], []dump.Value{number.Draw(t, "key"), text.Draw(t, "name")})
			want[2] = append(want[2], []dump.Value{number.Draw(t, "a"), number.Draw(t, "b")})
		}
		b := write(t, want)
		got, err := read(b)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, %v want %v", got, err, want)
		}
		if cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut"); true {
			if _, err := read(b[:cut]); err == nil {
				t.Fatalf("%d of %d bytes: got no error", cut, len(b))
			}
		}
		damaged := bytes.Clone(b)
		// The header of gzip has bytes without a meaning.
		at := rapid.IntRange(30, len(b)-1).Draw(t, "at")
		damaged[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if got, err := read(damaged); err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("byte %d changed: got other rows and no error", at)
		}
	})
}
