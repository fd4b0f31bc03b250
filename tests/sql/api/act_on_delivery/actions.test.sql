-- Retry now, replay and cancel by the organisation of the endpoint: what each does, and what it is refused for.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(15);

create temporary table made as select endpoint(p_org_id => 'org-1') as id;
create temporary table event as select (events(1, p_org_id => 'org-1'))[1] as id;
create function act(p_action text, p_org text default 'org-1', p_reason text default null) returns text language sql as $$
  select refusal(format('select outbox.act_on_delivery(%L, %L, %L, %L, %L)', p_org, e.id, m.id, p_action, p_reason)) from event e, made m
$$;
create function status() returns text language sql as $$
  select outbox.get_delivery('org-1', e.id, m.id) ->> 'status' from event e, made m
$$;

select step();
select is(act('retry'), format('OH004 the delivery of event %s to endpoint %s is in flight', e.id, m.id), 'not while it is being sent') from event e, made m;
select step(0, jsonb_build_array(jsonb_build_object('event', e.id, 'endpoint', m.id, 'attempt', 1, 'outcome', 'failed', 'status', 500))) from event e, made m;
select is(status(), 'retrying', 'a failure waits for its retry');
select is(claimed(step()), 0, 'in its time');
select is(act('retry', 'org-2'), format('OH002 delivery %s.%s does not exist', e.id, m.id), 'another organisation cannot hurry it') from event e, made m;
select is(act('replay', 'org-2'), format('OH002 delivery %s.%s does not exist', e.id, m.id), 'nor replay it') from event e, made m;
select is(act('cancel', 'org-2'), format('OH002 delivery %s.%s does not exist', e.id, m.id), 'nor cancel it') from event e, made m;
select is(act('retry'), 'accepted', 'its own can');
select is(send(), 1, 'and it is sent at once');
select is(status(), 'delivered', 'delivered');
select time_passes('1 s');
select is(act('retry'), format('OH004 delivery %s.%s is finished', e.id, m.id), 'then there is nothing to hurry') from event e, made m;
select is(act('cancel'), format('OH004 delivery %s.%s is finished', e.id, m.id), 'or to cancel') from event e, made m;
select is(act('replay') || ' ' || status(), 'accepted pending', 'a replay opens it again');
select is(act('cancel', p_reason => 'not wanted') || ' ' || status(), 'accepted cancelled', 'a cancellation ends it');
select is(outbox.get_delivery('org-1', e.id, m.id) ->> 'reason', 'not wanted', 'with its reason') from event e, made m;
select is(act('explode'), $$OH001 action is 'explode'$$, 'and nothing else is done');

select * from finish();
rollback;
