package atoms

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression that is compiled when it is first used: a
// command that writes no copy does not pay for the many of them.
type Pattern struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

// NewPattern returns a pattern.
func NewPattern(text string) *Pattern { return &Pattern{text: text} }

func (p *Pattern) compiled() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.text) })
	return p.re
}

func (p *Pattern) MatchString(s string) bool            { return p.compiled().MatchString(s) }
func (p *Pattern) FindStringIndex(s string) []int       { return p.compiled().FindStringIndex(s) }
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

func (p *Pattern) ReplaceAllString(s, with string) string {
	return p.compiled().ReplaceAllString(s, with)
}
