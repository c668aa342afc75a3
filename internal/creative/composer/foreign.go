package composer

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

// arranger writes in languages without templates: it cuts the prompt into its
// phrases and arranges them. Every word is the brief's.
type arranger struct {
	// thing is the phrase that says what is advertised, facts are the others.
	thing  string
	facts  []string
	name   string
	domain string
	cta    string
	// phone is the clause with the phone number.
	phone string
	// shares are the facts of each variant: two variants that say all there is
	// to say would be the same one in another order.
	shares [][]string
	// calls counts the tries of each channel and variant.
	calls map[string]int
	// stop and comma are the script's own.
	stop, comma string
	bar         *bar
	// fits has the results of fitted, parts those of pieces: a long phrase costs
	// milliseconds, and each of up to a thousand tries needs it again.
	fits  map[fitKey]string
	parts map[string][]string
}

type fitKey struct {
	phrase string
	limit  policy.Limit
}

const mostFacts = 12

func newArranger(b *creative.Brief, text, tag string, phone contact, k *bar) *arranger {
	a := &arranger{name: plainName(b.Brand.Name), domain: domain(b.LandingURL), stop: ". ", comma: ", ", bar: k, phone: k.allowed(upperFirst(phone.clause)), calls: map[string]int{}, fits: map[fitKey]string{}, parts: map[string][]string{}}
	if k.blocks(a.name) {
		a.name = ""
	}
	if k.blocks(a.domain) {
		a.domain = ""
	}
	switch base, _, _ := strings.Cut(strings.ToLower(tag), "-"); base {
	case "ja", "zh":
		a.stop, a.comma = "。", "、"
	case "ar", "fa", "ur":
		a.comma = "، "
	}
	for _, phrase := range phrases(text) {
		phrase = k.allowed(phrase)
		if phrase != "" && len(a.facts) < mostFacts && !slices.ContainsFunc(a.facts, func(s string) bool { return strings.EqualFold(s, phrase) }) {
			a.facts = append(a.facts, phrase)
		}
	}
	if len(a.facts) > 0 {
		a.thing, a.facts = a.facts[0], a.facts[1:]
	}
	a.cta = b.CallToAction
	if a.cta == "" {
		a.cta = wanted[strings.ToLower(b.Objective)]
	}
	if a.cta == "" && phone.phone != "" && b.LandingURL == "" {
		a.cta = "call_now"
	}
	if a.cta == "" {
		a.cta = choose(strings.ContainsAny(text, "%€$£¥"), "shop_now", "learn_more")
	}
	a.divide(max(1, b.Variants), rand.New(rand.NewPCG(uint64(b.Seed), 0))) //nolint:gosec // the seed's bits matter, not its sign
	return a
}

// divide deals the facts out to the variants, every one at least one.
func (a *arranger) divide(variants int, r *rand.Rand) {
	order := slices.Clone(a.facts)
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	each := max(1, (len(order)+variants-1)/variants)
	for v := range variants {
		var share []string
		for i := range min(each, len(order)) {
			share = append(share, order[(v*each+i)%len(order)])
		}
		a.shares = append(a.shares, share)
	}
}

// orders are instructions at the start of a prompt, tails those at its end.
var (
	foreignOrders = []*pattern{
		newPattern(`(?i)^(?:bitte )?(?:schreib(?:e|en sie)?|erstell(?:e|en sie)?|mach(?:e|en sie)?|generiere|entwirf|verfasse)(?: (?:mir|uns|bitte))* (?:[\p{L}-]+ ){0,4}?(?:werbe)?(?:anzeigen?|werbung|texte?|posts?|banner|kampagne|newsletter|e-mail|slogans?)(?: (?:für|über|zu|zum|zur))?[ :]+`),
		newPattern(`(?i)^(?:s'il (?:te|vous) plaît,? )?(?:écri(?:s|vez)|rédigez?|créez?|fais|faites|génèrez?)(?:[ -](?:moi|nous))? (?:[\p{L}'-]+ ){0,4}?(?:annonces?|publicités?|pubs?|textes?|posts?|campagnes?|bannières?|e-mails?|slogans?)(?: (?:pour|sur|de))?[ :]+`),
		newPattern(`(?i)^(?:por favor,? )?(?:escrib[ea]|cre[ae]|haz|haga|genera|redacta)(?:me|nos)? (?:[\p{L}-]+ ){0,4}?(?:anuncios?|publicidad|textos?|campañas?|posts?|banners?|correos?|eslógames?)(?: (?:para|sobre|de))?[ :]+`),
		newPattern(`(?i)^(?:per favore,? )?(?:scrivi|scriva|crea|genera|fai) (?:[\p{L}'-]+ ){0,4}?(?:annunci[o]?|pubblicità|testo|testi|post|campagna|banner|slogan)(?: (?:per|su|di))?[ :]+`),
		newPattern(`(?i)^(?:por favor,? )?(?:escrev[ae]|crie|cria|faça|faz|gere) (?:[\p{L}-]+ ){0,4}?(?:anúncios?|publicidade|textos?|campanha|posts?|banners?|slogan)(?: (?:para|sobre|de))?[ :]+`),
		newPattern(`(?i)^(?:graag )?(?:schrijf|maak|creëer|genereer) (?:[\p{L}-]+ ){0,4}?(?:advertenties?|reclame|teksten?|tekst|campagne|berichten?|bericht|banners?|slogans?)(?: (?:voor|over))?[ :]+`),
		newPattern(`(?i)^(?:γράψε|γράψτε|δημιούργησε|δημιουργήστε|φτιάξε)(?: μου| μας)? (?:[\p{L}]+ ){0,3}?(?:διαφήμιση|διαφημίσεις|καμπάνια|κείμενο|ανάρτηση)(?: (?:για))?[ :]+`),
		newPattern(`^(?:اكتب|أنشئ|صمم|اصنع)(?: لي| لنا)? (?:\S+ ){0,2}?(?:إعلان\S*|حملة|نص\S*)(?: (?:عن|حول|من أجل))? (?:ل)?`),
		newPattern(`(?i)^(?:напиши(?:те)?|создай(?:те)?|сделай(?:те)?)(?: мне| нам)? (?:[\p{L}]+ ){0,3}?(?:объявлени[ея]|реклам[ауы]|текст|пост|баннер)(?: (?:для|о|об|про))?[ :]+`),
		newPattern(`^(?:请|帮我|为我)?(?:写|创建|制作|生成)(?:一个|一则|一些|几个)?(?:关于)?`),
	}
	foreignTails = []*pattern{
		newPattern(`(?:の|について(?:の)?)?(?:広告|コピー|投稿|バナー|キャンペーン|メール)(?:文|コピー)?(?:を)?(?:作成|作って|書いて|作り|生成)(?:して)?(?:ください|下さい|くれ|お願いします)?$`),
		newPattern(`的(?:广告|文案|海报|广告文案)$`),
		newPattern(`(?:의|을 위한|를 위한|에 대한)? ?(?:광고|카피|문구|게시물)(?:를|을)? ?(?:작성해|만들어|써)(?: ?주세요| ?줘)?$`),
	}
	ourWords    = newPattern(`(?i)^(?:unser(?:e[nrms]?)?|notre|nos|nuestr[oa]s?|il nostro|la nostra|i nostri|le nostre|nosso|nossa|nossos|nossas|onze|ons|το|τα|η|ο|τη|την|μας) `)
	clauseBreak = newPattern(`\s*[,;،؛、，|]\s*|\s+[-–—:]\s+|\s*[:：]\s+|[。！？]\s*|[؟]\s*`)
	// labelled is a fact that says nothing without its label: "Code: HELLO15".
	labelled       = newPattern(`([^\s,;:])(?:\s*[:：]\s+)([\x{e000}-\x{f8ff}])(\s*(?:[,;.]|$))`)
	foreignInject  = newPattern(`(?i)\b(?:ignorier\w*|vergiss|ignore[rz]?|oublie[rz]?|ignora|olvida|dimentica|negeer|esqueça|prompt|system|instrucciones|anweisungen|istruzioni|instruções)\b|指示を無視|プロンプト|تجاهل|αγνόησε|игнорируй`)
	foreignConnect = set(`partir lieu lugar vez invece und oder aus für mit ab bis von in im zum zur bei auf et ou à au aux de du des pour avec dès en sur chez jusqu'au y o para con del desde hasta e per da dal di a do dos das em no na voor met van tot op naar από για με στο στη στην και σε άνω των в на для с и по от до the and for with from of to at by on an or`)
)

// phrases cuts a prompt into phrases and takes instructions off.
func phrases(text string) []string {
	var list []string
	m := newMasking(text)
	for line := range strings.SplitSeq(m.text, "\n") {
		line = strings.TrimPrefix(line, bulletMark)
		for _, s := range m.sentences(strings.ReplaceAll(line, "•", ";")) {
			if injected(s.text) || foreignInject.MatchString(s.text) {
				continue
			}
			list = append(list, m.phrases(s.text)...)
		}
	}
	return list
}

// phrases cuts a sentence of the masked text.
func (m *masking) phrases(s string) []string {
	for _, order := range foreignOrders {
		s = order.ReplaceAllString(s, "")
	}
	s = labelled.ReplaceAllStringFunc(strings.ReplaceAll(s, `"`, ""), hideColon)
	var list []string
	alone := false
	for _, phrase := range clauseBreak.Split(s, -1) {
		for _, tail := range foreignTails {
			phrase = tail.ReplaceAllString(phrase, "")
		}
		phrase = strings.Trim(ourWords.ReplaceAllString(strings.TrimSpace(phrase), ""), ` .,:;!?'-_/+&`+gap)
		if strings.Count(phrase, "(") != strings.Count(phrase, ")") || strings.HasPrefix(phrase, "(") {
			phrase = strings.Trim(phrase, " ()")
		}
		if first, rest := cutWord(phrase); rest != "" && (first == "und" || first == "et" || first == "y" || first == "and") {
			phrase = rest
		}
		phrase = shownColon.Replace(phrase)
		if plain := m.restore(phrase); strings.ContainsFunc(plain, unicode.IsLetter) || strings.ContainsFunc(plain, unicode.IsDigit) && strings.ContainsAny(plain, "%€$£¥") {
			single, phrase := lone(phrase), m.restore(quiet(phrase))
			// One word says little alone: "geölt, langlebig" stay together.
			if n := len(list); n > 0 && alone && single {
				list[n-1] += ", " + phrase
				continue
			}
			alone = single
			list = append(list, upperFirst(phrase))
		}
	}
	return list
}

// hideColon keeps the colon of a label from being a break, shownColon brings it
// back.
func hideColon(s string) string {
	at := strings.IndexFunc(s, masked)
	return strings.NewReplacer(":", "\x00", "：", "\x01", " ", "\x02").Replace(s[:at]) + s[at:]
}

var shownColon = strings.NewReplacer("\x00", ":", "\x01", "：", "\x02", " ")

// lone reports one word of a script with spaces. An atom is more than a word.
func lone(phrase string) bool {
	return !strings.ContainsFunc(phrase, masked) && !strings.Contains(phrase, " ") && !anyIdeograph(phrase)
}

// quiet takes shouting down to lower case.
func quiet(s string) string {
	if shouted(s) {
		return strings.ToLower(s)
	}
	return s
}

func (a *arranger) able() bool { return a.thing != "" || a.name != "" }

func (a *arranger) action() string { return a.cta }

func (a *arranger) angle(variant int) string {
	share := a.shares[variant]
	switch {
	case slices.ContainsFunc(share, func(s string) bool { return strings.Contains(s, "%") }):
		return byOffer
	case len(share) > 0:
		return byFeature
	}
	return byBrand
}

func (a *arranger) keep(string, policy.Copy) {}

func (a *arranger) write(channel string, variant int, r *rand.Rand) policy.Copy {
	facts := slices.Clone(a.shares[variant])
	r.Shuffle(len(facts), func(i, j int) { facts[i], facts[j] = facts[j], facts[i] })
	// Saying less is a way to differ.
	key := channel + " " + strconv.Itoa(variant)
	if less := a.calls[key] / 3; less > 0 && len(facts) > 1 {
		facts = facts[:max(1, len(facts)-less)]
	}
	a.calls[key]++
	// Variants that share their facts at least open with another.
	lead := a.thing
	if len(facts) > 0 && variant%2 == 1 && lead != "" && len(facts) < len(a.facts) {
		lead, facts = facts[0], append([]string{a.thing}, facts[1:]...)
	}
	all := slices.DeleteFunc(append([]string{lead}, facts...), func(s string) bool { return s == "" })
	var c policy.Copy
	for _, l := range policy.LimitsOf(channel) {
		if a.phone != "" && !noPhone(l) && slices.Contains([]string{"primary_text", "body", "script"}, l.Field) {
			others := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return strings.HasPrefix(a.phone, s) })
			c.SetTexts(l.Field, a.field(l, append(others, a.phone)))
			continue
		}
		c.SetTexts(l.Field, a.field(l, all))
	}
	return c
}

func (a *arranger) field(l policy.Limit, all []string) []string {
	n := max(1, counts[l.Channel+" "+l.Field])
	switch l.Field {
	case "headlines", "subject":
		return a.heads(l, all, n)
	case "descriptions":
		return a.lines(l, all, min(n, max(l.MinItems, (len(all)+1)/2)))
	case "paths":
		return nil
	case "business_name":
		if a.name == "" || l.Length(a.name) > l.Hard {
			return nil
		}
		return []string{a.name}
	case "body", "script":
		return one(a.letter(l, all))
	}
	if list := a.lines(l, all, 1); len(list) > 0 {
		return list
	}
	return a.heads(l, all, 1)
}

// heads are single phrases, with the name where there is room.
func (a *arranger) heads(l policy.Limit, all []string, n int) []string {
	var list []string
	add := func(text string) {
		if text = a.bar.allowed(text); text != "" && len(list) < n && l.Length(text) <= room(l) && !slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, text) }) {
			list = append(list, text)
		}
	}
	for _, phrase := range all {
		add(a.fitted(phrase, l))
	}
	for _, phrase := range all {
		if a.name != "" && phrase != a.name {
			if text := a.fitted(phrase, l); text != "" {
				add(a.name + ": " + text)
			}
		}
	}
	for i, phrase := range all {
		if i > 0 {
			add(all[0] + a.comma + lowerLatin(phrase))
		}
	}
	add(a.name)
	for _, phrase := range all {
		if len(list) >= l.MinItems {
			break
		}
		for _, piece := range a.pieces(phrase) {
			if len(list) < l.MinItems {
				add(upperFirst(piece))
			}
		}
	}
	return list
}

// fitted is a phrase, or as much of it as stands alone within the limit.
func (a *arranger) fitted(phrase string, l policy.Limit) string {
	key := fitKey{phrase, l}
	text, known := a.fits[key]
	if !known {
		text = fit(phrase, l)
		a.fits[key] = text
	}
	return text
}

func fit(phrase string, l policy.Limit) string {
	l.Hard = room(l)
	if short, ok := Shorten(phrase, l); ok {
		if short != phrase {
			short = strings.TrimSuffix(short, ".")
		}
		return short
	}
	m := newMasking(phrase)
	words := strings.Fields(m.text)
	for i := len(words) - 1; i > 0; i-- {
		// Two facts with one word between them are one: "10x de R$ 219,99".
		if i+1 < len(words) && strings.ContainsFunc(words[i-1], masked) && strings.ContainsFunc(words[i+1], masked) {
			continue
		}
		if text := m.restore(strings.Join(words[:i], " ")); foreignConnect[strings.ToLower(words[i])] && !foreignConnect[strings.ToLower(words[i-1])] && l.Length(text) <= l.Hard {
			return text
		}
	}
	return ""
}

func (a *arranger) pieces(phrase string) []string {
	list, known := a.parts[phrase]
	if !known {
		list = pieces(phrase)
		a.parts[phrase] = list
	}
	return list
}

// pieces are the parts of a phrase that a connecting word or, in scripts
// without spaces, a change of script sets apart; its words as a last resort.
func pieces(phrase string) []string {
	var list, words []string
	if anyIdeograph(phrase) {
		return scriptRuns(phrase)
	}
	m := newMasking(phrase)
	for word := range strings.FieldsSeq(m.text) {
		if foreignConnect[strings.ToLower(word)] {
			list = append(list, strings.Join(words, " "))
			words = nil
			continue
		}
		words = append(words, word)
	}
	list = append(list, strings.Join(words, " "))
	// An amount or a date alone says too little, and a part of it is wrong.
	return slices.DeleteFunc(append(list, strings.Fields(m.text)...), func(s string) bool { return strings.ContainsFunc(s, masked) })
}

// scriptRuns cuts where the script changes.
func scriptRuns(s string) []string {
	var list []string
	kind := func(r rune) int {
		switch {
		case unicode.Is(unicode.Hiragana, r):
			return 1
		case unicode.Is(unicode.Katakana, r) || r == 'ー':
			return 2
		case unicode.Is(unicode.Han, r):
			return 3
		}
		return 4
	}
	start, before := 0, 0
	for i, r := range s {
		k := kind(r)
		if i > 0 && k != before {
			list = append(list, strings.TrimSpace(s[start:i]))
			start = i
		}
		before = k
	}
	list = append(list, strings.TrimSpace(s[start:]))
	return slices.DeleteFunc(list, func(part string) bool { return runes(part) < 2 || kind([]rune(part)[0]) == 1 })
}

// lines are a few phrases in a row, each beginning with another.
func (a *arranger) lines(l policy.Limit, all []string, n int) []string {
	var list []string
	for i := range all {
		if len(list) == n {
			break
		}
		text := ""
		for j := range all {
			next := all[(i+j)%len(all)]
			joined := next
			if text != "" {
				joined = a.after(text) + next
			}
			if l.Length(joined)+1 > room(l) {
				continue
			}
			text = joined
		}
		if text == "" {
			text = a.fitted(all[i], l)
		}
		if text = a.ended(text, l); text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for _, extra := range a.heads(l, all, l.MaxItems) {
		if len(list) < max(l.MinItems, 1) && !slices.Contains(list, extra) {
			list = append(list, extra)
		}
	}
	return list
}

// after is a text that another sentence can follow.
func (a *arranger) after(text string) string {
	if strings.HasSuffix(text, ".") {
		return text + " "
	}
	return text + a.stop
}

// ended gives a text of several sentences its last stop.
func (a *arranger) ended(text string, l policy.Limit) string {
	stop := strings.TrimSpace(a.stop)
	if text == "" || !strings.Contains(text, stop) || l.Length(text+stop) > l.Hard || strings.HasSuffix(text, stop) {
		return text
	}
	return text + stop
}

// letter puts every phrase on a line of its own.
func (a *arranger) letter(l policy.Limit, all []string) string {
	text := ""
	for _, phrase := range slices.Concat(all, []string{a.domain, a.name}) {
		if phrase == "" {
			continue
		}
		joined := phrase
		if text != "" {
			joined = text + "\n" + choose(l.Field == "body", "\n", "") + phrase
		}
		if l.Length(joined) <= room(l) {
			text = joined
		}
	}
	return text
}

// lowerLatin lowers the first letter inside a line; German nouns keep theirs.
func lowerLatin(s string) string {
	word := firstWord(s)
	if startsProper(s, "") || len(word) > 3 {
		return s
	}
	return lowerFirst(s)
}
