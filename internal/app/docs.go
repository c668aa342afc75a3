package app

import (
	"fanfare"
	"fanfare/api"
	"fanfare/internal/docs"
)

// documents builds the documentation of this version.
func (a *App) documents() (*docs.Site, error) {
	c := a.config
	return docs.New(docs.Sources{Contract: api.YAML, Changelog: c.Changelog, Files: fanfare.Guides, Build: c.Build, Start: c.Now()})
}
