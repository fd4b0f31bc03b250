-- The limits of an organisation, each on either side: what reaches the limit is accepted, and one more is refused
-- with an error that names the limit, its value, the setting and the remedy. Other organisations, and what was
-- above a limit before, are not affected.
begin;
\ir ../_helpers.sql
\ir ../_engine.sql
\ir ../_messages.sql
set local search_path = helper, extensions;
create temporary table lim (name text primary key, value integer);
insert into lim values ('limit.endpoints', 3), ('limit.endpoint_subscriptions', 4), ('limit.subscriptions', 6),
  ('limit.event_types', 2), ('limit.replay_jobs', 2), ('limit.portal_tokens_per_day', 2),
  ('limit.templates', 2);
select plan(65);

select is((select array_agg(s.name order by s.name) from outbox.setting s where s.by_org),
  (select array_agg(l.name order by l.name) from (select name from lim union all values ('limit.audit_rows_per_day'), ('limit.event_mib_per_day'), ('limit.token_share'), ('api.burst'), ('api.max_calls_in_flight'),
    ('api.requests_per_second'), ('event_type.changes_kept')) l (name)),
  'each limit may differ between organisations');
select outbox.set_setting(l.name, to_jsonb(l.value)) from lim l;

-- Endpoints, whatever creates them.
create function made(p_org text) returns text language sql as $$
  select refusal(format('select endpoint(array[''a''], p_org_id => %L)', p_org))
$$;
create function full_of(p_org text, p_name text, p_things text) returns text language sql as $$
  select format('OH010 organisation %s may have at most %s %s (%s)', p_org, outbox.org_setting_int(p_org, p_name), p_things, p_name)
$$;
select is(made('org-1'), 'accepted', 'endpoint ' || n || ' of 3') from generate_series(1, 3) n;
select is(made('org-1'), full_of('org-1', 'limit.endpoints', 'endpoints'), 'the fourth is refused');
select is(refusal(c.call), full_of('org-1', 'limit.endpoints', 'endpoints'), c.what)
from (values
  ('a broker is', $$select outbox.create_broker_endpoint('kafka', '{"brokers": ["k.example.com:9093"], "topic": "t"}', p_org_id => 'org-1')$$),
  ('a Slack channel is', $$select outbox.create_slack_endpoint('https://hooks.slack.com/services/x', p_org_id => 'org-1')$$),
  ('a channel is', $$select channel('org-1', '100000000000003')$$),
  ('by the API too', $$select outbox.create_org_endpoint('org-1', '{"url": "https://example.com"}')$$)
) c (what, call);
select is((select array_agg(distinct p.proname::text order by p.proname::text) from pg_proc p
    where p.pronamespace = 'outbox'::regnamespace and p.prosrc ~ 'insert into outbox\.endpoint\s*\('),
  (select array_agg(p.proname::text order by p.proname::text) from pg_proc p
    where p.pronamespace = 'outbox'::regnamespace and p.prosrc ~ 'outbox\.check_endpoint_limit\('),
  'every function that creates an endpoint checks the limit');
select is(made('org-2'), 'accepted', 'another organisation is not affected');
select outbox.delete_endpoint((select id from outbox.endpoint where org_id = 'org-1' limit 1));
select is(made('org-1'), 'accepted', 'a deleted endpoint does not count');
create function hint_of(p_statement text) returns text language plpgsql as $$
declare v_hint text;
begin
  execute p_statement;
  return 'accepted';
exception when others then
  get stacked diagnostics v_hint = pg_exception_hint;
  return v_hint;
end
$$;
select is(hint_of($$select endpoint(p_org_id => 'org-1')$$),
  'Delete endpoints that are no longer used, or ask the operator to raise the setting limit.endpoints, for all organisations or for this one',
  'the remedy says what to do');

-- One organisation has another limit than all.
select is(outbox.set_org_setting('org-1', 'limit.endpoints', '4'), '{"org_id": "org-1", "name": "limit.endpoints", "value": 4, "was": null}',
  'an organisation gets a limit of its own');
select is(made('org-1'), 'accepted', 'which is higher');
select is(made('org-1'), full_of('org-1', 'limit.endpoints', 'endpoints'), 'and a limit');
select is(full_of('org-1', 'limit.endpoints', 'endpoints'), 'OH010 organisation org-1 may have at most 4 endpoints (limit.endpoints)', 'whose value the error names');
select is(outbox.set_org_setting('org-1', 'limit.endpoints', null) -> 'was', '4', 'it is removed again');
select is((select count(*)::integer from outbox.endpoint where org_id = 'org-1' and status <> 'deleted'), 4, 'what was made stays');
select is(made('org-1'), full_of('org-1', 'limit.endpoints', 'endpoints'), 'and nothing is added');
select is(refusal(c.call), c.refused, c.what)
from (values
  ('no setting', $$select outbox.set_org_setting('org-1', 'limit.pigeons', '1')$$, 'OH002 setting ''limit.pigeons'' does not exist'),
  ('a setting of all', $$select outbox.set_org_setting('org-1', 'worker.max_runs', '1')$$, 'OH005 setting worker.max_runs has one value for all organisations'),
  ('a value out of bounds', $$select outbox.set_org_setting('org-1', 'limit.endpoints', '0')$$, 'OH005 setting limit.endpoints must be between 1 and 1000000'),
  ('a text', $$select outbox.set_org_setting('org-1', 'limit.endpoints', '"4"')$$, 'OH005 setting limit.endpoints must be a whole number'),
  ('no organisation', $$select outbox.set_org_setting('a b', 'limit.endpoints', '4')$$, 'OH001 org_id is ''a b''')
) c (what, call, refused);

-- Subscriptions, of an endpoint and of all endpoints of an organisation.
create temporary table s as select endpoint('{a,b,c}', p_org_id => 'org-3') as one, endpoint('{a}', p_org_id => 'org-3') as two;
create function subscribed(p_endpoint uuid, p_types text[], p_filter text default null) returns text language sql as $$
  select refusal(format('select outbox.subscribe(%L, %L, %L)', p_endpoint, p_types, p_filter))
$$;
select is(subscribed(one, '{d}'), 'accepted', 'subscription 4 of 4') from s;
select is(subscribed(one, '{e}'), format('OH010 endpoint %s may have at most 4 subscriptions (limit.endpoint_subscriptions)', one), 'the fifth is refused') from s;
select is(subscribed(one, '{a,d}'), 'accepted', 'one that is there already is not counted') from s;
select is(subscribed(two, '{f}'), 'accepted', 'subscription 6 of 6 of the organisation') from s;
select is(subscribed(two, '{g}'), full_of('org-3', 'limit.subscriptions', 'subscriptions'), 'the seventh is refused') from s;
select is(refusal(format($$select outbox.update_org_endpoint('org-3', %L, '{"eventTypes": ["a", "g"]}')$$, two)), 'accepted', 'in place of another one it is accepted') from s;
select is(refusal(format($$select outbox.update_org_endpoint('org-3', %L, '{"eventTypes": ["a", "f", "g"]}')$$, two)),
  full_of('org-3', 'limit.subscriptions', 'subscriptions'), 'by the API too') from s;
select is(made('org-3'), full_of('org-3', 'limit.subscriptions', 'subscriptions'), 'an endpoint with another one is refused');
select is((select count(*)::integer from outbox.endpoint where org_id = 'org-3'), 2, 'and is not made');
select outbox.set_setting('limit.subscriptions', '3');
select is(subscribed(one, '{a,b}', '$.n == 1'), 'accepted', 'a filter changes above the limit too') from s;
select is((select count(*)::integer from outbox.subscription where org_id = 'org-3'), 6, 'and nothing is lost');
select is(refusal(format($$select outbox.update_org_endpoint('org-3', %L, '{"eventTypes": ["a"], "description": "less"}')$$, two)), 'accepted', 'less is accepted') from s;

-- Event types.
select is(refusal(format('select outbox.put_event_type(''org-1'', %L)', t)), 'accepted', 'event type ' || t) from unnest('{a,b}'::text[]) t;
select is(refusal($$select outbox.put_event_type('org-1', 'c')$$), full_of('org-1', 'limit.event_types', 'event types'), 'the third is refused');
select is(refusal($$select outbox.put_event_type('org-1', 'a', 'changed')$$), 'accepted', 'a known one changes');
select is(refusal($$select outbox.put_event_type('org-2', 'c')$$), 'accepted', 'another organisation is not affected');

-- Templates.
create function saved_template(p_org text, p_code text, p_name text default 'reminder') returns text language sql as $$
  select refusal(format('select outbox.put_template(%L, %L, %L, ''fr'', ''UTILITY'')', p_org, p_code, p_name))
$$;
select is(saved_template('org-1', t), 'accepted', 'template ' || t) from unnest('{a,b}'::text[]) t;
select is(saved_template('org-1', 'c'), full_of('org-1', 'limit.templates', 'templates'), 'the third is refused');
select is(saved_template('org-1', 'a', 'changed'), 'accepted', 'a known one changes');
select is(saved_template('org-2', 'c'), 'accepted', 'another organisation is not affected');
select outbox.delete_template('org-1', 'b');
select is(saved_template('org-1', 'c'), 'accepted', 'a deleted one does not count');

-- Open replay jobs.
create function job(p_org text) returns text language sql as $$ select refusal(format('select outbox.replay_many(%L)', p_org)) $$;
select is(job('org-1'), 'accepted', 'job ' || n) from generate_series(1, 2) n;
select outbox.set_replay_job((select max(id)::text from outbox.replay_job), 'paused');
select is(job('org-1'), full_of('org-1', 'limit.replay_jobs', 'open replay jobs'), 'the third is refused, although one is paused');
select outbox.set_replay_job((select max(id)::text from outbox.replay_job), 'cancelled');
select is(job('org-1'), 'accepted', 'one that has ended does not count');
select is(refusal('select outbox.replay_many() from generate_series(1, 3)'), 'accepted', 'jobs of all organisations have no limit');

-- Portal tokens of a day.
create function token(p_org text, p_key text default null) returns text language sql as $$
  select refusal(format('select outbox.record_portal_token(%L, ''{"id": "t", "issuedAt": 1}'', %L)', p_org, p_key))
$$;
select is(token('org-1', 'key-' || n), 'accepted', 'portal token ' || n) from generate_series(1, 2) n;
select is(token('org-1'), 'OH011 organisation org-1 may have at most 2 new portal tokens a day (limit.portal_tokens_per_day)', 'the third is refused');
select is(token('org-1', 'key-2'), 'accepted', 'a repeat is not counted');
select is(token('org-2'), 'accepted', 'another organisation is not affected');
select time_is('2026-03-01 23:59:59+00');
select isnt(token('org-1'), 'accepted', 'to the last second of the day in UTC');
select time_passes('1 s');
select is(token('org-1'), 'accepted', 'the next day begins at 0');

-- Requests of the API.
select outbox.set_org_setting('org-4', 'api.burst', '3');
select is((outbox.take_requests('org-4', 10) ->> 'granted')::integer, 3, 'an organisation has a burst of its own');
select is((outbox.take_requests('org-4', 10) ->> 'granted')::integer, 0, 'and no more');
select is((outbox.take_requests('org-2', 10) ->> 'granted')::integer, 10, 'another organisation has that of all');
select time_passes('-1 h');
select is((outbox.take_requests('org-4', 10) ->> 'granted')::integer, 0, 'a clock that is set back gives no request');
select time_passes('1 s');
select is((outbox.take_requests('org-4', 10) ->> 'granted')::integer, 3, 'and the bucket fills from then on');

select * from finish();
rollback;
