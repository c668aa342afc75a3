package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// resource is a kind of record that is listed, read, archived and restored
// like every other. What is its own stands in the file of its kind.
type resource struct {
	prefix  string
	listing *listing

	get     func(ctx context.Context, workspace, id ident.ID) (record.Doc, error)
	list    func(ctx context.Context, workspace ident.ID, q page.Query) (page.Page, error)
	archive func(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (record.Doc, error)
	restore func(ctx context.Context, cause record.Cause, id ident.ID, match record.Match) (record.Doc, error)
}

// recordID reads the id in the path. An id of another shape names nothing.
func (r *request) recordID(prefix string) (ident.ID, error) {
	if !ident.Valid(prefix, r.pathID) {
		return "", fault.Missing()
	}
	return ident.ID(r.pathID), nil
}

// exists answers whether the record in the path is there.
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
	id, err := s.action(ctx, r, nil)
	if err != nil {
		return response{}, err
	}
	d, err := s.restore(ctx, r.caused(http.StatusOK), id, r.match())
	return found(d), err
}

// action reads the id and the options of an action. Whether the record is
// there, and whether it is the version that the caller means, comes before
// what is wrong with the options.
func (s *resource) action(ctx context.Context, r *request, options func(*fields)) (ident.ID, error) {
	id, err := r.recordID(s.prefix)
	if err != nil {
		return "", err
	}
	f := newFields(&r.object, false)
	if options != nil {
		options(f)
	}
	f.done()
	if wrong := f.err(); wrong != nil {
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

// idOf reads the id that starts every record.
func idOf(d record.Doc) ident.ID {
	const start = len(`{"id":"`)
	return ident.ID(d.JSON[start : start+len(ident.Campaign)+27])
}

// mergePatch lays a patch over the writable members of the current record.
// Read-only members that repeat the current value are ignored, so that a
// client may send back what it read.
func mergePatch(current []byte, patch value, readOnly []string) (*fields, error) {
	now, err := parseObject(current)
	if err != nil {
		return nil, err
	}
	var changed []fault.Detail
	wanted := without(&patch, "", readOnly, func(path string, sent *value) {
		is := &now
		for name := range strings.SplitSeq(path, ".") {
			if is = is.get(name); is == nil {
				break
			}
		}
		if is == nil || !is.equal(sent) {
			changed = append(changed, fault.Detail{Field: path, In: "body", Code: "read_only", Message: path + " is set by the service and cannot be written."})
		}
	})
	writable := without(&now, "", readOnly, func(string, *value) {})
	merged := writable.merge(wanted)
	merged.cut = patch.cut
	f := newFields(&merged, true)
	f.problems.add(changed...)
	return f, nil
}

// without copies an object without the members at some paths, such as status
// or content.media, and tells of those that it leaves out.
func without(object *value, at string, paths []string, left func(path string, v *value)) value {
	out := value{kind: kindObject}
	for _, m := range object.members {
		path := at + m.name
		inside := slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, path+".") })
		switch {
		case slices.Contains(paths, path):
			left(path, &m.value)
			continue
		case inside && m.value.kind == kindObject:
			m.value = without(&m.value, path+".", paths, left)
		}
		out.members = append(out.members, m)
	}
	return out
}

// errWith returns all that is wrong with a body at once: where its fields are
// wrong, the references in it are looked up here too, because the service
// would not get to see them.
func (f *fields) errWith(dangling func() ([]fault.Detail, error)) error {
	if f.err() == nil {
		return nil
	}
	more, err := dangling()
	if err != nil {
		return err
	}
	f.problems.add(more...)
	return f.err()
}

// set keeps a default where nothing was read.
func set[T any](to *T, v *T) {
	if v != nil {
		*to = *v
	}
}
