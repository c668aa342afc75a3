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
	"fanfare/internal/body"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
)

// Maximum sizes of request bodies.
const (
	maxSmall = 64 << 10
	maxBody  = 1 << 20
	maxFeed  = 10 << 20
	maxFile  = asset.MaxBytes
)

// bodyRule defines the size and media types of a kind of body.
type bodyRule struct {
	limit int64
	types []string
	// advice is the error message for another media type.
	advice string
	// raw is true if the operation parses the body itself.
	raw bool
}

const jsonAdvice = "Send the body as application/json. (curl -d sends a form unless you add -H 'Content-Type: application/json'.)"

var bodyRules = map[bodyKind]bodyRule{
	optionalBody: {limit: maxBody, types: []string{"application/json"}, advice: jsonAdvice},
	jsonBody:     {limit: maxBody, types: []string{"application/json"}, advice: jsonAdvice},
	smallBody:    {limit: maxSmall, types: []string{"application/json"}, advice: jsonAdvice},
	patchBody:    {limit: maxBody, types: []string{"application/merge-patch+json", "application/json"}, advice: jsonAdvice},
	pictureBody: {
		limit: maxFile, types: uploadTypes, raw: true,
		advice: "Send the bytes of a picture with its media type, or as application/octet-stream.",
	},
	feedBody: {
		limit: maxFeed, types: []string{"application/json", ndjson}, raw: true,
		advice: "Send rows as a JSON array with application/json, or one a line with application/x-ndjson. (curl -d sends a form unless you add -H 'Content-Type: application/json'.)",
	},
	tableBody: {
		limit: maxFile, types: []string{"text/csv", "text/tab-separated-values", "application/vnd.apache.parquet", "application/octet-stream"}, raw: true,
		advice: "Send the bytes of a CSV, TSV or Parquet file with its media type, or as application/octet-stream. (curl -d sends a form; use --data-binary and -H 'Content-Type: text/csv'.)",
	},
}

// ndjson is the media type of newline-delimited JSON.
const ndjson = "application/x-ndjson"

// readBody reads the body, checks its media type, size and JSON syntax, and
// reads the query parameters of operations with a body.
func (a *API) readBody(r *request) error {
	if r.route.body == noBody {
		return nil
	}
	sent, err := a.receive(r)
	if err != nil {
		return err
	}
	if r.params, err = r.query(r.route.params...); err != nil {
		return err
	}
	r.body = sent
	if bodyRules[r.route.body].raw {
		return nil
	}
	if len(sent) == 0 && r.route.body == optionalBody {
		r.object = body.Value{Kind: body.KindObject}
		return nil
	}
	r.object, err = body.Parse(sent)
	return err
}

func (a *API) fetchBody(r *request) ([]byte, error) {
	if e := r.http.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, unsupported(r, "Content-Encoding", "Send the body without Content-Encoding.", "identity")
	}
	if r.http.ContentLength == 0 {
		return nil, nil
	}
	limit := bodyRules[r.route.body].limit
	in := io.Reader(http.MaxBytesReader(r.w, r.http.Body, limit))
	if r.http.ContentLength < 0 {
		// Without Content-Length, only a read shows whether a body follows.
		r.setReadDeadline(time.Now().Add(bodyGrace)) //nolint:forbidigo // sockets know only the machine's own time
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
	expected := limit
	if r.http.ContentLength > 0 {
		expected = r.http.ContentLength
	}
	free := int64(unreservedBytes)
	if r.caller == nil {
		free = anonymousUnreserved
	}
	body, err := readAll(in, expected, free, func(more int64) error { return a.reserve(r, more) }, r.setReadDeadline)
	var tooMuch *http.MaxBytesError
	var ours *fault.Error
	switch {
	case errors.As(err, &ours):
		return nil, err
	case errors.As(err, &tooMuch):
		return nil, tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, bodyTimeout().Because(err)
	case err != nil:
		return nil, fault.New(fault.MalformedRequest, "The body could not be read to its end.").Because(err)
	}
	r.setReadDeadline(time.Time{})
	return body, nil
}

// setReadDeadline sets the read deadline of the connection. It ignores connections
// without deadlines, because the time limit of the operation still applies.
func (r *request) setReadDeadline(end time.Time) {
	_ = http.NewResponseController(r.w).SetReadDeadline(end)
}

// reserve reserves memory for more bytes of the body or the response, until
// releaseBody.
func (a *API) reserve(r *request, more int64) error {
	if r.reserved == 0 {
		r.owners = []ident.ID{anonymousOwner}
		if r.caller != nil {
			r.owners = []ident.ID{a.founder(r), r.caller.User.ID}
		}
	}
	if err := a.uploads.reserveBytes(more, r.owners...); err != nil {
		return err
	}
	r.reserved += more
	return nil
}

// releaseBody releases the memory of the body or the response.
func (a *API) releaseBody(r *request) {
	if r.reserved > 0 {
		a.uploads.release(r.reserved, r.owners...)
		r.reserved = 0
	}
}

func bodyTimeout() *fault.Error {
	message := fmt.Sprintf("The body came too slowly: it may not fall %d seconds behind %d kB per second.", int64(bodyGrace/time.Second), minBodyRate>>10)
	return fault.New(fault.BodyTimeout, message, fault.Detail{
		In: "body", Code: string(fault.BodyTimeout), Message: message, Meta: fault.Meta{"seconds": int64(bodyGrace / time.Second), "bytes_per_second": minBodyRate},
	})
}

func tooLarge(limit int64) error {
	size := fmt.Sprintf("%d MiB", limit>>20)
	if limit < 1<<20 {
		size = fmt.Sprintf("%d KiB", limit>>10)
	}
	return fault.New(fault.BodyTooLarge, "The body is larger than "+size+".",
		fault.Detail{In: "body", Code: string(fault.BodyTooLarge), Message: "The body is too large.", Meta: fault.Meta{"limit_bytes": limit}})
}

func checkType(r *request) error {
	rule := bodyRules[r.route.body]
	media, params, err := mime.ParseMediaType(r.http.Header.Get("Content-Type"))
	charset := params["charset"]
	if err != nil || !slices.Contains(rule.types, media) || !rule.raw && charset != "" && !strings.EqualFold(charset, "utf-8") {
		return unsupported(r, "Content-Type", rule.advice, rule.types...)
	}
	r.media = media
	return nil
}

func unsupported(r *request, field, message string, allowed ...string) error {
	header := "Accept-Post"
	if r.route.body == patchBody {
		header = "Accept-Patch"
	}
	r.w.Header()[header] = []string{strings.Join(bodyRules[r.route.body].types, ", ")}
	return fault.New(fault.UnsupportedMediaType, message, fault.Detail{
		Field: field, In: "header", Code: string(fault.UnsupportedMediaType), Message: message, Meta: fault.Meta{"allowed": allowed},
	})
}

// query reads the query string. It rejects parameters that are not in known.
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
