-- One key of two organisations: each gets its own answer.
begin;
\ir ../../_helpers.sql
select plan(6);

select is(outbox.begin_request(o, 'POST /events', 'key-1', to_jsonb(o)), null, 'the key is new to ' || o) from unnest('{a,b,c}'::text[]) o;
select outbox.end_request(o, 'key-1', jsonb_build_object('of', o)) from unnest('{c,a,b}'::text[]) o;
select is(outbox.begin_request(o, 'POST /events', 'key-1', to_jsonb(o)), jsonb_build_object('of', o), 'its answer is the one of ' || o) from unnest('{b,c,a}'::text[]) o;

select * from finish();
rollback;
