package console

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/httpapi"
	"fanfare/internal/ident"
	"fanfare/internal/record"
)

const (
	// auditPage is the page size of the audit log; auditChunk is the number of
	// entries that an export reads at once.
	auditPage  = 50
	auditChunk = 1000
)

func (c *Console) listAudit(ctx context.Context, v *consoleRequest) (any, error) {
	q, err := v.Query("before", "action")
	if err != nil {
		return nil, err
	}
	var before int64
	if text, there := q["before"]; there {
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			return nil, badParameter("before", "must be the number of an entry.")
		}
	}
	list, err := c.Audit.AuditEntries(ctx, v.workspace(), before, q["action"], auditPage)
	if list == nil {
		list = []record.AuditEntry{}
	}
	return list, err
}

func badParameter(name, message string) error {
	message = name + " " + message
	return fault.New(fault.InvalidParameter, message, fault.Detail{Field: name, In: "query", Code: "invalid_value", Message: message})
}

// exportAudit sends the whole audit log as NDJSON, latest entry first.
func (c *Console) exportAudit(ctx context.Context, v *consoleRequest) (any, error) {
	if _, err := v.Query(); err != nil {
		return nil, err
	}
	workspace := v.workspace()
	list, err := c.Audit.AuditEntries(ctx, workspace, 0, "", auditChunk)
	if err != nil {
		return nil, err
	}
	v.W.Header().Set("Content-Disposition", `attachment; filename="audit.ndjson"`)
	ctx = v.Request.Context()
	return stream{"application/x-ndjson", func(w io.Writer) error {
		for len(list) > 0 {
			for i := range list {
				line, err := json.Marshal(list[i], json.Deterministic(true))
				if err != nil {
					return fmt.Errorf("encode audit entry: %w", err)
				}
				if _, err := w.Write(append(line, '\n')); err != nil {
					return fmt.Errorf("write audit entry: %w", err)
				}
			}
			if list, err = c.Audit.AuditEntries(ctx, workspace, list[len(list)-1].Seq, "", auditChunk); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

type loggedKey struct {
	ID    ident.ID `json:"id"`
	Name  string   `json:"name"`
	Last4 string   `json:"last4"`
}

type loggedRequest struct {
	ID        ident.ID      `json:"id"`
	At        clock.Instant `json:"at"`
	Method    string        `json:"method"`
	Path      string        `json:"path"`
	Operation string        `json:"operation"`
	Status    int           `json:"status"`
	Code      fault.Code    `json:"code"`
	Took      int64         `json:"took"`
	Key       loggedKey     `json:"key"`
	From      netip.Addr    `json:"ip"`
	Agent     string        `json:"user_agent"`
}

func (c *Console) listRequests(ctx context.Context, v *consoleRequest) (any, error) {
	q, err := v.Query("status", "method", "key", "path")
	if err != nil {
		return nil, err
	}
	keys, err := c.Accounts.Keys(ctx, v.workspace())
	if err != nil {
		return nil, err
	}
	seen := map[ident.ID]*account.Key{}
	for i := range keys {
		if v.mayRevoke(&keys[i]) {
			seen[keys[i].ID] = &keys[i]
		}
	}
	list := []loggedRequest{}
	for _, r := range c.API.Requests(v.workspace()) {
		k := seen[r.KeyID]
		if k == nil || !matchesFilters(&r, q) {
			continue
		}
		list = append(list, loggedRequest{
			r.ID, r.At, r.Method, r.Path, r.Operation, r.Status, r.Code, r.Took.Microseconds(), loggedKey{k.ID, k.Name, k.Last4}, r.From, r.Agent,
		})
	}
	return list, nil
}

// matchesFilters reports whether a request matches the filters. status is a status such
// as 404 or a class such as 4xx; path is a substring of the request's path.
func matchesFilters(r *httpapi.Logged, q map[string]string) bool {
	status := strconv.Itoa(r.Status)
	same := func(name, is string) bool { return q[name] == "" || strings.EqualFold(q[name], is) }
	return (same("status", status) || same("status", status[:1]+"xx")) && same("method", r.Method) && same("key", string(r.KeyID)) &&
		strings.Contains(r.Path, q["path"])
}
