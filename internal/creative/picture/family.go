package picture

import (
	"embed"
	"slices"
	"sync"
)

// family is an embedded typeface in two weights, one for headlines and one for
// other text.
//
// Choice: six families under the SIL Open Font License (fonts/LICENSE-*.txt),
// each with a use that the others do not have. Inter is made for screens, is
// legible at 10 pixels and covers Latin, Greek and Cyrillic; the others cover
// Latin with the letters of Central European languages, and Inter stands in for
// them.
type family struct {
	name          string
	heading, text func() *typeface
}

//go:embed fonts/*.ttf
var fontFiles embed.FS

// embedded returns a function that parses an embedded font when it is first
// used.
func embedded(name string) func() *typeface {
	return sync.OnceValue(func() *typeface {
		ttf, err := fontFiles.ReadFile("fonts/" + name + ".ttf")
		if err != nil {
			panic(err) // The names are constants.
		}
		return parseFont(ttf)
	})
}

var families = []family{
	{"inter", embedded("Inter-Bold"), embedded("Inter-Medium")},
	{"dm_sans", embedded("DMSans-Bold"), embedded("DMSans-Medium")},
	{"barlow_condensed", embedded("BarlowCondensed-Bold"), embedded("BarlowCondensed-Medium")},
	{"oswald", embedded("Oswald-SemiBold"), embedded("Oswald-Regular")},
	{"fraunces", embedded("Fraunces-SemiBold"), embedded("Fraunces-Regular")},
	{"bodoni_moda", embedded("BodoniModa-Bold"), embedded("BodoniModa-Medium")},
}

// Families are the names of the embedded typefaces.
var Families = func() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}()

// familyNamed returns a family, Inter for an unknown name.
func familyNamed(name string) *family {
	return &families[max(0, slices.IndexFunc(families, func(f family) bool { return f.name == name }))]
}

// plain is the family that stands in for others.
func plain() *family { return &families[0] }

// Typefaces are the families of a picture.
type Typefaces struct {
	// Heading is for headlines, prices and offers, Text for all else. Both are
	// names of Families.
	Heading, Text string
}

// typefaces are the fonts for the parts of an ad.
type typefaces struct {
	heading, text *family
	more          *Fonts
}

// facesFor returns the fonts for a text: those of the family if they have all
// its letters, otherwise those of the family that stands in, and the operator's
// for characters that neither has. Letters of two embedded fonts in one line
// would look like a mistake.
func (f *typefaces) facesFor(text string, own *family, isHeading bool) *faces {
	pick := func(from *family) *typeface {
		if isHeading {
			return from.heading()
		}
		return from.text()
	}
	first := pick(own)
	for _, r := range text {
		if !first.covers(r) && pick(plain()).covers(r) {
			first = pick(plain())
			break
		}
	}
	chain := &faces{list: []*typeface{first}}
	if second := pick(plain()); second != first {
		chain.list = append(chain.list, second)
	}
	if f.more != nil {
		chain.list = append(chain.list, f.more.forText(text, chain.list, isHeading)...)
	}
	return chain
}
