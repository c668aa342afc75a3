package signin

// HashCheaply makes hashes cheap, for tests that do not test hashing.
func (s *Service) HashCheaply() { s.memory = 64 }
