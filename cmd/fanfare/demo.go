package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fanfare/internal/account"
	"fanfare/internal/demo"
	"fanfare/internal/ident"
)

const (
	demoFolder = "./fanfare-demo"
	demoOwner  = "demo@example.com"
	demoKey    = "Demo"
	// demoLinkLife is how long the sign-in link of the console is valid.
	demoLinkLife = 10 * time.Minute
)

func (c *cli) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "Start a server with demo data and print an API key", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f := cmd.Flags().Lookup("data"); !f.Changed {
				f.DefValue = demoFolder
				c.settings.Data = demoFolder
			}
			s, err := c.startServer(cmd)
			if err != nil {
				return err
			}
			key, err := s.prepareDemo(cmd.Context())
			if err != nil {
				_ = s.close()
				return err
			}
			password, err := s.ensureDemoPassword(cmd.Context())
			if err != nil {
				_ = s.close()
				return err
			}
			link, err := s.app.SignIn.SignInLink(cmd.Context(), demoOwner, demoLinkLife)
			if err != nil {
				_ = s.close()
				return err
			}
			s.welcome(cmd, key, link.URL, password)
			return s.serveUntilDone(cmd.Context())
		},
	}
}

// prepareDemo fills the workspace on the first run. It creates a new key on
// every run, because a key can be shown only once.
func (s *server) prepareDemo(ctx context.Context) (string, error) {
	acc := s.app.Accounts
	workspaces, err := acc.Workspaces(ctx)
	if err != nil {
		return "", err
	}
	var id ident.ID
	for _, w := range workspaces {
		if w.Name == demo.Workspace {
			id = w.ID
		}
	}
	if id == "" {
		made, err := acc.CreateWorkspace(ctx, operator, account.NewWorkspace{
			Name: demo.Workspace, Plan: string(account.Growth), Owner: demoOwner, Currency: "USD", Timezone: "UTC",
		})
		if err != nil {
			return "", err
		}
		id = made.WorkspaceID
		if err := (demo.Services{Campaigns: s.app.Campaigns, Creatives: s.app.Creatives, Audiences: s.app.Audiences, Connections: s.app.Connections}).Fill(ctx, id, now()); err != nil {
			return "", err
		}
	}
	keys, err := acc.Keys(ctx, id)
	if err != nil {
		return "", err
	}
	for _, k := range keys {
		if k.RevokedAt == nil {
			if _, err := acc.Revoke(ctx, operator, id, k.ID, "demo_restarted"); err != nil {
				return "", err
			}
		}
	}
	secret, _, err := acc.CreateKey(ctx, operator, id, demoOwner, account.KeyOptions{Name: demoKey})
	return secret, err
}

// ensureDemoPassword sets the owner's password at the first start and returns it
// at every start, so that any browser can sign in at any time. It returns an
// empty string if the owner has chosen another password.
//
// Choice: the password is stored in the demo's folder, beside its certificate's
// key. A fixed password would give access to every demo that is reachable over
// the network.
func (s *server) ensureDemoPassword(ctx context.Context) (string, error) {
	file := s.dir.Path("demo-password")
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		letters := strings.ToLower(rand.Text())
		b = []byte(letters[:4] + "-" + letters[4:8] + "-" + letters[8:12] + "-" + letters[12:16] + "\n")
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("save the demo password: %w", err)
	}
	password := strings.TrimSpace(string(b))
	works, err := s.app.SignIn.Preset(ctx, demoOwner, password)
	if err != nil || !works {
		return "", err
	}
	return password, nil
}

// welcome prints what a new user needs. The example call is a single line that
// works when pasted. No other line contains curl.
func (s *server) welcome(cmd *cobra.Command, key, console, password string) {
	w := cmd.OutOrStdout()
	ca, _ := s.listener.Authority()
	trust := ""
	if ca != "" {
		trust = " --cacert " + shellQuote(ca)
	}
	fmt.Fprintf(w, "\nFanfare %s with demo data in %s\n", version, s.dir.Path())
	origin, _, _ := strings.Cut(console, "/link#")
	fmt.Fprintf(w, "Console  %s  (signs you in once, within 10 minutes)\n", console)
	if password == "" {
		password = "the one you chose"
	}
	fmt.Fprintf(w, "Sign in  %s as %s, password %s\n", origin, demoOwner, password)
	fmt.Fprintf(w, "Docs     %s/docs\n", origin)
	fmt.Fprintf(w, "This API key is new at every start and is shown only once. Try it:\n\n")
	fmt.Fprintf(w, "curl -s%s %s/v1/campaigns -H \"Authorization: Bearer %s\"\n\n", trust, s.url(), key)
	fmt.Fprintf(w, "Stop with Ctrl-C.\n")
}

// shellQuote quotes a string that a shell would not read as one word.
func shellQuote(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("/._-+", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
