package store

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"fanfare/internal/audience"
	"fanfare/internal/campaign"
	"fanfare/internal/connection"
	"fanfare/internal/creative"
	"fanfare/internal/ingest"
	"fanfare/internal/report"
)

// TestShapes fails if the fields of a record change and the shape of its table
// does not: stored documents would lack the new field. After a change, raise
// the shape and run `make golden`.
func TestShapes(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		table *table
		of    reflect.Type
	}{
		{audienceTable, reflect.TypeFor[audience.Audience]()},
		{campaignTable, reflect.TypeFor[campaign.Campaign]()},
		{connectionTable, reflect.TypeFor[connection.Connection]()},
		{runTable, reflect.TypeFor[connection.Run]()},
		{creativeTable, reflect.TypeFor[creative.Creative]()},
		{variantTable, reflect.TypeFor[creative.Variant]()},
		{savedViewTable, reflect.TypeFor[report.View]()},
		{annotationTable, reflect.TypeFor[report.Annotation]()},
		{dashboardTable, reflect.TypeFor[report.Dashboard]()},
		{importTable, reflect.TypeFor[ingest.Import]()},
	} {
		var b strings.Builder
		describeFields(&b, "", r.of, map[reflect.Type]bool{})
		shape := fmt.Sprintf("shape %d\n", r.table.shape)
		path := filepath.Join("testdata", "shapes", r.table.name+".txt")
		golden, err := os.ReadFile(path)
		switch was, fields, _ := strings.Cut(string(golden), "\n"); {
		case fields == b.String() && was+"\n" == shape:
		case flag.Lookup("update").Value.String() == "true" && (err != nil || was+"\n" != shape):
			if err := os.WriteFile(path, []byte(shape+b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		case was+"\n" == shape:
			t.Errorf("the fields of %s have changed: raise the shape of its table, so that stored documents are rewritten, then run `make golden`", r.table.name)
		default:
			t.Errorf("the shape of %s has changed: run `make golden`", r.table.name)
		}
	}
}

// describeFields writes a line for each JSON member of a type.
func describeFields(b *strings.Builder, path string, of reflect.Type, above map[reflect.Type]bool) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || above[of] {
		return
	}
	above[of] = true
	defer delete(above, of)
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			describeFields(b, path, f.Type, above)
		case f.IsExported() && name != "-":
			if name == "" {
				name = f.Name
			}
			fmt.Fprintf(b, "%s%s %s\n", path, name, f.Type)
			describeFields(b, path+name+".", f.Type, above)
		}
	}
}
