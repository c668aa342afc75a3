package s3_test

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fanfare/test/program"
)

// credentialsEnv are the settings with which a server uses the service.
var credentialsEnv = []string{"AWS_ACCESS_KEY_ID=" + access, "AWS_SECRET_ACCESS_KEY=" + secretKey}

// setting returns the assets setting for a place in the bucket.
func setting(path string) string {
	return "s3://" + path + "?region=" + region + "&endpoint=" + service.endpoint()
}

// installation is a server with a workspace.
type installation struct {
	*program.Server
	t   *testing.T
	key string
}

func startServer(t *testing.T, data, assets string) *installation {
	t.Helper()
	env := credentialsEnv
	if assets != "" {
		env = append(env[:len(env):len(env)], "FANFARE_ASSETS="+assets)
	}
	return &installation{Server: program.Start(t, program.Options{Data: data, Env: env}), t: t}
}

// createWorkspace creates a workspace and its key.
func (i *installation) createWorkspace() {
	i.t.Helper()
	made := i.Run("workspace", "create", "--name", "Acme", "--owner", "owner@example.com", "--plan", "enterprise", "--json")
	i.key = match(i.t, `"api_key":\s*"(fanf_\w+)"`, made.Out)
}

// call sends a request and returns the answer, which must have the status. media
// is the media type of the body.
func (i *installation) call(want int, method, path, media, body string) string {
	i.t.Helper()
	req, err := http.NewRequestWithContext(i.t.Context(), method, i.URL+path, strings.NewReader(body))
	if err != nil {
		i.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+i.key)
	req.Header.Set("Content-Type", media)
	req.Header.Set("Prefer", "wait=30")
	res, err := i.Client().Do(req)
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != want {
		i.t.Fatalf("%s %s: got %d %.300s, %v want %d", method, path, res.StatusCode, text, err, want)
	}
	return string(text)
}

// upload stores an image and returns its path.
func (i *installation) upload() string {
	i.t.Helper()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 300, 200))); err != nil {
		i.t.Fatal(err)
	}
	return match(i.t, `"url":"(/v1/assets/[^"]+)"`, i.call(http.StatusCreated, http.MethodPost, "/v1/assets", "image/png", picture.String()))
}

// generate creates a creative with a picture and returns the picture's path.
func (i *installation) generate() string {
	i.t.Helper()
	body := `{"prompt":"Mountain green tea, 20% off until Sunday","type":"image","variants":1,"formats":["png"]}`
	id := match(i.t, `"id":"(crv_\w+)"`, i.call(http.StatusCreated, http.MethodPost, "/v1/creative/generate", "application/json", body))
	return match(i.t, `"url":"(/v1/assets/[^"]+)"`, i.call(http.StatusOK, http.MethodGet, "/v1/creative/"+id+"/variants", "", ""))
}

func match(t *testing.T, pattern, text string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("got %.500s want %s", text, pattern)
	}
	return found[1]
}

// TestApplication runs a server on a bucket: images, generated pictures and
// imported files are stored there, and a backup restores them into another place.
func TestApplication(t *testing.T) {
	t.Parallel()
	place := prefix(t)
	i := startServer(t, "", setting(place+"/first"))
	i.createWorkspace()
	paths := []string{i.upload(), i.generate()}
	imported := match(t, `"id":"(imp_\w+)"`, i.call(http.StatusCreated, http.MethodPost, "/v1/imports?source=own&filename=own.csv", "text/csv", "date,channel,external_campaign_id,clicks\n2026-10-01,social,c1,7\n"))
	i.call(http.StatusOK, http.MethodPost, "/v1/imports/"+imported+"/commit", "", "")
	if list := keys(t, location(t, service.endpoint(), place+"/first")); len(list) < 3 {
		t.Errorf("got objects %v want the images and the file", list)
	}
	file := filepath.Join(t.TempDir(), "backup")
	if out := i.Run("backup", "create", file); out.Code != 0 {
		t.Fatalf("backup: %+v", out)
	}
	i.Stop()

	data := filepath.Join(t.TempDir(), "data")
	env := append(credentialsEnv[:2:2], "FANFARE_DATA="+data, "FANFARE_ASSETS="+setting(place+"/second"))
	if out := program.Run(t, program.Build(t), t.TempDir(), env, "backup", "restore", file); out.Code != 0 {
		t.Fatalf("restore: %+v", out)
	}
	again := startServer(t, data, setting(place+"/second"))
	again.key = i.key
	for _, path := range paths {
		again.call(http.StatusOK, http.MethodGet, path, "", "")
	}
	again.Stop()
}

// TestMigrateStore copies an installation from a folder to a bucket and back.
func TestMigrateStore(t *testing.T) {
	t.Parallel()
	dir, place := t.TempDir(), prefix(t)
	first, second, third := filepath.Join(dir, "first"), filepath.Join(dir, "second"), filepath.Join(dir, "third")
	i := startServer(t, first, "")
	i.createWorkspace()
	paths := []string{i.upload(), i.generate()}
	i.Stop()
	migrate := func(from, assets, to string, more ...string) {
		t.Helper()
		env := append(credentialsEnv[:2:2], "FANFARE_DATA="+from)
		if assets != "" {
			env = append(env, "FANFARE_ASSETS="+assets)
		}
		args := append([]string{"migrate-store", "--to-data", to}, more...)
		if out := program.Run(t, program.Build(t), t.TempDir(), env, args...); out.Code != 0 {
			t.Fatalf("%v: %+v", args, out)
		}
	}
	read := func(data, assets string) {
		t.Helper()
		s := startServer(t, data, assets)
		s.key = i.key
		for _, path := range paths {
			s.call(http.StatusOK, http.MethodGet, path, "", "")
		}
		s.Stop()
	}
	bucket := setting(place)
	migrate(first, "", second, "--to-assets", bucket)
	read(second, bucket)
	migrate(second, bucket, third)
	read(third, "")
	if list := keys(t, location(t, service.endpoint(), place)); len(list) < 2 {
		t.Errorf("got objects %v want those that were copied", list)
	}
}
