package composer

import (
	"regexp"
	"strings"
	"unicode"
)

// spans takes out what can be recognised wherever it stands.
func (r *reader) spans(s string) string {
	if r.f.name == "" {
		if m := quoted.FindStringSubmatch(s); m != nil && unicode.IsUpper([]rune(m[1])[0]) {
			r.f.name, r.f.ownName = m[1], true
		}
	}
	s = dayComma.ReplaceAllString(strings.ReplaceAll(s, `"`, ""), "$1 $2")
	s = r.takeProof(s)
	s = r.takeOffers(s)
	s = r.takeTimes(s)
	s = r.takePrice(s)
	s = r.takePlace(s)
	return r.takeAudience(s)
}

// dayComma is the comma inside a date.
var dayComma = regexp.MustCompile(`(` + weekdays + `), ((?:the )?(?:` + months + `|\d{1,2})\b)`)

// hinted reports whether a text has one of some substrings, "|" between them.
// Most patterns are long and most sentences have none of their words.
func hinted(s, hints string) bool {
	s = strings.ToLower(s)
	for hint := range strings.SplitSeq(hints, "|") {
		if strings.Contains(s, hint) {
			return true
		}
	}
	return false
}

// numeric reports whether a text has a digit.
func numeric(s string) bool { return strings.ContainsAny(s, "0123456789") }

// take removes what a pattern matches and use accepts, if the sentence may have
// it at all.
func take(s string, may bool, re *regexp.Regexp, use func(m []string) bool) string {
	if !may {
		return s
	}
	from := 0
	for from < len(s) {
		at := re.FindStringSubmatchIndex(s[from:])
		if at == nil || at[0] == at[1] {
			break
		}
		m := make([]string, len(at)/2)
		for i := range m {
			if at[2*i] >= 0 {
				m[i] = s[from+at[2*i] : from+at[2*i+1]]
			}
		}
		start, end := from+at[0], from+at[1]
		if !use(m) {
			from = end
			continue
		}
		s = s[:start] + " " + gap + " " + s[end:]
		from = start + 3
	}
	return s
}

func (r *reader) takeProof(s string) string {
	for _, proof := range []struct {
		re  *regexp.Regexp
		may bool
	}{
		{rated, numeric(s) && hinted(s, "rated|star")},
		{trusted, strings.Contains(s, " by ")},
		{counted, numeric(s)},
		{since, hinted(s, "since|year|award|winner|seen|featured|voted| in 1| in 2|est")},
	} {
		s = take(s, proof.may, proof.re, func(m []string) bool {
			if len(r.f.proofs) < mostProofs {
				r.f.proofs = append(r.f.proofs, unstart(trimTail(m[1]), r.f.name))
			}
			return true
		})
	}
	return s
}

// takePrice reads the first price; what is saved, raised or a threshold is
// none.
func (r *reader) takePrice(s string) string {
	return take(s, numeric(s), priced, func(m []string) bool {
		at := strings.Index(s, m[0])
		before := strings.ToLower(strings.TrimSpace(s[:max(at, 0)]))
		after := strings.ToLower(firstWord(strings.TrimSpace(s[max(at, 0)+len(m[0]):])))
		if _, verb := base(after); verb && !spoken[after] {
			return false
		}
		if hasAnySuffix(before, "save", "saves", "worth", "over", "under", "raise", "raised", "of", "up to", "above", "than", "to", "every", "each") || r.f.price != "" {
			return false
		}
		lead, sum := strings.ToLower(strings.TrimSpace(m[1])), strings.TrimRight(m[2], ".,")+m[3]
		switch {
		case strings.HasSuffix(lead, "from") || strings.HasSuffix(lead, "at") && strings.Contains(lead, "start"):
			r.f.price = "from " + sum
		default:
			r.f.price = sum
		}
		return true
	})
}

var notPlaces = set("january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday english spanish french german italian portuguese dutch greek japanese chinese excel slack gmail outlook christmas easter google notion jira black cyber")

// madeThere ends where a place says where something comes from.
var madeThere = regexp.MustCompile(`(?i)(?:made|woven|built|grown|sewn|born|seen|ed)\s+$`)

func (r *reader) takePlace(s string) string {
	s = take(s, hinted(s, "in |near |across |around |throughout "), placed, func(m []string) bool {
		first := strings.ToLower(firstWord(strings.TrimPrefix(m[2], "the ")))
		if at := strings.Index(s, m[0]); at > 0 && madeThere.MatchString(s[:at]) {
			return false
		}
		if notPlaces[first] || strings.ToUpper(first) == firstWord(m[2]) && len(first) > 3 {
			return false
		}
		if r.f.place == "" {
			r.f.place = strings.ToLower(m[1]) + " " + ended.ReplaceAllString(m[2], "")
		}
		return true
	})
	if r.f.when == "" && r.f.deadline.adverb == "" {
		return s
	}
	return take(s, hinted(s, "at "), venue, func(m []string) bool {
		if r.f.where != "" {
			return false
		}
		r.f.where = lowerFirst(ended.ReplaceAllString(m[1], ""))
		return true
	})
}

// takeAudience reads "for busy parents": as far as the words say whom.
func (r *reader) takeAudience(s string) string {
	from := 0
	for {
		at := aimed.FindStringSubmatchIndex(s[from:])
		if at == nil {
			return s
		}
		lead, start, end := strings.ToLower(s[from+at[2]:from+at[3]]), from+at[0], from+at[4]
		words := strings.Fields(until(s[end:], ",;:"+gap))
		segment := s[:start]
		if i := strings.LastIndexAny(segment, ",;"+gap); i >= 0 {
			segment = segment[i+1:]
		}
		if strings.HasSuffix(lead, "for") && r.partOfBenefit(s[:start], strings.ToLower(strings.TrimSpace(segment)), len(segment) < start) {
			from = end
			continue
		}
		n := audienceWords(words, !strings.HasSuffix(lead, "for"))
		if n == 0 {
			from = end
			continue
		}
		who := strings.Join(words[:n], " ")
		tail := s[end+strings.Index(s[end:], words[n-1])+len(words[n-1]):]
		if i := strings.Index(s[end:], who); i >= 0 {
			tail = s[end+i+len(who):]
		}
		if r.f.audience == "" {
			for _, article := range []string{"our ", "all ", "the "} {
				who = strings.TrimPrefix(who, article)
			}
			r.f.audience = unstart(who, r.f.name)
		}
		s = s[:start] + " " + gap + " " + tail
		from = start + 3
		if from >= len(s) {
			return s
		}
	}
}

// partOfBenefit reports whether "for …" belongs to the words before it:
// "gentle care for nervous patients" is a benefit, not whom all is for.
func (r *reader) partOfBenefit(before, segment string, later bool) bool {
	switch {
	case segment == "", hasAnyPrefix(segment, "it", "this", "we", "they"):
		return false
	case r.f.product.text != "":
		return true
	}
	return later && !determiners[firstWord(segment)] && !relative.MatchString(before)
}

// audienceWords counts the words that name people; with sure, the lead already
// said that it is people.
func audienceWords(words []string, sure bool) int {
	n := 0
	for i, word := range words {
		low := strings.ToLower(strings.Trim(word, "."))
		if i > 0 && (prepositions[low] && low != "of" || low == "until" || low == "get" || low == "is" || low == "are") {
			break
		}
		if i > 6 {
			break
		}
		if isPeople(low, word) {
			n = i + 1
		} else if sure && n == 0 && i == len(words)-1 {
			n = i + 1
		}
	}
	if n == 0 && sure {
		for n < len(words) && n < 5 && !prepositions[strings.ToLower(words[n])] {
			n++
		}
		return n
	}
	if n == 0 || n == len(words) {
		return n
	}
	// "people who hate mornings", "women over 40", "families on a budget"
	switch rest := words[n:]; strings.ToLower(rest[0]) {
	case "who", "on", "over", "under", "aged", "with", "of", "in", "at":
		if len(rest) > 1 && rest[1][0] >= '0' && rest[1][0] <= '9' {
			return len(words)
		}
		if len(rest) > 1 && len(rest) < 7 && (rest[0] != "in" && rest[0] != "with" && rest[0] != "of" && rest[0] != "at" || len(rest) < 4) {
			return len(words)
		}
	}
	return n
}

func isPeople(low, word string) bool {
	if people[low] || people[word] {
		return true
	}
	return !things[low] && len(low) > 5 && hasAnySuffix(low, "ers", "ors", "ists", "ians", "ees")
}
