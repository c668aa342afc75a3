package copywriter_test

import (
	"encoding/json"
	"errors"
	"html"
	"os"
	"strings"
	"testing"

	"fanfare/internal/creative"
	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/parser"
)

// blindBrief is a brief of testdata/blind.
type blindBrief struct {
	ID      string `json:"id"`
	Hostile bool   `json:"hostile"`
	Request struct {
		Prompt   string        `json:"prompt"`
		Brief    *brief.Fields `json:"brief"`
		Channels []string      `json:"channels"`
		Variants int           `json:"variants"`
		Language string        `json:"language"`
		Tone     string        `json:"tone"`
		Brand    struct {
			Name string `json:"name"`
		} `json:"brand"`
	} `json:"request"`
}

// TestBlindBriefs writes copy for briefs by people who had not seen the code.
// Every amount, date and code of every line is in the brief as it is written, and
// most briefs have enough for an ad.
func TestBlindBriefs(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../testdata/blind/open.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []blindBrief
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	asked, written := 0, 0
	for _, x := range list {
		b := &creative.Brief{Prompt: x.Request.Prompt + "\n" + x.Request.Brief.Text(), Channels: x.Request.Channels, Variants: x.Request.Variants, Language: x.Request.Language, Tone: x.Request.Tone, Seed: 7}
		b.Brand.Name = x.Request.Brand.Name
		b.Facts = parser.Parse(x.Request.Prompt, x.Request.Language, x.Request.Brief)
		result, err := write(b)
		if !x.Hostile {
			asked++
		}
		if f, failed := errors.AsType[*creative.FailureError](err); failed && isRefusal(f) {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", x.ID, err)
		}
		if !x.Hostile {
			written++
		}
		source := spaced(html.UnescapeString(b.Prompt + " " + b.Brand.Name))
		for _, d := range result.Drafts {
			for channel, c := range d.ByChannel {
				for _, text := range texts(channel, c) {
					for _, a := range atoms.Find(text) {
						if found := spaced(text[a.Start:a.End]); !strings.Contains(strings.ToLower(source), strings.ToLower(strings.TrimRight(found, "."))) {
							t.Errorf("%s %s: got %q in %q, which the brief does not have", x.ID, channel, found, text)
						}
					}
				}
			}
		}
	}
	t.Logf("%d briefs, %d of %d ordinary ones written", len(list), written, asked)
	if written*10 < asked*9 {
		t.Errorf("got copy for %d of %d ordinary briefs want nine of ten", written, asked)
	}
}
