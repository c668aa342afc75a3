package page

import "testing"

// FuzzParseCursor parses text that another version may have sealed: parseCursor
// must reject or read it, and never read past its end.
func FuzzParseCursor(f *testing.F) {
	for _, seed := range []string{"", "\x01", "\x01\x00\x02\x01xa=b", "\x01\x02\x01a\x01bq", "\x01\x01\x00", "\x02\x00\x00\x00", "\x01\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a", "\x01\x00\x80"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		c, ok := parseCursor(plain)
		if ok && len(c.After.Text)+len(c.After.ID)+len(c.Params) > len(plain) {
			t.Fatalf("got %+v out of %d bytes", c, len(plain))
		}
	})
}
