-- Measuring without reading plans: what one statement scanned and fetched, from the counters of the
-- transaction, which see SQL inside functions too.
set local search_path = helper, extensions;

create table usage (what text, relation text, seq_scans bigint, rows bigint);

create function counters() returns table (relation text, seq_scans bigint, rows bigint) language sql volatile as $$
  select regexp_replace(s.relname, '_(default|p[0-9]{8})$', ''), sum(coalesce(s.seq_scan, 0)), sum(coalesce(s.seq_tup_read, 0) + coalesce(s.idx_tup_fetch, 0))
  from pg_stat_xact_user_tables s where s.schemaname = 'outbox' group by 1
$$;

-- Carries out a dispatch call and notes what it used, under a name.
create function measure(p_what text, p_limit integer default 100, p_results jsonb default '[]') returns jsonb
language plpgsql as $$
declare
  v_before jsonb := (select jsonb_object_agg(c.relation, jsonb_build_array(c.seq_scans, c.rows)) from helper.counters() c);
  v_answer jsonb := helper.step(p_limit, p_results);
begin
  insert into helper.usage
  select p_what, c.relation, c.seq_scans - (v_before -> c.relation ->> 0)::bigint, c.rows - (v_before -> c.relation ->> 1)::bigint
  from helper.counters() c;
  return v_answer;
end
$$;

-- The tables that grow. The others have a few rows each, and a scan of them is as good as a look-up.
create view large as select unnest(array['event', 'unrouted', 'idempotency_key', 'endpoint', 'subscription', 'gate', 'lane', 'delivery', 'attempt', 'dead_letter',
  'audit_event']) as relation;

create function seq_scans(p_what text) returns setof text language sql as $$
  select u.relation || ': ' || u.seq_scans from helper.usage u join helper.large using (relation) where u.what = p_what and u.seq_scans > 0
$$;

create function rows_touched(p_what text) returns bigint language sql as $$
  select sum(u.rows)::bigint from helper.usage u join helper.large using (relation) where u.what = p_what
$$;
