package body

import "fanfare/internal/fault"

// Problems are the problems of a body. Only as many as a response lists are
// stored, so that thousands of problems cost no more than fifty.
type Problems struct {
	List []fault.Detail
	// more counts the problems that are not in the list.
	more int
	// cut is true if the body was not read to its end.
	cut bool
}

func (p *Problems) full() bool { return len(p.List) >= fault.MaxDetails }

// Add adds problems. Those beyond fault.MaxDetails are only counted.
func (p *Problems) Add(details ...fault.Detail) {
	for _, d := range details {
		if p.full() {
			p.more++
			continue
		}
		p.List = append(p.List, d)
	}
}

// Err returns all problems as one fault, nil if there are none.
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

// Bad adds a problem of the member at path. The message continues after the
// path, for example "must be a string.".
func (f *Reader) Bad(path, code, message string, meta fault.Meta) {
	if f.Problems.full() {
		f.Problems.more++
		return
	}
	f.Problems.Add(fault.Detail{Field: path, In: "body", Code: code, Message: path + " " + message, Meta: meta})
}

// Advise adds advice to the problems of read-only members: how to change them
// instead.
func (f *Reader) Advise(advice map[string]string) {
	for i, d := range f.Problems.List {
		if d.Code == "read_only" && advice[d.Field] != "" {
			f.Problems.List[i].Message += " " + advice[d.Field]
		}
	}
}
