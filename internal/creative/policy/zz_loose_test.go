package policy

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

func TestZZLoose(t *testing.T) {
	path := os.Getenv("ZZL")
	if path == "" {
		t.Skip()
	}
	b, _ := os.ReadFile(path)
	var list []map[string]any
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	set := grammar()
	var goods, bads []*reading
	for _, r := range list {
		p := parseText(r["text"].(string))
		rd := &reading{parsedText: p, set: set, hits: set.lexicon.hits(p)}
		if r["bad"].(bool) {
			bads = append(bads, rd)
		} else {
			flagged := false
			for k := range p.frameSpans() {
				if k != "unproven_superlative" && k != "platform_name" && k != "offer_not_in_brief" && k != "reply_mark" {
					flagged = true
				}
			}
			if !flagged {
				goods = append(goods, rd)
			}
		}
	}
	count := func(f *frame, l []*reading, max int) int {
		n := 0
		for _, rd := range l {
			if len(rd.find(f, nil)) > 0 {
				if n++; n > max {
					break
				}
			}
		}
		return n
	}
	for _, f := range set.frames {
		if f.languages != allLanguages || len(f.parts) < 2 || f.rule == "reply_mark" {
			continue
		}
		wide := false
		for _, p := range f.parts[1:] {
			if p.gap >= 2 {
				wide = true
			}
		}
		if !wide {
			continue
		}
		for _, n := range []int{30, 20, 12, 8} {
			c := f.widened(n)
			if g := count(c, goods, 0); g == 0 {
				fmt.Printf("LOOSE\t%d\t%d\t%d\t%s: %s\n", n, count(f, bads, 9999), count(c, bads, 9999), f.rule, f.text)
				break
			}
		}
	}
}
