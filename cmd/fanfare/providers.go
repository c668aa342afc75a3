package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"fanfare/internal/app"
	"fanfare/internal/control"
	"fanfare/internal/creative"
	"fanfare/internal/ident"
	"fanfare/internal/llm/local"
	"fanfare/internal/llm/provider"
	"fanfare/internal/money"
	"fanfare/internal/secret"
)

type providerIn struct {
	WorkspaceID ident.ID               `json:"workspace_id,omitzero"`
	Kind        string                 `json:"kind,omitzero"`
	Settings    creative.ModelSettings `json:"settings,omitzero"`
	Key         string                 `json:"key,omitzero"`
}

// providerOperations returns the model provider commands that can run inside a
// server.
func providerOperations(a *app.App) map[string]control.Op {
	return map[string]control.Op{
		"provider.set": control.NewOp(func(ctx context.Context, in providerIn, _ func(control.Progress)) (provider.Listed, error) {
			if err := knownWorkspace(ctx, a, in.WorkspaceID); err != nil {
				return provider.Listed{}, err
			}
			return a.Providers.Set(ctx, operator, in.WorkspaceID, in.Kind, in.Settings, secret.New(in.Key))
		}),
		"provider.list": control.NewOp(func(ctx context.Context, in providerIn, _ func(control.Progress)) ([]provider.Listed, error) {
			if err := knownWorkspace(ctx, a, in.WorkspaceID); err != nil {
				return nil, err
			}
			return a.Providers.List(ctx, in.WorkspaceID)
		}),
		"provider.remove": control.NewOp(func(ctx context.Context, in providerIn, _ func(control.Progress)) (nothing, error) {
			return nothing{}, a.Providers.Remove(ctx, operator, in.WorkspaceID, in.Kind)
		}),
	}
}

func (c *cli) providerCommand() *cobra.Command {
	return group("provider", "Manage the language models that generate creatives", c.providerSet(), c.providerList(), c.providerRemove(), c.providerDetect(local.DefaultPorts))
}

// anyWorkspace adds the --workspace flag to a command that applies to one
// workspace or to all.
func anyWorkspace(cmd *cobra.Command, id *ident.ID) {
	cmd.Flags().StringVar((*string)(id), "workspace", "", "workspace ID (wks_…); default is all workspaces")
}

func (c *cli) providerSet() *cobra.Command {
	var in providerIn
	var keyFile, input, output, image string
	cmd := c.jsonFlag(&cobra.Command{
		Use: "set KIND", Short: "Set up a model of " + strings.Join(provider.Kinds, ", ") + " (use openai for vLLM, Ollama, LM Studio and llama.cpp)", Args: oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Kind = args[0]
			var err error
			if in.Key, err = readKey(keyFile, cmd.InOrStdin()); err != nil {
				return err
			}
			if in.Settings.Price, err = readPrice(input, output, image); err != nil {
				return err
			}
			var out provider.Listed
			if err := c.call(cmd, "provider.set", in, &out); err != nil {
				return err
			}
			if c.asJSON {
				return printJSON(cmd.OutOrStdout(), out)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is set up with model %s.\n", out.Kind, out.Model)
			if err == nil && !out.Priced {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "Its price is unknown: set --price-input and --price-output to track costs.")
			}
			return err
		},
	})
	anyWorkspace(cmd, &in.WorkspaceID)
	f := cmd.Flags()
	f.StringVar(&in.Settings.Model, "model", "", "model name")
	f.StringVar(&in.Settings.ImageModel, "image-model", "", "name of the model that generates images (default is the built-in renderer)")
	f.StringVar(&in.Settings.BaseURL, "base-url", "", "base URL of the API (default is the vendor's)")
	f.BoolVar(&in.Settings.Default, "default", false, "use this model if a request names no provider")
	f.BoolVar(&in.Settings.NoFallback, "no-fallback", false, "let a generation fail if the model does (default is that the built-in composer writes instead)")
	f.StringVar(&keyFile, "key-file", "", "file with the API key, - for standard input; omit it if the API needs no key")
	f.StringVar(&input, "price-input", "", "US dollars per million input tokens (default is the built-in table)")
	f.StringVar(&output, "price-output", "", "US dollars per million output tokens")
	f.StringVar(&image, "price-image", "0", "US dollars per image")
	require(cmd, "model")
	return cmd
}

// readKey reads a secret from a file or from standard input, because command
// lines are visible to others.
func readKey(file string, in io.Reader) (string, error) {
	var b []byte
	var err error
	switch file {
	case "":
		return "", nil
	case "-":
		b, err = io.ReadAll(io.LimitReader(in, 1<<16))
	default:
		b, err = os.ReadFile(file)
	}
	if err != nil {
		return "", fmt.Errorf("read key: %w", err)
	}
	key := strings.TrimSpace(string(b))
	if key == "" {
		return "", errors.New("the key file is empty")
	}
	return key, nil
}

func readPrice(input, output, image string) (*creative.ModelPrice, error) {
	if input == "" && output == "" {
		return nil, nil
	}
	var p creative.ModelPrice
	for _, part := range []struct {
		flag, text string
		to         *int64
	}{{"price-input", input, &p.InputMicros}, {"price-output", output, &p.OutputMicros}, {"price-image", image, &p.ImageMicros}} {
		amount, reason := money.Parse(part.text, 2)
		if reason != "" || amount.Micros < 0 {
			return nil, usageError{fmt.Errorf("--%s must be an amount in US dollars such as 2.50; set --price-input and --price-output together", part.flag)}
		}
		*part.to = amount.Micros
	}
	return &p, nil
}

func (c *cli) providerList() *cobra.Command {
	var in providerIn
	cmd := c.jsonFlag(&cobra.Command{
		Use: "list", Short: "List the configured models, without their API keys", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var out []provider.Listed
			if err := c.call(cmd, "provider.list", in, &out); err != nil {
				return err
			}
			if c.asJSON {
				return printJSON(cmd.OutOrStdout(), out)
			}
			rows := make([][]string, len(out))
			for i, l := range out {
				where, use := string(l.WorkspaceID), ""
				if where == "" {
					where = "all"
				}
				if l.Default {
					use = "default"
				}
				rows[i] = []string{l.Kind, l.Model, where, use}
			}
			return table(cmd.OutOrStdout(), "KIND\tMODEL\tWORKSPACE\tUSE", rows)
		},
	})
	anyWorkspace(cmd, &in.WorkspaceID)
	return cmd
}

// providerDetect finds model servers on this machine. It needs no server of ours
// and no data folder.
func (c *cli) providerDetect(ports local.Ports) *cobra.Command {
	return c.jsonFlag(&cobra.Command{
		Use: "detect", Short: "Find Ollama, LM Studio and llama.cpp on this machine and print how to set up their models", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			servers := local.Find(cmd.Context(), ports)
			if c.asJSON {
				return printJSON(cmd.OutOrStdout(), servers)
			}
			var b strings.Builder
			if len(servers) == 0 {
				fmt.Fprintf(&b, "No model server answers at 127.0.0.1: Ollama (port %d), LM Studio (%d), llama.cpp (%d).\n", ports.Ollama, ports.LMStudio, ports.LlamaCPP)
			}
			for _, s := range servers {
				fmt.Fprintf(&b, "%s at %s\n", s.Name, s.BaseURL)
				if s.Note != "" {
					fmt.Fprintf(&b, "  %s\n", s.Note)
				}
				for _, model := range s.Models {
					fmt.Fprintf(&b, "  %s\n", s.SetCommand(model))
				}
			}
			_, err := io.WriteString(cmd.OutOrStdout(), b.String())
			return err
		},
	})
}

func (c *cli) providerRemove() *cobra.Command {
	var in providerIn
	cmd := &cobra.Command{
		Use: "remove KIND", Short: "Remove a model and its API key", Args: oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Kind = args[0]
			return c.call(cmd, "provider.remove", in, &nothing{})
		},
	}
	anyWorkspace(cmd, &in.WorkspaceID)
	return cmd
}
