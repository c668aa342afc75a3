package httpapi

import (
	"bufio"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"fanfare/internal/fault"
)

// maxBody is the largest JSON body.
const maxBody = 1 << 20

// readBody checks the type and size of the body and its JSON syntax, and the
// query string of operations that take none.
func (a *API) readBody(r *request) error {
	if r.route.body == noBody {
		return nil
	}
	body, err := a.fetchBody(r)
	if err != nil {
		return err
	}
	if _, err := r.query(); err != nil {
		return err
	}
	r.body = body
	if len(body) == 0 && r.route.body == optionalBody {
		r.object = value{kind: kindObject}
		return nil
	}
	r.object, err = parseObject(body)
	return err
}

func (a *API) fetchBody(r *request) ([]byte, error) {
	if e := r.http.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, unsupported(r, "Content-Encoding", "Send the body without Content-Encoding.", "identity")
	}
	if r.http.ContentLength == 0 {
		return nil, nil
	}
	in := io.Reader(http.MaxBytesReader(r.w, r.http.Body, maxBody))
	if r.http.ContentLength < 0 {
		// Only reading tells whether anything comes.
		hurry(r)
		peeked := bufio.NewReader(in)
		if _, err := peeked.Peek(1); errors.Is(err, io.EOF) {
			return nil, nil
		}
		in = peeked
	}
	if err := checkType(r); err != nil {
		return nil, err
	}
	if r.http.ContentLength > maxBody {
		return nil, tooLarge()
	}
	hurry(r)
	body, err := io.ReadAll(in)
	var tooMuch *http.MaxBytesError
	switch {
	case errors.As(err, &tooMuch):
		return nil, tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fault.New(fault.Timeout, "The body did not arrive within 30 seconds.").Because(err)
	case err != nil:
		return nil, fault.New(fault.MalformedRequest, "The body could not be read to its end.").Because(err)
	}
	_ = http.NewResponseController(r.w).SetReadDeadline(time.Time{})
	return body, nil
}

// hurry bounds the time in which the body has to come. Errors mean that the
// connection cannot have a deadline; the operation's own still holds.
func hurry(r *request) {
	_ = http.NewResponseController(r.w).SetReadDeadline(time.Now().Add(bodyTime)) //nolint:forbidigo // sockets know only the machine's own time
}

func tooLarge() error {
	return fault.New(fault.BodyTooLarge, "The body is larger than 1 MiB.",
		fault.Detail{In: "body", Code: string(fault.BodyTooLarge), Message: "The body is too large.", Meta: fault.Meta{"limit_bytes": maxBody}})
}

func checkType(r *request) error {
	media, params, err := mime.ParseMediaType(r.http.Header.Get("Content-Type"))
	known := media == "application/json" || r.route.body == patchBody && media == "application/merge-patch+json"
	charset := params["charset"]
	if err != nil || !known || charset != "" && !strings.EqualFold(charset, "utf-8") {
		const message = "Send the body as application/json. (curl -d sends a form unless you add -H 'Content-Type: application/json'.)"
		return unsupported(r, "Content-Type", message, strings.Split(bodyTypes(r), ", ")...)
	}
	return nil
}

// bodyTypes are the media types that an operation takes.
func bodyTypes(r *request) string {
	if r.route.body == patchBody {
		return "application/merge-patch+json, application/json"
	}
	return "application/json"
}

func unsupported(r *request, field, message string, allowed ...string) error {
	header := "Accept-Post"
	if r.route.body == patchBody {
		header = "Accept-Patch"
	}
	r.w.Header()[header] = []string{bodyTypes(r)}
	return fault.New(fault.UnsupportedMediaType, message, fault.Detail{
		Field: field, In: "header", Code: string(fault.UnsupportedMediaType), Message: message, Meta: fault.Meta{"allowed": allowed},
	})
}

// query reads the query string of an operation that knows these parameters.
func (r *request) query(known ...string) (map[string]string, error) {
	if r.http.URL.RawQuery == "" {
		return nil, nil
	}
	values, err := url.ParseQuery(r.http.URL.RawQuery)
	if err != nil {
		return nil, fault.New(fault.MalformedRequest, "The query string cannot be decoded. Percent-encode what is not a letter or digit.").Because(err)
	}
	return readQuery(values, known)
}
