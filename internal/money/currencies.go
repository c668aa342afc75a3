package money

import "strings"

// exponents has the decimals of every ISO 4217 currency, without metals, test
// codes and "no currency".
//
// Choice: this table is our own, because the locale data of golang.org/x/text
// gives the rupiah, the rupee and twenty others fewer decimals than ISO, and
// lacks the newest codes. Codes withdrawn since 2020 remain, because campaigns
// were paid in them.
var exponents = func() map[Currency]int {
	table := map[Currency]int{}
	for digits, codes := range map[int]string{
		0: `BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF`,
		2: `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF
			CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HRK
			HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR
			MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP
			SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER
			ZAR ZMW ZWG ZWL`,
		3: `BHD IQD JOD KWD LYD OMR TND`,
		4: `CLF UYW`,
	} {
		for code := range strings.FieldsSeq(codes) {
			table[Currency(code)] = digits
		}
	}
	return table
}()
