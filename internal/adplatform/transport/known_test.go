package transport_test

import (
	"testing"

	"fanfare/internal/adplatform/transport"
	"fanfare/internal/connection"
)

func TestErrorTable(t *testing.T) {
	t.Parallel()
	const source = transport.Source("page")
	var table transport.ErrorTable
	for _, rows := range []transport.ErrorTable{
		source.Text(connection.TooLarge, "text", "*", "too much"),
		source.Errors(connection.Expired, "", "190/463"),
		source.Errors(connection.Refused, "any", "*/99"),
		source.Errors(connection.Revoked, "again", "190", "102"),
		source.Errors(connection.Forbidden, "range", "200-299"),
	} {
		table = append(table, rows...)
	}
	for _, test := range []struct {
		message string
		codes   []string
		want    string
	}{
		{"It is Too Much.", []string{"190/463"}, "*"},
		{"", []string{"190/463"}, "190/463"},
		{"", []string{"190/1"}, "190"},
		{"", []string{"190"}, "190"},
		{"", []string{"7/99"}, "*/99"},
		{"", []string{"102/99"}, "*/99"},
		{"", []string{"200"}, "200-299"},
		{"", []string{"299/5"}, "200-299"},
		{"", []string{"300"}, ""},
		{"", []string{"19"}, ""},
		{"", []string{"unknown", "102"}, "102"},
		{"", nil, ""},
	} {
		got := ""
		if row := table.Find(test.message, test.codes...); row != nil {
			got = row.Code
		}
		if got != test.want {
			t.Errorf("%q %v: got %q want %q", test.message, test.codes, got, test.want)
		}
	}
	e := &connection.Error{Class: connection.Transient, Remedy: "old"}
	table.Find("", "300").Apply(e)
	if e.Class != connection.Transient || e.Remedy != "old" {
		t.Errorf("got %+v, want no change without a row", e)
	}
	table.Find("", "190").Apply(e)
	if e.Class != connection.Revoked || e.Remedy != "again" {
		t.Errorf("got %+v, want the class and the remedy of the row", e)
	}
}
