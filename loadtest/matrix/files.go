package matrix

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

var errNothingRan = errors.New("the matrix has no runs")

// Read reads a result that Write has written.
func Read(r io.Reader) (*Result, error) {
	var result Result
	if err := json.NewDecoder(r).Decode(&result); err != nil {
		return nil, err
	}
	if result.Schema != Schema {
		return nil, fmt.Errorf("the schema is %q, not %s", result.Schema, Schema)
	}
	if len(result.Cells) == 0 {
		return nil, errNothingRan
	}
	for i, cell := range result.Cells {
		if cell.Load == nil {
			return nil, fmt.Errorf("run %d has no load", i+1)
		}
	}
	return &result, nil
}

// WriteReport writes matrix.md and matrix.svg into a folder.
func (r *Result) WriteReport(folder string) error {
	return errors.Join(
		writeFile(filepath.Join(folder, "matrix.md"), r.Table),
		writeFile(filepath.Join(folder, "matrix.svg"), r.Chart))
}

// WriteFiles writes matrix.json and the report into a folder.
func (r *Result) WriteFiles(folder string) error {
	return errors.Join(writeFile(filepath.Join(folder, "matrix.json"), r.Write), r.WriteReport(folder))
}

func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
