package storetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Hole replaces text that is unknown before the program runs.
const Hole = "\x00"

var statementStart = regexp.MustCompile(`^\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|DROP|ALTER|WITH|PRAGMA) `)

// SourceStatements returns the SQL statements in the non-test files of a folder,
// with their positions.
func SourceStatements(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	EachText(t, dir, func(text, place string) {
		if statementStart.MatchString(text) {
			found[text] = place
		}
	})
	return found
}

// EachText calls a function for each text in the non-test files of a folder, with
// its position.
func EachText(t *testing.T, dir string, each func(text, place string)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var parsed []*ast.File
	constants := map[string]ast.Expr{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, s := range g.Specs {
					spec := s.(*ast.ValueSpec)
					for i, name := range spec.Names {
						if i < len(spec.Values) {
							constants[name.Name] = spec.Values[i]
						}
					}
				}
			}
		}
	}
	for _, f := range parsed {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec, *ast.Field:
				return false
			case ast.Expr:
				text, ok := fold(n, constants)
				if !ok {
					return true
				}
				each(text, set.Position(n.Pos()).String())
				return false
			}
			return true
		})
	}
}

// fold returns the text of an expression of string literals and constants, with
// holes for everything else.
func fold(e ast.Expr, constants map[string]ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(e.Value)
		return verb.ReplaceAllString(s, Hole), err == nil
	case *ast.ParenExpr:
		return fold(e.X, constants)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, known := fold(e.X, constants)
		right, alsoKnown := fold(e.Y, constants)
		if !known && !alsoKnown {
			return "", false
		}
		if !known {
			left = Hole
		}
		if !alsoKnown {
			right = Hole
		}
		return left + right, true
	case *ast.Ident:
		if value := constants[e.Name]; value != nil {
			return fold(value, constants)
		}
	}
	return "", false
}

// verb matches the verbs of fmt.
var verb = regexp.MustCompile(`%(\[\d\])?[dsvw]`)
