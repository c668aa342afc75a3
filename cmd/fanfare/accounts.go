package main

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fanfare/internal/account"
	"fanfare/internal/clock"
	"fanfare/internal/ident"
)

func (c *cli) workspaceCommand() *cobra.Command {
	var n account.NewWorkspace
	create := c.jsonFlag(&cobra.Command{
		Use: "create", Short: "Create a workspace with its owner and a first API key", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out account.Created
			if err := c.call(cmd, "workspace.create", n, &out); err != nil {
				return err
			}
			if c.asJSON {
				return printJSON(cmd.OutOrStdout(), out)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "Workspace  %s\nOwner      %s (%s)\nAPI key    %s\nThe key is shown only once. Store it in a safe place.\n", out.WorkspaceID, n.Owner, out.UserID, out.APIKey)
			return err
		},
	})
	f := create.Flags()
	f.StringVar(&n.Name, "name", "", "workspace name")
	f.StringVar(&n.Plan, "plan", string(account.Starter), strings.Join(account.Plans, ", "))
	f.StringVar(&n.Owner, "owner", "", "email of the owner")
	f.StringVar(&n.Currency, "currency", "USD", "currency of the workspace (ISO 4217 code)")
	f.StringVar(&n.Timezone, "timezone", "UTC", "time zone of the workspace (IANA name)")
	require(create, "name", "owner")

	list := c.jsonFlag(&cobra.Command{
		Use: "list", Short: "List all workspaces", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out []account.Workspace
			if err := c.call(cmd, "workspace.list", nothing{}, &out); err != nil {
				return err
			}
			if c.asJSON {
				return printJSON(cmd.OutOrStdout(), out)
			}
			rows := make([][]string, len(out))
			for i, w := range out {
				state := "open"
				if w.Suspended {
					state = "suspended"
				}
				rows[i] = []string{string(w.ID), w.Name, string(w.Plan), w.Timezone, string(w.Currency), state}
			}
			return table(cmd.OutOrStdout(), "ID\tNAME\tPLAN\tTIMEZONE\tCURRENCY\tSTATE", rows)
		},
	})

	var in workspaceIn
	setPlan := c.changeWorkspace("set-plan", "Change the plan of a workspace", &in)
	setPlan.Flags().StringVar(&in.Plan, "plan", "", strings.Join(account.Plans, ", "))
	require(setPlan, "plan")
	var reopen bool
	suspend := c.changeWorkspace("suspend", "Suspend a workspace, or reopen it; its API keys stop working while it is suspended", &in)
	suspend.Flags().BoolVar(&reopen, "reopen", false, "reopen a suspended workspace")
	suspend.PreRun = func(*cobra.Command, []string) { in.Suspended = !reopen }
	approval := c.changeWorkspace("set-approval", "Set whether creatives need approval before campaigns can use them", &in)
	approval.Flags().BoolVar(&in.RequireApproval, "required", true, "whether approval is required")
	budget := c.changeWorkspace("set-model-budget", "Set the monthly budget for language models", &in)
	budget.Flags().StringVar(&in.ModelBudget, "monthly", "", "budget in US dollars, such as 50.00, or none for no limit")
	require(budget, "monthly")
	return group("workspace", "Manage workspaces and their plans", create, list, setPlan, suspend, approval, budget)
}

func (c *cli) changeWorkspace(name, short string, in *workspaceIn) *cobra.Command {
	cmd := c.jsonFlag(&cobra.Command{
		Use: name, Short: short, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out account.Workspace
			if err := c.call(cmd, "workspace."+name, *in, &out); err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), out)
		},
	})
	workspaceFlag(cmd, &in.WorkspaceID)
	return cmd
}

func (c *cli) userCommand() *cobra.Command {
	var in userIn
	change := func(name, short string, withRole bool) *cobra.Command {
		cmd := c.jsonFlag(&cobra.Command{
			Use: name, Short: short, Args: noArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				var out account.Member
				if err := c.call(cmd, "user."+name, in, &out); err != nil {
					return err
				}
				return printJSON(cmd.OutOrStdout(), out)
			},
		})
		workspaceFlag(cmd, &in.WorkspaceID)
		cmd.Flags().StringVar(&in.Email, "email", "", "email of the user")
		require(cmd, "email")
		if withRole {
			cmd.Flags().StringVar(&in.Role, "role", string(account.Viewer), strings.Join(account.Roles, ", "))
		}
		return cmd
	}
	create, setRole := change("create", "Add a user to a workspace", true), change("set-role", "Change the role of a user", true)
	require(setRole, "role")
	create.Flags().BoolVar(&in.Service, "service", false, "create a service account: a user that cannot sign in, for integrations")
	list := c.jsonFlag(&cobra.Command{
		Use: "list", Short: "List the users of a workspace", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out []account.Member
			if err := c.call(cmd, "user.list", in, &out); err != nil {
				return err
			}
			if c.asJSON {
				return printJSON(cmd.OutOrStdout(), out)
			}
			rows := make([][]string, len(out))
			for i, m := range out {
				rows[i] = []string{string(m.ID), m.Email, string(m.Role), moment(m.InactiveAt, "active")}
			}
			return table(cmd.OutOrStdout(), "ID\tEMAIL\tROLE\tREMOVED", rows)
		},
	})
	workspaceFlag(list, &in.WorkspaceID)
	return group("user", "Manage users and their roles", create, list, setRole,
		change("remove", "Remove a user from a workspace; the user's API keys stop working immediately", false), c.userInvite(), c.userReset())
}

func (c *cli) keyCommand() *cobra.Command {
	var in keyIn
	return group("key", "Manage API keys", c.keyCreate(&in), c.keyList(&in), c.keyRotate(&in), c.keyRevoke(&in))
}

func (c *cli) keyCreate(in *keyIn) *cobra.Command {
	var expires time.Duration
	var scopes, addresses []string
	cmd := c.jsonFlag(&cobra.Command{
		Use: "create", Short: "Create an API key with the permissions of a user; the key is shown once", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if in.Seconds, err = seconds("expires", expires); err != nil {
				return err
			}
			for _, s := range scopes {
				family, access, ok := strings.Cut(s, ":")
				if !ok {
					return usageError{fmt.Errorf("--scope %q must be family:read or family:write", s)}
				}
				if in.Scopes == nil {
					in.Scopes = account.Scopes{}
				}
				in.Scopes[family] = account.Access(access)
			}
			for _, a := range addresses {
				p, err := netip.ParsePrefix(a)
				if err != nil {
					return usageError{fmt.Errorf("--ip %q must be a CIDR such as 203.0.113.0/24", a)}
				}
				in.Addresses = append(in.Addresses, p)
			}
			return c.printKey(cmd, "key.create", *in)
		},
	})
	workspaceFlag(cmd, &in.WorkspaceID)
	f := cmd.Flags()
	f.StringVar(&in.User, "user", "", "email of the user whose permissions the key has")
	f.StringVar(&in.Name, "name", "", "what the key is for")
	f.DurationVar(&expires, "expires", 90*24*time.Hour, "how long the key is valid; 0 means that it never expires")
	f.StringArrayVar(&scopes, "scope", nil, "limit the key to family:read or family:write, such as campaigns:read; repeat for more")
	f.StringArrayVar(&addresses, "ip", nil, "allow calls only from this CIDR; repeat for more")
	require(cmd, "user", "name")
	return cmd
}

func (c *cli) printKey(cmd *cobra.Command, op string, in keyIn) error {
	var out keyOut
	if err := c.call(cmd, op, in, &out); err != nil {
		return err
	}
	if c.asJSON {
		return printJSON(cmd.OutOrStdout(), out)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "Key      %s\nAPI key  %s\nThe key is shown only once. Store it in a safe place.\n", out.ID, out.APIKey)
	return err
}

func (c *cli) keyList(in *keyIn) *cobra.Command {
	cmd := c.jsonFlag(&cobra.Command{
		Use: "list", Short: "List the API keys of a workspace, without their secrets", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out []account.Key
			if err := c.call(cmd, "key.list", *in, &out); err != nil {
				return err
			}
			if c.asJSON {
				return printJSON(cmd.OutOrStdout(), out)
			}
			rows := make([][]string, len(out))
			for i, k := range out {
				rows[i] = []string{
					string(k.ID), k.Name, account.KeyPrefix + "…" + k.Last4, moment(k.ExpiresAt, "never"),
					moment(k.LastUsedAt, "never"), fmt.Sprint(k.Requests30d), moment(k.RevokedAt, ""),
				}
			}
			return table(cmd.OutOrStdout(), "ID\tNAME\tKEY\tEXPIRES\tLAST USED\tCALLS 30 D\tREVOKED", rows)
		},
	})
	workspaceFlag(cmd, &in.WorkspaceID)
	return cmd
}

func (c *cli) keyRotate(in *keyIn) *cobra.Command {
	var overlap time.Duration
	cmd := c.jsonFlag(&cobra.Command{
		Use: "rotate KEY_ID", Short: "Replace an API key; the old key works until the overlap ends", Args: oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if in.Seconds, err = seconds("overlap", overlap); err != nil {
				return err
			}
			in.KeyID = ident.ID(args[0])
			return c.printKey(cmd, "key.rotate", *in)
		},
	})
	workspaceFlag(cmd, &in.WorkspaceID)
	cmd.Flags().DurationVar(&overlap, "overlap", 24*time.Hour, "how long the old key keeps working")
	return cmd
}

func (c *cli) keyRevoke(in *keyIn) *cobra.Command {
	cmd := c.jsonFlag(&cobra.Command{
		Use: "revoke KEY_ID", Short: "Revoke an API key immediately", Args: oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.KeyID = ident.ID(args[0])
			var out account.Key
			if err := c.call(cmd, "key.revoke", *in, &out); err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), out)
		},
	})
	workspaceFlag(cmd, &in.WorkspaceID)
	return cmd
}

// seconds converts a duration to seconds. It refuses a negative one and one
// below a second.
func seconds(flag string, d time.Duration) (int64, error) {
	if d < 0 || d > 0 && d < time.Second {
		return 0, usageError{fmt.Errorf("--%s %s must be 0 or at least a second, such as 24h", flag, d)}
	}
	return int64(d / time.Second), nil
}

func workspaceFlag(cmd *cobra.Command, id *ident.ID) {
	cmd.Flags().StringVar((*string)(id), "workspace", "", "workspace ID (wks_…)")
	require(cmd, "workspace")
}

func require(cmd *cobra.Command, flags ...string) {
	for _, f := range flags {
		if err := cmd.MarkFlagRequired(f); err != nil {
			panic(err)
		}
	}
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no argument, got %q", cmd.CommandPath(), args[0])}
	}
	return nil
}

func oneArg(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{errors.New("usage: " + cmd.UseLine())}
	}
	return nil
}

func moment(i *clock.Instant, none string) string {
	if i == nil {
		return none
	}
	return i.String()
}
