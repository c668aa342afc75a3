package httpapi

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/nearest"
	"fanfare/internal/record"
)

// fields reads the members of one JSON object. It never stops at a problem:
// all of them are counted and the first are collected, each with the path of
// its member. A reading method says which members there are; what is left over
// at the end is unknown.
type fields struct {
	object   *value
	path     string
	read     map[string]bool
	problems *problems
	// patch says that the object is the result of a merge patch, where null
	// in a map removes the key.
	patch bool
}

func newFields(object *value, patch bool) *fields {
	f := &fields{object: object, read: map[string]bool{}, problems: &problems{cut: object.cut}, patch: patch}
	if object.cut {
		f.problems.add(fault.Detail{
			In: "body", Code: "too_many_items", Message: fmt.Sprintf("A JSON object in the body has more than %d members. What follows them was not read.", maxMembers),
			Meta: fault.Meta{"maximum": maxMembers},
		})
	}
	return f
}

// at is the path of a member. The name may be one that the caller made up.
func (f *fields) at(name string) string {
	name = fault.Clip(name)
	if f.path == "" {
		return name
	}
	return f.path + "." + name
}

// presence of a member.
type presence int

const (
	required presence = iota // must be there and not null
	optional                 // may be absent, but not null
	nullable                 // may be absent or null
)

// take finds a member and settles absence and null. It returns nil when there
// is nothing to read.
func (f *fields) take(name string, p presence) *value {
	f.read[name] = true
	v := f.object.get(name)
	switch {
	case v == nil && p == required && f.problems.cut:
		// It may be in the part that was not read.
		return nil
	case v == nil && p == required:
		f.bad(f.at(name), "required", "is required.", nil)
		return nil
	case v == nil:
		return nil
	case v.kind == kindNull && p != nullable:
		f.bad(f.at(name), "not_nullable", "cannot be null.", nil)
		return nil
	case v.kind == kindNull:
		return nil
	}
	return v
}

func (f *fields) typed(name string, p presence, kind func(*value) bool, want string) *value {
	v := f.take(name, p)
	if v != nil && !kind(v) {
		f.bad(f.at(name), "invalid_type", "must be "+want+".", fault.Meta{"expected": want})
		return nil
	}
	return v
}

func isString(v *value) bool { return v.kind == kindString }

// text reads a string of so many characters. Where least is above 0, at least
// one must not be a space.
func (f *fields) text(name string, p presence, least, most int) *string {
	v := f.typed(name, p, isString, "a string")
	if v == nil || !f.checkText(f.at(name), v.text, least, most) {
		return nil
	}
	return &v.text
}

func (f *fields) checkText(path, s string, least, most int) bool {
	n := utf8.RuneCountInString(s)
	switch {
	case n < least || least > 0 && strings.TrimFunc(s, unicode.IsSpace) == "":
		f.bad(path, "too_short", fmt.Sprintf("must have at least %d visible character.", least), fault.Meta{"minimum": least})
	case n > most:
		f.bad(path, "too_long", fmt.Sprintf("must have at most %d characters; it has %d.", most, n), fault.Meta{"maximum": most, "actual": n})
	case strings.ContainsRune(s, 0):
		f.bad(path, "invalid_value", "must not contain the character U+0000.", nil)
	default:
		return true
	}
	return false
}

// choice reads one of the allowed strings.
func (f *fields) choice(name string, p presence, allowed []string) *string {
	if p == required && f.object.get(name) == nil && !f.problems.cut {
		f.read[name] = true
		f.bad(f.at(name), "required", "is required: "+record.Words(allowed)+".", fault.Meta{"allowed": allowed})
		return nil
	}
	v := f.typed(name, p, isString, "a string")
	if v == nil || !f.checkChoice(f.at(name), v.text, allowed) {
		return nil
	}
	return &v.text
}

func (f *fields) checkChoice(path, s string, allowed []string) bool {
	if slices.Contains(allowed, s) {
		return true
	}
	message, meta := notOneOf(s, allowed)
	f.bad(path, "invalid_value", message, meta)
	return false
}

// integer reads a whole number within bounds; 1.0 and 1e3 are not integers.
func (f *fields) integer(name string, p presence, least, most int64) *int64 {
	v := f.typed(name, p, func(v *value) bool { return v.kind == kindNumber && !strings.ContainsAny(v.text, ".eE") }, "an integer")
	if v == nil {
		return nil
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	switch {
	case err != nil && strings.HasPrefix(v.text, "-"), err == nil && n < least:
		f.bad(f.at(name), "too_small", fmt.Sprintf("must be at least %d.", least), fault.Meta{"minimum": least})
	case err != nil, n > most:
		f.bad(f.at(name), "too_large", fmt.Sprintf("must be at most %d.", most), fault.Meta{"maximum": most})
	default:
		return &n
	}
	return nil
}

// oneOf reads an integer out of a list.
func (f *fields) oneOf(name string, p presence, allowed []int64) *int64 {
	n := f.integer(name, p, math.MinInt64, math.MaxInt64)
	if n != nil && !slices.Contains(allowed, *n) {
		f.bad(f.at(name), "invalid_value", fmt.Sprintf("must be one of %s.", strings.Trim(fmt.Sprint(allowed), "[]")), fault.Meta{"allowed": allowed})
		return nil
	}
	return n
}

// number reads a number from 0 up.
func (f *fields) number(name string, p presence) *float64 {
	v := f.typed(name, p, func(v *value) bool { return v.kind == kindNumber }, "a number")
	if v == nil {
		return nil
	}
	n, err := strconv.ParseFloat(v.text, 64)
	switch {
	case err != nil:
		f.bad(f.at(name), "too_large", "is too large.", nil)
	case n < 0:
		f.bad(f.at(name), "too_small", "must be at least 0.", fault.Meta{"minimum": 0})
	default:
		return &n
	}
	return nil
}

// flag reads true or false, which may be absent.
func (f *fields) flag(name string) *bool {
	v := f.typed(name, optional, func(v *value) bool { return v.kind == 't' || v.kind == 'f' }, "true or false")
	if v == nil {
		return nil
	}
	b := v.kind == 't'
	return &b
}

// instant reads an RFC 3339 date-time, which may be null.
func (f *fields) instant(name string) *clock.Instant {
	v := f.typed(name, nullable, isString, "a string")
	if v == nil {
		return nil
	}
	i, ok := clock.Parse(v.text)
	if day := noSuchDay(v.text); !ok && day != "" {
		f.bad(f.at(name), "invalid_format", dayMissing(day), fault.Meta{"value": day})
		return nil
	}
	if !ok {
		f.bad(f.at(name), "invalid_format", "must be an RFC 3339 date-time with an offset, such as 2026-11-15T09:00:00Z.", nil)
		return nil
	}
	return &i
}

// zone reads an IANA time zone name.
func (f *fields) zone(name string, p presence) *string {
	v := f.typed(name, p, isString, "a string")
	if v == nil {
		return nil
	}
	if _, err := clock.Zone(v.text); err != nil {
		f.bad(f.at(name), "invalid_value", "must be an IANA time zone such as Europe/Berlin.", nil)
		return nil
	}
	return &v.text
}

// currency reads an ISO 4217 code.
func (f *fields) currency(name string, p presence) *money.Currency { //nolint:unparam // named as all others are
	v := f.typed(name, p, isString, "a string")
	if v == nil {
		return nil
	}
	c := money.Currency(v.text)
	if _, ok := c.Digits(); !ok {
		f.bad(f.at(name), "invalid_value", "must be an ISO 4217 currency code in upper case, such as USD.", nil)
		return nil
	}
	return &c
}

// amount reads a positive sum, given as decimal text or as a JSON number, with
// no more decimals than the currency has.
func (f *fields) amount(name string, p presence, c money.Currency) *money.Amount {
	v := f.typed(name, p, func(v *value) bool { return v.kind == kindString || v.kind == kindNumber }, "a decimal string or a number")
	if v == nil {
		return nil
	}
	path := f.at(name)
	digits, _ := c.Digits()
	a, reason := money.Parse(v.text, digits)
	smallest := money.Amount{Micros: int64(math.Pow10(6 - digits)), Digits: int8(digits)}
	switch {
	case reason == money.TooLarge:
		f.bad(path, reason, fmt.Sprintf("must be less than %d.", int64(money.MaxUnits)+1), fault.Meta{"exclusive_maximum": int64(money.MaxUnits) + 1})
	case reason != "":
		f.bad(path, reason, `must be a plain decimal with at most 13 digits before and 6 after the point, such as "1500.00".`, nil)
	case a.Micros <= 0:
		f.bad(path, "too_small", "must be greater than 0.", fault.Meta{"minimum": smallest.String()})
	case a.Decimals() > digits:
		f.bad(path, "invalid_format", fmt.Sprintf("has more decimals than %s has (%d).", c, digits), fault.Meta{"decimals": digits, "currency": c})
	default:
		return &a
	}
	return nil
}

// url reads an https URL, which may be null; macros in double braces may stand
// in it.
func (f *fields) url(name string, macros []string) *string {
	s := f.text(name, nullable, 1, maxURL)
	if s == nil {
		return nil
	}
	plain, ok := f.expand(f.at(name), *s, macros)
	if !ok {
		return nil
	}
	u, err := url.Parse(plain)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.ContainsFunc(plain, unicode.IsSpace) {
		f.bad(f.at(name), "invalid_format", "must be an https:// URL with a host, no user name and no spaces.", nil)
		return nil
	}
	return s
}

// template reads text in which macros may stand.
func (f *fields) template(name string, most int, macros []string) *string {
	s := f.text(name, nullable, 0, most)
	if s == nil {
		return nil
	}
	if _, ok := f.expand(f.at(name), *s, macros); !ok {
		return nil
	}
	return s
}

// expand puts a word for each macro and refuses macros that do not exist.
func (f *fields) expand(path, s string, macros []string) (string, bool) {
	var plain strings.Builder
	for {
		before, rest, found := strings.Cut(s, "{{")
		plain.WriteString(before)
		if !found {
			return plain.String(), true
		}
		name, after, closed := strings.Cut(rest, "}}")
		if len(macros) == 0 {
			f.bad(path, "invalid_value", "cannot contain macros. Remove {{ and what follows it.", nil)
			return "", false
		}
		if !closed || !slices.Contains(macros, name) {
			f.bad(path, "invalid_value", "may only use these macros: {{"+strings.Join(macros, "}}, {{")+"}}.", fault.Meta{"allowed": macros})
			return "", false
		}
		plain.WriteString("x")
		s = after
	}
}

// list reads an array of strings without repeats. check looks at one item.
func (f *fields) list(name string, most int, check func(path, item string) (string, bool)) []string {
	out := []string{}
	v := f.typed(name, optional, func(v *value) bool { return v.kind == kindArray }, "an array")
	if v == nil {
		return out
	}
	if len(v.items) > most {
		f.bad(f.at(name), "too_many_items", fmt.Sprintf("must have at most %d items; it has %d.", most, len(v.items)), fault.Meta{"maximum": most, "actual": len(v.items)})
		return out
	}
	seen := make(map[string]bool, len(v.items))
	for i, item := range v.items {
		path := fmt.Sprintf("%s[%d]", f.at(name), i)
		if item.kind == kindNull {
			f.bad(path, "not_nullable", "cannot be null.", nil)
			continue
		}
		if item.kind != kindString {
			f.bad(path, "invalid_type", "must be a string.", fault.Meta{"expected": "a string"})
			continue
		}
		text, ok := check(path, item.text)
		switch {
		case !ok:
		case seen[text]:
			f.bad(path, "duplicate_item", "is in the list already.", nil)
		default:
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}

// choices reads an array of allowed strings.
func (f *fields) choices(name string, most int, allowed []string) []string {
	return f.list(name, most, func(path, item string) (string, bool) { return item, f.checkChoice(path, item, allowed) })
}

// words reads an array of short texts.
func (f *fields) words(name string, most, longest int) []string {
	return f.list(name, most, func(path, item string) (string, bool) { return item, f.checkText(path, item, 1, longest) })
}

// maxID is how long an identifier may be that a caller names.
const maxID = 64

// ids reads an array of identifiers. Ids that cannot exist are kept: whoever
// looks them up says that they name nothing.
func (f *fields) ids(name string, most int) []ident.ID {
	list := f.words(name, most, maxID)
	out := make([]ident.ID, len(list))
	for i, id := range list {
		out[i] = ident.ID(id)
	}
	return out
}

// Limits of a language tag.
const (
	minLanguage = 2
	maxLanguage = 35
)

// languageTag is the form that BCP 47 gives a tag: language, script, region
// and variants. Extensions and private subtags say nothing about who can read
// a text.
var languageTag = regexp.MustCompile(`(?i)^[a-z]{2,3}(-[a-z]{3}){0,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([a-z0-9]{5,8}|\d[a-z0-9]{3}))*$`)

func (f *fields) checkLanguage(path, s string) bool {
	if !f.checkText(path, s, minLanguage, maxLanguage) {
		return false
	}
	if !languageTag.MatchString(s) {
		f.bad(path, "invalid_format", "must be a BCP 47 language tag such as en or pt-BR.", nil)
		return false
	}
	return true
}

// Limits of members that records of every kind have. The contract says the
// same.
const (
	maxURL       = 2048
	maxTags      = 20
	maxTag       = 50
	maxMetaKeys  = 50
	maxMetaKey   = 40
	maxMetaValue = 500
)

// tags reads an array of short labels, lower-cased.
func (f *fields) tags() []string {
	return f.list("tags", maxTags, func(path, item string) (string, bool) {
		return strings.ToLower(item), f.checkText(path, item, 1, maxTag)
	})
}

// metadata reads a map of strings.
func (f *fields) metadata() map[string]string {
	const name = "metadata"
	out := map[string]string{}
	v := f.typed(name, optional, func(v *value) bool { return v.kind == kindObject }, "an object")
	if v == nil {
		return out
	}
	for _, m := range v.members {
		path := f.at(name) + "." + fault.Clip(m.name)
		switch {
		case !f.checkText(path, m.name, 1, maxMetaKey):
		case m.value.kind == kindNull && f.patch:
		case m.value.kind == kindNull:
			f.bad(path, "not_nullable", "cannot be null.", nil)
		case m.value.kind != kindString:
			f.bad(path, "invalid_type", "must be a string.", fault.Meta{"expected": "a string"})
		case f.checkText(path, m.value.text, 0, maxMetaValue):
			out[m.name] = m.value.text
		}
	}
	if len(out) > maxMetaKeys {
		f.bad(f.at(name), "too_many_items", fmt.Sprintf("must have at most %d keys.", maxMetaKeys), fault.Meta{"maximum": maxMetaKeys})
	}
	return out
}

// nested reads an object; nil when there is none to read.
func (f *fields) nested(name string, p presence) *fields {
	v := f.typed(name, p, func(v *value) bool { return v.kind == kindObject }, "an object")
	if v == nil {
		return nil
	}
	return &fields{object: v, path: f.at(name), read: map[string]bool{}, problems: f.problems, patch: f.patch}
}

// done refuses members that nobody read. Those in readOnly are known, but
// only the service sets them.
func (f *fields) done(readOnly ...string) {
	var known []string
	for _, m := range f.object.members {
		switch {
		case f.read[m.name]:
		case f.problems.full():
			f.problems.more++
		case slices.Contains(readOnly, m.name):
			f.bad(f.at(m.name), "read_only", "is set by the service and cannot be written.", nil)
		default:
			if known == nil {
				known = slices.Sorted(maps.Keys(f.read))
			}
			meta, hint := fault.Meta(nil), ""
			place := places[m.name]
			outer, _, _ := strings.Cut(place, ".")
			switch near := nearest.Word(m.name, known); {
			case near != "":
				meta, hint = fault.Meta{"did_you_mean": near}, " Did you mean "+near+"?"
			case f.read[outer]:
				meta, hint = fault.Meta{"did_you_mean": place}, " Use "+place+"."
			}
			f.bad(f.at(m.name), "unknown_field", "is not a known field."+hint, meta)
		}
	}
}
