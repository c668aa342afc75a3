package ingest

import (
	"fanfare/internal/body"
	"fanfare/internal/fault"
)

// readOnly lists the fields that callers cannot write.
var readOnly = []string{
	"id", "status", "file", "connection_id", "duplicate_of", "detected", "columns", "preview", "error", "rows_written", "committed_at", "undo_expires_at", "undone_at",
	"version", "created_by", "created_at", "updated_at", "archived_at",
}

// decimalPoints are the characters that can separate decimals in a file.
var decimalPoints = []string{".", ","}

// readChange reads how a caller wants a file read.
func readChange(f *body.Reader) (c change) {
	c.source = f.Text("source", body.Optional, 1, MaxSource)
	c.currency = f.Currency("currency", body.Optional)
	c.zone = f.Zone("timezone", body.Optional)
	if mode := f.Choice("mode", body.Optional, Modes); mode != nil {
		m := Mode(*mode)
		c.mode = &m
	}
	c.dateFormat = f.Choice("date_format", body.Optional, DateFormats)
	c.decimal = f.Choice("decimal", body.Optional, decimalPoints)
	c.mapping = readMapping(f)
	f.Done(readOnly...)
	return c
}

// readMapping reads the fields of columns. Null means that the column is not
// read.
func readMapping(f *body.Reader) map[string]string {
	v := f.Typed("mapping", body.Optional, func(v *body.Value) bool { return v.Kind == body.KindObject }, "an object")
	if v == nil {
		return nil
	}
	if len(v.Members) > MaxColumns {
		f.Bad("mapping", "too_many_items", "names more columns than a file may have.", fault.Meta{"maximum": MaxColumns})
		return nil
	}
	mapping := map[string]string{}
	for _, m := range v.Members {
		switch m.Value.Kind {
		case body.KindNull:
			mapping[m.Name] = ""
		case body.KindString:
			mapping[m.Name] = m.Value.Text
		default:
			f.Bad("mapping."+fault.Clip(m.Name), "invalid_type", "must be a string or null.", fault.Meta{"expected": "a string or null"})
		}
	}
	return mapping
}
