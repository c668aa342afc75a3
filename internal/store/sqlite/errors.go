package sqlite

import (
	"errors"
	"fmt"

	"fanfare/internal/store"
)

const (
	codeBusy      = 5
	codeNoMemory  = 7
	codeReadOnly  = 8
	codeInterrupt = 9
	codeIO        = 10
	codeCorrupt   = 11
	codeFull      = 13
	codeCantOpen  = 14
	codeNotADB    = 26

	// codeNoIndex says that the index of the log could not grow.
	codeNoIndex = 4874

	codeConstraint = 19
	codePrimaryKey = 1555
	codeUnique     = 2067
)

// codeError is an error of SQLite with its extended result code.
type codeError struct {
	code int
	text string
}

func (e *codeError) Error() string { return fmt.Sprintf("sqlite: %s (%d)", e.text, e.code) }

// primaryCode returns the code without its extension.
func (e *codeError) primaryCode() int {
	if e.code < 0 {
		return e.code
	}
	return e.code & 0xff
}

// full reports whether the disk has no space left.
func full(err error) bool {
	var code *codeError
	return errors.As(err, &code) && (code.primaryCode() == codeFull || code.code == codeNoIndex)
}

func classify(code int, text string) error {
	err := &codeError{code: code, text: text}
	if code == codeUnique || code == codePrimaryKey {
		return &store.UniqueError{Cause: err}
	}
	switch err.primaryCode() {
	case codeBusy, codeNoMemory, codeReadOnly, codeIO, codeFull, codeCantOpen:
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	case codeCorrupt, codeNotADB:
		return fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return err
}
