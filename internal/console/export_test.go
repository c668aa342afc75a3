package console

import "fanfare/internal/account"

// Route is a line of the private API.
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

// UseFiles has the console serve another build.
func (c *Console) UseFiles(files map[string]*file) { c.files = files }

// These are what pages and files are made from.
var (
	ReadFiles = readFiles
	Pages     = pages
	Accepts   = accepts
)
