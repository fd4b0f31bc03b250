-- Modules: api, sagas, inbox, messages
-- However much a day brings, a night is enough for it: cleanup() says when it stopped at its limit.
begin;
\ir ../../_helpers.sql
select plan(14);

create function cleaned(p_what text) returns text language sql as $$
  select (a ->> p_what) || case when (a -> 'more')::boolean then ', more' else '' end from outbox.cleanup(2) a
$$;

select is(outbox.cleanup() -> 'more', 'false', 'there is no more than nothing');
insert into outbox.idempotency_key (org_id, key, event_id, content, created_at)
select 'org', n::text, gen_random_uuid(), '', outbox.clock() - interval '25 h' from generate_series(1, 5) n;
select is(cleaned('idempotency_keys'), e, 'idempotency keys: ' || e) from unnest(array['2, more', '2, more', '1']) e;

insert into outbox.request_key (org_id, route, key, content, response, created_at)
select 'org', 'r', n::text, '', '{}', outbox.clock() - interval '25 h' from generate_series(1, 3) n;
select is(cleaned('request_keys'), e, 'keys of the API: ' || e) from unnest(array['2, more', '1']) e;

insert into outbox.consumer_inbox (consumer, event_id, accepted_at)
select 'c', n::text, outbox.clock() - interval '41 d' from generate_series(1, 3) n;
select is(cleaned('accepted'), e, 'the inbox: ' || e) from unnest(array['2, more', '1']) e;

insert into outbox.person (org_id, first_seen_at, last_seen_at)
select 'org', outbox.clock() - interval '366 d', outbox.clock() - interval '366 d' from generate_series(1, 3) n;
select is(cleaned('people'), e, 'people: ' || e) from unnest(array['2, more', '1']) e;
select is((select count(*) from outbox.person), 0::bigint, 'none is left');

select is(cleaned('messages'), '0', 'and with nothing left it says so');
select is(outbox.cleanup(1) -> 'more', 'false', 'under any limit');
select is(outbox.cleanup(100000) -> 'more', 'false', 'its own too');

select * from finish();
rollback;
