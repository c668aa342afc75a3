package llm_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fanfare/internal/creative"
	"fanfare/internal/llm"
	"fanfare/internal/llm/openai"
	"fanfare/internal/outbound"
	"fanfare/internal/secret"
)

// imperfectAnswer is a case of testdata/review.json: what a server answers, turn
// by turn, and what comes of it. The last turn repeats. In texts, {{A}} and {{B}}
// are two variants, {{LONG}} one that is too long, {{AB}} a whole answer.
type imperfectAnswer struct {
	Name     string
	Channel  string
	Variants int
	Turns    []struct {
		Text, Parts, Refusal, Finish, Body string
		Status                             int
		Header                             map[string]string
		Drop, Unmetered                    bool
	}
	// Headlines and Texts are those of the usable variants.
	Headlines, Texts, Dropped []string
	// Code is the failure, Says a part of its message.
	Code, Says  string
	Calls       int64
	UnknownCost bool `json:"unknown_cost"`
}

var answerParts = func() *strings.Replacer {
	a := `{"angle":"a","call_to_action":"Buy now","copy":{"push":{"headlines":["One"],"primary_text":"First."}}}`
	b := `{"angle":"b","copy":{"push":{"headlines":["Two"],"primary_text":"Second."}}}`
	long := `{"copy":{"push":{"headlines":["` + strings.Repeat("word ", 14) + `end"],"primary_text":"First."}}}`
	return strings.NewReplacer("{{AB}}", `{"language":"en","variants":[`+a+`,`+b+`]}`, "{{A}}", a, "{{B}}", b, "{{LONG}}", long)
}()

// serve answers as a chat completions server.
func (c *imperfectAnswer) serve(t *testing.T) string {
	t.Helper()
	var calls atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		turn := c.Turns[min(int(calls.Add(1)), len(c.Turns))-1]
		if turn.Drop {
			panic(http.ErrAbortHandler)
		}
		for name, value := range turn.Header {
			w.Header().Set(name, value)
		}
		if turn.Status != 0 {
			w.WriteHeader(turn.Status)
			_, _ = w.Write([]byte(turn.Body))
			return
		}
		message := map[string]any{"content": answerParts.Replace(turn.Text), "refusal": nil}
		if turn.Refusal != "" {
			message = map[string]any{"content": nil, "refusal": turn.Refusal}
		}
		if turn.Parts != "" {
			message["content"] = []any{map[string]any{"type": "text", "text": answerParts.Replace(turn.Parts)}}
		}
		finish := turn.Finish
		if finish == "" {
			finish = "stop"
		}
		body := map[string]any{"model": "gpt-5-mini", "choices": []any{map[string]any{"finish_reason": finish, "message": message}}}
		if !turn.Unmetered {
			body["usage"] = map[string]any{"prompt_tokens": 100, "completion_tokens": 50}
		}
		if err := json.NewEncoder(w).Encode(body); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

// TestReviewedAnswers checks that every imperfect answer of a review of models
// ends with usable variants or with a reason. A server that hangs and one that is
// slow are in TestTimeouts.
func TestReviewedAnswers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/review.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []imperfectAnswer
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 35 {
		t.Errorf("got %d cases want at least 35", len(cases))
	}
	for i := range cases {
		c := &cases[i]
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			client, err := outbound.New(outbound.Options{Policy: outbound.Trusted(), MaxBytes: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(client.Close)
			chat, err := openai.New(client, c.serve(t), "gpt-5-mini", "", secret.New("key"))
			if err != nil {
				t.Fatal(err)
			}
			channels := []string{"push"}
			if c.Channel != "" {
				channels = []string{c.Channel}
			}
			b := &creative.Brief{Prompt: "Running shoes for rain", Channels: channels, Variants: 2, Seed: 7, Language: "en"}
			r, err := llm.New(chat, nil, llm.Options{ModelSettings: creative.ModelSettings{Model: "gpt-5-mini"}, Now: now, Jitter: func(time.Duration) time.Duration { return 0 }}).Write(t.Context(), b)
			if failureCode(err) != c.Code || (err == nil) != (c.Code == "") || err != nil && !strings.Contains(err.Error(), c.Says) {
				t.Fatalf("got %v want %q, %q", err, c.Code, c.Says)
			}
			var headlines, texts []string
			for _, d := range r.Drafts {
				copied := d.ByChannel[channels[0]]
				headlines, texts = append(headlines, copied.Headlines...), append(texts, copied.Texts("primary_text")...)
			}
			if !slices.Equal(headlines, c.Headlines) || c.Texts != nil && !slices.Equal(texts, c.Texts) {
				t.Errorf("got %q, %q want %q, %q", headlines, texts, c.Headlines, c.Texts)
			}
			if !slices.EqualFunc(r.Dropped, c.Dropped, strings.Contains) && err == nil {
				t.Errorf("got dropped %q want %q", r.Dropped, c.Dropped)
			}
			if c.Calls != 0 && r.Usage.Calls != c.Calls {
				t.Errorf("got %d calls want %d", r.Usage.Calls, c.Calls)
			}
			if err == nil && (r.Usage.CostMicros == nil) != c.UnknownCost {
				t.Errorf("got cost %v", r.Usage.CostMicros)
			}
		})
	}
}
