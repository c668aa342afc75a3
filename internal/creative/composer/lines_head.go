package composer

// The angles.
const (
	byBenefit    = "benefit"
	byPain       = "pain"
	byProof      = "proof"
	byOffer      = "offer"
	byUrgency    = "urgency"
	byQuestion   = "question"
	byHowTo      = "how_to"
	byComparison = "comparison"
	byCuriosity  = "curiosity"
	byFeature    = "feature"
	byAudience   = "audience"
	byBrand      = "brand"
)

// heads are headlines and subject lines: no full stop, no exclamation mark.
// Nothing in them is a claim of its own; what they claim comes from slots.
var heads = []template{
	{byBrand, "{name}", "tag"},
	{byBrand, "{name}: {product}", "casual named"},
	{byBrand, "{product} from {brand}", "company sold"},
	{byBrand, "{product} at {brand}", "company sold food"},
	{byBrand, "Meet {name}", "own meeting"},
	{byBrand, "{name} {place}", "self"},
	{byBrand, "{name}, {product} {place}", "self"},

	{byFeature, "{product}", ""},
	{byFeature, "{product} {place}", ""},
	{byFeature, "Your {product} {place}", "self single service,food"},
	{byFeature, "{product}{atprice}", "sold"},
	{byFeature, "{fromprice}", "tag"},
	{byFeature, "{name}{atprice}", "own"},
	{byFeature, "New: {product}", "new sold anon"},
	{byFeature, "The new {product}", "new single anon"},
	{byFeature, "New {place}: {product}", "new"},
	{byFeature, "{product} with {anp}", ""},
	{byFeature, "{bit}", "tag"},
	{byFeature, "{bit}, {bit2}", "light"},
	{byFeature, "{product}: {bit}", "anon"},
	{byFeature, "{name}: {bit}", "own"},
	{byFeature, "{adj1} {product}", ""},
	{byFeature, "{product} {when}", "event,course"},
	{byFeature, "{name} {when}", "event,course own"},
	{byFeature, "{when} {where}", "event"},
	{byFeature, "{product} {where}", "event"},
	{byFeature, "{name} is {adj}", "own"},
	{byFeature, "{say}", "tag"},

	{byBenefit, "{do}", ""},
	{byBenefit, "{do} with {name}", "own"},
	{byBenefit, "{product} that {vpp}", ""},
	{byBenefit, "{name} {vp}", "own"},
	{byBenefit, "{say}", ""},
	{byBenefit, "{bit}. {bit2}", ""},
	{byBenefit, "{anp} and {anp2}", ""},
	{byBenefit, "{do}, {do2}", "light"},
	{byBenefit, "{name}: {bit}", "own"},

	{byOffer, "{offer}", ""},
	{byOffer, "{getoffer}", ""},
	{byOffer, "{offeron}", ""},
	{byOffer, "{name}: {offer}", ""},
	{byOffer, "{offer} at {brand}", "company goods,food"},
	{byOffer, "{product}: {offer}", ""},
	{byOffer, "{product}{atprice}: {offer}", "sold"},
	{byOffer, "{occasion}: {offer}", ""},
	{byOffer, "{occasion} at {brand}", "company"},
	{byOffer, "{product}, now {offer}", "on"},
	{byOffer, "{occasion}: {product}", ""},
	{byOffer, "{offer} {place}", "food,service"},
	{byOffer, "{offer} for {audience}", "on"},
	{byOffer, "{offer}. {bit}", ""},

	{byUrgency, "{offer} {deadline}", ""},
	{byUrgency, "{getoffer} {deadline}", ""},
	{byUrgency, "{offeron} {deadline}", ""},
	{byUrgency, "{occasion} {ends}", ""},
	{byUrgency, "Only {deadline}: {offer}", "adverb"},
	{byUrgency, "{deadline}: {offer}", ""},
	{byUrgency, "{offer}, {ends}", ""},
	{byUrgency, "{product}: {offer} {deadline}", ""},
	{byUrgency, "{actby}", ""},
	{byUrgency, "{product}: {actby}", ""},

	{byQuestion, "Looking for {aproduct}?", "goods,food,software,service,course,travel,property usual"},
	{byQuestion, "Looking for {aproduct} {place}?", "service,course,travel,property usual"},
	{byQuestion, "Need {aproduct}?", "service,software usual"},
	{byQuestion, "Need {aproduct} {place}?", "service usual"},
	{byQuestion, "Ready to {aim}?", "software,course,service,travel,goods"},
	{byQuestion, "Want to {aim}?", "software,course,service,travel"},
	{byQuestion, "Free {when}?", "event casual oneday noclock"},
	{byQuestion, "Shopping for {aproduct}?", "goods many sold usual"},
	{byQuestion, "{gain}?", "tag"},

	{byAudience, "{product} for {audience}", ""},
	{byAudience, "For {audience}", "tag"},
	{byAudience, "Made for {audience}", "goods,software,course sold tag"},
	{byAudience, "{name} for {audience}", "own"},
	{byAudience, "{audience}, meet {name}", "own meeting"},
	{byAudience, "Built for {audience}", "software tag"},
	{byAudience, "For {audience}: {product}", ""},
	{byAudience, "For {audience}: {bit}", "things"},
	{byAudience, "For {audience}: {offer}", ""},

	{byHowTo, "How to {howdo}", "course,service"},
	{byHowTo, "How {audience} {howdo}", "software,course"},

	{byComparison, "{product}, {no}", ""},
	{byComparison, "{name}: {no}", "own"},
	{byComparison, "{no}", ""},
	{byComparison, "{product} with {no}", ""},

	{byPain, "Done with {pain}?", ""},
	{byPain, "Tired of {pain}?", ""},
	{byPain, "No more {pain}", ""},

	{byCuriosity, "Have you met {name}?", "own meeting"},
	{byCuriosity, "Have you seen {ournew}?", "goods,property sold"},
	{byCuriosity, "A closer look at {name}", "goods,software,course own"},
	{byCuriosity, "Take a look at {ournew}", "goods,property sold"},
	{byCuriosity, "Get to know {name}", "own meeting"},

	{byProof, "{proof}", ""},
	{byProof, "{name}: {proof}", ""},
	{byProof, "{product}: {proof}", ""},
	{byProof, "{name} is {isproof}", "own"},

	// For briefs that say little more than what the thing is.
	{byFeature, "See {ournew}", "goods,food,travel,property sold sparse"},
	{byFeature, "Your next {product}", "goods,travel,property,course single sparse"},
	{byFeature, "Time for {aproduct}", "goods,food,travel sold sparse"},
	{byQuestion, "How about {aproduct}?", "goods,food,travel,course sold sparse"},
	{byQuestion, "Thinking about {aproduct}?", "goods,service,course,travel,property sold sparse"},
	{byCuriosity, "Ever tried {aproduct}?", "food sold count sparse"},
}

// buttons are headlines that ask for the action, by its code. Conditions follow
// a bar.
var buttons = map[string][]string{
	"learn_more":     {"Learn more", "Find out more", "Get the details", "Save the date | event", "Listen now | media listen"},
	"shop_now":       {"Shop now", "Shop {theproduct} | goods sold brief", "Find yours today | goods plural sold", "Shop {brand}", "Get yours today | goods single sold"},
	"sign_up":        {"Sign up today", "Sign up now", "Join {name}", "Sign up for {name} | own"},
	"get_offer":      {"Get the offer", "Claim your offer", "See the offer"},
	"book_now":       {"Book now", "Book today", "Book your place | course,event", "Book with {brand}", "Book ahead | travel,food,event", "Pick your date | travel"},
	"contact_us":     {"Get in touch", "Contact us today", "Talk to us", "Talk to {brand}"},
	"download":       {"Download now", "Download {name} | own", "Get {name} | own", "Download it today"},
	"subscribe":      {"Subscribe today", "Subscribe to {name} | own", "Subscribe now", "Start your subscription"},
	"get_quote":      {"Get a quote", "Ask for a quote", "Get your quote today", "Request your quote"},
	"apply_now":      {"Apply now", "Apply today", "Send your application", "Start your application"},
	"donate_now":     {"Donate today", "Give today", "Donate now", "Give what you can", "Support {name}"},
	"order_now":      {"Order now", "Order today", "Order yours | sold single", "Order from {brand}", "Place your order"},
	"get_started":    {"Get started", "Get started today", "Start with {name} | own", "Try {name} | software,course own", "Start today"},
	"register_now":   {"Register now", "Register today", "Save your place", "Reserve your place", "Join us | event"},
	"buy_tickets":    {"Get your tickets", "Buy tickets now", "Book your tickets", "Buy your tickets"},
	"watch_now":      {"Watch now", "Press play", "Watch {name} | own"},
	"get_directions": {"Come and see us", "Visit {name}", "Visit us {place}", "Stop by today"},
	"call_now":       {"Call now", "Call us today", "Call {brand}", "Give us a call"},
}
