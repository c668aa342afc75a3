package console

import "fanfare/internal/account"

// Route is an entry of the private API.
type Route struct {
	Method, Path string
	Least        account.Role
	Open, Proof  bool
}

// Routes lists the private API.
func (c *Console) Routes() []Route {
	var list []Route
	for _, r := range c.table() {
		list = append(list, Route{r.method, r.path, r.least, r.open, r.proof})
	}
	return list
}

// UseFiles makes the console serve another build.
func (c *Console) UseFiles(files map[string]*file) { c.files = files }

// Internals for the tests of static files.
var (
	ReadFiles = readFiles
	Pages     = pages
	Accepts   = accepts
)
