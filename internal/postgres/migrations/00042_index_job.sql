-- +goose Up
-- The instance that indexes for search parameters, while there is one. A row, and no
-- lock of a session, since a pooler leaves that with whoever comes next.
CREATE TABLE index_job (
  one    boolean PRIMARY KEY DEFAULT true CHECK (one),
  holder uuid NOT NULL,
  until  timestamptz NOT NULL
);
