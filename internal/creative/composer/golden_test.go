package composer_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fanfare/internal/creative"
	"fanfare/internal/creative/composer"
	"fanfare/internal/creative/policy"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden compares whole outputs with what was read and found good.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/briefs/*.txt")
	if err != nil || len(files) < 34 {
		t.Fatalf("got %d briefs (%v) want at least 34", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			b := readBrief(t, file)
			result, err := composer.New().Write(context.Background(), b)
			got := show(b, result, err)
			golden := strings.TrimSuffix(file, ".txt") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("got + want -, or run with -update:\n%s", diff)
			}
			check(t, b, result)
			if result == nil || result.Language != "en" {
				return
			}
			for _, d := range result.Drafts {
				for _, channel := range b.Channels {
					for _, text := range mainTexts(channel, d.ByChannel[channel]) {
						sound(t, text)
					}
				}
			}
		})
	}
}

// readBrief reads a file of options, an empty line and the prompt. The
// sequence \u{...} stands for a character that an editor would not show.
func readBrief(t *testing.T, file string) *creative.Brief {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	options, prompt, _ := strings.Cut(string(raw), "\n\n")
	for code := range strings.SplitSeq("202e 202d 2066 200b 0007", " ") {
		n, err := strconv.ParseUint(code, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		prompt = strings.ReplaceAll(prompt, `\u{`+code+`}`, string(rune(n)))
	}
	b := &creative.Brief{Prompt: strings.TrimSuffix(prompt, "\n"), Variants: 2, Seed: 1}
	for line := range strings.SplitSeq(options, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case "channels":
			b.Channels = strings.Split(value, ", ")
		case "type":
			b.Type = value
		case "language":
			b.Language = value
		case "brand":
			b.Brand.Name = value
		case "voice":
			b.Brand.Voice = value
		case "banned":
			b.Brand.BannedWords = strings.Split(value, ", ")
		case "not":
			b.NegativePrompt = value
		case "tone":
			b.Tone = value
		case "landing":
			b.LandingURL = value
		case "objective":
			b.Objective = value
		case "action":
			b.CallToAction = value
		case "variants", "seed":
			n, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(err)
			}
			if key == "seed" {
				b.Seed = int64(n)
			} else {
				b.Variants = n
			}
		default:
			t.Fatalf("%s: unknown option %q", file, key)
		}
	}
	return b
}

// show writes a result so that it can be read as copy.
func show(b *creative.Brief, r *creative.Result, err error) string {
	var out strings.Builder
	if failure, ok := errors.AsType[*creative.FailureError](err); ok {
		fmt.Fprintf(&out, "refused: %s: %s\n", failure.Code, failure.Message)
		return out.String()
	}
	if err != nil {
		return err.Error() + "\n"
	}
	fmt.Fprintf(&out, "language %s\n", r.Language)
	for i, d := range r.Drafts {
		fmt.Fprintf(&out, "\n===== %d. %s, %s\n", i+1, d.Angle, d.CallToAction)
		for _, channel := range b.Channels {
			c := d.ByChannel[channel]
			fmt.Fprintf(&out, "\n%s\n", channel)
			for _, l := range policy.LimitsOf(channel) {
				for _, text := range c.Texts(l.Field) {
					if over := l.Length(text); l.Soft > 0 && over > l.Soft {
						fmt.Fprintf(&out, "  (%d over soft)", over-l.Soft)
					}
					fmt.Fprintf(&out, "  %s: %s\n", strings.TrimSuffix(l.Field, "s"), strings.ReplaceAll(text, "\n", "\n    | "))
				}
			}
		}
	}
	for _, why := range r.Dropped {
		fmt.Fprintf(&out, "\ndropped: %s\n", why)
	}
	return out.String()
}
