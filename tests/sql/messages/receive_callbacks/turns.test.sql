-- The waiting updates of one organisation hold up those of no other.
begin;
\ir ../../_helpers.sql
select plan(6);

insert into outbox.whatsapp_update (app_id, key, kind, phone_number_id, wamid, status, happened_at, data, received_at, org_id, update_status, next_check_at)
select 'app', o.org_id || n, 'status', '1', 'wamid.' || o.org_id || n, 'sent', outbox.clock(), '{}', outbox.clock(), o.org_id, 'stored', outbox.clock() - o.since
from (values ('noisy', 60, interval '1 h'), ('quiet', 3, interval '1 min')) o (org_id, many, since), generate_series(1, o.many) n;
create function waiting_of(p_org_id text) returns bigint language sql as $$
  select count(*) from outbox.whatsapp_update where org_id = p_org_id and next_check_at <= outbox.clock()
$$;
select is(outbox.apply_callbacks(20), 20, 'a tick checks as many updates as it may');
select is(waiting_of('quiet'), 0::bigint, 'all of the later organisation, because it has fewer');
select is(waiting_of('noisy'), 43::bigint, 'and the oldest of the other one');
select is(outbox.apply_callbacks(500), 43, 'the next tick goes on');

-- One organisation has more than a tick reads.
insert into outbox.whatsapp_update (app_id, key, kind, phone_number_id, wamid, status, happened_at, data, received_at, org_id, update_status, next_check_at)
select 'app', 'crowd ' || o.org_id || n, 'status', '1', 'wamid.' || o.org_id || n, 'sent', outbox.clock(), '{}', outbox.clock(), o.org_id, 'stored', outbox.clock() - o.since
from (values ('noisy', 5100, interval '1 h'), ('quiet', 3, interval '1 min')) o (org_id, many, since), generate_series(1, o.many) n;
select is(outbox.apply_callbacks(20), 20, 'behind 5,100 of another one');
select is(waiting_of('quiet'), 0::bigint, 'each organisation has a turn');

select * from finish();
rollback;
