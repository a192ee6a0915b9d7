package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"
)

// program is the process less its exit, so that tests run the real one.
type program struct {
	stdout, stderr io.Writer
	command        *kong.Context
}

// command is what each of the commands implements.
type command interface {
	// Run does the command's work. ctx ends with the first signal.
	Run(ctx context.Context, p *program) error
}

// errHelp says that help or the version was asked for, and printed.
var errHelp = errors.New("what was asked for was printed")

// parseFlags reads the arguments and the environment.
func (p *program) parseFlags(args []string) (err error) {
	parser, err := kong.New(&commandLine{}, p.options()...)
	if err != nil {
		return err
	}
	defer func() {
		// Kong knows no other way to stop after --help.
		if stopped := recover(); stopped != nil {
			if stopped != errHelp { // the very value thrown below
				panic(stopped)
			}
			err = errHelp
		}
	}()
	p.command, err = parser.Parse(args)
	return err
}

func (p *program) options() []kong.Option {
	return []kong.Option{
		kong.Name("fhir-server"),
		kong.Description("Starling, a FHIR R4 server on PostgreSQL."),
		kong.Writers(p.stdout, p.stderr),
		kong.Exit(func(int) { panic(errHelp) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Vars{"version": versionLine()},
	}
}

// run carries out the command that parseFlags found.
func (p *program) run(ctx context.Context) error {
	chosen, ok := p.command.Selected().Target.Addr().Interface().(command)
	if !ok {
		return fmt.Errorf("the command %q does nothing", p.command.Command())
	}
	return chosen.Run(ctx, p)
}
