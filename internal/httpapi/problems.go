package httpapi

import "fanfare/internal/fault"

// problems are what is wrong with a body. Only as many as an answer lists are
// kept, so that a body with thousands of them costs no more than one with
// fifty.
type problems struct {
	list []fault.Detail
	// more counts the problems that are not in the list.
	more int
	// cut says that the body was not read to its end.
	cut bool
}

func (p *problems) full() bool { return len(p.list) >= fault.MaxDetails }

func (p *problems) add(details ...fault.Detail) {
	for _, d := range details {
		if p.full() {
			p.more++
			continue
		}
		p.list = append(p.list, d)
	}
}

// err returns all problems as one fault.
func (f *fields) err() error {
	p := f.problems
	if len(p.list) == 0 {
		return nil
	}
	e := fault.InvalidOf(p.list, len(p.list)+p.more)
	if p.cut {
		e.Message = "At least " + e.Message
	}
	return e
}

func (f *fields) bad(path, code, message string, meta fault.Meta) {
	if f.problems.full() {
		f.problems.more++
		return
	}
	f.problems.add(fault.Detail{Field: path, In: "body", Code: code, Message: path + " " + message, Meta: meta})
}
