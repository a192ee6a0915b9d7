-- +goose Up
-- Dates sorted descending are sorted by their upper end, and most comparisons
-- look at it.
CREATE INDEX search_date_high ON search_date (param, high, rid);

-- Searches whose page links would be too long with their text: the links name
-- it by its hash.
CREATE TABLE search_query (
  hash    bytea PRIMARY KEY,
  expires timestamptz NOT NULL,
  query   text NOT NULL
);
CREATE INDEX search_query_expires ON search_query (expires);
