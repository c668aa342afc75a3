package llm_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"fanfare/internal/llm"
)

func TestPlainText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"Shoes", "Shoes"},
		{"  two   words \t here ", "two words here"},
		{"<b>Bold</b> move", "Bold move"},
		{"one<br>two", "one two"},
		{"a<script>alert(1)</script>b", "ab"},
		{"&lt;script&gt;alert(1)&lt;/script&gt;x", "x"},
		{"&amp;lt;b&amp;gt;deep&amp;lt;/b&amp;gt;", "deep"},
		{"<<b>b>x", "< b>x"},
		{"Tom &amp; Jerry", "Tom & Jerry"},
		{"Q&A at 5 < 6", "Q&A at 5 < 6"},
		{"under <5 minutes", "under <5 minutes"},
		{"open <img src=x onerror=alert(1)", "open"},
		{"a\u202eb\u2066c\u200fd\ufeffe\x00f\x07g\ufffdh", "abcdefgh"},
		{"tags\U000e0041\U000e0042", "tags"},
		{"family 👨\u200d👩\u200d👧", "family 👨\u200d👩\u200d👧"},
		{"می\u200cخواهم", "می\u200cخواهم"},
		{"line\r\nbreak", "line break"},
		{"<!-- hidden -->shown", "shown"},
	} {
		if got := llm.PlainText(test.text, false); got != test.want {
			t.Errorf("%q: got %q want %q", test.text, got, test.want)
		}
	}
	if got, want := llm.PlainText("Dear you,\n\n\n\nbuy  this.\r\nBye \n", true), "Dear you,\n\nbuy this.\nBye"; got != want {
		t.Errorf("lines: got %q want %q", got, want)
	}
}

func TestPlainTextProperties(t *testing.T) {
	t.Parallel()
	markup := regexp.MustCompile(`</?[a-zA-Z]|<[!?].`)
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{"<", ">", "&lt;", "&gt;", "&amp;", "<b>", "</b>", "<script>", "</script>", "<!--", "-->", "\u202e", "\n", "x", "&#60;", "<textarea>", "<plaintext>", "<![CDATA["}),
		)).Draw(t, "pieces")
		text := strings.Join(pieces, "")
		got := llm.PlainText(text, rapid.Bool().Draw(t, "lines"))
		if markup.MatchString(got) {
			t.Errorf("%q: got %q, which has markup", text, got)
		}
		for _, r := range got {
			if r != '\n' && unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%q: got %q, which has %U", text, got, r)
			}
		}
		if again := llm.PlainText(got, true); again != got {
			t.Errorf("%q: got %q, and then %q", text, got, again)
		}
	})
}

func TestDropForeignSentences(t *testing.T) {
	t.Parallel()
	own := []string{"shoes.com", "booking.com", ""}
	for _, test := range []struct{ text, want string }{
		{"Run in the rain.", "Run in the rain."},
		{"See https://shoes.com/rain now.", "See https://shoes.com/rain now."},
		{"See www.shoes.com and Shop.Shoes.com", "See www.shoes.com and Shop.Shoes.com"},
		{"Booking.com has it", "Booking.com has it"},
		{"Great. Visit https://evil.example/win now. Buy it.", "Great. Buy it."},
		{"Great! Go to evil.com today", "Great!"},
		{"Go to notshoes.com", ""},
		{"Go to shoes.com.evil.com", ""},
		{"https://shoes.com@evil.com/", ""},
		{"http://evil.com#shoes.com", ""},
		{"Write to me@evil.co.uk", ""},
		{"Mail mailto:x", ""},
		{"javascript:alert(1)", ""},
		{"ftp://shoes.com/x", ""},
		{"Kauf auf пример.рф", ""},
		{"page.github.io rocks", ""},
		{"github.io rocks", ""},
		{"shop.co.ck rocks", ""},
		{"First line\nevil.com\nlast line", "First line\nlast line"},
		{"Node.js at 9.30pm, e.g. for 3.5km, U.S. only", "Node.js at 9.30pm, e.g. for 3.5km, U.S. only"},
		{"Ends well...really", "Ends well...really"},
	} {
		if got := llm.DropForeignSentences(test.text, own); got != test.want {
			t.Errorf("%q: got %q want %q", test.text, got, test.want)
		}
	}
}
