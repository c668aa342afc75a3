package chtest

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library is the ClickHouse engine as a shared library, with one database folder.
// A connection of it runs one statement at a time.
type library struct {
	conn unsafe.Pointer

	query         func(conn unsafe.Pointer, query string, queryLen uintptr, format string, formatLen uintptr, names, nameLens, values, valueLens unsafe.Pointer, n uintptr) unsafe.Pointer
	insert        func(conn unsafe.Pointer, query string, queryLen uintptr, format string, formatLen uintptr) unsafe.Pointer
	insertAppend  func(stream, data unsafe.Pointer, n uintptr) int32
	insertDone    func(stream unsafe.Pointer) unsafe.Pointer
	insertError   func(stream unsafe.Pointer) string
	insertDestroy func(stream unsafe.Pointer)
	buffer        func(result unsafe.Pointer) unsafe.Pointer
	length        func(result unsafe.Pointer) uintptr
	failure       func(result unsafe.Pointer) string
	destroy       func(result unsafe.Pointer)
}

// load loads the library and opens a folder.
func load(file, dir string) (*library, error) {
	handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	l := &library{}
	var connect func(argc int32, argv unsafe.Pointer) *unsafe.Pointer
	for name, f := range map[string]any{
		"chdb_connect": &connect, "chdb_query_with_params_n": &l.query, "chdb_stream_insert_n": &l.insert, "chdb_stream_append": &l.insertAppend,
		"chdb_stream_done": &l.insertDone, "chdb_stream_insert_error": &l.insertError, "chdb_destroy_insert_stream": &l.insertDestroy,
		"chdb_result_buffer": &l.buffer, "chdb_result_length": &l.length, "chdb_result_error": &l.failure, "chdb_destroy_query_result": &l.destroy,
	} {
		purego.RegisterLibFunc(f, handle, name)
	}
	argv := []*byte{cString("clickhouse"), cString("--path=" + dir), nil}
	conn := connect(int32(len(argv)-1), unsafe.Pointer(&argv[0]))
	runtime.KeepAlive(argv)
	if conn == nil {
		return nil, errors.New("the engine did not open " + dir)
	}
	l.conn = *conn
	return l, nil
}

func cString(s string) *byte { return &append([]byte(s), 0)[0] }

// run executes a statement with parameters.
func (l *library) run(text string, params map[string]string) ([]byte, error) {
	var names, values []*byte
	var nameLens, valueLens []uintptr
	for name, value := range params {
		names, nameLens = append(names, cString(name)), append(nameLens, uintptr(len(name)))
		values, valueLens = append(values, cString(value)), append(valueLens, uintptr(len(value)))
	}
	var pointers [4]unsafe.Pointer
	if len(names) > 0 {
		pointers = [...]unsafe.Pointer{unsafe.Pointer(&names[0]), unsafe.Pointer(&nameLens[0]), unsafe.Pointer(&values[0]), unsafe.Pointer(&valueLens[0])}
	}
	const format = "TabSeparated"
	result := l.query(l.conn, text, uintptr(len(text)), format, uintptr(len(format)), pointers[0], pointers[1], pointers[2], pointers[3], uintptr(len(names)))
	runtime.KeepAlive([]any{names, nameLens, values, valueLens})
	return l.take(result)
}

// take copies a result and frees it.
func (l *library) take(result unsafe.Pointer) ([]byte, error) {
	if result == nil {
		return nil, errors.New("the engine returned nothing")
	}
	defer l.destroy(result)
	if text := l.failure(result); text != "" {
		return nil, errors.New(text)
	}
	n := l.length(result)
	if n == 0 {
		return nil, nil
	}
	return append([]byte(nil), unsafe.Slice((*byte)(l.buffer(result)), n)...), nil
}

// store executes an INSERT … FORMAT … with data.
func (l *library) store(text string, data []byte) error {
	i := strings.LastIndex(text, " FORMAT ")
	if i < 0 {
		return fmt.Errorf("an INSERT with data needs a FORMAT: %s", text)
	}
	statement, format := text[:i], text[i+len(" FORMAT "):]
	stream := l.insert(l.conn, statement, uintptr(len(statement)), format, uintptr(len(format)))
	defer l.insertDestroy(stream)
	if text := l.insertError(stream); text != "" {
		return errors.New(text)
	}
	if len(data) > 0 && l.insertAppend(stream, unsafe.Pointer(&data[0]), uintptr(len(data))) != 0 {
		return errors.New(l.insertError(stream))
	}
	runtime.KeepAlive(data)
	_, err := l.take(l.insertDone(stream))
	return err
}
