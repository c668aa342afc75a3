package composer

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPatternsCompile: a pattern is compiled at its first use, so a mistake in
// one would show only there. Those that are one literal are all tried here; the
// others are put together from literals and used by the golden briefs.
func TestPatternsCompile(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			name, isName := call.Fun.(*ast.Ident)
			text, isText := call.Args[0].(*ast.BasicLit)
			if isName && isText && name.Name == "newPattern" {
				tried++
				if _, err := regexp.Compile(strings.Trim(text.Value, "`")); err != nil {
					t.Errorf("%s: %v", f.Name(), err)
				}
			}
			return true
		})
	}
	if tried < 50 {
		t.Errorf("got %d patterns, want at least 50", tried)
	}
}
