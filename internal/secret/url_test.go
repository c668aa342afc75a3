package secret_test

import (
	"testing"

	"fanfare/internal/secret"
)

func TestRedactURL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"postgres://u:pass@db/fanfare":                                          "postgres://u:xxxxx@db/fanfare",
		"postgres://u:pass@a:5432,b:5433/fanfare?target_session_attrs=primary":  "postgres://u:xxxxx@a:5432,b:5433/fanfare?target_session_attrs=primary",
		"postgres://u:pass@a:5432,b/fanfare":                                    "postgres://u:xxxxx@a:5432,b/fanfare",
		"postgres://u:p:a%40ss@[::1]:5432,[::2]/fanfare":                        "postgres://u:xxxxx@[::1]:5432,[::2]/fanfare",
		"postgres://u@db/fanfare?password=pass&sslmode=require":                 "postgres://u@db/fanfare?password=xxxxx&sslmode=require",
		"postgres:///fanfare?host=a,b&user=u&PassWord=pass":                     "postgres:///fanfare?host=a,b&user=u&PassWord=xxxxx",
		"postgres://db/fanfare?p%61ssword=pass":                                 "postgres://db/fanfare?p%61ssword=xxxxx",
		"postgres://db/fanfare?sslpassword=pass&sslcert=c":                      "postgres://db/fanfare?sslpassword=xxxxx&sslcert=c",
		"clickhouse+https://u:pass@db:8443/fanfare?cluster=c":                   "clickhouse+https://u:xxxxx@db:8443/fanfare?cluster=c",
		"postgres://u:pa/ss@db/fanfare":                                         "(unreadable URL)",
		"postgres://u:pa@ss@db/fanfare":                                         "(unreadable URL)",
		"postgres://u:pa#ss@db/fanfare":                                         "(unreadable URL)",
		"u:pass@db":                                                             "(unreadable URL)",
		"postgres://u:pa?ss@db/fanfare":                                         "(unreadable URL)",
		"postgres://u:%zz@db/fanfare":                                           "postgres://u:xxxxx@db/fanfare",
		"postgres://a,b/fanfare?target_session_attrs=read-write&sslmode=verify": "postgres://a,b/fanfare?target_session_attrs=read-write&sslmode=verify",
	} {
		if got := secret.RedactURL(raw); got != want {
			t.Errorf("%s: got %s want %s", raw, got, want)
		}
	}
	for raw, want := range map[string]string{"/var/lib/assets": "/var/lib/assets", "s3://key:pass@bucket/a": "s3://key:xxxxx@bucket/a"} {
		if got := secret.RedactSetting(raw); got != want {
			t.Errorf("%s: got %s want %s", raw, got, want)
		}
	}
}
