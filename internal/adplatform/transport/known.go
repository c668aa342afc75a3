package transport

import (
	"slices"
	"strconv"
	"strings"

	"fanfare/internal/connection"
)

// KnownError is an error that a platform documents, with what can be done about
// it.
type KnownError struct {
	// Code is the platform's code, with a subcode or a reason after a slash. A
	// code without one has any. The first part can be a range of numbers, such
	// as 200-299, or * for any code.
	Code string
	// Text is a part of the message in lower case, for errors whose code alone
	// does not say what they are.
	Text  string
	Class connection.Class
	// Remedy is what a person can do, in the platform's words for its menus. It
	// is empty if the error goes away by itself, or if nothing is better than
	// what all errors of the class have in common.
	Remedy string
	// Source is the page or the file of the platform's SDK that documents it.
	Source string
}

// Source is the page or the file that documents errors.
type Source string

// Errors returns rows for codes with the same class and remedy.
func (s Source) Errors(class connection.Class, remedy string, codes ...string) ErrorTable {
	var rows ErrorTable
	for _, code := range codes {
		rows = append(rows, KnownError{Code: code, Class: class, Remedy: remedy, Source: string(s)})
	}
	return rows
}

// Text returns a row for errors with a code and a part of the message.
func (s Source) Text(class connection.Class, remedy, code, text string) ErrorTable {
	return ErrorTable{{Code: code, Text: text, Class: class, Remedy: remedy, Source: string(s)}}
}

// ErrorTable has the errors of a platform. The first row that matches counts, so
// rows with a subcode or a text come before the row of their code.
type ErrorTable []KnownError

// Find returns the row of an error that has one or more codes, nil if there is
// none.
func (t ErrorTable) Find(message string, codes ...string) *KnownError {
	message = strings.ToLower(message)
	for i := range t {
		row := &t[i]
		if strings.Contains(message, row.Text) && slices.ContainsFunc(codes, row.matches) {
			return row
		}
	}
	return nil
}

// matches reports whether the row is for a code.
func (k *KnownError) matches(code string) bool {
	ownMain, ownSub, specific := strings.Cut(k.Code, "/")
	main, sub, _ := strings.Cut(code, "/")
	if specific && ownSub != sub {
		return false
	}
	if ownMain == "*" || ownMain == main {
		return true
	}
	from, to, isRange := strings.Cut(ownMain, "-")
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	n, err3 := strconv.Atoi(main)
	return isRange && err1 == nil && err2 == nil && err3 == nil && first <= n && n <= last
}

// Explain returns the error of a consent page that sent a person back with a
// code, nil if the table does not have it. Key is the code as rows have it.
func (t ErrorTable) Explain(key, code string) *connection.Error {
	row := t.Find("", key)
	if row == nil || code == "" {
		return nil
	}
	return &connection.Error{Class: row.Class, Code: code, Message: "Access was not granted.", Remedy: row.Remedy}
}

// Apply sets the class and the remedy of an error to those of the row. It does
// nothing for a nil row.
func (k *KnownError) Apply(e *connection.Error) {
	if k != nil {
		e.Class, e.Remedy = k.Class, k.Remedy
	}
}
