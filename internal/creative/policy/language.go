package policy

import (
	"slices"
	"strings"
	"unicode"
)

type script struct {
	tag    string
	tables []*unicode.RangeTable
}

// scripts maps scripts to languages, more specific ones first, because Japanese
// also uses Han characters.
var scripts = []script{
	{"ja", []*unicode.RangeTable{unicode.Hiragana, unicode.Katakana}},
	{"ko", []*unicode.RangeTable{unicode.Hangul}},
	{"zh", []*unicode.RangeTable{unicode.Han}},
	{"ar", []*unicode.RangeTable{unicode.Arabic}},
	{"he", []*unicode.RangeTable{unicode.Hebrew}},
	{"el", []*unicode.RangeTable{unicode.Greek}},
	{"ru", []*unicode.RangeTable{unicode.Cyrillic}},
	{"th", []*unicode.RangeTable{unicode.Thai}},
	{"hi", []*unicode.RangeTable{unicode.Devanagari}},
	{"ka", []*unicode.RangeTable{unicode.Georgian}},
	{"hy", []*unicode.RangeTable{unicode.Armenian}},
}

// sharedScripts lists the scripts that other languages use.
var sharedScripts = map[string][]string{
	"ja": {"ja", "zh"}, "yue": {"zh"}, "fa": {"ar"}, "ur": {"ar"}, "ps": {"ar"}, "yi": {"he"}, "iw": {"he"}, "uk": {"ru"}, "bg": {"ru"},
	"mk": {"ru"}, "be": {"ru"}, "mr": {"hi"}, "ne": {"hi"}, "sa": {"hi"},
}

type languageProfile struct {
	tag, name string
	words     map[string]bool
	// letters are letters that no other language of the list uses.
	letters string
}

// languageProfiles has frequent words and unique letters of the languages that
// the built-in composer detects.
var languageProfiles = []languageProfile{
	{"en", "English", wordSet("the and for with your you our we is are of to off free new from until that this it at on by ad ads write create an buy sale shop get save only all no up help promote team best campaign online more week month day today"), ""},
	{"de", "German", wordSet("der die das und für mit von ein eine einen einem unser unsere unseren ist sind nicht auf bis zum zur auch wir sie ihr ihre bei aus jetzt schreibe erstelle anzeige werbung rabatt kostenlos kostenlose kostenloser neue neuer neues ab oder im nur alle handgemachte"), "äöüß"},
	{"fr", "French", wordSet("le les des et pour avec une du nos notre votre vos est sont dans sur sans jusqu'au chez aux ce cette nous vous écris écrivez rédige annonce publicité nouveau nouvelle gratuit gratuite livraison dès au qui l'été d'une toutes tous à près par nuit jour inclus ouvert"), "œêûî"},
	{"es", "Spanish", wordSet("el los las y para con una del nuestra nuestro nuestros nuestras su sus en hasta desde sin es son escribe crea anuncio anuncios publicidad nuevo nueva gratis envío más todo todos por que descuento niños hechos hecho"), "ñ¿¡"},
	{"it", "Italian", wordSet("il lo gli e per con un una di del della dei delle nostro nostra i nostri è sono fino senza scrivi crea annuncio annunci pubblicità nuovo nuova gratis spedizione gratuita più tutti tutte che sconto alla al nel nella dal"), "òì"},
	{"pt", "Portuguese", wordSet("o os e para com um uma do da dos das nosso nossa nossos é são até sem escreva crie anúncio anúncios novo nova grátis entrega frete mais todos que desconto não em no na ao pelo às partir mínimo noite"), "ãõ"},
	{"nl", "Dutch", wordSet("het een en voor met van onze ons is zijn niet op tot ook wij jouw uw bij uit nu schrijf maak advertentie korting gratis nieuw nieuwe vanaf alle alleen naar zonder"), ""},
}

// DetectLanguage detects the language of a text. The default is English.
func DetectLanguage(text string) string {
	if tag := languageOfScript(text); tag != "" {
		return tag
	}
	best, most := "en", 0
	words := splitWords(text)
	for _, c := range languageProfiles {
		n := 0
		for _, word := range words {
			if c.words[word] {
				n++
			}
		}
		if strings.ContainsAny(strings.ToLower(text), c.letters) {
			n++
		}
		if n > most {
			best, most = c.tag, n
		}
	}
	return best
}

func splitWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
}

// languageOfScript returns the language of the text's script, empty for Latin.
func languageOfScript(text string) string {
	letters, other := 0, map[string]int{}
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		if r < 0x250 {
			continue
		}
		for _, s := range scripts {
			if unicode.In(r, s.tables...) {
				other[s.tag]++
				break
			}
		}
	}
	if other["ja"] > 0 {
		other["ja"] += other["zh"]
	}
	for _, s := range scripts {
		// A brief in another script often contains Latin brand names.
		if other[s.tag]*5 > letters*2 {
			return s.tag
		}
	}
	return ""
}

// LanguageName returns the English name of a language that DetectLanguage detects
// by its words, and the tag itself for any other.
func LanguageName(tag string) string {
	if i := slices.IndexFunc(languageProfiles, func(c languageProfile) bool { return c.tag == tag }); i >= 0 {
		return languageProfiles[i].name
	}
	return tag
}

// onlyEnglish are frequent words that ads in other languages do not borrow.
var onlyEnglish = wordSet("the with your you our off from until this are buy and")

// LanguageMismatch reports whether a prompt is in another language than the
// requested one, and in which.
//
// Choice: a prompt without a word of any list may be in any language, such as a
// product name alone, and is accepted. One word that only English has is enough
// if no word of the requested language is there.
func LanguageMismatch(prompt, language string) (tag string, mismatch bool) {
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	known := slices.IndexFunc(languageProfiles, func(c languageProfile) bool { return c.tag == base })
	isScript := slices.ContainsFunc(scripts, func(s script) bool { return s.tag == base })
	written := append([]string{base}, sharedScripts[base]...)
	if tag := languageOfScript(prompt); tag != "" {
		return tag, (known >= 0 || isScript || len(written) > 1) && !slices.Contains(written, tag)
	}
	tag = DetectLanguage(prompt)
	if isScript || len(written) > 1 {
		return tag, strings.ContainsFunc(prompt, unicode.IsLetter)
	}
	seen, english := map[string]int{}, slices.ContainsFunc(splitWords(prompt), func(word string) bool { return onlyEnglish[word] })
	for _, c := range languageProfiles {
		words := map[string]bool{}
		for _, word := range splitWords(prompt) {
			if c.words[word] {
				words[word] = true
			}
		}
		seen[c.tag] = len(words)
	}
	switch {
	case tag == base:
		return tag, false
	case known < 0:
		return tag, tag == "en" && (english || seen["en"] >= 4)
	case tag == "en" && english && seen[base] == 0:
		return tag, true
	}
	return tag, seen[tag] >= 3 && seen[tag] >= 2*seen[base] || seen[tag] >= 2 && seen[base] == 0
}
