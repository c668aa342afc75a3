package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"fanfare/internal/record"
	"fanfare/internal/store"
)

// TestReserve spends the reserve on urgent writes only, refuses others until it
// can be filled again, and remembers that over a restart.
func TestReserve(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	path := filepath.Join(t.TempDir(), "test.db")
	e, err := Open(path, Options{Reserve: size})
	if err != nil {
		t.Fatal(err)
	}
	reserved := func() int64 {
		t.Helper()
		info, err := os.Stat(path + "-reserve")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if reserved() != size {
		t.Errorf("got %d bytes want %d", reserved(), size)
	}
	if err := e.Write(t.Context(), func(tx store.Tx) error { return tx.Script("CREATE TABLE item (id INTEGER PRIMARY KEY, doc TEXT)") }); err != nil {
		t.Fatal(err)
	}
	// Only the writer's goroutine may use its connection and its reserve.
	asWriter := func(change func(tx store.Tx) error) {
		t.Helper()
		if err := e.Write(record.WithUrgent(t.Context()), change); err != nil {
			t.Fatal(err)
		}
	}
	allow := func(pages int) {
		t.Helper()
		asWriter(func(tx store.Tx) error { return tx.Script(fmt.Sprint("PRAGMA max_page_count = ", pages)) })
	}
	large := func(tx store.Tx) error {
		_, err := tx.Exec("INSERT INTO item (doc) VALUES ($1)", fmt.Sprintf("%50000d", 1))
		return err
	}
	// A limit of pages simulates a full disk. The reserve does not make refused
	// writes possible, but it is used for urgent writes only.
	allow(4)
	if err := e.Write(t.Context(), large); !errors.Is(err, store.ErrUnavailable) || reserved() != size {
		t.Errorf("not urgent: got %v with %d bytes reserved, want unavailable and all", err, reserved())
	}
	if err := e.Write(record.WithUrgent(t.Context()), large); !errors.Is(err, store.ErrUnavailable) || reserved() != 0 {
		t.Errorf("urgent: got %v with %d bytes reserved, want unavailable and none", err, reserved())
	}
	allow(1_000_000)
	if err := e.Write(t.Context(), large); err != nil || reserved() != size {
		t.Errorf("not urgent with space: got %v with %d bytes reserved, want it written and all reserved again", err, reserved())
	}
	// A removed file is filled again by the next checkpoint.
	if err := os.Remove(path + "-reserve"); err != nil {
		t.Fatal(err)
	}
	asWriter(func(store.Tx) error {
		e.writer.reserve.restore()
		return nil
	})
	if reserved() != size {
		t.Errorf("got %d bytes after the file was removed, want %d", reserved(), size)
	}
	// One that has too little space waits.
	asWriter(func(store.Tx) error {
		e.writer.reserve.size, e.writer.reserve.spent = 1<<60, true
		return nil
	})
	if err := e.Write(t.Context(), large); !errors.Is(err, errReserved) {
		t.Errorf("not urgent without space for the reserve: got %v want %v", err, errReserved)
	}
	if err := e.Write(record.WithUrgent(t.Context()), large); err != nil {
		t.Errorf("urgent without space for the reserve: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path+"-reserve", 0); err != nil {
		t.Fatal(err)
	}
	if r := openReserve(path+"-reserve", 1<<60); !r.spent {
		t.Error("got a reserve after a restart without space, want it spent")
	}
	if r := openReserve(path+"-reserve", size); r.spent || reserved() != size {
		t.Error("got no reserve after a restart with space, want it filled")
	}
}
