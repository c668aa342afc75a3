// Package ident makes and checks identifiers: a prefix that names the kind, an
// underscore, and a UUIDv7 in 26 characters of Crockford's base 32. They sort
// by time of making and are opaque to clients.
package ident

import (
	"encoding/binary"
	"io"
	"time"
)

// ID is an identifier such as cmp_01m7eed1vefw9bs159p71gx00q.
type ID string

// Prefixes name what an identifier points to.
const (
	Campaign   = "cmp"
	Creative   = "crv"
	Variant    = "var"
	Asset      = "ast"
	Audience   = "aud"
	Connection = "con"
	Event      = "evt"
	Key        = "key"
	User       = "usr"
	Workspace  = "wks"
	Request    = "req"
	AuditEntry = "log"
	Job        = "job"
	Import     = "imp"
	Sync       = "syn"
	Facts      = "fct"
	BrandKit   = "kit"
	SavedView  = "viw"
	Dashboard  = "dsh"
	Annotation = "ann"
)

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// decode maps a character to its value, 0xff for those outside the alphabet.
var decode = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i := range len(alphabet) {
		t[alphabet[i]] = byte(i)
	}
	return t
}()

// New returns a new identifier from a time and randomness. The twelve bits
// after the millisecond contain the fraction of it, so that ids sort in the
// order in which a machine creates them.
func New(prefix string, now time.Time, random io.Reader) ID {
	var b [8]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		panic("ident: no randomness: " + err.Error())
	}
	return Make(prefix, now, binary.BigEndian.Uint64(b[:]))
}

// Make is New with the random bits as a parameter.
func Make(prefix string, now time.Time, random uint64) ID {
	var u [16]byte
	fraction := uint64(now.Nanosecond()%1_000_000) * 4096 / 1_000_000
	binary.BigEndian.PutUint64(u[:8], uint64(now.UnixMilli())<<16|0x7000|fraction)
	binary.BigEndian.PutUint64(u[8:], 1<<63|random>>2)
	return Encode(prefix, u)
}

// Encode writes 128 bits behind a prefix.
func Encode(prefix string, u [16]byte) ID {
	var room [32]byte
	b := append(append(room[:0], prefix...), '_')
	hi, lo := binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])
	for shift := 125; shift >= 0; shift -= 5 {
		var v uint64
		switch {
		case shift >= 64:
			v = hi >> (shift - 64)
		case shift > 59:
			v = hi<<(64-shift) | lo>>shift
		default:
			v = lo >> shift
		}
		b = append(b, alphabet[v&31])
	}
	return ID(b)
}

// Parse returns the 128 bits of an identifier of the given kind. Upper case,
// another prefix or a bad alphabet is not an identifier.
func Parse(prefix, s string) (u [16]byte, ok bool) {
	n := len(prefix)
	if len(s) != n+27 || s[:n] != prefix || s[n] != '_' || s[n+1] > '7' {
		return u, false
	}
	var hi, lo uint64
	for _, c := range []byte(s[n+1:]) {
		v := decode[c]
		if v == 0xff {
			return u, false
		}
		hi, lo = hi<<5|lo>>59, lo<<5|uint64(v)
	}
	binary.BigEndian.PutUint64(u[:8], hi)
	binary.BigEndian.PutUint64(u[8:], lo)
	return u, true
}

// Valid reports whether s is an identifier of the given kind.
func Valid(prefix, s string) bool {
	_, ok := Parse(prefix, s)
	return ok
}
