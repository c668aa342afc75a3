package record

// Usability says whether campaigns can use a record that they refer to. The
// zero value is usable.
type Usability struct {
	Archived bool
	// Issue is the code of the delivery issue that makes the record unusable,
	// or empty.
	Issue string
	// OwnData marks a connection for the caller's own data: the caller delivers
	// the campaign through other means.
	OwnData bool
}
