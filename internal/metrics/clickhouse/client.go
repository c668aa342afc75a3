package clickhouse

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fanfare/internal/metrics/pgtables"
	"fanfare/internal/outbound"
	"fanfare/internal/secret"
)

// maxTime is how long a statement may take. Rows of a replaced slot stay longer.
const maxTime = 15 * time.Minute

// maxAnswer is the size of the largest answer. It stops endless answers.
const maxAnswer = 8 << 30

// maxError is the number of bytes read of an error.
const maxError = 4 << 10

// address is the address of a server and database.
type address struct {
	server   string
	database string
	user     string
	password secret.Text
	// cluster is the name of the cluster, "" for a single server.
	cluster string
}

// namePattern is the syntax of names of databases and clusters, because names
// cannot be parameters.
var namePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// parseAddress reads an address such as
// clickhouse+https://user:password@host:8443/database?cluster=name.
func parseAddress(raw string) (a address, err error) {
	u, err := url.Parse(raw)
	if err != nil {
		// The error of url.Parse contains the password.
		return a, errors.New("the address of ClickHouse is not a URL")
	}
	scheme, ok := strings.CutPrefix(u.Scheme, "clickhouse+")
	if !ok || scheme != "http" && scheme != "https" || u.Host == "" {
		return a, errors.New("the address of ClickHouse must begin with clickhouse+http:// or clickhouse+https:// and name a host")
	}
	a = address{server: scheme + "://" + u.Host + "/", database: strings.Trim(u.Path, "/"), user: u.User.Username(), cluster: u.Query().Get("cluster")}
	if a.database == "" {
		a.database = "default"
	}
	for key := range u.Query() {
		if key != "cluster" {
			return a, fmt.Errorf("the address of ClickHouse has an unknown setting %q; there is only cluster", key)
		}
	}
	for _, n := range []string{a.database, a.cluster} {
		if n != "" && !namePattern.MatchString(n) {
			return a, fmt.Errorf("%q cannot be the name of a database or cluster: use letters, digits and _", n)
		}
	}
	password, _ := u.User.Password()
	a.password = secret.New(password)
	return a, nil
}

// client sends statements over ClickHouse's HTTP interface.
type client struct {
	address
	http *outbound.Client
}

func newClient(a address) (*client, error) {
	c, err := outbound.New(outbound.Options{Policy: outbound.Trusted(), Timeout: maxTime + time.Minute, MaxBytes: maxAnswer})
	return &client{a, c}, err
}

// params are the parameters of a statement. All are integers and arrays of
// integers, so none needs an escape.
type params map[string]string

// maxList is the length of the longest array: a server accepts parameters of 128
// KiB.
const maxList = 6000

func (p params) add(kind, value string) string {
	n := fmt.Sprintf("p%d", len(p))
	p[n] = value
	return "{" + n + ":" + kind + "}"
}

// number adds an integer parameter and returns its placeholder.
func number[N int32 | int64](p params, n N) string {
	return p.add("Int64", strconv.FormatInt(int64(n), 10))
}

// arrayParams adds integers as one or more array parameters and returns their
// placeholders.
func arrayParams[N int32 | int64](p params, numbers []N) (names []string) {
	for part := range slices.Chunk(numbers, maxList) {
		text := []byte{'['}
		for i, n := range part {
			if i > 0 {
				text = append(text, ',')
			}
			text = strconv.AppendInt(text, int64(n), 10)
		}
		names = append(names, p.add("Array(Int64)", string(append(text, ']'))))
	}
	if names == nil {
		names = []string{p.add("Array(Int64)", "[]")}
	}
	return names
}

// arrayParam adds integers and returns one expression for an array of any length.
func arrayParam[N int32 | int64](p params, numbers []N) string {
	names := arrayParams(p, numbers)
	if len(names) == 1 {
		return names[0]
	}
	return "arrayConcat(" + strings.Join(names, ", ") + ")"
}

// in returns the condition that an expression has one of the numbers.
func in[N int32 | int64](p params, expression string, numbers []N) string {
	names := arrayParams(p, numbers)
	for i, n := range names {
		names[i] = expression + " IN " + n
	}
	return "(" + strings.Join(names, " OR ") + ")"
}

// Settings of statements. Settings that affect results are explicit, because an
// administrator can change their defaults.
var (
	// readonly 2 allows a query these settings and no change.
	readSettings = map[string]string{
		"readonly": "2", "wait_end_of_query": "1", "join_use_nulls": "0", "enable_positional_arguments": "1", "cancel_http_readonly_queries_on_client_close": "1",
	}
	writeSettings = map[string]string{
		"wait_end_of_query": "1", "async_insert": "0", "insert_deduplicate": "0", "max_partitions_per_insert_block": "0",
		"max_execution_time": strconv.Itoa(int(maxTime.Seconds())),
	}
	// Reads of a cluster see what a write has put on a majority of its replicas.
	clusterReads  = map[string]string{"select_sequential_consistency": "1"}
	clusterWrites = map[string]string{"distributed_foreground_insert": "1", "insert_quorum": "auto", "insert_quorum_parallel": "0"}
)

// query runs a query and returns its answer, which the caller closes. The server
// stops a query whose context has ended.
func (c *client) query(ctx context.Context, text string, p params) (io.ReadCloser, error) {
	return c.queryLimited(ctx, text, p, nil)
}

// queryLimited is query with more settings.
func (c *client) queryLimited(ctx context.Context, text string, p params, limits map[string]string) (io.ReadCloser, error) {
	settings, id := c.settings(readSettings, clusterReads), "fanfare_"+strings.ToLower(rand.Text())
	maps.Copy(settings, limits)
	settings["query_id"], settings["max_execution_time"] = id, strconv.Itoa(int(timeLeft(ctx).Seconds())+1)
	body, err := c.sendForm(ctx, text, p, settings)
	if err != nil && ctx.Err() != nil {
		c.kill(ctx, id)
	}
	return body, err
}

// timeLeft returns the time until a context ends, at most maxTime.
func timeLeft(ctx context.Context) time.Duration {
	if end, found := ctx.Deadline(); found {
		return max(min(time.Until(end), maxTime), 0)
	}
	return maxTime
}

// killTime is how long the server has to accept a KILL.
const killTime = 2 * time.Second

// kill ends a query on the server. The server also ends it when it notices the
// closed connection, but a proxy may keep that open.
func (c *client) kill(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	on := ""
	if c.cluster != "" {
		// The query may run on another server than the one that gets this request.
		on = " ON CLUSTER " + c.cluster
	}
	// An error means that the server is gone or that the query has ended.
	_ = c.define(ctx, "KILL QUERY"+on+" WHERE query_id = '"+id+"' ASYNC")
}

// mutate runs a statement that changes stored facts, and waits for all replicas.
func (c *client) mutate(ctx context.Context, text string, p params) error {
	body, err := c.sendForm(ctx, text, p, map[string]string{"mutations_sync": "2", "wait_end_of_query": "1"})
	if err != nil {
		return err
	}
	return body.Close()
}

// sendForm sends a statement and its parameters as a form, because a URL has a
// limited length.
func (c *client) sendForm(ctx context.Context, text string, p params, settings map[string]string) (io.ReadCloser, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	if err := w.WriteField("query", text); err != nil {
		return nil, err
	}
	for n, value := range p {
		if err := w.WriteField("param_"+n, value); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return c.send(ctx, url.Values{}, settings, w.FormDataContentType(), &form)
}

// insert runs an INSERT with data.
func (c *client) insert(ctx context.Context, text string, data []byte) error {
	body, err := c.send(ctx, url.Values{"query": {text}}, c.settings(writeSettings, clusterWrites), "application/octet-stream", bytes.NewReader(data))
	if err != nil {
		return err
	}
	return body.Close()
}

// define runs a statement without data and parameters.
func (c *client) define(ctx context.Context, text string) error {
	body, err := c.send(ctx, url.Values{"query": {text}}, nil, "application/octet-stream", http.NoBody)
	if err != nil {
		return err
	}
	return body.Close()
}

func (c *client) settings(all, cluster map[string]string) map[string]string {
	all = maps.Clone(all)
	if c.cluster != "" {
		maps.Copy(all, cluster)
	}
	return all
}

func (c *client) send(ctx context.Context, values url.Values, settings map[string]string, contentType string, body io.Reader) (io.ReadCloser, error) {
	values.Set("database", c.database)
	for n, v := range settings {
		values.Set(n, v)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.server+"?"+values.Encode(), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", contentType)
	if c.user != "" {
		req.Header.Set("X-Clickhouse-User", c.user)
		req.Header.Set("X-Clickhouse-Key", c.password.Reveal())
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, unavailable(ctx, err)
	}
	if res.StatusCode == http.StatusOK {
		return res.Body, nil
	}
	defer func() { _ = res.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxError))
	code, _ := strconv.Atoi(res.Header.Get("X-Clickhouse-Exception-Code"))
	e := &serverError{res.StatusCode, code, strings.TrimSpace(string(text))}
	if code == 0 || slices.Contains(temporaryErrors, code) {
		return nil, unavailable(ctx, e)
	}
	return nil, e
}

// serverError is an error response of ClickHouse.
type serverError struct {
	status, code int
	text         string
}

func (e *serverError) Error() string {
	return fmt.Sprintf("ClickHouse answered with status %d, code %d: %s", e.status, e.code, e.text)
}

// temporaryErrors are the codes of errors about the server and not about the
// statement: a timeout, too many queries, no memory, a read-only table, too many
// parts, replicas that are missing or behind.
var temporaryErrors = []int{159, 202, 241, 242, 252, 285, 286, 289, 319, 999}

// tooManyRows is the code of an error about max_result_rows.
const tooManyRows = 396

func unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return pgtables.Unavailable(err)
}
