package fanfaretest

import (
	"net/http"
	"testing"
)

// checkExchange holds a request and its answer against the contract.
func checkExchange(t testing.TB, r *http.Request, body []byte, res *Response) { t.Helper() }
