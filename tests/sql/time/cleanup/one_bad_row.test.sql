-- Modules: api, inbox, sagas, messages
-- A row that the database refuses to delete keeps no other row, and is shown by its table and ctid.
begin;
\ir ../../_helpers.sql
select plan(44);

create function refuse() returns trigger language plpgsql as $$
declare
  v_row jsonb := to_jsonb(old);
begin
  -- bytea and uuid columns hold the word as well.
  if v_row::text ~ 'poison|0bad0bad' then
    raise exception using errcode = coalesce(current_setting('helper.code', true), 'P0001'), message = 'this one stays';
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end
$$;
create temporary table kind (name text primary key, step text, fill text);
insert into kind values
  ('idempotency_key', 'idempotency_keys', $$select 'o', n, gen_random_uuid(), '', '2020-01-01' from names n$$),
  ('request_key', 'request_keys', $$select 'o', n, 'r', '', null, '2020-01-01' from names n$$),
  ('saga_key', 'saga_keys', $$select 'o', n, 's', '', null, '2020-01-01' from names n$$),
  ('consumer_inbox', 'accepted', $$select 'c', n, '2020-01-01' from names n$$),
  ('revoked_portal_token', 'revoked_portal_tokens', $$select n, gen_random_uuid(), '2020-01-01' from names n$$),
  ('endpoint_secret', 'secrets', $$select case when n = 'poison' then '00000000-0000-0000-0000-00000bad0bad'::uuid else gen_random_uuid() end,
    gen_random_uuid(), vault.create_secret('x'), 'v1', null, '2020-01-01', '2020-01-01' from names n$$),
  ('dead_letter', 'dead_letters', $$select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'o', 't', n, 'e', 1, '2020-01-01', 'c', 1, null, null, null,
    '2020-01-01', 'why', null, null, '2020-01-01' from names n$$),
  ('replay_job', 'replay_jobs', $$(event_type, failed_to, rate_per_second, status, created_at, finished_at)
    select n, '2020-01-01', 1, 'done', '2020-01-01', '2020-01-01' from names n$$),
  ('opt_out', 'people', $$select 'o', 'WHATSAPP', row_number() over (), 'ALL', n, null, null, null, true, '2020-01-01', '2020-01-01', '2020-01-01' from names n$$),
  ('conversation_window', 'inbound', $$select case when n = 'poison' then '00000000-0000-0000-0000-00000bad0bad'::uuid else gen_random_uuid() end, 7, '2020-01-01' from names n$$),
  ('early_report', 'early_reports', $$select '00000000-0000-0000-0000-000000000001'::uuid, n, 'read', '2020-01-01', null, null, '2020-01-01' from names n$$),
  ('person', 'people', $$select 100 + row_number() over (), 'o', n, null, null, '{}', '2020-01-01', '2020-01-01', null from names n$$);
insert into kind values ('whatsapp_update', 'updates', '');
create temporary table names as select unnest(array['poison', 'good 1', 'good 2', 'good 3']) as n;
do $$
declare
  v_kind kind;
begin
  for v_kind in select * from kind loop
    if v_kind.name = 'whatsapp_update' then
      insert into outbox.whatsapp_update (app_id, key, kind, happened_at, data, received_at, update_status)
      select 'a', n, 'message', '2020-01-01', '{}', '2020-01-01', 'applied' from names;
    else
      execute format('insert into outbox.%I %s', v_kind.name, replace(v_kind.fill, 'names n', '(select n from names) as names(n)'));
    end if;
    execute format('create trigger refuse before delete or update on outbox.%I for each row execute function helper.refuse()', v_kind.name);
  end loop;
end
$$;
create function left_of(p_table text) returns bigint language plpgsql as $$
declare
  v_n bigint;
begin
  execute format('select count(*) from outbox.%I', p_table) into v_n;
  return v_n;
end
$$;
select is(left_of(name), 4::bigint, 'four old rows of ' || name) from kind order by name;
create temporary table result as select outbox.cleanup() as r;
select is(left_of(name), 1::bigint, 'three are deleted from ' || name || ', and one stays') from kind order by name;
select is(r -> 'errors', null, 'no step fails') from result;
select is(r -> 'more', 'false', 'and nothing else is left') from result;
select is((select count(*) from outbox.upkeep_refusal u where u.member like '% of outbox.' || k.name and u.error = 'this one stays' and u.sqlstate = 'P0001'),
  1::bigint, 'the refusal of ' || name || ' names the row') from kind k where name <> 'whatsapp_update' order by name;
select is((select member from outbox.upkeep_refusal where task = 'outbox.forget_idempotency_keys'), (select 'the row ' || k.ctid || ' of outbox.idempotency_key' from outbox.idempotency_key k where k.key = 'poison'), 'by its ctid, and by no number or key of a person');
select alike((select array_to_string(problems, '; ') from outbox.queue_health), '%the database refuses part of the periodic work (13) in outbox.drop_expired_secrets(), outbox.erase_inbound(), %: select * from outbox.upkeep_refusal has the errors (runbook: Periodic work)%', 'queue_health tells it');

-- Errors that are usually temporary do not change that.
set local helper.code = '40P01';
insert into outbox.consumer_inbox select 'c', n, '2020-01-01' from (values ('good 4'), ('good 5')) v (n);
select outbox.cleanup();
select is(left_of('consumer_inbox'), 1::bigint, 'nor does a bad row with the error of a deadlock keep others');

drop function refuse() cascade;
do $$ begin perform time_passes('1 s'), outbox.cleanup(); end $$;
select is_empty('select * from outbox.upkeep_refusal', 'once nothing is refused any more, the refusals are gone');

select * from finish();
rollback;
