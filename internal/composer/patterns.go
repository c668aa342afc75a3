package composer

import "regexp"

// Patterns of English briefs, as data. They match text that settle has seen.
const (
	weekdays = `(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)s?`
	months   = `(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?`
	ordinal  = `\d{1,2}(?:st|nd|rd|th)?`
	clocked  = `(?:(?:at|from|,) )?\d{1,2}(?:[:.]\d{2})? ?(?:am|pm|a\.m\.|p\.m\.|h|o'clock)\b|at \d{1,2}:\d{2}|at noon`
	dated    = `(?:(?:` + weekdays + `,? (?:the )?)?(?:` + months + ` ` + ordinal + `(?:\s?-\s?` + ordinal + `\b)?(?:,? \d{4})?|(?:the )?` + ordinal + `(?: ?- ?` + ordinal + `)?(?: of)? ` + months + `(?:,? \d{4})?|\d{1,2}[./]\d{1,2}[./]\d{2,4})|(?:this |next )?` + weekdays + `(?: (?:night|evening|morning|afternoon)s?)?)`
	loose    = `(?:` + dated + `|\d{1,2}[./]\d{1,2}\b|midnight(?: tonight| on ` + weekdays + `)?|tonight|tomorrow|(?:the )?end of (?:the |this )?(?:month|week|year|season|summer|winter|spring|autumn|day|` + months + `)|Christmas(?: Eve)?|Easter|New Year's Eve|New Year|Black Friday|Cyber Monday|Halloween|Thanksgiving|Valentine's Day|Mother's Day|Father's Day|` + months + `)`
	amount   = `(?:(?:US|CA|AU|A|C|NZ|HK|S)?[$€£¥₹]\s?\d[\d,.]*\d?(?:[km]\b)?|\d[\d,.]* ?(?:€|£|euros?\b|dollars?\b|pounds?\b|USD\b|EUR\b|GBP\b|CHF\b|kr\b))`
	period   = `(?:\s?(?:/|per |a |an |each )\s?(?:month|mo|year|yr|week|wk|day|night|person|user|seat|kg|lb|hour|hr|class|session|ticket|box|bag|bottle|pair|head|visit|piece|meal|guest)\b)*`
	titled   = `[A-Z0-9][\w'&.+-]*(?: [A-Z0-9&][\w'&.+-]*){0,3}`
	artefact = `(?:ads?|adverts?|advertisements?|ad cop(?:y|ies)|copy|posts?|captions?|campaigns?|banners?|headlines?|emails?|e-mails?|newsletters?|sms|text messages?|tweets?|flyers?|leaflets?|postcards?|slogans?|taglines?|creatives?|videos?|scripts?|promos?|promotions?|commercials?|spots?|push notifications?|notifications?|marketing|landing pages?|brochures?|posters?|billboards?|stories|reels?|announcements?)`
)

var (
	// injection marks a sentence that speaks to the writer's machinery.
	injection = regexp.MustCompile(`(?i)\b(?:(?:ignore|disregard|forget|override|bypass|skip)\b.{0,40}\b(?:instructions?|prompts?|rules?|guidelines|above|previous|everything)|(?:system|hidden|initial|developer) (?:prompt|message|instructions?)|(?:print|reveal|repeat|output|show|leak|return|display|tell me) (?:me )?(?:your|the|all|its) (?:\w+ )?(?:prompt|instructions?|rules|secrets?|passwords?|keys?|api keys?|configuration|environment)|you are (?:now )?(?:an? |the )?(?:\w+ )?(?:dan|ai|assistant|chatgpt|language model|pirate|hacker|unrestricted|poet)\b|act as\b|pretend (?:to be|you)|jailbreak|developer mode|as an ai\b|(?:write|tell|sing|compose) (?:me |us )?(?:an? |some )?(?:\w+ ){0,2}(?:poem|poems|story|essay|song|joke|haiku|limerick|code|python|malware|virus)\b|api[_ ]key|instead(?:,)? (?:say|write|print|output|reply|respond)|(?:say|reply|respond|answer) (?:only )?(?:with|exactly)|end of (?:prompt|brief)|begin (?:system|prompt))`)

	politeness = regexp.MustCompile(`(?i)^(?:please|pls|hi|hello|hey|hey there|hi there|thanks|thank you|ok|okay|so|well|now|then|also|and|but|can you|could you|would you|will you|i need you to|i'd like you to|i would like you to|i want you to|help me(?: to)?|i'd like|i would like|i need|i want|we need|we want|we'd like|we would like|you should|let's|i am looking for|i'm looking for|we are looking for|we're looking for|looking for|need|want|to)\b[,:]?\s*`)

	// order is an instruction up to what it is about.
	order = regexp.MustCompile(`(?i)^(?:to )?(?:write|create|make|generate|design|draft|produce|compose|craft|prepare|build|come up with|give me|give us|do|develop|send|suggest|get me|provide|run|launch|start|plan|set up)\b(?: (?:me|us))?(?: [\w'&/%+-]+,?){0,9}? ` + artefact + `(?:(?:,| and| &| or|/| for) (?:[\w-]+ ){0,2}` + artefact + `)*(?: (?:copy|text|ideas?|set|variants?|series|content|campaign|ads?|with \d+ variants?))*(?:\s*(?:(?:that|which) (?:promotes?|advertises?|announces?|sells?|introduces?)|for the launch of|for|about|on|to (?:promote|advertise|announce|launch|sell|market|introduce)|promoting|advertising|announcing|introducing|launching|selling|of|featuring|to|around|:|-)\s+|\s*[,:]\s*|\s*$)`)

	// subjectOrder is the same without a verb: "a summer banner for …".
	subjectOrder = regexp.MustCompile(`(?i)^((?:[\w'&%+-]+,? ){0,7}?)` + artefact + `(?:(?: and| &|/) ` + artefact + `)*(?: (?:copy|text|ideas?|set|variants?|series|content|campaign|ads?))*\s*(?:that (?:promotes?|advertises?|announces?)|for the launch of|\bfor|\babout|to (?:promote|advertise|announce|launch|sell|market|introduce)|promoting|advertising|announcing|introducing|of|showing|:|-)\s+`)

	// verbOrder is an instruction whose object is what it is about.
	verbOrder = regexp.MustCompile(`(?i)^(?:buy|promote|promoting|advertise|advertising|announce|announcing|market|marketing|sell|selling|publici[sz]e|showcase|push|introduce|spread the word about|tell people about|get people to (?:try|buy|visit|see)|drive (?:sales|traffic|sign-?ups|bookings|demand|awareness) (?:of|for|to|from|about)|raise awareness (?:of|for|about)|increase (?:sales|sign-?ups|bookings|awareness) (?:of|for)|launch(?:ing)?)\b(?: of)?\s+`)

	// stress is an instruction that brings a benefit.
	stress = regexp.MustCompile(`(?i)(?:^|[,.] |\b(?:and|please) )(?:please )?(?:mention|mentioning|include|highlight|highlighting|emphasi[sz]e|emphasi[sz]ing|focus on|focusing on|focused on|stress|stressing|point out|talk about|play up|lead with|make sure to mention|be sure to mention|key (?:benefits?|features?|selling points?|points?) (?:are|is|include)|usps? (?:are|is|include)|the (?:main |key )?(?:benefits?|features?|selling points?) (?:are|is|include))(?: that| the fact that| how| on)?\s+`)

	// manner is an instruction about how to write; it ends up nowhere.
	manner = regexp.MustCompile(`(?i)(?:\b(?:make|keep|have) (?:it|them|this|the (?:copy|text|tone|ads?|headlines?))\b[^.,;|]*|\b(?:use|using|write in|in|with) (?:an? |the )?(?:[\w-]+ (?:and |but |, )?){0,5}(?:tone(?: of voice)?|style|voice|mood|vibe|feel|look)\b[^.,;|]*|\bthe (?:tone|style|voice|copy|ads?|text|headlines?) (?:should|must|needs?|is|has)\b[^.;|]*|\btone[:=]? [^.;|]*|\b(?:do not|don't|never|avoid|no need to|without) (?:use|using|mention|mentioning|include|including|say|saying|write|writing|emojis?)\b[^.;|]*|\b(?:use|add|include|insert|with) (?:some |a few |lots of |an? )?(?:emojis?|hashtags?|call[ -]to[ -]action|cta|sense of urgency|humou?r|puns?|exclamation marks?|keywords?)\b[^.,;|]*|\b(?:no more than|max(?:imum)?|under|up to|at most|less than|around|about) \d+ (?:words?|characters?|chars?|sentences?|lines?)\b|\b\d+ (?:variants?|versions?|options?|headlines?|words|characters|ideas)\b|\b(?:catchy|punchy|engaging|short and sweet|eye-?catching|attention-?grabbing|compelling|persuasive|click-?worthy|scroll-?stopping)\b)`)

	visual = regexp.MustCompile(`(?i)\b(?:backgrounds?|colou?rs?|colou?r palette|palette|minimalis[tm]\w*|photos? of|image|images|picture|pictures|illustrations?|illustrated|fonts?|gradients?|logo|aesthetic|lighting|close-?up|4k|hd|high[- ]resolution|photorealistic|render|tones|pastel|bokeh|layout|watercolou?r|flat design|3d|typography|eye-catching|showing|depicting)\b`)

	label      = regexp.MustCompile(`(?i)^(?:the |our |my |main |key |target )*(product|service|brand|company|business|name|client|event|audience|target|offer|discount|deal|promo|promotion|price|pricing|cost|deadline|ends|valid|until|benefits?|features?|usps?|selling points?|highlights?|why us|tone|voice|style|mood|cta|call to action|action|location|place|where|venue|city|when|date|proof|reviews?|rating|what|description|about|goal|objective|channels?|language|keywords?|format|length|notes?|task|instructions?|system|user|assistant|prompt)(?: (?:name|group|market|audience|date|points?|of voice|is|are))?\s*(?::|=|\s-\s)\s*(.*)$`)
	subNamed   = regexp.MustCompile(`^(` + titled + `) (?:is|are) (?:an? |the |our )?(.+)$`)
	appositive = regexp.MustCompile(`^(` + titled + `), (?:an?|the|our|your) (.+)$`)
	headed     = regexp.MustCompile(`^(` + titled + `)(?::| -) (.+)$`)
	nameVerb   = regexp.MustCompile(`^(` + titled + `) ([a-z]+s|can|will) (.+)$`)
	nameThing  = regexp.MustCompile(`^(` + titled + `) ((?:[a-z-]+ ){1,3}?)(is|are|has|have|[a-z]+s?) (.+)$`)
	called     = regexp.MustCompile(`(?: (?:called|named|by|from)|,) "?((?:[A-Z][\w'&+-]*)(?: [A-Z&][\w'&+-]*){0,3})"?(?:$|,|\|| (?:for|with|that|which|in|at|is)\b)`)
	quoted     = regexp.MustCompile(`"([^"]{2,40})"`)
	trailing   = regexp.MustCompile(`^([a-z].*?) ((?:[A-Z][\w'+-]*[a-z][\w'+-]*)(?: [A-Z][\w'&+-]*){0,2})(?:$|,|\|| (?:for|with|that|which|is)\b)`)
	opener     = regexp.MustCompile(`(?i)^(?:introducing|meet|announcing|presenting|say hello to|welcome to|we are launching|we're launching|we are opening|we're opening|now open|launching|the launch of|launch of|grand opening of|grand opening|opening of|here is|here's|this is|there is|there's|check out|try|it's|it is|join us (?:for|at)|join|come to|come along to|we're hosting|we are hosting|we're holding|we are holding|save the date for|save the date|support|donate to)\b:?\s+`)
	weAre      = regexp.MustCompile(`(?i)^(?:we are|we're|i am|i'm|we run|i own|we have|i have) (?:an? |the )?(.+)$`)
	weDo       = regexp.MustCompile(`(?i)^(?:we|i|our team)(?: also| now| will| can|'ll)? ([a-z]+) ?(.*)$`)
	itDoes     = regexp.MustCompile(`(?i)^(?:it|they|this|he|she|(?:our|the|this|each|every|these) (?:app|product|products|software|tool|platform|service|course|team|system|shoe|shoes|bag|bags|set|box|event|book|class|classes|site|website|shop|store|plan|kit))(?: also| even| now)? ([a-z]+(?: not|n't)?) ?(.*)$`)
	ourIs      = regexp.MustCompile(`(?i)^(?:our|the|all our|all of our|these|each of our) ((?:[\w'&-]+ ){1,5}?)(is|are|was|has|have|comes?|lasts?|helps?|lets?|makes?|keeps?|works?|gives?|saves?|uses?|delivers?|includes?|offers?) (.+)$`)
	youCan     = regexp.MustCompile(`(?i)^(?:you can|so you can|lets? you|helps? (?:you|them)(?: to)?|helping you(?: to)?|letting you|allows? you to|enables? you to|makes? it easy to|an easy way to|the easy way to|a simple way to|designed to help you|it's easy to) (.+)$`)

	percentOff = regexp.MustCompile(`(?i)\b(?:(?:get|enjoy|take|receive|claim|save|with|at|for|and|now|grab|offering|we're offering|we offer|giving|we're giving|we are giving)\s+)*((?:up to |an? extra |extra |an additional )?)(\d+(?:[.,]\d+)? ?(?:%|percent)|` + amount + `)\s*(off|discount(?: code)?|cash ?back|reduction)((?: (?:for|on))? (?:your|the|their) (?:(?:first|next|entire|whole) [\w-]+(?: [\w-]+)?|entire order|whole order)| (?:everything|sitewide|site-wide|storewide|store-wide|all orders))?( (?:on|every) ` + weekdays + `)?(?: (?:on|for|to)\b)?`)
	firstOff   = regexp.MustCompile(`(?i)\b(?:your |the |and )?first ([\w-]+) (?:is |are |at |- )?(\d+(?:[.,]\d+)? ?%|` + amount + `) off\b`)
	freeFor    = regexp.MustCompile(`(?i)\b(?:try (?:it|us|[A-Z]\w+) )?(free for (?:\d+ (?:days|weeks|months)|(?:your|the) first (?:month|week|year)|(?:one|two|three|six) (?:months?|weeks?)))`)
	saveOff    = regexp.MustCompile(`(?i)\bsave ((?:up to |an? extra |extra )?)(\d+(?:[.,]\d+)? ?(?:%|percent))((?: on) (?:your|the) (?:first|next) [\w-]+)?(?: (?:on|off)\b)?`)
	freeThing  = regexp.MustCompile(`(?i)\b(?:(?:an?|get|enjoy|with|and|start with|we offer|offering|first|your) )*((?:\d+[- ](?:day|week|month|minute|hour)s? )?free (?:[\w-]+ ){0,2}?(?:trial|shipping|delivery|consultations?|quotes?|estimates?|samples?|demos?|class|lesson|session|plan|tasting|entry|admission|gift|guide|ebook|e-book|checklist|audit|assessment|inspection|parking|breakfast|coffee|dessert|drink|starter|tickets?|domain|mats?|install(?:ation)?|setup|check-?up|valuation|viewing|upgrade|months?|returns|refills?)\b(?: and (?:free )?(?:returns|delivery|shipping|setup))?(?: (?:for|on|over|with) (?:orders? (?:over|above) |(?:over|above) |all orders|every order)?(?:` + amount + `|\d+ (?:days|weeks|months)|every order|all orders|your first [\w-]+|(?:any|every|each|your) (?:new |first |second )?[\w-]+(?: order)?)?)?)`)
	firstFree  = regexp.MustCompile(`(?i)\b(?:(?:get|your|the|with|and) )*(first [\w-]+(?: [\w-]+)?(?: is| are)? (?:free|half price))\b`)
	bogo       = regexp.MustCompile(`(?i)\b(buy (?:one|two|three|1|2|3),? (?:and )?get (?:one|two|1|2|the third|the second|another)(?: one)?(?: (?:for )?(?:free|half price|half off))?|bogo|2[- ]for[- ]1|two for one|3[- ]for[- ]2|three for two|half[- ]price)\b((?: (?:on|every) ` + weekdays + `)?)`)
	earlyBird  = regexp.MustCompile(`(?i)\b(early[- ]bird (?:tickets?|pricing|prices?|rates?|discount)(?:(?: from| at| for|:)? ` + amount + `)?)`)
	saleName   = regexp.MustCompile(`(?i)\b(?:our |the |a |an )?((?:big |annual |mid-season |end[- ]of[- ](?:season|summer|year|line) |summer |winter |spring |autumn |fall |Black Friday |Cyber Monday |Christmas |holiday |Easter |back[- ]to[- ]school |clearance |flash |anniversary |new year |January |weekend |Valentine's |Mother's Day |Father's Day |Halloween )+(?:sale|deals?|clearance))(?: on| for| of|:)?\b`)

	priced = regexp.MustCompile(`(?i)\b?((?:(?:prices? |pricing |plans? |tickets? |rates? )?(?:starts?|starting|begin|begins) (?:at|from)|(?:prices?|plans?|tickets?|rooms?|rates?) from|from|only|just|for only|for just|for|at|priced at|costs?|now|is|are|price:?|tickets?:?|per person:?)\s+)?((?:\d+ (?:nights?|days?|sessions?|classes|tickets|bottles|bags|boxes|months|weeks|pieces|people)?\s?(?:from|for) )?` + amount + `)(` + period + `(?: instead of ` + amount + `)?)`)

	dueBy   = regexp.MustCompile(`(?i)((?:,? ?\b(?:offer|sale|deal|discount|it|which|promotion|registration|applications?|booking|bookings|and|is|are|only|valid|available|this|the|on now|runs?|open|must)\b)*) ?\b(until|till|through|thru|by|before|ends?(?: on| this)?|ending(?: on)?|expires?(?: on)?|expiring(?: on)?|closes?(?: on)?|closing(?: on)?)\s+((?:the )?` + loose + `(?: (?:` + clocked + `))?)`)
	onlyNow = regexp.MustCompile(`(?i)((?:for |on |just |only )*)((?:this weekend|this week|this month|this (?:January|February|March|April|May|June|July|August|September|October|November|December)|today|one day|one week|two days|three days|` + weekdays + `|tomorrow)(?: only)?|(?:for )?(?:a )?limited time(?: only| offer)?|while (?:stocks?|supplies) lasts?|(?:for )?the next \d+ (?:hours|days|weeks)|\d+ (?:hours|days) only)\b`)
	onDate  = regexp.MustCompile(`((?:\b[Oo]n |\b[Ff]rom |\b[Tt]his |\b[Ss]tarts? (?:on )?|\b[Ss]tarting (?:on )?|\b[Oo]pening (?:on )?|\b[Oo]pens (?:on )?|\b[Ll]aunching (?:on )?)?)(` + dated + `)((?:,? (?:` + clocked + `))?(?: ?(?:-|to|until) ?\d{1,2}(?:[:.]\d{2})? ?(?:am|pm))?)`)

	rated   = regexp.MustCompile(`(?i)\b(?:it is |it's |is |we are |we're |has (?:a )?|with (?:a )?|and )?(rated \d(?:\.\d)?(?: ?/ ?\d+| out of \d+)?(?: stars?)?(?: (?:on|by|from) (?:over |more than )?[\w]+(?:,\d{3})*(?: (?:[A-Z][\w]*|customers|users|reviews|clients|teams|guests|patients|students|people|members|parents|owners|Store))*)?|\d(?:\.\d)?(?:/5| out of 5)?[- ]stars?(?: rating| reviews?| average)*(?: (?:on|from|by) (?:over |more than )?[\w]+(?:,\d{3})*(?: (?:[A-Z][\w]*|customers|users|reviews|clients|teams|guests|patients|students|Store))*)?)`)
	trusted = regexp.MustCompile(`(?i)\b(?:it is |it's |is |we are |we're |already |and )?((?:trusted|used|loved|chosen|recommended|backed|built|read) by (?:over |more than |nearly |about )?(?:[\d][\d,.]*(?:[km]\b)?\+? )?(?:[\w'&-]+ ){0,4}?(?:customers|users|clients|teams|members|students|families|companies|businesses|people|subscribers|patients|learners|doctors|dentists|vets|chefs|dermatologists|parents|teachers|brands|agencies|owners|runners|readers|developers|households|schools|restaurants|shops)(?: (?:worldwide|across|in) ?(?:[A-Z]\w+)?)?)`)
	counted = regexp.MustCompile(`(?i)\b(?:we have |with |join |already |and |for |has )?((?:over |more than |nearly |about |some )?\d[\d,.]*(?:[km]\b)?\+? (?:happy |satisfied |active |paying |monthly |five-star |5-star |verified |local )*(?:customers|users|reviews|clients|teams|members|students|families|downloads|companies|businesses|subscribers|patients|learners|graduates|donors|meals served|trees planted|animals rehomed|households|runners|readers)(?: (?:trust|use|love|choose|served|worldwide|helped|since \d{4}|so far|already|last year|this year|in \d{4}|rely on)(?: (?:us|it|them))?)?)`)
	since   = regexp.MustCompile(`(?i)\b((?:family[- ](?:run|owned),? |established |est\.? |founded |serving [\w ]+ |baking |in business |brewing |making [\w ]+ )?(?:since|in) (?:1[89]\d\d|20[0-3]\d)|(?:over |more than )?\d+\+? years(?:'| of)? (?:experience|in business|of expertise|in the trade)|award-winning|winners? of (?:the )?[A-Z0-9][\w' ]{2,40}|as seen (?:in|on) [A-Z][\w' ]{2,30}|featured in [A-Z][\w' ]{2,30}|voted [\w' ]{3,40})`)

	placed = regexp.MustCompile(`(?:\b(?:based|located) )?\b([Ii]n|[Nn]ear|[Aa]cross|[Aa]round|[Tt]hroughout) ((?:(?:downtown|central|north|south|east|west|northern|southern|eastern|western|greater|upstate|old town|the heart of|the centre of|the center of|the city of) )?(?:the )?[A-Z][\p{L}'-]+(?:,? (?:[A-Z][\p{L}'-]+|de|del|la|upon))*)`)
	venue  = regexp.MustCompile(`\b([Aa]t (?:the )?[A-Z][\p{L}'&-]+(?: (?:[A-Z][\p{L}'&-]+|of|de|the))*)`)
	ended  = regexp.MustCompile(` (?:of|de|the|upon)$`)

	aimed = regexp.MustCompile(`(?i)\b((?:targeting|targeted (?:at|to|towards?)|target|aimed (?:at|towards?)|geared (?:at|towards?|to)|directed at|appealing to|(?:(?:is|are) )?(?:(?:perfect|ideal|great|designed|built|made|intended|suitable|exclusively|just|especially|good) )?for))\s+(.+)$`)

	pained  = regexp.MustCompile(`(?i)\b(?:tired of|sick of|fed up with|struggling with|no more|stop|hate|done with|instead of) ([\w'-]+(?: [\w'-]+){0,3})`)
	asksFor = regexp.MustCompile(`(?i)\b(?:with (?:a |the )?)?(?:call[ -]to[ -]action|cta)(?: (?:is|should be|button|to))*\s*:?\s*"?([\w' ]{3,30})"?`)
)

// actions recognise a call to action in the brief's words, the more particular
// first. Some words ask for an action only where certain things are sold.
var actions = []struct {
	code    string
	hints   string
	pattern *regexp.Regexp
	kinds   []kind
}{
	{"donate_now", "donat|give|fundrais", regexp.MustCompile(`(?i)\bdonat|\bgive today|\bfundrais`), []kind{cause}},
	{"sign_up", "volunteer", regexp.MustCompile(`(?i)\bvolunteer`), []kind{cause}},
	{"get_quote", "quote|estimate", regexp.MustCompile(`(?i)\b(?:get|request|free|a) quotes?\b|\bestimates?\b`), nil},
	{"contact_us", "contact|touch|write|demo", regexp.MustCompile(`(?i)\bcontact us\b|\bget in touch\b|\bwrite to us\b|\b(?:request|book) a demo\b`), nil},
	{"apply_now", "apply|application|enrol", regexp.MustCompile(`(?i)\bapply (?:now|by|today|before|online)\b|\bapplications (?:open|close)|\benrol`), nil},
	{"register_now", "register|rsvp|webinar|workshop|conference|summit|meetup", regexp.MustCompile(`(?i)\bregister\b|\brsvp\b|\b(?:webinar|workshop|conference|summit|meetup)\b`), nil},
	{"subscribe", "subscri|newsletter", regexp.MustCompile(`(?i)\bsubscri(?:be|ption)\b|\bnewsletter\b`), nil},
	{"sign_up", "sign|wait|join", regexp.MustCompile(`(?i)\bsign[ -]?up\b|\bwait(?:ing)?[ -]?list\b|\bjoin now\b`), nil},
	{"call_now", "call|phone", regexp.MustCompile(`(?i)\bcall (?:us|now|today)\b|\bphone us\b`), nil},
	{"get_directions", "direction|visit|by", regexp.MustCompile(`(?i)\bdirections\b|\bvisit us\b|\bcome by\b|\bdrop by\b|\bstop by\b`), nil},
	{"watch_now", "watch|stream", regexp.MustCompile(`(?i)\bwatch (?:now|the|it)\b|\bstream now\b`), nil},
	{"book_now", "book|reserve", regexp.MustCompile(`(?i)\bbook (?:now|a|your|an|online|today|early)\b|\breserve\b`), nil},
	{"buy_tickets", "ticket", regexp.MustCompile(`(?i)\btickets?\b`), []kind{event, travel}},
	{"get_started", "account", regexp.MustCompile(`(?i)\b(?:savings|current|bank|checking) account\b`), []kind{service}},
	{"book_now", "booking|appointment|class|barber|salon|spa|massage|clinic|dentist|hairdresser", regexp.MustCompile(`(?i)\b(?:barber\w*|salon|spa|massage|clinic|dentist|hairdresser)\b|\bbookings?\b|\bappointments?\b|\bclass(?:es)?\b`), []kind{service, travel, food}},
	{"download", "download|app store|book", regexp.MustCompile(`(?i)\bdownload|\bapp store\b|\bebook\b|\be-book\b`), nil},
	{"get_started", "free|started", regexp.MustCompile(`(?i)\bfree trial\b|\bget started\b|\btry (?:it )?(?:for )?free\b|\bfree plan\b|\bstart (?:for )?free\b`), []kind{software, course, service}},
	{"order_now", "order|take", regexp.MustCompile(`(?i)\border (?:now|online|today|yours|here)\b|\btakeaway\b|\btake-?out\b`), nil},
	{"shop_now", "shop|buy", regexp.MustCompile(`(?i)\bshop (?:now|online|the)\b|\bbuy now\b`), nil},
	{"learn_more", "more|podcast", regexp.MustCompile(`(?i)\bpodcast\b|\blearn more\b|\bfind out more\b|\bread more\b`), nil},
}
