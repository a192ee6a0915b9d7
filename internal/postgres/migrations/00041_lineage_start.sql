-- +goose Up
-- With which version of each domain a lineage began: what a failover or a restore
-- has kept of those before it. Later versions of these it has lost, though it may
-- have given out their numbers again.
CREATE TABLE cache_lineage_start (
  lineage text COLLATE "C" NOT NULL,
  domain  text COLLATE "C" NOT NULL REFERENCES cache_version (domain),
  version bigint NOT NULL,
  PRIMARY KEY (lineage, domain)
);

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION raise_cache_version(raised_domain text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  raised  text := 'starling.raised_' || raised_domain;
  current text := pg_current_xact_id()::text;
  risen   bigint;
BEGIN
  IF current_setting(raised, true) IS NOT DISTINCT FROM current THEN
    RETURN;
  END IF;
  PERFORM fence_changes();
  PERFORM set_config(raised, current, true);
  INSERT INTO cache_lineage_start (lineage, domain, version) SELECT cache_lineage(epoch), domain, version FROM cache_version
    WHERE domain = raised_domain ON CONFLICT DO NOTHING;
  UPDATE cache_version SET version = version + 1 WHERE domain = raised_domain RETURNING version INTO risen;
  PERFORM pg_notify('starling_cache', raised_domain || ' ' || risen);
END
$$;

CREATE OR REPLACE FUNCTION raise_cache_epoch() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM fence_changes();
  INSERT INTO cache_lineage_start (lineage, domain, version) SELECT cache_lineage(epoch + 1), domain, version FROM cache_version
    ON CONFLICT DO NOTHING;
  UPDATE cache_version SET epoch = epoch + 1, version = version + 1;
  PERFORM pg_notify('starling_cache', domain || ' ' || version) FROM cache_version;
END
$$;
-- +goose StatementEnd
