package policy

// Phrases of the rules in German, French, Spanish, Italian and Portuguese. They
// are searched in every text, regardless of its language. promises.go has the
// promises about health and money.

// europeanClasses has their word classes.
var europeanClasses = map[string]string{
	"you_are": `bist du,du bist,sind sie,seid ihr,tu es,vous êtes,es tu,êtes vous,eres,es usted,sois,estás,está usted,sei,siete,` +
		`você é,você está,tu és,tu estás,vocês são,vocês estão`,
	"you_suffer": `leiden sie,leidest du,leidet ihr,du leidest,sie leiden,kämpfst du,kämpfen sie,schämst du dich,schämen sie sich,hast du,haben sie,` +
		`souffrez vous,vous souffrez,tu souffres,souffres tu,avez vous,vous avez,as tu,tu as,` +
		`sufres,sufre,padeces,padece,tienes,tiene usted,te avergüenzas,luchas,soffri,soffrite,soffre,hai,avete,ti vergogni,lotti,` +
		`sofre,sofres,você sofre,você tem,tens,tem,luta`,
	"ailment": `diabetes,depressionen,depression,angst,angstzuständen,arthrose,rheuma,krebs,übergewicht,akne,haarausfall,schlaflosigkeit,` +
		`migräne,bluthochdruck,schulden,schuppenflechte,neurodermitis,impotenz,alkoholproblem,cellulite,tinnitus,adhs,demenz,` +
		`diabète,dépression,anxiété,d'anxiété,d'arthrose,l'arthrose,arthrose,cancer,surpoids,acné,d'acné,eczéma,d'eczéma,insomnie,d'insomnie,` +
		`migraines,migraine,hypertension,d'hypertension,dettes,psoriasis,impuissance,d'obésité,` +
		`depresión,ansiedad,artritis,artrosis,cáncer,sobrepeso,obesidad,insomnio,migrañas,hipertensión,deudas,psoriasis,impotencia,caída del cabello,` +
		`diabete,depressione,ansia,d'ansia,artrite,artrosi,cancro,sovrappeso,obesità,insonnia,d'insonnia,emicrania,ipertensione,debiti,psoriasi,impotenza,calvizie,` +
		`depressão,ansiedade,artrite,artrose,câncer,excesso de peso,obesidade,insônia,insónia,enxaqueca,hipertensão,dívidas,psoríase,impotência,queda de cabelo`,
	"european_trait": `diabetiker,diabetikerin,zuckerkrank,übergewichtig,dick,fett,fettleibig,depressiv,schwul,lesbisch,homosexuell,bisexuell,transgender,` +
		`verschuldet,überschuldet,pleite,arbeitslos,behindert,muslim,muslimin,jude,jüdin,jüdisch,christ,geschieden,alkoholiker,vorbestraft,impotent,autistisch,unfruchtbar,` +
		`diabétique,diabétiques,obèse,obèses,en surpoids,dépressif,dépressive,gay,lesbienne,homosexuel,homosexuelle,endetté,endettée,endettés,surendetté,` +
		`au chômage,chômeur,handicapé,handicapée,musulman,musulmane,juif,juive,chrétien,divorcé,divorcée,alcoolique,stérile,` +
		`diabético,diabética,obeso,obesa,gordo,gorda,depresivo,depresiva,homosexual,lesbiana,bisexual,endeudado,endeudada,desempleado,desempleada,discapacitado,` +
		`musulmán,judío,judía,cristiano,divorciado,divorciada,alcohólico,moroso,estéril,` +
		`diabetico,diabetica,sovrappeso,in sovrappeso,obeso,grasso,grassa,depresso,depressa,omosessuale,lesbica,indebitato,indebitata,disoccupato,disoccupata,` +
		`disabile,musulmano,musulmana,ebreo,ebrea,cristiano,divorziato,divorziata,alcolista,sterile,protestato,` +
		`deprimido,deprimida,homossexual,lésbica,bissexual,endividado,endividada,negativado,negativada,desempregado,desempregada,deficiente,muçulmano,` +
		`judeu,cristão,alcoólatra,alcoólico,acima do peso`,
	"european_members": `diabetiker,diabetikerinnen,muslime,juden,christen,schwule,lesben,singles über 60,alkoholiker,arbeitslose,diabétiques,musulmans,juifs,chrétiens,` +
		`homosexuels,gays,chômeurs,diabéticos,musulmanes,judíos,cristianos,homosexuales,solteros gays,solteros gais,solteros cristianos,diabetici,musulmani,ebrei,cristiani,omosessuali,single cristiani,` +
		`muçulmanos,judeus,cristãos,homossexuais,solteiros cristãos,solteiros gays`,
	"european_drug": `kokain,heroin,haschisch,speed pillen,ecstasy,crystal meth,amphetamin,zauberpilze,lsd,mdma,marihuana,cocaïne,héroïne,haschich,cannabis,` +
		`champignons hallucinogènes,ecstasy,méthamphétamine,cocaína,heroína,hachís,éxtasis,marihuana,hongos alucinógenos,setas alucinógenas,metanfetamina,` +
		`cocaina,eroina,hashish,marijuana,funghi allucinogeni,metanfetamine,maconha,haxixe,erva,cogumelos mágicos,lança perfume,crack`,
	"european_weapon": `pistole,pistolen,gewehr,gewehre,schusswaffe,schusswaffen,sturmgewehr,sturmgewehre,munition,handgranate,handgranaten,sprengstoff,revolver,schalldämpfer,` +
		`pistolet,pistolets,fusil,fusils,arme à feu,armes à feu,munitions,explosifs,silencieux,kalachnikov,` +
		`pistola,pistolas,rifle,rifles,fusiles,arma de fuego,armas de fuego,munición,explosivos,granadas,escopeta,escopetas,silenciador,` +
		`fucile,fucili,arma da fuoco,armi da fuoco,munizioni,esplosivi,mitragliatrice,armi,` +
		`espingarda,espingardas,arma de fogo,armas de fogo,munição,explosivos,armas`,
	"european_buy": `kaufen,kaufe,kauf,bestellen,bestelle,bestell,achetez,achète,acheter,commandez,commander,compra,compre,comprar,pide,pida,encarga,` +
		`acquista,acquistate,compra,comprate,ordina,ordinate,encomende,peça,vendo,vendemos,vendita,vente,venta,venda,verkaufen,verkauf,vendiamo,vendons`,
	"european_sale": `kaufen,bestellen,zu verkaufen,online,diskret,geliefert,lieferung,en ligne,à vendre,livraison,livrée,livrés,livré,en venta,a domicilio,entrega,envío,` +
		`in vendita,a domicilio,consegna,à venda,com entrega,en línea`,
	"unlicensed": `ohne waffenschein,ohne waffenbesitzkarte,ohne papiere,sans permis,sans licence,sin licencia,sin permiso,senza porto d'armi,senza licenza,sem porte,sem licença,sem registro`,
	"no_receipt": `ohne rezept,rezeptfrei,sans ordonnance,sin receta,senza ricetta,sem receita`,
	"rx": `xanax,tramadol,oxycodon,oxycodone,oxycontin,valium,diazepam,viagra,ozempic,wegovy,antibiotika,antibiotiques,antibióticos,antibiotici,ritalin,rivotril,adderall,` +
		`schlaftabletten,mounjaro,cialis,fentanyl,steroide,stéroïdes,esteroides,steroidi,anabolika,anabolizantes`,
	"luxury": `louis vuitton,gucci,rolex,prada,chanel,hermès,dior,cartier,nike,adidas,burberry,balenciaga,versace,moncler,ray ban,omega,breitling,apple,airpods,iphone,jordan,` +
		`jordans,yeezy,designer,luxe,lujo,lusso,luxo,marque,marca,patek philippe`,
	"copies": `replica,replicas,replik,repliken,nachbildung,nachbildungen,fälschung,fälschungen,gefälschte,réplique,répliques,contrefaçon,contrefaçons,imitation,imitations,` +
		`réplica,réplicas,imitación,imitaciones,falsificación,imitazione,imitazioni,repliche,imitação,imitações,copia,copias,copie,cópia,cópias,kopie,kopien`,
	"papers": `ausweis,ausweise,führerschein,führerscheine,reisepass,reisepässe,pass,diplom,diplome,zeugnis,zeugnisse,impfpass,impfpässe,geldscheine,euroscheine,` +
		`papiers,passeport,passeports,permis,diplôme,diplômes,billets,pasaporte,pasaportes,carnet,carné,título,títulos,billetes,diplomas,` +
		`passaporto,passaporti,patente,patenti,banconote,lauree,diplomi,documenti,documentos,passaporte,passaportes,carteira de motorista,notas,dinheiro,dinero`,
	"forged": `gefälscht,gefälschte,gefälschter,falsche,falscher,faux,fausse,fausses,falso,falsos,falsa,falsas,falsi,false,falsificados,falsificado,falsificati`,
}

// europeanAttributes are statements about something private of the reader.
var europeanAttributes = newPhrasebook(`
	<you_are> ein|eine|auch|un|une|uno|una|um|uma|zu|wieder|trop|demasiado|troppo|demais|endividado_e? <european_trait>
	<you_are> * diabetiker|diabetikerin|übergewichtig|depressiv|verschuldet|arbeitslos|geschieden|diabétique|obèse|en_surpoids|endetté|endettée|surendetté|au_chômage|divorcé|divorcée|dépressif|diabético|diabética|obeso|obesa|endeudado|endeudada|divorciado|divorciada|deprimido|deprimida|sovrappeso|diabetico|diabetica|indebitato|indebitata|disoccupato|depresso|depressa|divorziato|divorziata|desempregado|desempregada|endividado|endividada|acima_do_peso
	<you_suffer> an|unter|mit|de|du|des|di|da|do|d'|con|com|problemi|problemas|problèmes? der|deinem|deiner|ihrem|ihren|einer|la|le|los|las|tus|tu|su|sua|seu|il|i|o|a? <ailment>
	schluss|fertig mit deinen|deinem|deiner|ihren|ihrem <ailment>
	dein|deine|deinen|deiner|deinem|ihren|ihrem|votre|ton|vos|tes|tus|tuoi|tua|seus|suas <ailment>
	^ <european_trait> ?
	andere|anderen|d'autres|otros|altri|outros <european_members>
	als <european_trait> weisst|kennst|brauchst|verdienst du
	weil|porque|perché|parce_que|puisque du|tu|vous|você? <you_are>|eres|bist|es|sei|é <european_trait>
`).unless(`
	ihren|ihrem <ailment> patienten|kunden
	dick befreundet
`)

// europeanSuperlatives are ranks among all competitors.
//
// Choice: unlike the English phrases, a superlative counts only with the region
// or market that it claims. Without one, it is mostly no claim of rank.
var europeanSuperlatives = newPhrasebook(`
	die|der|das|unsere|ihre|deutschlands|europas|weltweit nummer|nr|no .? 1|eins
	nummer|nr .? 1|eins in|weltweit|der|auf|am
	deutschlands|europas|österreichs|berlins beste|bester|bestes|besten|größte|größter|größtes|führende|führender|führendes|günstigste|beliebteste
	beste|bester|bestes|besten|schnellste|günstigste|billigste|größte|stärkste|führende|führender * der_welt|weltweit|europas|deutschlands|in_deutschland|in_europa|auf_dem_markt|des_landes|aller_zeiten
	weltbeste|weltbester|weltbestes|marktführer|unschlagbar|unschlagbare|unschlagbarer|konkurrenzlos

	numéro|n°|no|nº 1|un en|du|mondial|des|sur
	le|la|les numéro|n° 1|un
	meilleur|meilleure|meilleurs|meilleures|leader|premier * du_monde|au_monde|de_france|d'europe|du_marché|de_tous_les_temps|mondial
	moins|plus cher|chers|rapide|rapides|puissant|efficace|chère * du_monde|au_monde|du_marché|de_france|d'europe
	imbattable|imbattables|inégalé|inégalée

	el|la|los|las número|numero|n.º|nº 1|uno
	número|numero|nº 1|uno|um|one en|em|del|do|mundial|no|na|in|al
	mejor|mejores|líder|melhor|melhores * del_mundo|do_mundo|de_españa|de_europa|del_mercado|do_mercado|del_país|do_país|do_brasil|de_portugal|da_europa|de_méxico|mundial|de_todos_los_tempos
	más|mais barato|barata|baratos|baratas|rápido|rápida|potente|vendido|eficaz|poderoso * del_mundo|do_mundo|del_mercado|do_mercado|do_brasil|de_españa|de_europa|da_europa|de_portugal
	inmejorable|insuperable|imbatible|imbatibles|imbatível|imbatíveis|insuperável
	o|a|os|as número 1|um

	il|la|i numero 1|uno
	migliore|migliori|miglior|leader|primo * del_mondo|al_mondo|d'italia|in_italia|d'europa|in_europa|del_mercato|sul_mercato|di_sempre|mondiale
	più economico|economica|veloce|potente|efficace|venduto|economici * del_mondo|al_mondo|d'italia|in_italia|d'europa|in_europa|del_mercato|sul_mercato
	imbattibile|imbattibili|insuperabile
`)

// europeanAbsolutes are promises without limits.
var europeanAbsolutes = newPhrasebook(`
	100 %|prozent|percent|por_ciento|por_cento|per_cento garantiert|sicher|wirksam|garanti|garantie|garantis|efficace|efficaces|garantizado|garantizada|efectivo|eficaz|seguro|garantito|garantita|sicuro|garantido|garantida
	garantierter|garantierte|garantiertes|garantierten erfolg|ergebnis|ergebnisse|wirkung
	erfolg|ergebnisse|wirkung garantiert
	wirkt|funktioniert|hilft immer|garantiert|bei_jedem|jedes_mal|sofort_und_dauerhaft
	résultat|résultats|succès|réussite|efficacité garanti|garantis|garantie|assuré|assurée
	marche|fonctionne à_tous_les_coups|toujours|pour_tout_le_monde
	resultado|resultados|éxito|eficacia|sucesso|eficácia garantizado|garantizados|garantizada|asegurado|garantido|garantidos|garantida
	funciona siempre|sempre|para_todos|para_todo_el_mundo
	nunca|jamás falla|falha
	risultato|risultati|successo|efficacia garantito|garantiti|garantita|assicurato|assicurati
	funziona sempre|per_tutti
	völlig|ganz|absolut|komplett|garantiert ohne_risiko|risikofrei
	sans aucun risque
	sin ningún riesgo
	senza alcun|nessun rischio
	sem nenhum|qualquer risco
	für_immer|pour_toujours|para_siempre|per_sempre|para_sempre faltenfrei|jung|jeune|joven|giovane|jovem
`)

var europeanProhibited = []prohibitedCategory{
	{"illegal drugs", newPhrasebook(`
		<european_buy> * <european_drug>
		<european_drug> * <european_sale>
		<rx> * <no_receipt>
	`).unless(`
		<european_drug> entzug|therapie|sucht|prävention|beratung|prévention|addiction|adicción|dipendenza|dependência|film|legal
		erva mate|doce|cidreira|príncipe
	`)},
	{"weapons or explosives", newPhrasebook(`
		<european_weapon> * <unlicensed>
		<european_weapon> und|et|y|e * kaufen|bestellen|en_ligne|online
		<european_weapon> kaufen|bestellen|à_vendre|zu_verkaufen|en_venta|in_vendita|à_venda|en_ligne|online
		<european_buy> sie|des|de|du|un|une|una|uma|ein|eine|le|la|las|los|il|i? <european_weapon>
	`).unless(`
		<european_weapon> à|a|per|de|para|da|ad colle|colla|caldo|silicona|silicone|cola|agua|acqua|água|eau|eaux|peinture|pintura|vernice|spruzzo|massage|masaje|massagem|arroser|clavos|juguete|brinquedo|giocattolo|quente|bolhas|cera
		<european_weapon> <n>? termofusibile|giocattolo|museum|sonore|pression
	`)},
	{"forged documents or fraud", newPhrasebook(`
		<copies> * <luxury>
		<luxury> * <copies>
		bewertungen|rezensionen|follower|likes|abonnenten kaufen
		achetez|acheter|compra|comprar|compre|acquista|comprate des|de|vrais|falsos|false? abonnés|avis|followers|follower|likes|reseñas|seguidores|recensioni|avaliações|curtidas
		<forged> * <papers> * <european_sale>
		<european_buy> ~ <forged> ~ <papers>
		<papers> <forged>
		führerschein|abitur|diplom * ohne_prüfung
		<european_buy> * <papers> sin_examen|sans_examen|senza_esame|sem_prova
	`).unless(`
		copia|copie|copias|cópia|cópias|kopie|kopien de_seguridad|di_sicurezza|de_segurança|certificada|conforme|couleur|color|colori
		gegen|erkennen|contre|contra|contro <copies>
	`)},
}
