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

// startWork takes a place of the node for the request, and keeps its connection
// open. It returns a fault if all places are taken.
//
// Choice: a request has its place only while the node works on it, not while
// its body arrives or the client reads the response. Otherwise slow clients
// would take the places of all others. What slow clients can hold is bounded by
// the number of requests and the memory of a workspace.
func (a *API) startWork(r *request) error {
	a.keepConnection(r)
	if n := a.running.Add(1); n > a.MaxInFlight && !r.critical() {
		a.running.Add(-1)
		r.leaveConnection()
		return overloaded()
	}
	r.working = true
	return nil
}

// stopWork ends startWork and keepConnection.
func (a *API) stopWork(r *request) {
	if r.working {
		a.running.Add(-1)
		r.working = false
	}
	r.leaveConnection()
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
