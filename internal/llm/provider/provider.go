// Package provider lists and opens the providers that generate creatives for a
// workspace: the built-in composer, and the language models that an operator
// has set up. Keys of models are sealed in the store and opened only for use.
package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fanfare/internal/clock"
	"fanfare/internal/creative"
	"fanfare/internal/creative/copywriter"
	"fanfare/internal/creative/shorten"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/llm"
	"fanfare/internal/outbound"
	"fanfare/internal/record"
	"fanfare/internal/seal"
	"fanfare/internal/secret"
)

// Listed is a provider in a list, without its key.
type Listed struct {
	WorkspaceID ident.ID `json:"workspace_id"`
	Kind        string   `json:"kind"`
	creative.ModelSettings
	Priced bool `json:"priced"`
}

// Service lists and opens providers.
type Service struct {
	setups   creative.Setups
	ring     *seal.Ring
	composer creative.Provider
	client   *outbound.Client
	policy   outbound.Policy
	now      func() time.Time

	mu sync.Mutex
	// learned is what the servers have refused, for the life of the process.
	learned map[learnedKey]*llm.Learned
}

// learnedKey are the settings that decide what a server takes.
type learnedKey struct {
	workspace            ident.ID
	kind, baseURL, model string
}

var _ creative.ProviderCatalog = (*Service)(nil)

// New returns the service. policy limits the addresses of models; without a
// ring, no model can be set up.
func New(setups creative.Setups, ring *seal.Ring, policy outbound.Policy, now func() time.Time) (*Service, error) {
	client, err := NewClient(policy)
	if err != nil {
		return nil, fmt.Errorf("make client for models: %w", err)
	}
	return &Service{setups: setups, ring: ring, composer: builtIn{copywriter.New()}, client: client, policy: policy, now: now, learned: map[learnedKey]*llm.Learned{}}, nil
}

// builtIn is the composer. It draws no pictures; Painter does.
type builtIn struct{ *copywriter.Writer }

// Paint implements creative.Provider.
func (builtIn) Paint(context.Context, *creative.Brief, *creative.Draft, creative.Shape, string) (*creative.Picture, creative.Usage, error) {
	return nil, creative.Usage{}, creative.ErrNoPictures
}

// Set stores the settings and the key of a model. An empty workspace means all
// workspaces.
func (s *Service) Set(ctx context.Context, cause record.Cause, workspace ident.ID, kind string, settings creative.ModelSettings, key secret.Text) (Listed, error) {
	if s.ring == nil {
		return Listed{}, errors.New("there is no master key to seal the provider's key with; set --master-key")
	}
	if err := Check(kind, settings, s.policy); err != nil {
		return Listed{}, fault.Invalid([]fault.Detail{{Field: "provider", Code: "invalid_value", Message: err.Error() + "."}})
	}
	old, err := s.findSetup(ctx, workspace, kind)
	if err != nil {
		return Listed{}, err
	}
	settings.Version = 1
	if old != nil && old.Workspace == workspace {
		settings.Version = old.Settings.Version + 1
	}
	sealed, err := s.ring.Seal(sealContext(workspace, kind, settings.Version), key)
	if err != nil {
		return Listed{}, fmt.Errorf("seal key of %s: %w", kind, err)
	}
	setup := creative.Setup{Workspace: workspace, Kind: kind, Settings: settings, Sealed: sealed}
	cause.Workspace = workspace
	return toListed(&setup, s.now()), s.setups.Put(ctx, setup, cause, clock.At(s.now()))
}

// sealContext returns the context that a key is sealed with.
func sealContext(workspace ident.ID, kind string, version int64) seal.Context {
	where := string(workspace)
	if where == "" {
		where = "server"
	}
	return seal.Context{Workspace: where, Record: kind, Field: "key", Version: version}
}

func toListed(s *creative.Setup, now time.Time) Listed {
	_, known := llm.PriceOf(s.Settings.Model, now)
	return Listed{WorkspaceID: s.Workspace, Kind: s.Kind, ModelSettings: s.Settings, Priced: known || s.Settings.Price != nil}
}

// Remove deletes a model and its key.
func (s *Service) Remove(ctx context.Context, cause record.Cause, workspace ident.ID, kind string) error {
	cause.Workspace = workspace
	there, err := s.setups.Drop(ctx, workspace, kind, cause, clock.At(s.now()))
	if err == nil && !there {
		return fault.Missing()
	}
	return err
}

// RewrapShared is Rewrap for the models that all workspaces can use.
func (s *Service) RewrapShared(ctx context.Context, cause record.Cause) (int, error) {
	return s.Rewrap(ctx, cause, "")
}

// Rewrap encrypts the keys of a workspace's models with the active master key
// and returns how many it changed. An empty workspace means the models that all
// workspaces can use.
func (s *Service) Rewrap(ctx context.Context, cause record.Cause, workspace ident.ID) (n int, err error) {
	setups, err := s.setups.Setups(ctx, workspace)
	if err != nil || s.ring == nil {
		return 0, err
	}
	cause.Workspace = workspace
	for _, setup := range setups {
		if setup.Workspace != workspace {
			continue
		}
		sealed, err := s.ring.Rewrap(setup.Sealed)
		if err != nil {
			return n, fmt.Errorf("key of %s: %w", setup.Kind, err)
		}
		if sealed == setup.Sealed {
			continue
		}
		setup.Sealed = sealed
		if err := s.setups.Put(ctx, setup, cause, clock.At(s.now())); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// List returns the models that a workspace can use, its own first.
func (s *Service) List(ctx context.Context, workspace ident.ID) ([]Listed, error) {
	setups, err := s.setups.Setups(ctx, workspace)
	if err != nil {
		return nil, err
	}
	list := []Listed{}
	for i := range setups {
		if !slices.ContainsFunc(list, func(l Listed) bool { return l.Kind == setups[i].Kind }) {
			list = append(list, toListed(&setups[i], s.now()))
		}
	}
	return list, nil
}

// Names returns the providers that a workspace can use, its default first.
func (s *Service) Names(ctx context.Context, workspace ident.ID) ([]string, error) {
	list, err := s.List(ctx, workspace)
	if err != nil {
		return nil, err
	}
	names := []string{creative.BuiltIn}
	for _, l := range list {
		names = append(names, l.Kind)
	}
	if i := slices.IndexFunc(list, func(l Listed) bool { return l.Default }); i >= 0 {
		names = slices.DeleteFunc(names, func(name string) bool { return name == list[i].Kind })
		names = slices.Insert(names, 0, list[i].Kind)
	}
	return names, nil
}

// findSetup returns the setup that a workspace uses, nil if there is none.
func (s *Service) findSetup(ctx context.Context, workspace ident.ID, kind string) (*creative.Setup, error) {
	setups, err := s.setups.Setups(ctx, workspace)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(setups, func(x creative.Setup) bool { return x.Kind == kind })
	if i < 0 {
		return nil, nil
	}
	return &setups[i], nil
}

// Open returns a provider that is ready for use.
func (s *Service) Open(ctx context.Context, workspace ident.ID, name string) (creative.OpenProvider, error) {
	if name == creative.BuiltIn {
		return creative.OpenProvider{Provider: s.composer, Quick: true, Priced: true}, nil
	}
	setup, err := s.findSetup(ctx, workspace, name)
	if err != nil {
		return creative.OpenProvider{}, err
	}
	if setup == nil {
		return creative.OpenProvider{}, creative.Fail(creative.FailCredentials, true, "Provider %s is not configured any more. Have the operator set it up, or generate with provider %s.", name, creative.BuiltIn)
	}
	open := creative.OpenProvider{Priced: toListed(setup, s.now()).Priced, NoFallback: setup.Settings.NoFallback}
	if s.ring == nil {
		return open, creative.Fail(creative.FailCredentials, true, "The key of provider %s cannot be opened: the server has no master key.", name)
	}
	key, err := s.ring.Open(sealContext(setup.Workspace, name, setup.Settings.Version), setup.Sealed)
	if err != nil {
		return open, creative.Fail(creative.FailCredentials, true, "The key of provider %s cannot be opened with this server's master key. Set it up again.", name).Because(err)
	}
	if open.Provider, err = Open(name, setup.Settings, key, s.client, shorten.Text, s.learnedOf(setup), s.now); err != nil {
		return open, fmt.Errorf("open provider %s: %w", name, err)
	}
	return open, nil
}

// learnedOf returns what the server of a setup has refused so far.
func (s *Service) learnedOf(setup *creative.Setup) *llm.Learned {
	key := learnedKey{setup.Workspace, setup.Kind, setup.Settings.BaseURL, setup.Settings.Model}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.learned[key] == nil {
		s.learned[key] = &llm.Learned{}
	}
	return s.learned[key]
}
