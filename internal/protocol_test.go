package internal_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const protocolFile = "docs/PROTOCOL.md"

var (
	// ruleHead starts a rule in docs/PROTOCOL.md.
	ruleHead = regexp.MustCompile(`^\*\*([A-Z][0-9]{1,2})\. `)
	// quoted is a folder or a test in a list of tests.
	quoted = regexp.MustCompile("`([^`]+)`")
	// testFunc is the declaration of a test, codesInName its rules.
	testFunc    = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)
	codesInName = regexp.MustCompile(`^(?:Test|Fuzz)(?:Drill)?((?:[EHKLRSTVW][0-9]{1,2})+)(?:[A-Z]|$)`)
	code        = regexp.MustCompile(`[A-Z][0-9]{1,2}`)
	// codeInComment is a word of a comment that is a rule, codesInText rules in
	// parentheses in a text, such as (H8) or (S2, S4).
	codeInComment = regexp.MustCompile(`^\(?([EHKLRSTVW][0-9]{1,2})[).,:;]*$`)
	codesInText   = regexp.MustCompile(`\(([EHKLRSTVW][0-9]{1,2}(?:, [EHKLRSTVW][0-9]{1,2})*)\)`)
	// elsewhere are ways to cite a document that is not in the repository.
	elsewhere = regexp.MustCompile(`\b(?:records|protocol|trust|analytics|scale|engines|connectors)\.md\b|\b[Pp]rotocol §|\b[Tt]rust (?:§|[A-Z][0-9])`)
)

// protocolRules reads docs/PROTOCOL.md: the tests of each rule, as folder and
// name such as internal/page.TestCursorSize, and all tests of the page.
func protocolRules(t *testing.T) (rules map[string][]string, all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", protocolFile))
	if err != nil {
		t.Fatal(err)
	}
	rules = map[string][]string{}
	rule := ""
	for line := range strings.Lines(string(text)) {
		if m := ruleHead.FindStringSubmatch(line); m != nil {
			rule = m[1]
			if _, twice := rules[rule]; twice {
				t.Errorf("%s: got rule %s twice, want each once", protocolFile, rule)
			}
			rules[rule] = nil
		} else if strings.HasPrefix(line, "## ") {
			rule = ""
		}
		list, found := strings.CutPrefix(strings.TrimSpace(line), "Tests: ")
		if !found {
			continue
		}
		folder := ""
		for _, m := range quoted.FindAllStringSubmatch(list, -1) {
			if strings.Contains(m[1], "/") {
				folder = m[1]
				continue
			}
			test := folder + "." + m[1]
			all = append(all, test)
			if rule != "" {
				rules[rule] = append(rules[rule], test)
			}
		}
	}
	return rules, all
}

// walkGo visits all Go files of the repository, tests and tools included.
func walkGo(t *testing.T, visit func(name string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go"):
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator))), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestProtocol compares docs/PROTOCOL.md with the tests, in both directions.
func TestProtocol(t *testing.T) {
	t.Parallel()
	rules, listed := protocolRules(t)
	if len(rules) < 50 {
		t.Fatalf("%s: got %d rules, want all of them; was the form of a rule changed?", protocolFile, len(rules))
	}
	exists := map[string]bool{}
	walkGo(t, func(name string, text []byte) {
		if !strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, m := range testFunc.FindAllSubmatch(text, -1) {
			test := path.Dir(name) + "." + string(m[1])
			exists[test] = true
			for _, c := range namedAfter(string(m[1])) {
				if tests, known := rules[c]; !known {
					t.Errorf("%s: %s is named after %s, which is no rule of %s: describe the rule or rename the test.", name, m[1], c, protocolFile)
				} else if !slices.Contains(tests, test) {
					t.Errorf("%s: %s is not listed at rule %s of %s: add it.", name, m[1], c, protocolFile)
				}
			}
		}
	})
	for rule, tests := range rules {
		if len(tests) == 0 {
			t.Errorf("%s: rule %s has no test: list the tests that prove it, or delete it.", protocolFile, rule)
		}
	}
	for _, test := range listed {
		if !exists[test] {
			t.Errorf("%s: there is no test %s: correct its folder or its name.", protocolFile, test)
		}
	}
}

// namedAfter returns the rules in the name of a test: R4, R5 and R6 for
// TestR4R5R6Headers.
func namedAfter(test string) []string {
	m := codesInName.FindStringSubmatch(test)
	if m == nil {
		return nil
	}
	return code.FindAllString(m[1], -1)
}

// TestProtocolCitations reads all comments and texts: a rule that they cite is
// in docs/PROTOCOL.md, and no document is cited that is not in the repository.
func TestProtocolCitations(t *testing.T) {
	t.Parallel()
	rules, _ := protocolRules(t)
	cited := 0
	walkGo(t, func(name string, text []byte) {
		if name == "internal/protocol_test.go" {
			return
		}
		files := token.NewFileSet()
		file := files.AddFile(name, -1, len(text))
		var s scanner.Scanner
		s.Init(file, text, nil, scanner.ScanComments)
		for {
			pos, kind, literal := s.Scan()
			if kind == token.EOF {
				return
			}
			for _, c := range citations(kind, literal) {
				cited++
				if _, known := rules[c]; !known {
					t.Errorf("%s cites %s, which is no rule of %s: cite a rule or say it in words.", files.Position(pos), c, protocolFile)
				}
			}
			if kind == token.COMMENT && elsewhere.MatchString(literal) {
				t.Errorf("%s cites %q, which is not in the repository: cite a rule of %s or say it in words.", files.Position(pos), elsewhere.FindString(literal), protocolFile)
			}
		}
	})
	if cited < 50 {
		t.Errorf("got %d citations of rules, want those of all tests", cited)
	}
}

// citations returns the rules that a comment or a text cites.
func citations(kind token.Token, literal string) []string {
	var found []string
	switch kind { //nolint:exhaustive // other tokens cite nothing
	case token.COMMENT:
		for word := range strings.FieldsSeq(strings.TrimPrefix(literal, "//")) {
			if m := codeInComment.FindStringSubmatch(word); m != nil {
				found = append(found, m[1])
			}
		}
	case token.STRING:
		for _, m := range codesInText.FindAllStringSubmatch(literal, -1) {
			found = append(found, code.FindAllString(m[1], -1)...)
		}
	}
	return found
}

// TestProtocolBites checks that the two tests above find errors.
func TestProtocolBites(t *testing.T) {
	t.Parallel()
	for test, want := range map[string]string{
		"TestR4R5R6Headers": "R4 R5 R6", "TestDrillE7TenantsApart": "E7", "FuzzS8Forwarded": "S8", "TestH10RequestID": "H10",
		"TestGA4Reports": "", "TestTransitions": "", "TestP1Speed": "", "TestDrillKill": "", "TestH1": "H1",
	} {
		if got := strings.Join(namedAfter(test), " "); got != want {
			t.Errorf("%s: got rules %q want %q", test, got, want)
		}
	}
	for _, tt := range []struct {
		kind          token.Token
		literal, want string
	}{
		{token.COMMENT, "// TestRule is R1 and R3 (L4, L6); protocol H5.", "R1 R3 L4 L6 H5"},
		{token.COMMENT, "// HTTP2 and GA4 and T00:00 and UTF-8 and P2", ""},
		{token.STRING, `"want one value (H8)"`, "H8"},
		{token.STRING, `"by (S2, S4)"`, "S2 S4"},
		{token.STRING, `"d=\"M0 0 L1-1z\" at T5"`, ""},
		{token.IDENT, "H8", ""},
	} {
		if got := strings.Join(citations(tt.kind, tt.literal), " "); got != tt.want {
			t.Errorf("%s: got rules %q want %q", tt.literal, got, tt.want)
		}
	}
	for text, want := range map[string]bool{
		"the table of records.md": true, "(protocol §9)": true, "trust S15": true, "is trust R9": true, "docs/PROTOCOL.md": false, "trust store": false, "(protocol H5)": false, "protocol of its peer": false,
	} {
		if got := elsewhere.MatchString(text); got != want {
			t.Errorf("%s: got %v want %v", text, got, want)
		}
	}
}

// exported is the name of a declaration with its package, such as record.Doc or
// campaign.Service.Settle.
var exported = regexp.MustCompile(`^([a-z]+)\.(?:([A-Z]\w*)\.)?([A-Z]\w*)$`)

// TestGlossary checks that what docs/GLOSSARY.md names exists.
func TestGlossary(t *testing.T) {
	t.Parallel()
	const file = "docs/GLOSSARY.md"
	text, err := os.ReadFile(filepath.Join("..", file))
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string][]byte{}
	walk(t, func(name string, text []byte) {
		pkg := path.Base(path.Dir(filepath.ToSlash(name)))
		sources[pkg] = append(sources[pkg], text...)
	})
	names := 0
	for line := range strings.Lines(string(text)) {
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			if strings.Contains(m[1], "/") {
				names++
				if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
					t.Errorf("%s names %s, which does not exist.", file, m[1])
				}
			} else if n := exported.FindStringSubmatch(m[1]); n != nil {
				names++
				declared := `(?m)^(?:type|func|var|const|\t) ?` + n[3] + `\b`
				if n[2] != "" {
					declared = `(?m)^func \(\w+ \*?` + n[2] + `\) ` + n[3] + `\(`
				}
				if !regexp.MustCompile(declared).Match(sources[n[1]]) {
					t.Errorf("%s names %s, which is not declared.", file, m[1])
				}
			}
		}
	}
	if names < 30 {
		t.Errorf("%s: got %d names, want where each term is", file, names)
	}
}
