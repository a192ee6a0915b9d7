-- +goose Up
CREATE TABLE resource_type (
  id   smallint PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE
);

-- The secret key of the search hashes: values of clients cannot be chosen so
-- that their hashes collide.
CREATE TABLE hash_key (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  key bytea NOT NULL CHECK (length(key) = 16)
);
INSERT INTO hash_key (key)
VALUES (decode(md5(gen_random_uuid()::text || gen_random_uuid()::text), 'hex'));

-- Instances take internal ids (rid) in blocks.
CREATE SEQUENCE resource_rid AS bigint INCREMENT BY 1024 CACHE 1;

-- The current state of a resource, deletions included: narrow, and indexed on
-- what never changes, so that an update stays on its page (HOT).
CREATE TABLE resource (
  rid     bigint NOT NULL,
  updated timestamptz NOT NULL,
  version integer NOT NULL,
  type    smallint NOT NULL,
  deleted boolean NOT NULL,
  id      text COLLATE "C" NOT NULL,
  -- terms: sorted hashes of everything the resource is found by; those with
  -- the lowest bit set also stand in search_key. See docs/storage.md.
  terms   bigint[] NOT NULL,
  -- ranges: the rows this resource has in search_date, search_number and
  -- search_string, encoded, so that an update knows what to remove.
  ranges  bytea NOT NULL,
  PRIMARY KEY (rid),
  UNIQUE (type, id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0.02);
-- Walks of a type, deletions apart.
CREATE INDEX resource_live ON resource (type, rid) WHERE NOT deleted;

-- Every version of every resource; each body is stored here, once.
CREATE TABLE version (
  rid     bigint NOT NULL,
  updated timestamptz NOT NULL,
  writer  xid8 NOT NULL,
  version integer NOT NULL,
  type    smallint NOT NULL,
  method  smallint NOT NULL,
  meta    text NOT NULL,
  body    text NOT NULL,
  PRIMARY KEY (rid, version)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX version_time ON version (type, updated, rid, version);

-- Equality: one narrow row for each hash of (type, parameter, kind, value).
CREATE TABLE search_key (
  hash bigint NOT NULL,
  rid  bigint NOT NULL,
  PRIMARY KEY (hash, rid)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

-- Intervals; param is the hash of (type, parameter).
CREATE TABLE search_date (
  param bigint NOT NULL,
  low   timestamptz NOT NULL,
  high  timestamptz NOT NULL,
  rid   bigint NOT NULL,
  PRIMARY KEY (param, low, high, rid)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

-- Numbers and quantities: low = high = the value, or the ends of a Range. unit
-- is the hash of system and code of a quantity, code that of its code alone,
-- text that of its unit; 0 for none.
CREATE TABLE search_number (
  param bigint NOT NULL,
  unit  bigint NOT NULL,
  code  bigint NOT NULL,
  text  bigint NOT NULL,
  rid   bigint NOT NULL,
  low   numeric NOT NULL,
  high  numeric NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX search_number_low ON search_number (param, low, high, rid);

-- Texts: at most 200 characters of the folded value.
CREATE TABLE search_string (
  param bigint NOT NULL,
  rid   bigint NOT NULL,
  value text COLLATE "C" NOT NULL,
  PRIMARY KEY (param, value, rid)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

-- +goose StatementBegin
DO $$
BEGIN
  ALTER TABLE version ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
  -- A server built without lz4 keeps pglz.
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION resource_json(type text, id text, version integer, updated timestamptz, meta text, body text) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT ('{"resourceType":"' || type || '","id":"' || id || '","meta":{"versionId":"' || version
    || '","lastUpdated":"' || to_char(updated AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"'
    || meta || '}' || body || '}')::jsonb
$$;
-- +goose StatementEnd
