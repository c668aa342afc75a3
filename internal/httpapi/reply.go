package httpapi

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"fanfare/internal/account"
	"fanfare/internal/asset"
	"fanfare/internal/fault"
	"fanfare/internal/ident"
	"fanfare/internal/page"
	"fanfare/internal/record"
)

// response is the result of an operation.
type response struct {
	status int
	// data is the JSON under "data". A list has docs and cursor instead.
	data []byte
	docs []record.Doc
	list bool
	// cursor is the cursor of the next page, empty on the last page.
	cursor string
	// etag and location are set for a single record.
	etag     string
	location string
	replayed bool
	// retryAfter is the Retry-After header in seconds, 0 for none; applied is
	// the Preference-Applied header.
	retryAfter int
	applied    string
	// warnings is the JSON array under "warnings", nil for none.
	warnings []byte
	// file is sent instead of JSON. So is text, with textType as its
	// Content-Type; text may be JSON with further members beside "data".
	file     *asset.File
	text     []byte
	textType string
}

// found returns the response with a document. A document with a version has an
// ETag.
func found(d record.Doc) response {
	res := response{status: http.StatusOK, data: d.JSON}
	if d.Version > 0 {
		res.etag = d.ETag()
	}
	return res
}

// created returns the 201 response with a new record.
func (r *request) created(d record.Doc, id ident.ID) response {
	res := found(d)
	res.status, res.location = http.StatusCreated, collection(r.route.pattern)+string(id)
	return res
}

// encoded returns the response with v as JSON.
func encoded(v any) (response, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	return response{status: http.StatusOK, data: b}, err
}

var (
	openData  = []byte(`{"data":`)
	closeData = []byte(`}`)
)

// reply sends a successful response.
func (a *API) reply(r *request, res response) {
	defer a.releaseBody(r)
	if err := a.reserveAnswer(r, &res); err != nil {
		a.fail(r, err)
		return
	}
	if res.file != nil {
		r.sendFile(res.file)
		return
	}
	h := r.w.Header()
	if res.location != "" {
		h["Location"] = []string{res.location}
	}
	if res.replayed {
		h["Idempotency-Replayed"] = hReplayed
	}
	if res.retryAfter > 0 {
		h["Retry-After"] = []string{strconv.Itoa(res.retryAfter)}
	}
	if res.applied != "" {
		h["Preference-Applied"] = []string{res.applied}
	}
	if res.etag != "" {
		r.header(h, 1, "Etag", res.etag)
		if r.http.Method == http.MethodGet || r.http.Method == http.MethodHead {
			if noneMatch(r.http.Header["If-None-Match"], res.etag) {
				r.head(http.StatusNotModified)
				return
			}
		}
	}
	if res.list {
		a.replyList(r, res)
		return
	}
	if res.textType != "" {
		a.send(r, res.status, res.textType, res.text)
		return
	}
	if res.warnings != nil {
		b := append(append([]byte(`{"data":`), res.data...), `,"warnings":`...)
		a.send(r, res.status, typeJSON, append(append(b, res.warnings...), '}'))
		return
	}
	// Three writes into the buffer of net/http cost less than one more copy.
	r.start(res.status, typeJSON, len(openData)+len(res.data)+len(closeData))
	_, _ = r.w.Write(openData)
	_, _ = r.w.Write(res.data)
	_, _ = r.w.Write(closeData)
}

// typeJSON is the Content-Type of almost every response.
const typeJSON = "application/json; charset=utf-8"

// start sends the header of a response with a known size.
func (r *request) start(status int, mediaType string, size int) {
	r.setType(mediaType)
	r.header(r.w.Header(), 2, "Content-Length", strconv.Itoa(size))
	r.head(status)
}

// head sends the status and the header. They cannot change afterward.
func (r *request) head(status int) {
	r.replied, r.status = true, status
	r.w.WriteHeader(status)
}

func (r *request) setType(mediaType string) {
	if mediaType == typeJSON {
		r.w.Header()["Content-Type"] = hJSON
		return
	}
	r.w.Header()["Content-Type"] = []string{mediaType}
}

// reserveAnswer reserves the memory of a large response until it is sent, from
// what there is for bodies: clients that read slowly must not fill the memory.
// Choice: the response to a change is sent in any case. It has one record, and
// the number of requests of a workspace is limited.
func (a *API) reserveAnswer(r *request, res *response) error {
	size := int64(len(res.data) + len(res.text))
	for i := range res.docs {
		size += int64(len(res.docs[i].JSON))
	}
	changes := r.http.Method != http.MethodGet && (r.route == nil || !r.route.reads)
	if size <= unreservedBytes || changes {
		return nil
	}
	return a.reserve(r, size)
}

func (a *API) replyList(r *request, res response) {
	end := `],"has_more":false,"next_cursor":null`
	if res.cursor != "" {
		end = `],"has_more":true,"next_cursor":"` + res.cursor + `"`
		r.link(res.cursor)
	}
	if res.warnings != nil {
		end += `,"warnings":` + string(res.warnings)
	}
	end += "}"
	size := len(openList) + max(len(res.docs)-1, 0) + len(end)
	for i := range res.docs {
		size += len(res.docs[i].JSON)
	}
	a.stream(r, res.status, typeJSON, size, func(w io.Writer) {
		b := pages.Get().(*bufio.Writer)
		b.Reset(w)
		// An error means that the client disconnected.
		_, _ = b.WriteString(openList)
		for i := range res.docs {
			if i > 0 {
				_ = b.WriteByte(',')
			}
			_, _ = b.Write(res.docs[i].JSON)
		}
		_, _ = b.WriteString(end)
		_ = b.Flush()
		b.Reset(nil)
		pages.Put(b)
	})
}

const openList = `{"data":[`

// link sets the Link header to the next page.
func (r *request) link(cursor string) {
	link := "<" + r.http.URL.EscapedPath() + "?cursor=" + cursor
	if limit := r.http.URL.Query().Get("limit"); limit != "" {
		link += "&limit=" + limit
	}
	r.w.Header()["Link"] = []string{link + `>; rel="next"`}
}

// pages are buffers for lists. Most pages fit, as 20 records of about 1.6 kB do,
// and are sent at once. A page of large records is not copied as a whole.
var pages = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 48<<10) }}

const minCompressed = 1 << 10

var compressors = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return z
}}

// send sends a body.
func (a *API) send(r *request, status int, mediaType string, body []byte) {
	a.stream(r, status, mediaType, len(body), func(w io.Writer) { _, _ = w.Write(body) })
}

// stream sends a body of the given size, compressed if the route allows it and
// the client accepts it.
func (a *API) stream(r *request, status int, mediaType string, size int, write func(io.Writer)) {
	if r.route != nil && r.route.compress {
		h := r.w.Header()
		h["Vary"] = append(h["Vary"], "Accept-Encoding")
		if size >= minCompressed && acceptsGzip(r.http.Header.Get("Accept-Encoding")) {
			if small := a.compressed(r, write); small != nil {
				h["Content-Encoding"] = []string{"gzip"}
				r.start(status, mediaType, len(small))
				_, _ = r.w.Write(small)
				return
			}
		}
	}
	r.start(status, mediaType, size)
	write(r.w)
}

// compressWait is how long a response waits for the turn to be compressed.
const compressWait = time.Second

// compressed returns the compressed body, nil if its turn did not come in time.
// Choice: compression takes turns like lists, because it costs more than they
// do. The turn ends before the client reads, which may take long.
func (a *API) compressed(r *request, write func(io.Writer)) []byte {
	leave, err := a.lists.Take(r.http.Context(), r.caller.Workspace.ID, compressWait)
	if err != nil {
		return nil
	}
	defer leave()
	var b bytes.Buffer
	z := compressors.Get().(*gzip.Writer)
	defer compressors.Put(z)
	z.Reset(&b)
	write(z)
	if err := z.Close(); err != nil {
		return nil
	}
	return b.Bytes()
}

func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		coding, rest, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(coding, "gzip") {
			return !strings.HasPrefix(qualityOf(rest), "0") || strings.Trim(qualityOf(rest), "0.") != ""
		}
	}
	return false
}

// noneMatch reports whether an If-None-Match header matches an ETag, by weak
// comparison.
func noneMatch(headers []string, etag string) bool {
	for _, header := range headers {
		for tag := range strings.SplitSeq(header, ",") {
			tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
			if tag == etag || tag == "*" {
				return true
			}
		}
	}
	return false
}

const internalMessage = "Something went wrong on our side; nothing was changed. Tell us the request id."

// statuses maps every fault code to its HTTP status.
var statuses = map[fault.Code]int{
	fault.MalformedRequest: 400, fault.MalformedJSON: 400, fault.InvalidParameter: 400, fault.InvalidCursor: 400, fault.InvalidIdempotencyKey: 400,
	fault.MissingAPIKey: 401, fault.InvalidAPIKey: 401, fault.APIKeyExpired: 401, fault.APIKeyRevoked: 401, fault.APIKeyOwnerInactive: 401,
	fault.HTTPSRequired: 403, fault.InsufficientPermissions: 403, fault.InsufficientScope: 403, fault.PlanFeatureUnavailable: 403, fault.WorkspaceSuspended: 403,
	fault.NotFound: 404, fault.RouteNotFound: 404, fault.UnknownAPIVersion: 404, fault.MethodNotAllowed: 405, fault.NotAcceptable: 406, fault.BodyTimeout: 408,
	fault.InvalidState: 409, fault.Archived: 409, fault.AlreadyExists: 409, fault.ConnectionReauthRequired: 409, fault.IdempotencyInProgress: 409,
	fault.APIVersionSunset: 410, fault.EndpointSunset: 410, fault.PreconditionFailed: 412,
	fault.BodyTooLarge: 413, fault.URITooLong: 414, fault.UnsupportedMediaType: 415,
	fault.ValidationFailed: 422, fault.IdempotencyKeyReused: 422, fault.QueryTooBroad: 422, fault.ContentRejected: 422,
	fault.RateLimitExceeded: 429,
	fault.Internal:          500, fault.UpstreamError: 502, fault.Unavailable: 503, fault.Timeout: 504,
}

type errorBody struct {
	Error struct {
		Code      fault.Code     `json:"code"`
		Message   string         `json:"message"`
		Details   []fault.Detail `json:"details"`
		RequestID ident.ID       `json:"request_id"`
		DocURL    string         `json:"doc_url"`
	} `json:"error"`
}

// fail sends an error response. An error that is not a fault is a bug: its text
// goes to the log with the request id and never to the caller.
func (a *API) fail(r *request, err error) {
	f := a.faultOf(r, err)
	r.code = f.Code
	status := statuses[f.Code]
	if r.caller != nil && (status >= 500 || status == http.StatusTooManyRequests || r.stopCharged()) {
		a.refund(r)
	}
	h := r.w.Header()
	if f.RetryAfter > 0 {
		h["Retry-After"] = []string{strconv.FormatInt(ceilSeconds(f.RetryAfter), 10)}
	}
	var body errorBody
	body.Error.Code, body.Error.Message, body.Error.Details = f.Code, f.Message, a.detailed(f)
	body.Error.RequestID = r.id
	body.Error.DocURL = a.Origin(r.http) + "/docs/errors#" + string(f.Code)
	b, encodeErr := json.Marshal(body, json.Deterministic(true))
	if encodeErr != nil {
		panic(encodeErr)
	}
	// The error may repeat names and values of the request. Mask API keys in
	// it, because responses are written to logs.
	a.send(r, status, typeJSON, []byte(account.Mask(string(b))))
}

// detailed returns the details of a fault. A fault without details gets the
// retry time or the time limit.
func (a *API) detailed(f *fault.Error) []fault.Detail {
	var meta fault.Meta
	switch {
	case len(f.Details) > 0:
	case f.Code == fault.Unavailable && f.RetryAfter > 0:
		meta = fault.Meta{"retry_after": ceilSeconds(f.RetryAfter)}
	case f.Code == fault.Timeout:
		meta = fault.Meta{"seconds": int64(a.TimeLimit / time.Second)}
	}
	if meta == nil {
		return f.Details
	}
	return []fault.Detail{{Code: string(f.Code), Message: f.Message, Meta: meta}}
}

func (a *API) faultOf(r *request, err error) *fault.Error {
	log := a.log(r).With("method", account.Mask(r.http.Method), "path", account.Mask(r.http.URL.Path))
	var f *fault.Error
	switch {
	case errors.Is(err, fault.ErrBusy) && errors.As(err, &f):
		a.refused.countRefusal(a.Log, r.now)
		return f
	case errors.As(err, &f):
		if statuses[f.Code] >= 500 {
			log.Error("request failed", "code", f.Code, "error", err)
		}
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Timeout, "The request took too long and was stopped; nothing was changed. Try again.")
	case errors.Is(err, context.Canceled):
		// The client disconnected and does not read this response.
		return fault.New(fault.Unavailable, "The request was given up.")
	case errors.Is(err, syscall.ENOSPC):
		// A file, such as an asset. The database reports this itself.
		log.Error("disk full", "error", err)
		return fault.DiskFull(err)
	}
	log.Error("request failed", "error", err)
	return fault.New(fault.Internal, internalMessage)
}

// log returns a logger with the request id and the client's X-Request-Id if it
// is printable. The latter helps to find a request and is never used as its id.
func (a *API) log(r *request) *slog.Logger {
	log, own := a.Log.With("request_id", r.id), r.http.Header.Get("X-Request-Id")
	if own == "" || len(own) > 128 {
		return log
	}
	for _, c := range []byte(own) {
		if c <= ' ' || c >= 0x7f {
			return log
		}
	}
	return log.With("client_request_id", account.Mask(own))
}

// pageOf returns the response with one page of a list.
func (a *API) pageOf(r *request, p page.Page, params string) response {
	res := response{status: http.StatusOK, list: true, docs: p.Docs}
	if p.Next != nil {
		res.cursor = a.Cursors().Seal(r.caller.Workspace.ID, r.route.operation, page.Cursor{Params: params, After: *p.Next})
	}
	return res
}
