package crash_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// checkBurst resolves the calls that were in flight at the kill, repeats
// acknowledged ones, and checks everything that was written in the burst.
func (d *drill) checkBurst(b *writeBurst) {
	d.t.Helper()
	client := d.client(true)
	var mu sync.Mutex
	var found []*campaign
	d.forEach(len(b.writers), func(i int) error {
		w := b.writers[i]
		list := w.records
		if w.unansweredCreate != nil {
			r, err := d.findUnacknowledged(client, w.unansweredCreate)
			if err != nil {
				return err
			}
			if r != nil {
				list = append(list, r)
			}
		}
		for _, r := range list {
			if err := d.resolveOpenCall(client, r); err != nil {
				return err
			}
		}
		mu.Lock()
		defer mu.Unlock()
		found = append(found, list...)
		return nil
	})
	d.counts.add(&d.counts.acked, int(b.acked.Load()))
	d.records = append(d.records, found...)
	d.checkAll(found)
	d.repeatCalls(client, found)
	d.checkAudit()
	d.checkFile()
}

// forEach calls f for each of n, sixteen concurrently.
func (d *drill) forEach(n int, f func(i int) error) {
	d.t.Helper()
	var group sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range n {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if err := f(i); err != nil {
				d.t.Errorf("seed %d: %v", d.seed, err)
			}
		})
	}
	group.Wait()
}

// findUnacknowledged looks for a record whose creation was not acknowledged: it
// exists completely or not at all. With a key the creation is repeated, and the
// record then exists once.
func (d *drill) findUnacknowledged(client *http.Client, r *campaign) (*campaign, error) {
	d.counts.add(&d.counts.open, 1)
	open := *r.openCall
	r.openCall = nil
	there, err := d.recordsWithTag(client, r.tags[0])
	if err != nil || len(there) > 1 {
		return nil, fmt.Errorf("creation of %s: found %d times: %w", r.tags[0], len(there), err)
	}
	if len(there) == 1 {
		d.counts.add(&d.counts.openDone, 1)
	}
	if open.key != "" {
		a, err := d.sendCall(client, open)
		if err != nil || a.status != http.StatusCreated {
			return nil, fmt.Errorf("creation of %s asked again: status %d: %s: %w", r.tags[0], a.status, a.data, err)
		}
		if len(there) == 1 && !bytes.Equal(a.data, there[0]) {
			return nil, fmt.Errorf("creation of %s asked again gave %s, it was %s", r.tags[0], a.data, there[0])
		}
		return r, r.acknowledge(open, a)
	}
	if len(there) == 0 {
		return nil, nil
	}
	return r, r.acknowledge(open, answer{data: there[0]})
}

// resolveOpenCall determines the result of a change without an answer.
func (d *drill) resolveOpenCall(client *http.Client, r *campaign) error {
	if r.openCall == nil {
		return nil
	}
	d.counts.add(&d.counts.open, 1)
	open := *r.openCall
	r.openCall = nil
	now, err := d.readRecord(client, r.ID)
	if err != nil {
		return err
	}
	done := !bytes.Equal(now, r.data)
	if done {
		d.counts.add(&d.counts.openDone, 1)
	}
	if open.key != "" {
		a, err := d.sendCall(client, open)
		if err != nil || a.status != http.StatusOK {
			return fmt.Errorf("%s asked again: status %d: %s: %w", open.path, a.status, a.data, err)
		}
		if done && !bytes.Equal(a.data, now) {
			return fmt.Errorf("%s asked again gave %s, it was %s", open.path, a.data, now)
		}
		return r.acknowledge(open, a)
	}
	if !done {
		return nil
	}
	return r.acknowledge(open, answer{data: now})
}

// readRecord reads a record.
func (d *drill) readRecord(client *http.Client, id string) (jsontext.Value, error) {
	a, err := d.sendCall(client, call{method: "GET", path: "/v1/campaigns/" + id})
	if err != nil || a.status != http.StatusOK {
		return nil, fmt.Errorf("read %s: status %d: %s: %w", id, a.status, a.data, err)
	}
	return a.data, nil
}

// recordsWithTag returns the records with a tag.
func (d *drill) recordsWithTag(client *http.Client, tag string) ([]jsontext.Value, error) {
	return d.list(client, "/v1/campaigns?status=all&limit=100&tag="+url.QueryEscape(tag))
}

func (d *drill) list(client *http.Client, path string) ([]jsontext.Value, error) {
	a, err := d.sendCall(client, call{method: "GET", path: path})
	if err != nil || a.status != http.StatusOK {
		return nil, fmt.Errorf("list %s: status %d: %s: %w", path, a.status, a.data, err)
	}
	var list []jsontext.Value
	return list, json.Unmarshal(a.data, &list)
}

// checkAll compares records with their acknowledged state.
func (d *drill) checkAll(records []*campaign) {
	d.t.Helper()
	client := d.client(true)
	d.forEach(len(records), func(i int) error { return d.check(client, records[i]) })
}

// check checks that a record is as it was acknowledged, is found by its tags
// and by no earlier one, and has one event per version.
func (d *drill) check(client *http.Client, r *campaign) error {
	now, err := d.readRecord(client, r.ID)
	if err != nil {
		return fmt.Errorf("an acknowledged write is lost: %w", err)
	}
	if !bytes.Equal(now, r.data) {
		return fmt.Errorf("%s is %s, acknowledged was %s", r.ID, now, r.data)
	}
	for _, tag := range r.tags {
		there, err := d.recordsWithTag(client, tag)
		if err != nil {
			return err
		}
		want := 0
		if slices.Contains(r.Tags, tag) {
			want = 1
		}
		if len(there) != want || want == 1 && !bytes.Equal(there[0], now) {
			return fmt.Errorf("%s with tags %v is found %d times by %s", r.ID, r.Tags, len(there), tag)
		}
	}
	events, err := d.list(client, "/v1/events?order=asc&limit=100&resource_id="+r.ID)
	if err != nil {
		return err
	}
	if int64(len(events)) != min(r.Version, 100) {
		return fmt.Errorf("%s has version %d and %d events", r.ID, r.Version, len(events))
	}
	var seen []int64
	for _, e := range events {
		var v struct {
			Data jsontext.Value `json:"data"`
		}
		if err := json.Unmarshal(e, &v); err != nil {
			return err
		}
		s, err := readState(v.Data)
		if err != nil {
			return err
		}
		seen = append(seen, s.Version)
		if s.Version == r.Version && !bytes.Equal(v.Data, now) {
			return fmt.Errorf("%s: its last event has %s, it is %s", r.ID, v.Data, now)
		}
	}
	slices.Sort(seen)
	for i, version := range seen {
		if version != int64(i+1) {
			return fmt.Errorf("%s has events for versions %v", r.ID, seen)
		}
	}
	return nil
}

// repeatCalls repeats acknowledged calls: the answer is the same, and nothing
// changes.
func (d *drill) repeatCalls(client *http.Client, records []*campaign) {
	d.t.Helper()
	const most = 40
	var kept []keyedCall
	for _, r := range records {
		kept = append(kept, r.keyedCalls...)
	}
	d.r.Shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
	kept = kept[:min(most, len(kept))]
	d.forEach(len(kept), func(i int) error {
		k := kept[i]
		a, err := d.sendCall(client, k.call)
		if err != nil || a.status != k.answer.status || !bytes.Equal(a.data, k.answer.data) || a.header.Get("Idempotency-Replayed") != "true" {
			return fmt.Errorf("%s %s with key %s: replayed %d %s, acknowledged was %d %s: %w",
				k.call.method, k.call.path, k.call.key, a.status, a.data, k.answer.status, k.answer.data, err)
		}
		return nil
	})
	d.counts.add(&d.counts.replayed, len(kept))
}
