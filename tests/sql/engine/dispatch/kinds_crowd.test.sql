-- A run that cannot send each kind finds its own behind more due gates of other kinds than a claim reads.
begin;
\ir ../../_helpers.sql
select plan(4);

select time_is(now());
insert into outbox.endpoint_kind (kind, retry) values ('pigeon', plain_retry());
alter table outbox.endpoint disable trigger user;
create function call(p_run integer, p_kinds jsonb) returns jsonb language sql as $$
  select outbox.dispatch(('00000000-0000-7000-8000-0000000000a' || p_run)::uuid, nextval('helper.seq'), '[]', 100, 'worker',
    p_contract => jsonb_build_object('oldest', 1, 'newest', 1, 'kinds', p_kinds))::jsonb
$$;
create temporary table made as select endpoint('{a}') as web;
insert into outbox.endpoint (kind, org_id, url, created_at, updated_at)
select 'pigeon', 'crowd', 'https://example.com/' || n, outbox.clock(), outbox.clock() from generate_series(1, 5001) n;
do $$ begin perform outbox.add_gate(e.id, 'none') from outbox.endpoint e where e.kind = 'pigeon'; end $$;
-- Another run can send them, so that they stay due.
do $$ begin perform call(2, '["pigeon"]'), time_passes('1 s'); end $$;
update outbox.gate g set next_at = outbox.clock(), depth = 1 where g.org_id = 'crowd';
do $$ begin perform time_passes('2 s'), events(3, 'a'); end $$;
create temporary table answer as select call(1, '["webhook"]') as a;
select is(claimed(a, web), 3, 'the run gets the deliveries of its kind') from answer, made;
select is((select count(*)::integer from outbox.gate g where g.org_id = 'crowd' and g.next_at = outbox.clock() - interval '2 s'), 5001, 'the others stay due as they were');
select cmp_ok((select from_at from outbox.ring), '<=', outbox.clock() - interval '2 s', 'and none of them is before the start of the ring');
select is(outbox.has_due(outbox.clock()), true, 'and they start a run');

select * from finish();
rollback;
