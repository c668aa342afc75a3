// Package api contains the contract of the public API, openapi.yaml, and embeds
// it in the binary. The contract is written by hand, before the code. Tests
// compare the server with it, and the documentation is rendered from it.
package api

import _ "embed"

// YAML is the contract as it was written.
//
//go:embed openapi.yaml
var YAML []byte
