package policy

// Phrases of promises about health and money. A promise is blocked whatever the
// source says, because a source is no proof. A claim may be true for a clinic
// or a savings bank, so it is only a warning if the source makes it. The
// promises are in six languages and are searched in every text, regardless of
// its language.

// promiseClasses has the word classes of these phrases.
var promiseClasses = map[string]string{
	// disease has diseases that no advertised product cures or prevents.
	"disease": `diabetes,cancer,hiv,aids,alzheimer's,alzheimers,alzheimer,parkinson's,parkinsons,parkinson,dementia,epilepsy,autism,arthritis,` +
		`arthrosis,covid,covid 19,heart disease,multiple sclerosis,` +
		// German
		`krebs,demenz,arthrose,rheuma,depressionen,bluthochdruck,migrane,neurodermitis,schuppenflechte,haarausfall,schlaflosigkeit,` +
		// French
		`diabete,depression,arthrite,l'arthrite,l'arthrose,l'asthme,asthme,l'hypertension,l'insomnie,insomnie,l'eczema,l'acne,l'anxiete,l'obesite,l'alzheimer,` +
		// Spanish and Portuguese
		`depresion,ansiedad,artritis,artrosis,asma,migranas,migrana,hipertension,insomnio,obesidad,alopecia,` +
		`cancro,depressao,ansiedade,artrite,artrose,enxaqueca,enxaquecas,hipertensao,insonia,obesidade,` +
		// Italian
		`tumori,tumore,depressione,l'ansia,l'artrite,l'artrosi,artrosi,l'asma,emicrania,l'emicrania,l'ipertensione,l'insonnia,insonnia,l'obesita,psoriasi,la psoriasi,psoriasis,cancro,l'acne,alzheimer,tinnitus,tinnito,psoriase,psoriaza,presion alta,pressao alta,lupus,fibromyalgia,fibromialgia`,
	// article has words that may be between a verb and a disease.
	"article": `your,the,any,type,der,die,das,den,ihre,ihren,deine,deinen,le,la,les,votre,ton,ta,el,los,las,tu,su,il,lo,gli,tuo,tua,o,a,os,as,seu,sua,de la,del,du`,
	// part has body parts that no advertised product rebuilds.
	"part": `prostate,thyroid,liver,kidneys,eyesight,vision,hearing,joints,cartilage,knees,gums,nerves,lungs,memory,hairline,hair,tumor,tumour,tumors,arteries,skin's youth`,
	"kilo": `kg,kilo,kilos,kilogramm,kilograms,lb,lbs,pound,pounds,stone,inches,chili,chilos,quilos,kilogrammes`,
	"period": `day,days,week,weeks,month,months,tag,tage,tagen,woche,wochen,monat,monate,monaten,jour,jours,semaine,semaines,mois,` +
		`dia,dias,semana,semanas,mes,meses,giorno,giorni,settimana,settimane,mese,mesi`,
}

var medicalPromises = newPhrasebook(`
	cure|cures|cured|curing|heal|heals|healing|reverse|reverses|reversing|eliminate|eliminates|beat|beats|banish|banishes <article>? * <disease>
	cure|cures|cured|curing|heal|heals|healing|reverse|reverses|eliminate|eliminates <article>? <n>? <condition>
	get rid of your? * <disease>
	cures|cure all|any|every|everything disease|diseases|illness|illnesses|ailment|ailments?
	cure|remedy for <article>? <condition>|<disease>
	prevents <article>? <disease>
	say goodbye|bye to <article>? <condition>|<disease>
	boost|boosts|strengthen|strengthens <article>? immunity|immune_system
	miracle cure|pill|drug|treatment|remedy|weight_loss|diet|cream|drops|supplement|formula|tea|fruit|herb
	throw|throwing away|out your * pills|medication|medicine|meds|insulin|statins|antidepressants
	ditch|forget|replace|replaces|stop_taking your * pills|medication|medicine|meds|insulin|statins|antidepressants
	works|better|instead better|than|of insulin|chemotherapy|chemo|antidepressants|statins
	erase|erases|remove|removes|eliminate|eliminates ~ wrinkles|cellulite|scars forever|overnight|instantly|permanently|in
	no|without side effects
	100 %|percent cure|healing
	lose|drop|shed up? to? <n>|ten|twenty <kilo> in|within|by|every|a|per|this just|only? <n>|a|one|two|three? <period>
	lose weight fast|instantly|overnight|quickly|effortlessly|without_exercise|without_dieting
	melt|melts|melting|burn|burns|torch|torches ~ fat|belly_fat|pounds|kilos * while_you_sleep|overnight|without|instantly|fast
	melt|melts|melting ~ fat|belly_fat
	lose|drop|shed * weight|pounds|kilos|kg|lbs|fat * without ~ diet|dieting|exercise|gym|giving_up|effort
	eat * you_want|like and|but still? lose|drop|shed
	down|lost <n> <kilo> in|within just|only? <n>|a|one|two|three <period>
	before|her|his and|shocking after|before * <kilo>|weight|pounds
	pain free forever
	pain free forever|in|without|overnight
	shrink|restore|restores|regrow|regrows|rebuild|rebuilds|regenerate|regenerates|reverse|reverses your? * <part>
	pain|aches|wrinkles|cellulite|varicose_veins|symptoms|grey_hair|gray_hair|warts|moles * disappear|disappears|vanish|vanishes|gone|melt_away|melts_away|fade_overnight
	draws|pulls|sucks|flushes|flush|removes out? * pain|toxins
	<disease> free in|forever|with|thanks|for
	no more <disease>
	end|ends|ending|kills|kill|destroys|stops your? * <disease>
	as effective|good|strong|powerful as ozempic|botox|viagra|xanax|prescription|antibiotics|wegovy
	natural|herbal|legal|nature's ozempic|viagra|botox|adderall|steroids|xanax
	look|looks|looking <n>|ten|twenty years younger in|overnight|instantly|by
	lose|drop|drops|shed|sheds <n>|two|three|four|five ~ dress_sizes|dress_size|sizes|inches|stone|pounds|kilos|lbs|kg by|before|in|without|overnight
	flat|flatter belly|stomach|tummy|abs|waist in|by|without|overnight
	bikini|beach body in|without <n>|two|a|just|dieting
	fat burner|burning|melting pill|pills|drops|tea|gummies|patch|patches
	grow|regrow hair in|within|overnight

	heilt|heilen|heile|kuriert|kurieren|besiegt|besiegen|beseitigt|stoppt <article>? * <condition>|<disease>
	nie_wieder|schluss_mit|endlich_frei_von|befreit_von|weg_mit <article>? <disease>
	vergessen|werfen|wirf|vergiss sie|deine|ihre * tabletten|insulin|medikamente
	verlieren|verliere|verlier|nehmen|nimm sie|du? bis_zu? <n> <kilo> in nur? <n>|einer|einem <period>
	kg|kilo|kilos|kilogramm in nur? <n>|einer|einem <period> abnehmen|verlieren|weniger|leichter
	<kilo> weg|weniger|leichter|abnehmen|verlieren in nur? <n>|einer|einem|zwei <period>
	abnehmen ohne|im_schlaf|über_nacht
	schlank im_schlaf|über_nacht|ohne_sport|ohne_diät
	bauchfett|fett * schmilzt|schmelzen|weg|verbrennen * schlaf|über_nacht|ohne|im_schlaf
	verbrennt|verbrennen|schmilzt ~ fett|bauchfett * im_schlaf|über_nacht|ohne
	wundermittel|wunderpille|wunderheilung|wundercreme|wundertee|wunderdiät
	entfernt|löscht|beseitigt falten für_immer|über_nacht|sofort
	ohne nebenwirkungen
	flacher|flachen bauch in <n>|einer|zwei|nur
	kleidergrößen weniger|kleiner
	falten|schmerzen|schmerz|cellulite|pickel|kilos|krampfadern * verschwinden|verschwindet|schmelzen
	krebsfrei|schmerzfrei|faltenfrei|diabetesfrei|tinnitusfrei in|dank|für_immer|über_nacht|mit|durch
	zehn|zwanzig|fünfzehn jahre jünger in|über_nacht

	guérit|guérir|guérissez|guérissent|éradique|éliminez|élimine|vaincre|vainc <article>? * <condition>|<disease>
	soigne <article>? <condition>|<disease>
	dites|dis adieu|au_revoir à|au <article>? <condition>|<disease>
	jetez|jette|oubliez vos|tes|votre * médicaments|comprimés|insuline
	perdez|perdre|perds jusqu'à? <n> <kilo> en <n>|une|un <period>
	remède|pilule|traitement|régime|crème|produit|solution|gélule|gélules|tisane miracle
	maigrissez|maigrir|mincir|mincissez vite|rapidement|sans|en_dormant|en <n>? <period>|effort|régime|sport
	brûle|brûlez|brûler|fait_fondre|fondre * graisse|graisses|ventre * en_dormant|sans|nuit|vite
	efface|effacez|élimine les? rides pour_toujours|en_une_nuit|instantanément|définitivement
	sans effets|effet secondaires|secondaire|indésirables
	ventre plat en|sans
	perdez|perds * tailles en|avant|sans
	cellulite|rides|douleurs|douleur|acné|kilos|varices|taches * disparaît|disparaissent|envolés|envolées|envole|fondent
	rajeunissez|rajeunir de <n>|dix ans
	diabète|cancer|douleur|arthrose * vaincu|vaincue|terminé|terminée|disparu

	cura|curan|curar|curam|cure|elimina|eliminan|eliminam|eliminar|elimine|revierte|revierten|reverte|revertem|vence|combate <article>? * <disease>
	cura|curan|cure|elimina|elimine <article>? <condition>
	adiós|adeus|addio a|à|al|ao|alla|all' <article>? <condition>|<disease>
	olvida|tira|deja|esqueça|jogue_fora|largue tus|tu|los|os|seus * pastillas|medicamentos|medicinas|remédios|insulina
	pierde|pierda|perder|adelgaza|adelgace|perca|emagreça|perde hasta|até? <n> <kilo> en|em|in solo|apenas|só? <n>|una|uma|um <period>
	cura|remedio|remédio|píldora|pastilla|dieta|crema|creme|té|chá|pílula|tratamiento|tratamento|gotas|suplemento milagro|milagrosa|milagroso|milagrosas
	adelgaza|adelgace|adelgazar|emagreça|emagrecer|emagrece sin|sem|rápido|rapidamente|durmiendo|dormindo|mientras_duermes|enquanto_dorme
	quema|queme|queima|queime * grasa|gordura|barriga * mientras|enquanto|dormindo|sin|sem|noche|noite|rápido
	borra|elimina|apaga las|as? arrugas|rugas para_siempre|para_sempre|en|em|de
	sin|sem efectos|efeitos secundarios|secundários|colaterais|adversos
	vientre|abdomen|barriga|abdômen plano|plana|chapada|lisa|zero|sequinho|trincado en|em|in|sin|sem
	seca|secar|seque|derrete|derreter|derrite|elimina|reduce * barriga|gordura|grasa|tallas|cintura|medidas
	arrugas|celulitis|dolor|dolores|acné|canas|kilos|varices|rugas|celulite|dor|dores|varizes|quilos * desaparece|desaparecen|desaparecerán|desaparecem|somem|some
	rejuvenece|rejuvenesça|rejuvenezca <n>|diez|dez años|anos
	el fin de_tu|del <disease>
	libre|livre del|de|da|do <disease>

	guarisce|guarire|guarisci|guariscono|sconfigge|sconfiggi|curano|curare|curi|eliminano da|dal|dalla|dall'? <article>? * <condition>|<disease>
	butta|dimentica via? le|i|l'? * pillole|medicine|farmaci|insulina
	perdi|perdere|perdete|dimagrisci fino_a|di? <n> <kilo> in soli|solo? <n>|una|un <period>
	rimedio|pillola|cura|dieta|crema|tisana|gocce|integratore|trattamento miracoloso|miracolosa|miracolose
	dimagrisci|dimagrire|dimagrite senza|velocemente|subito|dormendo|mentre_dormi
	brucia|bruci|sciogli|scioglie * grasso|grassi|pancia * dormendo|mentre|senza|notte
	cancella|elimina le? rughe per_sempre|in|definitivamente
	senza effetti collaterali
	pancia|ventre piatta|piatto in|senza
	perdi|perdete * taglie in|senza|prima
	rughe|cellulite|dolori|dolore|kili|chili|acne * spariscono|scompare|scompaiono|sparisce|addio
	ringiovanisci di? <n>|dieci anni
	liberati da|dal|dalla|dall'? <disease>
	addio <disease>
`).unless(`
	help|helps|helping us|to|scientists|researchers|doctors? to? cure|heal|reverse|eliminate
	find|finding|seek|seeking|towards|toward|fund|funding|for|of a|the cure for
	research|researchers|scientists|science to|who cure|reverse|eliminate
	dry|air|salt|uv|smoke|slow cured|cure|curing
	the cure concert|tour|tribute|live|band|tickets
`)

var medicalClaims = newPhrasebook(`
	clinically proven
	clinically tested
	medically proven
	doctor approved
	fda approved
	100 %|percent pain_free
	treats|treat|prevents|prevent|stops|fights|beats|relieves|relieve your? <condition>
`)

var financialPromises = newPhrasebook(`
	guaranteed ~ returns|return|income|profit|profits|yield|winnings|earnings|payout
	guaranteed <n> %|percent ~ annual|yearly|monthly|weekly|daily? returns|return|income|profit|profits|yield
	guaranteed ~ approval|loan|loans
	guaranteed loan approval
	risk free ~ returns|return|income|profit|profits|investment|investing|trading|money
	double|triple|multiply|10x your money|investment|capital|portfolio|wealth|cash|bitcoin|crypto|savings|deposit|stake|funds|salary|income
	turn $|€|£ <n> into $|€|£ <n>
	get rich quick|fast|overnight
	make money fast|overnight|while_you_sleep|instantly
	never lose money
	surefire investment|profit|win|returns
	quit your * job and|by|in * income|money|rich|week|today
	passive income guaranteed|in|while_you_sleep
	guaranteed to make|earn you? money|profit|$
	make|earn ~ $|€|£ <n> * without ~ working|effort|lifting
	profit|returns|return|income without|with|zero|no no|zero|any risk
	100 %|percent approval|profit|return|returns
	become a millionaire
	retirement|savings|money|pension|income|investment|wages * doubled|tripled|multiplied
	get paid to|for do|doing nothing
	never work|worry again|about_money
	fire your boss
	make|earn|earning six|seven|five figures|figure_income
	can't|cannot|impossible_to lose money
	debt|debts * forgiven|erased|gone|wiped|disappear|vanish
	bad credit ok|okay|no_problem|accepted|welcome
	financial freedom in|by|guaranteed|within
	retire rich|a_millionaire|in_a_year
	coin|stock|token|shares * 10x|100x|to_the_moon|explode|skyrocket
	safe|secure|sure <n> % return|returns|profit|a_month
	beat|beats|beating the market
	erase|erases|eliminate|eliminates|wipe_out your? debt|debts|bad_credit
	instant ~ approval|loan|loans
	no credit check|checks

	garantierte|garantierter|garantierten|garantiertes|risikofreie rendite|renditen|gewinne|gewinn|erträge|einkommen
	verdoppeln|verdreifachen sie ihr|ihren geld|kapital|vermögen|einsatz
	verdopple|verdoppel|verdreifache dein|deinen geld|kapital|vermögen|einsatz
	schnell|über_nacht reich|millionär
	finanzielle freiheit|unabhängigkeit in
	nie wieder arbeiten
	geld|bitcoin|kapital|einsatz|ersparnisse * verdoppeln|verdreifachen|vervielfachen
	passives einkommen
	garantiert|garantierte|garantierten|sichere <n>? %? * rendite|renditen|gewinn|gewinne|zinsen|profit|ertrag
	rendite|renditen|gewinn|gewinne|profit|ertrag garantiert|ohne_risiko|im? jahr|monat|ganz|völlig? ohne|garantiert risiko
	reich|geld|euro|€ * im_schlaf|ohne_arbeit|ohne_zu_arbeiten|ohne_aufwand
	kredit * ohne_schufa|trotz_schufa|sofort_ohne_prüfung|garantiert
	aus|mach|mache|machen aus|sie? <n> €|euro|$ * <n> €|euro|$
	werde|werden sie|du? millionär|reich

	rendement|rendements|gains|gain|profits|profit|revenus|revenu garanti|garantis
	doublez|triplez|multipliez votre|vos argent|capital|mise|investissement|gains
	double|triple ton|tes argent|capital|gains
	devenez|deviens riche|riches|millionnaire
	liberté|indépendance financière en
	revenus|revenu passifs|passif
	doubler|tripler|multiplier votre|vos|ton|tes * argent|capital|mise|épargne|économies|salaire|bitcoins
	doublez|triplez|multipliez * épargne|économies|salaire|bitcoins|revenus
	gagnez|gagner|gagne * <n>|l'argent * sans_rien_faire|sans_effort|sans_travailler|en_dormant|depuis_votre_canapé|depuis_chez_vous
	rendement|gains|profit|profits * sans_risque|sans_aucun_risque|garanti|garantis
	transformez|transforme <n> €|euros en <n>
	crédit|prêt sans_refus|garanti|sans_vérification|immédiat_sans_justificatif

	rentabilidad|rentabilidades|ganancias|ganancia|beneficios|ingresos|rendimientos|rendimiento garantizada|garantizadas|garantizados|garantizado
	duplica|duplique|triplica|multiplica|multiplique tu|su dinero|capital|inversión|ahorros
	hazte|hágase|vuélvete|hacerte rico|millonario
	libertad|independencia|liberdade|independência financiera|financeira en|em
	ingresos|renda|rendimentos pasivos|passiva|passivos
	multiplica|duplica|triplica|dobre|multiplique * dinero|ahorros|sueldo|inversión|salário|dinheiro|bitcoins
	gana|gane|ganar * sin_hacer_nada|sin_esfuerzo|sin_trabajar|mientras_duermes|desde_casa
	dinero|ganancias|rentabilidad|beneficios * sin_riesgo|sin_riesgos|sin_ningún_riesgo
	convierte|transforma <n> €|euros|dólares|$|reais en|em <n>
	préstamo|crédito|préstamos|créditos * garantizado|aprobado_al_instante|sin_comprobación
	duplica|duplique|triplica tus|sus ahorros|inversiones|bitcoins

	rendimento|rendimenti|guadagno|guadagni|profitto|profitti garantito|garantiti
	raddoppia|raddoppiate|triplica|moltiplica il|i? tuo|tuoi|vostro|vostri denaro|soldi|capitale|investimento|risparmi
	libertà|indipendenza finanziaria in
	reddito|rendita passivo|passiva
	raddoppia|triplica|moltiplica * soldi|denaro|risparmi|stipendio|bitcoin|capitale
	diventa|diventate|diventare ricco|ricchi|milionario|milionari
	guadagna|guadagnate|guadagnare|guadagni * <n> €|euro * senza_fare_nulla|senza_sforzo|senza_lavorare|da_casa|dormendo|al_giorno|mentre_dormi
	guadagna|guadagnate|guadagnare|guadagni * senza_fare_nulla|senza_sforzo|senza_lavorare|dormendo|mentre_dormi
	rendimento|rendimenti|guadagni|profitti|guadagno * senza_rischi|senza_rischio|senza_alcun_rischio|garantito
	trasforma <n> €|euro in <n>
	prestito|prestiti garantito|garantiti|senza_controlli|anche_a_cattivi_pagatori

	lucro|lucros|rendimento|rendimentos|retorno|retornos|ganhos|ganho garantido|garantidos
	duplique|dobre|duplica|triplique|multiplique o? seu|teu dinheiro|capital|investimento
	fique|fica|torne_se|ficar rico|rica|milionário|milionária
	ganhe|ganhar|fature|lucre * sem_fazer_nada|sem_esforço|sem_trabalhar|dormindo|enquanto_dorme|sem_sair_de_casa
	lucro|lucros|ganhos|rendimento|retorno * sem_risco|sem_riscos|garantido|garantidos
	transforme r? $? <n> €|reais|euros em r? $? <n>
	empréstimo|crédito garantido|aprovado_na_hora|sem_consulta|para_negativados
`).unless(`
	double your money back
`)

var financialClaims = newPhrasebook(`
	make|earn money from_home|online_fast|online_now
	passive income
	clear your? debt|debts|bad_credit
	approved in seconds|minutes|instantly
	fix your credit
`)

// wageClaims state what somebody earns.
var wageClaims = newPhrasebook(`
	earn|make up? to? $|€|£? <n> k? $|€|£|dollars|euros? a|per|each|every day|hour|week|month
	verdienen|verdiene|verdien sie|du? bis_zu? <n> €|euro pro|am|im|die|jeden tag|woche|monat|stunde
	gagnez|gagne|gagner jusqu'à? <n> €|euros|$ par|chaque jour|semaine|mois|heure
	gana|gane|ganar hasta? $|€? <n> €|euros|$|dólares|pesos? al|por|a_la|cada día|semana|mes|hora
	guadagna|guadagnate|guadagnare fino_a? <n> €|euro al|a|ogni|alla|in giorno|settimana|mese|ora|un_giorno
	ganhe|ganhar|fature|lucre até? r? $|€? <n> reais|euros|€? por|ao|a|à|em|cada dia|semana|mês|hora
`)

// jobWords are words of a job advertisement, baitWords those of a scheme.
var (
	jobWords = newPhrasebook(`
		job|jobs|vacancy|vacancies|hiring|recruiting|wanted|careers|apply|shift|shifts|salary|apprentice|apprenticeship|apprenticeships|join_our_team|roles|staff
		gesucht|stelle|stellen|ausbildung|schicht|schichten|bewirb|bewerben|mitarbeiter|tariflohn|m w d
		recrute|recrutons|recrutement|emploi|emplois|poste|postes|cdi|cdd|postulez|brut
		buscamos|empleo|vacante|vacantes|contrato|puesto|puestos|se busca|se buscan
		cerchiamo|cercasi|assunzione|assumiamo|contratto|posto_di|posti_di
		vagas|vaga|contratamos|contrata_se|emprego|empregos|clt|carteira_assinada
	`)
	baitWords = newPhrasebook(`
		from home|your_phone|your_sofa
		no experience|skills|work|effort
		von zu_hause
		ohne arbeit|aufwand
		depuis chez_vous|votre_canapé
		sans rien_faire|effort|travailler
		desde casa|tu_móvil
		sin hacer|esfuerzo|trabajar
		da casa
		senza fare|sforzo|lavorare
		de casa
		sem fazer|esforço|trabalhar|sair
	`)
)

// findWageClaims finds wages. In the advertisement of a job, a wage is no
// promise.
func findWageClaims(p *parsedText, _ *sourceIndex) []span {
	list := wageClaims.find(p)
	if len(list) > 0 && len(jobWords.find(p)) > 0 && len(baitWords.find(p)) == 0 {
		for i := range list {
			list[i].severity = Pass
		}
	}
	return list
}
