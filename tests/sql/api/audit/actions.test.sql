-- Each action of a person writes one row into the audit trail, with who, what and the object, and no secret. What runs
-- do writes none, and a job that replays many deliveries is one row.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(74);

-- Values that no row may have.
create function secret(p_name text) returns text language sql immutable as $$
  select case p_name when 'signing' then 'whsec_' || encode(sha256('signing'), 'base64') when 'second' then 'whsec_' || encode(sha256('second'), 'base64')
    when 'url' then 'url-token-4711' when 'header' then 'header-value-4711' when 'payload' then 'payload-value-4711' when 'filter' then 'filter-value-4711' else 'error-text-4711' end
$$;
create temporary table look (id bigint);
insert into look values (0);
-- The rows since the last look: organisation, object, id, action, details and actor; ids that a test cannot know are named.
create temporary table known (id text, name text);
create function lines() returns text[] language plpgsql as $$
declare
  v_lines text[] := array(
    select concat_ws(' ', x.org_id, x.entity_type, coalesce((select k.name from known k where k.id = x.entity_id limit 1), x.entity_id), x.action || ':', x.details, '(' || x.actor || ')')
    from outbox.audit_event x, look l where x.id > l.id order by x.id);
begin
  update look set id = (select coalesce(max(x.id), 0) from outbox.audit_event x) where true;
  return v_lines;
end
$$;
create function after(variadic p_ignored text[]) returns text[] language plpgsql as $$
begin
  return lines();
end
$$;
create function last_data() returns jsonb language sql stable as $$ select x.data from outbox.audit_event x order by x.id desc limit 1 $$;
set local outhook.actor = 'user:anna';

-- Endpoints.
create temporary table made as select (outbox.create_org_endpoint('org-1', jsonb_build_object('url', 'https://example.com/' || secret('url'), 'secret', secret('signing'),
  'headers', jsonb_build_object('x-key', secret('header')), 'filter', format('$.a == "%s"', secret('filter')), 'retry', '{"strategy": "fixed", "baseDelay": 1, "maxRetries": 0}'::jsonb), 'key-1') ->> 'id')::uuid as id;
insert into known select id::text, 'hook' from made;
select is(lines(), array['org-1 ENDPOINT hook CREATED: Endpoint created (user:anna)'], 'an endpoint is created: one row');
select is(after(outbox.update_org_endpoint('org-1', id, jsonb_build_object('url', 'https://example.com/2/' || secret('url'), 'description', 'x', 'headers', jsonb_build_object('x-key', secret('header')), 'eventTypes', '["a.b", "test.event"]'::jsonb, 'filter', null))::text),
  array['org-1 ENDPOINT hook CHANGED: Endpoint changed: description, eventTypes, filter, headers, url (user:anna)'], 'changed: the names of the members') from made;
select is(last_data(), '{"members": ["description", "eventTypes", "filter", "headers", "url"]}', 'also as data');
select is(after(outbox.set_retry_config('org-1', id, '{"strategy": "fixed", "baseDelay": 1, "maxRetries": 0}')::text), array['org-1 ENDPOINT hook CHANGED: Endpoint changed: retry (user:anna)'], 'its retries') from made;
select is(after(outbox.pause_org_endpoint('org-1', id, 'lunch')::text), array['org-1 ENDPOINT hook PAUSED: Paused: lunch (user:anna)'], 'paused, with the reason') from made;
select is(after(outbox.resume_org_endpoint('org-1', id)::text), array['org-1 ENDPOINT hook RESUMED: Resumed, which was paused (user:anna)'], 'resumed, with what it was') from made;
select is(after(outbox.disable_endpoint(id)::text), array['org-1 ENDPOINT hook DISABLED: Disabled: by hand (user:anna)'], 'disabled') from made;
select after(outbox.resume_endpoint(id)::text) from made;
-- In SQL.
select is(after(outbox.set_headers(id, jsonb_build_object('x-key', secret('header')))::text), array['org-1 ENDPOINT hook CHANGED: Endpoint changed: headers (user:anna)'], 'headers in SQL') from made;
select is(after(outbox.subscribe(id, '{c.d}')::text), array['org-1 ENDPOINT hook CHANGED: Endpoint changed: eventTypes (user:anna)'], 'a subscription in SQL') from made;

-- Secrets.
select is(after(outbox.get_org_secret('org-1', id)::text), array['org-1 ENDPOINT hook SECRET_SHOWN: Signing secret shown (user:anna)'], 'a secret is shown') from made;
select is(after(outbox.rotate_org_secret('org-1', id, secret('second'), 3600, 'key-2')::text), array['org-1 ENDPOINT hook SECRET_ROTATED: Signing secret rotated (user:anna)'], 'rotated') from made;
select is(last_data() - 'secretId', '{"scheme": "v1", "oldExpiresAt": "2026-03-01T13:00:00.000Z"}', 'with when the old one ends');
select is(after(outbox.rotate_org_secret('org-1', id, secret('second'), 3600, 'key-2')::text), array['org-1 ENDPOINT hook SECRET_SHOWN: Signing secret shown (user:anna)'], 'a repeat only shows it') from made;
select is(after(outbox.expire_org_secret('org-1', id, (select s.id from outbox.endpoint_secret s where s.endpoint_id = m.id and s.expires_at is not null))::text),
  array['org-1 ENDPOINT hook SECRET_EXPIRED: Replaced signing secret expired (user:anna)'], 'the old one is expired') from made m;
select is(after(outbox.create_org_endpoint('org-1', jsonb_build_object('url', 'https://example.com/' || secret('url'), 'secret', secret('signing'),
  'headers', jsonb_build_object('x-key', secret('header')), 'filter', format('$.a == "%s"', secret('filter')), 'retry', '{"strategy": "fixed", "baseDelay": 1, "maxRetries": 0}'::jsonb), 'key-1')::text), '{}', 'a repeated creation after a rotation shows nothing');

-- Runs write nothing.
create temporary table event as select (events(5, p_org_id => 'org-1', p_payload => jsonb_build_object('a', secret('payload')))) as ids;
-- It was resumed, and begins with one at a time.
update outbox.endpoint set ramp_from = 'epoch', breaker_enabled = false where true;
update outbox.gate set ramp_from = 'epoch' where true;
do $$ begin perform fail(400, jsonb_build_object('error', helper.secret('error'))); end $$;
select is((select count(*) from outbox.dead_letter where org_id = 'org-1'), 5::bigint, 'five deliveries are dead');
select is(lines(), '{}', 'publishing, claiming and results write no row');
insert into known select e || '.' || m.id, 'delivery ' || n from event, made m, unnest(ids) with ordinality u (e, n);

-- Deliveries.
select is(after(outbox.act_on_delivery('org-1', ids[1], id, 'replay')::text), array['org-1 DELIVERY delivery 1 REPLAYED: Delivery replayed (user:anna)'], 'a delivery is replayed') from event, made;
select is(last_data() ->> 'endpointId', id::text, 'with its endpoint') from made;
select is(after(outbox.act_on_delivery('org-1', ids[1], id, 'replay')::text), array['org-1 DELIVERY delivery 1 REPLAYED: Delivery replayed (user:anna)'], 'also one that is open: one row') from event, made;
select is(after(outbox.act_on_delivery('org-1', ids[1], id, 'retry')::text), array['org-1 DELIVERY delivery 1 RETRIED: Next attempt moved (user:anna)'], 'hurried') from event, made;
select is(after(outbox.act_on_delivery('org-1', ids[1], id, 'cancel', 'not wanted')::text), array['org-1 DELIVERY delivery 1 CANCELLED: Delivery cancelled: not wanted (user:anna)'], 'cancelled, with the reason') from event, made;
select is(after(outbox.replay_dead_letter('org-1', x.id)::text), array['org-1 DELIVERY delivery 2 REPLAYED: Delivery replayed (user:anna)'], 'a dead letter is replayed') from event, outbox.dead_letter x where x.event_id = ids[2];
select is(after(outbox.discard_org_dead_letter('org-1', x.id, 'too old')::text), array['org-1 DELIVERY delivery 3 DISCARDED: Dead letter discarded: too old (user:anna)'], 'discarded, with the reason') from event, outbox.dead_letter x where x.event_id = ids[3];

insert into outbox.unroutable (event_id, org_id, error, set_aside_at) select ids[5], 'org-1', secret('error'), outbox.clock() from event;
select is(after(outbox.route_again(ids[5])::text), array[format('org-1 EVENT %s ROUTED_AGAIN: Event that was set aside routed again (user:anna)', ids[5])], 'an event that was set aside is routed again') from event;
delete from outbox.unrouted where true;

-- Jobs.
create temporary table job as select outbox.create_replay_job('org-1', jsonb_build_object('endpointId', id, 'error', secret('error')), 'key-3') ->> 'id' as id from made;
insert into known select id, 'job' from job;
select is(lines(), array['org-1 REPLAY_JOB job CREATED: Replay job created (user:anna)'], 'a replay job is created');
select is(last_data() - 'endpointId', '{"source": "dead_letters", "failedTo": "2026-03-01T12:00:00.000Z"}', 'with what it replays, but not the error');
select is(after(outbox.change_replay_job('org-1', id, 'paused')::text), array['org-1 REPLAY_JOB job PAUSED: Replay job paused (user:anna)'], 'paused') from job;
select is(after(outbox.change_replay_job('org-1', id, 'running')::text), array['org-1 REPLAY_JOB job RESUMED: Replay job resumed (user:anna)'], 'resumed') from job;
update outbox.replay_job set error = null where true;
select is(outbox.work_replay_jobs(outbox.clock()), 2, 'its work replays what is left');
select is(lines(), '{}', 'which writes no row, however many there are');
select is(after(outbox.change_replay_job('org-1', id, 'cancelled')::text), array['org-1 REPLAY_JOB job CANCELLED: Replay job cancelled (user:anna)'], 'cancelled') from job;
select is(after(outbox.create_replay_job('org-1', jsonb_build_object('endpointId', m.id, 'error', secret('error')), 'key-3')::text), '{}', 'a repeat of its creation is no action') from made m;
select matches(after(outbox.create_backfill('org-1', id, '{}')::text)::text, 'org-1 REPLAY_JOB [0-9]+ CREATED: Backfill created \(user:anna\)', 'a backfill is created') from made;
select matches(after(outbox.replay_many()::text)::text, '^\{"REPLAY_JOB [0-9]+ CREATED: Replay job created', 'a job for all organisations belongs to none');

-- Tokens, event types, settings.
select is(after(outbox.record_portal_token('org-1', '{"id": "00000000-0000-4000-8000-000000000002", "issuedAt": 1, "subject": "zoe", "scopes": ["events:read"], "expiresInSeconds": 60}', 'key-4')::text),
  array['org-1 PORTAL_TOKEN 00000000-0000-4000-8000-000000000002 CREATED: Portal token created (user:anna)'], 'a portal token is created');
select is(last_data(), '{"subject": "zoe", "scopes": ["events:read"], "expiresInSeconds": 60}', 'for whom, and with what it may do');
select is(after(outbox.record_portal_token('org-1', '{"id": "00000000-0000-4000-8000-000000000003", "issuedAt": 2, "subject": "zoe", "scopes": ["events:read"], "expiresInSeconds": 60}', 'key-4')::text), '{}', 'a repeat creates none');
select is(after(outbox.revoke_portal_token('org-1', '00000000-0000-4000-8000-000000000001')::text), array['org-1 PORTAL_TOKEN 00000000-0000-4000-8000-000000000001 REVOKED: Portal token revoked (user:anna)'], 'a portal token is revoked');
select is(after(outbox.revoke_portal_token('org-1', '00000000-0000-4000-8000-000000000001')::text), '{}', 'once');
select is(after(outbox.revoke_portal_tokens('org-1')::text), array['org-1 PORTAL_TOKEN * REVOKED: All portal tokens revoked (user:anna)'], 'or all are');
select is(after(outbox.put_event_type('org-1', 'a.b', 'x')::text), array['org-1 EVENT_TYPE a.b CREATED: Event type of the catalogue (user:anna)'], 'an event type is created');
select is(after(outbox.put_event_type('org-1', 'a.b', 'y')::text), array['org-1 EVENT_TYPE a.b CHANGED: Event type of the catalogue (user:anna)'], 'changed');
select is(after(outbox.put_event_type('org-1', 'a.b', 'y')::text), '{}', 'the same again is no change');
select is(after(outbox.delete_event_type('org-1', 'a.b')::text), array['org-1 EVENT_TYPE a.b DELETED: Event type of the catalogue (user:anna)'], 'deleted');
select is(after(outbox.set_catalogue('org-1', true)::text), array['org-1 EVENT_CATALOGUE catalogue CHANGED: Catalogue made strict (user:anna)'], 'the catalogue is made strict');
select is(after(outbox.set_org_setting('org-1', 'limit.endpoints', '7')::text), array['org-1 SETTING limit.endpoints CHANGED: Setting changed (user:anna)'], 'a setting of the organisation');
select is(last_data(), '{"value": 7}', 'with its value');
select is(after(outbox.set_setting('limit.endpoints', '8')::text), array['SETTING limit.endpoints CHANGED: Setting changed (user:anna)'], 'a setting of all organisations belongs to none');
select is(after(outbox.set_setting('egress.proxy_url', '"http://proxy-4711.example:8080"')::text), array['SETTING egress.proxy_url CHANGED: Setting changed (user:anna)'], 'also a text');
select is(last_data(), '{}', 'without its value');
select is(after(outbox.delete_org_endpoint('org-1', id)::text), array['org-1 ENDPOINT hook DELETED: Endpoint deleted (user:anna)'], 'an endpoint is deleted') from made;

-- Nothing of all this is in a row: not a secret, an address, a header, a filter, a payload or an error.
select is_empty($$ select x.details, x.data, s.name from outbox.audit_event x, unnest(array['signing', 'second', 'url', 'header', 'payload', 'filter', 'error']) s (name)
  where position(secret(s.name) in to_jsonb(x)::text) > 0 $$, 'no row has a secret, an address, a header, a filter, a payload or an error');

-- A refused action leaves no row, also if it is refused after its row was written.
select is(after(refusal(format('select outbox.pause_org_endpoint(%L, %L)', 'org-2', id))), '{}', 'a refused action leaves none') from made;
select is(after(refusal($$do $do$ begin perform outbox.set_setting('limit.endpoints', '9'); raise exception 'later'; end $do$ $$)), '{}', 'nor one whose transaction fails');

-- A change leaves none if its row cannot be written.
create function no_row() returns trigger language plpgsql as $$ begin raise exception 'no row'; end $$;
create trigger no_row before insert on outbox.audit_event for each row execute function no_row();
select is(refusal($$select outbox.set_setting('limit.endpoints', '9')$$) || (select s.value from outbox.setting s where s.name = 'limit.endpoints'), 'P0001 no row (without a hint)8', 'no change is without its row');
drop trigger no_row on outbox.audit_event;

-- Who.
select is(outbox.current_actor(), 'user:anna', 'whom the setting names');
select is(length(set_config('outhook.actor', repeat('x', 10000), true)) || ' ' || length(outbox.current_actor()), '10000 200', 'up to 200 characters');
set local outhook.actor = '';
select is(outbox.current_actor(), 'sql:' || session_user, 'in SQL, the role that logged in');
-- Over the Data API: as a role, with the headers and the claims of a request. Any door calls current_actor().
create function by_request(p_role text, p_headers text, p_claims text default null) returns text language plpgsql as $$
begin
  perform set_config('request.headers', p_headers, true), set_config('request.jwt.claims', p_claims, true), set_config('role', p_role, true);
  perform helper.app_function();
  perform set_config('role', 'none', true), set_config('request.headers', '', true);
  return (select x.actor from outbox.audit_event x order by x.id desc limit 1);
end
$$;
-- What an application gives its users: it runs as its owner.
create function app_function() returns void language plpgsql security definer as $$ begin perform outbox.set_org_setting('org-1', 'limit.endpoints', '7'); end $$;
grant usage on schema helper to service_role, authenticated, anon;
grant execute on function helper.app_function() to service_role, authenticated, anon;
select is(by_request(r.role, r.headers, r.claims), r.actor, r.name) from (values
  ('service_role', '{"host": "example.com", "x-outhook-actor": "portal:Zo%C3%A9"}', null, 'portal:Zo%C3%A9', 'a request with a secret key names whom it wants'),
  ('service_role', '{"host": "example.com"}', null, 'service', 'or nobody'),
  ('service_role', 'not json', null, 'service', 'whatever the setting has'),
  ('service_role', '{"x-outhook-actor": ""}', null, 'service', 'an empty name is none'),
  ('service_role', '{"x-outhook-actor": "a b"}', null, 'service', 'nor is one with a space, such as that of two headers: a, b'),
  ('service_role', '{"x-outhook-actor": "a\u0007b"}', null, 'service', 'nor one with a control character'),
  ('service_role', '{"x-outhook-actor": "Zoé"}', null, 'service', 'nor one that is not ASCII'),
  ('service_role', '{"x-outhook-actor": "a\"b"}', null, 'service', 'nor one with a quote'),
  ('service_role', '{"x-other": "\"x-outhook-actor\": \"user:boss\""}', null, 'service', 'nor one inside another header'),
  ('service_role', '{"x-outhook-actor": "' || repeat('x', 10000) || '"}', null, repeat('x', 200), 'a long one is cut at 200 characters'),
  ('authenticated', '{"x-outhook-actor": "user:boss"}', '{"role": "authenticated", "user_metadata": {"sub": "boss"}, "sub": "zoe"}', 'user:zoe', 'a user is whom the token names, whatever the header has'),
  ('authenticated', '{"x-outhook-actor": "user:boss"}', '{"role": "authenticated", "user_metadata": {"sub": "boss"}}', 'sql:authenticated', 'or nobody'),
  ('authenticated', '{"x-outhook-actor": "user:boss"}', 'not json', 'sql:authenticated', 'whatever the claims have'),
  ('anon', '{"x-outhook-actor": "user:boss"}', null, 'sql:anon', 'and so is who has only the publishable key')
) r (role, headers, claims, actor, name);

-- The end of the rows.
update outbox.audit_event x set created_at = outbox.clock() - interval '401 days' where x.id <= (select min(y.id) + 4 from outbox.audit_event y);
insert into outbox.audit_event (org_id, entity_type, entity_id, action, details, created_at) values ('org-1', 'PERSON', '1', 'OPTED_OUT', 'x', outbox.clock() - interval '4000 days');
select is(outbox.forget_actions(outbox.clock(), 100) || ' ' || (select count(*) from outbox.audit_event where entity_type = 'PERSON'), '5 1', 'actions end after audit.retention_days, what concerns people stays');

select * from finish();
rollback;
