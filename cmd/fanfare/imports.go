package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"fanfare/internal/account"
	"fanfare/internal/app"
	"fanfare/internal/body"
	"fanfare/internal/connection"
	"fanfare/internal/control"
	"fanfare/internal/fact"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/ingest"
	"fanfare/internal/money"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

type importIn struct {
	// WorkspaceID may be empty if only one workspace exists.
	WorkspaceID ident.ID `json:"workspace_id,omitzero"`
	ID          ident.ID `json:"id,omitzero"`
	// Path is the path of the file on the server.
	Path       string            `json:"path,omitzero"`
	Source     string            `json:"source,omitzero"`
	Currency   money.Currency    `json:"currency,omitzero"`
	Timezone   string            `json:"timezone,omitzero"`
	Mode       ingest.Mode       `json:"mode,omitzero"`
	Mapping    map[string]string `json:"mapping,omitzero"`
	DateFormat string            `json:"date_format,omitzero"`
	SkipErrors bool              `json:"skip_errors,omitzero"`
	Limit      int               `json:"limit,omitzero"`
}

// importOperations returns the import commands that can run inside a server.
func importOperations(a *app.App) map[string]control.Op {
	typed := func(run func(ctx context.Context, w account.Workspace, cause record.Cause, in importIn, report func(control.Progress)) (any, error)) control.Op {
		return control.NewOp(func(ctx context.Context, in importIn, report func(control.Progress)) (any, error) {
			w, err := soleWorkspace(ctx, a.Accounts, in.WorkspaceID)
			if err != nil {
				return nil, err
			}
			cause := operator
			cause.Workspace = w.ID
			return run(ctx, w, cause, in, report)
		})
	}
	return map[string]control.Op{
		"import.upload": typed(func(ctx context.Context, w account.Workspace, cause record.Cause, in importIn, _ func(control.Progress)) (any, error) {
			d, err := upload(ctx, a.Ingest, w, cause, in)
			return jsontext.Value(d.JSON), err
		}),
		"import.commit": typed(func(ctx context.Context, w account.Workspace, cause record.Cause, in importIn, report func(control.Progress)) (any, error) {
			d, err := a.Ingest.Get(ctx, w.ID, in.ID)
			if err != nil {
				return nil, err
			}
			var i ingest.Import
			if err := json.Unmarshal(d.JSON, &i); err != nil {
				return nil, fmt.Errorf("decode import: %w", err)
			}
			total := int64(i.Preview.ValidCount)
			report(control.Progress{Total: total})
			if d, err = a.Ingest.Commit(ctx, cause, in.ID, record.Match{}, ingest.Options{SkipErrors: in.SkipErrors}); err != nil {
				return nil, err
			}
			report(control.Progress{Done: total, Total: total})
			return jsontext.Value(d.JSON), nil
		}),
		"import.undo": typed(func(ctx context.Context, _ account.Workspace, cause record.Cause, in importIn, _ func(control.Progress)) (any, error) {
			d, err := a.Ingest.Undo(ctx, cause, in.ID, record.Match{})
			return jsontext.Value(d.JSON), err
		}),
		"import.list": typed(func(ctx context.Context, w account.Workspace, _ record.Cause, in importIn, _ func(control.Progress)) (any, error) {
			p, err := a.Ingest.List(ctx, w.ID, page.Query{Limit: in.Limit, Sort: "created_at", Desc: true, Status: []string{}})
			list := make([]jsontext.Value, len(p.Docs))
			for i, d := range p.Docs {
				list[i] = d.JSON
			}
			return list, err
		}),
	}
}

// soleWorkspace returns the workspace with the id or, without an id, the only
// workspace.
func soleWorkspace(ctx context.Context, accounts *account.Service, id ident.ID) (account.Workspace, error) {
	if id != "" {
		return accounts.Workspace(ctx, id)
	}
	list, err := accounts.Workspaces(ctx)
	if err != nil {
		return account.Workspace{}, err
	}
	if len(list) != 1 {
		return account.Workspace{}, fault.Invalid([]fault.Detail{{
			Field: "workspace", Code: "required", Message: fmt.Sprintf("There are %d workspaces: choose one with --workspace (see fanfare workspace list).", len(list)),
		}})
	}
	return list[0], nil
}

// upload uploads the file and applies the given mapping and date format.
func upload(ctx context.Context, imports *ingest.Service, w account.Workspace, cause record.Cause, in importIn) (record.Doc, error) {
	b, err := readLimited(in.Path)
	if err != nil {
		return record.Doc{}, err
	}
	d, err := imports.Upload(ctx, cause, ingest.Upload{
		Name: filepath.Base(in.Path), Bytes: b, Source: in.Source, Currency: in.Currency, Zone: in.Timezone, Mode: in.Mode,
		Defaults: connection.WorkspaceDefaults{Currency: w.Currency, Zone: w.Timezone},
	})
	if err != nil || in.Mapping == nil && in.DateFormat == "" {
		return d, err
	}
	var i ingest.Import
	if err := json.Unmarshal(d.JSON, &i); err != nil {
		return d, fmt.Errorf("decode import: %w", err)
	}
	patch, err := body.ValueOf(struct {
		Mapping    map[string]string `json:"mapping,omitzero"`
		DateFormat string            `json:"date_format,omitzero"`
	}{in.Mapping, in.DateFormat})
	if err != nil {
		return d, fmt.Errorf("encode options: %w", err)
	}
	return imports.Update(ctx, cause, i.ID, record.Match{}, patch)
}

func readLimited(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read import: %w", err)
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, ingest.MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read import: %w", err)
	}
	return b, nil
}

// oneWorkspace adds the --workspace flag to a command that can omit it if only
// one workspace exists.
func oneWorkspace(cmd *cobra.Command, id *ident.ID) {
	cmd.Flags().StringVar((*string)(id), "workspace", "", "workspace ID (wks_…); optional if there is only one")
}

func (c *cli) importCommand() *cobra.Command {
	var in importIn
	var mapping []string
	var dry, yes bool
	cmd := c.jsonFlag(&cobra.Command{
		Use: "import FILE", Short: "Import metrics from a CSV, TSV or Parquet file, such as an export of Google Ads, Meta, LinkedIn, TikTok, Mailchimp or Klaviyo", Args: oneArg,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if in.Path, err = filepath.Abs(args[0]); err != nil {
				return err
			}
			if _, err := os.Stat(in.Path); err != nil {
				return fmt.Errorf("read import: %w", err)
			}
			if in.Mapping, err = readMapping(mapping); err != nil {
				return err
			}
			return c.runImport(cmd, in, dry, yes)
		},
	})
	oneWorkspace(cmd, &in.WorkspaceID)
	f := cmd.Flags()
	f.StringVar(&in.Source, "source", "", "source name, or the ID of its connection (default is the file name)")
	f.StringVar((*string)(&in.Currency), "currency", "", "currency of the amounts, as an ISO 4217 code (default is the file's, then the workspace's)")
	f.StringVar(&in.Timezone, "timezone", "", "time zone of the dates, as an IANA name (default is the workspace's)")
	f.StringVar((*string)(&in.Mode), "mode", string(ingest.Upsert), "upsert replaces rows with the same key; replace replaces all rows of the days in the file")
	f.StringArrayVar(&mapping, "map", nil, "map a column to a field as column=field, or ignore it with column=; repeat for more")
	f.StringVar(&in.DateFormat, "date-format", "", "format of the dates: "+strings.Join(ingest.DateFormats, "; "))
	f.BoolVar(&in.SkipErrors, "skip-errors", false, "import the valid rows and skip the others")
	f.BoolVar(&dry, "dry-run", false, "print the preview without importing anything")
	f.BoolVar(&yes, "yes", false, "import without asking for confirmation")
	cmd.AddCommand(c.importUndo(), c.importList())
	return cmd
}

// readMapping parses column=field. Column names may contain equals signs, field
// names do not.
func readMapping(list []string) (map[string]string, error) {
	if list == nil {
		return nil, nil
	}
	mapping := map[string]string{}
	for _, m := range list {
		at := strings.LastIndexByte(m, '=')
		if at <= 0 {
			return nil, usageError{fmt.Errorf("--map must be column=field, such as \"Net cost=spend\"; %q is not", m)}
		}
		mapping[m[:at]] = m[at+1:]
	}
	return mapping, nil
}

// runImport shows the preview of the file and stores its rows.
func (c *cli) runImport(cmd *cobra.Command, in importIn, dry, yes bool) error {
	var i ingest.Import
	if err := c.call(cmd, "import.upload", in, &i); err != nil {
		return err
	}
	shown := cmd.OutOrStdout()
	if c.asJSON {
		shown = cmd.ErrOrStderr()
	}
	if !c.asJSON || !dry {
		if err := showImport(shown, &i); err != nil {
			return err
		}
	}
	if i.Error != nil {
		return fmt.Errorf("%s (--map, --date-format)", i.Error.Message)
	}
	if dry {
		if c.asJSON {
			return printJSON(cmd.OutOrStdout(), i)
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "Nothing was imported.")
		return err
	}
	if i.Preview.ErrorCount > 0 && !in.SkipErrors {
		return fmt.Errorf("%d of %d rows are invalid and nothing was imported: correct the file, or skip these rows with --skip-errors", i.Preview.ErrorCount, i.Preview.RowCount)
	}
	if err := confirm(cmd, yes, fmt.Sprintf("Import %d rows?", i.Preview.ValidCount)); err != nil {
		return err
	}
	if err := c.call(cmd, "import.commit", importIn{WorkspaceID: in.WorkspaceID, ID: i.ID, SkipErrors: in.SkipErrors}, &i); err != nil {
		return err
	}
	return c.printImport(cmd, &i, fmt.Sprintf("Imported %d rows. To undo the import until %s, run: fanfare import undo %s", *i.RowsWritten, i.UndoUntil, i.ID))
}

func (c *cli) printImport(cmd *cobra.Command, i *ingest.Import, text string) error {
	if c.asJSON {
		return printJSON(cmd.OutOrStdout(), i)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
	return err
}

// confirm asks for confirmation on a terminal. Without a terminal it returns an
// error unless yes is set.
func confirm(cmd *cobra.Command, yes bool, question string) error {
	if yes {
		return nil
	}
	if in, ok := cmd.InOrStdin().(*os.File); !ok || !isTerminal(in) {
		return usageError{errors.New("nothing was imported: check the preview above, then add --yes")}
	}
	fmt.Fprint(cmd.ErrOrStderr(), question+" [y/N] ")
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errors.New("nothing was imported")
	}
	return nil
}

// maxShown is how many problems showImport prints.
const maxShown = 10

// showImport prints how the file was read and its contents.
func showImport(w io.Writer, i *ingest.Import) error {
	d, p := i.Detected, i.Preview
	fmt.Fprintf(w, "%s: %d bytes, %s", i.File.Name, i.File.Bytes, i.File.Format)
	for _, found := range []struct {
		shape string
		value *string
	}{{", export of %s", d.Template}, {", encoding %s", d.Encoding}, {", delimiter %q", d.Delimiter}, {", decimal %q", d.Decimal}, {", dates %s", d.DateFormat}} {
		if found.value != nil {
			fmt.Fprintf(w, found.shape, *found.value)
		}
	}
	fmt.Fprintf(w, "\nSource %s, currency %s, time zone %s\n", i.Source, i.Currency, i.Timezone)
	if i.DuplicateOf != nil {
		fmt.Fprintf(w, "The same file was imported before: %s\n", *i.DuplicateOf)
	}
	fmt.Fprintln(w)
	var columns [][]string
	for _, c := range i.Columns {
		field := "-"
		if c.Field != nil {
			field = *c.Field
		}
		columns = append(columns, []string{c.Name, field, string(c.Confidence), strings.Join(c.Sample, " | ")})
	}
	if err := table(w, "COLUMN\tFIELD\tCONFIDENCE\tSAMPLE", columns); err != nil {
		return err
	}
	return showPreview(w, &p)
}

func showPreview(w io.Writer, p *ingest.Preview) error {
	fmt.Fprintf(w, "\n%d rows, %d valid, %d invalid, %d skipped", p.RowCount, p.ValidCount, p.ErrorCount, p.SkippedCount)
	if p.StartDate != nil && p.EndDate != nil {
		fmt.Fprintf(w, ", %s to %s", *p.StartDate, *p.EndDate)
	}
	fmt.Fprintln(w)
	for n, e := range p.Errors {
		if n == maxShown {
			fmt.Fprintln(w, "…")
			break
		}
		fmt.Fprintf(w, "line %d: %s\n", e.Line, e.Message)
	}
	var totals [][]string
	names := slices.Collect(maps.Keys(p.Totals))
	slices.SortFunc(names, func(a, b string) int { return slices.Index(fact.Measures, a) - slices.Index(fact.Measures, b) })
	for _, name := range names {
		totals = append(totals, []string{name, string(p.Totals[name])})
	}
	if totals == nil {
		return nil
	}
	fmt.Fprintln(w)
	return table(w, "MEASURE\tTOTAL", totals)
}

func (c *cli) importUndo() *cobra.Command {
	var in importIn
	cmd := c.jsonFlag(&cobra.Command{
		Use: "undo ID", Short: "Undo an import and restore the rows that it replaced", Args: oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.ID = ident.ID(args[0])
			var i ingest.Import
			if err := c.call(cmd, "import.undo", in, &i); err != nil {
				return err
			}
			return c.printImport(cmd, &i, fmt.Sprintf("%s was undone.", i.ID))
		},
	})
	oneWorkspace(cmd, &in.WorkspaceID)
	return cmd
}

func (c *cli) importList() *cobra.Command {
	in := importIn{}
	cmd := c.jsonFlag(&cobra.Command{
		Use: "list", Short: "List imports, newest first", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if in.Limit < 1 || in.Limit > page.MaxLimit {
				return usageError{fmt.Errorf("--limit must be from 1 to %d", page.MaxLimit)}
			}
			var out []ingest.Import
			if err := c.call(cmd, "import.list", in, &out); err != nil {
				return err
			}
			if c.asJSON {
				return printJSON(cmd.OutOrStdout(), out)
			}
			rows := make([][]string, len(out))
			for n, i := range out {
				written := "-"
				if i.RowsWritten != nil {
					written = strconv.FormatInt(*i.RowsWritten, 10)
				}
				rows[n] = []string{string(i.ID), string(i.Status), i.File.Name, i.Source, written, i.CreatedAt.String()}
			}
			return table(cmd.OutOrStdout(), "ID\tSTATUS\tFILE\tSOURCE\tROWS\tCREATED", rows)
		},
	})
	oneWorkspace(cmd, &in.WorkspaceID)
	cmd.Flags().IntVar(&in.Limit, "limit", page.DefaultLimit, "number of imports")
	return cmd
}
