-- +goose Up
-- How far the search parameters that were stored at run time are indexed. A
-- search with one is refused until complete.
CREATE TABLE search_parameter (
  -- param names a version of the SearchParameter: its code, id and version.
  param    text COLLATE "C" PRIMARY KEY,
  types    smallint[] NOT NULL,
  -- position is the internal id up to which resources have been looked at.
  position bigint NOT NULL DEFAULT 0,
  done     bigint NOT NULL DEFAULT 0,
  total    bigint NOT NULL DEFAULT 0,
  complete boolean NOT NULL DEFAULT false
);

-- How far `fhir-server reindex` of these types is.
CREATE TABLE reindex (
  types    smallint[] PRIMARY KEY,
  position bigint NOT NULL
);
