package damage_test

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3"
)

const pageSize = 4096

// TestDrillPayload changes bytes inside documents, where SQLite cannot see it.
// Such a document is an error, everything else works, and neither doctor nor a
// backup calls the file good.
func TestDrillPayload(t *testing.T) {
	t.Parallel()
	for range rounds() {
		s := newTestServer(t)
		s.server.Stop()
		s.edit("fanfare.db", func(b []byte) []byte {
			for _, at := range s.textOffsets(b, `"description":"Text `)[:40] {
				for i := range 16 {
					b[at+20+i] = byte(s.r.IntN(256))
				}
			}
			return b
		})
		s.startAnyway()
		v := s.inspect()
		if v.ready != http.StatusOK || v.create != http.StatusCreated || v.pause != http.StatusOK && v.pause != http.StatusInternalServerError || v.readable == 0 || v.refused == 0 {
			t.Errorf("saw %+v", v)
		}
		s.mustContain(s.server.Log.String(), "document does not match its checksum", "table campaign, id cmp_")
		if v.doctor.Code == 0 || v.backup.Code == 0 {
			t.Errorf("doctor ended with %d, backup with %d: %s", v.doctor.Code, v.backup.Code, v.backup.Out)
		}
		s.mustContain(v.doctor.Out, "documents", "do not match their checksum", "fanfare backup restore")
		s.mustContain(v.backup.Errors, "checksum")
		s.server.Stop()
	}
}

// TestDrillPages destroys pages of the database's trees. From the first request
// that meets one, the node is not ready and refuses changes.
func TestDrillPages(t *testing.T) {
	t.Parallel()
	for range rounds() {
		s := newTestServer(t)
		s.server.Stop()
		s.edit("fanfare.db", func(b []byte) []byte {
			for _, at := range s.textOffsets(b, `"description":"Text `)[:12] {
				page := at / pageSize * pageSize
				copy(b[page:], bytes.Repeat([]byte{0xa5}, 64))
			}
			return b
		})
		s.startAnyway()
		s.inspect() // meets the damage
		s.checkRefused(s.inspect())
		s.stopDamaged()
		// The next start finds the damage before the first request.
		s.startAnyway()
		s.mustContain(s.server.Log.String(), "database file is damaged", "fanfare backup restore")
		s.checkRefused(s.inspect())
		s.stopDamaged()
	}
}

// checkRefused wants a node on a damaged file to refuse all but reads.
func (s *testServer) checkRefused(v inspection) {
	s.t.Helper()
	if v.ready != http.StatusServiceUnavailable || v.create != http.StatusServiceUnavailable || v.pause != http.StatusServiceUnavailable || v.refused == 0 {
		s.t.Errorf("saw %+v", v)
	}
	s.mustContain(v.refusal, "fanfare doctor", "fanfare backup restore")
	if v.doctor.Code == 0 || v.backup.Code == 0 {
		s.t.Errorf("doctor ended with %d, backup with %d: %s", v.doctor.Code, v.backup.Code, v.backup.Out)
	}
	s.mustContain(v.doctor.Out, "FAIL  database file", "FAIL  ready", "fanfare backup restore")
	s.mustContain(v.backup.Errors, "database damaged", "keep the last good one")
}

// TestDrillIndex damages indexes of a database that was closed, so that a list
// would be short. The next start finds it.
func TestDrillIndex(t *testing.T) {
	t.Parallel()
	for range rounds() {
		s := newTestServer(t)
		s.server.Stop()
		s.damageIndexes()
		s.startAnyway()
		s.mustContain(s.server.Log.String(), "database file is damaged", "fanfare backup restore")
		v := s.inspect()
		if v.ready != http.StatusServiceUnavailable || v.create != http.StatusServiceUnavailable || v.doctor.Code == 0 || v.backup.Code == 0 {
			t.Errorf("saw %+v", v)
		}
		// Records that are found are right. Whether a record is missing cannot
		// be determined.
		for path, want := range map[string]int{
			"/v1/campaigns/" + s.active[0]: http.StatusOK, "/v1/campaigns": http.StatusServiceUnavailable,
			"/v1/campaigns/cmp_00000000000000000000000000": http.StatusServiceUnavailable, "/v1/audiences": http.StatusServiceUnavailable,
		} {
			if status, body := s.call(http.MethodGet, path, ""); status != want {
				t.Errorf("%s: got %d %s want %d", path, status, body, want)
			}
		}
		s.stopDamaged()
	}
}

// damageIndexes makes entries of every index of campaigns, but that of their key, lead
// to records that do not exist. The file has no other fault.
func (s *testServer) damageIndexes() {
	s.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(s.data, "fanfare.db")+"?mode=ro&immutable=1")
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(s.t.Context(), "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'campaign' AND sql IS NOT NULL")
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	roots := 0
	s.edit("fanfare.db", func(b []byte) []byte {
		for rows.Next() {
			var root int
			if err := rows.Scan(&root); err != nil {
				s.t.Fatal(err)
			}
			page := b[(root-1)*pageSize:]
			for page[0] == 2 { // an inner page: go to its first child
				child := binary.BigEndian.Uint32(page[binary.BigEndian.Uint16(page[12:]):])
				page = b[(int(child)-1)*pageSize:]
			}
			for _, at := range s.textOffsets(page[:pageSize], "cmp_") {
				page[at+8] ^= 1
			}
			roots++
		}
		return b
	})
	if roots == 0 || rows.Err() != nil {
		s.t.Fatalf("no index was found: %v", rows.Err())
	}
}

// TestDrillUnclean kills the server, destroys a page that no request reads, and
// sees that the next start finds it.
func TestDrillUnclean(t *testing.T) {
	t.Parallel()
	for range rounds() {
		s := newTestServer(t)
		s.server.Stop() // so that the pages are in the file and not in the log
		s.start()
		if status, text := s.call(http.MethodPost, "/v1/campaigns", `{"name":"Just before the end"}`); status != http.StatusCreated {
			t.Fatalf("%d %s", status, text)
		}
		s.server.Kill()
		s.start()
		s.mustContain(s.server.Log.String(), `database file checked after an unclean shutdown","result":"ok"`)
		s.server.Kill()
		s.edit("fanfare.db", func(b []byte) []byte {
			at := s.textOffsets(b, `"description":"Text `)[0] / pageSize * pageSize
			copy(b[at:], bytes.Repeat([]byte{0xa5}, 64))
			return b
		})
		s.startAnyway()
		s.mustContain(s.server.Log.String(), "database file is damaged", "fanfare backup restore")
		if status, _ := s.call(http.MethodGet, "/readyz", ""); status != http.StatusServiceUnavailable {
			t.Errorf("/readyz answers %d", status)
		}
		s.stopDamaged()
	}
}

// TestDrillLog damages the log that a killed server leaves. SQLite then drops
// everything behind the damage, and the next start says how many acknowledged
// changes that were.
func TestDrillLog(t *testing.T) {
	t.Parallel()
	for range rounds() {
		s := newTestServer(t)
		s.server.Stop()
		s.start()
		before := len(s.campaigns)
		for i := range 60 {
			s.create(records + 10*i + 1)
		}
		s.server.Kill()
		s.edit("fanfare.db-wal", func(b []byte) []byte {
			at := len(b)/4 + s.r.IntN(len(b)/2)
			for i := range 16 {
				b[at+i] ^= 0x5a
			}
			return b
		})
		s.startAnyway()
		missing := 0
		for id := range s.campaigns {
			switch status, body := s.call(http.MethodGet, "/v1/campaigns/"+id, ""); status {
			case http.StatusOK:
				s.compare(dataOf(body))
			case http.StatusNotFound:
				missing++
			default:
				t.Errorf("%s: %d %s", id, status, body)
			}
		}
		if missing == 0 || missing > len(s.campaigns)-before {
			t.Fatalf("%d of %d changes are missing", missing, len(s.campaigns)-before)
		}
		s.mustContain(s.server.Log.String(), fmt.Sprintf(`acknowledged changes are missing from the database: its log was damaged, or an older copy of the file is in its place; compare with a backup","changes":%d}`, missing))
		s.mustContain(s.server.Run("doctor").Out, fmt.Sprintf("warn  changes        %d acknowledged changes were missing", missing))
		for _, path := range []string{"/readyz", "/v1/campaigns", "/v1/connections"} {
			_, body := s.call(http.MethodGet, path, "")
			s.mustContain(body, `"warnings":[{"code":"changes_lost"`, fmt.Sprintf("%d acknowledged changes were missing", missing))
		}
		s.server.Stop()
		s.start()
		if text := s.server.Log.String(); contains(text, "acknowledged changes") {
			t.Errorf("the loss is told again:\n%s", text)
		}
		s.server.Stop()
	}
}
