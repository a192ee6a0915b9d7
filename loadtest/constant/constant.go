// Package constant is a server that gives each request of the CRUD scenario the
// right answer at once and stores nothing: against it, the load test measures
// what the load test itself can do.
package constant

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Handler keeps, for as long as a resource lives, the body that was sent for it.
type Handler struct {
	lastID    atomic.Int64
	resources sync.Map // "Type/id" → stored
}

type stored struct {
	version int
	body    []byte // with id and versionId
}

// ServeHTTP answers create, read, update and delete below /fhir/.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := strings.TrimPrefix(r.URL.Path, "/fhir/")
	typ, id, _ := strings.Cut(key, "/")
	switch {
	case r.Method == http.MethodPost && id == "":
		id = strconv.FormatInt(h.lastID.Add(1), 10)
		h.write(w, r, http.StatusCreated, typ, id, 1)
	case r.Method == http.MethodGet:
		if s, ok := h.resources.Load(key); ok {
			answer(w, http.StatusOK, s.(stored))
		} else {
			w.WriteHeader(http.StatusNotFound)
		}
	case r.Method == http.MethodPut:
		version := 1
		if s, ok := h.resources.Load(key); ok {
			version = s.(stored).version + 1
		}
		h.write(w, r, http.StatusOK, typ, id, version)
	case r.Method == http.MethodDelete:
		h.resources.Delete(key)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (h *Handler) write(w http.ResponseWriter, r *http.Request, status int, typ, id string, version int) {
	head := fmt.Sprintf(`{"resourceType":%q,"id":%q,"meta":{"versionId":"%d"},`, typ, id, version)
	body := make([]byte, len(head), len(head)+int(max(r.ContentLength, 0)))
	copy(body, head)
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	sent = []byte(strings.TrimPrefix(string(sent), `{"resourceType":"`+typ+`",`))
	s := stored{version: version, body: append(body, sent...)}
	h.resources.Store(typ+"/"+id, s)
	w.Header().Set("Location", "/fhir/"+typ+"/"+id+"/_history/"+strconv.Itoa(version))
	answer(w, status, s)
}

func answer(w http.ResponseWriter, status int, s stored) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(s.body)))
	header.Set("ETag", `W/"`+strconv.Itoa(s.version)+`"`)
	w.WriteHeader(status)
	_, _ = w.Write(s.body) // the client may have gone
}
