package body

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/nearest"
	"fanfare/internal/record"
)

// IsString reports whether a value is a string.
func IsString(v *Value) bool { return v.Kind == KindString }

// Text reads a string with least to most characters. If least is above 0, at
// least one character must not be a space.
func (f *Reader) Text(name string, p Presence, least, most int) *string {
	v := f.Typed(name, p, IsString, "a string")
	if v == nil || !f.CheckText(f.At(name), v.Text, least, most) {
		return nil
	}
	return &v.Text
}

// CheckText reports a problem and returns false if a text is too short, too
// long or contains a null character.
func (f *Reader) CheckText(path, s string, least, most int) bool {
	n := utf8.RuneCountInString(s)
	switch {
	case n < least || least > 0 && strings.TrimFunc(s, unicode.IsSpace) == "":
		f.Bad(path, "too_short", fmt.Sprintf("must have at least %d visible character.", least), fault.Meta{"minimum": least})
	case n > most:
		f.Bad(path, "too_long", fmt.Sprintf("must have at most %d characters; it has %d.", most, n), fault.Meta{"maximum": most, "actual": n})
	case strings.ContainsRune(s, 0):
		f.Bad(path, "invalid_value", "must not contain the character U+0000.", nil)
	default:
		return true
	}
	return false
}

// Choice reads one of the allowed strings.
func (f *Reader) Choice(name string, p Presence, allowed []string) *string {
	if p == Required && f.Object.Get(name) == nil && !f.Problems.cut {
		f.read[name] = true
		f.Bad(f.At(name), "required", "is required: "+record.JoinStatuses(allowed)+".", fault.Meta{"allowed": allowed})
		return nil
	}
	v := f.Typed(name, p, IsString, "a string")
	if v == nil || !f.CheckChoice(f.At(name), v.Text, allowed) {
		return nil
	}
	return &v.Text
}

// CheckChoice reports a problem and returns false if a text is not one of
// allowed.
func (f *Reader) CheckChoice(path, s string, allowed []string) bool {
	if slices.Contains(allowed, s) {
		return true
	}
	message, meta := NotOneOf(s, allowed)
	f.Bad(path, "invalid_value", message, meta)
	return false
}

// Integer reads a whole number within bounds; 1.0 and 1e3 are not integers.
func (f *Reader) Integer(name string, p Presence, least, most int64) *int64 {
	v := f.Typed(name, p, func(v *Value) bool { return v.Kind == KindNumber && !strings.ContainsAny(v.Text, ".eE") }, "an integer")
	if v == nil {
		return nil
	}
	n, err := strconv.ParseInt(v.Text, 10, 64)
	switch {
	case err != nil && strings.HasPrefix(v.Text, "-"), err == nil && n < least:
		f.Bad(f.At(name), "too_small", fmt.Sprintf("must be at least %d.", least), fault.Meta{"minimum": least})
	case err != nil, n > most:
		f.Bad(f.At(name), "too_large", fmt.Sprintf("must be at most %d.", most), fault.Meta{"maximum": most})
	default:
		return &n
	}
	return nil
}

// OneOf reads an integer that must be one of allowed.
func (f *Reader) OneOf(name string, p Presence, allowed []int64) *int64 {
	n := f.Integer(name, p, math.MinInt64, math.MaxInt64)
	if n != nil && !slices.Contains(allowed, *n) {
		f.Bad(f.At(name), "invalid_value", fmt.Sprintf("must be one of %s.", strings.Trim(fmt.Sprint(allowed), "[]")), fault.Meta{"allowed": allowed})
		return nil
	}
	return n
}

// Number reads a number that must not be negative.
func (f *Reader) Number(name string, p Presence) *float64 {
	return f.Between(name, p, 0, math.Inf(1))
}

// Between reads a number within limits.
func (f *Reader) Between(name string, p Presence, least, most float64) *float64 {
	v := f.Typed(name, p, func(v *Value) bool { return v.Kind == KindNumber }, "a number")
	if v == nil {
		return nil
	}
	n, err := strconv.ParseFloat(v.Text, 64)
	switch {
	case err != nil:
		f.Bad(f.At(name), "too_large", "is too large.", nil)
	case n < least:
		f.Bad(f.At(name), "too_small", fmt.Sprintf("must be at least %v.", least), fault.Meta{"minimum": least})
	case n > most:
		f.Bad(f.At(name), "too_large", fmt.Sprintf("must be at most %v.", most), fault.Meta{"maximum": most})
	default:
		return &n
	}
	return nil
}

// Flag reads a boolean that may be absent.
func (f *Reader) Flag(name string) *bool {
	v := f.Typed(name, Optional, func(v *Value) bool { return v.Kind == 't' || v.Kind == 'f' }, "true or false")
	if v == nil {
		return nil
	}
	b := v.Kind == 't'
	return &b
}

// Instant reads an RFC 3339 date-time, which may be null.
func (f *Reader) Instant(name string) *clock.Instant {
	v := f.Typed(name, Nullable, IsString, "a string")
	if v == nil {
		return nil
	}
	i, ok := clock.Parse(v.Text)
	if day := NoSuchDay(v.Text); !ok && day != "" {
		f.Bad(f.At(name), "invalid_format", DayMissing(day), fault.Meta{"value": day})
		return nil
	}
	if !ok {
		f.Bad(f.At(name), "invalid_format", "must be an RFC 3339 date-time with an offset, such as 2026-11-15T09:00:00Z.", nil)
		return nil
	}
	return &i
}

// Day reads a calendar day.
func (f *Reader) Day(name string) *clock.Date {
	v := f.Typed(name, Optional, IsString, "a string")
	if v == nil {
		return nil
	}
	d, ok := clock.ParseDate(v.Text)
	if day := NoSuchDay(v.Text); !ok && day != "" {
		f.Bad(f.At(name), "invalid_format", DayMissing(day), fault.Meta{"value": day})
		return nil
	}
	if !ok {
		f.Bad(f.At(name), "invalid_format", "must be a day such as 2026-11-15.", nil)
		return nil
	}
	return &d
}

// Zone reads an IANA time zone name.
func (f *Reader) Zone(name string, p Presence) *string {
	v := f.Typed(name, p, IsString, "a string")
	if v == nil {
		return nil
	}
	if _, err := clock.Zone(v.Text); err != nil {
		f.Bad(f.At(name), "invalid_value", "must be an IANA time zone such as Europe/Berlin.", nil)
		return nil
	}
	return &v.Text
}

// Currency reads an ISO 4217 code.
func (f *Reader) Currency(name string, p Presence) *money.Currency {
	v := f.Typed(name, p, IsString, "a string")
	if v == nil {
		return nil
	}
	c := money.Currency(v.Text)
	if _, ok := c.Digits(); !ok {
		f.Bad(f.At(name), "invalid_value", "must be an ISO 4217 currency code in upper case, such as USD.", nil)
		return nil
	}
	return &c
}

// Amount reads a positive sum, given as decimal text or as a JSON number, with
// no more decimals than the currency has.
func (f *Reader) Amount(name string, p Presence, c money.Currency) *money.Amount {
	v := f.Typed(name, p, func(v *Value) bool { return v.Kind == KindString || v.Kind == KindNumber }, "a decimal string or a number")
	if v == nil {
		return nil
	}
	path := f.At(name)
	digits, _ := c.Digits()
	a, reason := money.Parse(v.Text, digits)
	smallest := money.Amount{Micros: int64(math.Pow10(6 - digits)), Digits: int8(digits)}
	switch {
	case reason == money.TooLarge:
		f.Bad(path, reason, fmt.Sprintf("must be less than %d.", int64(money.MaxUnits)+1), fault.Meta{"exclusive_maximum": int64(money.MaxUnits) + 1})
	case reason != "":
		f.Bad(path, reason, `must be a plain decimal with at most 13 digits before and 6 after the point, such as "1500.00".`, nil)
	case a.Micros <= 0:
		f.Bad(path, "too_small", "must be greater than 0.", fault.Meta{"minimum": smallest.String()})
	case a.Decimals() > digits:
		f.Bad(path, "invalid_format", fmt.Sprintf("has more decimals than %s has (%d).", c, digits), fault.Meta{"decimals": digits, "currency": c})
	default:
		return &a
	}
	return nil
}

// URL reads an https URL that may be null. It may contain macros in double
// braces.
func (f *Reader) URL(name string, macros []string) *string {
	s := f.Text(name, Nullable, 1, MaxURL)
	if s == nil {
		return nil
	}
	plain, ok := f.expand(f.At(name), *s, macros)
	if !ok {
		return nil
	}
	u, err := url.Parse(plain)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.ContainsFunc(plain, unicode.IsSpace) {
		f.Bad(f.At(name), "invalid_format", "must be an https:// URL with a host, no user name and no spaces.", nil)
		return nil
	}
	return s
}

// Template reads text that may contain macros.
func (f *Reader) Template(name string, most int, macros []string) *string {
	s := f.Text(name, Nullable, 0, most)
	if s == nil {
		return nil
	}
	if _, ok := f.expand(f.At(name), *s, macros); !ok {
		return nil
	}
	return s
}

// expand replaces each macro with a placeholder. It reports unknown macros as a
// problem.
func (f *Reader) expand(path, s string, macros []string) (string, bool) {
	var plain strings.Builder
	for {
		before, rest, found := strings.Cut(s, "{{")
		plain.WriteString(before)
		if !found {
			return plain.String(), true
		}
		name, after, closed := strings.Cut(rest, "}}")
		if len(macros) == 0 {
			f.Bad(path, "invalid_value", "cannot contain macros. Remove {{ and what follows it.", nil)
			return "", false
		}
		if !closed || !slices.Contains(macros, name) {
			f.Bad(path, "invalid_value", "may only use these macros: {{"+strings.Join(macros, "}}, {{")+"}}.", fault.Meta{"allowed": macros})
			return "", false
		}
		plain.WriteString("x")
		s = after
	}
}

// List reads an array of strings without duplicates. check validates and
// normalizes one item.
func (f *Reader) List(name string, most int, check func(path, item string) (string, bool)) []string {
	out := []string{}
	v := f.Typed(name, Optional, func(v *Value) bool { return v.Kind == KindArray }, "an array")
	if v == nil {
		return out
	}
	if len(v.Items) > most {
		f.Bad(f.At(name), "too_many_items", fmt.Sprintf("must have at most %d items; it has %d.", most, len(v.Items)), fault.Meta{"maximum": most, "actual": len(v.Items)})
		return out
	}
	seen := make(map[string]bool, len(v.Items))
	for i, item := range v.Items {
		path := fmt.Sprintf("%s[%d]", f.At(name), i)
		if item.Kind == KindNull {
			f.Bad(path, "not_nullable", "cannot be null.", nil)
			continue
		}
		if item.Kind != KindString {
			f.Bad(path, "invalid_type", "must be a string.", fault.Meta{"expected": "a string"})
			continue
		}
		text, ok := check(path, item.Text)
		switch {
		case !ok:
		case seen[text]:
			f.Bad(path, "duplicate_item", "is in the list already.", nil)
		default:
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}

// Choices reads an array of allowed strings.
func (f *Reader) Choices(name string, most int, allowed []string) []string {
	return f.List(name, most, func(path, item string) (string, bool) { return item, f.CheckChoice(path, item, allowed) })
}

// Texts reads an array of short texts.
func (f *Reader) Texts(name string, most, longest int) []string {
	return f.List(name, most, func(path, item string) (string, bool) { return item, f.CheckText(path, item, 1, longest) })
}

// maxID is the maximum length of an id in a request.
const maxID = 64

// IDs reads an array of ids. It accepts ids of any format; the lookup reports
// those that do not exist.
func (f *Reader) IDs(name string, most int) []ident.ID {
	list := f.Texts(name, most, maxID)
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

// languageTag matches a BCP 47 tag of language, script, region and variants.
// Extensions and private subtags are excluded, because they do not identify the
// readers of a text.
var languageTag = regexp.MustCompile(`(?i)^[a-z]{2,3}(-[a-z]{3}){0,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([a-z0-9]{5,8}|\d[a-z0-9]{3}))*$`)

// CheckLanguage reports a problem and returns false if a text is not a BCP 47
// tag.
func (f *Reader) CheckLanguage(path, s string) bool {
	if !f.CheckText(path, s, minLanguage, maxLanguage) {
		return false
	}
	if !languageTag.MatchString(s) {
		f.Bad(path, "invalid_format", "must be a BCP 47 language tag such as en or pt-BR.", nil)
		return false
	}
	return true
}

// Limits of members that all kinds of records have, as in the contract.
const (
	MaxURL       = 2048
	MaxTags      = 20
	MaxTag       = 50
	maxMetaKeys  = 50
	maxMetaKey   = 40
	maxMetaValue = 500
)

// Tags reads an array of short labels and converts them to lower case.
func (f *Reader) Tags() []string {
	return f.List("tags", MaxTags, func(path, item string) (string, bool) {
		return strings.ToLower(item), f.CheckText(path, item, 1, MaxTag)
	})
}

// Metadata reads a map of strings.
func (f *Reader) Metadata() map[string]string {
	const name = "metadata"
	out := map[string]string{}
	v := f.Typed(name, Optional, func(v *Value) bool { return v.Kind == KindObject }, "an object")
	if v == nil {
		return out
	}
	for _, m := range v.Members {
		path := f.At(name) + "." + fault.Clip(m.Name)
		switch {
		case !f.CheckText(path, m.Name, 1, maxMetaKey):
		case m.Value.Kind == KindNull && f.Patch:
		case m.Value.Kind == KindNull:
			f.Bad(path, "not_nullable", "cannot be null.", nil)
		case m.Value.Kind != KindString:
			f.Bad(path, "invalid_type", "must be a string.", fault.Meta{"expected": "a string"})
		case f.CheckText(path, m.Value.Text, 0, maxMetaValue):
			out[m.Name] = m.Value.Text
		}
	}
	if len(out) > maxMetaKeys {
		f.Bad(f.At(name), "too_many_items", fmt.Sprintf("must have at most %d keys.", maxMetaKeys), fault.Meta{"maximum": maxMetaKeys})
	}
	return out
}

// Language reads a BCP 47 tag.
func (f *Reader) Language(name string, p Presence) *string {
	v := f.Typed(name, p, IsString, "a string")
	if v == nil || !f.CheckLanguage(f.At(name), v.Text) {
		return nil
	}
	return &v.Text
}

// ID reads an id. It accepts an id of any format; the lookup reports one that
// does not exist.
func (f *Reader) ID(name string, p Presence) *ident.ID {
	s := f.Text(name, p, 1, 64)
	if s == nil {
		return nil
	}
	id := ident.ID(*s)
	return &id
}

// NotOneOf returns the message for a value that is not allowed, with the
// closest allowed value if one is similar.
func NotOneOf(v string, allowed []string) (message string, meta fault.Meta) {
	shown := fault.Clip(v)
	message, meta = fmt.Sprintf("must be one of %s, not %q.", strings.Join(allowed, ", "), shown), fault.Meta{"allowed": allowed, "value": shown}
	if near := nearest.Word(v, allowed); near != "" {
		meta["did_you_mean"] = near
		message += " Did you mean " + near + "?"
	}
	return message, meta
}

// NoSuchDay returns the date at the start of a text if it has the format of a
// date but does not exist, such as 2026-02-30. Otherwise it returns an empty
// string.
func NoSuchDay(s string) string {
	if len(s) < len(time.DateOnly) {
		return ""
	}
	day := s[:len(time.DateOnly)]
	if _, err := time.Parse(time.DateOnly, day); err == nil || !dayShape.MatchString(day) {
		return ""
	}
	return day
}

var dayShape = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// DayMissing returns the message for a date that does not exist.
func DayMissing(day string) string { return "names a day that does not exist: " + day + "." }
