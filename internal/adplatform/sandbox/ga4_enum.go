package sandbox

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Values of enums in requests. Google's clients write them as names or as
// numbers.
type (
	ga4MatchType     string
	ga4Operation     string
	ga4OrderType     string
	ga4Aggregation   string
	ga4Compatibility string
)

// The names of the values by number. Numbers that are not used have no name.
var (
	ga4MatchTypes      = []string{"MATCH_TYPE_UNSPECIFIED", "EXACT", "BEGINS_WITH", "ENDS_WITH", "CONTAINS", "FULL_REGEXP", "PARTIAL_REGEXP"}
	ga4Operations      = []string{"OPERATION_UNSPECIFIED", "EQUAL", "LESS_THAN", "LESS_THAN_OR_EQUAL", "GREATER_THAN", "GREATER_THAN_OR_EQUAL"}
	ga4OrderTypes      = []string{"ORDER_TYPE_UNSPECIFIED", "ALPHANUMERIC", "CASE_INSENSITIVE_ALPHANUMERIC", "NUMERIC"}
	ga4Aggregations    = []string{"METRIC_AGGREGATION_UNSPECIFIED", "TOTAL", "", "", "COUNT", "MINIMUM", "MAXIMUM"}
	ga4Compatibilities = []string{"COMPATIBILITY_UNSPECIFIED", "COMPATIBLE", "INCOMPATIBLE"}
)

// readGA4Enum reads a value of an enum.
func readGA4Enum[T ~string](to *T, b []byte, names []string) error {
	text := strings.Trim(string(b), `"`)
	if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < len(names) {
		text = names[n]
	}
	if text == "" || !slices.Contains(names, text) {
		return fmt.Errorf("invalid value: %s", b)
	}
	*to = T(text)
	return nil
}

// UnmarshalJSON accepts a name or a number.
func (e *ga4MatchType) UnmarshalJSON(b []byte) error { return readGA4Enum(e, b, ga4MatchTypes) }

// UnmarshalJSON accepts a name or a number.
func (e *ga4Operation) UnmarshalJSON(b []byte) error { return readGA4Enum(e, b, ga4Operations) }

// UnmarshalJSON accepts a name or a number.
func (e *ga4OrderType) UnmarshalJSON(b []byte) error { return readGA4Enum(e, b, ga4OrderTypes) }

// UnmarshalJSON accepts a name or a number.
func (e *ga4Aggregation) UnmarshalJSON(b []byte) error { return readGA4Enum(e, b, ga4Aggregations) }

// UnmarshalJSON accepts a name or a number.
func (e *ga4Compatibility) UnmarshalJSON(b []byte) error {
	return readGA4Enum(e, b, ga4Compatibilities)
}
