package body

import "fanfare/internal/fault"

// Problems are what is wrong with a body. Only as many as an answer lists are
// kept, so that a body with thousands of them costs no more than one with
// fifty.
type Problems struct {
	List []fault.Detail
	// more counts the problems that are not in the list.
	more int
	// cut says that the body was not read to its end.
	cut bool
}

func (p *Problems) full() bool { return len(p.List) >= fault.MaxDetails }

// Add adds problems; those beyond fault.MaxDetails are only counted.
func (p *Problems) Add(details ...fault.Detail) {
	for _, d := range details {
		if p.full() {
			p.more++
			continue
		}
		p.List = append(p.List, d)
	}
}

// Err returns all problems as one fault.
func (f *Reader) Err() error {
	p := f.Problems
	if len(p.List) == 0 {
		return nil
	}
	e := fault.InvalidOf(p.List, len(p.List)+p.more)
	if p.cut {
		e.Message = "At least " + e.Message
	}
	return e
}

// Bad adds a problem with the member at path. The message goes on from the
// path: "must be a string."
func (f *Reader) Bad(path, code, message string, meta fault.Meta) {
	if f.Problems.full() {
		f.Problems.more++
		return
	}
	f.Problems.Add(fault.Detail{Field: path, In: "body", Code: code, Message: path + " " + message, Meta: meta})
}

// Advise adds to the refusal of a read-only member how it is changed instead.
func (f *Reader) Advise(advice map[string]string) {
	for i, d := range f.Problems.List {
		if d.Code == "read_only" && advice[d.Field] != "" {
			f.Problems.List[i].Message += " " + advice[d.Field]
		}
	}
}

// ErrWith returns all that is wrong with a body at once: where its fields are
// wrong, the references in it are looked up here too, because the service
// would not get to see them.
func (f *Reader) ErrWith(dangling func() ([]fault.Detail, error)) error {
	if f.Err() == nil {
		return nil
	}
	more, err := dangling()
	if err != nil {
		return err
	}
	f.Problems.Add(more...)
	return f.Err()
}
