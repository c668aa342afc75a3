package llm

import (
	"context"
	"fmt"
	"strconv"

	"fanfare/internal/creative"
	"fanfare/internal/creative/policy"
)

// overlongText is a text that exceeds its limit, and its position.
type overlongText struct {
	draft   *draft
	limit   policy.Limit
	channel string
	index   int
	text    string
}

// overlongTexts returns the texts of usable variants that exceed their limits.
func overlongTexts(b *creative.Brief, drafts []*draft) []overlongText {
	var list []overlongText
	for _, d := range drafts {
		if d.problem != "" {
			continue
		}
		for _, channel := range b.Channels {
			c := d.ByChannel[channel]
			for _, l := range policy.LimitsOf(channel) {
				for i, text := range c.Texts(l.Field) {
					if l.Length(text) > l.Hard {
						list = append(list, overlongText{d, l, channel, i, text})
					}
				}
			}
		}
	}
	return list
}

func (l overlongText) setText(text string) {
	c := l.draft.ByChannel[l.channel]
	texts := append([]string(nil), c.Texts(l.limit.Field)...)
	texts[l.index] = text
	c.SetTexts(l.limit.Field, texts)
	l.draft.ByChannel[l.channel] = c
}

// shortenTexts shortens texts that are too long: first the model does so, in
// one request if an extra call is left, then the Shortener of the options.
// Texts that are still too long stay unchanged. If the request fails, the
// variants are kept.
func (g *writing) shortenTexts(ctx context.Context, drafts []*draft) {
	b := g.brief
	list := overlongTexts(b, drafts)
	if len(list) == 0 {
		return
	}
	if g.extra > 0 {
		g.extra--
		// The texts so far are used even if the answer ends early.
		answer, _ := g.w.complete(ctx, shortenRequest(b, list), g.usage)
		for id, text := range readShortened(answer.Text) {
			if id < len(list) {
				list[id].replaceIfFits(text, b)
			}
		}
	}
	for _, l := range overlongTexts(b, drafts) {
		if text, ok := g.w.options.Shorten(l.text, l.limit); ok && l.limit.Length(text) <= l.limit.Hard {
			l.setText(text)
		}
	}
}

// readShortened reads the texts of an answer by their id.
func readShortened(answer string) map[int]string {
	texts := map[int]string{}
	findJSON(answer, func(v any) bool {
		m, _ := v.(map[string]any)
		list, ok := m["texts"].([]any)
		for _, item := range list {
			m, _ := item.(map[string]any)
			text, isText := m["text"].(string)
			id, err := strconv.ParseUint(fmt.Sprint(m["id"]), 10, 16)
			if isText && err == nil {
				texts[int(id)] = text
			}
		}
		return ok
	})
	return texts
}

// replaceIfFits replaces the text if the new one is usable and fits.
func (l overlongText) replaceIfFits(text string, b *creative.Brief) {
	scratch := draft{}
	usable := scratch.usableTexts(l.limit, []string{text}, b)
	if scratch.problem == "" && len(usable) == 1 && l.limit.Length(usable[0]) <= l.limit.Hard {
		l.setText(usable[0])
	}
}

func shortenRequest(b *creative.Brief, list []overlongText) Request {
	type item struct {
		ID      int    `json:"id"`
		Channel string `json:"channel"`
		Field   string `json:"field"`
		Text    string `json:"text"`
		Room    string `json:"room"`
		Length  int    `json:"length"`
		Most    int    `json:"most"`
		Over    int    `json:"over"`
	}
	items, room := make([]item, len(list)), 0
	for i, l := range list {
		n := l.limit.Length(l.text)
		items[i] = item{i, l.channel, l.limit.Field, l.text, describeLimit(l.limit), n, l.limit.Hard, n - l.limit.Hard}
		room += n
	}
	ask := `These texts of the advertisement are too long: "length" is what each has, "most" what it may have, "over" what has to go. ` +
		"Write each one shorter, in its language and with the same facts, as whole words and sentences, under the same id.\n" +
		dataBlock(map[string]any{"texts": items})
	return Request{System: systemPrompt, User: ask, Schema: shortenSchema(), MaxTokens: maxTokensFor(room), Seed: b.Seed}
}
