// Package copybank has the line patterns that the built-in writer fills with the
// facts of a brief. Patterns are data: README.md describes their format, and no
// Go file has lines of copy.
package copybank

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"fanfare/internal/creative/brief"
)

//go:embed data
var files embed.FS

// Role is where a line goes.
type Role string

// The roles.
const (
	Headline    Role = "headline"
	Description Role = "description"
	Subject     Role = "subject"
	Preheader   Role = "preheader"
	Opening     Role = "opening"
	Body        Role = "body"
	Closing     Role = "closing"
	// Sentence is a whole sentence for texts of several sentences. Texts take these
	// before all others.
	Sentence Role = "sentence"
)

// Roles lists all roles.
var Roles = []Role{Headline, Description, Subject, Preheader, Opening, Body, Closing, Sentence}

// Angles lists what a line can argue with.
var Angles = []string{"deal", "benefit", "proof", "audience", "detail", "place", "intro", "action"}

// AnyTone is the tone of a line that suits every tone.
const AnyTone = "any"

// Tones lists the tones of lines.
var Tones = []string{AnyTone, "friendly", "formal", "energetic", "plain"}

// Grade is how freely a line is used.
type Grade string

// The grades.
const (
	// Core is a plain line that is right for every filling and in every tone.
	Core Grade = "core"
	// Color is a line with a voice of its own. A text has one at most.
	Color Grade = "color"
)

// Slot is a place for a fact in a grammatical shape. README.md has the shapes.
type Slot uint8

// slotNames are the names of slots in patterns. The order is that of the Slot
// constants.
var slotNames = [...]string{
	"product", "product.plural", "product.a", "product.one", "product.name", "brand",
	"offer", "offer.do", "offer.until", "offer.ends", "act.by", "price", "price.for", "price.was", "code", "occasion",
	"when", "when.on", "place", "place.in", "audience",
	"benefit", "benefit2", "benefit3", "benefit.np", "benefit.np2", "benefit.np3", "benefit.do", "benefit.do2",
	"benefit.does", "benefit.does2", "benefit.is", "benefit.is2", "benefit.clause", "benefit.clause2",
	"proof", "proof.clause", "cta", "contact", "people", "price.from",
}

// The slots.
const (
	Product Slot = iota
	ProductPlural
	ProductA
	ProductOne
	ProductName
	Brand
	Offer
	OfferDo
	OfferUntil
	OfferEnds
	ActBy
	Price
	PriceFor
	PriceWas
	Code
	Occasion
	When
	WhenOn
	Place
	PlaceIn
	Audience
	Benefit
	Benefit2
	Benefit3
	BenefitNP
	BenefitNP2
	BenefitNP3
	BenefitDo
	BenefitDo2
	BenefitDoes
	BenefitDoes2
	BenefitIs
	BenefitIs2
	BenefitClause
	BenefitClause2
	Proof
	ProofClause
	CTA
	Contact
	// People are the people whom a job ad or an appeal looks for.
	People
	// PriceFrom is a lowest price.
	PriceFrom
	SlotCount
)

func (s Slot) String() string { return slotNames[s] }

// SlotSet is a set of slots.
type SlotSet uint64

// Add returns the set with a slot.
func (s SlotSet) Add(slot Slot) SlotSet { return s | 1<<slot }

// Has reports whether a slot is in the set.
func (s SlotSet) Has(slot Slot) bool { return s&(1<<slot) != 0 }

// Part is fixed text or a slot.
type Part struct {
	Text   string
	Slot   Slot
	IsSlot bool
}

// Pattern is one line with slots.
type Pattern struct {
	// ID is the same as long as the line is.
	ID   string
	Role Role
	// Kinds are the kinds of brief that the line suits, empty for all.
	Kinds []brief.Kind
	Angle string
	Tone  string
	Grade Grade
	// Region is the only region whose form of the language the line is in, "PT" for
	// Portugal, empty for all.
	Region string
	Parts  []Part
	Needs  SlotSet
	// Source is the file and line of the pattern.
	Source string
}

// Text returns the pattern as it is written in its file.
func (p *Pattern) Text() string {
	var b strings.Builder
	for _, part := range p.Parts {
		if part.IsSlot {
			b.WriteString("{" + part.Slot.String() + "}")
		} else {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

// Suits reports whether the line suits a kind of brief.
func (p *Pattern) Suits(k brief.Kind) bool {
	return len(p.Kinds) == 0 || slices.Contains(p.Kinds, k)
}

// Bank has the patterns of one language.
type Bank struct {
	Language string
	byRole   map[Role][]*Pattern
}

// Patterns returns the patterns of a role. Callers must not change them.
func (b *Bank) Patterns(r Role) []*Pattern { return b.byRole[r] }

// Languages lists the languages that have patterns.
var Languages = sync.OnceValue(func() (list []string) {
	entries, err := files.ReadDir("data")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			list = append(list, e.Name())
		}
	}
	return list
})

var banks sync.Map // language to func() *Bank

// For returns the bank of a language tag, nil if there is none.
func For(tag string) *Bank {
	language, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(tag, "_", "-")), "-")
	if !slices.Contains(Languages(), language) {
		return nil
	}
	load, _ := banks.LoadOrStore(language, sync.OnceValue(func() *Bank {
		b, err := read(files, language)
		if err != nil {
			panic(err) // a test reads every file
		}
		return b
	}))
	return load.(func() *Bank)() //nolint:forcetypeassert // only these are stored
}

// read parses the files of a language.
func read(from fs.FS, language string) (*Bank, error) {
	b := &Bank{Language: language, byRole: map[Role][]*Pattern{}}
	names, err := fs.Glob(from, path.Join("data", language, "*.txt"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		f, err := from.Open(name)
		if err != nil {
			return nil, err
		}
		_, region, _ := strings.Cut(strings.TrimSuffix(path.Base(name), ".txt"), language+"-")
		lines := bufio.NewScanner(f)
		for n := 1; lines.Scan(); n++ {
			line := strings.TrimSpace(lines.Text())
			if line == "" || line[0] == '#' {
				continue
			}
			p, err := Parse(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
			p.Region = region
			p.Source = fmt.Sprintf("%s:%d", name, n)
			b.byRole[p.Role] = append(b.byRole[p.Role], p)
		}
		if err := lines.Err(); err != nil {
			return nil, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Parse reads one line of a file.
func Parse(line string) (*Pattern, error) {
	columns := strings.SplitN(line, " | ", 6)
	if len(columns) != 6 {
		return nil, fmt.Errorf("%q has %d columns, want role | kinds | angle | tone | grade | text", line, len(columns))
	}
	for i, c := range columns {
		columns[i] = strings.TrimSpace(c)
	}
	p := &Pattern{Role: Role(columns[0]), Angle: columns[2], Tone: columns[3], Grade: Grade(columns[4])}
	sum := sha256.Sum256([]byte(columns[0] + columns[5]))
	p.ID = hex.EncodeToString(sum[:5])
	if !slices.Contains(Roles, p.Role) {
		return nil, fmt.Errorf("%q is no role", columns[0])
	}
	if !slices.Contains(Angles, p.Angle) {
		return nil, fmt.Errorf("%q is no angle", p.Angle)
	}
	if !slices.Contains(Tones, p.Tone) {
		return nil, fmt.Errorf("%q is no tone", p.Tone)
	}
	if p.Grade != Core && p.Grade != Color {
		return nil, fmt.Errorf("%q is no grade", p.Grade)
	}
	if columns[1] != "*" {
		for kind := range strings.SplitSeq(columns[1], ",") {
			kind = strings.TrimSpace(kind)
			if !slices.Contains(brief.Kinds, kind) && brief.Kind(kind) != brief.General {
				return nil, fmt.Errorf("%q is no kind", kind)
			}
			p.Kinds = append(p.Kinds, brief.Kind(kind))
		}
	}
	return p, p.parseText(columns[5])
}

func (p *Pattern) parseText(text string) error {
	for text != "" {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			open = len(text)
		}
		if open > 0 {
			p.Parts = append(p.Parts, Part{Text: text[:open]})
			text = text[open:]
			continue
		}
		end := strings.IndexByte(text, '}')
		if end < 0 {
			return fmt.Errorf("%q has no closing brace", text)
		}
		slot := slices.Index(slotNames[:], text[1:end])
		if slot < 0 {
			return fmt.Errorf("{%s} is no slot", text[1:end])
		}
		p.Parts = append(p.Parts, Part{Slot: Slot(slot), IsSlot: true}) //nolint:gosec // fewer than 64
		p.Needs = p.Needs.Add(Slot(slot))                               //nolint:gosec // fewer than 64
		text = text[end+1:]
	}
	if len(p.Parts) == 0 {
		return fmt.Errorf("the text is empty")
	}
	return nil
}
