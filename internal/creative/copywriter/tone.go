package copywriter

import (
	"slices"
	"strings"
	"unicode"

	"fanfare/internal/creative"
	"fanfare/internal/creative/atoms"
	"fanfare/internal/creative/brief"
	"fanfare/internal/creative/copybank"
	"fanfare/internal/creative/policy"
)

// toneWords say which tone of the bank a requested tone is.
var toneWords = map[string][]string{
	"friendly":  {"friendly", "warm", "casual", "playful", "fun", "relaxed", "cheerful", "cozy", "freundlich", "locker", "herzlich"},
	"formal":    {"formal", "professional", "serious", "elegant", "premium", "luxury", "trustworthy", "seriös", "sachlich"},
	"energetic": {"energetic", "bold", "urgent", "exciting", "upbeat", "dynamic", "punchy", "young", "frech"},
	"plain":     {"plain", "simple", "neutral", "direct", "clear", "straightforward", "honest"},
}

// toneOf returns the tone of the bank, empty if no tone is asked for or it is
// none of the bank's.
func toneOf(asked string) string {
	words := asWords(asked)
	for _, tone := range copybank.Tones {
		for _, word := range toneWords[tone] {
			if strings.Contains(words, " "+word+" ") {
				return tone
			}
		}
	}
	return ""
}

// suitsTone reports whether a pattern can be used in the asked tone. Playful and
// formal lines are only for those who ask for them.
func (w *writer) suitsTone(p *copybank.Pattern) bool {
	if a := addressIn(w.m.set.Language, p.Text()); a != neutral && w.address != neutral && a != w.address {
		return false
	}
	if p.Region == "PT" && w.address == brazilian {
		return false
	}
	return p.Tone == copybank.AnyTone || p.Tone == w.tone || w.tone == "" && p.Tone == "plain" || w.tone == "energetic" && p.Tone == "friendly"
}

// address is how a text addresses people.
type address uint8

const (
	neutral address = iota
	familiar
	polite
	european
	brazilian
)

// addressWords are the words of each address, in languages in which ads use both.
// Portuguese has words of Portugal and of Brazil.
var addressWords = map[string]map[address][]string{
	"de": {
		familiar: {"du", "dich", "dir", "dein", "deine", "deinem", "deinen", "deiner", "deines", "hol", "komm", "sicher", "schau", "euch", "euer", "eure"},
		polite:   {"sie", "ihnen", "ihr", "ihre", "ihrem", "ihren", "ihrer", "ihres"},
	},
	"fr": {
		familiar: {"tu", "toi", "ton", "ta", "tes", "te"},
		polite:   {"vous", "votre", "vos"},
	},
	"pt": {
		european:  {"poupe", "poupar", "connosco", "contacte", "telemóvel", "ecrã", "equipa", "registe", "subscreva", "descarregue", "encomende", "encomenda", "autocarro", "bilhetes", "utilizador", "utilizadores", "facto", "factos", "portes", "carrinha"},
		brazilian: {"você", "vocês", "celular", "economize", "economizar", "conosco", "contate", "cadastre", "cadastro", "baixe", "equipe", "ingressos", "ingresso", "cupom", "frete", "parcelas", "parcele", "usuário", "usuários", "ônibus", "fato"},
	},
}

// addressIn returns how a text addresses people.
func addressIn(language, text string) address {
	code, _, _ := strings.Cut(strings.ToLower(language), "-")
	known := addressWords[code]
	if known == nil {
		return neutral
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return notWord(r) || r == '-' }) {
		lower := strings.ToLower(word)
		for _, a := range []address{familiar, european, brazilian} {
			if slices.Contains(known[a], lower) {
				return a
			}
		}
		// "sie" in lower case is "they".
		if slices.Contains(known[polite], lower) && (code != "de" || word != lower) {
			return polite
		}
	}
	return neutral
}

// addressOf returns the address of the brief's own words, or else that of the
// tone.
func (w *writer) addressOf() address {
	if strings.HasPrefix(strings.ToLower(w.m.set.Language), "pt") {
		if isBrazilian(w.m.set) {
			return brazilian
		}
		return european
	}
	for _, f := range w.m.set.Facts {
		if a := addressIn(w.m.set.Language, f.Text); a != neutral {
			return a
		}
	}
	if w.tone == "friendly" || w.tone == "energetic" {
		return familiar
	}
	return polite
}

// isBrazilian reports a brief in the Portuguese of Brazil: by its language tag, its
// currency, its web address or its words.
func isBrazilian(set *brief.Understood) bool {
	code, region, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(set.Language, "_", "-")), "-")
	if code != "pt" || region != "" {
		return code == "pt" && region == "br"
	}
	european, found := false, false
	for _, f := range set.Facts {
		switch text := strings.ToLower(f.Text); addressIn(set.Language, f.Text) {
		case brazilian:
			return true
		case neutral, familiar, polite:
			found = found || strings.Contains(text, "r$") || strings.HasSuffix(text, ".br") || strings.Contains(text, ".br/")
		default:
			european = true
		}
	}
	return found && !european
}

// actionText returns the call to action of a brief that has none for all channels:
// that of the request, or one that follows from the contact and the kind. It is
// empty if the brief has one.
func actionText(set *brief.Understood, asked string) string {
	own, has := set.First(brief.CallToAction, 0)
	l := languageOf(set.Language)
	if l == nil || has && !atoms.HasPhone(own.Text) {
		return ""
	}
	of := func(name string) string {
		if text := l.with("brazil_"+name, ""); text != "" && isBrazilian(set) {
			return text
		}
		return l.with(name, "")
	}
	if asked != "" {
		if text := of("action_" + asked); text != "" {
			return text
		}
	}
	action := ""
	if set.KindConfidence >= brief.SureKind {
		action = of("action_of_" + string(set.Kind))
	}
	switch {
	case isWanted(set, l):
		return of("action_of_wanted")
	case set.Kind == "appeal" && action != "" && !asksForMoney(set) && !slices.ContainsFunc(set.Facts, func(f brief.Fact) bool { return l.has("gifts", f.Text) }):
		// Not every appeal is for money.
		action = of("action_of_help")
	}
	contact, _ := set.First(brief.Contact, 0)
	online := slices.Contains([]brief.Kind{"product", "fashion", "software", "hiring", "course", "appeal", "media"}, set.Kind) && action != ""
	if call := of("action_call_now"); call != "" && atoms.HasPhone(contact.Text) && !online {
		return call
	}
	if action == "" || action == of("action_learn_more") {
		kind := brief.General
		if set.KindConfidence >= brief.SureKind {
			kind = set.Kind
		}
		if _, coded := set.First(brief.Code, brief.Sure); coded {
			return of("action_shop_now") // A code is for an order.
		}
		for _, with := range []brief.Type{brief.Place, brief.When, brief.Price} {
			if _, known := set.First(with, brief.Sure); known {
				if text := of("action_with_" + string(with) + "_of_" + string(kind)); text != "" {
					return text
				}
			}
		}
	}
	if action == "" && !has {
		return of("action_learn_more")
	}
	return action
}

// button returns the platform's button for the call to action.
func (w *writer) button() string {
	if w.brief.CallToAction != "" {
		return w.brief.CallToAction
	}
	f, ok := first(w.m.facts, brief.CallToAction)
	if !ok || w.m.lang == nil {
		return ""
	}
	for _, action := range creative.CallsToAction {
		if w.m.lang.has("button_"+action, f.Text) {
			return action
		}
	}
	return ""
}

// grams are the word trigrams of a copy, and the first words of its long text. A text
// of fewer than three words is one.
type grams struct {
	words  map[string]bool
	begins string
}

// startWords is how many words of two long texts show that they begin alike.
const startWords = 12

// ledBy is how many lines of a list a reader sees first.
const ledBy = 2

// gramsOf returns the grams of what a reader sees first: the first lines of a list,
// the first words of a text. What follows says the same facts in every variant.
func gramsOf(channel string, c *policy.Copy) grams {
	g := grams{words: map[string]bool{}}
	for _, l := range policy.LimitsOf(channel) {
		if l.Field == "paths" || l.Field == "business_name" {
			continue
		}
		list := c.Texts(l.Field)
		if l.Field == "headlines" && (channel == "search" || channel == "display") {
			g.begins = strings.Join(list[:min(len(list), ledBy)], " / ")
		}
		for _, text := range list[:min(len(list), ledBy)] {
			if words := strings.Fields(text); channel != "display" && l.MaxItems == 1 && len(words) > startWords && l.Field != "long_headline" && l.Field != "short_text" && l.Field != "preheader" {
				g.begins = strings.Join(words[:startWords], " ")
			}
			words := strings.FieldsFunc(strings.ToLower(opens(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if len(words) < 3 {
				g.words[strings.Join(words, " ")] = true
			}
			for i := range max(0, len(words)-2) {
				g.words[strings.Join(words[i:i+3], " ")] = true
			}
		}
	}
	return g
}

// opens returns the first words of a text.
func opens(text string) string {
	if list := strings.Fields(text); len(list) > startWords {
		return strings.Join(list[:startWords], " ")
	}
	return text
}

// sameShare is the share of common trigrams from which two texts say the same.
const sameShare = 0.5

// resembles reports whether two variants repeat each other: they say the same on
// two of three channels that both have.
func resembles(a, b map[string]grams) bool {
	alike, both := 0, 0
	for channel, x := range a {
		y, ok := b[channel]
		if !ok {
			continue
		}
		both++
		common := 0
		for gram := range x.words {
			if y.words[gram] {
				common++
			}
		}
		if x.begins != "" && x.begins == y.begins || float64(common) >= sameShare*float64(max(1, len(x.words)+len(y.words)-common)) {
			alike++
		}
	}
	return both > 0 && alike*3 >= both*2
}
