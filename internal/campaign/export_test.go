package campaign

// Pages are short in tests, so that a few campaigns fill two.
func init() { followed = 20 }
