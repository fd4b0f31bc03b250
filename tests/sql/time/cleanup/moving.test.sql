-- What an organisation that moves has open in both projects expires in one of them, so it is announced once.
begin;
\ir ../../_helpers.sql
select plan(3);

create temporary table o as
select * from (values ('copying', 'source'), ('closed', 'source'), ('moved', 'source'), ('receiving', 'target'), ('live', 'target')) o (org, role);
select endpoint(p_org_id => org), events(1, p_org_id => org) from o;
select step(p_limit => 0);
select time_passes('31 days');
insert into outbox.org_move (org_id, move_id, role, status, other, started_at, changed_at)
select org, gen_random_uuid(), role, org, 'two', outbox.clock(), outbox.clock() from o;
select is(outbox.expire_deliveries(10), 3, 'of five organisations');
select set_eq('select org_id from outbox.dead_letter', array['copying', 'closed', 'live'], 'what the other project does not deliver becomes a dead letter');

update outbox.org_move m set status = 'live' where m.status = 'receiving';
select outbox.expire_deliveries(10);
select set_eq('select org_id from outbox.dead_letter', array['copying', 'closed', 'live', 'receiving'], 'and the rest in the project that delivers it');

select * from finish();
rollback;
