-- The rows of an organisation as one text, which changes with any row; and that text for no rows.
set local search_path = helper, extensions;

-- Tables of the engine, which moves for all organisations alike: clocks, counters, and the calls of runs.
create table engine_table (name text primary key);
insert into engine_table values ('run'), ('run_batch'), ('router'), ('ring'), ('counter'), ('counter_change'), ('callback_count'),
  ('partition_check'), ('test_clock');

-- For each table the rows that are an organisation's ($1): by every column that leads to one. A table without such a
-- column is everybody's and compared whole.
create view belonging as
  select c.oid::regclass as relation, string_agg(format(m.condition, quote_ident(a.attname)), ' or ') as condition
  from pg_class c
  left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    and a.attname in ('org_id', 'endpoint_id', 'event_id', 'channel_id', 'message_id', 'gate_id', 'app_id')
    -- An app serves several organisations, and a job of one may name any endpoint: it finds the letters of its own alone.
    and (c.relname, a.attname) not in (('whatsapp_channel', 'app_id'), ('whatsapp_update', 'app_id'), ('replay_job', 'endpoint_id'))
  left join (values
    ('org_id', 't.%s = $1'),
    ('endpoint_id', 't.%s in (select e.id from outbox.endpoint e where e.org_id = $1)'),
    ('channel_id', 't.%s in (select e.id from outbox.endpoint e where e.org_id = $1)'),
    ('event_id', 't.%s::text in (select e.id::text from outbox.event e where e.org_id = $1)'),
    ('message_id', 't.%s in (select m.id from outbox.outbound_message m where m.org_id = $1)'),
    ('gate_id', 't.%s in (select g.id from outbox.gate g join outbox.endpoint e on e.id = g.endpoint_id where e.org_id = $1)'),
    ('app_id', 't.%s in (select o.app_id from helper.org o where o.id = $1)')
  ) m (name, condition) on m.name = a.attname
  where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname not in (select name from engine_table)
  group by c.oid;

-- Written out, so that its plan is made once.
do $do$
begin
  execute format($$
    create function belongings(p_org text) returns text language plpgsql as $body$
    declare
      v_all text := array_to_string(array[%s], '');
    begin
      -- A row only names its secret.
      return v_all || E'\n== vault\n' || coalesce((
        select string_agg(s.id || ' ' || s.secret, E'\n' order by s.id) from vault.secrets s where strpos(v_all, s.id::text) > 0), '');
    end
    $body$ $$, (
    select string_agg(format($$E'\n== %1$s\n', (select string_agg(t::text, E'\n' order by t::text) from %1$s t where %2$s)$$,
      relation, replace(coalesce(condition, 'true'), '$1', 'p_org')), ', ' order by relation::text)
    from helper.belonging));
end
$do$;
comment on function belongings(text) is 'Every row of an organisation, and every secret that one of them names.';

-- The tables in which two statuses differ.
create function changed(p_before text, p_after text) returns text language sql as $$
  select string_agg(split_part(b.part, E'\n', 1), ', ')
  from regexp_split_to_table(p_before, E'\n== ') with ordinality b (part, n)
  join regexp_split_to_table(p_after, E'\n== ') with ordinality a (part, n) using (n)
  where a.part <> b.part
$$;

-- What only one organisation's rows say: ids, and the word that its texts begin with.
create function marks(p_text text) returns setof text language sql as $$
  select distinct m[1] from regexp_matches(p_text, '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|victims|org-victim|whsec_[A-Za-z0-9+/=]+|100000000000002|900000000000002|12025550102', 'g') m
$$;
