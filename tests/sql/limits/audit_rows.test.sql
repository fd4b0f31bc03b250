-- Modules: messages
-- How many rows the tokens of an organisation may leave in the audit trail in a day: both sides of the limit, what passes
-- above it, and who has no limit.
begin;
\ir ../_helpers.sql
set local search_path = helper, extensions;
select plan(77);

create temporary table made as select endpoint(p_org_id => 'org-1') as id, endpoint(p_org_id => 'org-2') as other;
-- A statement of this actor in a request, or without headers in none.
create function acts(p_actor text, p_statement text, p_headers text default '{"host": "example.com"}') returns text language plpgsql as $$
declare
  v_result text;
begin
  perform set_config('outhook.actor', p_actor, true), set_config('request.headers', p_headers, true);
  v_result := helper.refusal(p_statement);
  perform set_config('outhook.actor', '', true), set_config('request.headers', '', true);
  return v_result;
end
$$;
create function resumes(p_actor text, p_headers text default '{"host": "example.com"}') returns text language sql as $$
  select acts(p_actor, format('select outbox.resume_endpoint(%L)', id), p_headers) from made
$$;
create function pauses(p_actor text) returns text language sql as $$
  select acts(p_actor, format('select outbox.pause_endpoint(%L)', id)) from made
$$;
create function full_day(p_most integer) returns text language sql as $$
  select format('OH011 the tokens of organisation org-1 may leave at most %s rows in the audit trail a day (limit.audit_rows_per_day)', p_most)
$$;
create function counted(p_org text) returns bigint language sql as $$ select sum(n) from outbox.audit_count where org_id = p_org $$;
create function rows_of(p_org text) returns bigint language sql as $$ select count(*) from outbox.audit_event where org_id = p_org $$;
create function seconds_left(p_statement text) returns text language plpgsql as $$
declare
  v_detail text;
begin
  execute p_statement;
  return 'accepted';
exception when sqlstate 'OH011' then
  get stacked diagnostics v_detail = pg_exception_detail;
  return v_detail;
end
$$;

select is(outbox.setting_int('limit.audit_rows_per_day'), 10000, 'the limit of all organisations');
select outbox.set_org_setting('org-1', 'limit.audit_rows_per_day', '3');
select is(counted('org-1'), null, 'what SQL has written does not count');

-- Both sides of the limit.
select is(resumes('portal:zoe'), 'accepted', 'the first row, by a portal token');
select is(resumes('user:anna'), 'accepted', 'the second, by the token of a user');
select is(counted('org-1'), 2::bigint, 'both count together');
select is(resumes('sql:anon'), 'accepted', 'the third, by a function of the application that somebody without a user calls');
select is(rows_of('org-1'), 5::bigint, 'and their rows are there, beside that of the endpoint and the setting');
select is(resumes('portal:zoe'), full_day(3), 'the fourth is refused');
select is(resumes('user:anna'), full_day(3), 'whoever writes it');
select is(acts('portal:zoe', format('select outbox.read_secret(%L)', id)), full_day(3), 'a secret is not shown without a row') from made;
select is(counted('org-1') || ' ' || rows_of('org-1'), '3 5', 'what is refused does not count, and leaves no row');
select set_config('outhook.actor', 'portal:zoe', true), set_config('request.headers', '{"a": "b"}', true);
select is(seconds_left(format('select outbox.resume_endpoint(%L)', id)), '43200', 'the detail has the seconds until the day ends') from made;
select set_config('outhook.actor', '', true), set_config('request.headers', '', true);

-- Who has no limit.
select is(resumes('key:default'), 'accepted', 'a secret key has none');
select is(resumes('key:default:user:anna'), 'accepted', 'nor has one that names a person');
select is(resumes('service'), 'accepted', 'nor one without the API');
select is(resumes('user:anna', ''), 'accepted', 'nor has SQL outside of a request, whomever it names');
select is(acts('user:anna', $$select outbox.set_setting('limit.endpoints', '9')$$), 'accepted', 'nor has what belongs to no organisation');
select is(acts('portal:zoe', format('select outbox.resume_endpoint(%L)', other)), 'accepted', 'another organisation has its own') from made;
select is(counted('org-1') || ' ' || counted('org-2'), '3 1', 'only its tokens count');

-- What is stopped or protected passes up to twice as many rows, but not by a portal token.
select is(pauses('portal:zoe'), full_day(3), 'a portal token does not pause above the limit');
select is(acts('portal:zoe', format('select outbox.rotate_secret(%L)', id)), full_day(3), 'nor does it replace a secret') from made;
select is(pauses('sql:anon'), full_day(3), 'nor does somebody without a user pause');
select is(pauses('user:anna'), 'accepted', 'the token of a user pauses an endpoint');
select is(resumes('user:anna'), full_day(3), 'and does not resume it');
select is((select status from outbox.endpoint where id = m.id), 'paused', 'so it stays paused') from made m;
select is(acts('user:anna', format('select outbox.rotate_secret(%L)', id)), 'accepted', 'a secret that has leaked is replaced') from made;
select is(acts('user:anna', $$select outbox.revoke_portal_tokens('org-1')$$), 'accepted', 'and portal tokens are revoked');
select is(counted('org-1'), 6::bigint, 'all of them count');
select is(pauses('user:anna'), full_day(6), 'at twice the limit pausing is refused');
select is(acts('user:anna', format($$select outbox.revoke_portal_token('org-1', %L)$$, gen_random_uuid())), full_day(6), 'and so is revoking a token');
select is(acts('user:anna', $$select outbox.revoke_portal_tokens('org-1')$$), full_day(6), 'or all of them');
select is(acts('key:default', $$select outbox.revoke_portal_tokens('org-1')$$), 'accepted', 'but not to a secret key');
select is(resumes('key:default'), 'accepted', 'which does all else too');

-- However much a portal token pauses and rotates, the rows of the organisation's users are left.
select outbox.set_org_setting('org-4', 'limit.audit_rows_per_day', '3');
create temporary table fourth as select endpoint(p_org_id => 'org-4') as id;
create function full_day_4(p_most integer) returns text language sql as $$ select replace(full_day(p_most), 'org-1', 'org-4') $$;
create function pauses_4(p_actor text) returns text language sql as $$
  select acts(p_actor, format('select outbox.pause_endpoint(%L)', id)) from fourth
$$;
select is(pauses_4('portal:zoe'), 'accepted', 'a portal token pauses, row ' || n) from generate_series(1, 3) n;
select is(pauses_4('portal:zoe'), full_day_4(3), 'and is refused at the limit');
select is(acts('user:anna', $$select outbox.revoke_portal_tokens('org-4')$$), 'accepted', 'a user revokes it');
select is(pauses_4('user:anna'), 'accepted', 'and pauses, row ' || n) from generate_series(5, 6) n;
select is(pauses_4('user:anna'), full_day_4(6), 'up to twice the limit');

-- Templates and channels count, evidence does not.
select is(acts('portal:zoe', $$select outbox.put_template('org-1', 'a', 'reminder', 'fr', 'UTILITY', p_actor => 'portal:zoe')$$), full_day(3), 'a template is refused');
select is_empty($$select from outbox.template where org_id = 'org-1'$$, 'and is not made');
select is(acts('portal:zoe', $$select outbox.put_template('org-2', 'a', 'reminder', 'fr', 'UTILITY', p_actor => 'portal:zoe')$$), 'accepted', 'it counts');
select is(counted('org-2'), 2::bigint, 'once');
select is(acts('portal:zoe', $$select outbox.put_reply_word('org-1', 'fr', 'arret', 'STOP', 'portal:zoe')$$), full_day(3), 'a reply word is refused');
select is(acts('portal:zoe', $$select outbox.revoke_consent('org-1', 'd-1', '{MARKETING}', 'phone', p_actor => 'portal:zoe')$$), 'accepted', 'consent is revoked whatever was written');
select is(counted('org-1'), 6::bigint, 'and does not count');

-- Who calls counts, whoever the argument names.
create function saves(p_actor text, p_org text, p_named text) returns text language sql as $$
  select acts(p_actor, format('select outbox.put_template(%L, %L, %L, %L, %L, p_actor => %L)',
    p_org, 'a', 'reminder', 'fr', 'UTILITY', p_named))
$$;
select is(saves('portal:zoe', 'org-1', 'key:default'), full_day(3), 'a template in the name of a secret key is refused');
select is(saves('user:anna', 'org-1', null), full_day(3), 'and so is one without a name');
select is(saves('user:anna', 'org-2', 'key:default'), 'accepted', 'below the limit it is saved');
select is(counted('org-2'), 3::bigint, 'and counts');
select is(saves('key:default', 'org-2', 'user:anna'), 'accepted', 'a secret key saves one in the name of a user');
select is(saves('key:default', 'org-1', 'portal:zoe'), 'accepted', 'also at the limit');
select is(acts('portal:zoe', $$select outbox.delete_template('org-1', 'a', 'key:default')$$), full_day(3), 'a portal token does not delete it in that name');
select is(acts('portal:zoe', $$select outbox.put_reply_word('org-1', 'fr', 'arret', 'STOP', 'key:default')$$), full_day(3), 'nor does it save a reply word');
select is(counted('org-2') || ' ' || counted('org-1'), '3 6', 'a secret key uses up no row of the tokens');

-- The access token of a channel is a secret too.
select from outbox.put_whatsapp_app('900000000000001', 'app-secret');
create temporary table channel as
  select outbox.create_channel('org-3', '100000000000001', '200000000000001', '900000000000001', 'token') ->> 'id' as id;
select outbox.set_org_setting('org-3', 'limit.audit_rows_per_day', '1');
create function changes(p_change jsonb) returns text language sql as $$
  select acts('user:anna', format('select outbox.update_channel(%L, %L, %L, %L)', 'org-3', id, p_change, 'user:anna')) from channel
$$;
create function full_day_3() returns text language sql as $$ select replace(full_day(1), 'org-1', 'org-3') $$;
select is(changes('{"description": "a"}'), 'accepted', 'a channel is changed');
select is(changes('{"description": "b"}'), full_day_3(), 'and not above the limit');
select is(changes('{"accessToken": "new", "description": "b"}'), full_day_3(), 'nor beside a new access token');
select is(changes('{"accessToken": "new"}'), 'accepted', 'which alone is accepted');
select is(counted('org-3'), 2::bigint, 'and counts once');
select is(acts('user:anna', format('select outbox.update_channel(%L, %L, %L, %L)', 'org-3', id, '{"description": "c"}', 'key:default')), full_day_3(), 'in the name of a secret key it is refused as before') from channel;

-- The next day, and another limit.
select time_is('2026-03-01 23:59:59.999+00');
select is(resumes('portal:zoe'), full_day(3), 'to the end of the day in UTC');
select time_is('2026-03-02 00:00:00+00');
select is(resumes('portal:zoe'), 'accepted', 'the next day begins at 0');
select is(counted('org-1'), 1::bigint, 'and is counted alone');
select is(resumes('portal:zoe'), 'accepted', 'row ' || n) from generate_series(2, 3) n;
select is(resumes('portal:zoe'), full_day(3), 'to the same limit');
select outbox.set_org_setting('org-1', 'limit.audit_rows_per_day', '4');
select is(resumes('portal:zoe'), 'accepted', 'a higher limit applies at once');
select time_is('2026-03-01 12:00:00+00');
select is(resumes('portal:zoe'), 'accepted', 'after the clock was set back that day does not count');
select is((select string_agg(to_char(day, 'YYYY-MM-DD') || ' ' || n, ', ' order by day) from outbox.audit_count
  where org_id = 'org-1'), '2026-03-01 1, 2026-03-02 4',
  'and that day keeps its count');
select is(resumes('portal:zoe'), 'accepted', 'a further write of the earlier day');
select is((select count(*) from outbox.audit_count where org_id = 'org-1'), 2::bigint, 'needs no further counter');
select time_is('2026-03-02 12:00:00+00');
select is(resumes('portal:zoe'), full_day(4), 'as it was, when its time has come again');
select time_is('2026-03-01 12:00:00+00');

-- A slot of an earlier day.
insert into outbox.audit_count (org_id, day, n) values ('org-1', '2026-02-28', 100);
select is(resumes('portal:zoe'), 'accepted', 'another counter of an earlier day does not count');

-- The cost of a check.
insert into outbox.audit_count (org_id, day, n) select 'other-' || g, '2026-03-01', 1 from generate_series(1, 30000) g;
create function blocks() returns bigint language plpgsql as $$
declare
  v_plan json;
begin
  perform set_config('request.headers', '{"a": "b"}', true), set_config('outhook.actor', 'user:anna', true);
  -- The first time it also reads the catalogue.
  for n in 1 .. 2 loop
    execute $s$explain (analyze, buffers, timing off, summary off, format json) select outbox.count_action('other-7', 'PAUSED')$s$ into v_plan;
  end loop;
  return (v_plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (v_plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
end
$$;
select cmp_ok(blocks(), '<', 60::bigint, 'it looks up one organisation of 30,000');

select * from finish();
rollback;
