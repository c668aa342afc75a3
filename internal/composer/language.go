package composer

import (
	"strings"
	"unicode"
)

// scripts tell a language by its letters alone, the more particular first:
// Japanese also uses Han characters.
var scripts = []struct {
	tag    string
	tables []*unicode.RangeTable
}{
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

// common are words that give a language away. What two languages share is
// listed in neither.
var common = []struct {
	tag   string
	words map[string]bool
}{
	{"en", set("the and for with your you our we is are of to off free new from until that this it at on by ad ads write create an buy sale shop get save only all no up help promote team best campaign online more week month day today")},
	{"de", set("der die das und für mit von ein eine einen einem unser unsere unseren ist sind nicht auf bis zum zur auch wir sie ihr ihre bei aus jetzt schreibe erstelle anzeige werbung rabatt kostenlos kostenlose kostenloser neue neuer neues ab oder im nur alle handgemachte")},
	{"fr", set("le les des et pour avec une du nos notre votre vos est sont dans sur sans jusqu'au chez aux ce cette nous vous écris écrivez rédige annonce publicité nouveau nouvelle gratuit gratuite livraison dès au qui l'été d'une toutes tous")},
	{"es", set("el los las y para con una del nuestra nuestro nuestros nuestras su sus en hasta desde sin es son escribe crea anuncio anuncios publicidad nuevo nueva gratis envío más todo todos por que descuento niños hechos hecho")},
	{"it", set("il lo gli e per con un una di del della dei delle nostro nostra i nostri è sono fino senza scrivi crea annuncio annunci pubblicità nuovo nuova gratis spedizione gratuita più tutti tutte che sconto alla al nel nella dal")},
	{"pt", set("o os e para com um uma do da dos das nosso nossa nossos é são até sem escreva crie anúncio anúncios novo nova grátis entrega frete mais todos que desconto não em no na ao pelo")},
	{"nl", set("de het een en voor met van onze ons is zijn niet op tot ook wij jouw uw bij uit nu schrijf maak advertentie korting gratis nieuw nieuwe vanaf alle alleen naar zonder")},
}

// detect finds the language of a text, English where nothing says otherwise.
func detect(text string) string {
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
		// A brief in another script often carries Latin brand names.
		if other[s.tag]*5 > letters*2 {
			return s.tag
		}
	}
	best, most := "en", 0
	lower := strings.ToLower(text)
	for _, c := range common {
		n := 0
		for _, word := range strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
			if c.words[word] {
				n++
			}
		}
		if n > most {
			best, most = c.tag, n
		}
	}
	return best
}

// english reports whether the templates can be used for a language tag.
func english(tag string) bool {
	tag = strings.ToLower(tag)
	return tag == "en" || strings.HasPrefix(tag, "en-") || strings.HasPrefix(tag, "en_")
}

// set makes a set of the words in a string.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		m[word] = true
	}
	return m
}
