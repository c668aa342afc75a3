package audience

import (
	"context"
	"fmt"
	"slices"

	"fanfare/internal/body"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// readOnly lists the fields that callers cannot write.
var readOnly = []string{
	"id", "type", "status", "size", "size_by_connection", "external_refs", "version", "created_by", "created_at", "updated_at", "archived_at",
}

// readNew parses the audience of a create request.
func readNew(f *body.Reader) Spec {
	kind := TypeTargeting
	chosen := f.Choice("type", body.Optional, Creatable)
	if chosen != nil {
		kind = Type(*chosen)
	}
	spec := readSpec(f)
	// The fields of the definition depend on the type, so skip it if the type
	// is invalid.
	if f.Skip("definition"); chosen != nil || f.Object.Get("type") == nil {
		spec.Type, spec.Definition = kind, readDefinition(f, kind)
	}
	f.Done(readOnly...)
	return spec
}

// readPatch applies a merge patch and parses the result. The type cannot
// change, nor can the definition of a platform audience.
func readPatch(a *Audience, patch *body.Value) (*body.Reader, Spec, error) {
	fixed := readOnly
	if a.Type == TypePlatform {
		fixed = append(slices.Clone(fixed), "definition")
	}
	f, err := body.Merge(a.Stored().JSON, *patch, fixed)
	if err != nil {
		return nil, Spec{}, err
	}
	spec := readSpec(f)
	spec.Type, spec.Definition = a.Type, a.Definition
	if a.Type != TypePlatform {
		spec.Definition = readDefinition(f, a.Type)
	}
	f.Done()
	return f, spec, nil
}

// checkSpec reports all problems at once, in the fields and in new ids.
func (s *Service) checkSpec(ctx context.Context, workspace, id ident.ID, f *body.Reader, was, next *Spec) error {
	dangling, err := s.missingRefs(ctx, workspace, id, was, next)
	if err != nil {
		return err
	}
	f.Problems.Add(dangling...)
	return f.Err()
}

// readSpec reads the writable fields that every type has. Absent fields get
// their defaults.
func readSpec(f *body.Reader) Spec {
	s := Spec{
		Description: f.Text("description", body.Nullable, 0, MaxDescription),
		Tags:        f.Tags(),
		Metadata:    f.Metadata(),
	}
	body.Set(&s.Name, f.Text("name", body.Required, 1, MaxName))
	return s
}

// readDefinition reads the definition of the type.
func readDefinition(f *body.Reader, kind Type) (d Definition) {
	if kind == TypeLookalike {
		if o := f.Nested("definition", body.Required); o != nil {
			d.Lookalike = readLookalike(o)
		}
		return d
	}
	o := f.Nested("definition", body.Optional)
	if o == nil {
		o = body.NewReader(&body.Value{Kind: body.KindObject}, false)
	}
	if kind == TypeTargeting {
		d.Targeting = readTargeting(o)
	}
	o.Done()
	return d
}

func readLookalike(o *body.Reader) *Lookalike {
	l := Lookalike{Countries: readCountries(o)}
	body.Set(&l.SeedAudienceID, o.ID("seed_audience_id", body.Required))
	body.Set(&l.SizePercent, o.Integer("size_percent", body.Required, MinPercent, MaxPercent))
	o.Done()
	return &l
}

func readTargeting(o *body.Reader) *Targeting {
	t := Targeting{
		Countries: readCountries(o),
		Regions:   o.Texts("regions", MaxItems, MaxWord),
		Languages: o.List("languages", MaxItems, func(path, item string) (string, bool) {
			return item, o.CheckLanguage(path, item)
		}),
		Genders:            o.Choices("genders", len(Genders), Genders),
		Interests:          o.Texts("interests", MaxItems, MaxWord),
		Devices:            o.Choices("devices", len(Devices), Devices),
		IncludeAudienceIDs: o.IDs("include_audience_ids", MaxItems),
		ExcludeAudienceIDs: o.IDs("exclude_audience_ids", MaxItems),
	}
	if age := o.Nested("age", body.Nullable); age != nil {
		t.Age = &Age{
			Min: age.Integer("min", body.Nullable, MinAge, MaxAge),
			Max: age.Integer("max", body.Nullable, MinAge, MaxAge),
		}
		if least, most := t.Age.Min, t.Age.Max; least != nil && most != nil && *most < *least {
			age.Bad(age.At("max"), "too_small", "must not be less than min.", fault.Meta{"minimum": *least})
		}
		age.Done()
	}
	for i, id := range t.ExcludeAudienceIDs {
		if slices.Contains(t.IncludeAudienceIDs, id) {
			o.Bad(o.At(fmt.Sprintf("exclude_audience_ids[%d]", i)), "duplicate_item", "is in include_audience_ids too; an audience cannot be both.", fault.Meta{"id": id})
		}
	}
	return &t
}

func readCountries(o *body.Reader) []string {
	return o.List("countries", MaxItems, func(path, item string) (string, bool) {
		if !IsCountry(item) {
			o.Bad(path, "invalid_value", "must be an ISO 3166 country code of two capital letters, such as DE.", nil)
			return "", false
		}
		return item, true
	})
}

// readMembers parses the hashes to add and to remove. Error messages never
// repeat an item, because it may be an email address in plain text.
func readMembers(f *body.Reader) (m MemberChange) {
	adds := map[string]bool{}
	read := func(name string, check func(path, item string) bool) []string {
		return f.List(name, MaxMembers, func(path, item string) (string, bool) {
			if !isHash(item) {
				f.Bad(path, "invalid_format", "must be a SHA-256 in 64 lower-case hexadecimal digits; addresses in clear are refused.", nil)
				return "", false
			}
			return item, check(path, item)
		})
	}
	m.Add = read("add", func(_, item string) bool {
		adds[item] = true
		return true
	})
	m.Remove = read("remove", func(path, item string) bool {
		if adds[item] {
			f.Bad(path, "duplicate_item", "is in add too; a member cannot come and go at once.", nil)
		}
		return !adds[item]
	})
	if n := len(m.Add) + len(m.Remove); n > MaxMembers {
		f.Bad("remove", "too_many_items", fmt.Sprintf("and add must have at most %d items together; they have %d.", MaxMembers, n), fault.Meta{"maximum": MaxMembers, "actual": n})
	}
	f.Done()
	return m
}

// isHash reports whether s is a SHA-256 hash in lower-case hexadecimal.
func isHash(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 64
}
