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
		`tumori,tumore,depressione,l'ansia,l'artrite,l'artrosi,artrosi,l'asma,emicrania,l'emicrania,l'ipertensione,l'insonnia,insonnia,l'obesita`,
	// article has words that may be between a verb and a disease.
	"article": `your,the,any,type,der,die,das,den,ihre,ihren,deine,deinen,le,la,les,votre,ton,ta,el,los,las,tu,su,il,lo,gli,tuo,tua,o,a,os,as,seu,sua,de la,del,du`,
	"kilo":    `kg,kilo,kilos,kilogramm,kilograms,lb,lbs,pound,pounds,stone,inches,chili,chilos,quilos,kilogrammes`,
	"period": `day,days,week,weeks,month,months,tag,tage,tagen,woche,wochen,monat,monate,monaten,jour,jours,semaine,semaines,mois,` +
		`dia,dias,semana,semanas,mes,meses,giorno,giorni,settimana,settimane,mese,mesi`,
}

var medicalPromises = newPhrasebook(`
	cure|cures|cured|curing|heal|heals|healing|reverse|reverses|reversing|eliminate|eliminates <article>? <n>? <condition>|<disease>
	cures|cure all|any|every|everything disease|diseases|illness|illnesses|ailment|ailments?
	cure|remedy for <article>? <condition>|<disease>
	prevents <article>? <disease>
	say goodbye|bye to <article>? <condition>|<disease>
	boost|boosts|strengthen|strengthens <article>? immunity|immune_system
	miracle cure|pill|drug|treatment|remedy|weight_loss|diet
	no|without side effects
	100 %|percent cure|healing
	lose|drop|shed up? to? <n>|ten|twenty <kilo> in|within|by|every|a|per|this just|only? <n>|a|one|two|three? <period>
	lose weight fast|instantly|overnight|quickly|effortlessly|without_exercise|without_dieting
	melt|melts|melting ~ fat|belly_fat
	pain free forever
	grow|regrow hair in|within|overnight

	heilt|heilen|heile|kuriert|kurieren|besiegt|beseitigt <article>? <condition>|<disease>
	verlieren|verliere|verlier|nehmen|nimm sie|du? bis_zu? <n> <kilo> in nur? <n>|einer|einem <period>
	kg|kilo|kilos|kilogramm in nur? <n>|einer|einem <period> abnehmen|verlieren|weniger|leichter
	wundermittel|wunderpille|wunderheilung
	ohne nebenwirkungen

	guérit|guérir|guérissez|guérissent|éradique|soigne <article>? <condition>|<disease>
	perdez|perdre|perds jusqu'à? <n> <kilo> en <n>|une|un <period>
	remède|pilule|traitement|régime miracle
	sans effets|effet secondaires|secondaire|indésirables

	cura|curan|curar|curam|cure|elimina|eliminan|eliminam|eliminar|revierte|revierten|reverte|revertem <article>? <condition>|<disease>
	pierde|pierda|perder|adelgaza|adelgace|perca|emagreça|perde hasta|até? <n> <kilo> en|em|in solo|apenas|só? <n>|una|uma|um <period>
	cura|remedio|remédio|píldora|pastilla|dieta milagro|milagrosa|milagroso
	sin|sem efectos|efeitos secundarios|secundários|colaterais|adversos

	guarisce|guarire|guarisci|guariscono|sconfigge|sconfiggi <article>? <condition>|<disease>
	perdi|perdere|perdete|dimagrisci fino_a|di? <n> <kilo> in soli|solo? <n>|una|un <period>
	rimedio|pillola|cura|dieta miracoloso|miracolosa
	senza effetti collaterali
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
	double|triple|multiply|10x your money|investment|capital|portfolio|wealth|cash
	turn $|€|£ <n> into $|€|£ <n>
	get rich quick|fast|overnight
	make money fast|overnight|while_you_sleep|instantly
	never lose money
	surefire investment|profit|win|returns
	100 %|percent approval|profit|return|returns
	become a millionaire
	beat|beats|beating the market
	erase|erases|eliminate|eliminates|wipe_out your? debt|debts|bad_credit
	instant ~ approval|loan|loans
	no credit check|checks

	garantierte|garantierter|garantierten|garantiertes|risikofreie rendite|renditen|gewinne|gewinn|erträge|einkommen
	verdoppeln|verdreifachen sie ihr|ihren geld|kapital|vermögen|einsatz
	verdopple|verdoppel|verdreifache dein|deinen geld|kapital|vermögen|einsatz
	schnell reich
	werde|werden sie|du? millionär|reich

	rendement|rendements|gains|gain|profits|profit|revenus|revenu garanti|garantis
	doublez|triplez|multipliez votre|vos argent|capital|mise|investissement|gains
	double|triple ton|tes argent|capital|gains
	devenez|deviens riche|millionnaire

	rentabilidad|rentabilidades|ganancias|ganancia|beneficios|ingresos|rendimientos|rendimiento garantizada|garantizadas|garantizados|garantizado
	duplica|duplique|triplica|multiplica|multiplique tu|su dinero|capital|inversión|ahorros
	hazte|hágase|vuélvete rico|millonario

	rendimento|rendimenti|guadagno|guadagni|profitto|profitti garantito|garantiti
	raddoppia|raddoppiate|triplica|moltiplica il|i? tuo|tuoi|vostro|vostri denaro|soldi|capitale|investimento|risparmi
	diventa|diventate ricco|ricchi|milionario|milionari

	lucro|lucros|rendimento|rendimentos|retorno|retornos|ganhos|ganho garantido|garantidos
	duplique|dobre|duplica|triplique|multiplique o? seu|teu dinheiro|capital|investimento
	fique|fica|torne_se rico|rica|milionario|milionaria
`).unless(`
	double your money back
`)

var financialClaims = newPhrasebook(`
	earn|make up? to? $|€|£? <n> $|€|£|dollars|euros? a|per|each|every day|hour|week|month
	make|earn money from_home
	clear your? debt|debts|bad_credit
	approved in seconds|minutes|instantly
	fix your credit
`)
