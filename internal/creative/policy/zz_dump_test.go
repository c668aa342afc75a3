package policy

import (
	"encoding/json"
	"os"
	"testing"
)

func TestZZDump(t *testing.T) {
	path := os.Getenv("ZZD")
	if path == "" {
		t.Skip()
	}
	b, _ := os.ReadFile(path)
	var list []map[string]any
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	set := grammar()
	names := map[int]string{}
	for n, i := range set.lexicon.classes {
		if n[0] != '(' && n[0] != '!' {
			names[i] = n
		}
	}
	out, _ := os.Create(path + ".classes")
	defer out.Close()
	enc := json.NewEncoder(out)
	for _, r := range list {
		p := parseText(r["text"].(string))
		h := set.lexicon.hits(p)
		m := map[string][][2]int{}
		for _, c := range h.classes() {
			if n := names[c]; n != "" {
				for _, x := range h.of(c) {
					m[n] = append(m[n], [2]int{x.start, x.end})
				}
			}
		}
		rules := map[string]bool{}
		for k := range p.frameSpans() {
			rules[k] = true
		}
		enc.Encode(map[string]any{"bad": r["bad"], "lang": r["lang"], "text": r["text"], "classes": m, "rules": rules})
	}
}
