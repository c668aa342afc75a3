package internal_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// camelCase is a name of code in a comment: a word with an inner capital.
var camelCase = regexp.MustCompile(`(^|[^A-Za-z0-9_./"#-])([a-z][a-z0-9]*[A-Z][A-Za-z0-9]*)\b`)

var notWord = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// TestCommentsNameCode finds comments that name an identifier which a rename or
// a removal has left behind.
func TestCommentsNameCode(t *testing.T) {
	t.Parallel()
	// Standards and browsers have these.
	names := map[string]bool{"sRGB": true, "gRPC": true, "parseCreationOptionsFromJSON": true}
	comments := map[string][]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == "dist" || strings.HasPrefix(d.Name(), ".") && path != "..") {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".gen.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files := token.NewFileSet()
		var s scanner.Scanner
		s.Init(files.AddFile(path, -1, len(b)), b, nil, scanner.ScanComments)
		for {
			pos, tok, text := s.Scan()
			if tok == token.EOF {
				return nil
			}
			if tok == token.COMMENT {
				for _, found := range camelCase.FindAllStringSubmatch(text, -1) {
					comments[found[2]] = append(comments[found[2]], files.Position(pos).String())
				}
				continue
			}
			for _, word := range notWord.Split(text, -1) {
				names[word] = true
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range comments {
		if !names[name] {
			t.Errorf("%s: a comment names %s, which the code does not have", at[0], name)
		}
	}
}
