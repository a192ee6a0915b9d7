-- +goose Up
-- epoch is raised after a restore, whose versions cannot be compared with
-- those instances know.
ALTER TABLE cache_version ADD COLUMN epoch bigint NOT NULL DEFAULT 1;

-- The instances that keep caches. seen is when each was last heard of, by this
-- database's clock: whoever was not for longer than its lease serves nothing
-- old. Heartbeats have a table of their own, so that dead rows here do not slow
-- the reading of versions.
CREATE TABLE cache_member (
  id        uuid PRIMARY KEY,
  name      text NOT NULL,
  mode      text NOT NULL,
  transport text NOT NULL,
  lease     interval NOT NULL,
  started   timestamptz NOT NULL DEFAULT clock_timestamp(),
  seen      timestamptz NOT NULL DEFAULT clock_timestamp(),
  lineage   text COLLATE "C" NOT NULL,
  validation bigint NOT NULL, routing bigint NOT NULL, subscriptions bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- cache_lineage names the history that versions are of. After a promotion
-- pg_control_checkpoint() gives the old timeline for seconds, this the new one
-- at once. A standby has none: it fails there.
CREATE FUNCTION cache_lineage(epoch bigint) RETURNS text LANGUAGE sql STABLE AS
$$ SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) || '.' || lpad(epoch::text, 19, '0') $$;

-- refuse_stale ends a transaction that writes what was made by versions that
-- have been replaced.
-- +goose StatementBegin
CREATE FUNCTION refuse_stale(domain text, version bigint, lineage text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'system resources have been replaced' USING ERRCODE = 'ST002', DETAIL = concat_ws(' ', domain, version, lineage);
END
$$;

-- fence_changes keeps ordinary writes from committing until this transaction
-- has. It waits for those under way, and gives up early: meanwhile nobody new
-- gets past it.
CREATE FUNCTION fence_changes() RETURNS void LANGUAGE plpgsql SET lock_timeout = '250ms' AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(4, 2);
END
$$;

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
  UPDATE cache_version SET version = version + 1 WHERE domain = raised_domain RETURNING version INTO risen;
  PERFORM pg_notify('starling_cache', raised_domain || ' ' || risen);
END
$$;

-- raise_cache_epoch is to be called after a restore, while instances run or not.
CREATE FUNCTION raise_cache_epoch() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM fence_changes();
  UPDATE cache_version SET epoch = epoch + 1, version = version + 1;
  PERFORM pg_notify('starling_cache', domain || ' ' || version) FROM cache_version;
END
$$;
-- +goose StatementEnd
