package store_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"fanfare/internal/store"
)

// allowed lists the statements on tenant data without a workspace, each with
// the reason.
var allowed = []exception{
	{`SELECT w.id, … FROM api_key k … WHERE k.hash = $1`, "a key is looked up before anybody knows whose it is"},
	{`SELECT w.id, … FROM api_key k … WHERE k.revoked_at IS NULL ORDER BY k.id`, "the sweep looks at all live keys"},
	{`SELECT w.id, … FROM member m … WHERE m.user_id = $1 AND m.inactive_at IS NULL ORDER BY m.workspace_id`, "a person is shown all workspaces that the person is in"},
	{`SELECT workspace_id FROM member WHERE user_id = $1 AND inactive_at IS NULL ORDER BY workspace_id`, "what happens to a person is noted in all workspaces that the person is in"},
	{`SELECT count(*) FROM member WHERE user_id = $1 AND role = 'owner' AND inactive_at IS NULL`, "a person owns so many workspaces in all"},
	{`SELECT s.id, … FROM session s LEFT JOIN member m … WHERE s.hash = $1`, "a session is looked up before anybody knows whose it is"},
	{`SELECT t.hash, … FROM token t … WHERE t.hash = $1`, "a link is looked up before anybody knows where it leads"},
	{`SELECT t.hash, … FROM token t … WHERE t.kind = 'invite' AND t.subject = $1 ORDER BY t.id`, "a person may have invitations to several workspaces"},
	{`DELETE FROM token WHERE hash = $1`, "who holds a link may use it, wherever it leads"},
	{`UPDATE token SET tries = tries + 1 WHERE hash = $1 AND tries < $2`, "who holds a ticket may try it; tickets have no workspace"},
	{`DELETE FROM token WHERE expires_at <= $1`, "the sweep takes links of all workspaces that have expired"},
	{`SELECT run_at FROM job ORDER BY run_at LIMIT 1`, "the runner waits for whichever job is next"},
	{`UPDATE job SET run_at = $1, attempt = attempt + 1, last_error = '' WHERE id IN (SELECT id FROM job WHERE run_at <= $2 AND …) RETURNING …`, "a claim takes what is due, of every workspace"},
	{`UPDATE job SET run_at = $1 WHERE (attempt > 0 OR kind = $2) AND run_at > $3`, "at the start nobody works, for any workspace"},
	{`INSERT INTO job … ON CONFLICT (uniq) DO …`, "uniq ends in the record's id, which no other workspace has, or is the kind of a job of the system"},
	{`SELECT seq FROM audit_head`, "the changes of all workspaces are counted together"},
	{`SELECT workspace_id FROM audit_head UNION SELECT workspace_id FROM audit…`, "the check of the audit log goes through all chains"},
	{`SELECT workspace_id, opened_at, minute, day_of, day FROM quota ORDER BY workspace_id`, "the counters of all workspaces are taken over at the start"},
	{`SELECT workspace_id, ‹columns›, checksum FROM ‹table› WHERE (workspace_id, id) > ($1, $2) ORDER BY workspace_id, id LIMIT $3`, "old shapes are rewritten in all workspaces, in the order of the key"},
	{`SELECT workspace_id, id, doc FROM ‹table› WHERE (workspace_id, id) > ($1, $2) ORDER BY workspace_id, id LIMIT $3…`, "old records of all workspaces get their words, in the order of the key"},
	{`SELECT sealed FROM model_provider`, "the master keys that secrets of all workspaces are under"},
	{`SELECT 1 FROM connection WHERE last_success_at IS NOT NULL LIMIT 1`, "whether a store without a mark of its facts had any, of any workspace"},
	{`SELECT private FROM connection WHERE private <> ''`, "the master keys that secrets of all workspaces are under"},
	{`SELECT workspace_id, kind, settings, sealed FROM model_provider WHERE workspace_id IN ($1, '') ORDER BY workspace_id DESC, kind`, "a workspace uses its own models and those that the operator has set up for all"},
	{`SELECT count(*) FROM ‹table›`, "a backup counts all rows"},
	{`SELECT ‹columns› FROM ‹table› ORDER BY ‹columns› LIMIT 1000`, "a backup reads all rows"},
	{`SELECT ‹columns› FROM ‹table› WHERE (‹columns›) > (‹values›) ORDER BY ‹columns› LIMIT 1000`, "a backup reads all rows, in the order of the key"},
	{`SELECT 1 FROM ‹table› LIMIT 1`, "a restore wants all tables to be empty"},
}

// exception is a statement with placeholders for its variable parts.
type exception struct{ statement, reason string }

var marks = map[string]string{`…`: `.*`, `‹table›`: `\w+`, `‹columns›`: `[\w, ]+`, `‹values›`: `[$\d, ]+`}

func (e exception) pattern() *regexp.Regexp {
	p := regexp.QuoteMeta(e.statement)
	for mark, meaning := range marks {
		p = strings.ReplaceAll(p, mark, meaning)
	}
	return regexp.MustCompile("^" + p + "$")
}

var exceptions = sync.OnceValue(func() []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, a := range allowed {
		list = append(list, a.pattern())
	}
	return list
})

// excepted returns which exception covers a statement, -1 for none.
func excepted(query string) int {
	text := space.ReplaceAllString(strings.TrimSpace(query), " ")
	return slices.IndexFunc(exceptions(), func(p *regexp.Regexp) bool { return p.MatchString(text) })
}

// allowedClock is the only statement that may read the database's clock.
const allowedClock = `SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`

var impure = regexp.MustCompile(`(?i)\b(now|random|clock_timestamp|statement_timestamp|transaction_timestamp|gen_random_uuid|datetime|julianday|strftime|unixepoch|randomblob|nextval)\s*\(|\bcurrent_(time|timestamp|date)\b|\blocaltime`)

// tenantTables returns the registered tables with a workspace column.
func tenantTables() map[string]bool {
	tables := map[string]bool{}
	columns, _ := store.Tables()
	for name, list := range columns {
		tables[name] = slices.Contains(list, "workspace_id")
	}
	return tables
}

var (
	literal     = regexp.MustCompile(`'(?:[^']|'')*'`)
	space       = regexp.MustCompile(`\s+`)
	placeholder = regexp.MustCompile(`\$(\d+)`)
	tableRef    = regexp.MustCompile(`\b(?:FROM|JOIN|UPDATE|INTO) (\w+)(?: (?:AS )?(\w+))?`)
	intoColumns = regexp.MustCompile(`^INSERT INTO (\w+) \(([^)]*)\)`)
	// allColumns matches every column of a table. insertStart and insertColumns
	// match an INSERT, and one that lists its columns.
	allColumns    = regexp.MustCompile(`(?i)(?:\bSELECT|\bDISTINCT|\bRETURNING|,) \*|\w\.\*`)
	insertStart   = regexp.MustCompile(`(?i)\bINSERT INTO `)
	insertColumns = regexp.MustCompile(`(?i)\bINSERT INTO [\w.]+ \(\w+(?:, \w+)*\) `)
	onConflict    = regexp.MustCompile(`ON CONFLICT \(([^)]*)\)`)
	commaJoin     = regexp.MustCompile(`\bFROM \w+( \w+)?,`)
	boundAlone    = regexp.MustCompile(`(^|[^.\w])workspace_id = \$\d+`)
	joined        = regexp.MustCompile(`\b(\w+)\.workspace_id = (\w+)\.workspace_id`)
	sqlWords      = []string{"WHERE", "SET", "JOIN", "ON", "ORDER", "LIMIT", "GROUP", "UNION", "FOR", "VALUES", "INNER", "LEFT", "RETURNING", "USING", "DO"}
)

// linter checks statements.
type linter struct{ tenant map[string]bool }

// problems returns the problems of a statement that has no exception.
func (l linter) problems(query string) []string {
	var list []string
	text := space.ReplaceAllString(strings.TrimSpace(query), " ")
	for i, m := range placeholder.FindAllStringSubmatch(text, -1) {
		if m[1] != fmt.Sprint(i+1) {
			list = append(list, fmt.Sprintf("placeholder %d is $%s: one driver binds by first appearance", i+1, m[1]))
			break
		}
	}
	text = literal.ReplaceAllString(text, "''")
	if impure.MatchString(text) && text != literal.ReplaceAllString(allowedClock, "''") {
		list = append(list, "it asks the database for the time or for chance; both come from Go")
	}
	if allColumns.MatchString(text) {
		list = append(list, "it does not name its columns; a later release may add one")
	}
	if insertStart.MatchString(text) && !insertColumns.MatchString(text) {
		list = append(list, "it inserts without a list of columns; a later release may add one")
	}
	if columns := intoColumns.FindStringSubmatch(text); columns != nil && l.tenant[columns[1]] {
		if !slices.Contains(strings.Split(columns[2], ", "), "workspace_id") {
			list = append(list, "it inserts into "+columns[1]+" without a workspace")
		}
		if on := onConflict.FindStringSubmatch(text); on != nil && !slices.Contains(strings.Split(on[1], ", "), "workspace_id") {
			list = append(list, "its conflict may be with a row of another workspace")
		}
	}
	for _, scope := range scopes(text) {
		list = append(list, l.scope(scope)...)
	}
	return list
}

// scopes splits a statement into its selects.
func scopes(text string) []string {
	var list []string
	for {
		i := strings.LastIndex(text, "(SELECT ")
		if i < 0 {
			break
		}
		depth, end := 0, len(text)-1
		for j := i; j < len(text); j++ {
			switch text[j] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth == 0 {
				end = j
				break
			}
		}
		list = append(list, scopes(text[i+1:end])...)
		text = text[:i] + "()" + text[end+1:]
	}
	return append(list, strings.Split(text, " UNION ")...)
}

// scope checks the tenant tables of one select, update or delete.
func (l linter) scope(text string) []string {
	insert := intoColumns.MatchString(text)
	names := map[string]string{} // name in the statement → table
	for _, m := range tableRef.FindAllStringSubmatch(text, -1) {
		name := m[2]
		if name == "" || slices.Contains(sqlWords, name) {
			name = m[1]
		}
		if l.tenant[m[1]] && !insert {
			names[name] = m[1]
		}
	}
	if len(names) == 0 {
		return nil
	}
	if commaJoin.MatchString(text) {
		return []string{"it joins by comma, which hides the condition"}
	}
	_, where, _ := strings.Cut(text, " WHERE ")
	if strings.Contains(withoutGroups(where), " OR ") {
		return []string{"an OR beside the workspace lets other workspaces in"}
	}
	bound := func(name string) bool {
		if len(names) == 1 && boundAlone.MatchString(where) {
			return true
		}
		return regexp.MustCompile(`\b` + name + `\.workspace_id = \$\d+`).MatchString(where)
	}
	ok := map[string]bool{}
	for name := range names {
		ok[name] = bound(name)
	}
	// A table that is joined on the workspace is bound by the other one.
	for range names {
		for _, m := range joined.FindAllStringSubmatch(text, -1) {
			ok[m[1]] = ok[m[1]] || ok[m[2]]
			ok[m[2]] = ok[m[2]] || ok[m[1]]
		}
	}
	var list []string
	for name, table := range names {
		if !ok[name] {
			list = append(list, "it reaches "+table+" of every workspace")
		}
	}
	return list
}

// withoutGroups removes everything in parentheses.
func withoutGroups(text string) string {
	var b strings.Builder
	depth := 0
	for _, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0:
			b.WriteRune(c)
		}
	}
	return b.String()
}

func TestLinter(t *testing.T) {
	t.Parallel()
	l := linter{tenantTables()}
	for _, table := range []string{"campaign", "ref", "event", "once", "audit", "audit_head", "job", "member", "api_key", "api_key_use", "quota"} {
		if !l.tenant[table] {
			t.Errorf("%s is not seen as a tenant's table", table)
		}
	}
	for _, table := range []string{"setting", "workspace", "account_user"} {
		if l.tenant[table] {
			t.Errorf("%s is seen as a tenant's table", table)
		}
	}
	for _, test := range []struct{ query, want string }{
		{`SELECT doc FROM campaign WHERE workspace_id = $1 AND id = $2`, ""},
		{`SELECT doc FROM campaign WHERE id = $1`, "every workspace"},
		{`SELECT doc FROM campaign WHERE id = $1 AND 'workspace_id = $2' <> ''`, "every workspace"},
		{`SELECT doc FROM campaign WHERE workspace_id = $1 OR id = $2`, "OR"},
		{`SELECT doc FROM campaign WHERE workspace_id = $1 AND (id = $2 OR id = $3)`, ""},
		{`SELECT doc FROM campaign WHERE workspace_id = $1 AND id IN (SELECT record_id FROM ref WHERE value = $2)`, "ref of every"},
		{`SELECT doc FROM campaign WHERE id IN (SELECT record_id FROM ref WHERE workspace_id = $1)`, "campaign of every"},
		{`SELECT doc FROM campaign WHERE workspace_id = $1 AND id IN (SELECT record_id FROM ref WHERE workspace_id = $2 AND value = $3)`, ""},
		{`SELECT k.id FROM api_key k JOIN member m ON m.workspace_id = k.workspace_id WHERE k.workspace_id = $1`, ""},
		{`SELECT k.id FROM api_key k JOIN member m ON m.user_id = k.user_id WHERE k.workspace_id = $1`, "member of every"},
		{`SELECT k.id FROM api_key k, member m WHERE k.workspace_id = $1`, "comma"},
		{`DELETE FROM event WHERE workspace_id = $1 AND created_at < $2`, ""},
		{`DELETE FROM event WHERE created_at < $1`, "every workspace"},
		{`UPDATE campaign SET doc = $1 WHERE id = $2`, "every workspace"},
		{`UPDATE campaign SET doc = $1, workspace_id = $2`, "every workspace"},
		{`INSERT INTO ref (workspace_id, kind) VALUES ($1, $2)`, ""},
		{`INSERT INTO ref (kind) VALUES ($1)`, "without a workspace"},
		{`INSERT INTO once (workspace_id, key) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING`, "another workspace"},
		{`SELECT id FROM workspace`, ""},
		{`SELECT id FROM workspace WHERE id = $2 AND name = $1`, "placeholder"},
		{`SELECT id FROM workspace WHERE id = $1 AND name = $1`, "placeholder"},
		{`SELECT * FROM setting`, "name its columns"},
		{`SELECT DISTINCT * FROM setting`, "name its columns"},
		{`SELECT name, * FROM setting`, "name its columns"},
		{`SELECT s.* FROM setting s`, "name its columns"},
		{`UPDATE setting SET value = $1 RETURNING *`, "name its columns"},
		{`WITH gone AS (DELETE FROM setting s RETURNING s.*) SELECT name FROM gone`, "name its columns"},
		{`SELECT count(*), 2 * updated_at FROM setting`, ""},
		{`INSERT INTO setting VALUES ($1, $2, $3)`, "list of columns"},
		{`INSERT INTO setting SELECT name, value, updated_at FROM setting`, "list of columns"},
		{`INSERT INTO setting (SELECT name, value, updated_at FROM setting)`, "list of columns"},
		{`INSERT INTO setting (name, value, updated_at) SELECT name, value, updated_at FROM setting`, ""},
		{`SELECT now()`, "time"},
		{`SELECT random ()`, "time"},
		{`SELECT id FROM workspace WHERE created_at < CURRENT_TIMESTAMP`, "time"},
		{`SELECT workspace_id FROM audit WHERE workspace_id = $1 UNION SELECT id FROM audit_head`, "audit_head of every"},
	} {
		got := strings.Join(l.problems(test.query), "; ")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q want %q", test.query, got, test.want)
		}
	}
}
