package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"starling/loadtest/coherence"
	"starling/loadtest/matrix"
)

type reportCommand struct {
	Result string `arg:"" placeholder:"matrix.json" help:"What loadtest matrix or loadtest sync has written."`
	Out    string `placeholder:"DIR" help:"Folder for the report. Default: the result's."`
}

// report is a result that tables and charts follow from.
type report interface {
	WriteReport(folder string) error
	Table(w io.Writer) error
}

// Run writes the report of a result again and prints its table.
func (c *reportCommand) Run() error {
	text, err := os.ReadFile(c.Result)
	if err != nil {
		return err
	}
	result, err := readReport(text)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Result, err)
	}
	if c.Out == "" {
		c.Out = filepath.Dir(c.Result)
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return err
	}
	if err := result.WriteReport(c.Out); err != nil {
		return err
	}
	return result.Table(os.Stdout)
}

func readReport(text []byte) (report, error) {
	var head struct{ Schema string }
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	if head.Schema == coherence.Schema {
		return coherence.Read(bytes.NewReader(text))
	}
	return matrix.Read(bytes.NewReader(text))
}
