-- While organisations wait for each other, large bodies of one endpoint fill neither a claim nor the time of the run.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(8);

create temporary table ours (org_id text, id uuid);
insert into ours select 'large', endpoint('{}', p_org_id => 'large', p_quantum => 50, p_max_in_flight => 1000) from generate_series(1, 8);
insert into ours select 'small', endpoint('{}', p_org_id => 'small');
create temporary table body as select jsonb_build_object('text', repeat('x', 100000)) as body;
do $$ begin
  perform events(case when org_id = 'large' then 5 else 1 end, p_org_id => org_id, p_endpoint_id => id, p_payload => case when org_id = 'large' then body else '{}' end)
  from ours, body;
  perform step(0), time_passes('1 s');
end $$;
select is((select count(*) from outbox.delivery), 41::bigint, 'all is routed');
-- What a claim has of each endpoint of "large", and of "small".
create function served() returns text language plpgsql as $$
declare
  v_answer jsonb := step(400);
begin
  return (
    select string_agg(claimed(v_answer, id)::text, ',' order by org_id, claimed(v_answer, id) desc, id) from ours);
end
$$;
update outbox.router set shared_at = outbox.clock() where true;
select is(served(), '2,2,2,2,2,0,0,0,1', 'an endpoint has 256 KiB, and the claim 1 MiB');
select is_empty('select * from miscounts()', 'the counters are right');
select is(served(), '2,2,2,2,2,0,0,0,0', 'the next claim has the next endpoints');
select is_empty('select * from asleep()', 'none waits in vain');

-- One delivery fits whatever its size is.
do $$ begin perform time_passes('6 s'), step(400); end $$;
create temporary table huge as select events(2, p_org_id => 'small', p_endpoint_id => id, p_payload => jsonb_build_object('text', repeat('x', 260000))) from ours where org_id = 'small';
select outbox.set_setting('publish.max_body_bytes', '1048576');
do $$ begin perform events(2, p_org_id => 'small', p_endpoint_id => id, p_payload => jsonb_build_object('text', repeat('x', 300000))) from ours where org_id = 'small'; end $$;
do $$ begin perform step(0), time_passes('1 s'); end $$;
update outbox.router set shared_at = outbox.clock() where true;
select is(claimed(step(400), id), 1, 'a delivery that is larger than this share is claimed alone') from ours where org_id = 'small';
select is(claimed(step(400), id), 1, 'and so is the next one') from ours where org_id = 'small';
select is_empty('select * from miscounts()', 'the counters are right in the end');
select * from finish();
rollback;
