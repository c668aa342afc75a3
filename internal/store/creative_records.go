package store

import (
	"context"

	"fanfare/internal/campaign"
	"fanfare/internal/creative"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// CreativeRecords reads the records that a creative refers to.
type CreativeRecords struct{ db *DB }

// CreativeRecords returns the records that creatives refer to.
func (db *DB) CreativeRecords() CreativeRecords { return CreativeRecords{db} }

var _ creative.Records = CreativeRecords{}

// Campaign implements creative.Records.
func (r CreativeRecords) Campaign(ctx context.Context, workspace, id ident.ID) (c creative.CampaignContext, there, archived bool, err error) {
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
func (r CreativeRecords) Audience(ctx context.Context, workspace, id ident.ID) (there, archived bool, err error) {
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
func (r CreativeRecords) Workspace(ctx context.Context, workspace ident.ID) (creative.Rules, error) {
	w, err := r.db.Accounts().Workspace(ctx, workspace)
	return creative.Rules{RequireApproval: w.RequireApproval, Budget: w.ModelBudget}, err
}
