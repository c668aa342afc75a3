package policy

import "slices"

// Copy is the text of one variant for one channel. Limits lists the fields of
// each channel and their lengths; the other fields are empty.
type Copy struct {
	Headlines    []string `json:"headlines"`
	LongHeadline *string  `json:"long_headline"`
	Descriptions []string `json:"descriptions"`
	PrimaryText  *string  `json:"primary_text"`
	ShortText    *string  `json:"short_text"`
	Subject      *string  `json:"subject"`
	Preheader    *string  `json:"preheader"`
	Body         *string  `json:"body"`
	// HTML is the body of an email as HTML. It is made of Body and is no text of
	// its own.
	HTML         *string  `json:"html"`
	Script       *string  `json:"script"`
	BusinessName *string  `json:"business_name"`
	Paths        []string `json:"paths"`
}

// Texts returns the items of a field.
func (c *Copy) Texts(field string) []string {
	list, one := c.field(field)
	switch {
	case list != nil:
		return *list
	case one != nil && *one != nil:
		return []string{**one}
	}
	return nil
}

// SetTexts sets the items of a field, or the first item for a single text.
func (c *Copy) SetTexts(field string, texts []string) {
	list, one := c.field(field)
	switch {
	case list != nil:
		*list = slices.Clone(texts)
	case one == nil:
	case len(texts) == 0:
		*one = nil
	default:
		*one = &texts[0]
	}
}

func (c *Copy) field(field string) (list *[]string, one **string) {
	switch field {
	case "headlines":
		return &c.Headlines, nil
	case "descriptions":
		return &c.Descriptions, nil
	case "paths":
		return &c.Paths, nil
	case "long_headline":
		return nil, &c.LongHeadline
	case "primary_text":
		return nil, &c.PrimaryText
	case "short_text":
		return nil, &c.ShortText
	case "subject":
		return nil, &c.Subject
	case "preheader":
		return nil, &c.Preheader
	case "body":
		return nil, &c.Body
	case "script":
		return nil, &c.Script
	case "business_name":
		return nil, &c.BusinessName
	}
	return nil, nil
}

// multiline are the fields that may have line breaks.
var multiline = []string{"primary_text", "body", "script"}

// PlainText copies the fields of a channel as plain text.
func (c *Copy) PlainText(channel string) Copy {
	out := Copy{Headlines: []string{}, Descriptions: []string{}, Paths: []string{}}
	for _, l := range LimitsOf(channel) {
		texts := []string{}
		for _, text := range c.Texts(l.Field) {
			if text = Clean(text, slices.Contains(multiline, l.Field)); text != "" {
				texts = append(texts, text)
			}
		}
		out.SetTexts(l.Field, texts)
	}
	return out
}

// AllTexts returns all texts of a channel.
func (c *Copy) AllTexts(channel string) []string {
	var list []string
	for _, l := range LimitsOf(channel) {
		list = append(list, c.Texts(l.Field)...)
	}
	return list
}
