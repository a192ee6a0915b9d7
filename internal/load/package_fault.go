package load

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// unreadable says for people what is wrong with an archive.
func unreadable(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("is cut short: it ends before the archive does")
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, tar.ErrHeader), errors.As(err, &corrupt):
		return errors.New("is damaged, or no archive (.tar.gz)")
	}
	return err
}

// notManifest says for people what is wrong with the JSON of a manifest.
func notManifest(err error) error {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mismatch) && mismatch.Field != "":
		return fmt.Errorf("its member %q must not be a %s", mismatch.Field, mismatch.Value)
	case errors.As(err, &mismatch):
		return fmt.Errorf("must be a JSON object, not of the kind %s", mismatch.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("is no JSON, from byte %d on", syntax.Offset)
	}
	return err
}

// legible is a name in an archive as it may be shown on a terminal, which obeys some
// characters.
func legible(name string) string {
	quoted := strconv.QuoteToGraphic(name)
	return quoted[1 : len(quoted)-1]
}
