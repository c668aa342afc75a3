package fact

import "errors"

// FileLimits limit how much of a Parquet file is read.
type FileLimits struct {
	Rows, Columns int
	// Cells is the maximum number of cells: rows times columns.
	Cells int
	// Cell is the maximum size of the text of one cell, Text that of all cells
	// together, in bytes.
	Cell, Text int
}

// FileTooLargeError names the limit that a file exceeds.
type FileTooLargeError struct{ What string }

func (e *FileTooLargeError) Error() string { return "the file is too large: " + e.What }

// ErrUnreadableFile means that a file is damaged or not in the expected format.
var ErrUnreadableFile = errors.New("the file cannot be read")
