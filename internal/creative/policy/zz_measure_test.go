package policy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestZZMeasure(t *testing.T) {
	path, half := os.Getenv("ZZ"), os.Getenv("ZZHALF")
	if path == "" {
		t.Skip()
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Lang, Category, Text, Half string
		Bad                        bool
	}
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	bad, caught, good, flagged := 0, 0, 0, 0
	for _, r := range list {
		if half != "" && r.Half != half {
			continue
		}
		found := slices.DeleteFunc(reviewOne(nil, "social", "primary_text", r.Text), func(f string) bool { return strings.HasPrefix(f, "over_limit ") })
		if r.Bad {
			bad++
			if len(found) > 0 {
				caught++
				if os.Getenv("ZZALL") != "" {
					fmt.Printf("ok    %s/%s: %s => %s\n", r.Lang, r.Category, r.Text, strings.Join(found, ", "))
				}
			} else {
				fmt.Printf("MISS  %s/%s: %s\n", r.Lang, r.Category, r.Text)
			}
		} else {
			good++
			if len(found) > 0 {
				flagged++
				fmt.Printf("FLAG  %s: %s => %s\n", r.Lang, r.Text, strings.Join(found, ", "))
			}
		}
	}
	fmt.Printf("caught %d/%d flagged %d/%d\n", caught, bad, flagged, good)
}
