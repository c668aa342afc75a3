package duckdb

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"fanfare/internal/fact"
)

// How many rows and bytes are passed to each at once.
const (
	parquetChunk      = 1000
	parquetChunkBytes = 1 << 20
)

// Parquet reads uploaded Parquet files. It needs no facts.
type Parquet struct {
	// Dir is the folder for the file while it is read.
	Dir string
}

// ReadParquet passes every cell of a Parquet file as text to each, some rows at a
// time: days as YYYY-MM-DD, decimals exactly, null as "", and columns with lists
// or records as empty. each may keep the rows.
//
// Choice: a child process reads the file, because DuckDB does not limit memory
// for sizes in the file: 26 bytes can make it allocate gigabytes. The process has
// a memory limit. A malicious file can crash only this process.
func (p Parquet) ReadParquet(ctx context.Context, file []byte, b fact.FileLimits, each func(columns []string, rows [][]string) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read parquet: %w", err)
		}
	}()
	name, err := spoolFile(p.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(name)) }()
	if err := os.WriteFile(name, file, 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	self := "/proc/self/exe"
	if runtime.GOOS != "linux" {
		if self, err = os.Executable(); err != nil {
			return err
		}
	}
	var stderr bytes.Buffer
	c := exec.CommandContext(ctx, self)
	c.Args = []string{parquetReader, name, strconv.Itoa(b.Rows), strconv.Itoa(b.Columns), strconv.Itoa(b.Cells), strconv.Itoa(b.Cell), strconv.Itoa(b.Text)}
	// The process gets no environment of the server.
	c.Env = []string{"GOTRACEBACK=none"}
	c.Stderr = &limitedBuffer{&stderr, 4 << 10}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	err = receive(bufio.NewReaderSize(out, 64<<10), b, each)
	cancel()
	if died := c.Wait(); errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: its reader ended early: %w: %s", fact.ErrUnreadableFile, died, stderr.Bytes())
	}
	return err
}

// limitedBuffer keeps the first bytes and drops the rest.
type limitedBuffer struct {
	*bytes.Buffer
	most int
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	_, _ = b.Buffer.Write(p[:max(0, min(len(p), b.most-b.Len()))])
	return len(p), nil
}

// The first byte of a message of the reader. Columns and rows are a number of
// texts, the others one text with the reason why nothing follows.
const (
	columnsMessage    = 'C'
	rowMessage        = 'R'
	doneMessage       = 'D'
	tooLargeMessage   = 'L'
	unreadableMessage = 'U'
)

// receive reads all messages of a reader. Without the last one the error is
// io.ErrUnexpectedEOF.
func receive(in *bufio.Reader, b fact.FileLimits, each func(columns []string, rows [][]string) error) error {
	m := messages{in: in, b: b}
	var columns []string
	var rows [][]string
	size := 0
	for {
		kind, err := in.ReadByte()
		if err != nil {
			return io.ErrUnexpectedEOF
		}
		texts, n, err := m.texts()
		if err != nil {
			return err
		}
		switch kind {
		case columnsMessage:
			columns = texts
			continue
		case rowMessage:
			rows, size = append(rows, texts), size+n
			if len(rows) < parquetChunk && size < parquetChunkBytes {
				continue
			}
		case doneMessage:
			if len(rows) == 0 {
				return nil
			}
			return each(columns, rows)
		case tooLargeMessage:
			return &fact.FileTooLargeError{What: strings.Join(texts, " ")}
		default:
			return fmt.Errorf("%w: %s", fact.ErrUnreadableFile, strings.Join(texts, " "))
		}
		full := rows
		rows, size = nil, 0
		if err := each(columns, full); err != nil {
			return err
		}
	}
}

// messages reads the messages from a process that may be compromised.
type messages struct {
	in *bufio.Reader
	b  fact.FileLimits
	// total is the number of bytes of text so far.
	total int
}

// texts reads the texts of a message. size is their number of bytes.
func (m *messages) texts() (list []string, size int, err error) {
	n, err := m.number(max(m.b.Columns, 1))
	if err != nil {
		return nil, 0, err
	}
	list = make([]string, n)
	for i := range n {
		length, err := m.number(max(m.b.Cell, maxColumnName))
		if err != nil {
			return nil, 0, err
		}
		if length == 0 {
			continue
		}
		text := make([]byte, length)
		if _, err := io.ReadFull(m.in, text); err != nil {
			return nil, 0, io.ErrUnexpectedEOF
		}
		list[i], size = string(text), size+length
	}
	if m.total += size; m.total > 8*m.b.Text+1<<20 {
		return nil, 0, io.ErrUnexpectedEOF
	}
	return list, size, nil
}

func (m *messages) number(most int) (int, error) {
	n, err := binary.ReadUvarint(m.in)
	if err != nil || n > uint64(most) {
		return 0, io.ErrUnexpectedEOF
	}
	return int(n), nil
}
