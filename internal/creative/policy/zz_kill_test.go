package policy

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"
)

func TestZZKill(t *testing.T) {
	path := os.Getenv("ZZK")
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
		names[i] = n
	}
	type key struct{ class, word string }
	bad, good := map[key]map[string]bool{}, map[key]map[string]bool{}
	for _, r := range list {
		text := r["text"].(string)
		p := parseText(text)
		rd := &reading{parsedText: p, set: set, hits: set.lexicon.hits(p), lenient: true}
		seen := map[*frame]bool{}
		for _, c := range rd.hits.classes() {
			for _, f := range set.byClass[c] {
				if seen[f] {
					continue
				}
				seen[f] = true
				if len(rd.find(f, nil)) == 0 {
					continue
				}
				for _, e := range append(append([]int{}, f.without...), f.unless...) {
					for _, h := range rd.hits.of(e) {
						var w []string
						for _, x := range p.tokens[h.start:h.end] {
							w = append(w, x.text)
						}
						k := key{names[e], strings.Join(w, " ")}
						m := good
						if r["bad"].(bool) {
							m = bad
						}
						if m[k] == nil {
							m[k] = map[string]bool{}
						}
						m[k][text] = true
					}
				}
			}
		}
	}
	if os.Getenv("ZZG") != "" {
		bad, good = good, bad
	}
	var ks []key
	for k := range bad {
		ks = append(ks, k)
	}
	sort.Slice(ks, func(i, j int) bool { return len(bad[ks[i]]) > len(bad[ks[j]]) })
	for _, k := range ks {
		fmt.Printf("%d %d %s: %s\n", len(bad[k]), len(good[k]), k.class, k.word)
	}
}
