package policy

import "slices"

// The table of rules. Rule ids are part of the contract: a message may be
// improved, but the meaning of an id never changes.

// warnEverywhere warns on every channel.
var warnEverywhere = []scope{{"", "", Warn}}

// blockEverywhere blocks on every channel.
var blockEverywhere = []scope{{"", "", Block}}

var rules = []rule{
	{
		id: "markup", scopes: blockEverywhere, find: findMarkup,
		message: "{text} is markup. Write plain text.",
	},
	{
		id: "banned_word", needsSource: true, scopes: blockEverywhere, find: findBanned,
		message: "“{text}” is one of the words that must not appear. Use another one.",
	},
	{
		id: "price_not_in_brief", needsSource: true, scopes: blockEverywhere, find: findNumbers(moneyNumber, percentNumber),
		message: "The brief does not say {text}. Take it out, or write it in the brief if it is true.",
	},
	{
		id: "number_not_in_brief", needsSource: true, scopes: warnEverywhere, find: findNumbers(plainNumber),
		message: "The brief does not say {text}. Check it, and write it in the brief if it is true.",
	},
	{
		id: "foreign_url", needsSource: true, scopes: blockEverywhere, find: findHosts,
		message: "{text} is neither the landing page's domain nor in the brief. Take it out.",
	},
	{
		id: "prohibited_content", scopes: blockEverywhere, find: findFrames("prohibited_content"),
		message: "“{text}” offers what no ad platform accepts. Take it out.",
	},
	{
		id: "medical_claim", scopes: blockEverywhere, find: findFrames("medical_claim"),
		message: "“{text}” promises an effect on health. Platforms refuse it; say what the product is instead.",
	},
	{
		id: "financial_claim", scopes: blockEverywhere, find: findFrames("financial_claim"),
		message: "“{text}” promises money or credit. Platforms refuse it; state the terms instead.",
	},
	{
		// A statement may be true for a clinic or a savings bank, so it is only a
		// warning if the source makes it. A promise is blocked whatever the source
		// says, because a source is no proof.
		id: "medical_claim", scopes: blockEverywhere, ifStated: Warn, find: findFrames("medical_statement"),
		message: "“{text}” promises an effect on health. Platforms refuse it; say what the product is instead.",
	},
	{
		id: "financial_claim", scopes: blockEverywhere, ifStated: Warn, find: findFrames("financial_statement"),
		message: "“{text}” promises money or credit. Platforms refuse it; state the terms instead.",
	},
	{
		id: "unproven_superlative", scopes: warnEverywhere, ifStated: Pass, find: findFrames("unproven_superlative"),
		message: "“{text}” needs proof that the brief does not give. Name a fact instead.",
	},
	{
		id: "absolute_claim", scopes: warnEverywhere, ifStated: Pass, find: findFrames("absolute_claim"),
		message: "“{text}” promises without limits what the brief does not. Say what exactly is offered.",
	},
	{
		id: "comparative_claim", scopes: warnEverywhere, find: findFrames("comparative_claim"),
		message: "“{text}” compares with a named competitor. Platforms may refuse it without proof on the landing page; say what the product does instead.",
	},
	{
		id: "clickbait", scopes: warnEverywhere, find: findFrames("clickbait"),
		message: "“{text}” lures without saying what is offered. Name the product and what it does.",
	},
	{
		// Choice: an email or a text message can be the notice that it looks like.
		id: "fake_message", scopes: []scope{{"email", "", Warn}, {"sms", "", Warn}, {"", "", Block}}, find: findFakeMessages,
		message: "“{text}” looks like a reply, a notice or a warning that the reader did not get. Write what the ad offers.",
	},
	{
		id: "restricted_product", scopes: warnEverywhere, find: findFrames("restricted_product"),
		message: "Platforms accept “{text}” only with a permit, or only in some countries. Check the platform's policy first.",
	},
	{
		id: "adult_content", scopes: warnEverywhere, find: findFrames("adult_content"),
		message: "Platforms show “{text}” only to adults who look for it, or refuse it. Take it out.",
	},
	{
		id: "misleading_offer", scopes: warnEverywhere, find: findFrames("misleading_offer"),
		message: "“{text}” promises a gift or a prize without its terms. Say what the reader gets and what it costs.",
	},
	{
		id: "offer_not_in_brief", needsSource: true, scopes: warnEverywhere, ifStated: Pass, find: findFrames("offer_not_in_brief"),
		message: "The brief does not offer “{text}”. Take it out, or write it in the brief if it is true.",
	},
	{
		id: "personal_attribute", scopes: []scope{{"social", "", Block}, {"", "", Warn}}, find: findFrames("personal_attribute"),
		message: "“{text}” says or implies something private about the reader. Speak of the product instead.",
	},
	{
		id: "platform_name", needsSource: true, scopes: warnEverywhere, ifStated: Pass, find: findFrames("platform_name"),
		message: "{text} is a trademark that the brief does not name. Take it out unless you may use it.",
	},
	{
		id: "exclamation_mark", scopes: []scope{
			{"search", "headlines", Block}, {"display", "headlines", Warn}, {"display", "long_headline", Warn},
		},
		find:    findRuns(1, func(r rune) bool { return r == '!' || r == '！' || r == '¡' }),
		message: "Headlines here take no exclamation mark. Leave it out.",
	},
	{
		id: "repeated_punctuation", scopes: []scope{{"search", "", Block}, {"", "", Warn}}, find: findRepeatedPunctuation,
		message: "“{text}” repeats punctuation. One mark is enough.",
	},
	{
		id: "excess_capitals", scopes: warnEverywhere, find: findCapitals,
		message: "“{text}” is in capitals, which the brief does not write so. Write it in normal case.",
	},
	{
		id: "spaced_out", scopes: []scope{{"search", "", Block}, {"display", "", Block}, {"", "", Warn}}, find: findSpacedOut,
		message: "“{text}” is spaced out to be noticed. Write it as a word.",
	},
	{
		id: "emoji", scopes: []scope{{"search", "", Block}, {"display", "", Block}, {"social", "short_text", Block}}, find: findEmoji,
		message: "Emoji are refused here. Leave {text} out.",
	},
	{
		id: "symbol", scopes: []scope{{"search", "", Block}, {"display", "", Warn}}, find: findRuns(1, isSymbol),
		message: "Symbols such as {text} are refused here. Use words.",
	},
	{
		id: "refused_character", scopes: []scope{{"social", "short_text", Block}},
		find:    findRuns(1, func(r rune) bool { return r == '#' || r == '@' || r == '{' || r == '}' }),
		message: "{text} is refused in this text. Leave it out.",
	},
	{
		id: "phone_number", scopes: []scope{{"search", "headlines", Block}, {"search", "descriptions", Warn}}, find: findPhones,
		message: "Search ads take no phone number in the text. Use a call extension instead of {text}.",
	},
}

// findFakeMessages finds fake messages and the mark of a reply or of a forwarded
// message at the start of a text.
func findFakeMessages(p *parsedText, _ *sourceIndex) []span {
	list := p.frameSpans()["fake_message"]
	for _, s := range p.frameSpans()["reply_mark"] {
		if s.end < len(p.runes) && p.runes[s.end] == ':' && s.start == p.tokens[0].start {
			list = slices.Concat([]span{{start: s.start, end: s.end + 1}}, list)
		}
	}
	return list
}
