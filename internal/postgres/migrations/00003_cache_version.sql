-- +goose Up
-- The version of each domain of system resources that instances keep in their
-- memory. A transaction that changes such a resource raises its domain's
-- version once, at commit: the row's lock makes version order commit order.
CREATE TABLE cache_version (
  domain  text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- Which resource types belong to which domain.
CREATE TABLE cache_domain_type (
  type   smallint PRIMARY KEY REFERENCES resource_type (id),
  domain text COLLATE "C" NOT NULL REFERENCES cache_version (domain)
);

INSERT INTO cache_version (domain, version) VALUES ('validation', 1), ('routing', 1), ('subscriptions', 1);
INSERT INTO cache_domain_type (domain, type)
SELECT d.domain, t.id
FROM (VALUES
  ('validation', 'StructureDefinition'), ('validation', 'ValueSet'), ('validation', 'CodeSystem'),
  ('validation', 'ConceptMap'),
  ('routing', 'CapabilityStatement'), ('routing', 'SearchParameter'), ('routing', 'OperationDefinition'),
  ('routing', 'CompartmentDefinition'), ('subscriptions', 'Subscription')
) AS d(domain, type)
JOIN resource_type t ON t.name = d.type;

-- raise_cache_version raises the version of a domain and tells the listeners,
-- once a transaction. What the notification says is a hint: it is delivered
-- only if the transaction commits, and may be lost.
-- +goose StatementBegin
CREATE FUNCTION raise_cache_version(raised_domain text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  raised  text := 'starling.raised_' || raised_domain;
  current text := pg_current_xact_id()::text;
  risen   bigint;
BEGIN
  IF current_setting(raised, true) IS NOT DISTINCT FROM current THEN
    RETURN;
  END IF;
  PERFORM set_config(raised, current, true);
  UPDATE cache_version SET version = version + 1 WHERE domain = raised_domain RETURNING version INTO risen;
  PERFORM pg_notify('starling_cache', raised_domain || ' ' || risen);
END
$$;
CREATE FUNCTION raise_for_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM raise_cache_version(domain) FROM cache_domain_type WHERE type = NEW.type;
  RETURN NULL;
END
$$;
CREATE FUNCTION raise_for_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM raise_cache_version(domain) FROM cache_version ORDER BY domain;
  RETURN NULL;
END
$$;
-- +goose StatementEnd

-- One trigger for all domains: PostgreSQL prepares its WHEN clause anew in
-- every statement, which is all that a clinical version pays. The triggers fire
-- in replica sessions, too.
-- +goose StatementBegin
DO $do$
BEGIN
  EXECUTE format('CREATE CONSTRAINT TRIGGER raise_cache_version AFTER INSERT ON version DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.type IN (%s)) EXECUTE FUNCTION raise_for_version()',
    (SELECT string_agg(type::text, ', ' ORDER BY type) FROM cache_domain_type));
END
$do$;
-- +goose StatementEnd
CREATE TRIGGER raise_cache_version_truncate AFTER TRUNCATE ON version FOR EACH STATEMENT EXECUTE FUNCTION raise_for_truncate();
ALTER TABLE version ENABLE ALWAYS TRIGGER raise_cache_version;
ALTER TABLE version ENABLE ALWAYS TRIGGER raise_cache_version_truncate;
