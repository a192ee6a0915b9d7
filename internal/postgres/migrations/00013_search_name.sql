-- +goose Up
-- The names that are in use: displays and texts of codes, and the profiles and
-- sources of resources. There are few of them, so they are kept once, and lead
-- to the rows of search_key that resources have anyway.
CREATE TABLE search_name (
  -- param is the hash of (type, parameter).
  param bigint NOT NULL,
  -- value is at most 200 characters of the folded name, once from each of its
  -- words on, or of a URI.
  value text COLLATE "C" NOT NULL,
  -- hash is that of the rows in search_key that find the candidates.
  hash  bigint NOT NULL,
  -- term is what those candidates that have the name hold in resource.terms.
  term  bigint NOT NULL,
  PRIMARY KEY (param, value, hash, term)
);
