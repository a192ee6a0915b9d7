-- +goose Up
-- The words of resources, for _text and _content: those of the narrative have the
-- weight A. A word in upper case is the resource's type. GIN gathers new rows in
-- a list before it sorts them in, so that a write pays little.
CREATE TABLE search_text (
  rid   bigint PRIMARY KEY,
  words tsvector NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0, autovacuum_vacuum_insert_scale_factor = 0.02);
CREATE INDEX search_text_words ON search_text USING gin (words);
