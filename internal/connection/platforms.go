package connection

import "slices"

// PlatformInfo is a platform that can be connected here.
type PlatformInfo struct {
	Platform string `json:"platform"`
	Name     string `json:"name"`
	Auth     string `json:"auth"`
	// Configured says that the operator is registered with it.
	Configured       bool     `json:"configured"`
	APIVersion       *string  `json:"api_version"`
	SunsetOn         *string  `json:"sunset_on"`
	LookbackDays     int      `json:"lookback_days"`
	HistoryDays      int      `json:"history_days"`
	Scopes           []string `json:"scopes"`
	WriteScopes      []string `json:"write_scopes"`
	Capabilities     []string `json:"capabilities"`
	ConfigFields     []string `json:"config_fields"`
	CredentialFields []string `json:"credential_fields"`
}

// Platforms lists what can be connected. The sandbox is the last; it plays all
// the others, so it can do whatever one of them can.
func (s *shared) Platforms() []PlatformInfo {
	var list []PlatformInfo
	sandbox := PlatformInfo{
		Platform: PlatformSandbox, Name: "Sandbox", Auth: "none", Configured: true, Scopes: []string{}, WriteScopes: []string{},
		Capabilities: []string{}, ConfigFields: []string{"seed", "currency", "timezone"}, CredentialFields: []string{},
	}
	for _, p := range s.Registry.About() {
		_, configured := s.Registry.App(p.Platform)
		info := PlatformInfo{
			Platform: p.Platform, Name: p.Name, Auth: "oauth", Configured: configured, APIVersion: &p.Version, LookbackDays: p.LookbackDays, HistoryDays: p.HistoryDays,
			Scopes: p.Scopes, WriteScopes: p.WriteScopes, Capabilities: p.Capabilities,
			ConfigFields: []string{}, CredentialFields: []string{"access_token", "refresh_token", "client_id", "client_secret"},
		}
		if slices.Contains(serviceAccountPlatforms, p.Platform) {
			info.CredentialFields = append(info.CredentialFields, "service_account")
		}
		if p.Sunset != nil {
			day := p.Sunset.String()
			info.SunsetOn = &day
		}
		list = append(list, info)
		sandbox.LookbackDays, sandbox.HistoryDays = max(sandbox.LookbackDays, p.LookbackDays), max(sandbox.HistoryDays, p.HistoryDays)
		for _, capability := range p.Capabilities {
			if !slices.Contains(sandbox.Capabilities, capability) {
				sandbox.Capabilities = append(sandbox.Capabilities, capability)
			}
		}
	}
	return append(list, sandbox)
}
