package httpapi

import (
	"context"
	"net/http"
	"time"

	"fanfare/internal/body"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// resource has the operations that all kinds of records share: list, get,
// archive and restore. The file of each kind adds its own operations.
type resource struct {
	prefix  string
	listing *listing

	get     func(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	list    listFunc
	archive func(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (record.Doc, error)
	restore func(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (record.Doc, error)
}

// listFunc reads one page of a list.
type listFunc func(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)

// listWait is how long a list waits for its turn.
const listWait = 5 * time.Second

// inTurn returns list, which then waits for a turn.
// Choice: lists take turns like queries, because one that asks for many records
// costs as much. A list that also needs a query takes this turn after it.
func (a *API) inTurn(list listFunc) listFunc {
	return func(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error) {
		leave, err := a.lists.Take(ctx, workspace, listWait)
		if err != nil {
			return page.Page{}, err
		}
		defer leave()
		return list(ctx, workspace, q)
	}
}

// recordID returns the id in the path. An invalid id is not found.
func (r *request) recordID(prefix string) (ident.ID, error) {
	if !ident.Valid(prefix, r.pathID) {
		return "", fault.Missing()
	}
	return ident.ID(r.pathID), nil
}

// exists returns a fault if the record in the path does not exist.
func (s *resource) exists(ctx context.Context, r *request) error {
	id, err := r.recordID(s.prefix)
	if err != nil {
		return err
	}
	_, err = s.get(ctx, r.caller.Workspace.ID, id)
	return err
}

func (a *API) listRecords(s *resource) handler {
	return func(ctx context.Context, r *request) (response, error) {
		q, params, err := a.listQuery(r, s.listing)
		if err != nil {
			return response{}, err
		}
		p, err := s.list(ctx, r.caller.Workspace.ID, q)
		if err != nil {
			return response{}, err
		}
		return a.pageOf(r, p, params), nil
	}
}

func (s *resource) getRecord(ctx context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	id, err := r.recordID(s.prefix)
	if err != nil {
		return response{}, err
	}
	d, err := s.get(ctx, r.caller.Workspace.ID, id)
	return found(d), err
}

func (s *resource) archiveRecord(ctx context.Context, r *request) (response, error) {
	if _, err := r.query(); err != nil {
		return response{}, err
	}
	id, err := r.recordID(s.prefix)
	if err != nil {
		return response{}, err
	}
	d, err := s.archive(ctx, r.cause(), id, r.match())
	return found(d), err
}

func (s *resource) restoreRecord(ctx context.Context, r *request) (response, error) {
	id, err := s.readAction(ctx, r, nil)
	if err != nil {
		return response{}, err
	}
	d, err := s.restore(ctx, r.idempotentCause(http.StatusOK), id, r.match())
	return found(d), err
}

// readAction reads the id and the options of an action. A missing record or a
// failed If-Match is reported before invalid options.
func (s *resource) readAction(ctx context.Context, r *request, options func(*body.Reader)) (ident.ID, error) {
	id, err := r.recordID(s.prefix)
	if err != nil {
		return "", err
	}
	f := body.NewReader(&r.object, false)
	if options != nil {
		options(f)
	}
	f.Done()
	if wrong := f.Err(); wrong != nil {
		d, err := s.get(ctx, r.caller.Workspace.ID, id)
		if err != nil {
			return "", err
		}
		if err := r.match().Check(d.Version); err != nil {
			return "", err
		}
		return "", wrong
	}
	return id, nil
}
