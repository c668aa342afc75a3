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

// How many rows and bytes are handed over at once.
const (
	parquetChunk      = 1000
	parquetChunkBytes = 1 << 20
)

// Parquet reads uploaded Parquet files. It needs no facts.
type Parquet struct {
	// Dir is the folder for the file while it is read.
	Dir string
}

// ReadParquet gives every cell of a Parquet file as text, some rows at a time:
// days as YYYY-MM-DD, decimals exactly, what is null as "", and nothing of
// columns that hold lists or records. The rows belong to each.
//
// Choice: a process of its own reads the file. DuckDB's reader trusts the sizes
// that a file announces and does not count what it allocates for some of them,
// so that 26 bytes can make it ask for gigabytes. That process may use so much
// memory and no more, and whatever a hostile file does to it, the server and
// the facts are out of its reach.
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
	var trouble bytes.Buffer
	c := exec.CommandContext(ctx, self)
	c.Args = []string{parquetReader, name, strconv.Itoa(b.Rows), strconv.Itoa(b.Columns), strconv.Itoa(b.Cells), strconv.Itoa(b.Cell), strconv.Itoa(b.Text)}
	// Nothing of the server's environment is this process's business.
	c.Env = []string{"GOTRACEBACK=none"}
	c.Stderr = &limitedBuffer{&trouble, 4 << 10}
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
		return fmt.Errorf("%w: its reader ended early: %w: %s", fact.ErrUnreadableFile, died, trouble.Bytes())
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

// What a message of the reader begins with. Columns and rows are a number of
// texts, the others one text that says why nothing more follows.
const (
	saysColumns    = 'C'
	saysRow        = 'R'
	saysDone       = 'D'
	saysTooLarge   = 'L'
	saysUnreadable = 'U'
)

// receive reads the messages of a reader to their end. Without a last one the
// error is io.ErrUnexpectedEOF.
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
		case saysColumns:
			columns = texts
			continue
		case saysRow:
			rows, size = append(rows, texts), size+n
			if len(rows) < parquetChunk && size < parquetChunkBytes {
				continue
			}
		case saysDone:
			if len(rows) == 0 {
				return nil
			}
			return each(columns, rows)
		case saysTooLarge:
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

// messages reads what a process says that a hostile file may have taken over.
type messages struct {
	in *bufio.Reader
	b  fact.FileLimits
	// total is how many bytes of text there were.
	total int
}

// texts reads the texts of a message and how many bytes they have.
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
