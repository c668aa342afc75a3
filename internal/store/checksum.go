package store

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrChecksum marks a document whose bytes differ from those that were written.
var ErrChecksum = errors.New("document does not match its checksum")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the checksum that is stored with a document.
func checksum(doc []byte) int64 { return int64(crc32.Checksum(doc, castagnoli)) }

// readDocument reads the columns doc and checksum. It returns ErrChecksum, with
// the table and the id for the log, if the document is damaged.
func readDocument[ID string | []byte](rows *Rows, t *table, id ID) ([]byte, error) {
	doc := rows.Bytes()
	sum, known := rows.IntOrNull()
	return doc, verify(t, id, doc, sum, known)
}

// verify returns ErrChecksum if a document does not match its checksum. Without
// a checksum, the document must be valid JSON, unless it is empty or the table
// stores several values per document (lines).
func verify[ID string | []byte](t *table, id ID, doc []byte, sum int64, known bool) error {
	switch {
	case known && sum == checksum(doc):
		return nil
	case !known && (len(doc) == 0 || t.lines || jsontext.Value(doc).IsValid()):
		return nil
	}
	return fmt.Errorf("%w: table %s, id %s", ErrChecksum, t.name, string(id))
}

// verifyCopies compares columns with the members of a document that they repeat.
func verifyCopies(t *table, id string, doc []byte, columns map[string]string) error {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(doc, &members); err != nil {
		return fmt.Errorf("%w: table %s, id %s: %w", ErrChecksum, t.name, id, err)
	}
	for column, have := range columns {
		var want *string
		if err := json.Unmarshal(members[column], &want); err != nil || want == nil && have != "" || want != nil && have != *want {
			return fmt.Errorf("%w: table %s, id %s, column %s", ErrChecksum, t.name, id, column)
		}
	}
	return nil
}

// DocumentReport is the result of checking every document.
type DocumentReport struct {
	Documents int64
	// Damaged lists the first damaged documents with table and key. Count is
	// the number of all.
	Damaged []string
	Count   int64
}

// maxDamaged is the largest number of damaged documents in a report.
const maxDamaged = 20

// VerifyDocuments reads and checks every document.
func VerifyDocuments(ctx context.Context, e Engine) (DocumentReport, error) {
	var report DocumentReport
	err := e.Snapshot(Across(ctx), func(tx Tx) error {
		report = DocumentReport{}
		for _, t := range tables {
			if t.doc == "" {
				continue
			}
			err := t.dump(tx, nil, func(c Chunk) error {
				c.documents(func(key string, err error) {
					report.Documents++
					if err == nil {
						return
					}
					if report.Count++; len(report.Damaged) < maxDamaged {
						report.Damaged = append(report.Damaged, t.name+" "+key)
					}
				})
				return nil
			})
			if err != nil {
				return fmt.Errorf("read %s: %w", t.name, err)
			}
		}
		return nil
	})
	return report, toFault(err)
}

// documents calls each for every row of a chunk that has a document, with the
// row's key and the result of the check.
func (c Chunk) documents(each func(key string, err error)) {
	t := tableNamed(c.Table)
	if t.doc == "" {
		return
	}
	rows := NewRows(c.Data, len(c.Columns))
	for rows.Next() {
		var key []string
		var doc string
		var sum int64
		known, copied := false, map[string]string{}
		for _, column := range c.Columns {
			v := rows.Value()
			if slices.Contains(t.copies, column) {
				copied[column], _ = v.(string)
			}
			switch {
			case slices.Contains(t.key, column):
				key = append(key, fmt.Sprint(v))
			case column == t.doc:
				doc, _ = v.(string)
			case column == "checksum":
				sum, known = v.(int64)
			}
		}
		id := strings.Join(key, " ")
		err := verify(t, id, []byte(doc), sum, known)
		if err == nil && len(copied) > 0 {
			err = verifyCopies(t, id, []byte(doc), copied)
		}
		each(id, err)
	}
}

// damaged returns the error of the first damaged document of a chunk.
func (c Chunk) damaged() (first error) {
	c.documents(func(_ string, err error) {
		if first == nil {
			first = err
		}
	})
	return first
}
