package policy

// The table of rules. Rule ids are part of the contract: a message may be
// improved, but the meaning of an id never changes.

// everywhere warns on every channel.
var everywhere = []scope{{"", "", PolicyWarn}}

// nowhere blocks on every channel.
var nowhere = []scope{{"", "", PolicyBlock}}

var policyRules = []policyRule{
	{
		id: "markup", where: nowhere, find: findMarkup,
		message: "{text} is markup. Write plain text.",
	},
	{
		id: "banned_word", needsBrief: true, where: nowhere, find: findBanned,
		message: "“{text}” is one of the words that must not appear. Use another one.",
	},
	{
		id: "price_not_in_brief", needsBrief: true, where: nowhere, find: findFigures(moneyFigure, percentFigure),
		message: "The brief does not say {text}. Take it out, or write it in the brief if it is true.",
	},
	{
		id: "number_not_in_brief", needsBrief: true, where: everywhere, find: findFigures(numberFigure),
		message: "The brief does not say {text}. Check it, and write it in the brief if it is true.",
	},
	{
		id: "foreign_url", needsBrief: true, where: nowhere, find: findHosts,
		message: "{text} is neither the landing page's domain nor in the brief. Take it out.",
	},
	{
		id: "prohibited_content", where: nowhere, find: findProhibited,
		message: "“{text}” offers what no ad platform accepts. Take it out.",
	},
	{
		id: "medical_claim", where: nowhere, find: medicalPromises.in,
		message: "“{text}” promises an effect on health. Platforms refuse it; say what the product is instead.",
	},
	{
		id: "financial_claim", where: nowhere, find: financialPromises.in,
		message: "“{text}” promises money or credit. Platforms refuse it; state the terms instead.",
	},
	{
		id: "medical_claim", language: "en", where: nowhere, proven: PolicyWarn, find: medicalClaims.in,
		message: "“{text}” promises an effect on health. Platforms refuse it; say what the product is instead.",
	},
	{
		id: "financial_claim", language: "en", where: nowhere, proven: PolicyWarn, find: financialClaims.in,
		message: "“{text}” promises money or credit. Platforms refuse it; state the terms instead.",
	},
	{
		id: "unproven_superlative", language: "en", where: everywhere, proven: PolicyPass, find: superlatives.in,
		message: "“{text}” needs proof that the brief does not give. Name a fact instead.",
	},
	{
		id: "absolute_claim", language: "en", where: everywhere, proven: PolicyPass, find: absoluteClaims.in,
		message: "“{text}” promises without limits what the brief does not. Say what exactly is offered.",
	},
	{
		id: "offer_not_in_brief", language: "en", needsBrief: true, where: everywhere, proven: PolicyPass, find: offerClaims.in,
		message: "The brief does not offer “{text}”. Take it out, or write it in the brief if it is true.",
	},
	{
		id: "personal_attribute", language: "en", where: []scope{{"social", "", PolicyBlock}, {"", "", PolicyWarn}}, find: personalAttributes.in,
		message: "“{text}” says or implies something private about the reader. Speak of the product instead.",
	},
	{
		id: "platform_name", needsBrief: true, where: everywhere, proven: PolicyPass, find: platformNames.in,
		message: "{text} is a trademark that the brief does not name. Take it out unless you may use it.",
	},
	{
		id: "exclamation_mark", where: []scope{
			{"search", "headlines", PolicyBlock}, {"display", "headlines", PolicyWarn}, {"display", "long_headline", PolicyWarn},
		},
		find:    findRuns(1, func(r rune) bool { return r == '!' || r == '！' || r == '¡' }),
		message: "Headlines here take no exclamation mark. Leave it out.",
	},
	{
		id: "repeated_punctuation", where: []scope{{"search", "", PolicyBlock}, {"", "", PolicyWarn}}, find: findRepeats,
		message: "“{text}” repeats punctuation. One mark is enough.",
	},
	{
		id: "excess_capitals", where: everywhere, find: findCapitals,
		message: "“{text}” is in capitals, which the brief does not write so. Write it in normal case.",
	},
	{
		id: "spaced_out", where: []scope{{"search", "", PolicyBlock}, {"display", "", PolicyBlock}, {"", "", PolicyWarn}}, find: findSpacedOut,
		message: "“{text}” is spaced out to be noticed. Write it as a word.",
	},
	{
		id: "emoji", where: []scope{{"search", "", PolicyBlock}, {"display", "", PolicyBlock}, {"social", "short_text", PolicyBlock}}, find: findEmoji,
		message: "Emoji are refused here. Leave {text} out.",
	},
	{
		id: "symbol", where: []scope{{"search", "", PolicyBlock}, {"display", "", PolicyWarn}}, find: findRuns(1, symbol),
		message: "Symbols such as {text} are refused here. Use words.",
	},
	{
		id: "refused_character", where: []scope{{"social", "short_text", PolicyBlock}},
		find:    findRuns(1, func(r rune) bool { return r == '#' || r == '@' || r == '{' || r == '}' }),
		message: "{text} is refused in this text. Leave it out.",
	},
	{
		id: "phone_number", where: []scope{{"search", "headlines", PolicyBlock}, {"search", "descriptions", PolicyWarn}}, find: findPhones,
		message: "Search ads take no phone number in the text. Use a call extension instead of {text}.",
	},
}

// in adapts a phrasebook to a finder.
func (b *phrasebook) in(p *passage, _ *facts) []span { return b.find(p) }
