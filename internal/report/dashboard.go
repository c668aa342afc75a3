package report

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"fanfare/internal/body"
	"fanfare/internal/clock"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// The grid of a dashboard.
const (
	GridColumns = 12
	MaxRow      = 999
	MaxHeight   = 24
)

// Dashboard is a dashboard as the API returns it.
type Dashboard struct {
	Head
	DashboardSpec
	record.Common
}

// DashboardSpec has the fields that a caller can write. DateRange and Compare,
// if set, replace those of every tile.
type DashboardSpec struct {
	Name       string     `json:"name"`
	Visibility string     `json:"visibility"`
	DateRange  *DateRange `json:"date_range"`
	Compare    *string    `json:"compare"`
	Tiles      []Tile     `json:"tiles"`
}

// Tile is a chart at a place of the grid. It shows a saved report or a query; a
// tile without either is a heading.
type Tile struct {
	ID          string         `json:"id"`
	Title       *string        `json:"title"`
	X           int64          `json:"x"`
	Y           int64          `json:"y"`
	Width       int64          `json:"width"`
	Height      int64          `json:"height"`
	Chart       *string        `json:"chart"`
	SavedViewID *ident.ID      `json:"saved_view_id"`
	Query       jsontext.Value `json:"query"`
}

func (d *Dashboard) head() *Head            { return &d.Head }
func (d *Dashboard) common() *record.Common { return &d.Common }
func (d *Dashboard) private() bool          { return d.Visibility == private }

// CreateDashboard stores a dashboard from a request body.
func (s *Service) CreateDashboard(ctx context.Context, cause record.Cause, by Caller, sent *body.Value) (record.Doc, error) {
	d := &Dashboard{}
	var err error
	if d.DashboardSpec, err = s.parseDashboard(ctx, cause.Workspace, by, body.NewReader(sent, false), nil); err != nil {
		return record.Doc{}, err
	}
	return s.dashboards.create(ctx, cause, by, d)
}

// GetDashboard returns a dashboard that the caller may see.
func (s *Service) GetDashboard(ctx context.Context, workspace ident.ID, by Caller, id ident.ID) (record.Doc, error) {
	return s.dashboards.get(ctx, workspace, by, id)
}

// ListDashboards returns one page of the dashboards that the caller may see.
func (s *Service) ListDashboards(ctx context.Context, workspace ident.ID, by Caller, q page.Query) (page.Page, error) {
	return s.dashboards.list(ctx, workspace, by, q)
}

// UpdateDashboard applies a merge patch.
func (s *Service) UpdateDashboard(ctx context.Context, cause record.Cause, by Caller, id ident.ID, match record.Match, patch *body.Value) (record.Doc, error) {
	return s.dashboards.change(ctx, cause, by, id, match, func(d *Dashboard, _ clock.Instant) (string, error) {
		f, err := mergeWhole(d.Stored().JSON, patch, readOnly, "date_range")
		if err != nil {
			return "", err
		}
		spec, err := s.parseDashboard(ctx, cause.Workspace, by, f, &d.DashboardSpec)
		if err != nil {
			return "", err
		}
		if err := checkLive(&d.Head); err != nil {
			return "", err
		}
		if len(record.Diff(&d.DashboardSpec, &spec)) == 0 {
			return "", nil
		}
		d.DashboardSpec = spec
		return "updated", nil
	})
}

// ArchiveDashboard archives a dashboard.
func (s *Service) ArchiveDashboard(ctx context.Context, cause record.Cause, by Caller, id ident.ID, match record.Match) (record.Doc, error) {
	return s.dashboards.archive(ctx, cause, by, id, match)
}

// parseDashboard parses and checks the dashboard that a caller sent. It reports
// all problems at once.
func (s *Service) parseDashboard(ctx context.Context, workspace ident.ID, by Caller, f *body.Reader, was *DashboardSpec) (DashboardSpec, error) {
	d := DashboardSpec{Visibility: private, Tiles: []Tile{}}
	check, err := s.checker(ctx, workspace)
	if err != nil {
		return d, err
	}
	body.Set(&d.Name, f.Text("name", body.Required, 1, MaxName))
	body.Set(&d.Visibility, f.Choice("visibility", body.Optional, Visibilities))
	d.DateRange = s.readRange(f)
	d.Compare = f.Choice("compare", body.Nullable, Compares)
	for _, o := range f.Objects("tiles", MaxTiles) {
		d.Tiles = append(d.Tiles, readTile(check, o))
	}
	f.Done(readOnly...)
	d.checkGrid(f)
	if err := s.checkReports(ctx, workspace, by, f, was, &d); err != nil {
		return d, err
	}
	return d, f.Err()
}

func readTile(check CheckQuery, o *body.Reader) Tile {
	var t Tile
	body.Set(&t.ID, o.Text("id", body.Required, 1, MaxWord))
	t.Title = o.Text("title", body.Nullable, 1, MaxName)
	body.Set(&t.X, o.Integer("x", body.Required, 0, GridColumns-1))
	body.Set(&t.Y, o.Integer("y", body.Required, 0, MaxRow))
	body.Set(&t.Width, o.Integer("width", body.Required, 1, GridColumns))
	body.Set(&t.Height, o.Integer("height", body.Required, 1, MaxHeight))
	t.Chart = o.Choice("chart", body.Nullable, Charts)
	t.SavedViewID = o.ID("saved_view_id", body.Nullable)
	t.Query = readQuery(check, o)
	o.Done()
	if sent(o, "saved_view_id") && sent(o, "query") {
		o.Bad(o.At("query"), "incompatible_fields", "cannot stand beside saved_view_id.", nil)
	}
	return t
}

// checkGrid reports tiles that do not fit the grid or lie on others.
func (d *DashboardSpec) checkGrid(f *body.Reader) {
	for i, t := range d.Tiles {
		at := fmt.Sprintf("tiles[%d]", i)
		if t.X+t.Width > GridColumns {
			f.Bad(at+".width", "too_large", fmt.Sprintf("and x must not exceed %d together.", GridColumns), fault.Meta{"maximum": GridColumns - t.X})
		}
		for _, other := range d.Tiles[:i] {
			switch {
			case t.ID == other.ID && t.ID != "":
				f.Bad(at+".id", "duplicate_item", "is the id of another tile.", nil)
			case t.overlaps(&other):
				f.Bad(at, "invalid_value", "overlaps the tile "+fault.Clip(other.ID)+".", fault.Meta{"tile": fault.Clip(other.ID)})
			}
		}
	}
}

func (t *Tile) overlaps(o *Tile) bool {
	return t.X < o.X+o.Width && o.X < t.X+t.Width && t.Y < o.Y+o.Height && o.Y < t.Y+t.Height
}

// checkReports reports saved reports that the tiles cannot show: those that do
// not exist for the caller or are archived, views, and private ones on a shared
// dashboard. Reports that the dashboard has already may be archived.
func (s *Service) checkReports(ctx context.Context, workspace ident.ID, by Caller, f *body.Reader, was, d *DashboardSpec) error {
	for i, t := range d.Tiles {
		if t.SavedViewID == nil {
			continue
		}
		at := fmt.Sprintf("tiles[%d].saved_view_id", i)
		v, err := s.views.load(ctx, workspace, by, *t.SavedViewID)
		had := was != nil && slices.ContainsFunc(was.Tiles, func(o Tile) bool { return o.SavedViewID != nil && *o.SavedViewID == *t.SavedViewID })
		switch {
		case fault.Is(err, fault.NotFound) && had:
		case fault.Is(err, fault.NotFound):
			f.Problems.Add(fault.MissingRef(at, *t.SavedViewID))
		case err != nil:
			return fmt.Errorf("look up report of a tile: %w", err)
		case v.Status == StatusArchived && !had:
			f.Problems.Add(fault.ArchivedRef(at, *t.SavedViewID))
		case v.Kind != KindReport:
			f.Bad(at, "invalid_value", "is a saved view. A tile shows a saved report.", fault.Meta{"kind": v.Kind})
		case v.private() && d.Visibility == shared:
			f.Bad(at, "invalid_value", "is private, but the dashboard is shared. Share the report first.", fault.Meta{"visibility": v.Visibility})
		}
	}
	return nil
}
