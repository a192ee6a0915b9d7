package main

import (
	"fmt"
	"os"
	"path/filepath"

	"starling/loadtest/matrix"
)

type reportCommand struct {
	Result string `arg:"" placeholder:"matrix.json" help:"What loadtest matrix has written."`
	Out    string `placeholder:"DIR" help:"Folder for matrix.md and matrix.svg. Default: the result's."`
}

// Run writes the table and the chart of a matrix again and prints the table.
func (c *reportCommand) Run() error {
	file, err := os.Open(c.Result)
	if err != nil {
		return err
	}
	defer file.Close()
	result, err := matrix.Read(file)
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
