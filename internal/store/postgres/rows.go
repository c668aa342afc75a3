package postgres

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"fanfare/internal/store"
)

// voidOID is the type of a function that returns nothing, as locks and
// notifications do. The driver has no name for it.
const voidOID = 2278

func queryRows(ctx context.Context, c *pgx.Conn, query string, args []any) (*store.Rows, error) {
	if err := check(args); err != nil {
		return nil, err
	}
	rows, err := c.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return packRows(rows, store.MaxBytes(ctx))
}

// queryInScope runs a statement outside a transaction. The scope is set in the
// same round trip; both are one implicit transaction, which ends with it.
func queryInScope(ctx context.Context, c *pgx.Conn, query string, args []any) (*store.Rows, error) {
	scope := store.Scope(ctx)
	if scope == store.NoScope {
		return queryRows(ctx, c, query, args)
	}
	if err := check(args); err != nil {
		return nil, err
	}
	var b pgx.Batch
	b.Queue(setScope, scope)
	b.Queue(query, args...)
	results := c.SendBatch(ctx, &b)
	_, err := results.Exec()
	var found *store.Rows
	if err == nil {
		var rows pgx.Rows
		if rows, err = results.Query(); err == nil {
			found, err = packRows(rows, store.MaxBytes(ctx))
		}
	}
	if closed := results.Close(); err == nil {
		err = closed
	}
	return found, err
}

// packRows reads at most so many bytes of rows, 0 for all.
func packRows(rows pgx.Rows, most int) (_ *store.Rows, err error) {
	defer rows.Close()
	var packed []byte
	cut := false
	for !cut && rows.Next() {
		kept := len(packed)
		fields := rows.FieldDescriptions()
		for i, raw := range rows.RawValues() {
			if packed, err = appendValue(packed, &fields[i], raw); err != nil {
				return nil, err
			}
		}
		if cut = most > 0 && kept > 0 && len(packed) > most; cut {
			packed = packed[:kept]
		}
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return nil, err
	}
	found := store.NewRows(packed, len(rows.FieldDescriptions()))
	found.Cut = cut
	return found, nil
}

func appendValue(b []byte, f *pgconn.FieldDescription, raw []byte) ([]byte, error) {
	if raw == nil || f.DataTypeOID == voidOID {
		return store.AppendNull(b), nil
	}
	switch f.DataTypeOID {
	case pgtype.TextOID, pgtype.VarcharOID:
		return store.AppendText(b, raw), nil
	}
	if f.Format == pgtype.BinaryFormatCode {
		switch f.DataTypeOID {
		case pgtype.Int8OID:
			return store.AppendInt(b, int64(binary.BigEndian.Uint64(raw))), nil
		case pgtype.Int4OID:
			return store.AppendInt(b, int64(int32(binary.BigEndian.Uint32(raw)))), nil
		case pgtype.Int2OID:
			return store.AppendInt(b, int64(int16(binary.BigEndian.Uint16(raw)))), nil
		case pgtype.BoolOID:
			return store.AppendInt(b, int64(raw[0])), nil
		case pgtype.ByteaOID:
			return store.AppendText(b, raw), nil
		}
	}
	name := fmt.Sprintf("number %d", f.DataTypeOID)
	if t, ok := pgtype.NewMap().TypeForOID(f.DataTypeOID); ok {
		name = t.Name
	}
	return nil, fmt.Errorf("column %s is of type %s: cast it to bigint or text", f.Name, name)
}

// check refuses arguments that the other engine would refuse, and arguments
// that the driver would interpret as an option.
func check(args []any) error {
	for i, arg := range args {
		switch arg.(type) {
		case nil, string, []byte, int, int64, bool:
		default:
			return fmt.Errorf("argument %d is of type %T", i+1, arg)
		}
	}
	return nil
}
