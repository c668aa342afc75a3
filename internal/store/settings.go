package store

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/page"
)

var settingTable = newTable(table{name: "setting", key: []string{"name"}, columns: names("name", "value", "updated_at")})

var upsertSetting = settingTable.upsert("name")

const cursorKeys = "cursor_keys"

const (
	// cursorKeyLife is how long a key seals; it opens for twice as long again.
	cursorKeyLife = 30 * 24 * time.Hour
	// cursorKeySettle is how long a new key only opens. Every node reads new
	// keys each hour, so that after this time every node can open what the key
	// seals.
	cursorKeySettle = 2 * time.Hour
)

// CursorKeys returns the keys that seal cursors and links, the same for every
// node. The first key seals; all keys open. CursorKeys creates the first key,
// and a new key if the newest is old; it keeps two older ones.
func (db *DB) CursorKeys(ctx context.Context) ([][]byte, error) {
	var keys [][]byte
	err := db.writeTx(ctx, func(tx Tx) error {
		now := clock.At(db.now())
		if _, err := tx.Exec(settingTable.insert+` ON CONFLICT (name) DO NOTHING`, cursorKeys, "", 0); err != nil {
			return fmt.Errorf("prepare cursor keys: %w", err)
		}
		rows, err := tx.Query(`UPDATE setting SET name = name WHERE name = $1 RETURNING value, updated_at`, cursorKeys)
		if err != nil {
			return fmt.Errorf("read cursor keys: %w", err)
		}
		rows.Next()
		list, made := strings.Fields(rows.Text()), clock.Instant(rows.Int())
		if len(list) == 0 || made.Add(cursorKeyLife) <= now {
			fresh := make([]byte, page.KeySize)
			if _, err := io.ReadFull(db.random, fresh); err != nil {
				return fmt.Errorf("make cursor key: %w", err)
			}
			list = append([]string{hex.EncodeToString(fresh)}, list...)
			list, made = list[:min(3, len(list))], now
			if _, err := tx.Exec(`UPDATE setting SET value = $1, updated_at = $2 WHERE name = $3`, strings.Join(list, " "), int64(now), cursorKeys); err != nil {
				return fmt.Errorf("write cursor keys: %w", err)
			}
		}
		if len(list) > 1 && made.Add(cursorKeySettle) > now {
			list[0], list[1] = list[1], list[0]
		}
		keys = nil
		for _, text := range list {
			key, err := hex.DecodeString(text)
			if err != nil {
				return fmt.Errorf("read cursor key: %w", err)
			}
			keys = append(keys, key)
		}
		return nil
	})
	return keys, err
}

// setting reads a setting and when it was written.
func (db *DB) setting(ctx context.Context, name string) (value string, at clock.Instant, there bool, err error) {
	rows, err := db.engine.Query(ctx, `SELECT value, updated_at FROM setting WHERE name = $1`, name)
	if err != nil {
		return "", 0, false, toFault(fmt.Errorf("read setting %s: %w", name, err))
	}
	if there = rows.Next(); there {
		value, at = rows.Text(), clock.Instant(rows.Int())
	}
	return value, at, there, nil
}

// putSetting writes a setting.
func (db *DB) putSetting(ctx context.Context, name, value string) error {
	return db.writeTx(ctx, func(tx Tx) error {
		_, err := tx.Exec(upsertSetting, name, value, int64(clock.At(db.now())))
		return err
	})
}

// masterKeySetting has the id of the master key that all nodes have. A backup
// omits it: the key of the restored installation may be another.
const masterKeySetting = "master_key"

// MasterKey returns the id of the master key of all nodes, empty if none is noted.
func (db *DB) MasterKey(ctx context.Context) (string, error) {
	id, _, _, err := db.setting(ctx, masterKeySetting)
	return id, err
}

// NoteMasterKey stores the id of the master key, unless one is stored, and
// returns the stored one.
func (db *DB) NoteMasterKey(ctx context.Context, id string) (noted string, err error) {
	err = db.writeTx(ctx, func(tx Tx) error {
		if _, err := tx.Exec(`INSERT INTO setting (name, value, updated_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING`, masterKeySetting, id, int64(clock.At(db.now()))); err != nil {
			return fmt.Errorf("note master key: %w", err)
		}
		rows, err := tx.Query(`SELECT value FROM setting WHERE name = $1`, masterKeySetting)
		if err != nil {
			return fmt.Errorf("read master key: %w", err)
		}
		if rows.Next() {
			noted = rows.Text()
		}
		return nil
	})
	return noted, err
}

// ReplaceMasterKey records another master key.
func (db *DB) ReplaceMasterKey(ctx context.Context, id string) error {
	return db.putSetting(ctx, masterKeySetting, id)
}
