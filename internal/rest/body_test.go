package rest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"starling/internal/interaction"
)

func TestBodyLimit(t *testing.T) {
	h := newHarness(t) // 1000 bytes
	fits := `{"a":"` + strings.Repeat("x", 992) + `"}`
	for name, c := range map[string]struct {
		body    string
		headers []string
		status  int
	}{
		"fits":            {fits, nil, 200},
		"one more":        {fits + " ", nil, 413},
		"gzip fits":       {zipped(fits), []string{"Content-Encoding: gzip"}, 200},
		"gzip one more":   {zipped(fits + " "), []string{"Content-Encoding: gzip"}, 413},
		"gzip bomb":       {zipped(strings.Repeat(" ", 1<<24)), []string{"Content-Encoding: gzip"}, 413},
		"gzip broken":     {zipped(fits)[:20], []string{"Content-Encoding: gzip"}, 400},
		"gzip no gzip":    {fits, []string{"Content-Encoding: gzip"}, 400},
		"other encoding":  {fits, []string{"Content-Encoding: br"}, 415},
		"identity":        {fits, []string{"Content-Encoding: identity"}, 200},
		"gzip upper case": {zipped(fits), []string{"Content-Encoding: GZIP"}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			h.got = nil
			answer := h.do("POST", "/fhir/Patient", c.body, c.headers...)
			if answer.Code != c.status {
				t.Fatalf("%d %s", answer.Code, answer.Body)
			}
			if c.status == 200 && string(h.got.Body) != fits {
				t.Errorf("body %q", h.got.Body)
			}
			if c.status != 200 {
				if h.got != nil {
					t.Error("carried out nevertheless")
				}
				if code, _ := issue(t, answer); c.status == 413 && code != "too-long" || c.status == 400 && code != "structure" {
					t.Errorf("code %s", code)
				}
			}
		})
	}
}

func TestBodyOfUnknownLength(t *testing.T) {
	h := newHarness(t)
	server := httptest.NewServer(h.handler)
	defer server.Close()
	for size, want := range map[int]int{1000: 200, 1001: 413} {
		// A reader of no known length is sent in chunks.
		body := io.MultiReader(strings.NewReader(strings.Repeat(" ", size)))
		answer, err := http.Post(server.URL+"/fhir/Patient", "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%d bytes: %d", size, answer.StatusCode)
		}
	}
}

func TestPostSearchJoinsQueryAndForm(t *testing.T) {
	h := newHarness(t)
	const form = "Content-Type: application/x-www-form-urlencoded"
	answer := h.do("POST", "/fhir/Patient/_search?_count=5", "name=O%27Hara&name=x+y", form)
	if answer.Code != 200 || h.got.Interaction != interaction.SearchType {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	if h.got.RawQuery != "_count=5&name=O%27Hara&name=x+y" || len(h.got.Query["name"]) != 2 || h.got.Query["name"][0] != "O'Hara" || h.got.Query.Get("_count") != "5" {
		t.Errorf("%q %v", h.got.RawQuery, h.got.Query)
	}
	if answer := h.do("POST", "/fhir/Patient/_search?name=x", ""); answer.Code != 200 || h.got.Query.Get("name") != "x" {
		t.Errorf("without a form: %d", answer.Code)
	}
	if answer := h.do("POST", "/fhir/Patient/_search", "name=%zz", form); answer.Code != 400 {
		t.Errorf("broken form: %d", answer.Code)
	}
	if answer := h.do("POST", "/fhir/Patient/_search", "_format=xml", form); answer.Code != 406 {
		t.Errorf("_format in the form: %d", answer.Code)
	}
	if answer := h.do("POST", "/fhir/Patient/_search", "_format=json", form, "Accept: text/html"); answer.Code != 200 {
		t.Errorf("_format in the form against Accept: %d", answer.Code)
	}
}

// A form that is refused is refused with its reason.
func TestPostSearchOfVeryManyParameters(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.MaxBody = 1 << 20 })
	answer := h.do("POST", "/fhir/Patient/_search", strings.Repeat("name=x&", 10_001), "Content-Type: application/x-www-form-urlencoded")
	if answer.Code != 400 || !strings.Contains(answer.Body.String(), "too-costly") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

func TestAnswersAreCompressed(t *testing.T) {
	h := newHarness(t)
	server := httptest.NewServer(h.handler)
	defer server.Close()
	long := `{"x":"` + strings.Repeat("abc", 1000) + `"}`
	h.serve = bodyOf(long)
	for accept, want := range map[string]bool{
		"gzip": true, "gzip, deflate, br": true, "*": true, "br;q=1, gzip;q=0.5": true,
		"": false, "br": false, "gzip;q=0": false, "*, gzip;q=0": false, "identity": false, "*;q=0": false,
	} {
		request, _ := http.NewRequest("GET", server.URL+"/fhir/Patient", nil)
		request.Header.Set("Accept-Encoding", accept)
		answer, err := (&http.Transport{DisableCompression: true}).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if got := answer.Header.Get("Content-Encoding") == "gzip"; got != want {
			t.Errorf("Accept-Encoding %q: compressed %v", accept, got)
		}
		if answer.ContentLength != int64(len(body)) || !want && string(body) != long || want && len(body) > 200 {
			t.Errorf("Accept-Encoding %q: %d bytes, Content-Length %d", accept, len(body), answer.ContentLength)
		}
		if !strings.Contains(answer.Header.Get("Vary"), "Accept-Encoding") {
			t.Errorf("Vary %q", answer.Header.Get("Vary"))
		}
	}
	// The client's own transport unpacks what it gets.
	answer, err := http.Get(server.URL + "/fhir/Patient")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if string(body) != long || !answer.Uncompressed {
		t.Errorf("round trip: %d bytes, unpacked %v", len(body), answer.Uncompressed)
	}
	h.serve = bodyOf(`{"short":1}`)
	if h.do("GET", "/fhir/Patient", "", "Accept-Encoding: gzip").Header().Get("Content-Encoding") != "" {
		t.Error("a short answer was compressed")
	}
}

// announced is a body of which nothing comes but its announced length.
type announced struct{ sent, asked int }

func (a *announced) Read(p []byte) (int, error) {
	if a.asked = max(a.asked, len(p)); a.sent > 0 {
		return 0, io.EOF
	}
	a.sent = 1
	return copy(p, "{"), nil
}

// TestAnnouncedLengthTakesNoMemory: a client that announces a large body has
// sent nothing yet.
func TestAnnouncedLengthTakesNoMemory(t *testing.T) {
	body := &announced{}
	data, err := readAtMost(body, 64<<20, 64<<20)
	if err == nil || len(data) != 1 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if body.asked > trusted {
		t.Errorf("a buffer of %d bytes", body.asked)
	}
}

func TestIfNoneExistNeedsCriteria(t *testing.T) {
	h := newHarness(t)
	answer := h.do("POST", "/fhir/Patient", "{}", "If-None-Exist: ")
	if answer.Code != 400 || h.got != nil {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}
