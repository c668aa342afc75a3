package datadir

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// Part is a range of bytes of a file.
type Part struct {
	Offset int64
	Length int
}

// Written is the size, the time and some bytes of a file after the last write of
// its only writer. Unchanged and Same compare size and time. If only the time
// differs, for example after touch, Touched compares the bytes of parts that every
// write of the writer changes.
type Written struct {
	info    os.FileInfo
	at      change
	parts   []Part
	content []byte
}

// change is the size of a file and the time of its last change, in nanoseconds
// since 1970.
type change struct{ size, time int64 }

func changeOf(info os.FileInfo) change { return change{info.Size(), info.ModTime().UnixNano()} }

// ReadWritten reads the state of a file. Its writer must not write meanwhile.
func ReadWritten(f *os.File, parts ...Part) (*Written, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	content, err := readParts(f, parts)
	return &Written{info, changeOf(info), parts, content}, err
}

// readParts reads the parts, as far as the file has them.
func readParts(f io.ReaderAt, parts []Part) ([]byte, error) {
	var all []byte
	for _, p := range parts {
		b := make([]byte, p.Length)
		n, err := f.ReadAt(b, p.Offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		all = append(all, b[:n]...)
	}
	return all, nil
}

// Content returns the bytes of the parts.
func (w *Written) Content() []byte { return w.content }

// Info returns the os.FileInfo of the file at the time of the write.
func (w *Written) Info() os.FileInfo { return w.info }

// Unchanged reports whether the open file has the size and the time that it
// had. It costs one system call and no memory. A file that cannot be looked at
// is not said to be another one.
func (w *Written) Unchanged(f *os.File) bool {
	now, err := lastChange(f)
	return err != nil || now == w.at
}

// Same is Unchanged with the current os.FileInfo of the file.
func (w *Written) Same(now os.FileInfo) bool { return changeOf(now) == w.at }

// SameContent reports whether the recorded parts of the file still have the
// same bytes. It returns true for a file that cannot be read.
func (w *Written) SameContent(f io.ReaderAt) bool {
	content, err := readParts(f, w.parts)
	return err != nil || bytes.Equal(content, w.content)
}

// Touched returns w at another time, if the file has the size and the bytes
// that it had, and nil if it does not.
func (w *Written) Touched(now os.FileInfo, f io.ReaderAt) *Written {
	if now.Size() != w.at.size || !w.SameContent(f) {
		return nil
	}
	return &Written{now, changeOf(now), w.parts, w.content}
}
