-- +goose Up
-- Intervals longer than 31 days, or open at an end: few. All others that end after a
-- day and begin before it end within 31 days of it, so a walk in the order of the
-- ends need not pass over everything that is later. CASE, because before PostgreSQL
-- 17 infinite times cannot be subtracted.
CREATE INDEX search_date_long ON search_date (param, high, low, rid)
  WHERE CASE WHEN isfinite(low) AND isfinite(high) THEN high - low > interval '31 days' ELSE true END;
