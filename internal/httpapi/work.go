package httpapi

import "context"

// Progress is the connection of a request. The listener closes no connection
// between StartWork and StopWork to make room for others.
type Progress interface {
	// StartWork panics with http.ErrAbortHandler if the connection was closed.
	StartWork()
	StopWork()
}

// noProgress is the Progress of requests without a listener.
func noProgress(context.Context) Progress { return nil }

// criticalAtOnce is how many critical requests are worked on at once. They are
// short, so that the next one has its turn within milliseconds.
const criticalAtOnce = 16

// startWork takes a place of the node for the request, and keeps its connection
// open. It returns a fault if all places are taken. The last eighth of them is
// for founders without running requests.
//
// Choice: a request has its place only while the node works on it, not while
// its body arrives, it waits for its turn, or the client reads the response.
// Otherwise slow clients would take the places of all others. The number of
// requests and the memory of a founder bound what such clients use.
//
// Critical requests have places of their own, for which they wait in turns by
// founder. They are never refused because all places are taken.
func (a *API) startWork(r *request) error {
	if r.critical() {
		leave, err := a.criticalQueue.Take(r.http.Context(), r.caller.Workspace.ID, 0)
		if err != nil {
			return err
		}
		r.working, r.leaveTurn = true, leave
		a.keepConnection(r)
		return nil
	}
	a.keepConnection(r)
	most := a.MaxInFlight
	if r.ofFounder.Load() > 1 {
		most -= most / 8
	}
	if n := a.running.Add(1); n > most {
		a.running.Add(-1)
		r.leaveConnection()
		return overloaded()
	}
	r.working = true
	return nil
}

// stopWork ends startWork and keepConnection.
func (a *API) stopWork(r *request) {
	a.leavePlace(r)
	r.leaveConnection()
}

// leavePlace ends startWork.
func (a *API) leavePlace(r *request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.working && r.leaveTurn != nil {
		r.leaveTurn()
	} else if r.working {
		a.running.Add(-1)
	}
	r.working, r.lent, r.leaveTurn = false, false, nil
}

// lendPlace gives the place of the request to others while the request waits for
// a turn. back takes a place again, also beyond the limit: the number of turns
// bounds how many do. Parts of a request can wait side by side.
func (a *API) lendPlace(r *request) (back func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting++
	if r.working && r.leaveTurn == nil {
		a.running.Add(-1)
		r.working, r.lent = false, true
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.waiting--; r.waiting == 0 && r.lent {
			a.running.Add(1)
			r.working, r.lent = true, false
		}
	}
}

// keepConnection keeps the connection of a verified caller's request open.
func (a *API) keepConnection(r *request) {
	if p := a.Progress(r.http.Context()); p != nil && r.progress == nil {
		p.StartWork()
		r.progress = p
	}
}

func (r *request) leaveConnection() {
	if r.progress != nil {
		r.progress.StopWork()
		r.progress = nil
	}
}

// critical reports whether the request stops spend or an attacker.
func (r *request) critical() bool { return r.route != nil && r.route.critical }

// receive reads the body. Meanwhile the request has no place of the node.
func (a *API) receive(r *request) ([]byte, error) {
	if r.http.ContentLength == 0 {
		return a.fetchBody(r)
	}
	working, kept := r.working, r.progress != nil
	a.stopWork(r)
	sent, err := a.fetchBody(r)
	switch {
	case err != nil:
		return nil, err
	case working:
		err = a.startWork(r)
	case kept:
		a.keepConnection(r)
	}
	return sent, err
}
