package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// described has the members of documents that results show. A type of record
// has some of them.
type described struct {
	ID             ident.ID `json:"id"`
	Name           string   `json:"name"`
	Status         string   `json:"status"`
	Type           string   `json:"type"`
	Platform       string   `json:"platform"`
	Channels       []string `json:"channels"`
	Tags           []string `json:"tags"`
	AllowedActions []string `json:"allowed_actions"`
	Approval       struct {
		Status string `json:"status"`
	} `json:"approval"`
}

// folders are the first segments of the console's pages.
var folders = map[Type]string{Campaign: "/campaigns/", Creative: "/creative/", Audience: "/audiences/", Connection: "/connections/"}

// prefixes are the prefixes of ids.
var prefixes = map[Type]string{Campaign: ident.Campaign, Creative: ident.Creative, Audience: ident.Audience, Connection: ident.Connection}

// Prefix returns the prefix of the ids of a type of record.
func (t Type) Prefix() string { return prefixes[t] }

// operations are the operations behind the actions of results.
var operations = map[Type]map[string]string{
	Campaign: {
		"update": "updateCampaign", "launch": "launchCampaign", "pause": "pauseCampaign", "resume": "resumeCampaign",
		"archive": "archiveCampaign", "restore": "restoreCampaign", "duplicate": "duplicateCampaign",
	},
	Creative:   {"update": "updateCreative", "archive": "archiveCreative", "restore": "restoreCreative"},
	Audience:   {"update": "updateAudience", "archive": "archiveAudience", "restore": "restoreAudience"},
	Connection: {"update": "updateConnection", "sync": "syncConnection", "reconnect": "reconnectConnection", "disconnect": "disconnectConnection"},
}

// findRecords returns records.
func (s *Service) findRecords(ctx context.Context, workspace ident.ID, kind Type, words []string, q Query) ([]Result, error) {
	ids, scores, err := s.rank(ctx, workspace, kind, words, q)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	docs, err := s.index.Docs(ctx, workspace, kind, ids)
	if err != nil {
		return nil, err
	}
	var list []Result
	for _, d := range docs {
		var r described
		if err := json.Unmarshal(d.JSON, &r); err != nil {
			return nil, fmt.Errorf("read %s: %w", kind, err)
		}
		list = append(list, Result{
			Type: kind, ID: &r.ID, Title: r.Name, Subtitle: r.subtitle(kind), Status: &r.Status,
			Path: folders[kind] + string(r.ID), Actions: r.actions(kind, q.May), score: scores[r.ID],
		})
	}
	return list, nil
}

// rank returns the ids of the best records, the best first, and the scores. The
// text may be an id. Of equally good records, the newest is first.
func (s *Service) rank(ctx context.Context, workspace ident.ID, kind Type, words []string, q Query) ([]ident.ID, map[ident.ID]int, error) {
	if text := strings.TrimSpace(q.Text); ident.Valid(kind.Prefix(), text) {
		id := ident.ID(text)
		return []ident.ID{id}, map[ident.ID]int{id: scoreEqual}, nil
	}
	list, err := s.index.Candidates(ctx, workspace, kind, q.Text, words)
	if err != nil {
		return nil, nil, err
	}
	scores := make(map[ident.ID]int, len(list))
	for _, c := range list {
		scores[c.ID] = score(split(c.Name), words)
		if c.Status == "active" {
			scores[c.ID] += scoreRunning
		}
	}
	slices.SortFunc(list, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(scores[b.ID], scores[a.ID]), cmp.Compare(b.ID, a.ID))
	})
	ids := make([]ident.ID, 0, q.Limit+1)
	for _, c := range list[:min(q.Limit+1, len(list))] {
		ids = append(ids, c.ID)
	}
	return ids, scores, nil
}

// subtitle says what a record is.
func (r *described) subtitle(kind Type) string {
	var parts []string
	switch kind {
	case Campaign:
		parts = append(slices.Clone(r.Channels), r.Tags...)
	case Connection:
		parts = []string{r.Platform}
	default:
		parts = append([]string{r.Type}, r.Tags...)
	}
	return strings.ReplaceAll(strings.Join(parts, " · "), "_", " ")
}

// actions lists what the caller can do with a record.
func (r *described) actions(kind Type, may func(string) bool) []string {
	var list []string
	switch kind {
	case Campaign:
		list = r.AllowedActions
	case Connection:
		list = []string{"update", "disconnect"}
		switch r.Status {
		case "connected", "error":
			list = append(list, "sync")
		case "reauth_required":
			list = append(list, "reconnect")
		case "disconnected":
			list = nil
		}
	default:
		list = []string{"update", "archive"}
		if r.Status == "archived" {
			list = []string{"restore"}
		}
	}
	allowed := []string{}
	for _, action := range list {
		if operation, known := operations[kind][action]; known && may(operation) {
			allowed = append(allowed, action)
		}
	}
	return allowed
}

// Text returns the words by which a record is found: those of its name, its tags
// and the ids that platforms have given it.
func Text(name string, tags []string, refs []record.ExternalRef) []string {
	texts := append([]string{name}, tags...)
	for _, r := range refs {
		texts = append(texts, r.ExternalID)
	}
	return Words(texts...)
}
