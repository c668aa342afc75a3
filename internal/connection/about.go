package connection

// Offer is a platform that can be connected here.
type Offer struct {
	About
	// Configured says that the operator is registered with it.
	Configured bool
}

// About lists what can be connected beside a sandbox.
func (s *Service) About() []Offer {
	var list []Offer
	for _, a := range s.Registry.About() {
		_, there := s.Registry.App(a.Platform)
		list = append(list, Offer{a, there})
	}
	return list
}
