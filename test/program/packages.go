package program

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// Packages installs what the lock file in the test's folder names, once for each
// version of that file. It fails if Node, npm or one of the tools is missing.
func Packages(tools ...string) error {
	for _, tool := range append([]string{"node", "npm"}, tools...) {
		if _, err := exec.LookPath(tool); err != nil {
			return errors.New(tool + " is missing: run make setup, which installs it, or make test, which does both")
		}
	}
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		return err
	}
	mark := filepath.Join("node_modules", ".fanfare-lock.json")
	if installed, err := os.ReadFile(mark); err == nil && bytes.Equal(installed, lock) {
		return nil
	}
	if out, err := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund").CombinedOutput(); err != nil {
		return errors.New("npm ci: " + err.Error() + "\n" + string(out))
	}
	return os.WriteFile(mark, lock, 0o600)
}
