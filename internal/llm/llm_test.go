package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
	"fanfare/internal/llm"
	"fanfare/internal/outbound"
)

// scriptedAnswer is one answer of a scripted chat model.
type scriptedAnswer = func(context.Context, llm.Request) (llm.Answer, error)

// scriptedChat is a chat model with prepared answers. It repeats the last one.
type scriptedChat struct {
	answers  []scriptedAnswer
	requests []llm.Request
}

func (s *scriptedChat) Complete(ctx context.Context, r llm.Request) (llm.Answer, error) {
	step := s.answers[min(len(s.requests), len(s.answers)-1)]
	s.requests = append(s.requests, r)
	return step(ctx, r)
}

func answerText(text string) scriptedAnswer {
	return func(context.Context, llm.Request) (llm.Answer, error) {
		return llm.Answer{Text: text, InputTokens: 1000, OutputTokens: 100, Model: "gpt-5-mini-2025-08-07"}, nil
	}
}

func answerError(err error) scriptedAnswer {
	return func(context.Context, llm.Request) (llm.Answer, error) { return llm.Answer{}, err }
}

func statusError(code int, header ...string) error {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &outbound.StatusError{Status: code, Header: h}
}

func now() time.Time { return time.Now() }

// maxJitter returns the longest wait.
func maxJitter(most time.Duration) time.Duration { return most }

func newWriter(s *scriptedChat) *llm.Writer {
	return llm.New(s, nil, llm.Options{ModelSettings: creative.ModelSettings{Model: "copy"}, Now: now, Jitter: maxJitter})
}

// pushReply returns an answer for the push channel, which allows one headline
// of 65 and one text of 178 characters.
func pushReply(pairs ...string) string {
	var variants []any
	for i := 0; i < len(pairs); i += 2 {
		variants = append(variants, map[string]any{
			"angle": "idea", "call_to_action": "Buy now",
			"copy": map[string]any{"push": map[string]any{"headlines": []string{pairs[i]}, "primary_text": pairs[i+1]}},
		})
	}
	b, err := json.Marshal(map[string]any{"language": "en-GB", "variants": variants})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func pushBrief(variants int) *creative.Brief {
	return &creative.Brief{Prompt: "Shoes", Channels: []string{"push"}, Variants: variants}
}

func failureCode(err error) string {
	if f, ok := errors.AsType[*creative.FailureError](err); ok {
		return f.Code
	}
	return ""
}

// TestRetryWaits checks how long the writer waits after each failure.
func TestRetryWaits(t *testing.T) {
	t.Parallel()
	good := answerText(pushReply("Shoes", "Buy them."))
	for _, test := range []struct {
		name    string
		turns   []scriptedAnswer
		want    time.Duration
		code    string
		calls   int64
		retries int64
	}{
		{"good", []scriptedAnswer{good}, 0, "", 1, 0},
		{"one 500", []scriptedAnswer{answerError(statusError(500)), good}, time.Second, "", 2, 1},
		{"two 503", []scriptedAnswer{answerError(statusError(503)), answerError(statusError(529)), good}, 3 * time.Second, "", 3, 2},
		{"only 500", []scriptedAnswer{answerError(statusError(500))}, 3 * time.Second, creative.FailProvider, 3, 2},
		{"reset", []scriptedAnswer{answerError(errors.New("connection reset")), good}, time.Second, "", 2, 1},
		{"seconds", []scriptedAnswer{answerError(statusError(429, "Retry-After", "7")), good}, 7 * time.Second, "", 2, 1},
		{"date", []scriptedAnswer{answerError(statusError(429, "Retry-After", "Sat, 01 Jan 2000 00:00:09 GMT")), good}, 9 * time.Second, "", 2, 1},
		{"past date", []scriptedAnswer{answerError(statusError(429, "Retry-After", "Fri, 31 Dec 1999 00:00:00 GMT")), good}, 0, "", 2, 1},
		{"half a minute", []scriptedAnswer{answerError(statusError(503, "Retry-After", "30")), good}, 30 * time.Second, "", 2, 1},
		{"too long", []scriptedAnswer{answerError(statusError(429, "Retry-After", "31")), good}, 0, creative.FailThrottled, 1, 0},
		{"nonsense", []scriptedAnswer{answerError(statusError(429, "Retry-After", "soon")), good}, time.Second, "", 2, 1},
		{"key", []scriptedAnswer{answerError(statusError(403)), good}, 0, creative.FailCredentials, 1, 0},
		{"missing", []scriptedAnswer{answerError(statusError(404)), good}, 0, creative.FailProvider, 1, 0},
		{"refused", []scriptedAnswer{answerError(llm.ErrRefused), good}, 0, creative.FailRefused, 1, 0},
		{"empty account", []scriptedAnswer{answerError(&outbound.StatusError{Status: 429, Body: []byte(`{"error":{"code":"insufficient_quota"}}`)}), good}, 0, creative.FailThrottled, 1, 0},
		{"format", []scriptedAnswer{answerError(llm.ErrFormat), answerError(llm.ErrFormat), good}, 0, "", 3, 2},
		{"no format", []scriptedAnswer{answerError(llm.ErrFormat)}, 0, creative.FailProvider, 3, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				r, err := newWriter(&scriptedChat{answers: test.turns}).Write(t.Context(), pushBrief(1))
				if got := time.Since(start); got != test.want {
					t.Errorf("waited %v want %v", got, test.want)
				}
				if failureCode(err) != test.code || (err == nil) != (test.code == "") {
					t.Errorf("got %v want %q", err, test.code)
				}
				if r.Usage.Calls != test.calls || r.Usage.Retries != test.retries {
					t.Errorf("got %d calls, %d retries want %d, %d", r.Usage.Calls, r.Usage.Retries, test.calls, test.retries)
				}
			})
		})
	}
}

// TestTimeouts has a model that hangs once, is slow, or never answers, and one
// that requests retries until the time is over.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	good := answerText(pushReply("Shoes", "Buy them."))
	after := func(d time.Duration) scriptedAnswer {
		return func(ctx context.Context, r llm.Request) (llm.Answer, error) {
			select {
			case <-ctx.Done():
				return llm.Answer{}, fmt.Errorf("ask: %w", ctx.Err())
			case <-time.After(d):
				return good(ctx, r)
			}
		}
	}
	for _, test := range []struct {
		name  string
		turns []scriptedAnswer
		want  time.Duration
		code  string
		calls int64
	}{
		{"in time", []scriptedAnswer{after(44 * time.Second)}, 44 * time.Second, "", 1},
		{"hangs once", []scriptedAnswer{after(time.Hour), good}, 46 * time.Second, "", 2},
		{"slow", []scriptedAnswer{after(100 * time.Second)}, 146 * time.Second, "", 2},
		{"slow after a failure", []scriptedAnswer{answerError(statusError(500)), after(100 * time.Second)}, 101 * time.Second, "", 2},
		{"never", []scriptedAnswer{after(time.Hour)}, 3 * time.Minute, creative.FailTimeout, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				r, err := newWriter(&scriptedChat{answers: test.turns}).Write(t.Context(), pushBrief(1))
				if got := time.Since(start); got != test.want || failureCode(err) != test.code || r.Usage.Calls != test.calls {
					t.Errorf("got %v after %v and %d calls want %q after %v and %d", err, got, r.Usage.Calls, test.code, test.want, test.calls)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := newWriter(&scriptedChat{answers: []scriptedAnswer{answerError(statusError(429, "Retry-After", "20"))}}).Write(ctx, pushBrief(1))
		if failureCode(err) != creative.FailTimeout {
			t.Errorf("deadline while waiting: got %v want a timeout", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		_, err := newWriter(&scriptedChat{answers: []scriptedAnswer{answerError(statusError(429, "Retry-After", "20"))}}).Write(ctx, pushBrief(1))
		if got := time.Since(start); !errors.Is(err, context.Canceled) || failureCode(err) != "" || got != time.Second {
			t.Errorf("canceled while waiting: got %v after %v want the canceled context at once", err, got)
		}
	})
}

func TestFormatIsRemembered(t *testing.T) {
	t.Parallel()
	s := &scriptedChat{answers: []scriptedAnswer{answerError(llm.ErrFormat), answerText(pushReply("Shoes", "Buy them."))}}
	w := newWriter(s)
	for range 2 {
		if _, err := w.Write(t.Context(), pushBrief(1)); err != nil {
			t.Fatal(err)
		}
	}
	var got []llm.Format
	for _, r := range s.requests {
		got = append(got, r.Format)
		if strings.Contains(r.System, "JSON Schema:") != (r.Format != llm.FormatSchema) {
			t.Errorf("format %d: the schema belongs into the words only where it is not enforced", r.Format)
		}
	}
	if want := []llm.Format{llm.FormatSchema, llm.FormatJSON, llm.FormatJSON}; !slices.Equal(got, want) {
		t.Errorf("got formats %v want %v", got, want)
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	price := func(n int64) *int64 { return &n }
	// without returns an answer without usage.
	without := func(err error) scriptedAnswer {
		return func(context.Context, llm.Request) (llm.Answer, error) {
			return llm.Answer{Text: pushReply("a", "b"), Model: "gpt-5-mini"}, err
		}
	}
	for _, test := range []struct {
		name  string
		model string
		own   *creative.ModelPrice
		turns []scriptedAnswer
		want  *int64
	}{
		// 1,000 tokens at 0.25 and 100 at 2 dollars per million.
		{"listed", "", nil, []scriptedAnswer{answerText(pushReply("a", "b"))}, price(450)},
		{"after a failure", "", nil, []scriptedAnswer{answerError(llm.ErrFormat), answerText(pushReply("a", "b"))}, price(450)},
		{"own", "", &creative.ModelPrice{InputMicros: 1, OutputMicros: 10_000_000}, []scriptedAnswer{answerText(pushReply("a", "b"))}, price(1001)},
		{"free", "", &creative.ModelPrice{}, []scriptedAnswer{answerText(pushReply("a", "b"))}, price(0)},
		{"unreadable twice", "", nil, []scriptedAnswer{answerText("hello")}, price(900)},
		{"unknown", "", nil, []scriptedAnswer{func(context.Context, llm.Request) (llm.Answer, error) {
			return llm.Answer{Text: pushReply("a", "b"), InputTokens: 1, Model: "llama"}, nil
		}}, nil},
		{"no usage", "", nil, []scriptedAnswer{without(nil)}, nil},
		{"no usage of a free model", "", &creative.ModelPrice{}, []scriptedAnswer{without(nil)}, price(0)},
		{"no usage once", "", nil, []scriptedAnswer{without(llm.ErrTruncated), answerText(pushReply("a", "b"))}, nil},
		{"no usage of a refusal", "", nil, []scriptedAnswer{without(llm.ErrRefused)}, nil},
		{"refused by a filter", "", nil, []scriptedAnswer{answerError(fmt.Errorf("%w: %w", llm.ErrRefused, statusError(400)))}, price(0)},
		{"unreachable", "", nil, []scriptedAnswer{answerError(errors.New("connection refused"))}, price(0)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := llm.New(&scriptedChat{answers: test.turns}, nil, llm.Options{ModelSettings: creative.ModelSettings{Model: "copy", Price: test.own}, Now: now, Jitter: func(time.Duration) time.Duration { return 0 }})
			r, _ := w.Write(t.Context(), pushBrief(1))
			if diff := cmp.Diff(test.want, r.Usage.CostMicros); diff != "" {
				t.Errorf("cost differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	long, longer := strings.Repeat("word ", 14)+"end", strings.Repeat("word ", 60)+"end"
	shorter := func(texts ...string) scriptedAnswer {
		var list []map[string]any
		for i, text := range texts {
			list = append(list, map[string]any{"id": i, "text": text})
		}
		b, err := json.Marshal(map[string]any{"texts": list})
		if err != nil {
			t.Fatal(err)
		}
		return answerText(string(b))
	}
	plugged := func(text string, l policy.Limit) (string, bool) {
		return "plugged", l.Field == "headlines" && text == long
	}
	for _, test := range []struct {
		name    string
		plugged func(string, policy.Limit) (string, bool)
		second  scriptedAnswer
		want    []string
		dropped []string
	}{
		{"by the model", nil, shorter("short head", "short text"), []string{"short head", "short text"}, nil},
		{"as markup", nil, shorter("<b>short</b> head", "short text"), []string{"short head", "short text"}, nil},
		{"half by the model", plugged, shorter(longer, "short text"), []string{"plugged", "short text"}, nil},
		{"not by the model", plugged, answerError(statusError(400)), nil, []string{"variant 1: push primary_text has 303 characters, at most 178 are allowed"}},
		{"with a foreign link", plugged, shorter("go to evil.com", "short text"), []string{"plugged", "short text"}, nil},
		{"unknown ids", nil, answerText(`{"texts":[{"id":-1,"text":"x"},{"id":9,"text":"y"},{"id":0,"text":"z"}]}`), nil, []string{"variant 1: push primary_text has 303 characters, at most 178 are allowed"}},
		{"not at all", nil, answerText("no"), nil, []string{"variant 1: push headlines has 73 characters, at most 65 are allowed"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := &scriptedChat{answers: []scriptedAnswer{answerText(pushReply(long, longer, "fine", "fine as well")), test.second, answerText("no top-up")}}
			w := llm.New(s, nil, llm.Options{Shorten: test.plugged, Now: now, Jitter: maxJitter})
			r, err := w.Write(t.Context(), pushBrief(2))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			if len(r.Drafts) == 2 {
				c := r.Drafts[0].ByChannel["push"]
				got = append(c.Texts("headlines"), c.Texts("primary_text")...)
			}
			if !slices.Equal(got, test.want) || !slices.Equal(r.Dropped, test.dropped) {
				t.Errorf("got %q, dropped %q want %q, %q", got, r.Dropped, test.want, test.dropped)
			}
			if len(s.requests) != 2+len(test.dropped) || !strings.Contains(s.requests[1].User, `"length":73,"most":65,"over":8`) {
				t.Errorf("got %d requests, the second %q want one with the exact counts", len(s.requests), s.requests[1].User)
			}
		})
	}
}

// TestListsDropOverlongItems checks that an overlong text is dropped from a
// list with enough others, and that a list can be written as lines.
func TestListsDropOverlongItems(t *testing.T) {
	t.Parallel()
	answer := `{"language":"xx invalid","variants":[{"angle":"a","call_to_action":"` + strings.Repeat("x", 26) + `","extra":1,"copy":{"search":{
		"headlines":["One","Two","two","Three","` + strings.Repeat("x", 31) + `",""],"descriptions":["First.","Second.","Third.","Fourth.","Fifth."],"paths":"run fast\na/b","body":"no"},"sms":{"primary_text":"x"}}}]}`
	s := &scriptedChat{answers: []scriptedAnswer{answerText(answer), answerText("{}")}}
	r, err := newWriter(s).Write(t.Context(), &creative.Brief{Prompt: "p", Channels: []string{"search"}, Variants: 1, Language: "de"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]policy.Copy{"search": {Headlines: []string{"One", "Two", "Three"}, Descriptions: []string{"First.", "Second.", "Third.", "Fourth."}, Paths: []string{"run-fast", "a-b"}}}
	if diff := cmp.Diff(want, r.Drafts[0].ByChannel); diff != "" {
		t.Errorf("copy differs (-want +got):\n%s", diff)
	}
	if r.Language != "de" || r.Drafts[0].CallToAction != "" || r.Model != "gpt-5-mini-2025-08-07" {
		t.Errorf("got %q, %q of %q want de and no overlong action", r.Language, r.Drafts[0].CallToAction, r.Model)
	}
}

func TestVariantsAreParsedSeparately(t *testing.T) {
	t.Parallel()
	answer := `{"variants":[{"copy":{"push":{"headlines":"no text"}}},{"copy":{"push":{"headlines":["Head"],"primary_text":"Text"}}},{"copy":{}},7]}`
	r, err := newWriter(&scriptedChat{answers: []scriptedAnswer{answerText(answer), answerText("no")}}).Write(t.Context(), pushBrief(5))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"variant 1: push primary_text has 0 usable texts, at least 1 are needed", "variant 3: push headlines has 0 usable texts, at least 1 are needed", "variant 4: it is not a JSON object",
		"variant 5: the model did not write it",
	}
	if len(r.Drafts) != 1 || !slices.Equal(r.Dropped, want) {
		t.Errorf("got %d drafts, dropped %q want 1, %q", len(r.Drafts), r.Dropped, want)
	}
}

// TestImperfectAnswers checks what is kept of answers that do not have the
// requested form.
func TestImperfectAnswers(t *testing.T) {
	t.Parallel()
	const first, second = `{"angle":"a","call_to_action":"Buy now","copy":{"push":{"headlines":["One"],"primary_text":"First."}}}`, `{"angle":"b","copy":{"push":{"headlines":["Two"],"primary_text":"Second."}}}`
	const ends = "variant 2: the model's answer ends before it is complete"
	for _, test := range []struct {
		name, answer string
		want         []string
		dropped      []string
		failure      string
	}{
		{"trailing commas", `{"language":"en","variants":[` + first + `,` + second + `,],}`, []string{"One", "Two"}, nil, ""},
		{"wrapper", `{"answer":{"language":"en","variants":[` + first + `,` + second + `]}}`, []string{"One", "Two"}, nil, ""},
		{"two wrappers", `{"type":"object","output":{"result":{"variants":[` + first + `,` + second + `]}}}`, []string{"One", "Two"}, nil, ""},
		{"list alone", "Here you are [as asked]:\n[" + first + "," + second + "]", []string{"One", "Two"}, nil, ""},
		{"list as text", `{"variants":` + quote(`[`+first+`,`+second+`]`) + `}`, []string{"One", "Two"}, nil, ""},
		{"variant alone", first, []string{"One"}, []string{"variant 2: the model did not write it"}, ""},
		{"variant instead of list", `{"variants":` + second + `}`, []string{"Two"}, []string{"variant 2: the model did not write it"}, ""},
		{"text instead of list", `{"variants":[` + strings.ReplaceAll(first, `["One"]`, `"One"`) + `,` + strings.ReplaceAll(second, `"Second."`, `["Second."]`) + `]}`, []string{"One", "Two"}, nil, ""},
		{"objects as items", `{"variants":[` + first + `,` + strings.ReplaceAll(second, `["Two"]`, `[{"text":"Two"},7]`) + `]}`, []string{"One", "Two"}, nil, ""},
		{"end in the second", `{"language":"en","variants":[` + first + `,` + second[:40], []string{"One"}, []string{ends}, ""},
		{"end in a wrapper", `{"answer":{"variants":[` + first + `,` + second[:len(second)-1], []string{"One"}, []string{ends}, ""},
		{"end after all", `{"language":"en","variants":[` + first + `,` + second, []string{"One", "Two"}, nil, ""},
		{"quote in the second", `{"variants":[` + first + `,` + strings.ReplaceAll(second, `Second.`, `The "best" one.`) + `]}`, []string{"One", "Two"}, nil, ""},
		{"quote and comma in the second", `{"variants":[` + first + `,` + strings.ReplaceAll(second, `Second.`, `The "best", she says.`) + `]}`, []string{"One"}, []string{ends}, ""},
		{"end in the first", `{"language":"en","variants":[` + first[:50], nil, nil, "variant 1: the model's answer ends before it is complete"},
		{"end in a variant alone", first[:len(first)-1], nil, nil, "the model's answer ends before it is complete"},
		{"other document", `{"thought":{"plan":"none"}}`, nil, nil, "its JSON has no variants"},
		{"words", "Sure, I will write it.", nil, nil, "it is words and not JSON"},
		{"nothing", " \n", nil, nil, "it is empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			second := "no"
			if test.failure != "" {
				second = test.answer
			}
			r, err := newWriter(&scriptedChat{answers: []scriptedAnswer{answerText(test.answer), answerText(second)}}).Write(t.Context(), pushBrief(2))
			if test.failure != "" {
				if failureCode(err) != creative.FailAnswer || !strings.Contains(err.Error(), test.failure) {
					t.Errorf("got %v want %q", err, test.failure)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range r.Drafts {
				got = append(got, d.ByChannel["push"].Headlines...)
			}
			if !slices.Equal(got, test.want) || !slices.Equal(r.Dropped, test.dropped) {
				t.Errorf("got %q, dropped %q want %q, %q", got, r.Dropped, test.want, test.dropped)
			}
		})
	}
}

// quote returns a JSON string.
func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestBriefFactsWin(t *testing.T) {
	t.Parallel()
	b := &creative.Brief{Prompt: "p", Channels: []string{"display"}, Variants: 1, CallToAction: "Book", Brand: creative.Brand{Name: "Regenlauf"}}
	answer := `{"language":"en","variants":[{"call_to_action":"Buy","copy":{"display":{"headlines":["H"],"long_headline":"L","descriptions":["D"],"business_name":"Somebody else"}}}]}`
	r, err := newWriter(&scriptedChat{answers: []scriptedAnswer{answerText(answer)}}).Write(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if got := *r.Drafts[0].ByChannel["display"].BusinessName; got != "Regenlauf" || r.Drafts[0].CallToAction != "Book" {
		t.Errorf("got %q, %q want the brief's own name and action", got, r.Drafts[0].CallToAction)
	}
}

func TestRepeatedInstructions(t *testing.T) {
	t.Parallel()
	line, _, _ := strings.Cut(llm.SystemPrompt, "\n")
	r, err := newWriter(&scriptedChat{answers: []scriptedAnswer{answerText(pushReply("My rules: "+line, "x", "Fine", "fine"))}}).Write(t.Context(), pushBrief(2))
	if err != nil || len(r.Drafts) != 1 || !slices.Equal(r.Dropped, []string{"variant 1: it repeats our instructions"}) {
		t.Errorf("got %d drafts, dropped %q, %v want the leak dropped", len(r.Drafts), r.Dropped, err)
	}
}

// TestRandomRepliesKeepLimits checks the limits for random answers.
func TestRandomRepliesKeepLimits(t *testing.T) {
	t.Parallel()
	var channels []string
	for _, l := range policy.Limits {
		if !slices.Contains(channels, l.Channel) {
			channels = append(channels, l.Channel)
		}
	}
	text := rapid.OneOf(
		rapid.StringN(0, 300, -1),
		rapid.SampledFrom([]string{"Good text", "<b>bold</b>", "雨の日のランニングシューズ", "See https://evil.example", "🙂🙂🙂", "", "\u202ebidi", "one\ntwo"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		b := &creative.Brief{Prompt: "p", Channels: rapid.SliceOfNDistinct(rapid.SampledFrom(channels), 1, 3, rapid.ID[string]).Draw(t, "channels"), Variants: rapid.IntRange(1, 3).Draw(t, "asked")}
		var variants []any
		for range rapid.IntRange(0, 4).Draw(t, "variants") {
			content := map[string]any{}
			for _, channel := range b.Channels {
				members := map[string]any{}
				for _, l := range policy.LimitsOf(channel) {
					if slices.Contains([]string{"headlines", "descriptions", "paths"}, l.Field) {
						members[l.Field] = rapid.SliceOfN(text, 0, l.MaxItems+2).Draw(t, l.Field)
					} else {
						members[l.Field] = text.Draw(t, l.Field)
					}
				}
				content[channel] = members
			}
			variants = append(variants, map[string]any{"angle": text.Draw(t, "angle"), "call_to_action": text.Draw(t, "action"), "copy": content})
		}
		answer, err := json.Marshal(map[string]any{"language": text.Draw(t, "language"), "variants": variants})
		if err != nil {
			t.Fatal(err)
		}
		r, err := newWriter(&scriptedChat{answers: []scriptedAnswer{answerText(string(answer))}}).Write(context.Background(), b)
		if err != nil {
			if failureCode(err) != creative.FailAnswer {
				t.Errorf("got %v want provider_invalid_answer", err)
			}
			return
		}
		if len(r.Drafts)+len(r.Dropped) != b.Variants {
			t.Errorf("got %d drafts and %d dropped of %d", len(r.Drafts), len(r.Dropped), b.Variants)
		}
		for _, d := range r.Drafts {
			for _, channel := range b.Channels {
				c := d.ByChannel[channel]
				if violations := c.LimitViolations(channel); len(violations) > 0 && !slices.Contains(d.Skipped, channel) {
					t.Errorf("%s breaks %+v", channel, violations)
				}
			}
		}
	})
}
