package nginx_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"starling/nginx"
)

var update = flag.Bool("update", false, "write compose/nginx.conf anew")

// compose/nginx.conf is mounted as it is, so it is kept in the repository; it
// must be what the template gives.
func TestComposeConfiguration(t *testing.T) {
	const path = "../compose/nginx.conf"
	want, err := nginx.Config{Listen: "8080", Instances: []string{"server:8080"}, Workers: "auto"}.Render()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the template gives: run go test ./nginx -update", path)
	}
}
