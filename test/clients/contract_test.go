//go:build contract

package clients_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func init() {
	clients = append(clients,
		client{
			folder: "hey-api", inputs: []string{"package-lock.json", "openapi-ts.config.ts"}, output: "fanfare",
			generate: []string{"npm", "run", "--silent", "generate"},
			build:    []string{"npm", "run", "--silent", "build"},
			run:      []string{"node", "dist/main.js"},
			install:  packages,
		},
		client{
			folder: "python", inputs: []string{"requirements.txt", "openapi-python-client.yaml"}, output: "fanfare",
			generate: []string{".venv/bin/openapi-python-client", "generate", "--path", "../../../api/openapi.yaml", "--meta", "none", "--config", "openapi-python-client.yaml", "--output-path", "fanfare"},
			run:      []string{".venv/bin/python", "main.py"},
			install:  environment,
		})
}

// environment installs the requirements of a folder, with their hashes, into a
// virtual environment, once for each list.
func environment(folder string) error {
	wanted, err := os.ReadFile(filepath.Join(folder, "requirements.txt"))
	if err != nil {
		return err
	}
	mark := filepath.Join(folder, ".venv", ".fanfare-requirements.txt")
	if installed, err := os.ReadFile(mark); err == nil && string(installed) == string(wanted) {
		return nil
	}
	for _, command := range [][]string{
		{"python3", "-m", "venv", "--clear", ".venv"},
		{".venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", "requirements.txt"},
	} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w (Python 3.11 or newer with venv is needed; on Debian `apt-get install python3-venv`)\n%s", command, err, out)
		}
	}
	return os.WriteFile(mark, wanted, 0o600)
}
