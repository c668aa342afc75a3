package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
)

// chunk is one file of the console's build, by the name of its source.
type chunk struct {
	File    string   `json:"file"`
	Imports []string `json:"imports"`
	// DynamicImports are loaded on demand.
	DynamicImports []string `json:"dynamicImports"`
}

// The limits of script that a browser loads before it shows a page, in kB,
// compressed and without charts.
const (
	mostSignIn = 120
	mostRoute  = 300
)

// benchConsole measures how much script each page of the console loads.
func benchConsole(string) {
	const dist = "internal/console/dist"
	text, err := os.ReadFile(filepath.Join(dist, ".manifest.json"))
	if err != nil {
		check(fmt.Errorf("%w: run make web first", err))
	}
	var chunks map[string]chunk
	check(json.Unmarshal(text, &chunks))
	size := func(names ...string) float64 {
		seen := map[string]bool{}
		var add func(name string) float64
		add = func(name string) float64 {
			if seen[name] {
				return 0
			}
			seen[name] = true
			sum := gzipSizeKB(filepath.Join(dist, chunks[name].File))
			for _, other := range chunks[name].Imports {
				sum += add(other)
			}
			return sum
		}
		sum := 0.0
		for _, name := range names {
			sum += add(name)
		}
		return sum / 1000
	}
	printAtMost("console, script of the sign-in page, kB", size("signin.html", "src/signin.tsx"), mostSignIn, "gzip")
	largest, page := 0.0, ""
	for _, name := range chunks["src/main.tsx"].DynamicImports {
		loaded := []string{"index.html", "src/main.tsx", name}
		if strings.Contains(name, "pages/settings/") {
			loaded = append(loaded, "src/pages/settings/frame.tsx")
		}
		if n := size(loaded...); n > largest {
			largest, page = n, name
		}
	}
	printAtMost("console, script of the largest page, kB", largest, mostRoute, "gzip, "+strings.TrimPrefix(page, "src/pages/"))
}

// gzipSizeKB returns the compressed size of a file.
func gzipSizeKB(file string) float64 {
	info, err := os.Stat(file + ".gz")
	if err != nil {
		// The build does not compress small files.
		info, err = os.Stat(file)
	}
	check(err)
	return float64(info.Size())
}
