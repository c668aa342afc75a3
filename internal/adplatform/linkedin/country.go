package linkedin

// countryCodes maps LinkedIn's ids of countries to their codes.
//
// Choice: LinkedIn returns a number and a localized name of a country and no
// code, so this table has the countries with the most spend. Metrics of other
// countries count with an unknown country.
var countryCodes = map[string]string{
	"103644278": "US", "101174742": "CA", "103323778": "MX",
	"106057199": "BR", "100446943": "AR", "104621616": "CL", "100876405": "CO",
	"101165590": "GB", "104738515": "IE", "101282230": "DE", "103883259": "AT", "106693272": "CH", "105015875": "FR", "100565514": "BE",
	"104042105": "LU", "102890719": "NL", "105646813": "ES", "100364837": "PT", "103350119": "IT", "105117694": "SE", "103819153": "NO",
	"104514075": "DK", "100456013": "FI", "105072130": "PL", "104508036": "CZ", "100288700": "HU", "106670623": "RO", "104677530": "GR",
	"102264497": "UA", "102105699": "TR", "101620260": "IL", "104305776": "AE", "100459316": "SA", "106155005": "EG", "104035573": "ZA",
	"105365761": "NG", "100710459": "KE", "102713980": "IN", "101022442": "PK", "106215326": "BD", "102454443": "SG", "106808692": "MY",
	"102478259": "ID", "103121230": "PH", "105146118": "TH", "104195383": "VN", "101355337": "JP", "105149562": "KR", "104187078": "TW",
	"103291313": "HK", "102890883": "CN", "101452733": "AU", "105490917": "NZ",
}
