// Package policy checks ad copy: the channels' length limits, the advertising
// policies of the platforms, and facts that the copy states but its source does
// not. It also has the type of the copy. It knows nothing of creatives.
package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

// Result is the result of the policy check of one variant.
type Result struct {
	// Status is the highest severity of the findings: pass, warn or block.
	Status string `json:"status"`
	// Findings is never nil. It is sorted by channel, field (as in Limits),
	// item and position.
	Findings []Finding `json:"findings"`
}

// Finding is one violation of a rule in a text.
type Finding struct {
	// Rule is the stable id of the rule.
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Channel  string `json:"channel"`
	// Field is the JSON name of a field of Copy, Index its item.
	Field string `json:"field"`
	Index int    `json:"index"`
	// Start and End are code point offsets of Text.
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Text    string `json:"text"`
	Message string `json:"message"`
}

// Results of the policy check. The last two are also severities.
const (
	Pass  = "pass"
	Warn  = "warn"
	Block = "block"
)

// maxFindings is the maximum number of findings per rule and text. It bounds
// the size of the record.
const maxFindings = 5

// BriefSource has the statements of the advertiser: the facts that copy may
// repeat and the words that it must not use.
type BriefSource struct {
	Prompt string
	// NegativePrompt lists what must not be said.
	NegativePrompt string
	BrandName      string
	BannedWords    []string
	CallToAction   string
	LandingURL     string
	// Language is the BCP 47 tag of the copy, empty if it is unknown.
	Language string
}

// Review checks every text of a draft against its channel and its source. It
// checks channels in the order of the list, then all others, so that no text is
// skipped. A nil source, for uploaded content, skips the rules that need one.
func Review(src *BriefSource, channels []string, byChannel map[string]Copy) Result {
	return ReviewMore(src, channels, byChannel, func(_ string, found []Finding, _ Finding) []Finding { return found })
}

// ReviewMore is Review with a function that changes the findings of each text.
// The function gets the text and a finding with its place.
func ReviewMore(src *BriefSource, channels []string, byChannel map[string]Copy, change func(text string, found []Finding, place Finding) []Finding) Result {
	p := Result{Status: Pass, Findings: []Finding{}}
	f := indexSource(src)
	for _, channel := range channelOrder(channels, byChannel) {
		c := byChannel[channel]
		for _, l := range allFields(channel) {
			for i, text := range c.Texts(l.Field) {
				p.Findings = append(p.Findings, change(text, f.review(l, i, text), Finding{Channel: channel, Field: l.Field, Index: i})...)
			}
		}
	}
	for _, found := range p.Findings {
		if p.Status != Block {
			p.Status = found.Severity
		}
	}
	return p
}

func channelOrder(channels []string, byChannel map[string]Copy) []string {
	var list []string
	for _, channel := range slices.Concat(channels, slices.Sorted(maps.Keys(byChannel))) {
		if _, ok := byChannel[channel]; ok && !slices.Contains(list, channel) {
			list = append(list, channel)
		}
	}
	return list
}

// allFields returns all fields of a copy: first those of the channel in the
// order of its limits, then the others without limits.
func allFields(channel string) []Limit {
	list := LimitsOf(channel)
	for _, field := range []string{
		"headlines", "long_headline", "descriptions", "primary_text", "short_text", "subject", "preheader", "body", "script", "business_name", "paths",
	} {
		if !slices.ContainsFunc(list, func(l Limit) bool { return l.Field == field }) {
			list = append(list, Limit{Channel: channel, Field: field})
		}
	}
	return list
}

// review checks one text.
func (f *sourceIndex) review(l Limit, index int, text string) []Finding {
	p := parseText(text)
	p.languages = f.languages
	findings := []Finding{}
	add := func(rule, severity string, s span) {
		if slices.ContainsFunc(findings, func(o Finding) bool { return o.Rule == rule && s.overlaps(span{start: o.Start, end: o.End}) }) {
			return
		}
		findings = append(findings, Finding{rule, severity, l.Channel, l.Field, index, s.start, s.end, p.slice(s.start, s.end), s.message})
	}
	if s, ok := overLimit(l, p); ok {
		add("over_limit", s.severity, s)
	}
	for i := range rules {
		r := &rules[i]
		severity := r.severityIn(l.Channel, l.Field)
		if severity == "" || r.needsSource && f.source == nil {
			continue
		}
		count := 0
		for _, s := range r.find(p, f) {
			severity := cmp.Or(s.severity, severity)
			if severity != Pass && r.ifStated != "" && f.claims[r.id+s.claim] {
				severity = r.ifStated
			}
			if severity == Pass {
				continue
			}
			if count++; count > maxFindings {
				break
			}
			s.message = strings.ReplaceAll(cmp.Or(s.message, r.message), "{text}", p.slice(s.start, s.end))
			add(r.id, severity, s)
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	return findings
}

// overLimit returns the part of the text that exceeds the limit.
func overLimit(l Limit, p *parsedText) (span, bool) {
	if l.Hard == 0 {
		return span{}, false
	}
	n := l.Length(p.text)
	severity, most, why := Block, l.Hard, "the channel refuses more than %d"
	if n <= l.Hard {
		severity, most, why = Warn, l.Soft, "what is beyond %d is often cut off"
	}
	if most == 0 || n <= most {
		return span{}, false
	}
	fits := sort.Search(len(p.runes), func(i int) bool { return l.Length(string(p.runes[:i+1])) > most })
	return span{
		start: fits, end: len(p.runes), severity: severity,
		message: fmt.Sprintf("The text has %d characters; "+why+". Shorten it by %d.", n, most, n-most),
	}, true
}

// span is a match of a rule, in code points.
type span struct {
	start, end int
	// category is the part of the rule that the match belongs to.
	category string
	// claim identifies the statement, independent of its wording. It is empty
	// for statements that a source cannot prove.
	claim string
	// severity and message override those of the rule if they are not empty.
	severity, message string
}

// rule is one rule. rules.go has the table.
type rule struct {
	id string
	// needsSource skips the rule if there is no source.
	needsSource bool
	// scopes has the severity by channel and field. The first matching entry
	// applies; without one, the rule does not apply.
	scopes []scope
	find   func(p *parsedText, f *sourceIndex) []span
	// ifStated is the severity of a claim that the source makes itself. If it
	// is empty, the source makes no difference.
	ifStated string
	// message says what is wrong and how to fix it. {text} is the found text.
	message string
}

// scope is a channel and a field; empty means any.
type scope struct{ channel, field, severity string }

func (r *rule) severityIn(channel, field string) string {
	for _, s := range r.scopes {
		if (s.channel == "" || s.channel == channel) && (s.field == "" || s.field == field) {
			return s.severity
		}
	}
	return ""
}

// RefusePrompt reports whether a prompt asks for prohibited content that no ad
// platform accepts. The reason names the category and the words. It covers
// English best, and most categories in five other languages. Words alone are not
// enough: the prompt must offer or request the content.
func RefusePrompt(prompt string) (reason string, refused bool) {
	p := parseText(prompt)
	list := p.frameSpans()["prohibited_content"]
	if len(list) == 0 {
		return "", false
	}
	s := list[0]
	return fmt.Sprintf("The brief asks for %s (%q), which no ad platform accepts. Take it out of the brief.", s.category, p.slice(s.start, s.end)), true
}
