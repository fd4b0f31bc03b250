-- Modules: inbox, messages
-- What cannot stand together is refused whichever of the two is changed, with the reason, the remedy and
-- what the setting is now. The table refuses it, so a plain UPDATE at the console is held to the same.
begin;
\ir ../../_helpers.sql
select plan(48);

create temporary table original as select name, value from outbox.setting;
-- Sets two, and all others to what they were, in one UPDATE.
create function beside(p_name text, p_value jsonb, p_other text, p_other_value jsonb) returns text language plpgsql as $$
begin
  update outbox.setting s
  set value = case s.name when p_name then p_value when p_other then p_other_value else o.value end
  from original o where o.name = s.name;
  return '';
end
$$;
-- SQLSTATE, field, problem and remedy of what refuses a statement.
create function refused(p_statement text) returns text language plpgsql as $$
declare
  v_field text;
  v_hint text;
begin
  execute p_statement;
  return 'accepted';
exception when others then
  get stacked diagnostics v_field = pg_exception_detail, v_hint = pg_exception_hint;
  return concat_ws(' | ', sqlstate, v_field, replace(sqlerrm, 'setting ' || v_field || ' ', ''), v_hint);
end
$$;
create function by_call(p_name text, p_value jsonb) returns text language sql as $$
  select refused(format('select outbox.set_setting(%L, %L)', p_name, p_value))
$$;
create function by_hand(p_name text, p_value jsonb) returns text language sql as $$
  select refused(format('update outbox.setting set value = %L where name = %L', p_value, p_name))
$$;

create temporary table pair (less text, less_value jsonb, too_much jsonb, more text, more_value jsonb, too_little jsonb, problem text, at_most text, at_least text);
insert into pair values
  ('worker.batch_size', '100', '101', 'worker.max_deliveries', '100', '99',
   'would let a run send fewer deliveries (worker.max_deliveries) than it claims at once (worker.batch_size)',
   'It may be 100 at most while worker.max_deliveries is 100: raise that first. It is 100 now',
   'It must be 100 at least while worker.batch_size is 100: lower that first. It is 100 now'),
  ('attempt.retention_days', '38', '39', 'event.retention_days', '30', '29',
   'would keep attempts (attempt.retention_days) longer than any event they belong to (event.retention_days + 8)',
   'It may be 38 at most while event.retention_days is 30: raise that first. It is 38 now',
   'It must be 30 at least while attempt.retention_days is 38: lower that first. It is 30 now'),
  ('event.delivered_days', '10', '11', 'attempt.retention_days', '11', '10',
   'would keep delivered events (event.delivered_days) longer than their attempts (attempt.retention_days)',
   'It may be 10 at most while attempt.retention_days is 11: raise that first. It is 10 now',
   'It must be 11 at least while event.delivered_days is 10: lower that first. It is 11 now'),
  ('event.retention_days', '39', '40', 'inbox.retention_days', '40', '39',
   'would let a consumer delete the id of an event (inbox.retention_days) that may still be redelivered (event.retention_days), and process it twice',
   'It may be 39 at most while inbox.retention_days is 40: raise that first. It is 39 now',
   'It must be 40 at least while event.retention_days is 39: lower that first. It is 40 now'),
  ('idempotency.window_hours', '48', '49', 'event.retention_days', '2', '1',
   'would keep an idempotency key (idempotency.window_hours) longer than its event (event.retention_days)',
   'It may be 48 at most while event.retention_days is 2: raise that first. It is 48 now',
   'It must be 2 at least while idempotency.window_hours is 48: lower that first. It is 2 now');

select is(beside(less, less_value, more, more_value), '', format('%s may be %s beside %s of %s', less, less_value, more, more_value)) from pair;
select is(beside(less, less_value, more, more_value) || by_call(less, too_much), concat_ws(' | ', 'OH005', less, problem, at_most), format('%s may not be %s then', less, too_much)) from pair;
select is(beside(less, less_value, more, more_value) || by_call(more, too_little), concat_ws(' | ', 'OH005', more, problem, at_least), format('nor %s %s beside %s of %s', more, too_little, less, less_value)) from pair;
select is(beside(less, less_value, more, more_value) || by_hand(less, too_much), concat_ws(' | ', 'OH005', less, problem, at_most), format('a plain UPDATE does not make %s %s either', less, too_much)) from pair;
select is(beside(less, less_value, more, more_value) || by_hand(more, too_little), concat_ws(' | ', 'OH005', more, problem, at_least), format('nor %s %s', more, too_little)) from pair;

-- The Graph API over http, which nothing may go out by.
select beside('whatsapp.graph_url', '"https://graph.example.com"', 'egress.allow_http', 'false');
select is(by_call('whatsapp.graph_url', '"http://graph.example.com"'), 'OH005 | whatsapp.graph_url | would stop all messages: whatsapp.graph_url is http, which egress.allow_http forbids'
  ' | Give an https URL, or set egress.allow_http to true first. It is "https://graph.example.com" now', 'an http URL of the Graph API needs egress.allow_http');
select is(by_hand('whatsapp.graph_url', '"http://graph.example.com"') like 'OH005 | whatsapp.graph_url | would stop all messages%', true, 'by a plain UPDATE too');
select is(beside('whatsapp.graph_url', '"http://graph.example.com"', 'egress.allow_http', 'true'), '', 'one UPDATE of both may set it');
select is(by_call('egress.allow_http', 'false'), 'OH005 | egress.allow_http | would stop all messages: whatsapp.graph_url is http, which egress.allow_http forbids'
  ' | Set whatsapp.graph_url to an https URL first. It is true now', 'which keeps egress.allow_http on');
select is(by_call('whatsapp.graph_url', '"https://graph.example.com"') || ', ' || by_call('egress.allow_http', 'false'), 'accepted, accepted', 'until the URL is https');

-- Ports of which none is left.
select beside('egress.allow_ports', '["443", "8000-8999"]', 'egress.deny_ports', '["8000-8100", "9000"]');
select is(by_call('egress.allow_ports', '["8005", "8050-8100"]'), 'OH005 | egress.allow_ports | would let no webhook out: no port in egress.allow_ports is outside egress.deny_ports'
  ' | Allow a port that is not denied, such as 443. It is ["443", "8000-8999"] now', 'ports of which each is denied are refused');
select is(by_call('egress.allow_ports', '[]') like 'OH005 | egress.allow_ports | would let no webhook out%', true, 'and no port at all');
select is(by_call('egress.deny_ports', '["1-443", "8000-8500", "8501-9000"]'), 'OH005 | egress.deny_ports | would let no webhook out: no port in egress.allow_ports is outside egress.deny_ports'
  ' | Leave a port that is allowed, such as 443. It is ["8000-8100", "9000"] now', 'and a denial of all that is allowed');
select is(by_hand('egress.deny_ports', '["1-65535"]') like 'OH005 | egress.deny_ports | would let no webhook out%', true, 'by a plain UPDATE too');
select is(by_call('egress.deny_ports', '["1-443", "8000-8500", "8502-9000"]'), 'accepted', 'one port is enough');
select is(by_call('egress.deny_ports', '[]'), 'accepted', 'and none need be denied');

-- A value by itself, by a plain UPDATE.
select beside('worker.max_runs', '4', 'worker.enabled', 'true');
select is(by_hand(c.name, c.value::jsonb), concat_ws(' | ', 'OH005', c.name, c.problem, s.description || '. It is ' || s.value || ' now'),
  format('a plain UPDATE does not store %s in %s', coalesce(c.value, 'null'), c.name))
from (values
  ('worker.max_runs', '0', 'must be between 1 and 100'), ('worker.max_runs', '"7"', 'must be a whole number'), ('worker.max_runs', null, 'must be a whole number'),
  ('worker.enabled', '"no"', 'must be true or false'), ('egress.proxy_url', '"socks5://proxy"', 'must be empty or a URL such as http://proxy.example.com:3128, without credentials and path'),
  ('egress.allow_cidrs', '["inside"]', $$holds 'inside', which is not a network such as 10.0.0.0/8 or fd00::/8$$)
) c (name, value, problem) join outbox.setting s using (name);
select is(by_hand('worker.max_runs', '7'), 'accepted', 'what is right is stored');
select is(outbox.setting_int('worker.max_runs'), 7, 'and in force');
update outbox.setting set updated_at = 'epoch' where name = 'worker.max_runs';
select is((select updated_at from outbox.setting where name = 'worker.max_runs'), now(), 'and when it was changed is noted');
select is(refused($$update outbox.setting set highest = 6 where name = 'worker.max_runs'$$),
  'OH005 | worker.max_runs | must be between 1 and 6 | The largest number of edge runs at a time; a further run ends at once. It is 7 now', 'nor are bounds set that the value does not keep');
select is(refused($$insert into outbox.setting (name, value, type, lowest, highest, description) values ('my.number', '3', 'integer', 4, 5, 'A number of mine')$$),
  'OH005 | my.number | must be between 4 and 5 | A number of mine', 'nor is a row put in whose value is not of its bounds');
select is_empty('select name, outbox.setting_conflict(o.name) from original o where (outbox.setting_conflict(o.name)).problem is not null', 'what is stored conflicts with nothing');

select * from finish();
rollback;
