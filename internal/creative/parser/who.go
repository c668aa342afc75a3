package parser

import (
	"strings"

	"fanfare/internal/creative/brief"
)

// places are names after words such as "in".
func (r *reader) places(from, to int) {
	before := len(r.found)
	defer func() { r.joinPlaces(before) }()
	for i := from; i < to; i++ {
		if n := r.lex.match("cues.meet_at", r.tokens[i:to]); n > 0 && r.free(i, i+n) {
			if end := r.meetingPoint(i+n, to); end > i+n {
				r.take(brief.Place, r.skipArticles(i+n, end), end, brief.Cued)
				i = end - 1
				continue
			}
		}
		n := r.lex.match("cues.place_lead", r.tokens[i:to])
		if n == 0 || r.taken[i] != "" || i > from && r.notPlaceBefore(i) {
			continue
		}
		k := i + n
		for k < to && r.lex.has("cues.place_article", &r.tokens[k]) {
			k++
		}
		end, sure := r.placeName(k, to)
		if end == k || !r.free(k, end) {
			continue
		}
		conf := brief.Guessed
		// "at Murchison Auto" names a business more often than a place.
		if sure && (!r.lex.has("cues.place_maybe", &r.tokens[i]) || r.isVenue(k, end)) {
			conf = brief.Cued
		}
		r.take(brief.Place, k, end, conf)
		i = end - 1
	}
}

// isVenue reports a name with a word such as "hall", or a place that a list has.
func (r *reader) isVenue(from, to int) bool {
	for i := from; i < to; i++ {
		if r.lex.has("cues.place_kind", &r.tokens[i]) || r.lex.match("places", r.tokens[i:to]) > 0 {
			return true
		}
	}
	return false
}

// barePlace takes an item or a part of a line that is the name of a place alone.
func (r *reader) barePlace(from, to int) bool {
	from, to = r.trim(from, to)
	if from >= to || r.wordCount(from, to) > 8 || !r.free(from, to) || !r.isVenue(from, to) {
		return false
	}
	for i := from; i < to; i++ {
		t := &r.tokens[i]
		if t.kind == word && !t.upper && !r.lex.has("cues.place_small", t) || t.kind != word && t.kind != mark && t.kind != number && t.kind != named || r.lex.has("cues.not_place_name", t) {
			return false
		}
	}
	return r.tokens[from].upper && r.take(brief.Place, from, to, brief.Cued)
}

func (r *reader) notPlaceBefore(i int) bool {
	t := &r.tokens[i-1]
	// "felled in", "roasted in" say where something comes from.
	made := r.lex.code == "en" && strings.HasSuffix(t.low, "ed") && t.kind == word && !r.lex.has("cues.place_verb", t)
	return made || r.lex.has("cues.not_place", t)
}

// placeName returns the end of the name of a place that begins at a token. It is
// sure if the language writes no other nouns with a capital, or a list has it.
func (r *reader) placeName(i, to int) (end int, sure bool) {
	k := i
	known, names := r.lex.lists["cues.nouns_capital"] == nil, 0
	for k < to {
		t := &r.tokens[k]
		road := k > i && r.form == formMessage && r.lex.has("cues.place_kind", t)
		if t.kind == word && (t.upper || road) && !r.lex.has("cues.not_place_name", t) && !r.lex.has("dates.weekdays", t) && !r.lex.has("dates.months", t) && r.taken[k] == "" {
			if n := r.lex.match("places", r.tokens[k:to]); n > 0 {
				known = true
				k += n
				names++
				continue
			}
			known = known || r.lex.has("cues.place_kind", t)
			names++
			k++
			continue
		}
		small := k > i && k+1 < to && r.tokens[k+1].upper && r.taken[k+1] == "" && !r.lex.has("dates.weekdays", &r.tokens[k+1]) && !r.lex.has("dates.months", &r.tokens[k+1]) && r.tokens[k+1].kind == word && (r.lex.has("cues.place_small", t) || r.lex.has("cues.place_in", t) && r.lex.has("cues.place_kind", &r.tokens[k-1]) || r.isMark(k, ",") && r.lex.match("places", r.tokens[k+1:to]) > 0 || r.isMark(k, ".") && len(r.tokens[k-1].low) == 2)
		if small && !r.lex.has("cues.not_place_name", &r.tokens[k+1]) {
			k++
			continue
		}
		if t.kind == number && k > i && len(t.low) < 5 && r.lex.has("cues.place_kind", &r.tokens[k-1]) {
			known = true
			k++
			continue
		}
		break
	}
	text := r.text(i, k)
	if acronym := len(text) <= 4 && text == strings.ToUpper(text); names == 0 || names > 6 || acronym && r.lex.match("places", r.tokens[i:k]) == 0 {
		return i, false
	}
	// "in Leeds' ..." or a name that goes on as another noun is no place.
	return k, known
}

// audiences are people after words such as "for".
func (r *reader) audiences(from, to int) {
	for i := from; i < to; i++ {
		n := r.lex.match("cues.audience_lead", r.tokens[i:to])
		if n == 0 || r.taken[i] != "" {
			continue
		}
		if m := r.lex.match("cues.those_who", r.tokens[i+n:to]); m > 0 {
			if end := r.clauseEnd(i+n+m, to); r.wordCount(i+n, end) <= 9 && end > i+n+m && r.free(i+n, end) {
				r.take(brief.Audience, i+n, end, brief.Cued)
				i = end - 1
			}
			continue
		}
		if end := r.peopleEnd(i+n, to); end > i+n && r.free(i+n, end) {
			start := i + n
			for start < end && r.lex.has("cues.numeral_article", &r.tokens[start]) {
				start++
			}
			r.take(brief.Audience, start, end, brief.Cued)
			i = end - 1
		}
	}
}

// peopleEnd returns the end of a noun phrase for people, or its start.
func (r *reader) peopleEnd(i, to int) int {
	end := i
	for k := i; k < min(to, i+6) && r.taken[k] == ""; k++ {
		t := &r.tokens[k]
		if t.kind == mark && !r.isMark(k, "&+'’") || t.kind == money || t.kind == date {
			break
		}
		if n := r.lex.match("cues.people", r.tokens[k:to]); n > 0 {
			end = k + n
			k = end - 1
			continue
		}
		if end > i || r.lex.has("cues.stop", t) {
			break
		}
	}
	if end == i {
		return i
	}
	return r.growPeople(end, i, to)
}

// growPeople adds what says which people: "aged 5 to 11", "who hate running",
// "and freelancers".
func (r *reader) growPeople(end, from, to int) int {
	if end >= to {
		return end
	}
	switch t := &r.tokens[end]; {
	case r.lex.has("cues.audience_on", t):
		if far := r.phraseEnd(end, end+1, to); r.wordCount(end, far) <= 8 && far > end+1 {
			return far
		}
	case r.lex.has("cues.and", t) || r.isMark(end, ","):
		if next := r.peopleEnd(end+1, to); next > end+1 && next-from < 14 {
			return next
		}
		if r.isMark(end, ",") {
			return end
		}
	}
	return end
}

// brandAt finds "At Kiln & Co, we".
func (r *reader) brandAt(from, to int) {
	n := r.lex.match("cues.brand_lead", r.tokens[from:to])
	if n == 0 {
		return
	}
	end := r.nameEnd(from+n, to)
	if end > from+n && end < to && r.isMark(end, ",!") && r.free(from, end) && !r.lex.has("dates.weekdays", &r.tokens[from+n]) {
		r.take(brief.Brand, from+n, end, brief.Cued)
	}
}

// nameEnd returns the end of words with a capital.
func (r *reader) nameEnd(i, to int) int {
	end := i
	for k := i; k < to; k++ {
		t := &r.tokens[k]
		isName := t.upper && (t.kind == word || t.kind == named) || k > i && t.kind == number
		link := k > i && k+1 < to && (r.isMark(k, "&+") || r.lex.has("cues.place_small", t)) && r.tokens[k+1].upper
		if r.taken[k] != "" || !isName && !link {
			break
		}
		if isName {
			end = k + 1
		}
	}
	return end
}

// meetingPoint returns the end of where people meet: up to the end of the clause,
// and a name after its comma.
func (r *reader) meetingPoint(i, to int) int {
	end := i
	for end < to && !r.isBreak(end) && !r.isMark(end, ",") && r.taken[end] == "" && !r.lex.has("cues.clock_at", &r.tokens[end]) {
		end++
	}
	if end+1 < to && r.isMark(end, ",") && r.tokens[end+1].upper {
		if far := r.nameEnd(end+1, to); far > end+1 && (far == to || r.isBreak(far) || r.isMark(far, ",")) {
			end = far
		}
	}
	end = r.cutDangling(i, end)
	if r.wordCount(i, end) > 8 {
		return i
	}
	return end
}

// joinPlaces makes one place of two with only a comma or a word such as "in"
// between them: "at the town hall in Settle".
func (r *reader) joinPlaces(before int) {
	var last *candidate
	kept := r.found[:before]
	for _, c := range r.found[before:] {
		if c.t == brief.Place && last != nil && last.t == brief.Place && c.from-last.to <= 2 && c.from > last.to && r.onlyLead(last.to, c.from) {
			last.to = c.to
			last.conf = max(last.conf, c.conf)
			continue
		}
		kept = append(kept, c)
		last = &kept[len(kept)-1]
	}
	r.found = kept
}

func (r *reader) onlyLead(from, to int) bool {
	for i := from; i < to; i++ {
		if !r.isMark(i, ",") && !r.lex.has("cues.place_lead", &r.tokens[i]) {
			return false
		}
	}
	return true
}
