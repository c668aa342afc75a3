package policy_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fanfare/internal/creative/policy"
)

// reviewOne checks one text and returns each finding as "rule severity
// [words]". It cuts the words out of the text by their position, so that tests
// check the position too.
func reviewOne(b *policy.BriefSource, channel, field, text string) []string {
	var c policy.Copy
	c.SetTexts(field, []string{text})
	p := policy.Review(b, []string{channel}, map[string]policy.Copy{channel: c})
	found := []string{}
	for _, f := range p.Findings {
		found = append(found, fmt.Sprintf("%s %s [%s]", f.Rule, f.Severity, string([]rune(text)[f.Start:f.End])))
	}
	return found
}

func TestReviewRules(t *testing.T) {
	t.Parallel()
	brief := func(prompt string) *policy.BriefSource { return &policy.BriefSource{Prompt: prompt} }
	banned := func(words ...string) *policy.BriefSource {
		return &policy.BriefSource{BannedWords: words}
	}
	negative := &policy.BriefSource{NegativePrompt: `no 'crowds', do not mention sugar or "late fee"; we would rather not speak of the old shop`}
	coffee := brief("Oat milk latte for $4.50, 20% off until Sunday 12 June 2027, 18:30, 1500 USD in prizes. Kaffee & Co.")
	landing := &policy.BriefSource{Prompt: "see partner.example.org", LandingURL: "https://shop.kava.co.uk/sale?x=1"}
	for _, tt := range []struct {
		name    string
		brief   *policy.BriefSource
		channel string
		field   string
		text    string
		want    []string
	}{
		{"nothing wrong", coffee, "social", "primary_text", "Warm, creamy, made for mornings.", nil},
		{"too long", nil, "search", "headlines", "Thirty characters are not many at all", []string{"over_limit block [ at all]"}},
		{"too wide", nil, "search", "paths", "日本語日本語日本", []string{"over_limit block [本]"}},
		{"cut off", nil, "social", "headlines", "A headline that is longer than forty letters", []string{"over_limit warn [ters]"}},
		{"one part of a message", nil, "sms", "primary_text", strings.Repeat("a", 70) + "ł", []string{"over_limit block [ł]"}},

		{"banned word", banned("cheap"), "social", "primary_text", "Never Cheap, and not cheapen or cheap's", []string{"banned_word block [Cheap]", "banned_word block [cheap]"}},
		{"banned with accent", banned("cafe"), "social", "primary_text", "Ein Cafe\u0301, ein Café", []string{"banned_word block [Cafe\u0301]", "banned_word block [Café]"}},
		{"banned phrase", banned("free trial"), "social", "primary_text", "Start a free-trial", []string{"banned_word block [free-trial]", "offer_not_in_brief warn [free-trial]"}},
		{"banned plural", banned("discount"), "social", "primary_text", "Our discounts", []string{"banned_word warn [discounts]"}},
		{"banned with sharp s", banned("STRASSE"), "social", "primary_text", "Die Straße", []string{"banned_word block [Straße]"}},
		{"banned without spaces", banned("安い"), "social", "primary_text", "とても安いです", []string{"banned_word block [安い]"}},
		{"banned with hidden character", banned("cheap"), "social", "primary_text", "so ch\u200beap", []string{"banned_word block [ch\u200beap]"}},
		{"negative prompt", negative, "social", "primary_text", "Crowds love sugar, late fee, old shop", []string{
			"banned_word block [Crowds]", "banned_word block [sugar]", "banned_word block [late fee]",
		}},

		{"price", coffee, "social", "primary_text", "Now $3.50, was $4.5, 4,50 $ or USD 4.50", []string{"price_not_in_brief block [$3.50]"}},
		{"thousands", coffee, "social", "primary_text", "$1,500 = 1500 USD = $1,500.00 = 1 500 $ = $1.5k = 1.500 dollars", nil},
		{"other currency", coffee, "social", "primary_text", "Only €4.50 for it", []string{"price_not_in_brief block [€4.50]"}},
		{"number is no price", coffee, "social", "primary_text", "Only $12", []string{"price_not_in_brief block [$12]"}},
		{"percentage", coffee, "social", "primary_text", "20 % = 20 percent = 20% = twenty per cent, not 25 %", []string{"price_not_in_brief block [25 %]"}},
		{"percentage in words", coffee, "social", "primary_text", "Fifty percent less", []string{"price_not_in_brief block [Fifty percent]"}},
		{"range", brief("from $20-30, 5 to 10%"), "social", "primary_text", "$30 and 5%, but $25", []string{"price_not_in_brief block [$25]"}},
		{"pounds", brief("20 pounds each"), "social", "primary_text", "£20 each", nil},
		{"other digits", brief("خصم 20%"), "social", "primary_text", "خصم ٢٠٪ أو ٣٠٪", []string{"price_not_in_brief block [٣٠٪]"}},
		{"dates and times", coffee, "social", "primary_text", "12 June 2027, 12/12/2027, 18:30, 6:30 pm, 18.30", []string{"number_not_in_brief warn [18.30]"}},
		{"numbers", coffee, "social", "primary_text", "Loved by 300 people, 3 days, 3 tastes, B2B", []string{"number_not_in_brief warn [300 people]", "number_not_in_brief warn [3 days]"}},
		{"score", brief("4.8 of 5 stars"), "social", "primary_text", "Rated 4.8/5", nil},
		{"large number in words", coffee, "social", "primary_text", "Two million cups", []string{"number_not_in_brief warn [Two million cups]"}},

		{"landing page", landing, "social", "primary_text", "Go to www.kava.co.uk/now or partner.example.org, mail hi@kava.co.uk", nil},
		{"other page", landing, "social", "primary_text", "See https://evil.io/a?b=1, or kava.com.", []string{"foreign_url block [https://evil.io/a?b=1]", "foreign_url block [kava.com]"}},
		{"address without name", landing, "social", "primary_text", "http://localhost:80 is", []string{"foreign_url block [http://localhost:80]", "number_not_in_brief warn [80]"}},
		{"no page", landing, "social", "primary_text", "It is here today.Shop it, e.g. with Node.js", nil},

		{"markup", nil, "email", "body", "Hi <b>you</b> &amp; me, a < b", []string{"markup block [<b>]", "markup block [</b>]", "markup block [&amp;]"}},
		{"script", nil, "email", "body", "javascript:alert(1) is not JavaScript: a course", []string{"markup block [javascript:a]"}},

		{"superlatives", brief("coffee"), "social", "primary_text", "The best, #1, world's leading", []string{
			"unproven_superlative warn [best]", "unproven_superlative warn [#1]", "unproven_superlative warn [world's leading]",
		}},
		{"proven superlative", brief("We are number one in Ohio"), "social", "primary_text", "The No. 1 and best", []string{"unproven_superlative warn [best]"}},
		{"no superlative", nil, "email", "body", "Do your best. No one else. Best regards", nil},
		{"absolute", nil, "social", "primary_text", "Risk-free and guaranteed", []string{"absolute_claim warn [Risk-free]", "absolute_claim warn [guaranteed]"}},
		{"medical", nil, "search", "headlines", "Cures diabetes, no side effects", []string{
			"medical_claim block [Cures diabetes]", "medical_claim block [no side effects]", "over_limit block [s]",
		}},
		{"medical in the brief", brief("clinically proven, cures acne, relieves migraines"), "social", "primary_text", "Clinically proven. Cures acne. Relieves migraines. Relieves asthma.", []string{
			"medical_claim warn [Clinically proven]", "medical_claim block [Cures acne]", "medical_claim warn [Relieves migraines]", "medical_claim block [Relieves asthma]",
		}},
		{"wage in the brief", brief("Drivers wanted. Earn £17.40 per hour"), "social", "primary_text", "Earn £17.40 per hour.", []string{"financial_claim warn [Earn £17.40 per hour]"}},
		{"prohibited", nil, "social", "primary_text", "Buy AR-15 rifles without a background check.", []string{"prohibited_content block [Buy AR-15]", "prohibited_content block [rifles without a background check]"}},
		{"prohibition opposed", nil, "social", "primary_text", "Help us stop the sale of ghost guns", nil},
		{"weight", brief("Lose 5 kg in a month"), "social", "primary_text", "Lose 10 kg in a week", []string{
			"medical_claim block [Lose 10 kg in a week]", "number_not_in_brief warn [10 kg]",
		}},
		{"no medicine", nil, "social", "primary_text", "Dry-cured ham, a cure for boredom", nil},
		{"financial", nil, "social", "primary_text", "Guaranteed returns! Double your money. Instant approval.", []string{
			"absolute_claim warn [Guaranteed]", "financial_claim block [Guaranteed returns]", "financial_claim block [Double your money]", "financial_claim block [Instant approval]",
		}},
		{"offer", brief("free shipping in May"), "social", "primary_text", "Free shipping and free returns", []string{"offer_not_in_brief warn [free returns]"}},
		{"French is not read as English", &policy.BriefSource{Language: "fr-CA"}, "social", "primary_text", "La cure best", nil},

		{"attribute in question", nil, "social", "primary_text", "Are you overweight?", []string{"personal_attribute block [Are you overweight]"}},
		{"attribute elsewhere", nil, "display", "descriptions", "Meet other diabetics", []string{"personal_attribute warn [other diabetics]"}},
		{"attribute of a family", nil, "social", "headlines", "As a single mom you know", []string{"personal_attribute block [As a single mom]"}},
		{"attribute of money", nil, "social", "headlines", "Get rid of your debt", []string{"personal_attribute block [your debt]"}},
		{"attribute of a group", nil, "social", "headlines", "For Black people like you", []string{"personal_attribute block [Black people like you]"}},
		{"attribute alone", nil, "social", "headlines", "Hello. Lesbian? Join us", []string{"personal_attribute block [Lesbian?]"}},
		{"attribute of crime", nil, "social", "headlines", "Clear your criminal record", []string{"personal_attribute block [your criminal record]"}},
		{"attribute of work", nil, "social", "headlines", "You’re a union member", []string{"personal_attribute block [You’re a union member]"}},
		{"no attribute", nil, "social", "primary_text", "Are you Black Friday ready? As a Muslim-owned shop we are. Gay bars near you, run your race.", nil},

		{"rival in English", nil, "social", "primary_text", "Cheaper than at Tesco. Better sleep than last winter. As soon as Monday. More than Excel.", []string{"comparative_claim warn [Cheaper than at Tesco]"}},
		{"rival among nouns", nil, "social", "primary_text", "Besser als IKEA. Günstiger als Miete.", []string{"comparative_claim warn [Besser als IKEA]"}},
		{"rival in a title", nil, "social", "primary_text", "Brighter Lamps Than Sunny Mornings", nil},
		{"wage in a job", nil, "social", "primary_text", "Drivers wanted. Earn £900 a week", nil},
		{"wage of a scheme", nil, "social", "primary_text", "No job? Earn £900 a week from home", []string{"financial_claim block [Earn £900 a week from home]"}},
		{"fake reply in an ad", nil, "social", "headlines", "Re: your order", []string{"fake_message block [Re:]"}},
		{"fake reply in an email", nil, "email", "subject", "Re: your order", []string{"fake_message warn [Re:]"}},
		{"restricted", nil, "social", "primary_text", "Online casino with bonus", []string{"restricted_product warn [Online casino]"}},
		{"weapon in Spanish", nil, "social", "primary_text", "Compra pistolas sin licencia", []string{"prohibited_content block [Compra pistolas]"}},
		{"tool in Spanish", nil, "social", "primary_text", "Compra pistolas de silicona", nil},
		{"acronyms", nil, "social", "primary_text", "HVAC, HDMI and GDPR, TAEG 4,90%, but FREE", []string{"excess_capitals warn [FREE]"}},

		{"platform", brief("sold on Etsy"), "social", "primary_text", "On Etsy and Instagram's feed", []string{"platform_name warn [Instagram]"}},
		{"exclamation in search", nil, "search", "headlines", "Fresh coffee!", []string{"exclamation_mark block [!]"}},
		{"exclamation in display", nil, "display", "long_headline", "Fresh coffee!", []string{"exclamation_mark warn [!]"}},
		{"exclamation elsewhere", nil, "search", "descriptions", "Fresh coffee!", nil},
		{"repeats", nil, "search", "descriptions", "What?! Wow!! So... good.", []string{
			"repeated_punctuation block [?!]", "repeated_punctuation block [!!]", "repeated_punctuation block [...]",
		}},
		{"capitals", brief("HVAC repair"), "social", "primary_text", "HVAC repair in your street, ASAP and NOW or CHEAPER than elsewhere", []string{"excess_capitals warn [ASAP]", "excess_capitals warn [CHEAPER]"}},
		{"all capitals", nil, "social", "primary_text", "COFFEE FOR ALL of you", []string{"excess_capitals warn [COFFEE FOR ALL of you]"}},
		{"abbreviation", nil, "search", "descriptions", "Booked before 11 a.m., ready by noon,, or so..", []string{"repeated_punctuation block [,,]", "repeated_punctuation block [..]"}},
		{"title case", nil, "social", "primary_text", "Go To A Spa In Rome", nil},
		{"spaced out", nil, "search", "headlines", "Get it S A L E now, U.S.A.", []string{"spaced_out block [S A L E]"}},
		{"emoji", nil, "display", "headlines", "Tea 👩\u200d💻☕ and 1\ufe0f\u20e3", []string{"emoji block [👩\u200d💻☕]", "emoji block [1\ufe0f\u20e3]"}},
		{"emoji elsewhere", nil, "social", "primary_text", "Tea ☕", nil},
		{"short text", nil, "social", "short_text", "Tea 🍵 #tea", []string{"emoji block [🍵]", "refused_character block [#]"}},
		{"symbols", nil, "search", "descriptions", "Tea → ★★ ✓ 5 × 2 − 1™", []string{"symbol block [→]", "symbol block [★★]", "symbol block [✓]"}},
		{"frame in any order", nil, "email", "body", "Ihr Rheuma? In drei Tagen geheilt.", []string{"personal_attribute warn [Ihr Rheuma?]", "medical_claim block [Rheuma? In drei Tagen geheilt]"}},
		{"a clinic names what it treats", nil, "social", "primary_text", "We treat migraine at our clinic in Leeds", nil},
		{"false friends", nil, "social", "primary_text", "Bald ist es so weit: der Laden ist offen", nil},
		{"signs that decorate", nil, "social", "primary_text", "A+++ fridges, C++ and *** deals $$$", []string{"repeated_punctuation warn [***]", "repeated_punctuation warn [$$$]"}},
		{"hidden letters", nil, "social", "primary_text", "C@sh for you: mail hi@kava.example, US$5", []string{"spaced_out warn [C@s]"}},
		{"phone", nil, "search", "headlines", "Call +49 30 1234567", []string{"phone_number block [+49 30 1234567]"}},
		{"no phone", nil, "search", "headlines", "2026-2027, 12.06.2027", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := append([]string{}, tt.want...)
			if diff := cmp.Diff(want, reviewOne(tt.brief, tt.channel, tt.field, tt.text)); diff != "" {
				t.Errorf("%q: want - got +\n%s", tt.text, diff)
			}
		})
	}
}

func TestReviewOrder(t *testing.T) {
	t.Parallel()
	text := "Wow!!"
	byChannel := map[string]policy.Copy{
		"search":  {Descriptions: []string{"ok", text}, Headlines: []string{text}, Body: &text},
		"social":  {ShortText: &text, PrimaryText: &text},
		"unknown": {Subject: &text},
		"audio":   {Script: &text},
	}
	p := policy.Review(nil, []string{"social", "push", "search", "social"}, byChannel)
	var got []string
	for _, f := range p.Findings {
		got = append(got, fmt.Sprintf("%s %s %d %s", f.Channel, f.Field, f.Index, f.Rule))
	}
	want := []string{
		"social primary_text 0 repeated_punctuation", "social short_text 0 repeated_punctuation",
		"search headlines 0 exclamation_mark", "search headlines 0 repeated_punctuation", "search descriptions 1 repeated_punctuation", "search body 0 repeated_punctuation",
		"audio script 0 repeated_punctuation", "unknown subject 0 repeated_punctuation",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order: want - got +\n%s", diff)
	}
	if p.Status != policy.Block {
		t.Errorf("status: got %s want block", p.Status)
	}
	if f := p.Findings[0]; f.Message != "“!!” repeats punctuation. One mark is enough." || f.Text != "!!" || f.Severity != policy.Warn {
		t.Errorf("got %+v want a warning about !! with the fix", f)
	}
}

func TestReviewStatus(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"Warm and creamy": "pass", "The best": "warn", "The best cure for acne": "block"} {
		p := policy.Review(nil, nil, map[string]policy.Copy{"social": {PrimaryText: &text}})
		if p.Status != want || p.Findings == nil {
			t.Errorf("%q: got %s with findings %v want %s and never nil", text, p.Status, p.Findings, want)
		}
	}
	text := strings.Repeat("The best. ", 50)
	if p := policy.Review(nil, nil, map[string]policy.Copy{"email": {Body: &text}}); len(p.Findings) != 5 {
		t.Errorf("fifty superlatives: got %d findings want 5", len(p.Findings))
	}
}

// hardWords are the parts of random texts: words of rules, and characters that
// are hard to count.
var hardWords = []string{
	"best", "your", "debt", "are", "you", "gay", "?", "!", "...", "cure", "cancer", "$20", "20%", "1.500", "12:30", "€", "S A L E", "SALE", "NOW",
	"evil.com", "https://x.y", "<b>", "&amp;", "👩\u200d💻", "1\ufe0f\u20e3", "ß", "e\u0301", "日本", "\u200b", "\n", "-", "–", "'s", "’", "\xff", "Google", "cheap", "ﬁ", "İ", "٢٠٪", "\u202e",
}

func TestReviewProperties(t *testing.T) {
	t.Parallel()
	text := rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(hardWords), rapid.String()), 0, 12).Draw(t, "parts")
		return strings.Join(parts, rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
	})
	channels := []string{"search", "social", "display", "sms", "email", "elsewhere"}
	fields := []string{"headlines", "long_headline", "descriptions", "primary_text", "short_text", "subject", "body", "paths"}
	rapid.Check(t, func(t *rapid.T) {
		byChannel := map[string]policy.Copy{}
		for _, channel := range rapid.SliceOfNDistinct(rapid.SampledFrom(channels), 0, 3, rapid.ID[string]).Draw(t, "channels") {
			var c policy.Copy
			for _, field := range rapid.SliceOfN(rapid.SampledFrom(fields), 0, 3).Draw(t, "fields") {
				c.SetTexts(field, rapid.SliceOfN(text, 1, 3).Draw(t, "texts"))
			}
			byChannel[channel] = c
		}
		var b *policy.BriefSource
		if rapid.Bool().Draw(t, "with brief") {
			b = &policy.BriefSource{
				Prompt: text.Draw(t, "prompt"), NegativePrompt: text.Draw(t, "negative"), LandingURL: text.Draw(t, "landing"),
				Language: rapid.SampledFrom([]string{"", "en", "de"}).Draw(t, "language"), BannedWords: []string{text.Draw(t, "banned")},
			}
			policy.RefusePrompt(b.Prompt)
		}
		p := policy.Review(b, channels, byChannel)
		checkResult(t, p, channels, byChannel)
		if diff := cmp.Diff(p, policy.Review(b, channels, byChannel)); diff != "" {
			t.Fatalf("the same again: got\n%s", diff)
		}
	})
}

// checkResult checks the guarantees of a Result: positions, severities, order
// and status.
func checkResult(t *rapid.T, p policy.Result, channels []string, byChannel map[string]policy.Copy) {
	highest := policy.Pass
	order := func(f policy.Finding) []int {
		field := slices.IndexFunc(policy.LimitsOf(f.Channel), func(l policy.Limit) bool { return l.Field == f.Field })
		if field < 0 {
			field = len(policy.Limits)
		}
		return []int{slices.Index(channels, f.Channel), field}
	}
	for i, f := range p.Findings {
		c := byChannel[f.Channel]
		runes := []rune(c.Texts(f.Field)[f.Index])
		if f.Start < 0 || f.Start >= f.End || f.End > len(runes) || string(runes[f.Start:f.End]) != f.Text {
			t.Fatalf("%+v: the position is not that of the text in %q", f, string(runes))
		}
		if f.Severity != policy.Block && f.Severity != policy.Warn || f.Message == "" || strings.Contains(f.Message, "{") && !strings.Contains(f.Text, "{") {
			t.Fatalf("%+v: bad severity or message", f)
		}
		if highest != policy.Block {
			highest = f.Severity
		}
		if i > 0 && slices.Compare(order(p.Findings[i-1]), order(f)) > 0 {
			t.Fatalf("%+v comes after %+v", f, p.Findings[i-1])
		}
	}
	if p.Status != highest || p.Findings == nil {
		t.Fatalf("status: got %s want %s", p.Status, highest)
	}
}

// readPrompts reads a file with one prompt per line.
func readPrompts(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// TestPromises checks that promises of health and money are blocked whatever
// the source says, in six languages, and that similar harmless texts are not.
func TestPromises(t *testing.T) {
	t.Parallel()
	rules := func(b *policy.BriefSource, text string) []string {
		var c policy.Copy
		c.SetTexts("body", []string{text})
		var list []string
		for _, f := range policy.Review(b, []string{"email"}, map[string]policy.Copy{"email": c}).Findings {
			if f.Rule == "medical_claim" || f.Rule == "financial_claim" {
				list = append(list, f.Rule+" "+f.Severity)
			}
		}
		return list
	}
	promises, harmless := readPrompts(t, "promises.txt"), readPrompts(t, "harmless.txt")
	if len(promises) < 50 || len(harmless) < 40 {
		t.Fatalf("got %d promises and %d harmless texts, want 50 and 40 at least", len(promises), len(harmless))
	}
	for _, line := range promises {
		rule, text, _ := strings.Cut(line, ": ")
		for _, b := range []*policy.BriefSource{nil, {Prompt: text, Language: "en"}, {Prompt: text, Language: policy.DetectLanguage(text)}} {
			if got := rules(b, text); !slices.Contains(got, rule+" block") {
				t.Errorf("%s: got %q want %s to block", text, got, rule)
			}
		}
	}
	for _, text := range harmless {
		for _, b := range []*policy.BriefSource{nil, {Prompt: "Something else", Language: "en"}} {
			if got := rules(b, text); slices.ContainsFunc(got, func(s string) bool { return strings.HasSuffix(s, "block") }) {
				t.Errorf("%s: got %q want no claim", text, got)
			}
		}
		if got := rules(&policy.BriefSource{Prompt: text, Language: "en"}, text); slices.ContainsFunc(got, func(s string) bool { return strings.HasSuffix(s, "block") }) {
			t.Errorf("%s in the brief: got %q want no block", text, got)
		}
	}
}

func TestRefusePrompt(t *testing.T) {
	t.Parallel()
	benign, refused := readPrompts(t, "benign.txt"), readPrompts(t, "refused.txt")
	if len(benign) < 60 || len(refused) < 30 {
		t.Fatalf("got %d benign and %d refused prompts, want 60 and 30 at least", len(benign), len(refused))
	}
	for _, prompt := range benign {
		if reason, refused := policy.RefusePrompt(prompt); refused {
			t.Errorf("%s: got %s want no refusal", prompt, reason)
		}
	}
	for _, line := range refused {
		category, prompt, _ := strings.Cut(line, ": ")
		reason, isRefused := policy.RefusePrompt(prompt)
		if !isRefused || !strings.Contains(reason, "asks for "+category+" (") {
			t.Errorf("%s: got %q, %t want a refusal as %s", prompt, reason, isRefused, category)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text      string
		multiline bool
		want      string
	}{
		{"plain text, 1 < 2 & I <3 you", false, "plain text, 1 < 2 & I <3 you"},
		{"<b>Fresh</b> coffee<br>daily", false, "Fresh coffee daily"},
		{"<p>One</p><p>Two</p>", true, "One\n\nTwo"},
		{"Fish &amp; chips &pound;5", false, "Fish & chips £5"},
		{"&amp;lt;script&amp;gt;x&amp;lt;/script&amp;gt;y", false, "y"},
		{"<script>alert(1)</script>Hello<!-- > -->", false, "Hello"},
		{"<<b>b>nested", false, "nested"},
		{"open <img src=x onerror=y", false, "open img src=x onerror=y"},
		{"a\u202eb\u200bc\u0000d\ufeffe\u00adf\xff", false, "abcdef"},
		{"  two \t\n\n  lines\u00a0here ", false, "two lines here"},
		{"  two \t\r\n\r\n  lines\u2028here ", true, "two\n\nlines\nhere"},
		{"👩\u200d💻 may\u200dbe, می\u200cخواهم", false, "👩\u200d💻 maybe, می\u200cخواهم"},
		{"&#8238;&#x200B;hidden&zwj;", false, "hidden"},
		{strings.Repeat("<b", 50) + strings.Repeat(">", 50), false, strings.Repeat("b", 45)},
		{"&" + strings.Repeat("amp;", 50) + "lt;b>", false, strings.Repeat("amp;", 45) + "lt;b"},
	} {
		if got := policy.Clean(tt.text, tt.multiline); got != tt.want {
			t.Errorf("%q: got %q want %q", tt.text, got, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range append(hardWords, "<scr<script>ipt>alert(1)</script>", "&lt;b&gt;", "&amp;amp;lt;", "<!-- a --", "a\r\n\r\nb", "&#60script&#62", "<\u200bb>") {
		f.Add(seed, true)
		f.Add(seed+" "+seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, multiline bool) {
		got := policy.Clean(text, multiline)
		if again := policy.Clean(got, multiline); again != got {
			t.Errorf("%q: got %q, then %q want the same", text, got, again)
		}
		runes := []rune(got)
		for i, r := range runes {
			if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\n' && !multiline {
				t.Errorf("%q: got %q with %U", text, got, r)
			}
			if r == '<' && i+1 < len(runes) && (runes[i+1] == '/' || runes[i+1] < 0x80 && unicode.IsLetter(runes[i+1])) {
				t.Errorf("%q: got %q with a tag", text, got)
			}
		}
		if strings.Contains(got, "  ") || strings.Contains(got, "\n\n\n") || strings.TrimSpace(got) != got {
			t.Errorf("%q: got %q with spaces to collapse", text, got)
		}
	})
}

func BenchmarkReview(b *testing.B) {
	lines := func(n int, text string) []string { return slices.Repeat([]string{text}, n) }
	long := "Creamy oat milk lattes for students, 20% off until Sunday at your campus café, see you."
	byChannel := map[string]policy.Copy{
		"search":  {Headlines: lines(15, "Oat milk latte, 20% off"), Descriptions: lines(4, long), Paths: lines(2, "oat-latte")},
		"social":  {PrimaryText: &long, Headlines: lines(5, "Your morning, with oat milk"), Descriptions: lines(5, "Until Sunday, for students"), ShortText: &long},
		"display": {Headlines: lines(5, "Oat milk latte, 20% off"), LongHeadline: &long, Descriptions: lines(5, long)},
	}
	brief := &policy.BriefSource{Prompt: strings.Repeat("Oat milk latte, 20% off until Sunday, for students. ", 10), LandingURL: "https://kava.example", BannedWords: strings.Fields(strings.Repeat("cheap bargain ", 10))}
	b.ReportAllocs()
	for b.Loop() {
		if p := policy.Review(brief, []string{"search", "social", "display"}, byChannel); p.Status != policy.Pass {
			b.Fatal(p)
		}
	}
}
