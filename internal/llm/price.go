package llm

import (
	_ "embed"
	"errors"
	"regexp"
	"strings"
	"sync"
	"time"

	"fanfare/internal/creative"
	"fanfare/internal/money"
	"fanfare/internal/outbound"
)

// ListedPrice is a row of the price table.
type ListedPrice struct {
	// Model is a name without a date or version.
	Model string
	creative.ModelPrice
	// Checked is the day on which the price was read, Source where.
	Checked, Source string
	// From is the day on which the price begins, empty for an earlier one.
	From string
}

//go:embed prices.txt
var pricesText string

// Prices returns the price table. A model that is not listed has no known price.
var Prices = sync.OnceValue(func() (list []ListedPrice) {
	for line := range strings.Lines(pricesText) {
		columns := strings.Fields(line)
		if len(columns) == 0 || columns[0][0] == '#' {
			continue
		}
		l := ListedPrice{Model: columns[0], Checked: columns[3], Source: columns[4]}
		for i, to := range []*int64{&l.InputMicros, &l.OutputMicros} {
			amount, reason := money.Parse(columns[1+i], 6)
			if reason != "" {
				panic("prices.txt: " + l.Model + ": " + reason)
			}
			*to = amount.Micros
		}
		if len(columns) > 5 {
			l.From = columns[5]
		}
		list = append(list, l)
	}
	return list
})

// versionSuffix matches what may follow a listed name: a date, a build number
// of at least three digits, or latest. Any other suffix, as in gpt-5-pro or
// claude-opus-5-5, is another model with another price.
var versionSuffix = regexp.MustCompile(`^([-@]\d{3}[\d-]*|-latest)?$`)

// PriceOf returns the price of a model on a day, by the vendor's name.
func PriceOf(model string, at time.Time) (price creative.ModelPrice, known bool) {
	day := at.UTC().Format(time.DateOnly)
	for _, l := range Prices() {
		rest, ok := strings.CutPrefix(strings.TrimPrefix(model, "models/"), l.Model)
		if ok && versionSuffix.MatchString(rest) && l.From <= day {
			price, known = l.ModelPrice, true
		}
	}
	return price, known
}

// callUsage returns the usage of one call. It prefers the model name in the
// answer, because the requested name can be an alias or a deployment.
func (w *Writer) callUsage(answered, asked string, input, output, images int64, err error) creative.Usage {
	u := creative.Usage{InputTokens: input, OutputTokens: output, Images: images, Calls: 1}
	price, known := PriceOf(answered, w.options.Now())
	if !known {
		price, known = PriceOf(asked, w.options.Now())
	}
	if w.options.Price != nil {
		price, known = *w.options.Price, true
	}
	counted := input+output > 0
	switch {
	case !counted && !isAnswered(err):
		// A call without an answer is free, even if the price is not known.
		price, known = creative.ModelPrice{}, true
	case !counted && price.InputMicros+price.OutputMicros > 0 && images*price.ImageMicros == 0:
		// The server reports no usage.
		known = false
	}
	if known {
		const million = 1_000_000
		cost := (input*price.InputMicros+output*price.OutputMicros+million-1)/million + images*price.ImageMicros
		u.CostMicros = &cost
	}
	return u
}

// isAnswered reports whether a call got an answer that is billed, although it
// may not be usable.
func isAnswered(err error) bool {
	if _, refused := errors.AsType[*outbound.StatusError](err); refused {
		return false
	}
	return err == nil || errors.Is(err, ErrTruncated) || errors.Is(err, ErrRefused) || errors.Is(err, outbound.ErrMalformed)
}
