package cluster

import (
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"starling/test/program"
)

const versionHeader = "X-Starling-Cache-Version"

// set replaces the profile on an instance and gives the version that this made,
// and how long its answer took.
func set(t *testing.T, base, has, forbidden string, header ...string) (version string, took time.Duration) {
	t.Helper()
	begun := time.Now()
	answer, err := program.Do("PUT", base+"/StructureDefinition/strict", []byte(profile(has, forbidden)), header...)
	if err != nil || answer.Status != http.StatusOK && answer.Status != http.StatusCreated {
		t.Fatalf("the profile: %v %d %s", err, answer.Status, answer.Body)
	}
	if answer.Header.Get(versionHeader) == "" {
		t.Fatalf("no version in %v", answer.Header)
	}
	return answer.Header.Get(versionHeader), time.Since(begun)
}

// Who says respond-async gets the answer before the other instance has applied the
// change; a request that carries the version there, or through nginx, waits for it.
func TestVersionHeaderIsWaitedFor(t *testing.T) {
	// The other hears of a change by its reading every two seconds alone.
	const lease = 8 * time.Second
	c := start(t, "--cache-lease", lease.String(), "--cache-sync", "poll", "--cache-poll-interval", (lease / 4).String())
	one, other := c.servers[0].URL, c.servers[1].URL
	old := 0
	for round := range 6 {
		wanted, broken := kinds[round%2], kinds[(round+1)%2]
		version, took := set(t, one, wanted.has, broken.has, "Prefer", "respond-async")
		if took > lease/4 {
			t.Errorf("round %d: respond-async was answered after %v", round, took)
		}
		if without := program.Want(t, http.StatusOK, "POST", other+"/Basic/$validate", []byte(broken.body)); !failing(t, without.Body) {
			old++
		}
		for _, base := range []string{other, c.base, c.base} {
			begun := time.Now()
			answer := program.Want(t, http.StatusOK, "POST", base+"/Basic/$validate", []byte(broken.body), versionHeader, version)
			if !failing(t, answer.Body) {
				t.Errorf("round %d: the version before answered a request that carries %s", round, version)
			}
			if took := time.Since(begun); took > lease/4 {
				t.Errorf("round %d: the request waited %v", round, took)
			}
		}
	}
	if old == 0 {
		t.Error("no instance was ever behind: this shows nothing")
	}
	if _, took := set(t, one, "author", "created"); took < 10*time.Millisecond || took > lease {
		t.Errorf("who does not say so was answered after %v", took)
	}
}

// failing reports whether an OperationOutcome has an error.
func failing(t *testing.T, text []byte) bool {
	t.Helper()
	issues, _ := decode(t, text)["issue"].([]any)
	for _, issue := range issues {
		if severity := issue.(map[string]any)["severity"]; severity == "error" || severity == "fatal" {
			return true
		}
	}
	return false
}

// A version that a restore has lost is refused for good, also once its number has
// been given out again; what was kept, and what came later, is not.
func TestLostVersionIsRefused(t *testing.T) {
	c := start(t)
	kept, _ := set(t, c.base, "created", "author")
	lost, _ := set(t, c.base, "author", "created")
	database, err := pgx.Connect(t.Context(), c.database)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close(t.Context())
	for _, statement := range []string{
		`UPDATE cache_version SET version = version - 1 WHERE domain = 'validation'`, // a backup from before the last change
		`SELECT raise_cache_epoch()`,
	} {
		if _, err := database.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 3 {
		later, _ := set(t, c.base, kinds[round%2].has, kinds[(round+1)%2].has)
		for _, server := range c.servers {
			for version, status := range map[string]int{kept: 200, lost: 412, later: 200} {
				answer, err := program.Do("GET", server.URL+"/Basic", nil, versionHeader, version)
				if err != nil || answer.Status != status {
					t.Errorf("round %d: %s (kept %s, lost %s, later %s): %v %d %.300s", round, version, kept, lost, later, err, answer.Status, answer.Body)
				}
			}
		}
	}
}
