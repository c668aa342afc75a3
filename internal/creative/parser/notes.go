package parser

import "slices"

// longestWish is the number of words of the longest text that a note forbids or
// asks for.
const longestWish = 6

// readNote reads what an instruction forbids or asks for: "don't mention the chef",
// `must say "Check your local code"`. The rest of it is no fact.
func (r *reader) readNote(from, to int) {
	if r.lex == nil {
		return
	}
	for i := from; i < to; i++ {
		if n := r.lex.match("cues.avoid_lead", r.tokens[i:to]); n > 0 {
			end := r.wishEnd(i+n, to)
			r.avoid = r.wish(r.avoid, i+n, end)
			i = max(i, end-1)
		} else if n := r.lex.match("cues.include_lead", r.tokens[i:to]); n > 0 && r.isMark(i+n, `"“„«'‘`) {
			end := r.wishEnd(i+n, to)
			r.mustInclude = r.wish(r.mustInclude, i+n, end)
			i = max(i, end-1)
		}
	}
}

// wishEnd returns where the words of a note end: at the next clause, or after the
// closing quotes.
func (r *reader) wishEnd(from, to int) int {
	quoted := r.isMark(from, `"“„«'‘`)
	for i := from; i < to; i++ {
		if quoted && i > from && r.isMark(i, `"”“»'’`) {
			return i + 1
		}
		if !quoted && (r.isBreak(i) || r.isMark(i, ",") || r.lex.match("cues.wish_stop", r.tokens[i:to]) > 0 || r.lex.has("lines.chat", &r.tokens[i])) {
			return i
		}
	}
	return to
}

// wish adds a text without quotes and articles to a list.
func (r *reader) wish(list []string, from, to int) []string {
	for from < to && (r.tokens[from].kind == mark || r.lex != nil && (r.lex.has("cues.numeral_article", &r.tokens[from]) || r.lex.has("cues.no", &r.tokens[from]) || r.lex.has("cues.wish_word", &r.tokens[from]))) {
		from++
	}
	for from < to && r.tokens[to-1].kind == mark {
		to--
	}
	if n := r.wordCount(from, to); n == 0 || n > longestWish || to-from == 1 && r.depends(from, to) {
		return list
	}
	if text, _, _, same := r.src.verbatim(r.tokens[from].start, r.tokens[to-1].end); same && !slices.Contains(list, text) {
		return append(list, text)
	}
	return list
}

// wishes adds the items of the value of a label.
func (r *reader) wishes(list []string, from, to int) []string {
	start := from
	for i := from; i < to; i++ {
		// What is around a quotation says what it is: `"Keep it Hobb" endline`.
		if end := r.wishEnd(i, to); r.isMark(i, `"“„«`) && end <= to && end > i+2 {
			list = r.wish(list, i, end)
			start, i = to, end-1
		}
	}
	for i := start; i <= to && start < to; i++ {
		if i == to || r.isMark(i, ",;/·") || r.isMark(i, `"”»`) && i > start {
			list = r.wish(list, start, i)
			start = i + 1
		}
	}
	return list
}
