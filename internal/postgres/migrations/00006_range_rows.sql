-- +goose Up
-- The rows that a resource has in search_date, search_number and search_string,
-- read from resource.ranges: a candidate that another criterion found is compared
-- with its own values, so no index by resource is needed. The rows of a list are
-- sorted by param, so those of one stand together, and a keyed hash is not found
-- elsewhere by chance. ranges.go has the encoding.
-- +goose StatementBegin
CREATE FUNCTION range_int(ranges bytea, at integer) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ('x' || encode(substring(ranges FROM at FOR 8), 'hex'))::bit(64)::bigint
$$;

-- In microseconds since 2000; the extreme values are the infinite times.
CREATE FUNCTION range_dates(ranges bytea, param bigint) RETURNS TABLE (low bigint, high bigint)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 20 ROWS 1 AS $$
DECLARE
  wanted bytea := int8send(param);
  at     integer := position(wanted IN ranges);
BEGIN
  WHILE at > 0 AND substring(ranges FROM at FOR 8) = wanted LOOP
    low := range_int(ranges, at + 8);
    high := range_int(ranges, at + 16);
    RETURN NEXT;
    at := at + 24;
  END LOOP;
END
$$;

-- A part is its length, seven bits a byte and the lowest first, and its text.
CREATE FUNCTION range_part(ranges bytea, INOUT at integer, OUT part text)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10 AS $$
DECLARE
  n     integer := get_byte(ranges, at - 1);
  shift integer := 7;
BEGIN
  IF n >= 128 THEN
    n := n & 127;
    LOOP
      at := at + 1;
      n := n | ((get_byte(ranges, at - 1) & 127) << shift);
      EXIT WHEN get_byte(ranges, at - 1) < 128;
      shift := shift + 7;
    END LOOP;
  END IF;
  part := convert_from(substring(ranges FROM at + 1 FOR n), 'UTF8');
  at := at + 1 + n;
END
$$;

CREATE FUNCTION range_numbers(ranges bytea, param bigint)
RETURNS TABLE (unit bigint, code bigint, text bigint, low numeric, high numeric)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 20 ROWS 1 AS $$
DECLARE
  wanted bytea := int8send(param);
  at     integer := position(wanted IN ranges);
  part   text;
  n      integer;
BEGIN
  WHILE at > 0 AND substring(ranges FROM at FOR 8) = wanted LOOP
    unit := range_int(ranges, at + 8);
    code := range_int(ranges, at + 16);
    text := range_int(ranges, at + 24);
    n := get_byte(ranges, at + 31);
    IF n < 128 AND get_byte(ranges, at + 32 + n) < 128 THEN -- nearly always
      low := convert_from(substring(ranges FROM at + 33 FOR n), 'UTF8')::numeric;
      at := at + 33 + n;
      n := get_byte(ranges, at - 1);
      high := convert_from(substring(ranges FROM at + 1 FOR n), 'UTF8')::numeric;
      at := at + 1 + n;
    ELSE
      SELECT p.at, p.part INTO at, part FROM range_part(ranges, at + 32) p;
      low := part::numeric;
      SELECT p.at, p.part INTO at, part FROM range_part(ranges, at) p;
      high := part::numeric;
    END IF;
    RETURN NEXT;
  END LOOP;
END
$$;

CREATE FUNCTION range_texts(ranges bytea, param bigint) RETURNS TABLE (value text)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 20 ROWS 1 AS $$
DECLARE
  wanted bytea := int8send(param);
  at     integer := position(wanted IN ranges);
  n      integer;
BEGIN
  WHILE at > 0 AND substring(ranges FROM at FOR 8) = wanted LOOP
    n := get_byte(ranges, at + 7);
    IF n < 128 THEN
      value := convert_from(substring(ranges FROM at + 9 FOR n), 'UTF8');
      at := at + 9 + n;
    ELSE
      SELECT p.at, p.part INTO at, value FROM range_part(ranges, at + 8) p;
    END IF;
    RETURN NEXT;
  END LOOP;
END
$$;
-- +goose StatementEnd

-- The upper ends of the numbers that are ranges: few, since a number is mostly
-- a value alone.
CREATE INDEX search_number_high ON search_number (param, high, rid) WHERE low <> high;

-- Counts read nothing but indexes where the pages of their tables are known to
-- be visible to all.
ALTER TABLE resource SET (autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE search_key SET (autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE search_date SET (autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE search_number SET (autovacuum_vacuum_insert_scale_factor = 0.05);
ALTER TABLE search_string SET (autovacuum_vacuum_insert_scale_factor = 0.05);
