package program

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// Packages is PackagesIn for the test's folder.
func Packages(tools ...string) error { return PackagesIn(".", tools...) }

// PackagesIn installs the packages of a folder's lock file, once for each
// version of that file. It fails if Node, npm or one of the tools is missing.
func PackagesIn(folder string, tools ...string) error {
	for _, tool := range append([]string{"node", "npm"}, tools...) {
		if _, err := exec.LookPath(tool); err != nil {
			return errors.New(tool + " is missing: run make setup, which installs it, or make test, which does both")
		}
	}
	lock, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return err
	}
	mark := filepath.Join(folder, "node_modules", ".fanfare-lock.json")
	if installed, err := os.ReadFile(mark); err == nil && bytes.Equal(installed, lock) {
		return nil
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.New("npm ci: " + err.Error() + "\n" + string(out))
	}
	return os.WriteFile(mark, lock, 0o600)
}
