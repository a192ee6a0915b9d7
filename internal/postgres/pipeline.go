package postgres

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// prepared is where a connection's statement descriptions stand in its
// CustomData.
const prepared = "starling.prepared"

// prepare prepares all statements on a new connection, in one round trip.
func prepare(ctx context.Context, conn *pgx.Conn) error {
	names := make([]string, 0, len(statements))
	pipeline := conn.PgConn().StartPipeline(ctx)
	for name, sql := range statements {
		pipeline.SendPrepare(name, sql, nil)
		names = append(names, name)
	}
	if err := pipeline.Sync(); err != nil {
		return errors.Join(err, pipeline.Close())
	}
	descriptions := make(map[string]*pgconn.StatementDescription, len(names))
	for {
		result, err := pipeline.GetResults()
		if err != nil {
			return errors.Join(err, pipeline.Close())
		}
		if _, done := result.(*pgconn.PipelineSync); done {
			break
		}
		d := result.(*pgconn.StatementDescription)
		d.Name = names[len(descriptions)]
		descriptions[d.Name] = d
	}
	conn.PgConn().CustomData()[prepared] = descriptions
	return pipeline.Close()
}

// pipeline sends prepared statements without waiting for their answers.
type pipeline struct {
	*pgconn.Pipeline
	statements map[string]*pgconn.StatementDescription
	settings   string // made in each transaction, through a pooler; then nothing is prepared
	handlers   []func(*pgconn.ResultReader)
	tags       []pgconn.CommandTag
}

func startPipeline(ctx context.Context, conn *pgconn.PgConn) *pipeline {
	descriptions, _ := conn.CustomData()[prepared].(map[string]*pgconn.StatementDescription)
	settings, _ := conn.CustomData()[inSettings].(string)
	return &pipeline{Pipeline: conn.StartPipeline(ctx), statements: descriptions, settings: settings}
}

var binaryFormat = []int16{1}

// send queues a statement; row, unless nil, is called for each row of its
// result, whose values are valid only during the call.
func (p *pipeline) send(name string, row func(values [][]byte), params ...[]byte) {
	if p.settings != "" {
		p.SendQueryParams(statements[name], params, nil, binaryFormat, binaryFormat)
	} else {
		p.SendQueryStatement(p.statements[name], params, binaryFormat, binaryFormat)
	}
	p.handlers = append(p.handlers, func(result *pgconn.ResultReader) {
		for result.NextRow() {
			if row != nil {
				row(result.Values())
			}
		}
	})
}

// begin queues the beginning of a transaction.
func (p *pipeline) begin() {
	p.send(stmtBegin, nil)
	p.set()
}

// set queues the settings for what follows, unless the connection has them: until
// the transaction ends, or where there is none, until the next Sync.
func (p *pipeline) set() {
	if p.settings != "" {
		p.query(p.settings)
	}
}

// then has done called when all that was queued before has been answered,
// without waiting for what is queued after.
func (p *pipeline) then(done func()) {
	last := len(p.handlers) - 1
	if last < 0 {
		done()
		return
	}
	p.SendFlushRequest()
	handle := p.handlers[last]
	p.handlers[last] = func(result *pgconn.ResultReader) {
		handle(result)
		done()
	}
}

var errNoAnswer = errors.New("postgres: the server did not answer all statements")

// flush sends what is queued and reads all answers. It gives the first error;
// the pipeline stays usable after an error of the server's.
func (p *pipeline) flush() error {
	handlers := p.handlers
	p.handlers = p.handlers[:0]
	p.tags = p.tags[:0]
	if err := p.Sync(); err != nil {
		return err
	}
	var first error
	for n := 0; ; {
		result, err := p.GetResults()
		switch result := result.(type) {
		case *pgconn.ResultReader:
			handlers[n](result)
			n++
			var tag pgconn.CommandTag
			tag, err = result.Close()
			p.tags = append(p.tags, tag)
		case *pgconn.PipelineSync:
			return first
		case nil:
			if err == nil {
				return cmp.Or(first, errNoAnswer)
			}
		}
		if err == nil {
			continue
		}
		if first == nil {
			first = err
		}
		// After an error in a statement the server goes on to the next Sync;
		// after a fatal one it has closed the connection.
		var pgErr *pgconn.PgError
		if !errors.As(err, &pgErr) || pgErr.SeverityUnlocalized != "ERROR" {
			return first
		}
	}
}

// query queues a statement that is not prepared, and ignores its rows.
func (p *pipeline) query(sql string, params ...[]byte) {
	p.SendQueryParams(sql, params, nil, binaryFormat, binaryFormat)
	p.handlers = append(p.handlers, func(result *pgconn.ResultReader) {
		for result.NextRow() {
		}
	})
}
