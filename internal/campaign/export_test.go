package campaign

import "fanfare/internal/body"

// Batches are small in tests, so that a few campaigns fill two.
func init() { batchSize = 20 }

var defaults = Defaults{Timezone: "UTC", Currency: "USD"}

// ReadSpec reads a body as Create does, without looking up ids.
func ReadSpec(text []byte) (Spec, error) {
	v, err := body.Parse(text)
	if err != nil {
		return Spec{}, err
	}
	return readWithoutLookup(body.NewReader(&v, false))
}

// PatchSpec reads a body as Update of a record does, without looking up ids.
func PatchSpec(current, patch []byte) (Spec, error) {
	v, err := body.Parse(patch)
	if err != nil {
		return Spec{}, err
	}
	f, err := body.Merge(current, v, readOnly)
	if err != nil {
		return Spec{}, err
	}
	return readWithoutLookup(f)
}

func readWithoutLookup(f *body.Reader) (Spec, error) {
	spec := readSpec(f, defaults)
	f.Done(readOnly...)
	return spec, f.Err()
}
