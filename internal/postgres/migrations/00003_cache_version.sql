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
  ('routing', 'CapabilityStatement'), ('routing', 'SearchParameter'), ('routing', 'OperationDefinition'),
  ('routing', 'CompartmentDefinition'), ('subscriptions', 'Subscription')
) AS d(domain, type)
JOIN resource_type t ON t.name = d.type;

-- raise_cache_version raises the version of the domain it is given and tells
-- the listeners, once a transaction. What the notification says is a hint: it
-- is delivered only if the transaction commits, and may be lost.
-- +goose StatementBegin
CREATE FUNCTION raise_cache_version() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  raised  text := 'starling.raised_' || TG_ARGV[0];
  current text := pg_current_xact_id()::text;
  risen   bigint;
BEGIN
  IF current_setting(raised, true) IS NOT DISTINCT FROM current THEN
    RETURN NULL;
  END IF;
  PERFORM set_config(raised, current, true);
  UPDATE cache_version SET version = version + 1 WHERE domain = TG_ARGV[0] RETURNING version INTO risen;
  PERFORM pg_notify('starling_cache', TG_ARGV[0] || ' ' || risen);
  RETURN NULL;
END
$$;
-- +goose StatementEnd

-- The WHEN clause is decided without a queue entry, so a clinical version
-- pays a comparison for each domain and nothing else. A domain's triggers fire
-- in replica sessions, too.
-- +goose StatementBegin
DO $do$
DECLARE d record;
BEGIN
  FOR d IN SELECT domain, string_agg(type::text, ', ' ORDER BY type) AS types FROM cache_domain_type GROUP BY domain LOOP
    EXECUTE format('CREATE CONSTRAINT TRIGGER %I AFTER INSERT ON version DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.type IN (%s)) EXECUTE FUNCTION raise_cache_version(%L)', 'raise_' || d.domain, d.types, d.domain);
    EXECUTE format('ALTER TABLE version ENABLE ALWAYS TRIGGER %I', 'raise_' || d.domain);
    EXECUTE format('CREATE TRIGGER %I AFTER TRUNCATE ON version
      FOR EACH STATEMENT EXECUTE FUNCTION raise_cache_version(%L)', 'truncate_' || d.domain, d.domain);
    EXECUTE format('ALTER TABLE version ENABLE ALWAYS TRIGGER %I', 'truncate_' || d.domain);
  END LOOP;
END
$do$;
-- +goose StatementEnd
