package signin

// HashCheaply makes hashes that are good for nothing but tests of everything
// else.
func (s *Service) HashCheaply() { s.memory = 64 }
