-- An organisation sees only its own secrets, dead letters and open deliveries.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(10);

create temporary table made as select endpoint() as ours, endpoint(p_org_id => 'other') as theirs;
create temporary table secret as select s.id, s.endpoint_id from outbox.endpoint_secret s;
select outbox.rotate_secret(ours), outbox.rotate_secret(theirs) from made;
select is(refusal(format('select outbox.expire_org_secret(%L, %L, %L)', 'default', m.ours, s.id)), format('OH002 secret %s does not exist', s.id), 'a secret of another organisation is none')
from made m join secret s on s.endpoint_id = m.theirs;
select is((select expires_at > outbox.clock() from outbox.endpoint_secret x where x.id = s.id), true, 'and signs on') from made m join secret s on s.endpoint_id = m.theirs;
select is(refusal(format('select outbox.expire_org_secret(%L, %L, %L)', 'default', m.ours, s.id)), 'accepted', 'one''s own ends') from made m join secret s on s.endpoint_id = m.ours;

-- One dead and one open delivery each.
select events(1), events(1, p_org_id => 'other');
select fail(404);
select events(1), events(1, p_org_id => 'other');
select step(0);
create function listed(p_org text, p_status text) returns uuid[] language sql as $$
  select array_agg(distinct (d ->> 'endpointId')::uuid) from jsonb_array_elements(outbox.list_deliveries(p_org, p_status) -> 'data') d
$$;
select is(listed('default', s), array[ours], 'the list of what is ' || s || ' is one''s own') from made, unnest('{dead_letter,pending}'::text[]) s;
select is(listed('other', null), array[theirs], 'and the list of all') from made;

-- A page has a hundred at most.
select is(refusal(format('select outbox.%s(''default'', p_limit => %s)', f, n)), case when n = 100 then 'accepted' else 'OH001 limit is 101' end, format('%s(): %s a page', f, n))
from unnest('{list_deliveries,list_events}'::text[]) f, unnest('{100,101}'::integer[]) n;

select * from finish();
rollback;
