package claims

import (
	"bufio"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/creative/policy"
)

// TestReview checks the cases of testdata/cases.txt: a brief, then copy of a
// model and what is found in it.
func TestReview(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var src *policy.BriefSource
	n := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		key, rest, _ := strings.Cut(line, ": ")
		if brief, language, found := strings.Cut(key, "/"); found && brief == "brief" {
			src = &policy.BriefSource{Prompt: rest, Language: language}
			continue
		}
		n++
		text, want := rest, ""
		if before, after, found := strings.Cut(rest, " => "); found {
			text, want = before, after
		}
		var got []string
		for _, f := range Review(src, []string{"social"}, map[string]policy.Copy{"social": {PrimaryText: &text}}, policy.Block).Findings {
			kind := map[string]string{
				ruleName: "name", ruleNumber: "number", rulePrice: "number", ruleQuality: "quality",
				"unproven_superlative": "quality", "absolute_claim": "quality", "offer_not_in_brief": "quality",
			}[f.Rule]
			if kind != "" {
				if f.Rule == ruleName && f.Severity == policy.Warn {
					kind = "perhaps"
				}
				got = append(got, kind+" "+f.Text)
				if string([]rune(text)[f.Start:f.End]) != f.Text {
					t.Errorf("%s: the place of %q is wrong", text, f.Text)
				}
			}
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%s\n got %q\nwant %q", text, s, want)
		}
	}
	if n < 60 {
		t.Errorf("got %d cases want at least 60", n)
	}
}

// TestEditedCopy checks that numbers and names warn after a person's edit.
func TestEditedCopy(t *testing.T) {
	t.Parallel()
	text := "Maria Nolan serves 500 guests."
	for severity, want := range map[string]string{policy.Block: policy.Block, policy.Warn: policy.Warn} {
		p := Review(&policy.BriefSource{Prompt: "Coffee bar", Language: "en"}, []string{"social"}, map[string]policy.Copy{"social": {PrimaryText: &text}}, severity)
		if p.Status != want || len(p.Findings) != 2 || IsInvented(p.Findings[0]) != (want == policy.Block) {
			t.Errorf("got %+v want two findings with severity %s", p, want)
		}
	}
	if p := Review(nil, []string{"social"}, map[string]policy.Copy{"social": {PrimaryText: &text}}, policy.Block); p.Status != policy.Pass {
		t.Errorf("got %+v without a source want nothing", p)
	}
}

// TestFiles checks that every quality has phrases of all languages, and that no
// phrase is written twice.
func TestFiles(t *testing.T) {
	t.Parallel()
	all := map[string]map[string]bool{}
	for language, list := range qualities() {
		if !slices.Contains(languages, language) {
			t.Errorf("there is no language %s", language)
		}
		seen := map[string]bool{}
		for _, p := range slices.Concat(slices.Collect(maps.Values(list))...) {
			if all[p.quality] == nil {
				all[p.quality] = map[string]bool{}
			}
			if p.role == claim {
				all[p.quality][language] = true
			}
			key := p.quality + strings.Join(p.words, " ")
			if seen[key] {
				t.Errorf("%s: %s has %v twice", language, p.quality, p.words)
			}
			seen[key] = true
		}
	}
	for quality, in := range all {
		if len(in) != len(languages) {
			t.Errorf("%s has phrases in %v only", quality, in)
		}
	}
	n := names()
	if len(n.people) < 400 || len(n.listed) < 20 || len(n.titles) == 0 || len(n.institutions) == 0 || len(n.common) == 0 {
		t.Errorf("got %d people, %d names", len(n.people), len(n.listed))
	}
}
