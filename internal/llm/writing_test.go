package llm_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"fanfare/internal/creative"
	"fanfare/internal/llm"
)

// TestRepairAndTopUp checks when the writer asks again, for what, and how often.
func TestRepairAndTopUp(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 14) + "end"
	line, _, _ := strings.Cut(llm.SystemPrompt, "\n")
	two, one := answerText(pushReply("One", "First.", "Two", "Second.")), answerText(pushReply("Three", "Third."))
	for _, test := range []struct {
		name  string
		turns []scriptedAnswer
		// want are the headlines.
		want []string
		// asks are parts of the requests, one for each.
		asks    []string
		dropped []string
		code    string
	}{
		{"all there", []scriptedAnswer{answerText(pushReply("One", "1", "Two", "2", "Three", "3"))}, []string{"One", "Two", "Three"}, []string{"exactly 3 variants"}, nil, ""},
		{"unreadable once", []scriptedAnswer{answerText("Sure!"), answerText(pushReply("One", "1", "Two", "2", "Three", "3"))}, []string{"One", "Two", "Three"}, []string{"exactly 3", `"problems":["the answer cannot be read: it is words and not JSON"]`}, nil, ""},
		{"unreadable twice", []scriptedAnswer{answerText("Sure!")}, nil, []string{"exactly 3", "problems"}, nil, creative.FailAnswer},
		{"unusable once", []scriptedAnswer{answerText(`{"variants":[{"copy":{}},7]}`), answerText(pushReply("One", "1", "Two", "2", "Three", "3"))}, []string{"One", "Two", "Three"}, []string{"exactly 3", `"it is not a JSON object","the model did not write it"`}, nil, ""},
		{"one missing", []scriptedAnswer{two, one}, []string{"One", "Two", "Three"}, []string{"exactly 3", `"already_written":["idea: One","idea: Two"]`}, nil, ""},
		{"one in the middle", []scriptedAnswer{answerText(strings.Replace(pushReply("One", "1", "Bad", "2", "Two", "3"), `"Bad"`, `7`, 1)), one}, []string{"One", "Three", "Two"}, []string{"exactly 3", "exactly 1 variant "}, nil, ""},
		{"still missing", []scriptedAnswer{one, two, two}, []string{"Three", "One", "Two"}, []string{"exactly 3", "exactly 2 variants"}, nil, ""},
		{"top-up fails", []scriptedAnswer{two, answerError(statusError(404))}, []string{"One", "Two"}, []string{"exactly 3", "exactly 1"}, []string{"variant 3: the model did not write it"}, ""},
		{"top-up is unusable", []scriptedAnswer{two, answerText("{\"variants\":[7]}")}, []string{"One", "Two"}, []string{"exactly 3", "exactly 1"}, []string{"variant 3: it is not a JSON object"}, ""},
		{"repair and top-up", []scriptedAnswer{answerText("Sure!"), two, one}, []string{"One", "Two", "Three"}, []string{"exactly 3", "problems", "exactly 1"}, nil, ""},
		{"no third extra call", []scriptedAnswer{answerText("Sure!"), answerText(pushReply(long, "1", "Two", "2")), answerText("no")}, []string{"Two"}, []string{"exactly 3", "problems", "too long"}, []string{"variant 1: push headlines has 73 characters, at most 65 are allowed", "variant 3: the model did not write it"}, ""},
		{"refused", []scriptedAnswer{answerError(llm.ErrRefused), two}, nil, []string{"exactly 3"}, nil, creative.FailRefused},
		{"repeated instructions", []scriptedAnswer{answerText(pushReply(line, "1", line, "2", line, "3")), two}, nil, []string{"exactly 3"}, nil, creative.FailAnswer},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &scriptedChat{answers: test.turns}
			r, err := newWriter(s).Write(t.Context(), pushBrief(3))
			if failureCode(err) != test.code || (err == nil) != (test.code == "") {
				t.Fatalf("got %v want %q", err, test.code)
			}
			var got []string
			for _, d := range r.Drafts {
				got = append(got, d.ByChannel["push"].Headlines...)
			}
			if !slices.Equal(got, test.want) || !slices.Equal(r.Dropped, test.dropped) {
				t.Errorf("got %q, dropped %q want %q, %q", got, r.Dropped, test.want, test.dropped)
			}
			if !slices.EqualFunc(s.requests, test.asks, func(r llm.Request, part string) bool { return strings.Contains(r.User, part) }) {
				t.Errorf("got requests %+v want %q", s.requests, test.asks)
			}
			if calls := int64(len(test.asks)); r.Usage.Calls != calls || err == nil && r.Usage.CostMicros == nil {
				t.Errorf("got usage %+v want %d calls with their cost", r.Usage, calls)
			}
		})
	}
}

// TestCanceledTopUp checks that a generation that is canceled has no result.
func TestCanceledTopUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &scriptedChat{answers: []scriptedAnswer{answerText(pushReply("One", "1")), func(context.Context, llm.Request) (llm.Answer, error) {
		cancel()
		return llm.Answer{}, context.Canceled
	}}}
	if r, err := newWriter(s).Write(ctx, pushBrief(2)); !errors.Is(err, context.Canceled) || failureCode(err) != "" {
		t.Errorf("got %d drafts, %v want the canceled context", len(r.Drafts), err)
	}
}

// TestTruncatedAnswers checks what follows an answer that reached its limit.
func TestTruncatedAnswers(t *testing.T) {
	t.Parallel()
	cut := func(text string) scriptedAnswer {
		return func(context.Context, llm.Request) (llm.Answer, error) {
			return llm.Answer{Text: text, OutputTokens: 10, Model: "gpt-5-mini"}, llm.ErrTruncated
		}
	}
	all := pushReply("One", "1", "Two", "2")
	for _, test := range []struct {
		name  string
		turns []scriptedAnswer
		want  int
		// rooms are the token limits of the requests, relative to the first.
		rooms []float64
		code  string
	}{
		{"empty once", []scriptedAnswer{cut(""), answerText(all)}, 2, []float64{1, 2}, ""},
		{"in the first variant", []scriptedAnswer{cut(all[:60]), answerText(all)}, 2, []float64{1, 2}, ""},
		{"always", []scriptedAnswer{cut("")}, 0, []float64{1, 2}, creative.FailAnswer},
		{"more room is refused", []scriptedAnswer{cut(""), answerError(statusError(400))}, 0, []float64{1, 2}, creative.FailAnswer},
		{"in the second variant", []scriptedAnswer{cut(all[:len(all)-30]), answerText(pushReply("Two", "2"))}, 2, []float64{1, 1}, ""},
		{"twice", []scriptedAnswer{cut(""), cut(all[:len(all)-30]), answerText(pushReply("Two", "2"))}, 2, []float64{1, 2, 1}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &scriptedChat{answers: test.turns}
			r, err := newWriter(s).Write(t.Context(), pushBrief(2))
			if failureCode(err) != test.code || (err == nil) != (test.code == "") || len(r.Drafts) != test.want {
				t.Errorf("got %d drafts, %v want %d, %q", len(r.Drafts), err, test.want, test.code)
			}
			if err != nil && !strings.Contains(err.Error(), "cut off") {
				t.Errorf("got %v want that the answer was cut off", err)
			}
			var rooms []float64
			for _, r := range s.requests {
				rooms = append(rooms, math.Round(float64(r.MaxTokens)/float64(s.requests[0].MaxTokens)))
			}
			if !slices.Equal(rooms, test.rooms) {
				t.Errorf("got token limits %v want %v times the first", rooms, test.rooms)
			}
		})
	}
}

// TestInventedFacts checks that a line with an invented name or number is left
// out, or that the variant is asked for again with the reason.
func TestInventedFacts(t *testing.T) {
	t.Parallel()
	search := func(headlines, description string) string {
		return `{"language":"en","variants":[{"angle":"a","copy":{"search":{"headlines":[` + headlines + `],"descriptions":["Shoes for rain.",` + description + `]}}}]}`
	}
	good := `"Shoes","Rain shoes","Running shoes"`
	for _, test := range []struct {
		name    string
		turns   []scriptedAnswer
		want    int
		leftOut []string
		dropped []string
		asks    string
		failure string
	}{
		{"lines of a list", []scriptedAnswer{answerText(search(good+`,"Worn by Maria Nolan","Save 40%"`, `"Grip on wet stone.","Over 5,000 sold."`))}, 3,
			[]string{
				"Variant 1: a line of search.headlines was left out, because the brief does not say “Maria Nolan”.", "Variant 1: a line of search.headlines was left out, because the brief does not say “40%”.",
				"Variant 1: a line of search.descriptions was left out, because the brief does not say “5,000”.",
			}, nil, "", ""},
		{"too few lines", []scriptedAnswer{answerText(search(`"Shoes","Rain shoes","Save 40%"`, `"Grip."`)), answerText(search(good, `"Grip."`))}, 3, nil, nil, "search headlines says “40%”, which is not in the brief", ""},
		{"again", []scriptedAnswer{answerText(search(`"Shoes","Rain shoes","Save 40%"`, `"Grip."`))}, 0, nil, nil, "", "variant 1: search headlines says “40%”, which is not in the brief"},
		{"qualities", []scriptedAnswer{answerText(search(`"The best shoes","Award-winning","Open 24/7"`, `"Organic."`))}, 3, nil, nil, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &scriptedChat{answers: test.turns}
			r, err := newWriter(s).Write(t.Context(), &creative.Brief{Prompt: "Running shoes for rain with grip on wet stone", Channels: []string{"search"}, Variants: 1})
			if test.failure != "" {
				if failureCode(err) != creative.FailAnswer || !strings.Contains(err.Error(), test.failure) {
					t.Errorf("got %v want %q", err, test.failure)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Drafts[0].ByChannel["search"].Headlines; len(got) != test.want || !slices.Equal(r.LeftOut, test.leftOut) || !slices.Equal(r.Dropped, test.dropped) {
				t.Errorf("got headlines %q, left out %q, dropped %q", got, r.LeftOut, r.Dropped)
			}
			if test.asks != "" && (len(s.requests) != 2 || !strings.Contains(s.requests[1].User, test.asks)) {
				t.Errorf("got %d requests, the last %q want the reason in the second", len(s.requests), s.requests[len(s.requests)-1].User)
			}
		})
	}
}

// TestPartsOfVariants checks that a variant that lacks a channel is asked for
// again, and kept without the channel if no better one comes.
func TestPartsOfVariants(t *testing.T) {
	t.Parallel()
	variant := func(push, sms string) scriptedAnswer {
		return answerText(`{"variants":[{"copy":{"push":{"headlines":["` + push + `"],"primary_text":"Grip."},"sms":{"primary_text":"` + sms + `"}}}]}`)
	}
	const lacks = "Variant 1 has no copy for sms: sms primary_text has 0 usable texts, at least 1 are needed."
	for _, test := range []struct {
		name    string
		turns   []scriptedAnswer
		want    string
		skipped []string
		calls   int64
	}{
		{"better the second time", []scriptedAnswer{variant("One", ""), variant("Two", "Shoes.")}, "Two", nil, 2},
		{"as before", []scriptedAnswer{variant("One", ""), variant("Two", "")}, "Two", []string{lacks}, 2},
		{"worse", []scriptedAnswer{variant("One", ""), variant("", "")}, "One", []string{lacks}, 2},
		{"unreadable", []scriptedAnswer{variant("One", ""), answerText("no")}, "One", []string{lacks}, 2},
		{"in another language", []scriptedAnswer{variant("One", ""), variant("Die Schuhe für den Regen und für dich, mit Griff auf nassem Stein", "")}, "One", []string{lacks}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, err := newWriter(&scriptedChat{answers: test.turns}).Write(t.Context(), &creative.Brief{Prompt: "Running shoes for rain", Channels: []string{"push", "sms"}, Variants: 1})
			if err != nil {
				t.Fatal(err)
			}
			got := r.Drafts[0]
			if got.ByChannel["push"].Headlines[0] != test.want || !slices.Equal(r.Skipped, test.skipped) || len(got.Skipped) != len(test.skipped) || r.Usage.Calls != test.calls {
				t.Errorf("got %+v, skipped %q after %d calls", got, r.Skipped, r.Usage.Calls)
			}
		})
	}
}
