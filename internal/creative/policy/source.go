package policy

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// sourceIndex is the content of a source in the forms that rules compare with.
type sourceIndex struct {
	source    *BriefSource
	languages languageSet
	// claims are the claims of the source itself, by rule and claim.
	claims  map[string]bool
	numbers numberSet
	domains map[string]bool
	// capitals are the words that the source has in capitals.
	capitals map[string]bool
	banned   []string
}

func indexSource(src *BriefSource) *sourceIndex {
	f := &sourceIndex{source: src, claims: map[string]bool{}, numbers: numberSet{}, domains: map[string]bool{}, capitals: map[string]bool{}}
	if src == nil {
		return f
	}
	f.languages = languageOf(src.Language)
	p := parseText(strings.Join([]string{src.Prompt, src.BrandName, src.CallToAction, src.LandingURL}, "\n"))
	p.lenient, p.languages = true, f.languages
	for _, r := range rules {
		if r.ifStated == "" {
			continue
		}
		for _, s := range r.find(p, f) {
			f.claims[r.id+s.claim] = true
		}
	}
	f.numbers.addAll(p.numbers)
	for _, s := range p.hosts() {
		f.domains[registeredDomain(s.claim)] = true
	}
	if u, err := url.Parse(src.LandingURL); err == nil && u.Hostname() != "" {
		f.domains[registeredDomain(u.Hostname())] = true
	}
	for _, s := range p.capitalizedWords() {
		f.capitals[p.slice(s.start, s.end)] = true
	}
	for _, word := range slices.Concat(src.BannedWords, negativeWords(src.NegativePrompt)) {
		if word = foldText(word); word != "" && !slices.Contains(f.banned, word) {
			f.banned = append(f.banned, word)
		}
	}
	return f
}

var (
	quotedWords    = regexp.MustCompile(`"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»`)
	listSeparators = regexp.MustCompile(`[,;.\n、，]|\s(?:and|or|nor)\s`)
	leadInWords    = wordSet(`no not do don't dont never avoid without mention mentions mentioning use using say saying show
		showing any the a an word words phrase phrases please text about of like`)
)

// negativeWords returns the words that a negative prompt lists.
//
// Choice: a negative prompt is usually a list, but may be a sentence. Quoted
// words always count. Other entries count up to three words, after "no" or "do
// not mention" is removed. Longer entries are instructions for the provider
// that no rule can check.
func negativeWords(negative string) []string {
	var list []string
	for _, m := range quotedWords.FindAllStringSubmatch(negative, -1) {
		list = append(list, strings.Join(m[1:], ""))
	}
	for _, item := range listSeparators.Split(quotedWords.ReplaceAllString(negative, ","), -1) {
		words := strings.Fields(item)
		for len(words) > 0 && leadInWords[foldText(words[0])] {
			words = words[1:]
		}
		if len(words) > 0 && len(words) <= 3 {
			list = append(list, strings.Trim(strings.Join(words, " "), "'‘’`"))
		}
	}
	return list
}

// findBanned finds banned words.
//
// Choice: a banned word matches regardless of case, accents and hyphens, and
// with a possessive: "cheap" does not ban "cheapen". Its plural is only a
// warning, because "news" is not the plural of "new".
func findBanned(p *parsedText, f *sourceIndex) []span {
	var list []span
	for _, word := range f.banned {
		for from := 0; ; {
			i := strings.Index(p.folded[from:], word)
			if i < 0 {
				break
			}
			i += from
			end := i + len(word)
			from = end
			severity := Block
			for _, plural := range []string{"s", "es"} {
				if strings.HasPrefix(p.folded[end:], plural) && isWholeWord(p.folded, i, end+len(plural)) {
					end, severity = end+len(plural), Warn
					break
				}
			}
			if isWholeWord(p.folded, i, end) {
				start, end := p.originalRange(i, end)
				list = append(list, span{start: start, end: end, severity: severity})
			}
		}
	}
	return list
}

// isWholeWord reports whether a part of the text starts and ends at word
// boundaries. In scripts without spaces, every position is a boundary.
func isWholeWord(s string, from, to int) bool {
	inside := func(a, b rune) bool { return isWordRune(a) && isWordRune(b) && !isWide(a) && !isWide(b) }
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	first, _ := utf8.DecodeRuneInString(s[from:])
	last, _ := utf8.DecodeLastRuneInString(s[:to])
	after, _ := utf8.DecodeRuneInString(s[to:])
	return !inside(before, first) && !inside(last, after)
}

// findNumbers finds numbers of the given kinds that are not in the source.
func findNumbers(kinds ...numberKind) func(*parsedText, *sourceIndex) []span {
	return func(p *parsedText, f *sourceIndex) []span {
		var list []span
		for _, x := range p.numbers {
			fact := x.kind != plainNumber || x.digits >= 2 || x.digits == 1 && x.unit != ""
			if fact && slices.Contains(kinds, x.kind) && !f.numbers.contains(x) {
				list = append(list, span{start: x.start, end: x.end})
			}
		}
		return list
	}
}

// findHosts finds domains that are not in the source.
func findHosts(p *parsedText, f *sourceIndex) []span {
	return slices.DeleteFunc(p.hosts(), func(s span) bool { return f.domains[registeredDomain(s.claim)] })
}

// hosts returns the host names of a text with scheme and path; the claim is the
// name alone. A name without a scheme must end in an existing suffix, and
// "today.Shop" is two sentences.
func (p *parsedText) hosts() []span {
	var list []span
	if !strings.Contains(p.text, ".") && !strings.Contains(p.text, "://") {
		return nil
	}
	part := func(i int) bool {
		return i >= 0 && i < len(p.runes) && (unicode.IsLetter(p.runes[i]) || unicode.IsDigit(p.runes[i]) || p.runes[i] == '-' || p.runes[i] == '.')
	}
	for i := 0; i < len(p.runes); i++ {
		if !part(i) {
			continue
		}
		start := i
		for part(i) {
			i++
		}
		name := strings.Trim(p.slice(start, i), ".-")
		start += strings.Index(p.slice(start, i), name)
		end := start + utf8.RuneCountInString(name)
		scheme := start
		if start >= 3 && p.slice(start-3, start) == "://" {
			scheme -= 3
			for scheme > 0 && unicode.IsLetter(p.runes[scheme-1]) {
				scheme--
			}
		}
		if name == "" || scheme == start && !looksLikeHost(name) {
			continue
		}
		if end < len(p.runes) && strings.ContainsRune("/:?#", p.runes[end]) {
			for end < len(p.runes) && !unicode.IsSpace(p.runes[end]) {
				end++
			}
			for strings.ContainsRune(`.,;:!?)'"`, p.runes[end-1]) {
				end--
			}
		}
		list = append(list, span{start: scheme, end: end, claim: name})
		i = max(i, end)
	}
	return list
}

func looksLikeHost(name string) bool {
	dot := strings.LastIndex(name, ".")
	if dot < 0 {
		return false
	}
	suffix, listed := publicsuffix.PublicSuffix(strings.ToLower(name))
	listed = listed || strings.Contains(suffix, ".")
	first, _ := utf8.DecodeRuneInString(name[dot+1:])
	sentence := unicode.IsUpper(first) && strings.IndexFunc(name[:dot], unicode.IsLower) >= 0
	return listed && len(suffix) < len(name) && !sentence
}

// registeredDomain returns the registered domain of a host name.
func registeredDomain(host string) string {
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	host = strings.ToLower(host)
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return domain
	}
	return host
}
