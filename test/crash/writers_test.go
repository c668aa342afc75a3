package crash_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// call is one request that changes something.
type call struct {
	method, path, body string
	// media is the type of the body, by default JSON.
	media string
	// key is its Idempotency-Key, empty for none.
	key string
	// want is the record's name or status afterwards.
	want func(s *recordState) bool
}

// answer is a received answer.
type answer struct {
	status int
	data   jsontext.Value
	header http.Header
}

// recordState is the part of a record that the drill checks.
type recordState struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Status  string   `json:"status"`
	Version int64    `json:"version"`
	Tags    []string `json:"tags"`
}

func readState(data jsontext.Value) (s recordState, err error) {
	err = json.Unmarshal(data, &s)
	return s, err
}

// campaign is a record as its only writer knows it.
type campaign struct {
	recordState
	// data is the last acknowledged record.
	data jsontext.Value
	// tags are all its tags so far; no other record has them.
	tags []string
	// openCall is the call that was in flight when the server was killed.
	openCall *call
	// keyedCalls are acknowledged calls with a key, to be repeated.
	keyedCalls []keyedCall
}

type keyedCall struct {
	call   call
	answer answer
}

// client returns a client with keep-alive connections, over HTTP/2 or HTTP/1.1.
func (d *drill) client(two bool) *http.Client {
	transport := d.server.Transport()
	if !two {
		transport.ForceAttemptHTTP2 = false
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP1(true)
	}
	d.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: maxWait}
}

// sendCall sends a call.
func (d *drill) sendCall(client *http.Client, c call) (answer, error) {
	req, err := http.NewRequestWithContext(context.Background(), c.method, d.server.URL+c.path, strings.NewReader(c.body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+d.key)
	if c.body != "" {
		req.Header.Set("Content-Type", cmp.Or(c.media, "application/json"))
	}
	if c.key != "" {
		req.Header.Set("Idempotency-Key", c.key)
	}
	res, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: res.StatusCode, header: res.Header}
	if a.status >= 300 {
		a.data = text
		return a, nil
	}
	var v struct {
		Data jsontext.Value `json:"data"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return a, fmt.Errorf("half an answer: %w: %s", err, text)
	}
	a.data = v.Data
	return a, nil
}

// writeBurst is what is written between two kills.
type writeBurst struct {
	drill   *drill
	writers []*writer
	acked   atomic.Int64
	limit   int64
	enough  chan struct{}
	once    sync.Once
}

// writer is one client with its own records.
type writer struct {
	burst   *writeBurst
	name    string
	r       *rand.Rand
	client  *http.Client
	records []*campaign
	made    int
	// unansweredCreate is a creation without an answer.
	unansweredCreate *campaign
}

// errServerGone is returned if the server no longer answers.
var errServerGone = errors.New("the server is gone")

// run writes until the server is gone.
func (w *writer) run() {
	for {
		var err error
		if len(w.records) == 0 || w.r.IntN(5) < 2 {
			err = w.create()
		} else {
			err = w.change(w.records[w.r.IntN(len(w.records))])
		}
		if err != nil {
			if !errors.Is(err, errServerGone) {
				w.burst.drill.t.Errorf("writer %s: %v", w.name, err)
			}
			return
		}
	}
}

// randomKey gives half of the calls an Idempotency-Key.
func (w *writer) randomKey() string {
	w.made++
	if w.r.IntN(2) == 0 {
		return ""
	}
	return fmt.Sprintf("%s-%d-%d", w.name, w.burst.drill.seed, w.made)
}

// send sends a call and counts its acknowledgement. Without an answer of a
// working server the result stays unknown.
func (w *writer) send(c call) (answer, error) {
	a, err := w.burst.drill.sendCall(w.client, c)
	if err != nil || a.status >= 500 {
		return a, errServerGone
	}
	if a.status >= 300 {
		return a, fmt.Errorf("%s %s: status %d: %s", c.method, c.path, a.status, a.data)
	}
	if w.burst.acked.Add(1) >= w.burst.limit {
		w.burst.once.Do(func() { close(w.burst.enough) })
	}
	return a, nil
}

func (w *writer) create() error {
	k := w.randomKey()
	tag := fmt.Sprintf("%s-%d", w.name, w.made)
	c := call{
		method: "POST", path: "/v1/campaigns", key: k,
		body: fmt.Sprintf(`{"name":%q,"tags":[%q],"channels":["search"],"metadata":{"drill":%q}}`, tag, tag, strings.Repeat("x", w.r.IntN(300))),
		want: func(s *recordState) bool { return s.Name == tag && s.Status == "draft" && s.Version == 1 },
	}
	record := &campaign{tags: []string{tag}}
	a, err := w.send(c)
	if err != nil {
		record.openCall, w.unansweredCreate = &c, record
		return err
	}
	w.records = append(w.records, record)
	return record.acknowledge(c, a)
}

// acknowledge stores an acknowledged state.
func (r *campaign) acknowledge(c call, a answer) error {
	s, err := readState(a.data)
	if err != nil {
		return err
	}
	if !c.want(&s) || s.Version != r.Version+1 {
		return fmt.Errorf("%s %s after version %d gave %s", c.method, c.path, r.Version, a.data)
	}
	r.recordState, r.data = s, a.data
	if c.key != "" {
		r.keyedCalls = append(r.keyedCalls, keyedCall{c, a})
	}
	return nil
}

// actionsByStatus are the possible actions by status.
var actionsByStatus = map[string][]struct{ method, verb, status string }{
	"draft":    {{"POST", "/launch", "active"}},
	"active":   {{"POST", "/pause", "paused"}},
	"paused":   {{"POST", "/resume", "active"}, {"DELETE", "", "archived"}},
	"archived": {{"POST", "/restore", "paused"}},
}

func (w *writer) change(r *campaign) error {
	c := call{path: "/v1/campaigns/" + r.ID}
	if r.Status != "archived" && w.r.IntN(2) == 0 {
		w.made++
		tag := fmt.Sprintf("%s-%d", w.name, w.made)
		tags := []string{tag}
		if w.r.IntN(2) == 0 {
			tags = append(slices.Clone(r.Tags), tag)[max(0, len(r.Tags)-9):]
		}
		list, err := json.Marshal(tags)
		if err != nil {
			return err
		}
		r.tags = append(r.tags, tag)
		c.method, c.body = "PATCH", fmt.Sprintf(`{"name":%q,"tags":%s}`, tag, list)
		c.want = func(s *recordState) bool { return s.Name == tag && slices.Equal(s.Tags, tags) }
	} else {
		m := actionsByStatus[r.Status][w.r.IntN(len(actionsByStatus[r.Status]))]
		c.method, c.path = m.method, c.path+m.verb
		if c.method == "POST" {
			c.key = w.randomKey()
		}
		c.want = func(s *recordState) bool { return s.Status == m.status }
	}
	a, err := w.send(c)
	if err != nil {
		r.openCall = &c
		return err
	}
	return r.acknowledge(c, a)
}
