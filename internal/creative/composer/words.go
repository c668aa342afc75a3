package composer

import (
	_ "embed"
	"strings"
)

// The words that the reader knows. They decide how a phrase may be used, never
// what is said: copy is made of the brief's phrases and the templates.

// verbs are what products, makers and customers do, in their base form.
var verbs = set(`accept add adjust aim answer arrive ask automate avoid bake balance be become believe block book boost brew bring build buy calculate
capture care carry catch celebrate change charge check choose clean clear close collect combine come compare complete connect convert cook cost cover craft create cut
deal deliver design detect discover distribute do donate download dream drink drive earn eat employ enable end enjoy ensure enter export fall feed feel file fill find finish fit fix
float flow fold follow forecast free freeze fund gain gather generate get give glow go grow guide handle happen harvest have heal heat help hire hold host import improve include increase
inform inspect install insulate integrate invest invite join keep know last laugh launch lead learn leave let lift listen log look lose love lower make manage match measure meet mix monitor move
need notify offer open order organise organize outlast own pack paint park pause pay pick plan plant play post practise practice prepare prevent print process produce promise promote protect prove provide publish pull
put raise reach read receive record recover recycle reduce refill refinance register relax remember remind remove renew rent repair replace rescue resist rest reuse review ride roast run save scan schedule secure see sell send
serve set share shape ship shop show sign simplify sing sit skip sleep slip smell soften solve sort source speak spend split stand start stay stick stitch stop store strengthen stretch study subscribe style suit support swap switch sync
tackle take talk taste teach tell test think tour track train translate transform travel treat try turn understand update upgrade upload use visit walk want warm warn wash watch wear weigh welcome win withstand work wrap write
apply approve assemble attend become begin blend breathe browse call chill climb clip compare consult cruise cycle decide decorate delete deploy dive dry dye edit email embrace escape estimate exchange expand experience explain explore extend fly forget gift
hear hide hike hit ignore imagine inherit inspire judge jump kick land lend level lose maintain master mean meditate mend message minimise minimize motivate multiply negotiate nourish notice observe operate outgrow overcome pair pass perform please polish pool
predict press preserve push quit quote rank rate recommend recharge refer refresh rehome relieve reload rely require reserve resell resolve respond restore restock retire return reward rise route sail sew sharpen shine shorten shrink sink sit size ski slow smooth
snap speed spot squeeze stack stain steam steer stream strip summarise summarize supply surf surprise survive sweat swim talk tailor thrive tie tighten tow trade trim trust unfold unlock unpack unwind vary verify vote wake weather weave weed wipe withdraw wonder sound claim transfer report score volunteer`)

// nounVerbs are verbs that are as often nouns; they open an invitation only
// before an object that shows it.
var nounVerbs = set(`answer bake balance block book care change charge check clean close cost cover craft cut deal design donate dream drink drive end fall feed feel file fill fit fix float flow fold forecast free freeze fund gain guide harvest heat help
hire host last laugh launch lead lift light log look lower match measure mix move need offer open order own pack paint park pay pick plan plant play post practice print process produce promise record rent repair rest review ride roast run shape
share ship shop show sleep sort source split stand start stay store stretch study style suit support swap sync talk taste test think tour track train travel treat turn update use visit walk want warm wash watch wear welcome win work wrap scan schedule set smell
export import upload download stick stop stitch recycle reuse call trade email estimate exchange experience gift land level master message notice pair pass polish pool press push quote rank rate refresh return reward rise route sail size ski slow snap speed spot
stack stain steam stream strip supply surf surprise tailor tie tow trim trust vote wake weather weed wipe clip cruise cycle dive dry dye edit climb chill swim mean reserve state volunteer hike blend escape shine sink squeeze sweat wonder report score jump kick hit judge sound claim transfer`)

// makers are verbs that say what a business does with what it sells.
var makers = set("sell make offer provide run bake build design craft create produce rent roast brew teach organise organize host import grow serve fix repair install clean stock supply deliver manufacture print")

// spoken are nouns that look like a verb in the third person.
var spoken = set("reports visits repairs updates returns quotes claims talks notes upgrades exchanges trades gifts passes pools pairs supplies uploads downloads messages emails calls matches orders changes leads scans trims transfers rates routes stays deals offers plans tools books tours walks cuts looks runs shows covers drinks wears rides plays prints tests classes courses checks designs sales shops stores parks watches treats rings boards bags wraps mixes picks lights screens cards posts reviews rates guides hosts rents records sets packs lifts")

// people are the heads of phrases that say whom something is for.
var people = set(`nurses agents traders podcasters tenants foster carers self-employed leaders teachers engineers factories wholesalers toddlers over-50s students freelancers parents teams businesses startups runners hikers owners women men kids children beginners developers marketers families adults seniors teenagers teens
professionals people everyone anyone those entrepreneurs agencies companies travellers travelers cyclists gamers athletes homeowners landlords tenants renters designers teachers schools hospitals
creators founders managers nurses doctors patients mums moms dads couples bakers cooks chefs makers artists musicians readers writers photographers drivers commuters workers employees
nonprofits charities clubs restaurants cafes retailers shops shoppers stores brands manufacturers contractors accountants lawyers engineers analysts investors buyers sellers graduates learners babies toddlers
dogs cats pets gardeners swimmers surfers skiers climbers campers anglers guests visitors locals tourists expats members donors volunteers users customers clients newcomers neighbours neighbors leaders recruiters coaches
consultants bookkeepers farmers firms enterprises organisations organizations offices hotels venues warehouses clinics dentists therapists vets lovers fans enthusiasts addicts newlyweds brides grooms millennials listeners girls boys youth professors
scientists researchers coders builders plumbers electricians roofers painters planners leads directors executives CFOs CTOs CEOs cfos ctos ceos SMEs smes SMBs smbs HR minimalists vegans vegetarians dancers yogis families' minds pros`)

// things end like people but are none.
var things = set(`numbers letters flowers dinners offers computers papers layers sneakers trousers burgers crackers slippers containers shoppers' stickers posters jumpers sweaters loafers trainers covers lovers' orders servers printers
scooters chargers filters colors colours hours tours doors floors mirrors sensors monitors motors lists wrists twists trees coffees fees employees' degrees committees rollers coolers heaters speakers headers boosters blazers joggers
planners' folders binders rulers markers erasers hampers diapers wipers mowers blowers dryers washers toasters blenders mixers grinders cookers freezers drawers towers powers showers others centers centres`)

// mass are nouns that take no "a".
var mass = set(`coffee tea milk water beer wine juice bread butter cheese chocolate honey oil food pasta rice soup yoghurt yogurt granola cereal software hardware furniture clothing jewelry jewellery insurance
advice training coaching cleaning plumbing roofing gardening landscaping catering childcare skincare haircare homeware kitchenware glassware footwear sportswear activewear swimwear knitwear workwear outerwear denim leather
equipment luggage makeup perfume soap shampoo wool cotton linen yoga pilates meditation tutoring accounting bookkeeping consulting marketing advertising research information content data analytics electricity energy storage housing
accommodation transport travel music art photography design repair maintenance security therapy physiotherapy dentistry medicine care help support delivery shipping packaging payroll banking credit finance tax work money time paper
pottery stationery bedding lighting flooring parking hosting kombucha kimchi hummus ice-cream gelato sushi pizza barbecue chicken fish meat beef seafood fruit produce gin rum vodka whisky whiskey cider sake matcha gear wellness fitness
english spanish french german italian portuguese japanese chinese greek kombucha mesh prep timber wood paint yarn tuition accounting mowing wifi lunch breakfast rent glass down fabric steel nylon resin plastic tutoring translation fabrication rental storage pricing billing financing boarding removal management development recruitment entertainment catering staff news aid relief education setup access onboarding code interest testing reading entry admission bbq`)

// countable are nouns that take an "a" for sure. Of others that is left open,
// since no brief gets better by a wrong article.
var countable = set(`warranty guarantee trial plan app card kit guide certificate pool gym terrace garden balcony view kitchen fee price contract lounge report dashboard discount menu course session lesson class consultation call appointment bonus allowance
battery cover range policy rope filter course history meal box bag bottle book bike car room tour trip gift voucher account app platform tool service team coach tutor teacher chef instructor trainer advisor adviser accountant lawyer doctor dock stove`)

// bought are things that one buys, which take an "a" as well.
var bought = set(`mattress lamp headlamp desk chair table sofa bed bike e-bike scooter e-scooter bag backpack watch phone laptop camera tent jacket coat dress shirt shoe boot wallet belt ring necklace mug cup knife pan pot oven grill kettle vacuum robot drone keyboard mouse screen microphone guitar novel
cookbook memoir game puzzle toy doll set pack pass ticket pillow blanket rug carpet candle plant tree shed van truck boat trailer tyre helmet hat cap suit towel brush razor iron fridge fan thermostat doorbell lock safe alarm converter carrier planner tracker charger powerbank earbuds speaker mirror clock frame vase
basket hammock swing pool sauna cabinet shelf rack stool bench stroller crib monitor console book knife knives sock box product robot kit deodorant soap serum cream toothbrush`)

// plurals do not end in s.
var plurals = set("people children men women feet teeth mice kids sheep fish-and-chips jeans media data-sets headphones alumni cacti")

// singulars end in s all the same.
var singulars = set("bus gas lens yoga tennis hummus campus cactus bonus focus canvas atlas chess series pilates news express fitness wellness business class glass dress mattress address process access press chaos asparagus couscous citrus kudos oasis basis analysis gps saas cosmos swiss paris as is us plus")

// adjectives that may stand alone: "waterproof", "vegan and gluten-free".
var adjectives = set(`waterproof vegan organic handmade homemade local natural reusable recyclable recycled biodegradable compostable sustainable ethical lightweight soft warm cosy cozy comfortable durable sturdy strong tough
foldable portable wireless rechargeable washable breathable adjustable customisable customizable secure safe private encrypted simple easy fast quick quiet silent slim small compact affordable flexible modular modern classic
licensed insured certified accredited qualified experienced friendly professional reliable available open seasonal fresh spicy sweet crunchy crispy creamy tasty delicious healthy nutritious vegetarian kosher halal raw
pet-friendly family-run family-owned independent accessible inclusive confidential transparent hypoallergenic fragrance-free cruelty-free unisex seamless stretchy hand-stitched handwoven hand-painted limited unlimited online
offline multilingual bilingual beginner-friendly free stylish elegant colourful colorful minimal practical versatile powerful smart personal personalised personalized tailored bespoke fair-trade plant-based carbon-neutral non-toxic
hand-poured hand-picked small-batch same-day next-day round-the-clock spacious bright sunny furnished unfurnished new refurbished vintage fun relaxed guided scalable compliant automatic automated remote dry accurate precise compatible`)

// selfNouns are businesses and people that advertise themselves.
var selfNouns = set("business tuner chef caterer instructor trainer coach tutor handyman mover movers builder builders decorator landscaper architect translator notary therapist physiotherapist chiropractor osteopath counsellor counselor stylist hairdresser barber nanny babysitter broker agent dealership bakery restaurant cafe café bar bistro deli pizzeria brewery roastery shop store boutique studio clinic practice salon barbershop gym plumber electrician roofer painter gardener cleaner cleaners dentist lawyer solicitor accountant photographer mechanic garage locksmith tailor florist optician pharmacy vet groomer agency firm company consultancy brand startup shelter charity nonprofit non-profit foundation school academy university hotel hostel guesthouse b&b resort spa museum theatre theater library church sanctuary hospital nursery daycare farm winery gallery")

// burdens are things that people are glad to be without.
var burdens = set("fee fees contract contracts paperwork commission commissions deposit deposits queue queues mess hassle haggling waiting spreadsheets ads charges penalties jargon")

// adverbs may open a phrase and say nothing about its kind.
var adverbs = set("fully freshly locally naturally easily quickly always never also now really very super 100% completely totally newly ethically sustainably carefully individually responsibly extremely incredibly truly so quite")

// determiners are what noun phrases begin with.
var determiners = set("a an the our my your their his her its some all any every each this these those more")

// prepositions end the part of a noun phrase that has its head.
var prepositions = set("of for with in from by at on to without that which who near between under over inside against into around during made designed built aimed featuring including than about via per as because when while so where plus out within after before until through across behind above below off along towards since")

// placeNames are towns and countries that are written without a preposition.
const placeNames = `London Paris Berlin Madrid Barcelona Lisbon Porto Rome Milan Naples Florence Venice Vienna Zurich Geneva Amsterdam Rotterdam Brussels Antwerp Dublin Cork Edinburgh Glasgow Manchester Liverpool Leeds Bristol Birmingham Brighton Oxford Cambridge
Munich Hamburg Cologne Frankfurt Stuttgart Leipzig Copenhagen Stockholm Oslo Helsinki Warsaw Krakow Prague Budapest Athens Istanbul Dubai Tokyo Osaka Kyoto Seoul Beijing Shanghai Singapore Sydney Melbourne Brisbane Perth Auckland Wellington Toronto Montreal
Vancouver Ottawa Calgary Chicago Boston Seattle Portland Denver Austin Dallas Houston Phoenix Atlanta Miami Orlando Philadelphia Brooklyn Manhattan Queens Bronx Harlem Oakland Sacramento Nashville Detroit Cleveland Pittsburgh Baltimore Minneapolis Milwaukee Tucson
California Texas Florida Ohio Oregon Colorado Vermont Maine Montana Utah Nevada Arizona Hawaii Portugal Spain France Italy Germany Greece England Scotland Wales Ireland Belgium Netherlands Switzerland Austria Sweden Denmark Norway Finland Poland
Japan China India Kenya Uganda Tanzania Ethiopia Morocco Egypt Nigeria Ghana Brazil Mexico Peru Colombia Argentina Chile Canada Australia Europe Africa Asia Alps Algarve Tuscany Sicily Provence Bavaria Cornwall Devon Yorkshire Bali Thailand Vietnam`

var towns = set(strings.ToLower(placeNames))

// proper gives words that are never lower case their form.
var proper = forms(`Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February April June July August September October November December
Christmas Easter Halloween Thanksgiving Valentine's Ramadan Diwali Hanukkah Google Facebook Instagram TikTok LinkedIn Pinterest YouTube WhatsApp Slack Excel QuickBooks Xero Kickstarter Etsy Shopify WordPress Salesforce HubSpot Stripe PayPal Zoom Outlook Gmail
Zapier Notion Jira GitHub Microsoft Apple Amazon Android iPhone iPad iOS macOS Windows Linux Bluetooth Wi-Fi USB-C GPS HIIT CRM ERP SEO AI API B2B B2C HR IT VIP DIY FAQ PDF CSV SMS VAT GDPR HIPAA SaaS LED TV UK USA US EU NYC PTA NGO CEO CFO CTO SOC ISO BBQ DJ MBA GMAT IELTS TOEFL SAT
English Hebrew Arabic Polish Russian Ukrainian Hindi Urdu Farsi Swahili Finnish Czech Hungarian Romanian Spanish French German Italian Portuguese Dutch Greek Japanese Chinese Korean Thai Indian Mexican Turkish Lebanese Vietnamese American British European African Asian Irish Scottish Swedish Danish Norwegian Swiss Austrian Belgian Brazilian Egyptian Moroccan
Neapolitan Mediterranean Scandinavian Roman Sicilian Tuscan Basque Catalan Peruvian Colombian Ethiopian Kenyan Guatemalan ` + placeNames)

//go:embed slips.txt
var slipsFile string

// slips are spellings that can only be meant one way.
var slips = func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(slipsFile) {
		slip, word := cutWord(strings.TrimSpace(line))
		m[slip] = word
	}
	return m
}()

// shouts are words in capitals that are no acronyms.
var shouts = set("sale free now new off buy get big wow huge only today best all and for the with our your you this that one two save last day win hot top more less must don't not yes no go up us we it is are see act fast ends end from open try deal deals gift gifts shop order call book join help give make made")

// kindWords tell what kind of thing is advertised, by the nouns in it.
var kindWords = []struct {
	kind  kind
	words map[string]bool
}{
	{cause, set("charity nonprofit non-profit donation donations donate fundraiser fundraising appeal shelter foodbank refugees volunteers volunteer ngo orphans conservation hunger relief rescue sanctuary")},
	{event, set("event festival concert seminar lecture symposium talk hike hikes conference workshop webinar meetup gig exhibition fair market tasting gala marathon race tournament party parade screening premiere recital summit hackathon expo retreat quiz show tour opening masterclass museum gallery zoo aquarium exhibition theatre theater drive camp-fire performance play musical brunch-club ceremony run 5k 10k ride cinema night nights evening evenings carnival")},
	{software, set("app software platform tool saas dashboard plugin extension api crm erp website builder tracker planner scheduler generator editor calculator automation bot chatbot database inbox wallet-app suite system helpdesk marketplace newsletter game notes kubernetes backup backups")},
	{media, set("guide catalogue catalog podcast film movie series documentary album newspaper magazine episode channel")},
	{course, set("camp mba course courses class classes bootcamp lessons lesson training program programme tutoring tutor tutors academy school curriculum degree certificate coaching university")},
	{property, set("apartment apartments flat flats house houses home homes condo condos villa villas lot housing terrace bungalow cottage cottages duplex farmhouse maisonette plot loft property properties estate land penthouse townhouse townhouses listing")},
	{travel, set("hotel hostel trip trips tours holiday holidays vacation vacations cruise cruises safari resort cabin cabins b&b guesthouse flights getaway getaways stay stays charter charters transfer transfers glamping campsite villa-rental itinerary")},
	{food, set("coffee tea latte espresso cappuccino bakery bread sourdough cake cakes cookies pizza pizzas burger burgers treats sauce restaurant cafe café bar menu brunch lunch dinner breakfast tacos sushi ramen noodles chocolate chocolates granola cream sorbet beans snack snacks juice smoothie smoothies beer wine kombucha honey sauce salsa meal meals catering deli bistro ice-cream gelato doughnuts donuts croissants pastries cheese jam gin cider curry pasta salad salads")},
	{service, set("haircut haircuts chef caterer venue tuner instructor trainer coach handyman decorator landscaper architect translator notary therapist chiropractor osteopath counsellor counselor stylist nanny babysitter agent plumber plumbing electrician cleaning cleaner cleaners gardener gardening landscaping roofing roofer painter dentist dental clinic salon barber barbershop hairdresser spa massage therapy physiotherapy vet veterinary groomer grooming mechanic garage repair repairs removal removals moving movers locksmith lawyer solicitor accountant accounting bookkeeping insurance mortgage loan loans consultancy consulting agency studio-service photographer photography gym yoga studio fitness testing security childcare nursery daycare laundry tailor service services handyman installation optician pharmacy advisor adviser broker account savings bank fund pension cover staffing recruitment audit audits support tuner rental care lawn help boarding screening fabrication chef dealership management advice space coworking logistics hosting financing payroll translation")},
}
