package policy

// prohibitedCategory is a category of prohibited content.
type prohibitedCategory struct {
	name    string
	phrases *phrasebook
}

// negatingWords has words that negate what follows in the sentence.
var negatingWords = newPhrasebook(`
	against|anti|stop|stopping|prevent|prevents|preventing|prevention|fight|fights|fighting|combat|combating|report|reporting
	quit|quitting|avoid|never|don't|ban|banning|detect|detects|detecting|expose|exposing|remove|removes|removing
	victims|survivors|survivor|victim|protect|protects|protecting|protection|recover|recovering|recovery|rehab|addicted
	history|documentary|museum|novel|film|movie
	gegen|stoppt|contre|contra|contro|lutter|combattre|combatir|combater|prävention|prévention|prevención|prevenzione|prevenção
`).unless(`
	one stop
	don't miss|wait|hesitate|worry
	never been
`)

// prohibitedCategories are the prohibited categories, most serious first. A
// phrase names both the content and that it is offered, requested or praised.
// Similar harmless phrases are explicit exceptions. These phrases are English;
// europeanProhibited has those of five other languages.
//
// Choice: cannabis, alcohol, gambling, airsoft and sugar dating are not
// included. They are legal in some places and some platforms accept them, so
// the platforms decide; restrictedProducts warns of some.
var prohibitedCategories = []prohibitedCategory{
	{"sexual content with children", newPhrasebook(`
		<child> porn|porno|pornography|erotica|nudes|nude|sex|xxx|escorts|escort|prostitutes|strippers|sexting|camgirls
		sexy|sexual|nude|naked|erotic|horny|porn|xxx|explicit young|little|cute|hot|real? <child>
		sex|sexual|nudes|nude_pictures|nude_photos|pornography|porn|erotica ~ of|with|from|involving|featuring ~ <child>
		<child> models|girls|boys nude|naked|topless
		lolita|loli ~ porn|pics|videos|content|pictures|hentai
		pedo|pedophile|paedophile|csam ~ content|videos|pics|material|site|club|network|forum|community|collection
		jailbait
	`).unless(`
		<child> sex education|ed|offender|offenders|abuse
		<child> nude coloured|colored|colour|color|shoes|tights
		nude|naked <child> shoes|sandals|dress|tights|leotard|ballet
		<child> pornography|porn laws|prevention|hotline|investigator|investigators|law|lawyer|awareness
	`)},
	{"human trafficking or sexual services", newPhrasebook(`
		escort|escorts service|services|agency|agencies|girls|ladies|website|directory
		call girls|girl service|services|agency|available|tonight|near_me|near_you
		hire|book|meet|find|<offer> ~ escorts|call_girl|call_girls|prostitute|prostitutes|hooker|hookers|brothel|prostitution
		prostitution|brothel ~ special|specials|opening|<sale>
		hire|book|order ~ escort tonight|now|online
		mail order bride|brides
		<offer> ~ child_bride|child_brides
		<offer> ~ organs on|at the? black_market
		buy|buying|sell|selling|order|purchase|trade|trading ~ women|wife|wives|bride|brides|girls|children|humans|slave|slaves|babies|kidney|kidneys|human_organs ;
		women|girls|slaves|brides|kidneys|human_organs for_sale
		happy ending massage|massages
		erotic|sensual|nuru ~ massage|massages with? full_service|happy_ending|extras|escorts
		massage|massages with|by hot|sexy girls|ladies|babes
		sex worker|workers for_hire|available|near_you|delivered
		smuggle|smuggling ~ people|migrants|women|girls|refugees across|into|over
		human|people smuggling|trafficking service|services|network|route|routes|agency
		traffic|trafficking ~ women|girls|children|humans for|into|across
	`).unless(`
		ford escort|escorts
		security|police|funeral|vehicle|motorcade|airport|medical|pilot_car|oversize_load|wide_load|truck|convoy|vip|armed|patient escort|escorts
		wedding|motorcycle|travel|ship|naval|nurse|student|campus|safety|yacht escort|escorts
	`)},
	{"illegal drugs", newPhrasebook(`
		get|score|snort|smoke|inject|<offer> ~ <drug>
		<drug> ~ <sale>
		<drug> to_your_door|by_mail|in_the_mail
		<drug> <n> $|€|£|g|gram|grams|per
		<drug> $|€|£ <n>
		cheap|cheapest|pure|uncut|premium|affordable|discount|wholesale|bulk|discreet|high_grade <drug>
		drug|drugs dealer|dealers|dealing service|app|network|delivery|needed|wanted|hotline|website
		how to cook|make|synthesize|produce ~ <drug>
		my|our <drug> business|lab|operation|brand
		dark_web|darknet|darkweb drug|drugs market|marketplace|shop|vendor
		<medicine> ~ online? without_prescription|without_a_prescription|no_prescription|no_rx|illegally
	`).unless(`
		<drug> addiction|addicts|addict|rehab|recovery|detox|abuse|overdose|withdrawal|awareness|crisis|epidemic|prevention|use_disorder
		<drug> test|tests|testing|strips|therapy|treatment|clinic|infusion|infusions|research
		<drug> bear|chic|documentary|poster|posters
	`)},
	{"weapons or explosives", newPhrasebook(`
		print|<offer> ~ <weapon>
		<weapon> ~ without_license|without_a_license|no_background_check|without_background_check|sale|<sale>
		cheap|cheapest|affordable|untraceable|unregistered|illegal|discount|unlicensed <weapon>
		how to make|build|construct|assemble ~ <weapon>|bomb|explosive_device|molotov
		bomb making kit|kits|guide|instructions|course|manual|materials
		ghost gun|guns kit|kits
		<weapon> * shipped|delivered|no_license|no_permit|no_paperwork|without_permit|without_id|no_id|no_questions_asked
		illegal arms|weapons
	`).unless(`
		water|glue|nail|nerf|massage|heat|spray|staple|toy|caulk|caulking|tattoo|squirt|paintball|airsoft|air|price|bb|bubble <weapon>
		radar|solder|soldering|grease|paint|dart|cap|t_shirt|confetti|laser|tagging|temperature|snow|foam|marshmallow <weapon>
		bath|photo|cocoa|hot_chocolate|cherry|seed|smoke|tea|stink|jager|glitter|color|colour|sugar|fat <weapon>
		<weapon> safe|safes|control|violence|safety|cabinet|cabinets|reform|laws|law|belt|holster|holsters|cleaning|range|detection|detector|buyback
		<weapon> shaped|n_roses|and_roses|dog|emoji|necklace|toy|toys|game|games|costume|prop|props|metal|house|wedding|scope|paper|shelter|cyclone|jacket|pop|cake|lake|bath|protein|bar|bars
		machine gun kelly
		top|big|young|smoking|hired|finger gun|guns
	`)},
	{"hate or extremism", newPhrasebook(`
		kill|exterminate|eradicate|gas|lynch|attack|hurt ~ <people>
		death to ~ <people>|blacks|whites|america|israel
		<people> are ~ subhuman|vermin|parasites|animals|inferior|cockroaches|scum|filth
		white power
		white pride merch|rally|march|concert|worldwide
		heil hitler
		sieg heil
		promote|promoting|support|celebrate|join|spread|glorify|praise ~ <extremism> ;
		promote|promoting|support|celebrate|join|spread|glorify|praise ~ <extremism> ~ fighters|group|rally|in|now|today|ideology|cause|movement
		<extremism> ~ merch|merchandise|recruitment|rally|recruits|propaganda|fighters|membership|t_shirts|shirts|flags|meetup
		recruit|recruiting|recruitment|fighters|volunteers|donate|donations|fundraiser|fundraising ~ <extremism>
		holocaust never_happened|hoax|is_a_hoax|was_a_hoax
		whites only club|restaurant|housing|apartments|community|bar
	`).unless(`
		white power bank|banks|cord|cable|washer|strip|supply|outlet|adapter|tool|tools|drill|ranger|suit
	`)},
	{"forged documents or fraud", newPhrasebook(`
		fake|forged|counterfeit|falsified|novelty|bogus ~ <document>
		counterfeit|fake|knockoff|bootleg|replica|replicas ~ of? <brand>
		<brand> ~ replica|replicas|knockoffs|fakes|counterfeits|dupes|clones|copies|super_clone|super_clones
		counterfeit|fake|knockoff|replica|replicas|copies|clones|imitation * <brand>
		designer|branded ~ replicas|copies|knockoffs|fakes|clones
		mirror|aaa|1 quality|copy|grade|copies * <brand>|designer|bags|watches
		identical|indistinguishable to|from|with ~ real|original|genuine|authentic|<brand>
		buy|order ~ real? ~ degree|diploma|driving_licence|driver_license|reviews|followers|likes ~ without|online|now|no|today
		<offer> ~ fake ~ reviews|review|followers|accounts|invoices|pay_stubs|paystubs
		stolen|cloned|hacked|skimmed ~ <stolen> ~ <sale>
		<offer> ~ stolen|cloned|hacked|skimmed ~ <stolen>
		carding forum|tutorial|shop|site|course|service|services
		cvv shop|dumps|for_sale|store
		launder ~ money for_you|for_clients|fast|safely|through_us
		money laundering service|services
		launch|promote|join|advertise|start ~ ponzi|pyramid scheme
		scam|defraud|swindle ~ elderly|old_people|seniors|grandmas|people|customers|investors
	`).unless(`
		fake|counterfeit|forged ~ <document>|<brand> detector|detectors|detection|scanner|scanners|checker|pen|pens|verification|recognition|training|awareness|prevention|alert|alerts
		prop|movie|play|monopoly|toy|pretend|chocolate|board_game money|bills
		fake ~ <document> for ~ film|films|movies|movie|theater|theatre|kids|children|props|games|board_games|stage|toddlers|play
		fake ~ <document> prop|props|toy|toys|cake|game
	`)},
	{"malware or hacking", newPhrasebook(`
		deploy|spread|distribute|spreading|create|build|launch|<offer> ~ <malware>
		<malware>|phishing ~ as_a_service|builder|kit|kits|subscription|panel|rental|for_sale|for_rent|for_hire
		ddos|booter|stresser ~ for_hire|service|services|attack_service|panel|on_demand
		hacker|hackers for_hire
		hire|rent|find ~ hacker|hackers to ~ hack|break|steal|spy
		hack|hacking ~ into ~ <hackable>
		hack|hacking|break ~ into ~ <partner>|someone|anyone 's? <hackable>
		hack|hacking ~ <partner>|someone|anyone 's? <hackable>
		hack|hacking ~ instagram|facebook|whatsapp|snapchat|gmail account|accounts|password|passwords
		spy|snoop on ~ <partner>
		read ~ <partner> 's messages|texts|whatsapp|emails secretly|without
		steal|stealing|harvest|harvesting ~ passwords|credentials|credit_card_numbers|bank_details|crypto_wallets|login_details|personal_data|identities
	`).unless(`
		<malware>|phishing|ddos protection|removal|detection|recovery|insurance|awareness|training|defense|defence|response|scanner|prevention|mitigation|simulation|blocker|test|tests|resistant
		ethical|white_hat|certified hacker|hackers
		trojan war|horse|horses|condoms|records|statue
	`)},
}
