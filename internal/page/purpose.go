package page

// Purpose seals bytes with the current keys of a Keyring. They can be opened
// only for the same purpose.
type Purpose struct {
	keys *Keyring
	name string
}

// For returns a purpose. Stored and sent texts depend on its name, which has no
// zero byte.
func (k *Keyring) For(name string) Purpose { return Purpose{k, name} }

// Seal encrypts bytes.
func (p Purpose) Seal(plain []byte) string { return p.keys.Sealer().SealBytes(p.name, plain) }

// Open decrypts the output of Seal. It does not distinguish reasons of failure.
func (p Purpose) Open(text string) (plain []byte, ok bool) {
	return p.keys.Sealer().OpenBytes(p.name, text)
}

// Scoped is a purpose with a scope, such as a workspace. What it seals can be
// opened only for the same scope.
type Scoped[S ~string] struct{ Purpose }

// ForEach returns the purpose of each scope.
func ForEach[S ~string](k *Keyring, name string) Scoped[S] { return Scoped[S]{k.For(name + " ")} }

// Seal encrypts bytes for a scope.
func (p Scoped[S]) Seal(scope S, plain []byte) string {
	return p.keys.For(p.name + string(scope)).Seal(plain)
}

// Open decrypts the output of Seal for the same scope.
func (p Scoped[S]) Open(scope S, text string) (plain []byte, ok bool) {
	return p.keys.For(p.name + string(scope)).Open(text)
}
