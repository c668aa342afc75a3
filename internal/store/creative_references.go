package store

import (
	"context"

	"fanfare/internal/campaign"
	"fanfare/internal/creative"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// CreativeReferences reads the records that a creative refers to.
type CreativeReferences struct{ db *DB }

// CreativeReferences returns the records that creatives refer to.
func (db *DB) CreativeReferences() CreativeReferences { return CreativeReferences{db} }

var _ creative.Records = CreativeReferences{}

// Campaign implements creative.Records.
func (r CreativeReferences) Campaign(ctx context.Context, workspace, id ident.ID) (c creative.CampaignContext, there, archived bool, err error) {
	v, err := r.db.Campaigns().Load(ctx, workspace, id)
	if err != nil {
		return c, false, false, unlessMissing(err)
	}
	c.Channels = v.Channels
	if v.Objective != nil {
		c.Objective = *v.Objective
	}
	if v.Tracking != nil && v.Tracking.LandingURL != nil {
		c.LandingURL = *v.Tracking.LandingURL
	}
	return c, true, v.Status == campaign.StatusArchived, nil
}

// Audience implements creative.Records.
func (r CreativeReferences) Audience(ctx context.Context, workspace, id ident.ID) (there, archived bool, err error) {
	v, err := r.db.Audiences().Load(ctx, workspace, id)
	if err != nil {
		return false, false, unlessMissing(err)
	}
	return true, v.ArchivedAt != nil, nil
}

// unlessMissing returns nil if err means that a record does not exist.
func unlessMissing(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// Workspace implements creative.Records.
func (r CreativeReferences) Workspace(ctx context.Context, workspace ident.ID) (creative.Rules, error) {
	w, err := r.db.Accounts().Workspace(ctx, workspace)
	return creative.Rules{RequireApproval: w.RequireApproval, Budget: w.ModelBudget}, err
}
