package policy

// The phrases of the rules. phrasebook documents their grammar.

// fillerWords are the words that a ~ in a phrase matches.
var fillerWords = wordSet(`a an the some any of our your my his her their this these those best good great high top quality
	premium pure real cheap cheapest affordable discount discounted wholesale uncut lab tested authentic genuine online
	safe safely discreet discreetly quick quickly fast instant instantly easy easily new fresh grams gram kilo kilos kg g
	pills bags and or at low prices price to for with very all directly legit undetectable verified untraceable`)

// wordClasses has the entries of each word class, separated by commas.
var wordClasses = map[string]string{
	"condition": `diabetes,cancer,depression,anxiety,obesity,arthritis,asthma,acne,eczema,psoriasis,insomnia,adhd,autism,` +
		`dementia,alzheimer's,parkinson's,hiv,aids,herpes,epilepsy,migraines,migraine,hypertension,high blood pressure,` +
		`chronic pain,back pain,joint pain,hair loss,infertility,impotence,erectile dysfunction,menopause,ibs,ptsd,` +
		`bipolar disorder,covid,covid 19,addiction,alcoholism,panic attacks,eating disorder,anorexia,bulimia,cellulite,tinnitus`,
	// circumstance has other sensitive personal circumstances.
	"circumstance": `debt,debts,bad credit,poor credit,bankruptcy,unemployment,criminal record,criminal past,felony,disability,` +
		`weight problem,weight problems,belly fat,money problems,financial difficulties,financial problems,` +
		`sexual orientation,religion,ethnicity,skin colour,skin color,union membership,immigration status,` +
		`medical condition,mental illness,drinking problem`,
	"trait": `overweight,obese,diabetic,depressed,bipolar,autistic,disabled,infertile,impotent,hiv positive,anorexic,` +
		`alcoholic,suicidal,gay,lesbian,bisexual,transgender,trans,queer,homosexual,muslim,christian,jewish,hindu,buddhist,` +
		`catholic,mormon,atheist,sikh,hispanic,latino,latina,african american,asian american,in debt,in debt again,drowning in debt,` +
		`bankrupt,unemployed,jobless,behind on rent,divorced,undocumented,going bald,balding,mentally ill,chronically ill,` +
		`on welfare,on parole,on probation,a convicted felon,a felon,an ex convict,a union member,a trade unionist`,
	// group has traits that also have other meanings. Only a following noun or
	// a question mark makes them unambiguous.
	"group": `black,white,asian,old,poor,fat,broke,deaf,blind,arab,native american,elderly`,
	"person": `person,people,man,men,woman,women,guy,guys,girl,girls,mom,moms,mother,mothers,dad,dads,father,fathers,folks,` +
		`parent,parents,singles,adult,adults,student,students,worker,workers,teen,teens`,
	"group_members": `diabetics,alcoholics,addicts,muslims,christians,jews,hindus,buddhists,catholics,mormons,atheists,sikhs,gays,` +
		`lesbians,bisexuals,hispanics,latinos,latinas,african americans,seniors,felons,ex convicts,ex offenders,` +
		`union members,trade unionists,immigrants,cancer patients,cancer survivors,asthmatics,divorcees,epileptics,` +
		`single moms,single mothers,single dads`,
	// body has what ads must not hold against a reader.
	"body": `weight,wrinkles,belly,double chin,cellulite,fat,obesity,body,waistline,acne,baldness,hair loss,love handles`,
	"est":  `best,smartest,softest,lightest,toughest,fastest,freshest,cleanest,strongest,safest,cheapest,finest,greatest,most,favorite,favourite,no 1,sharpest,healthiest`,
	// service has what a shop can guarantee.
	"service": `delivery,shipping,arrival,entry,admission,your seat,your place,your room,a reply,a response,same day,next day,pickup,` +
		`stock,availability,minimum,overnight delivery,prices until,fit,parts`,
	"platform": `facebook,instagram,google,youtube,tiktok,twitter,linkedin,whatsapp,snapchat,pinterest,reddit,amazon,ebay,` +
		`netflix,spotify,microsoft,bing,iphone,ipad,android,airbnb,uber,paypal,alibaba,walmart,wechat,telegram,twitch,` +
		`discord,shopify,etsy,app store,google play`,

	"offer": `buy,buying,sell,sells,selling,order,ordering,purchase,deliver,delivering,supply,supplying,import,ship,` +
		`shipping,shop,trade,trading,rent,renting,offer,offering,advertise,advertising,promote,promoting,smuggle,smuggling`,
	"sale": `for sale,for rent,for hire,to your door,by mail,dealer,dealers,delivery,delivered,shop,store,supplier,suppliers,vendor,vendors,online,` +
		`wholesale,in bulk,near me,market,marketplace,discount,deals,clearance,shipped,available,service,services`,
	"child": `child,children,kid,kids,minor,minors,underage,underaged,preteen,preteens,toddler,toddlers,infant,infants,` +
		`schoolgirl,schoolgirls,teen,teens,teenage,teenagers`,
	"drug": `cocaine,crack cocaine,heroin,meth,crystal meth,methamphetamine,methamphetamines,amphetamine,amphetamines,` +
		`fentanyl,mdma,ecstasy pills,ecstasy tablets,lsd,lsd tabs,acid tabs,ketamine,ghb,angel dust,rohypnol,magic mushrooms,` +
		`psilocybin mushrooms,shrooms,molly,acid blotters,dmt,2c b,poppers,crack,quaaludes,illegal drugs,party drugs,street drugs,hard drugs,recreational drugs,date rape drugs`,
	"medicine": `oxycontin,oxycodone,percocet,xanax,adderall,vicodin,opioids,opiates,steroids,anabolic steroids,tramadol,valium,diazepam,ozempic,wegovy,viagra,antibiotics,codeine,ritalin,ambien`,
	"weapon": `gun,guns,ghost gun,ghost guns,3d printed gun,3d printed guns,machine gun,machine guns,firearm,firearms,handgun,` +
		`handguns,pistol,pistols,rifle,rifles,assault rifle,assault rifles,shotgun,shotguns,ar 15,ar 15s,ar15,ak 47,ak 47s,` +
		`ak47,glock,glocks,ammunition,ammo,gun silencer,gun silencers,suppressor,suppressors,switchblade,switchblades,knuckledusters,butterfly knives,stun guns,tasers,grenade,grenades,hand grenade,hand grenades,explosives,` +
		`sticks of dynamite,c4 explosives,bombs,pipe bomb,pipe bombs,rocket launcher,rocket launchers,landmines,bump stocks,brass knuckles`,
	"people": `jews,muslims,christians,gays,lesbians,homosexuals,immigrants,refugees,arabs,asians,mexicans,` +
		`infidels,black people,gay people,trans people,jewish people`,
	"extremism": `white supremacy,white supremacist,white supremacists,nazism,neo nazi,neo nazis,nazi,nazis,kkk,ku klux klan,` +
		`ethnic cleansing,genocide,terrorism,terrorists,jihad,isis,al qaeda,hezbollah,hamas,boko haram,taliban,hitler,holocaust denial`,
	"document": `passport,passports,id,ids,id card,id cards,driver license,drivers license,driver's license,drivers licenses,` +
		`driving licence,diploma,diplomas,degree,degrees,visa,visas,vaccine card,vaccine cards,vaccination certificate,` +
		`vaccination certificates,birth certificate,birth certificates,green card,green cards,social security cards,` +
		`transcripts,prescriptions,doctor's notes,documents,currency,banknotes,money,cash,euros,dollars,bills`,
	"brand": `rolex,gucci,cartier,omega watches,dior,burberry,balenciaga,nike,adidas,ray ban,patek philippe,moncler,versace,birkin,louis vuitton,prada,chanel,hermes,designer bags,designer handbags,handbags,watches,sneakers,jordans,` +
		`yeezys,viagra,airpods,perfume,perfumes,medicine,pills`,
	"stolen": `credit card,credit cards,cards,card numbers,bank accounts,paypal accounts,accounts,identities,identity,phones,` +
		`iphones,laptops,cars,bikes,goods,data,passwords`,
	"malware": `malware,ransomware,spyware,keylogger,keyloggers,botnet,botnets,trojan,trojans,remote access trojan,rootkit,` +
		`rootkits,zero day exploits,exploit kit,exploit kits,phishing kit,phishing kits,phishing page,phishing pages,` +
		`infostealer,crypter,computer virus`,
	"partner":  `wife,husband,girlfriend,boyfriend,spouse,partner,ex,ex wife,ex husband,ex girlfriend,ex boyfriend`,
	"hackable": `account,accounts,phone,phones,email,emails,instagram,facebook,whatsapp,snapchat,gmail,computer,computers,bank,banks,wifi,webcam,webcams,passwords`,
}

var superlatives = newPhrasebook(`
	best
	#|no|nr|number .? 1|one
	world|nation|country|market|industry|europe|america 's? leading|leader|finest|top
	world|nation|country|europe|america 's favorite|favourite
	leading brand|provider|supplier|company|manufacturer|expert|experts
	unbeatable
	unrivaled|unrivalled|unmatched
	greatest
	finest
	cheapest
	lowest price|prices|cost|costs
	fastest
	biggest|largest
	strongest
	safest
	second to none
	most trusted
	most popular|loved
	most advanced
	most effective|powerful
	most reliable
	top rated
	like no other
	better than any|all|every
	miracle|miracles
	revolutionary
	most * in_the_world|in_america|in_europe|in_the_uk|in_the_country|on_the_market|on_earth|ever_made
	world|nation|europe|america|britain|uk 's <est>
	no other * can|does|works|comes_close|even_comes
	nothing|nobody|no_one else? works|beats|comes_close|compares|does_it_better
	only * you'll_ever_need|that_works|that_actually_works
	perfect for_everyone|for_everybody
`).unless(`
	best regards|wishes|before|friend|friends|practice|practices|man|of_luck|enjoyed|served|if|by|way|seller|sellers|selling
	do|try|at|feel|look|be your|its|their|his|her best
	no one
	fastest|cheapest|safest route|way|road|path|train|bus|check_in|check_out
	biggest|largest|smallest room|size|sizes
`)

var absoluteClaims = newPhrasebook(`
	guaranteed|guarantees
	we|i guarantee
	risk free
	zero|no risk
	100 %|percent safe|secure
	100 %|percent effective|guaranteed
	always works
	never fails
	works every time
	works for everyone|everybody
	instant|overnight results
	permanent results|solution|fix
	proven results
	scientifically proven
	experts|doctors agree|recommend
	everyone|everybody loves|agrees
	can't|cannot|impossible_to fail
	will change your life
	works 100|every
	perfect|flawless skin|results|score|teeth in|overnight|guaranteed|instantly|every
	never breaks|ages|goes_wrong|wears_out
	forever young|flawless|yours
	satisfies|suits everyone|everybody
`).unless(`
	satisfaction guaranteed
	money back guaranteed
	we guarantee <service>
	guaranteed <service>
	<service> guaranteed
`)

var offerClaims = newPhrasebook(`
	free shipping|delivery|postage
	free returns
	free trial
	free gift|gifts
	free sample|samples
	free consultation|quote|estimate
	free of charge
	for free
	half price|off
	money back guarantee|guaranteed
	satisfaction guaranteed|guarantee
	buy one get one
	two for one
	today only
	limited time
	last chance
	while stocks|supplies|stock last|lasts
	only a few left
	almost|nearly sold out
	ends|ending soon
	ends|ending today|tonight|midnight
	award winning
	certified
	best seller|sellers|selling
	bestseller|bestsellers|bestselling
	lifetime warranty|guarantee
	price match
	no obligation
	cancel any_time|anytime
	clearance
	as seen on tv
`)

var personalAttributes = newPhrasebook(`
	are|aren't you a|an? <trait> <person>?
	are|aren't you * overweight|obese|diabetic|depressed|divorced|unemployed|bankrupt|in_debt|disabled|suicidal|infertile|balding
	still living|struggling|dealing|coping with your|a|an? <condition>|<circumstance>
	diagnosed with <condition>
	^ single mom|mother|dad|father|parent of|with|on <n>|one|two|three|four
	^ recently|newly|just|freshly divorced|widowed|diagnosed|unemployed|laid_off|fired|bankrupt
	your child|son|daughter|husband|wife|mother|father|mom|dad|partner|kid 's <condition>
	does|is your child|son|daughter|husband|wife|mother|father|mom|dad|partner|kid has|have|a? <condition>|<trait>
	we know you owe|can't|have|struggle|suffer
	behind on your rent|mortgage|bills|payments|loan|taxes
	can't|cannot|unable_to pay|afford your bills|rent|debts|debt|mortgage|loan
	buried|drowning in bills|debt|debts
	your drinking|gambling|snoring|stutter problem|habit|addiction
	your illness|disease|disability|cancer_diagnosis|diagnosis
	if|since|because you're|you_are <trait>|<group>|<condition>
	are|aren't you <group> ?
	are|aren't you a|an <group> <person>
	you're|you_are a|an? <trait>
	you're|you_are a|an <group> <person>
	you've|you_have|you've_got|do_you_have|have_you_got a|an? <condition>|<circumstance>
	you suffer from|with a|an? <condition>|<circumstance>
	you struggle|live|deal|cope with a|an? <condition>|<circumstance>
	^ suffering from * <condition>
	^ tired|sick of your * <condition>|<circumstance>|<body>
	^ struggling|living|dealing|battling with? your|a|an? <condition>|<circumstance>|<body>
	^ embarrassed|ashamed by|of|about your <condition>|<circumstance>|<body>
	^ broke|poor|fat|old and|or <trait>|<group>
	you suffer|struggle|live with|from <condition>|<circumstance>|<body>
	^ drowning in <circumstance>
	^ got a|an? <condition>|<circumstance> ?
	^ <trait>|<group>|<condition> ?
	your <condition>|<circumstance>
	as|like a|an fellow? <trait> <person>?
	as|like a|an <group> <person>
	as|like a single mom|mother|dad|father|parent
	as|like a|an jew|felon|immigrant
	other|fellow <group_members>
	other|fellow <trait>|<group> <person>
	<trait>|<group> <person> like you
	<group_members> like you
	because you're|you_are <trait>|<group>
	calling all <group_members>
`).unless(`
	as|like a|an <trait>|<group> owned|led|founded|run|friendly|community|charity|business|company|brand|organization|organisation|church
	your anxiety|depression|addiction|obesity about|over|around|to|of
	gay pride|bar|bars|wedding|weddings
	your debt|debts collection|collectors|recovery|advisers
`)

var platformNames = newPhrasebook(`
	<platform>
`)
