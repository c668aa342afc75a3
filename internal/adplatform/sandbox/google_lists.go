package sandbox

import "iter"

// Lists of resources without metrics. base has the call and the customer.

func listNothing(googleRow) iter.Seq[googleRow] {
	return func(func(googleRow) bool) {}
}

func listCustomer(base googleRow) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) { yield(base) }
}

func listClients(base googleRow) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) {
		for _, client := range base.tree.below(base.customer) {
			base.client = &client
			if !yield(base) {
				return
			}
		}
	}
}

func listUserLists(base googleRow) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) {
		for _, base.audience = range base.a.Audiences {
			if !yield(base) {
				return
			}
		}
	}
}

func listConversionActions(base googleRow) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) {
		for _, base.action = range googleActions(base.s, base.a) {
			if !yield(base) {
				return
			}
		}
	}
}

func listCampaigns(base googleRow) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) {
		for _, base.Campaign = range base.a.Campaigns {
			if !yield(base) {
				return
			}
		}
	}
}

// hasAssetGroups reports whether a campaign has asset groups instead of ads.
func hasAssetGroups(c *Campaign) bool { return c.Kind == "performance_max" }

func listAssetGroups(base googleRow) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) {
		for line := range listCampaigns(base) {
			if hasAssetGroups(line.Campaign) && !yield(line) {
				return
			}
		}
	}
}

func listGroups(base googleRow) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) {
		for line := range listCampaigns(base) {
			for _, line.Group = range line.Campaign.Groups {
				if !yield(line) {
					return
				}
			}
		}
	}
}

func listAds(base googleRow) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) {
		for line := range listGroups(base) {
			for _, line.Ad = range line.Group.Ads {
				if !yield(line) {
					return
				}
			}
		}
	}
}

func listCriteria(base googleRow) iter.Seq[googleRow] {
	return func(yield func(googleRow) bool) {
		for line := range listGroups(base) {
			if line.Group.Audience != nil && !yield(line) {
				return
			}
		}
	}
}
