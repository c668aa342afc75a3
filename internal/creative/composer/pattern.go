package composer

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: a
// command that writes no copy does not pay for the many of them.
type pattern struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

func newPattern(text string) *pattern { return &pattern{text: text} }

func (p *pattern) compiled() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.text) })
	return p.re
}

func (p *pattern) MatchString(s string) bool            { return p.compiled().MatchString(s) }
func (p *pattern) FindString(s string) string           { return p.compiled().FindString(s) }
func (p *pattern) FindStringIndex(s string) []int       { return p.compiled().FindStringIndex(s) }
func (p *pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

func (p *pattern) FindStringSubmatchIndex(s string) []int {
	return p.compiled().FindStringSubmatchIndex(s)
}

func (p *pattern) FindAllString(s string, n int) []string { return p.compiled().FindAllString(s, n) }

func (p *pattern) ReplaceAllString(s, with string) string {
	return p.compiled().ReplaceAllString(s, with)
}

func (p *pattern) ReplaceAllStringFunc(s string, f func(string) string) string {
	return p.compiled().ReplaceAllStringFunc(s, f)
}

func (p *pattern) Split(s string, n int) []string { return p.compiled().Split(s, n) }
