package policy_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

var update = flag.Bool("update", false, "rewrite the page of limits")

const limitsPage = "../../../docs/limits.md"

// TestLimitsPage compares docs/limits.md with the table.
func TestLimitsPage(t *testing.T) {
	t.Parallel()
	want := bytes.NewBufferString(`# Limits of channels

How long texts may be, and how many a list needs and may have. Beyond *hard* a platform refuses, beyond *soft* it cuts what it
shows. Generated copy never breaks a hard limit; in material of your own, ` + "`policy`" + ` points at what does. A test makes this page.

| Channel | Field | Items | Soft | Hard | Counted as | Source | Checked |
|---|---|---|---|---|---|---|---|
`)
	for _, l := range policy.Limits {
		items, soft := fmt.Sprintf("%d–%d", l.MinItems, l.MaxItems), "–"
		if l.MinItems == l.MaxItems {
			items = fmt.Sprint(l.MaxItems)
		}
		if l.Soft > 0 {
			soft = fmt.Sprint(l.Soft)
		}
		fmt.Fprintf(want, "| %s | `%s` | %s | %s | %d | %s | %s | %s |\n", l.Channel, l.Field, items, soft, l.Hard, l.Count, l.Source, l.Checked)
	}
	if *update {
		if err := os.WriteFile(limitsPage, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(limitsPage)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s does not show the table: %v; make golden rewrites it", limitsPage, err)
	}
}

// TestLimitsTable checks that every channel has limits, that every limit has a
// source and a date, and that its field exists.
func TestLimitsTable(t *testing.T) {
	t.Parallel()
	for _, channel := range creative.Channels {
		if len(policy.LimitsOf(channel)) == 0 {
			t.Errorf("%s has no limits", channel)
		}
	}
	for _, l := range policy.Limits {
		c := policy.Copy{}
		c.SetTexts(l.Field, []string{"text"})
		switch {
		case !slices.Contains(creative.Channels, l.Channel):
			t.Errorf("got channel %s, want one of %v", l.Channel, creative.Channels)
		case l.Hard <= 0 || l.Soft > l.Hard || l.MinItems > l.MaxItems || l.MaxItems == 0:
			t.Errorf("%s.%s: got %+v, want Soft ≤ Hard and MinItems ≤ MaxItems", l.Channel, l.Field, l)
		case l.Source == "" || len(l.Checked) != len("2026-11-15"):
			t.Errorf("%s.%s: got source %q of %q, want both", l.Channel, l.Field, l.Source, l.Checked)
		case len(c.Texts(l.Field)) != 1:
			t.Errorf("%s.%s: a copy has no such field", l.Channel, l.Field)
		}
	}
}

func TestLength(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		count policy.Count
		text  string
		want  int
	}{
		{policy.Characters, "Größe 😀", 7},
		{policy.Width, "Größe", 5},
		{policy.Width, "日本語", 6},
		{policy.Width, "ＡＢ", 4},
		{policy.SMS, strings.Repeat("a", 160), 160},
		{policy.SMS, "10 €", 5},
		{policy.SMS, strings.Repeat("я", 70), 160},
		{policy.SMS, strings.Repeat("я", 71), 163},
		{policy.SMS, strings.Repeat("😀", 35), 160},
	} {
		if got := (policy.Limit{Count: tt.count}).Length(tt.text); got != tt.want {
			t.Errorf("%s %q: got %d want %d", tt.count, tt.text, got, tt.want)
		}
	}
}
