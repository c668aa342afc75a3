package program

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// Packages puts in place what the lock file in the folder of a test names, once
// for each lock file. Further tools must be there besides Node.
func Packages(tools ...string) error {
	for _, tool := range append([]string{"node", "npm"}, tools...) {
		if _, err := exec.LookPath(tool); err != nil {
			return errors.New(tool + " is missing: run scripts/setup.sh all, which installs it; on Debian Node.js is `apt-get install nodejs npm`, 20 or newer")
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
