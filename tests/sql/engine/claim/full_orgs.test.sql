-- A claim serves no organisation that holds its share of the run, and loses nothing of it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(9);

create function step_without(p_orgs jsonb) returns jsonb language sql as $$
  select outbox.dispatch('00000000-0000-7000-8000-000000000001', nextval('helper.seq'), '[]', 100,
    p_contract => jsonb_build_object('oldest', 1, 'newest', 1, 'full', p_orgs))::jsonb
$$;

create temporary table made as select endpoint('{a}', p_org_id => 'noisy') as noisy, endpoint('{a}', p_org_id => 'quiet') as quiet;
select events(3, 'a', p_org_id => 'noisy'), events(2, 'a', p_org_id => 'quiet');
create temporary table answer as select step_without('["noisy"]') as a;
select is(a -> 'error', 'null', 'the call succeeds') from answer;
select is(claimed(a, noisy), 0, 'nothing of the organisation that is named') from answer, made;
select is(claimed(a, quiet), 2, 'all of the other one') from answer, made;
select is((select count(*) from outbox.delivery d join made on d.endpoint_id = noisy where d.leased_until is null), 3::bigint, 'its deliveries stay open');
select time_passes('30 s');
select is(claimed(step_without('["noisy"]')), 0, 'it waits as long as it is named');
select is(claimed(step_without('["noisy", "quiet"]')), 0, 'several may be named');
select is(claimed(step_without('[]'), noisy), 3, 'and is served as soon as it is not') from made;
select events(1, 'a', p_org_id => 'noisy');
select is(claimed(step_without('"noisy"')), 1, 'what is no list names nobody');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
