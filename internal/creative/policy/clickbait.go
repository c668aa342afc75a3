package policy

// Phrases that lure readers, in six languages.

// clickbait hides what is offered, or presents it as a secret or a shock.
var clickbait = newPhrasebook(`
	you|you'll won't|wouldn't|will_not|never believe
	you'll be|you_will_be shocked|amazed|stunned|speechless
	what happens|happened next
	doctors|dentists|banks|insurers|experts|trainers|dermatologists|lawyers|casinos|plumbers * hate|fear|furious|speechless
	hates|hate|hated this|him|her|them for
	weird|strange|bizarre|simple|odd|one|secret trick|tip|hack that|to|for|melts|burns|erases|will
	one|this weird|strange|bizarre|odd|simple|little_known trick|tip|hack|secret
	shocking|shocked|jaw_dropping truth|secret|secrets|reason|video|footage|photos|before|results|discovery|the|everyone
	the truth they|doctors|banks|about * don't|hide|hiding|want|know
	they|banks|doctors|big_pharma|governments|insurers don't|do_not|doesn't want you_to|us_to
	nobody|no_one|what|something tells|told|knows|banks|doctors|they * don't|won't|tell|tells|about|never you
	the secret|secrets that|they|of the? rich|millionaires|celebrities|banks|doctors|big_pharma|stars
	click here|now|this to|before|and? find|see|it's|discover
	what|when * said|did|found|saw|discovered|happened next|then|later|after|shocked|left|stunned|inside|behind|under
	left|leaves|leaving|had|has * in_tears|speechless|stunned|shocked|in_shock|screaming|crying|drooling
	wait until|till you see|you_hear|the_end
	can't|cannot|couldn't believe
	going|gone|goes|went viral|wild|insane
	everyone|internet|people|world is|are|in going_crazy|freaking_out|obsessed|shocked|losing|talking
	don't|do_not|doesn't|never want * to know|see|find_out|hear
	find|see|discover out? why everyone|thousands|millions|doctors|people|so_many
	this changes|changed everything
	you've|you_have|you're been? * wrong
	never|stop|don't eat|eating|drink|drinking|use|using|do|doing this|these food|foods|fruit|vegetable|before|again|mistake|thing
	only <n> % can|of_people
	guess what|who happened|did|she|he|they
	reason|reasons * will|might shock|surprise|amaze|blow
	number <n> will
	experts|doctors|scientists baffled|stunned|speechless|shocked|can't
	before it's|they|it_gets too|delete|deletes|taken|banned
	this|these will|photos|pictures|picture|video blow|changes|change|broke|breaks|leave|left your|everything|the|you mind|internet|speechless

	du|sie wirst|werden * nicht|nie|kaum glauben
	sie|du werden|wirst * schockiert|staunen|fassungslos
	ärzte|banken|zahnärzte|experten * hassen|verschweigen|fassungslos|geheim|entsetzt
	was dann|danach|als_nächstes passierte|geschah
	wollen|will * dass du|sie|niemand * weisst|wissen|erfährst|erfahren|weiss
	niemand|keiner * erzählt|verrät|sagt|spricht
	macht|machte|lässt * sprachlos|fassungslos
	was * entdeckte|fand|verschweigen|verheimlichen
	nummer <n> wird
	geheimer|dieser|einfacher|verrückter trick|geheimtrick
	die schockierende|geheime|verschwiegene wahrheit

	vous|tu n'allez|ne|n'en * pas|jamais|croirez|croire|revenir|croiras
	vous n'en reviendrez|croirez pas
	médecins|banques|dentistes|docteurs|experts * détestent|cachent|haïssent|redoutent
	ce|cette|cet|une astuce|secret|vérité|truc|découverte * choquante|choquant|étonnante|incroyable|cache|cachent|étrange|bizarre
	veulent|veut pas que * sachiez|saches|sache|découvriez
	personne ne * dit|parle|voulait
	ce que|qu'elle|qu'il * cachent|cache|découvert|trouvé|arrive|suite|bouleversé|choqué
	laisser|laissé|laissera|laisse sans_voix|bouche_bée
	numéro <n> va|vous
	ce_qui|la_suite s'est|arrive|va passé|vous_choquer|vous_surprendre|vous_étonner
	le|les secret|secrets que|des * cachent|cache|millionnaires|riches|stars|banques

	no vas|podrás|va|lo a|creer|creerás * creer|creerlo|creerás|que|lo
	no te|lo|se vas|creerás|creerá|lo_vas a creer|creerlo
	médicos|bancos|dentistas|expertos|doctores * odian|ocultan|temen
	quieren|quiere que sepas|nadie_sepa|descubras|conozcas|sepa
	nadie te * cuenta|contó|dice|explicó
	lo que * encontró|descubrió|hizo|esconden|dijo|vio
	deja|dejó|dejará * sin_palabras|boquiabiertos|boquiabierto|helados|impactados
	lo|el|este que|secreto|truco * pasó|ocurrió|sucedió|ocultan|oculta|sorprenderá|raro|extraño|bancos|médicos
	te quedarás|vas_a_quedar|dejará helado|helada|sin_palabras|boquiabierto|de_piedra

	non ci|lo|potrai * crederai|crederci|crederete|immagini
	non crederai|crederete|potrai mai|a|credere
	medici|banche|dentisti|esperti|dottori * odiano|nascondono|temono
	vogliono|vuole che tu|si|nessuno * sappia|scopra|sapere
	nessuno ti * dice|racconta
	quello|ciò|cosa che|ha|hanno * trovato|scoperto|nascondono|fatto|detto|visto * soffitta|dopo|poi|incredibile|sconvolto|shock
	lascia|lasciato|lasciati * senza_parole|a_bocca_aperta
	questo|il|lo trucco|segreto|metodo * odiano|nascondono|strano|segreto|incredibile|sconvolgente|che_le_banche
	quello|ciò|cosa che * successo|accaduto * lascerà|sconvolgerà|dopo|poi|senza_parole
	ti|vi lascerà|lascerai|resterai senza parole

	você|não não|vai|irá * acreditar|acredita|crer
	médicos|bancos|dentistas|especialistas * odeiam|escondem|temem
	querem|quer que você|ninguém|tu * saiba|descubra|saibas|descubras
	ninguém te * conta|contou|diz|disse
	o que * encontrou|descobriu|fez|escondem|aconteceu|disse * depois|seguir|chocou|impressionante|sótão
	deixa|deixou|deixará * sem_palavras|boquiaberto|boquiabertos|chocado|chocados
	este|o|esse|a truque|segredo|método|verdade * odeiam|escondem|estranho|chocante|que_os|bizarro
	o que|aconteceu aconteceu|depois|em_seguida * depois|seguir|seguida|chocou|choca|surpreender
	vai te|ficar chocar|chocado|surpreso|boquiaberto|sem_palavras
`).unless(`
	weird|strange simple but
	your|our|family|baking|cooking|garden|kitchen secret
	tell|tells you about_your|about_our|how|what
`)

// fakeMessages imitate a message of somebody else: a reply, a notice of an
// account, a system warning.
var fakeMessages = newPhrasebook(`
	final|last|urgent|second notice|warning|reminder|alert
	your account|card|profile|mailbox|subscription|computer|device|phone|pc|parcel|package * suspended|locked|limited|deactivated|disabled|blocked|infected|on_hold|expire|deleted|compromised|terminated
	virus|viruses|malware|spyware detected|found
	you have|you've|you_have_got <n>|one|a|new unread|new|missed|pending|message|messages|call|calls|notification messages?|message|call|calls|notification|notifications|payment|waiting|unread
	you have|you've won|been_selected|inherited|been_chosen
	congratulations|congrats * you|you've * won|winner|selected|been_chosen
	missed|failed|attempted delivery|payment
	parcel|package|shipment|delivery|order * customs|held|failed|fee|undelivered|stuck|could_not
	payment|invoice|transaction|refund is? declined|failed|overdue|pending|past_due|waiting
	your refund|payment|invoice|prize|tax_refund|inheritance|reward * attached|waiting|on_hold|pending|overdue|declined|failed|expires|unclaimed
	as we? discussed|promised|agreed
	following|follow up on|to our|your|my call|conversation|chat|email|message
	action|response required|needed
	security|system|virus|fraud alert|warning|notice
	you|you've have? been charged|billed|hacked|reported
	did you|we get|receive|speak my|our|yesterday email|message
	unusual|suspicious activity|sign_in|login
	confirm|verify|update your account|identity|password|payment|bank now|immediately|details|or|to|today
	zustellung|paket|sendung|lieferung * fehlgeschlagen|zollgebühr|wartet|zurückgehalten|zoll|nicht_zugestellt
	handlung|handeln|bestätigung erforderlich
	rechnung * überfällig|fällig|offen|mahnung
	wie|wie_eben|wie_gestern besprochen|vereinbart
	livraison|colis * échouée|en_attente|douane|retenu|frais|bloqué
	facture * impayée|en_attente|retard
	action|confirmation|réponse requise
	comme|suite_à convenu|notre appel|conversation|échange?
	paquete|envío|pedido|encomenda|entrega|pacote|pacco|spedizione|consegna * retenido|aduana|fallida|bloccato|bloccata|giacenza|dogana|fallita|retido|retida|alfândega|falhou|taxado
	factura|fattura|fatura * pendiente|vencida|impagada|scaduta|insoluta|atraso
	acción|azione|ação requerida|richiesta|necessária
	como|come|conforme acordamos|hablamos|d'accordo|concordato|combinado|conversamos|quedamos
	letzte|dringende mahnung|warnung|erinnerung
	ihr|dein konto|paket|computer|handy|karte * gesperrt|eingeschränkt|infiziert|deaktiviert|gelöscht|zurückgehalten
	sie|du haben|hast gewonnen|<n>|eine|ein * nachricht|nachrichten|anruf|gewonnen
	dernier|ultime avis|rappel|avertissement
	votre|ton compte|colis|ordinateur|carte|téléphone * suspendu|bloqué|limité|infecté|désactivé|bloquée|attente|supprimé
	vous|tu avez|as gagné|<n>|été|un|une * message|messages|sélectionné|gagné|appel
	último|ultimo|última|ultima aviso|avviso|advertencia|chamada_de_atenção|notificação
	su|tu|sua|seu|il|il_tuo|suo cuenta|conta|paquete|pacote|pacco|conto|account|ordenador|computador|computer|tarjeta|cartão|móvil|celular * suspendida|bloqueada|suspensa|bloqueado|bloqueato|sospeso|infectado|infetto|limitada|desactivada|retenido|retido|suspenso|disattivato|cancelada
	has|ha|hai|você sido|vinto|ganado|ganhou|stato|foi * seleccionado|selezionato|selecionado|premio|prêmio|iphone|un|um
	tienes|tiene|hai|você_tem <n>|un|una|uma|um * mensaje|mensajes|messaggio|messaggi|mensagem|mensagens
`).unless(`
	urgent|last|second reminder_service
`)

// findFakeMessages finds fake messages and the mark of a reply or of a forwarded
// message at the start of a text.
func findFakeMessages(p *parsedText, _ *sourceIndex) []span {
	list := fakeMessages.find(p)
	if len(p.tokens) == 0 || !replyMarks[p.tokens[0].text] {
		return list
	}
	if end := p.tokens[0].end; end < len(p.runes) && p.runes[end] == ':' {
		list = append([]span{{start: p.tokens[0].start, end: end + 1}}, list...)
	}
	return list
}

// replyMarks are the marks that mail programs put before a subject.
var replyMarks = wordSet("re aw fw fwd wg")

// restrictedProducts are products that platforms accept only from advertisers
// with a permit, or only in some countries.
var restrictedProducts = newPhrasebook(`
	buy|order|delivery|deliver|delivers|shop|cheap|premium|legal cannabis|marijuana|weed|thc|edibles|kratom
	cannabis|marijuana|weed|thc|cbd|kratom delivery|dispensary|dispensaries|edibles|gummies|oil|oils|vape|vapes|shop|store|delivered
	vape|vapes|vaping juice|pen|pens|shop|store|pods|kit|kits|liquid|liquids
	disposable vape|vapes
	e cigarettes|cigarette|zigaretten|zigarette|liquid|liquids
	cigarettes|cigars|snus|nicotine_pouches ~ <sale>
	buy|order|cheap cigarettes|cigars|snus|nicotine_pouches
	online casino|casinos|gambling|betting|poker|slots|roulette
	casino bonus|games|slots|en_ligne|en_línea|online
	free spins
	sports betting|bets
	sportwetten|freispiele|giri_gratis|giros_gratis|tours_gratuits|rodadas_grátis
	paris sportifs
	apuestas|scommesse|apostas deportivas|sportive|esportivas|desportivas|online
	payday loan|loans
	casa|sitio|site de apuestas|apostas
	acheter|achetez|comprar|compra|compre|kaufen|compra|acquista cannabis|cbd|maconha|marihuana|marijuana
	cannabis|cbd|marihuana * kaufen|bestellen|en_ligne|online|livraison|a_domicilio
`).unless(`
	no|without|quit vaping|vape|cigarettes
	anti vape|vaping
`)
