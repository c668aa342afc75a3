package audience

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/ident"
)

// Definition defines who belongs to an audience. At most one field is set, the
// one of the audience's type. Customer lists and imported audiences have none.
type Definition struct {
	Targeting *Targeting
	Lookalike *Lookalike
}

// Targeting lists the attributes that people must have. An empty list is no
// restriction.
type Targeting struct {
	Countries          []string   `json:"countries"`
	Regions            []string   `json:"regions"`
	Languages          []string   `json:"languages"`
	Age                *Age       `json:"age"`
	Genders            []string   `json:"genders"`
	Interests          []string   `json:"interests"`
	Devices            []string   `json:"devices"`
	IncludeAudienceIDs []ident.ID `json:"include_audience_ids"`
	ExcludeAudienceIDs []ident.ID `json:"exclude_audience_ids"`
}

// Age is a range of years, both included. A nil end is open.
type Age struct {
	Min *int64 `json:"min"`
	Max *int64 `json:"max"`
}

// Lookalike selects people who are similar to another audience.
type Lookalike struct {
	SeedAudienceID ident.ID `json:"seed_audience_id"`
	Countries      []string `json:"countries"`
	SizePercent    int64    `json:"size_percent"`
}

// MarshalJSONTo writes the fields of the definition that is set.
func (d Definition) MarshalJSONTo(e *jsontext.Encoder) error {
	var v any = struct{}{}
	switch {
	case d.Targeting != nil:
		v = d.Targeting
	case d.Lookalike != nil:
		v = d.Lookalike
	}
	if err := json.MarshalEncode(e, v); err != nil {
		return fmt.Errorf("encode definition: %w", err)
	}
	return nil
}

// UnmarshalJSONFrom parses the output of MarshalJSONTo. Only a lookalike has a
// seed, and only targeting has regions.
func (d *Definition) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	text, err := from.ReadValue()
	if err != nil {
		return fmt.Errorf("read definition: %w", err)
	}
	var t Targeting
	var l Lookalike
	for _, v := range []any{&t, &l} {
		if err := json.Unmarshal(text, v); err != nil {
			return fmt.Errorf("decode definition: %w", err)
		}
	}
	*d = Definition{}
	switch {
	case l.SeedAudienceID != "":
		d.Lookalike = &l
	case t.Regions != nil:
		d.Targeting = &t
	}
	return nil
}

// audienceRef is an audience that a definition names.
type audienceRef struct {
	field string
	id    ident.ID
}

// references lists the audiences that the definition names.
func (d Definition) references() []audienceRef {
	var list []audienceRef
	if t := d.Targeting; t != nil {
		for i, id := range t.IncludeAudienceIDs {
			list = append(list, audienceRef{fmt.Sprintf("definition.include_audience_ids[%d]", i), id})
		}
		for i, id := range t.ExcludeAudienceIDs {
			list = append(list, audienceRef{fmt.Sprintf("definition.exclude_audience_ids[%d]", i), id})
		}
	}
	if l := d.Lookalike; l != nil && l.SeedAudienceID != "" {
		list = append(list, audienceRef{"definition.seed_audience_id", l.SeedAudienceID})
	}
	return list
}
