package policy

import (
	"unicode/utf8"
)

// Limit is the length limit of one field on one channel. Source and Checked
// document where each limit comes from and when it was last verified.
type Limit struct {
	Channel string
	// Field is the JSON name of a field of Copy.
	Field string
	// MinItems and MaxItems bound the number of items of a list. A single text
	// has 1 and 1, or 0 and 1 if it is optional.
	MinItems, MaxItems int
	// Soft is the length from which platforms truncate, 0 for never. Hard is
	// the length above which they reject.
	Soft, Hard int
	// Count is how characters are counted.
	Count Count
	// Source is where the numbers come from, Checked the date of the last
	// check.
	Source, Checked string
}

// Count is a method to count characters.
type Count string

// The counting methods.
const (
	// Characters counts code points.
	Characters Count = "characters"
	// Width counts East Asian wide characters twice, as Google does.
	Width Count = "width"
	// SMS counts so that a text fits one SMS part of 160. A character of
	// the GSM alphabet counts 1, one of its extension 2. If any character is
	// outside the alphabet, every character counts 160/70.
	SMS Count = "message"
)

const (
	googleSearch  = "Google Ads Help, About responsive search ads"
	googleDisplay = "Google Ads Help, About responsive display ads"
	metaFeed      = "Meta Ads Guide, image feed; LinkedIn Help, single image ads (the stricter of both)"
	tiktokFeed    = "TikTok Business Help Center, in-feed ads"
	smsPart       = "3GPP TS 23.038, one part"
	mailClients   = "Mailchimp, best practices for subject lines; cut by mail clients"
	ownLimit      = "our own, for a text that is read in one go"
	checkedOn     = "2026-11-15"
)

// Limits is the table of limits for all channels of records.
var Limits = []Limit{
	{"search", "headlines", 3, 15, 0, 30, Width, googleSearch, checkedOn},
	{"search", "descriptions", 2, 4, 0, 90, Width, googleSearch, checkedOn},
	{"search", "paths", 0, 2, 0, 15, Width, googleSearch, checkedOn},

	{"social", "primary_text", 1, 1, 125, 600, Characters, metaFeed, checkedOn},
	{"social", "headlines", 1, 5, 40, 200, Characters, metaFeed, checkedOn},
	{"social", "descriptions", 1, 5, 30, 300, Characters, metaFeed, checkedOn},
	{"social", "short_text", 1, 1, 0, 100, Width, tiktokFeed, checkedOn},

	{"display", "headlines", 1, 5, 0, 30, Width, googleDisplay, checkedOn},
	{"display", "long_headline", 1, 1, 0, 90, Width, googleDisplay, checkedOn},
	{"display", "descriptions", 1, 5, 0, 90, Width, googleDisplay, checkedOn},
	{"display", "business_name", 0, 1, 0, 25, Width, googleDisplay, checkedOn},

	{"video", "headlines", 1, 5, 0, 30, Width, googleDisplay, checkedOn},
	{"video", "long_headline", 1, 1, 0, 90, Width, googleDisplay, checkedOn},
	{"video", "descriptions", 1, 5, 0, 90, Width, googleDisplay, checkedOn},
	{"video", "script", 1, 1, 350, 700, Characters, ownLimit, checkedOn},

	{"audio", "script", 1, 1, 450, 700, Characters, ownLimit, checkedOn},

	{"email", "subject", 1, 1, 50, 150, Characters, mailClients, checkedOn},
	{"email", "preheader", 1, 1, 90, 150, Characters, mailClients, checkedOn},
	{"email", "body", 1, 1, 1500, 10000, Characters, ownLimit, checkedOn},

	{"sms", "primary_text", 1, 1, 0, 160, SMS, smsPart, checkedOn},

	{"push", "headlines", 1, 1, 40, 65, Characters, ownLimit, checkedOn},
	{"push", "primary_text", 1, 1, 120, 178, Characters, ownLimit, checkedOn},

	{"affiliate", "headlines", 1, 5, 60, 100, Characters, ownLimit, checkedOn},
	{"affiliate", "primary_text", 1, 1, 300, 600, Characters, ownLimit, checkedOn},

	{"influencer", "primary_text", 1, 1, 300, 2200, Characters, ownLimit, checkedOn},

	{"direct_mail", "headlines", 1, 3, 60, 100, Characters, ownLimit, checkedOn},
	{"direct_mail", "body", 1, 1, 700, 2000, Characters, ownLimit, checkedOn},

	{"other", "headlines", 1, 3, 60, 100, Characters, ownLimit, checkedOn},
	{"other", "primary_text", 1, 1, 300, 600, Characters, ownLimit, checkedOn},
}

// LimitsOf lists the limits of a channel.
func LimitsOf(channel string) []Limit {
	var list []Limit
	for _, l := range Limits {
		if l.Channel == channel {
			list = append(list, l)
		}
	}
	return list
}

// Length returns the length of a text, counted with the limit's method.
func (l Limit) Length(text string) int {
	switch l.Count {
	case Width:
		n := 0
		for _, r := range text {
			n++
			if isWide(r) {
				n++
			}
		}
		return n
	case SMS:
		return smsLength(text)
	case Characters:
	}
	return utf8.RuneCountInString(text)
}

// isWide reports whether a character takes two columns: East Asian scripts,
// full-width forms and pictographs.
func isWide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf && r != 0x303f || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6 ||
		r >= 0x1f300 && r <= 0x1faff || r >= 0x20000 && r <= 0x3fffd)
}

const (
	gsmBasic    = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
	gsmExtended = "\f^{}\\[~]|€"
)

var gsmSeptets = func() map[rune]int {
	m := map[rune]int{}
	for _, r := range gsmBasic {
		m[r] = 1
	}
	for _, r := range gsmExtended {
		m[r] = 2
	}
	return m
}()

// smsLength returns the length of a text in units of a 160-character SMS.
func smsLength(text string) int {
	septets, units, plain := 0, 0, true
	for _, r := range text {
		n, ok := gsmSeptets[r]
		plain = plain && ok
		septets += n
		units++
		if r > 0xffff {
			units++
		}
	}
	if plain {
		return septets
	}
	// 70 UCS-2 units fill a part like 160 septets. Round up.
	return (units*160 + 69) / 70
}

// LimitViolation is a text that exceeds a hard limit. For a list with too few
// or too many items, Index is -1.
type LimitViolation struct {
	Limit  Limit
	Index  int
	Length int
}

// LimitViolations lists the hard limits that a copy exceeds on a channel.
func (c *Copy) LimitViolations(channel string) []LimitViolation {
	var list []LimitViolation
	for _, l := range LimitsOf(channel) {
		texts := c.Texts(l.Field)
		if len(texts) < l.MinItems || len(texts) > l.MaxItems {
			list = append(list, LimitViolation{l, -1, len(texts)})
		}
		for i, text := range texts {
			if n := l.Length(text); n > l.Hard {
				list = append(list, LimitViolation{l, i, n})
			}
		}
	}
	return list
}
