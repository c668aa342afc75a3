package microsoft

// ListGroups sets the number of ad groups whose ads are listed.
func (c *Client) ListGroups(n int) { c.groups = n }
