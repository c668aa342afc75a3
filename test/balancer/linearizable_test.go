package balancer_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/jackc/pgx/v5"

	"fanfare/internal/store/pgtest"
	"fanfare/test/program"
)

// request is the input of an operation on one campaign.
type request struct {
	id, action string
	// version is that of If-Match, 0 for none.
	version int
	// name is the new name of a rename.
	name string
}

// outcome is the output of an operation. An operation whose outcome is unknown
// may take effect at any time after it was called, or never.
type outcome struct {
	unknown bool
	code    int
	campaign
}

// moves has the statuses from which each action is possible, and the status that
// follows.
var moves = map[string]map[string]string{
	"launch":  {"draft": "active"},
	"pause":   {"active": "paused"},
	"resume":  {"paused": "active"},
	"archive": {"draft": "archived", "active": "archived", "paused": "archived"},
	"rename":  {"draft": "draft", "active": "active", "paused": "paused"},
}

// apply returns the state after a request and the status of its response.
func apply(s campaign, in request) (campaign, int) {
	switch {
	case in.action == "read":
		return s, http.StatusOK
	case in.version != 0 && in.version != s.Version:
		return s, http.StatusPreconditionFailed
	case in.action == "archive" && s.Status == "archived":
		return s, http.StatusOK
	}
	to, possible := moves[in.action][s.Status]
	if !possible {
		return s, http.StatusConflict
	}
	s.Status, s.Version = to, s.Version+1
	if in.action == "rename" {
		s.Name = in.name
	}
	return s, http.StatusOK
}

// model is a campaign with one caller at a time.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[string][]porcupine.Operation{}
		for _, o := range history {
			id := o.Input.(request).id
			parts[id] = append(parts[id], o)
		}
		var list [][]porcupine.Operation
		for _, part := range parts {
			list = append(list, part)
		}
		return list
	},
	Init: func() any { return campaign{Name: "new", Status: "draft", Version: 1} },
	Step: func(state, input, output any) (bool, any) {
		before, out := state.(campaign), output.(outcome)
		after, code := apply(before, input.(request))
		switch {
		case out.unknown:
			return true, after
		case code != out.code:
			return false, before
		case code == http.StatusOK:
			return out.Status == after.Status && out.Version == after.Version && out.Name == after.Name, after
		}
		return true, after
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

// history records operations.
type history struct {
	*cluster
	begin  time.Time
	mu     sync.Mutex
	all    []porcupine.Operation
	counts map[int]int
}

// perCampaign is small, because unknown outcomes make the check of a long history
// slow.
const perCampaign = 60

// slot has the campaign that callers use until it has had enough operations.
type slot struct {
	mu   sync.Mutex
	id   string
	uses int
}

// current returns the campaign of a slot.
func (h *history) current(client *http.Client, s *slot) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uses%perCampaign == 0 {
		s.id = h.create(client, fmt.Sprintf("campaign-%d", rand.Uint64()))
	}
	s.uses++
	return s.id
}

func (h *history) now() int64 { return int64(time.Since(h.begin)) }

// add adds an operation to the history. An unknown outcome has no end.
func (h *history) add(client int, in request, call int64, out outcome) {
	end := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case out.unknown:
		h.counts[0]++
		if in.action == "read" {
			return
		}
		end = math.MaxInt64
	default:
		h.counts[out.code]++
	}
	h.all = append(h.all, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end})
}

// create creates a campaign. It repeats the call until the outcome is known.
func (h *history) create(client *http.Client, key string) string {
	for {
		r, err := h.send(client, http.MethodPost, "/v1/campaigns", `{"name":"new"}`, "Idempotency-Key: "+key)
		if err == nil && r.status == http.StatusCreated {
			made, err := r.campaignOf()
			if err != nil {
				h.t.Error(err)
			}
			return made.ID
		}
		if err == nil && r.status != http.StatusServiceUnavailable && r.status != http.StatusConflict {
			h.t.Errorf("create: %d %s", r.status, r.body)
			return ""
		}
	}
}

// routes are method and path of each action.
var routes = map[string][2]string{
	"launch": {http.MethodPost, "/launch"}, "pause": {http.MethodPost, "/pause"}, "resume": {http.MethodPost, "/resume"},
	"archive": {http.MethodDelete, ""}, "rename": {http.MethodPatch, ""}, "read": {http.MethodGet, ""},
}

// operate sends a request and records it. It returns the version that it saw.
func (h *history) operate(number int, client *http.Client, in request) int {
	route, body := routes[in.action], ""
	if in.action == "rename" {
		body = fmt.Sprintf(`{"name":%q}`, in.name)
	}
	var headers []string
	if in.version != 0 {
		headers = []string{fmt.Sprintf(`If-Match: "%d"`, in.version)}
	}
	call := h.now()
	r, err := h.send(client, route[0], "/v1/campaigns/"+in.id+route[1], body, headers...)
	out := outcome{code: r.status}
	switch {
	case err != nil:
		out.unknown = true
	case r.status == http.StatusOK:
		if out.campaign, err = r.campaignOf(); err != nil || out.ID != in.id {
			h.t.Errorf("%+v: got %s", in, r.body)
		}
	case r.status == http.StatusServiceUnavailable:
		if r.header.Get("Retry-After") == "" {
			h.t.Errorf("%+v: 503 without Retry-After: %s", in, r.body)
		}
		out.unknown = true
	case r.status != http.StatusConflict && r.status != http.StatusPreconditionFailed:
		h.t.Errorf("%+v: got %d %s", in, r.status, r.body)
	}
	h.add(number, in, call, out)
	return out.Version
}

// operateOnList reads a list and records it as a read of each campaign in it.
func (h *history) operateOnList(number int, client *http.Client) {
	call := h.now()
	r, err := h.send(client, http.MethodGet, "/v1/campaigns?limit=20", "")
	if err != nil || r.status == http.StatusServiceUnavailable {
		return
	}
	var page struct {
		Data []campaign `json:"data"`
	}
	if err := json.Unmarshal([]byte(r.body), &page); err != nil || r.status != http.StatusOK {
		h.t.Errorf("list: got %d %v %s", r.status, err, r.body)
	}
	for _, c := range page.Data {
		h.add(number, request{id: c.ID, action: "read"}, call, outcome{code: http.StatusOK, campaign: c})
	}
}

// TestDrillLinearizable changes and reads campaigns through the balancer while
// nodes are killed and connections are cut, of clients and of the database. The
// responses must be those of a single node with one caller at a time.
func TestDrillLinearizable(t *testing.T) {
	t.Parallel()
	const callers, campaigns = 8, 4
	operations, kills := int64(600), 2
	if isFull() {
		operations, kills = 40_000, 30
	}
	database := pgtest.URL(t)
	h := &history{cluster: start(t, database, program.Options{}), begin: time.Now(), counts: map[int]int{}}
	slots := make([]slot, campaigns)
	var done atomic.Int64
	var wg sync.WaitGroup
	actions := []string{"launch", "pause", "pause", "resume", "resume", "rename", "rename", "read", "read", "read", "read"}
	for number := range callers {
		wg.Go(func() {
			client, seen := h.newClient(), 0
			for done.Add(1) <= operations {
				in := request{id: h.current(client, &slots[rand.IntN(campaigns)]), action: actions[rand.IntN(len(actions))]}
				switch {
				case in.id == "":
					return
				case rand.IntN(40) == 0:
					in.action = "archive"
				case rand.IntN(20) == 0:
					h.operateOnList(number, client)
					continue
				case in.action == "rename":
					in.name = fmt.Sprintf("name %d", rand.Uint64())
				}
				if in.action != "read" && rand.IntN(2) == 0 {
					in.version = seen
				}
				seen = max(h.operate(number, client, in), 1)
			}
		})
	}
	h.disturb(database, kills, operations, &done)
	wg.Wait()
	t.Logf("%d operations on %d campaigns, %d kills; responses by status (0 is unknown): %v", len(h.all), len(model.Partition(h.all)), kills, h.counts)
	begin := time.Now()
	if result, _ := porcupine.CheckOperationsVerbose(model, h.all, 5*time.Minute); result != porcupine.Ok {
		t.Errorf("the history is not linearizable: %s", result)
		h.explain()
	}
	t.Logf("checked in %s", time.Since(begin).Round(time.Millisecond))
	h.Stop()
}

// disturb kills nodes and cuts connections, evenly over the operations.
func (h *history) disturb(database string, kills int, operations int64, done *atomic.Int64) {
	h.t.Helper()
	until := func(n int64) {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for done.Load() < n {
			<-tick.C
		}
	}
	for i := range kills {
		part := operations / int64(kills)
		until(part*int64(i) + part/3)
		node := rand.IntN(len(h.Nodes))
		h.Nodes[node].Kill()
		h.StartNode(node)
		until(part*int64(i) + 2*part/3)
		if err := h.CutConnections(rand.IntN(len(h.Nodes))); err != nil {
			h.t.Error(err)
		}
		until(part*int64(i) + 5*part/6)
		h.cutDatabase(database)
	}
}

// cutDatabase ends all sessions of a database.
func (h *history) cutDatabase(database string) {
	h.t.Helper()
	c, err := pgx.Connect(h.t.Context(), pgtest.SuperuserURL(h.t, database))
	if err != nil {
		h.t.Error(err)
		return
	}
	defer func() { _ = c.Close(h.t.Context()) }()
	if _, err := c.Exec(h.t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
		h.t.Error(err)
	}
}

// explain logs the operations of the campaigns whose history is wrong.
func (h *history) explain() {
	for _, part := range model.Partition(h.all) {
		if porcupine.CheckOperationsTimeout(model, part, time.Minute) == porcupine.Ok {
			continue
		}
		var b strings.Builder
		for _, o := range part {
			fmt.Fprintf(&b, "%d-%d %s\n", o.Call, o.Return, model.DescribeOperation(o.Input, o.Output))
		}
		h.t.Logf("campaign %s:\n%s", part[0].Input.(request).id, b.String())
		return
	}
}

// TestModel: the model accepts a late effect of an unknown outcome, and refuses
// a lost change and a stale read.
func TestModel(t *testing.T) {
	t.Parallel()
	operation := func(call, end int64, action string, out outcome) porcupine.Operation {
		return porcupine.Operation{Input: request{id: "c", action: action}, Call: call, Return: end, Output: out}
	}
	state := func(status string, version int) outcome {
		return outcome{code: http.StatusOK, campaign: campaign{Name: "new", Status: status, Version: version}}
	}
	unknown := operation(1, math.MaxInt64, "launch", outcome{unknown: true})
	for name, tt := range map[string]struct {
		history []porcupine.Operation
		want    bool
	}{
		"unknown without effect": {[]porcupine.Operation{unknown, operation(2, 3, "read", state("draft", 1))}, true},
		"unknown with effect":    {[]porcupine.Operation{unknown, operation(2, 3, "read", state("draft", 1)), operation(4, 5, "read", state("active", 2))}, true},
		"effect and none again":  {[]porcupine.Operation{unknown, operation(2, 3, "read", state("active", 2)), operation(4, 5, "read", state("draft", 1))}, false},
		"stale read":             {[]porcupine.Operation{operation(1, 2, "launch", state("active", 2)), operation(3, 4, "read", state("draft", 1))}, false},
		"two launches":           {[]porcupine.Operation{operation(1, 4, "launch", state("active", 2)), operation(2, 3, "launch", state("active", 2))}, false},
		"a refused launch":       {[]porcupine.Operation{operation(1, 4, "launch", state("active", 2)), operation(2, 3, "launch", outcome{code: http.StatusConflict})}, true},
	} {
		if got := porcupine.CheckOperations(model, tt.history); got != tt.want {
			t.Errorf("%s: got %v want %v", name, got, tt.want)
		}
	}
}
