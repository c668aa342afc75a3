// Package scenario holds conversations with the service, one per file. Each is
// played by a test over HTTPS against the real program, on every engine, and
// the documentation shows the same files, so that no example can be wrong.
//
// A file is a txtar archive. The text before the first section says what the
// conversation is about; its first line is the title. Each section is one
// exchange and has one of four forms:
//
//	-- create a campaign --           a request: method and path, headers, a
//	POST /v1/campaigns                blank line, the body
//	Idempotency-Key: spring
//
//	{"name": "Spring"}
//	>>> 201                           the answer: status, headers, a blank
//	ETag: "1.0"                       line, the body
//
//	{"data": {"id": "{{capture campaign cmp}}"}}
//
//	-- revoke the key --              a command on the server's machine
//	$ fanfare key revoke --workspace {{workspace}} {{key}}
//	>>> 0                             its exit code and what it prints
//	{"revoked_at": "{{time}}"}
//
//	-- three hours later --           the server is stopped and started again,
//	restart 3h later                  with its clock moved; crash kills it
//
//	-- serve --                       settings of the server; must come first
//	--limits starter=3/10
//
// A request carries the key that was captured as {{key}} unless it has an
// Authorization header of its own, and a body is application/json unless it
// says otherwise; a header without a value is not sent. A target that begins
// with http:// is called in clear text.
//
// Of an answer's JSON only the members that are named must be there and match;
// arrays must match as a whole. Other bodies, and what commands print, must
// contain each of the lines. ">>> 200 soon" asks again until the answer is the
// expected one, for what the service does by itself.
//
// Placeholders stand in all texts:
//
//	{{name}}               what was captured under this name
//	{{capture name}}       in answers: any value; it is captured
//	{{capture name cmp}}   the same for an id of this kind
//	{{any}}                in answers: any value but null
//	{{time}}               in answers: any instant
//	{{absent}}             in answers: the header is not there
//	{{in 2h}}, {{ago 2h}}  an instant, counted from the start of the conversation
//	{{host}}               address and port of the server
//	{{letters 300}}        so many letters
package scenario

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// Scenario is one conversation.
type Scenario struct {
	Title string
	// About is the text after the title.
	About string
	// Settings are the flags of the server.
	Settings []string
	Steps    []*Step
}

// Step is one exchange. Exactly one of Method, Command and Restart is set.
type Step struct {
	Name string

	Method, Target string
	Header         []Field
	Body           string

	Command []string

	Restart bool
	Crash   bool
	Later   time.Duration

	Want Answer
	// requestText is the text of the section up to the answer.
	requestText string
}

// Field is a header.
type Field struct{ Name, Value string }

// Answer is the expected answer.
type Answer struct {
	Code   int
	Soon   bool
	Header []Field
	Body   string
}

const answerPrefix = ">>> "

// Parse parses a scenario file.
func Parse(text []byte) (*Scenario, error) {
	archive := txtar.Parse(text)
	title, about, _ := strings.Cut(strings.TrimSpace(string(archive.Comment)), "\n")
	s := &Scenario{Title: title, About: strings.TrimSpace(about)}
	if title == "" {
		return nil, errors.New("the file does not say what it is about")
	}
	for i, f := range archive.Files {
		if f.Name == "serve" && i == 0 {
			for line := range strings.Lines(string(f.Data)) {
				words, err := splitWords(line)
				if err != nil {
					return nil, fmt.Errorf("section serve: %w", err)
				}
				s.Settings = append(s.Settings, words...)
			}
			continue
		}
		step, err := parseStep(string(f.Data))
		if err != nil {
			return nil, fmt.Errorf("section %q: %w", f.Name, err)
		}
		step.Name = f.Name
		s.Steps = append(s.Steps, step)
	}
	if len(s.Steps) == 0 {
		return nil, errors.New("the file has no section")
	}
	return s, nil
}

func parseStep(text string) (*Step, error) {
	asked, answer := text, ""
	if i := strings.Index("\n"+text, "\n"+answerPrefix); i >= 0 {
		asked, answer = text[:i], text[i:]
	}
	s := &Step{requestText: asked}
	if err := s.parseRequest(strings.Split(strings.TrimSpace(asked), "\n")); err != nil {
		return nil, err
	}
	if s.Restart {
		return s, nil
	}
	return s, s.parseAnswer(strings.Split(strings.TrimRight(answer, "\n"), "\n"))
}

var requestLine = regexp.MustCompile(`^[A-Z]+ (/|http:)`)

func (s *Step) parseRequest(lines []string) (err error) {
	switch words := strings.Fields(lines[0]); {
	case len(words) > 0 && (words[0] == "restart" || words[0] == "crash"):
		s.Restart, s.Crash = true, words[0] == "crash"
		if len(words) == 3 && words[2] == "later" {
			s.Later, err = time.ParseDuration(words[1])
		} else if len(words) != 1 {
			err = fmt.Errorf("%q is not %q or %q", lines[0], words[0], words[0]+" 3h later")
		}
		return err
	case strings.HasPrefix(lines[0], "$ fanfare "):
		s.Command, err = splitWords(strings.TrimPrefix(lines[0], "$ fanfare "))
		if len(lines) > 1 {
			return errors.New("a command is one line")
		}
		return err
	case !requestLine.MatchString(lines[0]):
		return fmt.Errorf("%q is neither a request nor a command", lines[0])
	}
	s.Method, s.Target, _ = strings.Cut(lines[0], " ")
	for i, line := range lines[1:] {
		if line == "" {
			s.Body = strings.Join(lines[i+2:], "\n")
			return nil
		}
		f, ok := parseField(line)
		if !ok {
			return fmt.Errorf("%q is not a header", line)
		}
		s.Header = append(s.Header, f)
	}
	return nil
}

var fieldLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*): ?(.*)$`)

func parseField(line string) (Field, bool) {
	m := fieldLine.FindStringSubmatch(line)
	if m == nil {
		return Field{}, false
	}
	return Field{m[1], m[2]}, true
}

func (s *Step) parseAnswer(lines []string) (err error) {
	status := strings.TrimPrefix(lines[0], answerPrefix)
	status, s.Want.Soon = strings.CutSuffix(status, " soon")
	if s.Want.Code, err = strconv.Atoi(status); err != nil {
		return fmt.Errorf("the answer %q is not %q and a number", lines[0], answerPrefix)
	}
	rest := lines[1:]
	for s.Method != "" && len(rest) > 0 {
		f, ok := parseField(rest[0])
		if !ok {
			break
		}
		s.Want.Header = append(s.Want.Header, f)
		rest = rest[1:]
	}
	s.Want.Body = strings.TrimSpace(strings.Join(rest, "\n"))
	return nil
}

// splitWords splits a line into words as a shell does, including quotes.
func splitWords(line string) ([]string, error) {
	var words []string
	word, open, quote := "", false, rune(0)
	for _, r := range strings.TrimSpace(line) {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '"' || r == '\'':
			quote, open = r, true
		case r == ' ':
			if open {
				words = append(words, word)
			}
			word, open = "", false
		default:
			word, open = word+string(r), true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote is not closed in %q", line)
	}
	if open {
		words = append(words, word)
	}
	return words, nil
}
