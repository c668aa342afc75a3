package search

import (
	"context"

	"fanfare/internal/ident"
	"fanfare/internal/record"
)

// Index finds records by words.
type Index interface {
	// Candidates lists records of a type that have words with each of the given
	// beginnings, and records whose name begins with the text. Archived and
	// disconnected records are not listed. There may be more records than
	// candidates: then the newest records with a whole word, and those whose
	// name begins with the text, are among them.
	Candidates(ctx context.Context, workspace ident.ID, kind Type, text string, words []string) ([]Candidate, error)
	// Docs reads records, in the order of the ids. It omits those that do not
	// exist.
	Docs(ctx context.Context, workspace ident.ID, kind Type, ids []ident.ID) ([]record.Doc, error)
}

// Candidate is a record that may be a result.
type Candidate struct {
	ID ident.ID
	// Name is in lower case.
	Name   string
	Status string
}

// Members lists the active members of a workspace.
type Members interface {
	People(ctx context.Context, workspace ident.ID) ([]Person, error)
}

// Person is a member of a workspace.
type Person struct {
	ID                ident.ID
	Name, Email, Role string
}

// Page is a page of the documentation, or a section of one. Text has further
// words by which it is found.
type Page struct {
	Path, Title, Section, Text string
}

// page is a page with its words. words are sorted.
type page struct {
	Page
	title, words []string
}
