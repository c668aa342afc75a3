package creative

import (
	"html"
	"regexp"
	"strings"

	"fanfare/internal/creative/policy"
)

// actionLine is a paragraph that is a call to action: words and an address.
var actionLine = regexp.MustCompile(`^([^\n:]{2,60}?)[ \x{a0}]?: (https://\S+|\{\{landing_url\}\})$`)

const (
	emailStart = `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>`
	emailBody  = `</title></head><body style="margin:0;background:#f4f4f5"><table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center" style="padding:24px 12px"><table role="presentation" width="600" cellpadding="0" cellspacing="0" style="width:100%;max-width:600px;background:#ffffff;font:16px/1.5 Arial,sans-serif;color:#18181b"><tr><td style="padding:32px">`
	emailEnd   = `</td></tr></table></td></tr></table></body></html>`
	hidden     = `<div style="display:none;max-height:0;overflow:hidden">`
)

// withHTML returns the copy of an email with its body as HTML: one column, inline
// styles, the call to action as a button. The HTML says what the plain text says.
func withHTML(c policy.Copy, language string) policy.Copy {
	c.HTML = nil
	if c.Body == nil || *c.Body == "" {
		return c
	}
	var b strings.Builder
	b.WriteString(emailStart)
	if c.Subject != nil {
		b.WriteString(html.EscapeString(*c.Subject))
	}
	b.WriteString(emailBody)
	if c.Preheader != nil {
		b.WriteString(hidden + html.EscapeString(*c.Preheader) + "</div>")
	}
	for paragraph := range strings.SplitSeq(*c.Body, "\n\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
			b.WriteString(paragraphHTML(paragraph, language))
		}
	}
	b.WriteString(emailEnd)
	text := b.String()
	c.HTML = &text
	return c
}

func paragraphHTML(text, language string) string {
	if m := actionLine.FindStringSubmatch(text); m != nil {
		return `<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px"><tr><td style="border-radius:6px;background:#18181b"><a href="` +
			html.EscapeString(m[2]) + `" style="display:inline-block;padding:12px 20px;color:#ffffff;text-decoration:none">` + html.EscapeString(m[1]) + `</a></td></tr></table>`
	}
	lines := strings.Split(text, "\n")
	if strings.HasPrefix(lines[0], "- ") {
		var b strings.Builder
		b.WriteString(`<ul style="margin:0 0 16px;padding-left:20px">`)
		for _, line := range lines {
			b.WriteString("<li>" + html.EscapeString(strings.TrimPrefix(line, "- ")) + "</li>")
		}
		return b.String() + "</ul>"
	}
	style := "margin:0 0 16px"
	footer := strings.Contains(text, "{{unsubscribe_url}}")
	if footer {
		style = "margin:24px 0 0;font-size:13px;color:#52525b"
	}
	for i, line := range lines {
		lines[i] = html.EscapeString(line)
		if footer && line == "{{unsubscribe_url}}" {
			lines[i] = `<a href="{{unsubscribe_url}}" style="color:#52525b">` + unsubscribeText(language) + `</a>`
		}
	}
	return `<p style="` + style + `">` + strings.Join(lines, "<br>") + "</p>"
}

// unsubscribeWords are the text of the link that ends a subscription.
var unsubscribeWords = map[string]string{
	"de": "Abmelden", "es": "Darse de baja", "fr": "Se désabonner", "it": "Annulla l’iscrizione", "pt": "Cancelar a subscrição",
}

func unsubscribeText(language string) string {
	code, region, _ := strings.Cut(strings.ToLower(language), "-")
	if code == "pt" && region == "br" {
		return "Cancelar inscrição"
	}
	if text := unsubscribeWords[code]; text != "" {
		return text
	}
	return "Unsubscribe"
}

// emailsWithHTML sets the HTML of the email channel.
func emailsWithHTML(byChannel map[string]policy.Copy, language string) map[string]policy.Copy {
	if c, ok := byChannel["email"]; ok {
		byChannel["email"] = withHTML(c, language)
	}
	return byChannel
}
