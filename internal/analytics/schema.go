package analytics

import (
	"encoding/json"
	"slices"

	"fanfare/internal/fact"
)

// Schema lists everything that a query can contain, for clients that build
// queries.
type Schema struct {
	Metrics       []Metric          `json:"metrics"`
	Dimensions    []SchemaDimension `json:"dimensions"`
	Families      []SchemaFamily    `json:"families"`
	Operators     SchemaOperators   `json:"operators"`
	Granularities []Granularity     `json:"granularities"`
	Presets       []string          `json:"presets"`
	Comparisons   []string          `json:"comparisons"`
	Limits        SchemaLimits      `json:"limits"`
}

// SchemaDimension is a dimension with the dimensions that it cannot be combined
// with.
type SchemaDimension struct {
	Dimension
	Allowed      []string `json:"allowed"`
	Families     []string `json:"families"`
	Incompatible []string `json:"incompatible_with"`
}

// SchemaFamily is a report family and its dimensions.
type SchemaFamily struct {
	Name       string   `json:"name"`
	Dimensions []string `json:"dimensions"`
}

// SchemaOperators has the operators for dimensions and for metrics.
type SchemaOperators struct {
	Dimension []Op `json:"dimension"`
	Metric    []Op `json:"metric"`
}

// SchemaLimits are the limits of a query.
type SchemaLimits struct {
	Metrics      int `json:"metrics"`
	Dimensions   int `json:"dimensions"`
	Months       int `json:"months"`
	OrderBy      int `json:"order_by"`
	DefaultLimit int `json:"default_limit"`
	MaxLimit     int `json:"max_limit"`
	Rows         int `json:"rows"`
	Seconds      int `json:"seconds"`
	FilterDepth  int `json:"filter_depth"`
	Filters      int `json:"filters"`
	FilterValues int `json:"filter_values"`
}

// Describe returns the schema of the catalog.
func Describe() *Schema {
	s := &Schema{
		Metrics: Metrics, Granularities: Granularities, Presets: Presets, Comparisons: Comparisons,
		Operators: SchemaOperators{DimensionOps, MetricOps},
		Limits: SchemaLimits{
			MaxMetrics, MaxDimensions, MaxMonths, MaxOrder, DefaultLimit, MaxLimit, MaxRows, int(queryTimeout.Seconds()), MaxDepth, MaxLeaves, MaxValues,
		},
	}
	for _, f := range everyFamily {
		family := SchemaFamily{Name: f.String()}
		for _, d := range Dimensions {
			if slices.Contains(d.families, f) {
				family.Dimensions = append(family.Dimensions, d.Name)
			}
		}
		s.Families = append(s.Families, family)
	}
	for _, d := range Dimensions {
		shown := SchemaDimension{Dimension: d, Allowed: d.Allowed, Incompatible: []string{}}
		if shown.Allowed == nil {
			shown.Allowed = []string{}
		}
		for _, f := range d.families {
			shown.Families = append(shown.Families, f.String())
		}
		for _, other := range Dimensions {
			if !slices.ContainsFunc(other.families, func(f fact.Family) bool { return slices.Contains(d.families, f) }) {
				shown.Incompatible = append(shown.Incompatible, other.Name)
			}
		}
		s.Dimensions = append(s.Dimensions, shown)
	}
	return s
}

// SchemaJSON is the schema as JSON. It is constant.
var SchemaJSON = func() []byte {
	b, err := json.Marshal(Describe())
	if err != nil {
		panic("analytics: schema: " + err.Error())
	}
	return b
}()
