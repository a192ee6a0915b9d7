package load

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"starling/internal/fhir"
)

// Journal remembers which units were loaded: a line for each, with the SHA-256
// of its content and one of the resources it made. That resource is looked for
// before the unit is left out, so a journal that outlived its database does no
// harm.
type Journal struct {
	mu     sync.Mutex
	file   *os.File
	loaded map[digest]fhir.Key
}

type digest [sha256.Size]byte

// OpenJournal reads the journal at path, or begins one.
func OpenJournal(path string) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: file, loaded: map[digest]fhir.Key{}}
	if err := j.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return j, nil
}

// read takes in the entries. A line that a crash cut short is ended and left
// out: its unit is loaded again.
func (j *Journal) read() error {
	reader := bufio.NewReader(j.file)
	for {
		line, err := reader.ReadString('\n')
		if errors.Is(err, io.EOF) {
			if line != "" {
				_, err = j.file.WriteString("\n")
				return err
			}
			return nil
		}
		if err != nil {
			return err
		}
		if sum, key, ok := parseEntry(strings.TrimSuffix(line, "\n")); ok {
			j.loaded[sum] = key
		}
	}
}

func parseEntry(line string) (sum digest, key fhir.Key, ok bool) {
	text, reference, ok := strings.Cut(line, " ")
	if !ok || len(text) != hex.EncodedLen(len(sum)) {
		return sum, key, false
	}
	if _, err := hex.Decode(sum[:], []byte(text)); err != nil {
		return sum, key, false
	}
	resourceType, id, ok := strings.Cut(reference, "/")
	return sum, fhir.Key{Type: fhir.ResourceType(resourceType), ID: id}, ok && fhir.ValidID(id)
}

// has reports whether a unit was loaded into this store.
func (j *Journal) has(ctx context.Context, store Reader, sum digest) bool {
	j.mu.Lock()
	key, ok := j.loaded[sum]
	j.mu.Unlock()
	if !ok {
		return false
	}
	_, err := store.Read(ctx, key)
	return err == nil
}

// add records a unit that was loaded.
func (j *Journal) add(sum digest, key fhir.Key) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.loaded[sum] = key
	_, err := fmt.Fprintf(j.file, "%x %s\n", sum, key)
	return err
}

// Close brings the journal to disk.
func (j *Journal) Close() error { return errors.Join(j.file.Sync(), j.file.Close()) }
