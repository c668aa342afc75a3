package copywriter_test

import (
	"math/rand/v2"
	"strings"
)

// planted is a brief together with the facts in it that copy must repeat
// exactly.
type planted struct {
	prompt string
	// facts are the amounts, dates, percentages, codes, phone numbers and
	// symbols, as the brief writes them.
	facts []string
	phone string
	code  string
}

// tongue is what briefs of one language are made of. None of its words has a
// digit, a sign or the name of a month, so that whatever of these the copy has
// must be a planted fact.
type tongue struct {
	tag     string
	opening []string
	// Each clause has one mark such as {amount}.
	clauses                                  []string
	amounts, dates, percents, phones, grades []string
}

// Signs and codes are the same in every language.
var (
	signs = []string{"C++", "C#", ".NET", "F#", "R&D", "3D", "4K", "24/7", "B2B"}
	codes = []string{"SHARP-9", "HELLO15", "XMAS2027", "GO-20-NOW", "ZEBRA", "TULIP", "A1B2C3", "MX500"}
)

var tongues = []tongue{
	{
		tag:     "en",
		opening: []string{"Our repair shop in Bath fixes bikes while you wait", "Evening courses in pottery for people who have never tried", "Warm wool blankets from a mill in Wales", "Ads for our family hotel by the lake", "A payroll service for small teams", "Garden sheds built to order"},
		clauses: []string{
			"Now {amount} instead of {amount}", "Prices start at {amount} per person", "It costs {amount}", "{amount} including delivery", "Only {amount} this week", "Two for {amount}",
			"The offer ends on {date}", "Book before {date}", "Open from {date}", "Starts {date}, limited seats", "{date} in the old town hall",
			"{percent} off for students", "Save {percent} on every order", "We saved our clients {percent} last year",
			"Use code {code} at checkout", "Quote {code} when you order",
			"Call {phone} to book", "Ring us on {phone}, any weekday", "Phone: {phone}",
			"We teach {sign} to working people", "Support {sign} included", "Energy label {grade}", "Works with {sign}",
			"Friendly staff", "No hidden fees, no waiting", "Free parking behind the building", "Loved by families",
		},
		amounts:  []string{"£64.50", "$1,149", "299 €", "€1,450", "CHF 189.–", "US$ 49", "A$6", "15 EUR", "$24-28", "£1,250.00", "₹4,999", "kr 399", "$10k", "20 dollars", "CHF 1'290"},
		dates:    []string{"31 August", "Sept. 7", "May 1–9", "4/15/2027", "18 April 2027", "December 3rd", "Oct 5, 2027", "31/12/2026", "2027-03-14", "June 30", "1 May – 15 October"},
		percents: []string{"20%", "92.4%", "15 %", "7.5 percent", "10-15%", "50%"},
		phones:   []string{"0117 496 0000", "+44 20 7946 0123", "(512) 555-0188", "512-555-0188", "01225 496 0123", "+1 (212) 555-0100"},
		grades:   []string{"A+++", "A++", "A+"},
	},
	{
		tag:     "de",
		opening: []string{"Unsere Werkstatt in Freiburg repariert Fahrräder, während Sie warten", "Handgewebte Wolldecken aus der Lausitz", "Anzeige für unser Familienhotel am See", "Abendkurs Töpfern für Einsteiger", "Gartenhäuser nach Maß vom Tischler", "Lohnabrechnung für kleine Betriebe"},
		clauses: []string{
			"Jetzt {amount} statt {amount}", "Preise ab {amount} pro Person", "Kostet nur {amount}", "{amount} inklusive Lieferung", "Zwei Stück für {amount}",
			"Aktion bis {date}", "Anmeldung bis {date} möglich", "Start am {date}", "Am {date} in der alten Stadthalle", "Gültig vom {date} an, solange der Vorrat reicht",
			"{percent} Rabatt für Studierende", "Sparen Sie {percent} bei jeder Bestellung",
			"Mit dem Code {code} an der Kasse", "Gutscheincode: {code}",
			"Rufen Sie an: {phone}", "Tel. {phone}", "Termine unter {phone}, auch samstags",
			"Wir unterrichten {sign} für Berufstätige", "Mit {sign} an Bord", "Energieklasse {grade}",
			"Freundliches Team", "Keine versteckten Kosten", "Kostenlose Parkplätze hinter dem Haus",
		},
		amounts:  []string{"9.900 €", "1.290,00 €", "89,– €", "119 Euro", "2.150 EUR", "CHF 1'290.–", "€ 49,90", "3,50 €", "24 €", "45–60 €", "12.500\u00a0€", "1,5 Mio. €"},
		dates:    []string{"30. September", "3. März 2027", "15.10.2027", "24. Dez.", "1. Mai", "31.12.", "12. und 13. Juli", "6.–8. August"},
		percents: []string{"10 %", "20%", "12,5 %", "7,5 Prozent", "10–15 %", "50\u00a0%"},
		phones:   []string{"0761 555 01 42", "+49 7641 555 0190", "040/555 0133", "(030) 555 01 99", "0800 5550123"},
		grades:   []string{"A+++", "A++", "A+"},
	},
	{
		tag:     "fr",
		opening: []string{"Notre atelier à Nantes répare les vélos pendant que vous patientez", "Couvertures en laine tissées à la main dans le Jura", "Annonce pour notre hôtel familial au bord du lac", "Cours de poterie du soir pour les débutants", "Abris de jardin sur mesure", "Gestion de paie pour les petites équipes"},
		clauses: []string{
			"Maintenant {amount} au lieu de {amount}", "Tarifs à partir de {amount} par personne", "Seulement {amount}", "{amount} livraison comprise", "Deux pour {amount}",
			"Offre valable jusqu'au {date}", "Inscription avant le {date}", "Ouverture le {date}", "Le {date} dans l'ancienne mairie",
			"{percent} de remise pour les étudiants", "Économisez {percent} sur chaque commande",
			"Avec le code {code} à la caisse", "Code promo : {code}",
			"Appelez le {phone}", "Tél. : {phone}", "Réservation au {phone}, même le samedi",
			"Nous enseignons {sign} aux salariés", "Compatible {sign}", "Classe énergie {grade}",
			"Équipe chaleureuse", "Sans frais cachés", "Parking gratuit derrière le bâtiment",
		},
		amounts:  []string{"1 990 €", "3\u202f299 €", "579,99 €", "59€", "12 €", "10 000 euros", "CHF 45.–", "95\u00a0€", "1 250,50 €"},
		dates:    []string{"1er mars", "14 mars 2027", "30 juin", "17/05", "3 et 4 février", "31/12/2026", "15 août"},
		percents: []string{"20 %", "75\u202f%", "92,4 %", "30%", "5 pour cent", "10 à 15 %"},
		phones:   []string{"02 40 55 01 23", "+33 5 56 55 01 10", "03.80.55.01.77", "06 12 55 01 98", "0 800 55 01 23"},
		grades:   []string{"A+++", "A++", "A+"},
	},
	{
		tag:     "es",
		opening: []string{"Nuestro taller en Sevilla repara bicicletas mientras usted espera", "Mantas de lana tejidas a mano en los Pirineos", "Anuncio para nuestro hotel familiar junto al lago", "Curso de cerámica por la tarde para principiantes", "Casetas de jardín a medida", "Nóminas para equipos pequeños"},
		clauses: []string{
			"Ahora {amount} en lugar de {amount}", "Precios desde {amount} por persona", "Solo {amount}", "{amount} con entrega incluida", "Dos por {amount}",
			"Oferta hasta el {date}", "Reserva antes del {date}", "Empieza el {date}", "El {date} en el antiguo ayuntamiento",
			"{percent} de descuento para estudiantes", "Ahorra {percent} en cada pedido",
			"Con el código {code} al pagar", "Código: {code}",
			"Llama al {phone}", "Teléfono: {phone}", "Reservas en el {phone}, también los sábados",
			"Enseñamos {sign} a profesionales", "Compatible con {sign}", "Clase energética {grade}",
			"Equipo cercano", "Sin gastos ocultos", "Aparcamiento gratis detrás del edificio",
		},
		amounts:  []string{"3.000 €", "89,95 €", "699 euros", "US$ 120", "1.250,00 €", "18 €", "9,90\u00a0€", "50€"},
		dates:    []string{"30 de septiembre", "12 de diciembre de 2027", "1 de junio", "31/12", "15/10/2027", "3 y 4 de agosto"},
		percents: []string{"30 %", "25%", "12,5 %", "5 por ciento", "10-15 %"},
		phones:   []string{"600 555 014", "+34 952 55 01 32", "91 555 01 42", "900 555 012"},
		grades:   []string{"A+++", "A++", "A+"},
	},
	{
		tag:     "it",
		opening: []string{"La nostra officina a Bologna ripara biciclette mentre aspetti", "Coperte di lana tessute a mano in Sardegna", "Annuncio per il nostro albergo di famiglia sul lago", "Corso serale di ceramica per chi comincia", "Mobili da giardino su misura", "Buste paga per piccole squadre"},
		clauses: []string{
			"Ora {amount} invece di {amount}", "Prezzi da {amount} a persona", "Solo {amount}", "{amount} consegna inclusa", "Due per {amount}",
			"Offerta fino al {date}", "Prenota entro il {date}", "Si comincia il {date}", "Il {date} nel vecchio municipio",
			"{percent} di sconto per gli studenti", "Risparmia {percent} su ogni ordine",
			"Con il codice {code} alla cassa", "Codice: {code}",
			"Chiama lo {phone}", "Tel. {phone}", "Prenotazioni allo {phone}, anche il sabato",
			"Insegniamo {sign} a chi lavora", "Lavora con {sign}", "Classe energetica {grade}",
			"Personale gentile", "Senza costi nascosti", "Parcheggio gratuito dietro la casa",
		},
		amounts:  []string{"€ 29,90", "1.200 €", "499,90 €", "85 €", "62€", "12.500,00 euro", "0 €"},
		dates:    []string{"1° giugno", "15 aprile", "31/01/2027", "7 novembre 2027", "20 dicembre", "5 e 6 luglio"},
		percents: []string{"23%", "30 %", "0,2 %", "50 per cento", "10-15%"},
		phones:   []string{"051 555 0142", "+39 075 555 0119", "800 555 012", "02/555 01 42"},
		grades:   []string{"A+++", "A++", "A+"},
	},
	{
		tag:     "pt",
		opening: []string{"A nossa oficina no Porto repara bicicletas enquanto espera", "Mantas de lã tecidas à mão na serra", "Anúncio para o nosso hotel de família junto ao lago", "Curso de cerâmica à noite para quem começa", "Casas de jardim por medida", "Folha de pagamento para equipas pequenas"},
		clauses: []string{
			"Agora {amount} em vez de {amount}", "Preços a partir de {amount} por pessoa", "Só {amount}", "{amount} com entrega incluída", "Dois por {amount}",
			"Oferta até {date}", "Reserve antes de {date}", "Começa em {date}", "No dia {date} na antiga câmara",
			"{percent} de desconto para estudantes", "Poupe {percent} em cada encomenda",
			"Com o código {code} na caixa", "Cupom: {code}",
			"Ligue para {phone}", "Telefone: {phone}", "Reservas pelo {phone}, também ao sábado",
			"Ensinamos {sign} a quem trabalha", "Compatível com {sign}", "Classe energética {grade}",
			"Equipa simpática", "Sem custos escondidos", "Estacionamento grátis atrás do edifício",
		},
		amounts:  []string{"R$ 2.199,90", "49,90 €", "R$ 349", "180 €", "1.250 euros", "25\u00a0€", "R$219,99"},
		dates:    []string{"30 de junho", "8 de março de 2027", "29/11", "31/12/2027", "1 de maio", "3 e 4 de agosto"},
		percents: []string{"30 %", "10%", "12,5%", "5 por cento", "10-15 %"},
		phones:   []string{"262 555 014", "+351 22 555 01 60", "(11) 5555-0142", "+55 11 95555-0142"},
		grades:   []string{"A+++", "A++", "A+"},
	},
}

// plant makes brief number i of a language.
func plant(i int, l *tongue) planted {
	r := rand.New(rand.NewPCG(uint64(i), 99)) //nolint:gosec // a test needs the same briefs every time
	var p planted
	parts := []string{any1(r, l.opening)}
	for range 3 + r.IntN(4) {
		clause := any1(r, l.clauses)
		// A brief has one phone number and one code.
		if strings.Contains(clause, "{phone}") && p.phone != "" || strings.Contains(clause, "{code}") && p.code != "" || strings.Contains(strings.Join(parts, "\n"), clause) {
			continue
		}
		for _, m := range []struct {
			mark string
			list []string
		}{{"{amount}", l.amounts}, {"{date}", l.dates}, {"{percent}", l.percents}, {"{phone}", l.phones}, {"{code}", codes}, {"{sign}", signs}, {"{grade}", l.grades}} {
			for strings.Contains(clause, m.mark) {
				fact := any1(r, m.list)
				clause = strings.Replace(clause, m.mark, fact, 1)
				p.facts = append(p.facts, fact)
				switch m.mark {
				case "{phone}":
					p.phone = fact
				case "{code}":
					p.code = fact
				}
			}
		}
		parts = append(parts, clause)
	}
	switch r.IntN(5) {
	case 0:
		p.prompt = strings.Join(parts, "\n- ")
	case 1:
		p.prompt = strings.Join(parts, ", ") + "."
	case 2:
		p.prompt = parts[0] + ": " + strings.Join(parts[1:], "; ")
	default:
		// "24. Dez." needs no second point.
		p.prompt = strings.ReplaceAll(strings.Join(parts, ". ")+".", "..", ".")
	}
	return p
}
