package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"fanfare/internal/app"
	"fanfare/internal/clock"
	"fanfare/internal/control"
	"fanfare/internal/ident"
	"fanfare/internal/money"
	"fanfare/internal/rates"
)

type ratesIn struct {
	WorkspaceID ident.ID     `json:"workspace_id,omitzero"`
	Rates       []rates.Rate `json:"rates,omitzero"`
	// The following fields are for lists.
	Currencies []money.Currency `json:"currencies,omitzero"`
	First      *clock.Date      `json:"start_date,omitzero"`
	Last       *clock.Date      `json:"end_date,omitzero"`
	Limit      int              `json:"limit,omitzero"`
}

// ratesOperations returns the rates commands that can run inside a server.
func ratesOperations(a *app.App) map[string]control.Op {
	return map[string]control.Op{
		"rates.put": control.NewOp(func(ctx context.Context, in ratesIn, _ func(control.Progress)) (jsontext.Value, error) {
			if err := knownWorkspace(ctx, a, in.WorkspaceID); err != nil {
				return nil, err
			}
			d, err := a.Rates.Put(ctx, operator, in.WorkspaceID, in.Rates)
			return d.JSON, err
		}),
		"rates.list": control.NewOp(func(ctx context.Context, in ratesIn, _ func(control.Progress)) ([]rates.ListedRate, error) {
			if err := knownWorkspace(ctx, a, in.WorkspaceID); err != nil {
				return nil, err
			}
			p, err := a.Rates.List(ctx, in.WorkspaceID, rates.Query{Currencies: in.Currencies, First: in.First, Last: in.Last, Limit: in.Limit})
			list := make([]rates.ListedRate, len(p.Docs))
			for i, d := range p.Docs {
				err = errors.Join(err, json.Unmarshal(d.JSON, &list[i]))
			}
			return list, err
		}),
	}
}

func (c *cli) ratesCommand() *cobra.Command {
	return group("rates", "Manage exchange rates", c.ratesImport(), c.ratesList())
}

// ratesBatch is how many rates one call sends, which the server writes in one
// transaction. The largest batch is well below the size limit of a command.
const ratesBatch = 10_000

// ratesImported is the result of an import.
type ratesImported struct {
	Days       int            `json:"days"`
	StartDate  clock.Date     `json:"start_date"`
	EndDate    clock.Date     `json:"end_date"`
	Currencies int            `json:"currencies"`
	Rates      int            `json:"rates"`
	Written    int64          `json:"written"`
	Carried    int64          `json:"carried"`
	Skipped    map[string]int `json:"skipped"`
}

func (c *cli) ratesImport() *cobra.Command {
	var in ratesIn
	cmd := c.jsonFlag(&cobra.Command{
		Use: "import FILE|-", Short: "Import euro reference rates of the European Central Bank: eurofxref.csv, eurofxref-hist.csv or a CSV of its data portal", Args: oneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			book, err := readRates(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			out, err := c.sendRates(cmd, in.WorkspaceID, book)
			if err != nil {
				return err
			}
			if len(out.Skipped) > 0 {
				codes := slices.Sorted(maps.Keys(out.Skipped))
				fmt.Fprintln(cmd.ErrOrStderr(), "warning: rates of "+strings.Join(codes, ", ")+" were skipped: these currencies are not supported")
			}
			if c.asJSON {
				return printJSON(cmd.OutOrStdout(), out)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d rates in %d currencies for %d days, %s to %s: %d were new or changed.\n%d more were carried over to days without published rates.\n",
				out.Rates, out.Currencies, out.Days, out.StartDate, out.EndDate, out.Written, out.Carried)
			return err
		},
	})
	anyWorkspace(cmd, &in.WorkspaceID)
	return cmd
}

func readRates(file string, in io.Reader) (rates.ParsedFile, error) {
	if file == "-" {
		return rates.Parse(in)
	}
	f, err := os.Open(file)
	if err != nil {
		return rates.ParsedFile{}, fmt.Errorf("read rates: %w", err)
	}
	defer func() { _ = f.Close() }()
	return rates.Parse(f)
}

// sendRates writes rates in batches, the oldest days first, so that each batch
// carries rates on from the previous one. If a batch fails, the previous ones
// stay; importing the same file again writes the rest.
func (c *cli) sendRates(cmd *cobra.Command, workspace ident.ID, book rates.ParsedFile) (ratesImported, error) {
	out := ratesImported{Rates: len(book.Rates), Skipped: book.Skipped}
	days, currencies := map[clock.Date]bool{}, map[money.Currency]bool{}
	for _, r := range book.Rates {
		days[r.Date], currencies[r.Currency] = true, true
	}
	out.Days, out.Currencies = len(days), len(currencies)
	out.StartDate, out.EndDate = book.Rates[0].Date, book.Rates[len(book.Rates)-1].Date
	report, done := bar(cmd.ErrOrStderr(), "rates.import"), 0
	for batch := range slices.Chunk(book.Rates, ratesBatch) {
		var u rates.UpdateResult
		if err := c.call(cmd, "rates.put", ratesIn{WorkspaceID: workspace, Rates: batch}, &u); err != nil {
			return out, err
		}
		out.Written, out.Carried = out.Written+u.Written, out.Carried+u.Carried
		done += len(batch)
		report(int64(done), int64(len(book.Rates)))
	}
	return out, nil
}

func (c *cli) ratesList() *cobra.Command {
	var in ratesIn
	var codes []string
	var first, last string
	cmd := c.jsonFlag(&cobra.Command{
		Use: "list", Short: "List the exchange rates that apply to a workspace, newest first", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := in.narrow(codes, first, last); err != nil {
				return err
			}
			var out []rates.ListedRate
			if err := c.call(cmd, "rates.list", in, &out); err != nil {
				return err
			}
			if c.asJSON {
				return printJSON(cmd.OutOrStdout(), out)
			}
			rows := make([][]string, len(out))
			for i, l := range out {
				how := "published"
				if l.Carried {
					how = "carried"
				}
				rows[i] = []string{l.Date.String(), string(l.Currency), l.PerEuro.String(), l.Source, how}
			}
			return table(cmd.OutOrStdout(), "DATE\tCURRENCY\tPER EURO\tSOURCE\tHOW", rows)
		},
	})
	anyWorkspace(cmd, &in.WorkspaceID)
	f := cmd.Flags()
	f.StringSliceVar(&codes, "currency", nil, "only these currencies, separated by commas")
	f.StringVar(&first, "start", "", "first day, such as 2026-11-01")
	f.StringVar(&last, "end", "", "last day")
	f.IntVar(&in.Limit, "limit", 40, "number of rates")
	return cmd
}

// narrow parses the flags of a list.
func (in *ratesIn) narrow(codes []string, first, last string) error {
	for _, code := range codes {
		in.Currencies = append(in.Currencies, money.Currency(strings.ToUpper(code)))
	}
	for _, f := range []struct {
		flag, text string
		to         **clock.Date
	}{{"start", first, &in.First}, {"end", last, &in.Last}} {
		if f.text == "" {
			continue
		}
		d, ok := clock.ParseDate(f.text)
		if !ok {
			return usageError{fmt.Errorf("--%s must be a day such as 2026-11-01", f.flag)}
		}
		*f.to = &d
	}
	if in.Limit < 1 {
		return usageError{errors.New("--limit must be at least 1")}
	}
	return nil
}
