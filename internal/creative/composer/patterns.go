package composer

// Patterns of English briefs, as data. They match text that settle has seen.
const (
	weekdays = `(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)s?`
	months   = `(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?`
	ordinal  = `\d{1,2}(?:st|nd|rd|th)?`
	clocked  = `(?:(?:at|from|,) )?\d{1,2}(?:[:.]\d{2})? ?(?:am|pm|a\.m\.|p\.m\.|h|o'clock)\b|at \d{1,2}:\d{2}|at noon`
	dated    = `(?:(?:` + weekdays + `,? (?:the )?)?(?:` + months + ` ` + ordinal + `(?:\s?-\s?` + ordinal + `\b)?(?:,? \d{4})?|(?:the )?` + ordinal + `(?: ?- ?` + ordinal + `)?(?: of)? ` + months + `(?:,? \d{4})?|\d{1,2}[./]\d{1,2}[./]\d{2,4})|(?:this |next )?` + weekdays + `(?: (?:night|evening|morning|afternoon)s?)?)`
	loose    = `(?:` + dated + `|\d{1,2}[./]\d{1,2}\b|midnight(?: tonight| on ` + weekdays + `)?|tonight|tomorrow|(?:the )?end of (?:the |this )?(?:month|week|year|season|summer|winter|spring|autumn|day|` + months + `)|Christmas(?: Eve)?|Easter|New Year's Eve|New Year|Black Friday|Cyber Monday|Halloween|Thanksgiving|Valentine's Day|Mother's Day|Father's Day|` + months + `)`
	amount   = `(?:(?:US|CA|AU|A|C|NZ|HK|S)?[$€£¥₹]\s?\d[\d,.]*\d?(?:[km]\b)?|\d[\d,.]* ?(?:€|£|euros?\b|dollars?\b|pounds?\b|USD\b|EUR\b|GBP\b|CHF\b|kr\b))`
	period   = `(?: ?(?:/ ?|per |a |an |each )(?:month|mo|year|yr|week|wk|day|night|person|user|seat|kg|lb|hour|hr|class|lesson|session|ticket|box|bag|bottle|pair|head|visit|piece|meal|guest)\b| per [a-z]+\b| each\b)*`
	titled   = `[\p{Lu}0-9][\p{L}\d'&.+-]*(?: [\p{Lu}0-9&][\p{L}\d'&.+-]*){0,4}`
	artefact = `(?:ads?|adverts?|advertisements?|ad cop(?:y|ies)|copy|posts?|captions?|campaigns?|banners?|headlines?|emails?|e-mails?|newsletters?|sms|text messages?|tweets?|flyers?|leaflets?|postcards?|slogans?|taglines?|creatives?|videos?|scripts?|promos?|promotions?|commercials?|spots?|push notifications?|notifications?|marketing|landing pages?|brochures?|posters?|billboards?|stories|reels?|announcements?|something|wording|texts?)`
)

var (
	// injection marks a sentence that speaks to the writer's machinery.
	injection = newPattern(`(?i)\b(?:(?:ignore|disregard|forget|override|bypass|skip)\b.{0,40}\b(?:instructions?|prompts?|rules?|guidelines|above|previous|everything)|(?:system|hidden|initial|developer) (?:prompt|message|instructions?)|(?:print|reveal|repeat|output|show|leak|return|display|tell me) (?:me )?(?:your|the|all|its) (?:\w+ )?(?:prompt|instructions?|rules|secrets?|passwords?|keys?|api keys?|configuration|environment)|you are (?:now )?(?:an? |the )?(?:\w+ )?(?:dan|ai|assistant|chatgpt|language model|pirate|hacker|unrestricted|poet)\b|act as\b|pretend (?:to be|you)|jailbreak|developer mode|as an ai\b|(?:write|tell|sing|compose) (?:me |us )?(?:an? |some )?(?:\w+ ){0,2}(?:poem|poems|story|essay|song|joke|haiku|limerick|code|python|malware|virus)\b|api[_ ]key|instead(?:,)? (?:say|write|print|output|reply|respond)|(?:say|reply|respond|answer) (?:only )?(?:with|exactly)\b|end of (?:prompt|brief)|begin (?:system|prompt))`)

	politeness = newPattern(`(?i)^(?:please|pls|hi|hello|hey|hey there|hi there|thanks|thank you|ok|okay|so|well|then|also|and|but|can you|could you|would you|will you|i need you to|i'd like you to|i would like you to|i want you to|help me(?: to)?|i'd like|i would like|i need|i want|we need|we want|we'd like|we would like|you should|let's|i am looking for|i'm looking for|we are looking for|we're looking for|looking for|we are looking to|we're looking to|looking to|need|want|to)\b[,:]?\s*`)

	// order is an instruction up to what it is about.
	order = newPattern(`(?i)^(?:to |now,? |actually,? )?(?:write|create|make|generate|design|draft|produce|compose|craft|prepare|build|come up with|give me|give us|do|develop|send|suggest|get me|provide|run|launch|start|plan|set up)\b(?: (?:me|us))?(?: [\w'&/%+-]+,?){0,9}? ` + artefact + `(?:(?:,| and| &| or|/| for) (?:[\w-]+ ){0,2}` + artefact + `)*(?: (?:copy|text|ideas?|set|variants?|series|content|campaign|ads?|with \d+ variants?))*(?:\s*(?:(?:that|which) (?:promotes?|advertises?|announces?|sells?|introduces?)|for the launch of|for|about|on|to (?:promote|advertise|announce|launch|sell|market|introduce)|promoting|advertising|announcing|introducing|launching|selling|of|featuring|to|around|:|-)\s+|\s*[,:]\s*|\s*$)`)

	// subjectOrder is the same without a verb: "a summer banner for …".
	subjectOrder = newPattern(`(?i)^((?:[\w'&%+-]+,? ){0,7}?)` + artefact + `(?:(?: and| &|/) ` + artefact + `)*(?: (?:copy|text|ideas?|set|variants?|series|content|campaign|ads?))*\s*(?:that (?:promotes?|advertises?|announces?)|for the launch of|\bfor|\babout|to (?:promote|advertise|announce|launch|sell|market|introduce)|promoting|advertising|announcing|introducing|of|showing|:|-)\s+`)

	// verbOrder is an instruction whose object is what it is about.
	verbOrder = newPattern(`(?i)^(?:buy|promote|promoting|advertise|advertising|announce|announcing|market|marketing|sell|selling|publici[sz]e|showcase|push|introduce|spread the word about|tell people about|get people to (?:try|buy|visit|see)|drive (?:sales|traffic|sign-?ups|bookings|demand|awareness) (?:of|for|to|from|about)|raise awareness (?:of|for|about)|increase (?:sales|sign-?ups|bookings|awareness) (?:of|for)|launch(?:ing)?)\b(?: of)?\s+`)

	// stress is an instruction that brings a benefit.
	stress = newPattern(`(?i)(?:^|[,.] |\b(?:and|please) )(?:please )?(?:mention|mentioning|include|highlight|highlighting|emphasi[sz]e|emphasi[sz]ing|focus on|focusing on|focused on|stress|stressing|point out|talk about|play up|lead with|make sure to mention|be sure to mention|key (?:benefits?|features?|selling points?|points?) (?:are|is|include)|usps? (?:are|is|include)|the (?:main |key )?(?:benefits?|features?|selling points?) (?:are|is|include))(?: that| the fact that| how| on)?\s+`)

	// manner is an instruction about how to write; it ends up nowhere.
	manner = newPattern(`(?i)(?:\b(?:make|keep|have) (?:it|this|the (?:copy|text|tone|ads?|headlines?))\b[^.,;|]*|\b(?:use|using|write in|in|with) (?:an? |the )?(?:[\w-]+ (?:and |but |, )?){0,5}(?:tone(?: of voice)?|style|voice|mood|vibe|feel|look)\b[^.,;|]*|\bthe (?:tone|style|voice|copy|ads?|text|headlines?) (?:should|must|needs?|is|has)\b[^.;|]*|\btone[:=]? [^.;|]*|\b(?:do not|don't|never|avoid|no need to|without) (?:use|using|mention|mentioning|include|including|say|saying|write|writing|emojis?)\b[^.;|]*|\b(?:use|add|include|insert|with) (?:some |a few |lots of |an? )?(?:emojis?|hashtags?|call[ -]to[ -]action|cta|sense of urgency|humou?r|puns?|exclamation marks?|keywords?)\b[^.,;|]*|\b(?:no more than|max(?:imum)?|under|up to|at most|less than|around|about) \d+ (?:words?|characters?|chars?|sentences?|lines?)\b|\b\d+ (?:variants?|versions?|options?|headlines?|words|characters|ideas)\b|\b(?:catchy|punchy|engaging|short and sweet|eye-?catching|attention-?grabbing|compelling|persuasive|click-?worthy|scroll-?stopping)\b)`)

	visual = newPattern(`(?i)\b(?:backgrounds?|colou?r palette|palette|minimalis[tm]\w*|photos? of|images? of|pictures? of|illustrations?|illustrated|gradients?|aesthetic|4k|high[- ]resolution|photorealistic|3d render\w*|(?:warm|cool|soft|earthy|dark) tones|pastel|bokeh|layout|watercolou?r|flat design|typography|eye-catching|depicting)\b`)

	label      = newPattern(`(?i)^(?:the |our |my |main |key |target )*(product|for|service|brand|company|business|name|client|event|audience|target|offer|discount|deal|promo|promotion|price|pricing|cost|deadline|ends|valid|until|benefits?|features?|usps?|selling points?|highlights?|why us|tone|voice|style|mood|cta|call to action|action|location|place|where|venue|city|when|date|proof|reviews?|rating|what|description|about|goal|objective|channels?|language|keywords?|format|length|notes?|task|instructions?|system|user|assistant|prompt)(?: (?:name|group|market|audience|date|points?|of voice|is|are))?\s*(?::|=|\s-\s)\s*(.*)$`)
	appositive = newPattern(`^(` + titled + `), ((?:an?|the|our|your) .+)$`)
	headed     = newPattern(`^([^,:]+?)(?::| -) (.+)$`)
	quoted     = newPattern(`"([^"]{2,40})"`)
	trailing   = newPattern(`^([a-z][a-z0-9 -]*?) ((?:[A-Z][\w'+-]*[a-z][\w'+-]*)(?: [A-Z][\w'&+-]*){0,2})$`)
	opener     = newPattern(`(?i)^(?:introducing|meet|announcing|presenting|say hello to|welcome to|we are launching|we're launching|we are opening|we're opening|now open|launching|the launch of|launch of|grand opening of|grand opening|opening of|here is|here's|this is|there is|there's|check out|try (?:our|the)|join us (?:for|at)|join (?:our|the)|come to|come along to|we're hosting|we are hosting|we're holding|we are holding|save the date for|save the date|support|donate to)\b:?\s+`)
	youCan     = newPattern(`(?i)^(?:you can|people can|so you can|lets? you|helps? (?:you|them)(?: to)?|helping you(?: to)?|letting you|allows? you to|enables? you to|makes? it easy to|an easy way to|the easy way to|a simple way to|designed to help you|it's easy to) (.+)$`)

	// Offers. What is reduced follows in the words of the brief.
	percentOff = newPattern(`(?i)^(?:(?:get|enjoy|take|receive|claim|save|with|at|for|and|now|grab|offering|we're offering|we offer|giving|we're giving|we are giving|an?)\s+)*((?:up to |extra |additional )?)(\d+(?:[.,]\d+)? ?(?:%|percent)|` + amount + `)\s*(?:off|discount(?: code)?|cash ?back|reduction)\b\s*(.*)$`)
	saveOff    = newPattern(`(?i)^(?:and )?save ((?:up to |an? extra |extra )?)(\d+(?:[.,]\d+)? ?(?:%|percent)|` + amount + `)\s*(.*)$`)
	freeThing  = newPattern(`(?i)^(?:(?:an?|get|enjoy|with|and|start with|we offer|offering|your|plus) )*((?:\d+[- ](?:day|week|month|minute|hour|night)s? )?free .+)$`)
	fixedOffer = newPattern(`(?i)^(?:buy (?:one|two|three|1|2|3),? (?:and )?get .{2,30}|bogo|(?:2[- ]for[- ]1|two for one|3[- ]for[- ]2|three for two|half[- ]price)\b.{0,30}|(?:your |the )?first [\w-]+(?: [\w-]+)?(?: is| are)? (?:free|half price|half off|\d+% off)(?: with code \w+)?|early[- ]bird .{2,30}|(?:one|two|1|2|3) (?:months?|weeks?) free\b.{0,30}|free for (?:\d+|(?:your|the) first|one|two|three|six) (?:days?|weeks?|months?|year))$`)
	saleName   = newPattern(`(?i)\b(?:our |the |a |an )?((?:big |annual |mid-season |end[- ]of[- ](?:season|summer|year|line) |summer |winter |spring |autumn |fall |Black Friday |Cyber Monday |Christmas |holiday |Easter |back[- ]to[- ]school |clearance |flash |anniversary |new year |January |weekend |Valentine's |Mother's Day |Father's Day |Halloween )+(?:sale|deals?|clearance))(?: on| for| of|:)?\b`)
	// occasionOnly is what stands before the colon of a sale.
	occasionOnly = newPattern(`(?i)^(?:our |the )?((?:Black Friday|Cyber Monday|back[- ]to[- ]school|Christmas|Easter|Halloween|Mother's Day|Father's Day|Valentine's Day|(?:\w+ ){0,2}(?:sale|clearance))(?: (?:deals?|sale|special|offer))?)(?: (?:at|from|by) .+)?$`)
	atName       = newPattern(` (?:at|from|by) (` + titled + `)$`)
	// reserved is what an offer is good for where that is no thing to name.
	reserved = newPattern(`(?i)^(?:your|their|everything|every|sitewide|site-wide|storewide|all orders|on |when|with|if|for |today|online|in |until|at )`)

	priceOnly = newPattern(`(?i)^((?:it |they |they're |it's |the )?(?:(?:prices?|pricing|plans?|packages?|rates?|rooms?|fees?|all-in rent)? ?(?:start(?:s|ing)?|begin(?:s|ning)?)? ?(?:from|at)|for only|for just|for|only|just|now|costs?(?: just| only)?|price:?|is|are)? ?)?((?:\d+ (?:nights?|days?|sessions?|classes|tickets|bottles|bags|boxes|months|weeks|pieces|people)? ?(?:from|for) )?` + amount + `(?: CAD| USD| AUD)?)(` + period + `(?: all in| all-in| incl\.? shipping| including shipping| plus VAT| for life)?(?: instead of ` + amount + `)?)$`)

	deadlineEnd = newPattern(`(?i)^(.*?)\b(until|till|through|thru|by|before|ends?(?: on| this)?|ending(?: on)?|expires?(?: on)?|expiring(?: on)?|closes?(?: on)?|closing(?: on)?) ((?:the )?` + loose + `(?: (?:` + clocked + `))?)$`)
	// openEnded is what may stand before a deadline and say nothing itself.
	openEnded = newPattern(`(?i)^(?:offer|sale|deal|discount|it|this|promotion|registration|applications?|bookings?|and|is|are|only|valid|available|runs?|on now|the|,| )*$`)
	onlyNow   = newPattern(`(?i)(?:^|[ ,])((?:for |on |just |only )*)((?:this weekend|this week|this month|today|one day|one week|two days|three days|` + weekdays + `|tomorrow)(?: only)?|(?:for )?(?:a )?limited time(?: only| offer)?|while (?:stocks?|supplies) lasts?|(?:for )?the next \d+ (?:hours|days|weeks)|\d+ (?:hours|days) only)$`)
	dateOnly  = newPattern(`^((?:[Oo]n |[Ff]rom |[Tt]his |[Ss]tarts? (?:on )?|[Ss]tarting (?:on )?|[Oo]pening (?:on )?|[Oo]pens (?:on )?|[Ll]aunching (?:on )?)?)(` + dated + `(?: (?:to|until|through|-) ` + dated + `)?(?:,? (?:` + clocked + `))?(?: ?(?:-|to|until) ?\d{1,2}(?:[:.]\d{2})? ?(?:am|pm))?(?: [A-Z]{2,4})?)(?: at ((?:the )?` + titled + `))?$`)
	clockOnly = newPattern(`^((?:at )?\d{1,2}(?:[:.]\d{2})? ?(?:am|pm)?(?: ?(?:-|to) ?\d{1,2}(?:[:.]\d{2})?) ?(?:am|pm)|(?:at )?\d{1,2}(?:[:.]\d{2})? ?(?:am|pm)(?: [A-Z]{2,4})?)$`)
	// recurring is a day that comes again, dayRange a date of several days.
	recurring = newPattern(`day(?:s| (?:night|evening|morning|afternoon)s)\b`)
	dayRange  = newPattern(`\d ?- ?\d|\d (?:to|until|through) `)

	proven     = newPattern(`(?i)\brated\b|\bstars?\b.*\d|\d.*\bstars?\b|\breviews?\b|\b(?:trusted|used|loved|chosen|recommended|backed|read) by\b|\bsince (?:1[89]|20)\d\d|\byears'?(?: of)? (?:experience|in business|expertise|in the trade)|\baward-winning|\bwinners? of\b|\bas seen (?:in|on)\b|\bfeatured in\b|\bvoted\b|\d.*\b(?:happy |active )?(?:customers|users|members|downloads|trees planted|animals rehomed|meals served)\b`)
	provenLead = newPattern(`(?i)^(?:it is|it's|is|we are|we're|with|and|already|has) `)

	placed = newPattern(`^(?:(?:[Bb]ased|[Ll]ocated) )?([Ii]n|[Nn]ear|[Aa]cross|[Aa]round|[Tt]hroughout) ((?:(?:downtown|central|north|south|east|west|northern|southern|eastern|western|greater|upstate|old town|the heart of|the centre of|the center of|the city of) )?(?:the )?[A-Z][\p{L}'-]+(?:,? (?:[A-Z][\p{L}'-]+|de|del|la|upon))*)`)
	aimed  = newPattern(`(?i)^((?:targeting|targeted (?:at|to|towards?)|target|aimed (?:at|towards?)|geared (?:at|towards?|to)|directed at|appealing to|(?:it's |it is |they're |is |are )?(?:(?:perfect|ideal|great|designed|built|made|intended|suitable|exclusively|just|especially|good) )?for)):? (.+)$`)

	pained  = newPattern(`(?i)\b(?:tired of|sick of|fed up with|struggling with|no more|stop|hate|done with|instead of) ([\w'-]+(?: [\w'-]+){0,3})`)
	asksFor = newPattern(`(?i)\b(?:with (?:a |the )?)?(?:call[ -]to[ -]action|cta)(?: (?:is|should be|button|to))*\s*:?\s*"?([\w' ]{3,30})"?`)
)

// callWords are how calls to action begin, the more particular first. whole
// says that anything may follow.
var callWords = []struct {
	verb, code string
	whole      bool
}{
	{"get a free quote", "get_quote", true},
	{"get a quote", "get_quote", true},
	{"get your quote", "get_quote", true},
	{"get your free quote", "get_quote", true},
	{"get quote", "get_quote", true},
	{"request a quote", "get_quote", true},
	{"ask for a quote", "get_quote", true},
	{"request your quote", "get_quote", true},
	{"book a demo", "book_now", true},
	{"request a demo", "book_now", true},
	{"see a demo", "book_now", true},
	{"ask for a demo", "book_now", true},
	{"ask for", "contact_us", true},
	{"request a trial", "get_started", true},
	{"schedule a", "book_now", true},
	{"request a call", "contact_us", true},
	{"request", "contact_us", false},
	{"get your tickets", "buy_tickets", true},
	{"get tickets", "buy_tickets", true},
	{"buy tickets", "buy_tickets", true},
	{"buy your tickets", "buy_tickets", true},
	{"get in touch", "contact_us", true},
	{"contact us", "contact_us", true},
	{"talk to", "contact_us", true},
	{"speak to", "contact_us", true},
	{"speak with", "contact_us", true},
	{"write to us", "contact_us", true},
	{"email us", "contact_us", true},
	{"sign up", "sign_up", false},
	{"join the waitlist", "sign_up", true},
	{"join the waiting list", "sign_up", true},
	{"join us", "register_now", false},
	{"join now", "sign_up", false},
	{"join today", "sign_up", false},
	{"get started", "get_started", false},
	{"start your free trial", "get_started", true},
	{"start free", "get_started", false},
	{"start now", "get_started", false},
	{"start today", "get_started", false},
	{"try it free", "get_started", false},
	{"learn more", "learn_more", false},
	{"find out more", "learn_more", false},
	{"read more", "learn_more", false},
	{"click here", "learn_more", false},
	{"listen", "learn_more", false},
	{"check your", "learn_more", true},
	{"don't miss", "", true},
	{"book", "book_now", false},
	{"reserve", "book_now", false},
	{"walk in", "book_now", true},
	{"pre-order", "order_now", false},
	{"preorder", "order_now", false},
	{"order", "order_now", false},
	{"apply", "apply_now", false},
	{"enrol", "apply_now", false},
	{"enroll", "apply_now", false},
	{"send us your cv", "apply_now", true},
	{"send your cv", "apply_now", true},
	{"call", "call_now", false},
	{"phone us", "call_now", false},
	{"ring us", "call_now", false},
	{"register", "register_now", false},
	{"rsvp", "register_now", false},
	{"subscribe", "subscribe", false},
	{"download", "download", false},
	{"donate", "donate_now", false},
	{"give today", "donate_now", false},
	{"visit", "get_directions", false},
	{"come visit", "get_directions", true},
	{"come by", "get_directions", true},
	{"come and see", "get_directions", true},
	{"stop by", "get_directions", true},
	{"drop by", "get_directions", true},
	{"drop in", "get_directions", true},
	{"watch now", "watch_now", true},
	{"watch the", "watch_now", true},
	{"stream now", "watch_now", true},
	{"shop", "shop_now", false},
	{"buy", "shop_now", false},
}

// afterCall are words that follow the verb of a call; others make it a noun, as
// in "book club".
var afterCall = set("now today online early ahead here direct directly yours it us our a an your the by before for and or in at on any with wherever free via this to early until from")

// actions tell a call to action by what is advertised, where the brief does
// not ask for one itself.
var actions = []struct {
	code    string
	hints   string
	pattern *pattern
	kinds   []kind
}{
	{"donate_now", "donat|give|fundrais|supporter", newPattern(`(?i)\bdonat|\bgive today|\bfundrais|\bsupporters\b`), []kind{cause}},
	{"sign_up", "volunteer|wait", newPattern(`(?i)\bvolunteer|\bwait(?:ing)?[ -]?list\b`), nil},
	{"apply_now", "hiring|recruiting|wanted|application|apply|vacanc|scholarship", newPattern(`(?i)^(?:we're |we are |now )?hiring\b|^recruiting\b|\b(?:staff|drivers|nurses|\w+ers) wanted\b|\bapplications? (?:open|close)|\bapply\b|\bvacanc`), nil},
	{"get_quote", "quote|estimate", newPattern(`(?i)\bfree (?:quotes?|estimates?)\b`), []kind{service, goods}},
	{"buy_tickets", "ticket", newPattern(`(?i)\btickets?\b`), []kind{event, travel}},
	{"register_now", "regist|webinar|workshop|conference|summit|meetup|retreat|camp|course|training|program|bootcamp", newPattern(`(?i)\bregist|\b(?:webinar|workshop|conference|summit|meetup|retreat|camp|course|training|program(?:me)?|bootcamp|masterclass)\b`), []kind{event, course}},
	{"book_now", "lesson|tutor|class|coach", newPattern(`(?i)\b(?:lessons?|tutor\w*|class(?:es)?|coaching)\b`), []kind{course}},
	{"sign_up", "gym|membership", newPattern(`(?i)\bgym\b|\bmembership\b`), []kind{service}},
	{"subscribe", "subscri|newsletter", newPattern(`(?i)\bsubscription\b|\bnewsletter\b|\bsubscribe\b`), nil},
	{"get_started", "account", newPattern(`(?i)\b(?:savings|current|bank|checking) account\b`), []kind{service}},
	{"book_now", "book|appointment|class|barber|salon|spa|massage|clinic|dentist|hairdresser|studio|transfer|charter|escape room|haircut", newPattern(`(?i)\b(?:barber\w*|salon|spa|massage|clinic|dentist|hairdresser|studio|transfers|charters|escape room|haircuts?)\b|\bbookings?\b|\bnow booking\b|\bappointments?\b|\bclass(?:es)?\b`), []kind{service, travel, food, event, goods}},
	{"download", "mobile game", newPattern(`(?i)\bmobile game\b`), nil},
	{"order_now", "take", newPattern(`(?i)\btakeaway\b|\btake-?out\b`), nil},
}
