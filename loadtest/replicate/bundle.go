// Package replicate makes much data of little: it posts copies of transaction
// bundles, each with ids and identifiers of its own.
package replicate

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Bundle is a transaction as it was read.
type Bundle struct {
	Name      string
	Text      []byte
	Resources int
}

// Read gives the transaction bundles in a folder and those below, by their names.
func Read(folder string) ([]Bundle, error) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%q is no folder; one of transaction bundles (.json) is needed, one patient each", folder)
	}
	var bundles []Bundle
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".json") || strings.HasPrefix(entry.Name(), ".") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var head struct {
			ResourceType, Type string
			Entry              []struct{}
		}
		if err := json.Unmarshal(text, &head); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if head.ResourceType == "Bundle" && head.Type == "transaction" {
			bundles = append(bundles, Bundle{Name: entry.Name(), Text: text, Resources: len(head.Entry)})
		}
		return nil
	})
	if err == nil && len(bundles) == 0 {
		err = errors.New("no transaction bundle in " + folder)
	}
	slices.SortFunc(bundles, func(a, b Bundle) int { return strings.Compare(a.Name, b.Name) })
	return bundles, err
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// Copy appends a text in which every UUID is the one it has in the copy of that
// number: full URLs, ids, links between entries and identifiers, so that
// copies are of other people of the same histories. Copy 0 is the text itself.
func Copy(to, text []byte, number int) []byte {
	if number == 0 {
		return append(to, text...)
	}
	last := 0
	for _, at := range uuid.FindAllIndex(text, -1) {
		to = append(to, text[last:at[0]]...)
		to = appendUUID(to, text[at[0]:at[1]], number)
		last = at[1]
	}
	return append(to, text[last:]...)
}

// CopyText is Copy for a value that is searched for.
func CopyText(text string, number int) string { return string(Copy(nil, []byte(text), number)) }

// appendUUID appends a UUID of version 4 that the copy's number and the one it
// replaces determine.
func appendUUID(to, original []byte, number int) []byte {
	h := fnv.New128a()
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(number)))
	_, _ = h.Write(original)
	id := h.Sum(nil)
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	for i, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			to = append(to, '-')
		}
		to = hex.AppendEncode(to, part)
	}
	return to
}
