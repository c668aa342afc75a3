package picture

import (
	"bytes"
	"encoding/binary"
	"io"
	"io/fs"
	"math"
	slashed "path"
	"slices"
	"strings"
	"sync"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/font/opentype/tables"
)

// Fonts finds fonts for characters that the embedded ones lack, in folders of
// the operator. It reads the folders when a text first needs it, and again
// after a restart. It is safe for concurrent use; nil has no fonts.
type Fonts struct {
	folders []fs.FS
	index   func() []*fontFile
}

// Limits of the fonts in a folder: a font for all Chinese characters has 20 MB.
const (
	maxFontFiles = 2000
	maxFontBytes = 64 << 20
)

// NewFonts returns the fonts in folders and their subfolders. Fonts of an earlier
// folder are preferred.
func NewFonts(folders ...fs.FS) *Fonts {
	f := &Fonts{folders: folders}
	f.index = sync.OnceValue(f.readFolders)
	return f
}

// fontFile is one font of a file, with what its choice depends on.
type fontFile struct {
	covers func(rune) bool
	// rank has the folder, then how unusual the style is.
	rank   []int
	weight int
	load   func() *typeface
}

// readFolders lists the usable fonts. Files that cannot be read are no fonts.
func (f *Fonts) readFolders() (list []*fontFile) {
	for at, folder := range f.folders {
		n := 0
		_ = fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // The other folders may have the font.
			}
			ext := strings.ToLower(slashed.Ext(name))
			if d.IsDir() || !slices.Contains([]string{".ttf", ".otf", ".ttc", ".otc"}, ext) {
				return nil
			}
			if n++; n > maxFontFiles {
				return fs.SkipAll
			}
			list = append(list, readFontFile(folder, name, at)...)
			return nil
		})
	}
	return list
}

// readFontFile reads which characters the fonts of a file have. It leaves the
// outlines on disk.
func readFontFile(folder fs.FS, name string, at int) (list []*fontFile) {
	defer func() {
		if recover() != nil { // As in loadFont.
			list = nil
		}
	}()
	file, err := folder.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	seeker, ok := file.(opentype.Resource)
	if info, err := file.Stat(); !ok || err != nil || info.Size() > maxFontBytes {
		return nil
	}
	loaders, err := opentype.NewLoaders(seeker)
	if err != nil {
		return nil
	}
	for i, l := range loaders {
		raw, err := l.RawTable(opentype.MustNewTag("cmap"))
		if err != nil {
			continue
		}
		table, _, err := tables.ParseCmap(raw)
		if err != nil {
			continue
		}
		chars, _, err := font.ProcessCmap(table, tables.FPNone)
		if err != nil {
			continue
		}
		own := &fontFile{
			covers: func(r rune) bool { _, ok := chars.Lookup(r); return ok },
			load:   sync.OnceValue(func() *typeface { return loadFont(folder, name, i) }),
		}
		own.setStyle(l, name, at)
		list = append(list, own)
	}
	return list
}

// setStyle reads weight, width and slope from the table OS/2.
func (f *fontFile) setStyle(l *opentype.Loader, name string, at int) {
	width, slope, kind := 5, 0, 0
	f.weight = 400
	if os2, err := l.RawTable(opentype.MustNewTag("OS/2")); err == nil && len(os2) >= 64 {
		f.weight = int(binary.BigEndian.Uint16(os2[4:]))
		width = int(binary.BigEndian.Uint16(os2[6:]))
		slope = int(binary.BigEndian.Uint16(os2[62:]) & 1)
	}
	for i, word := range []string{"serif", "mono", "math", "emoji"} {
		if base := strings.ToLower(slashed.Base(name)); strings.Contains(base, word) && !strings.Contains(base, "sans"+word) {
			kind = i + 1
		}
	}
	f.rank = []int{at, slope, kind, int(math.Abs(float64(width - 5)))}
}

// loadFont reads a font, nil if it cannot be read any more. The parser panics on
// some damaged files; they are no fonts either.
func loadFont(folder fs.FS, name string, i int) (t *typeface) {
	defer func() {
		if recover() != nil {
			t = nil
		}
	}()
	file, err := folder.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	b, err := io.ReadAll(io.LimitReader(file, maxFontBytes))
	if err != nil {
		return nil
	}
	loaders, err := opentype.NewLoaders(bytes.NewReader(b))
	if err != nil || i >= len(loaders) {
		return nil
	}
	parsed, err := font.NewFont(loaders[i])
	if err != nil {
		return nil
	}
	return newTypeface(font.NewFace(parsed))
}

// forText returns fonts for the characters of a text that other fonts lack: one
// font for all of them if there is one.
func (f *Fonts) forText(text string, others []*typeface, isHeading bool) (list []*typeface) {
	var lacking []rune
	for _, r := range text {
		if !slices.ContainsFunc(others, func(t *typeface) bool { return t.covers(r) }) && !slices.Contains(lacking, r) && r > ' ' {
			lacking = append(lacking, r)
		}
	}
	for len(lacking) > 0 {
		t, covers := f.best(lacking, isHeading)
		if t == nil {
			// No font has the first one; the error of the text names it.
			return list
		}
		list = append(list, t)
		lacking = slices.DeleteFunc(lacking, covers)
	}
	return list
}

// best returns the font that has the most of some characters, the first one
// included. Of several it returns the most usual in the wanted weight.
func (f *Fonts) best(want []rune, isHeading bool) (t *typeface, covers func(rune) bool) {
	weight := 500
	if isHeading {
		weight = 700
	}
	type match struct {
		*fontFile
		order []int
	}
	var matches []match
	for i, file := range f.index() {
		if !file.covers(want[0]) {
			continue
		}
		n := 0
		for _, r := range want {
			if file.covers(r) {
				n++
			}
		}
		away := int(math.Abs(float64(file.weight - weight)))
		matches = append(matches, match{file, slices.Concat([]int{-n}, file.rank, []int{away, i})})
	}
	slices.SortFunc(matches, func(a, b match) int { return slices.Compare(a.order, b.order) })
	for _, m := range matches {
		if t := m.load(); t != nil {
			return t, m.covers
		}
	}
	return nil, nil
}
