package httpapi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"fanfare/internal/asset"
	"fanfare/internal/fault"
)

// maxBody is the largest JSON body.
const maxBody = 1 << 20

// limit is how many bytes a body of this kind may have.
func (k bodyKind) limit() int64 {
	if k == rawBody {
		return asset.MaxBytes
	}
	return maxBody
}

// time is how long it may take to arrive.
func (k bodyKind) time() time.Duration {
	if k == rawBody {
		return rawBodyTime
	}
	return bodyTime
}

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
	if r.route.body == rawBody {
		return nil
	}
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
	limit := r.route.body.limit()
	in := io.Reader(http.MaxBytesReader(r.w, r.http.Body, limit))
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
	if r.http.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	hurry(r)
	body, err := io.ReadAll(in)
	var tooMuch *http.MaxBytesError
	switch {
	case errors.As(err, &tooMuch):
		return nil, tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, late(r.route.body.time()).Because(err)
	case err != nil:
		return nil, fault.New(fault.MalformedRequest, "The body could not be read to its end.").Because(err)
	}
	_ = http.NewResponseController(r.w).SetReadDeadline(time.Time{})
	return body, nil
}

// hurry bounds the time in which the body has to come. Errors mean that the
// connection cannot have a deadline; the operation's own still holds.
func hurry(r *request) {
	_ = http.NewResponseController(r.w).SetReadDeadline(time.Now().Add(r.route.body.time())) //nolint:forbidigo // sockets know only the machine's own time
}

func late(limit time.Duration) *fault.Error {
	seconds := int64(limit / time.Second)
	message := fmt.Sprintf("The body did not arrive within %d seconds.", seconds)
	return fault.New(fault.Timeout, message, fault.Detail{In: "body", Code: string(fault.Timeout), Message: message, Meta: fault.Meta{"seconds": seconds}})
}

func tooLarge(limit int64) error {
	return fault.New(fault.BodyTooLarge, fmt.Sprintf("The body is larger than %d MiB.", limit>>20),
		fault.Detail{In: "body", Code: string(fault.BodyTooLarge), Message: "The body is too large.", Meta: fault.Meta{"limit_bytes": limit}})
}

func checkType(r *request) error {
	media, params, err := mime.ParseMediaType(r.http.Header.Get("Content-Type"))
	if r.route.body == rawBody {
		if err != nil || !slices.Contains(uploadTypes, media) {
			return unsupported(r, "Content-Type", "Send the bytes of a picture with its media type, or as application/octet-stream.", uploadTypes...)
		}
		return nil
	}
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
	switch r.route.body {
	case patchBody:
		return "application/merge-patch+json, application/json"
	case rawBody:
		return strings.Join(uploadTypes, ", ")
	default:
		return "application/json"
	}
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
