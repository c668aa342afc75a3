package fact

// VariantMetrics are the metrics of a variant or creative. In the zero value they are unknown.
type VariantMetrics struct {
	Impressions Number `json:"impressions"`
	Clicks      Number `json:"clicks"`
	CTR         Number `json:"ctr"`
	Conversions Number `json:"conversions"`
	CVR         Number `json:"cvr"`
	Spend       Number `json:"spend"`
	CPA         Number `json:"cpa"`
}
