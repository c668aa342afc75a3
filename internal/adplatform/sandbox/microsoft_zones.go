package sandbox

import (
	"strings"
	"time"
)

// microsoftZones are the time zones of accounts with the zone of the IANA
// database whose clock each shows. The names are those of the SDK (PyPI msads
// 13.0.30.1, openapi_client/models/customer/time_zone_type.py).
var microsoftZones = strings.Fields(`
	Nukualofa=Pacific/Tongatapu FijiKamchatkaMarshallIsland=Pacific/Fiji AucklandWellington=Pacific/Auckland SolomonIslandNewCaledonia=Pacific/Guadalcanal
	Vladivostok=Asia/Vladivostok Hobart=Australia/Hobart GuamPortMoresby=Pacific/Port_Moresby CanberraMelbourneSydney=Australia/Sydney
	Brisbane=Australia/Brisbane Darwin=Australia/Darwin Adelaide=Australia/Adelaide Yakutsk=Asia/Yakutsk Seoul=Asia/Seoul OsakaSapporoTokyo=Asia/Tokyo
	Taipei=Asia/Taipei Perth=Australia/Perth KualaLumpurSingapore=Asia/Singapore IrkutskUlaanBataar=Asia/Irkutsk
	BeijingChongqingHongKongUrumqi=Asia/Shanghai Krasnoyarsk=Asia/Krasnoyarsk BangkokHanoiJakarta=Asia/Bangkok Rangoon=Asia/Yangon
	SriJayawardenepura=Asia/Colombo AstanaDhaka=Asia/Dhaka AlmatyNovosibirsk=Asia/Novosibirsk Kathmandu=Asia/Kathmandu
	ChennaiKolkataMumbaiNewDelhi=Asia/Kolkata IslamabadKarachiTashkent=Asia/Karachi Ekaterinburg=Asia/Yekaterinburg Kabul=Asia/Kabul
	BakuTbilisiYerevan=Asia/Baku AbuDhabiMuscat=Asia/Dubai Tehran=Asia/Tehran Nairobi=Africa/Nairobi MoscowStPetersburgVolgograd=Europe/Moscow
	KuwaitRiyadh=Asia/Riyadh Baghdad=Asia/Baghdad Jerusalem=Asia/Jerusalem HelsinkiKyivRigaSofiaTallinnVilnius=Europe/Helsinki
	HararePretoria=Africa/Johannesburg Cairo=Africa/Cairo Bucharest=Europe/Bucharest AthensBuckarestIstanbul=Europe/Athens WestCentralAfrica=Africa/Lagos
	SarajevoSkopjeWarsawZagreb=Europe/Warsaw BrusselsCopenhagenMadridParis=Europe/Paris BelgradeBratislavaBudapestLjubljanaPrague=Europe/Prague
	AmsterdamBerlinBernRomeStockholmVienna=Europe/Berlin CasablancaMonrovia=UTC GreenwichMeanTimeDublinEdinburghLisbonLondon=Europe/London
	Azores=Atlantic/Azores CapeVerdeIsland=Atlantic/Cape_Verde MidAtlantic=Atlantic/South_Georgia Brasilia=America/Sao_Paulo
	BuenosAiresGeorgetown=America/Argentina/Buenos_Aires Greenland=America/Nuuk Newfoundland=America/St_Johns AtlanticTimeCanada=America/Halifax
	CaracasLaPaz=America/La_Paz Santiago=America/Santiago BogotaLimaQuito=America/Bogota EasternTimeUSCanada=America/New_York
	IndianaEast=America/Indiana/Indianapolis CentralAmerica=America/Guatemala CentralTimeUSCanada=America/Chicago
	GuadalajaraMexicoCityMonterrey=America/Mexico_City Saskatchewan=America/Regina Arizona=America/Phoenix ChihuahuaLaPazMazatlan=America/Mazatlan
	MountainTimeUSCanada=America/Denver PacificTimeUSCanadaTijuana=America/Los_Angeles Alaska=America/Anchorage Hawaii=Pacific/Honolulu
	MidwayIslandAndSamoa=Pacific/Pago_Pago InternationalDateLineWest=Etc/GMT+12
`)

// microsoftZone returns Microsoft's name of a time zone, and the zone that this
// name means. Microsoft knows 75 zones only.
//
// Choice: a zone that Microsoft does not know becomes the first one with the same
// clock in winter and summer, else UTC.
func microsoftZone(zone *time.Location) (name string, as *time.Location) {
	for _, pair := range microsoftZones {
		if name, iana, _ := strings.Cut(pair, "="); iana == zone.String() {
			return name, zone
		}
	}
	for _, pair := range microsoftZones {
		name, iana, _ := strings.Cut(pair, "=")
		if at, err := time.LoadLocation(iana); err == nil && sameClock(at, zone) {
			return name, at
		}
	}
	return "CasablancaMonrovia", time.UTC
}

// sameClock reports whether two zones have the same offset in winter and summer.
func sameClock(a, b *time.Location) bool {
	for _, month := range []time.Month{time.January, time.July} {
		at := time.Date(2026, month, 1, 0, 0, 0, 0, time.UTC)
		_, x := at.In(a).Zone()
		_, y := at.In(b).Zone()
		if x != y {
			return false
		}
	}
	return true
}
