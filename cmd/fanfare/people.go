package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/control"
	"fanfare/internal/mail"
	"fanfare/internal/oidc"
	"fanfare/internal/secret"
	"fanfare/internal/signin"
)

// people reads the settings of sign-in and email. Its error lists everything
// that is wrong.
func (c *cli) people() (app.SignInConfig, error) {
	s := &c.settings
	p := app.SignInConfig{
		Mail: mail.Options{URL: secret.New(s.SMTPURL), From: s.SMTPFrom, Now: now}, OIDC: oidc.Options{Issuer: s.OIDCIssuer, ClientID: s.OIDCClientID, Name: s.OIDCName},
	}
	var faults []error
	if s.SMTPURL != "" {
		_, err := mail.New(p.Mail)
		faults = append(faults, err)
	} else if s.SMTPFrom != "" {
		faults = append(faults, errors.New("smtp-from is set without smtp-url: set smtp-url, or remove smtp-from"))
	}
	if s.OIDCSecretFile != "" {
		text, err := os.ReadFile(s.OIDCSecretFile)
		if err != nil {
			faults = append(faults, fmt.Errorf("oidc-client-secret-file: %w: use a file that the server can read", err))
		}
		p.OIDC.ClientSecret = secret.New(strings.TrimSpace(string(text)))
	}
	if s.OIDCIssuer != "" {
		faults = append(faults, p.OIDC.Check())
	} else if s.OIDCClientID+s.OIDCSecretFile+s.OIDCName != "" {
		faults = append(faults, errors.New("other oidc settings are set without oidc-issuer: set oidc-issuer, or remove them"))
	}
	return p, errors.Join(faults...)
}

type resetIn struct {
	Email              string `json:"email"`
	RemoveSecondFactor bool   `json:"whole,omitzero"`
}

// peopleOperations returns the commands for users who sign in.
func peopleOperations(a *app.App) map[string]control.Op {
	return map[string]control.Op{
		"user.invite": control.NewOp(func(ctx context.Context, in userIn, _ func(control.Progress)) (signin.Link, error) {
			if _, err := a.Accounts.Workspace(ctx, in.WorkspaceID); err != nil {
				return signin.Link{}, err
			}
			return a.SignIn.Invite(ctx, operator, in.WorkspaceID, in.Email, in.Role)
		}),
		"user.reset": control.NewOp(func(ctx context.Context, in resetIn, _ func(control.Progress)) (signin.Link, error) {
			if in.RemoveSecondFactor {
				return a.SignIn.ResetWhole(ctx, operator, in.Email)
			}
			return a.SignIn.Reset(ctx, operator, in.Email)
		}),
	}
}

func (c *cli) userInvite() *cobra.Command {
	var in userIn
	cmd := c.jsonFlag(&cobra.Command{
		Use: "invite", Short: "Create an invite link for a new member of a workspace", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.printLink(cmd, "user.invite", in) },
	})
	workspaceFlag(cmd, &in.WorkspaceID)
	cmd.Flags().StringVar(&in.Email, "email", "", "email of the user")
	cmd.Flags().StringVar(&in.Role, "role", string(account.Viewer), strings.Join(account.Roles, ", "))
	require(cmd, "email")
	return cmd
}

func (c *cli) userReset() *cobra.Command {
	var in resetIn
	cmd := c.jsonFlag(&cobra.Command{
		Use: "reset", Short: "Create a link to reset the password of a user", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.printLink(cmd, "user.reset", in) },
	})
	cmd.Flags().StringVar(&in.Email, "email", "", "email of the user")
	cmd.Flags().BoolVar(&in.RemoveSecondFactor, "second-step", false, "also remove the second factor, for a user who has lost it")
	require(cmd, "email")
	return cmd
}

func (c *cli) printLink(cmd *cobra.Command, op string, in any) error {
	var out signin.Link
	if err := c.call(cmd, op, in, &out); err != nil {
		return err
	}
	if c.asJSON {
		return printJSON(cmd.OutOrStdout(), out)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "Link     %s\nExpires  %s\nThe link works once. Send it only to this person.\n", out.URL, out.ExpiresAt)
	return err
}
