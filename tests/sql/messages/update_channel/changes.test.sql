-- Channels: what can be changed of one, its pace, the hold that is lifted, and its end.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(35);

create temporary table made as select channel() as a, channel(p_number_id => '100000000000002') as b, template() as code;

-- Members.
select is(outbox.update_channel('default', a, '{"description": "Desk", "messagesPerSecond": 20, "pairSeconds": 2, "graphVersion": "v26.0"}', 'tester')
  - '{id,createdAt,updatedAt,version,orgId,appId,wabaId,phoneNumberId,channel,status,statusReason,quality,isDefault}'::text[],
  '{"description": "Desk", "messagesPerSecond": 20, "pairSeconds": 2, "graphVersion": "v26.0"}', 'what is named is changed') from made;
select results_eq('select rate_per_second, rate_burst, lane_spacing_ms, max_in_flight from outbox.endpoint, made where id = a',
  $$values (19.3::float8, 5, 2000, 200)$$, 'the endpoint keeps the new pace');
select is(outbox.update_channel('default', a, '{"graphVersion": null}') - '{id,createdAt,updatedAt,version,orgId,appId,wabaId,phoneNumberId,channel,status,statusReason,quality,isDefault}'::text[],
  '{"description": "Desk", "messagesPerSecond": 20, "pairSeconds": 2, "graphVersion": null}', 'and nothing else') from made;
select is((trail('CHANNEL', a::text))[2], 'UPDATED Channel changed: description, graphVersion, messagesPerSecond, pairSeconds', 'the trail names the members') from made;
select is(outbox.update_channel('default', b, '{"isDefault": true}') -> 'isDefault', 'true', 'another becomes the default') from made;
select is(outbox.get_channel('default', a) -> 'isDefault', 'false', 'the first no longer is') from made;
create temporary table old as select token_vault_id as id from outbox.whatsapp_channel, made where endpoint_id = a;
select outbox.update_channel('default', a, '{"accessToken": "new-token"}') from made;
select is((select decrypted_secret from vault.decrypted_secrets v join outbox.whatsapp_channel c on c.token_vault_id = v.id, made where c.endpoint_id = a), 'new-token', 'the token is in Vault');
select is_empty('select from vault.secrets join old using (id)', 'the old one is gone');
select is(position('new-token' in outbox.get_channel('default', a)::text || array_to_string(trail('CHANNEL', a::text), ' ')), 0, 'and is shown nowhere') from made;
select throws_ok(format('select outbox.update_channel(%L, %L, %L)', c.org, a, c.change), c.state, c.words, c.words)
from made, (values
  ('default', '{"wabaId": "1"}', 'OH001', 'wabaId cannot be changed'),
  ('default', '{"messagesPerSecond": 0}', 'OH001', 'messagesPerSecond is 0'),
  ('default', '{"pairSeconds": 4000}', 'OH001', 'pairSeconds is 4000'),
  ('default', '{"graphVersion": "25"}', 'OH001', 'graphVersion is not a version of the Graph API'),
  ('default', '{"isDefault": false}', 'OH001', 'isDefault can only be set to true')) c (org, change, state, words);
select throws_ok(format('select outbox.%s(''other'', %L%s)', c.name, a, c.rest), 'OH002', null, c.name || ' knows nothing of another org''s')
from made, (values ('update_channel', ', ''{}'''), ('resume_channel', ''), ('delete_channel', '')) c (name, rest);

-- A number's messages leave evenly: 96.5 % of 20 a second, claimed a quarter of a second ahead.
select outbox.update_channel('default', a, '{"pairSeconds": 0}'), outbox.update_channel('default', a, '{"isDefault": true}') from made;
select time_passes('1 minute');
select message('+1202555' || n) from generate_series(1001, 1009) n;
create temporary table claim as select step() as answer;
create function waits(p_answer jsonb) returns integer[] language sql as $$
  select array_agg((e.value #>> '{message,wait_ms}')::integer order by (e.value #>> '{message,wait_ms}')::integer) from jsonb_each(p_answer -> 'events') e
$$;
select is(waits(answer), array[0, 52, 104, 156, 208], 'five are claimed, and leave one after the other') from claim;
select is((select value #> '{channel,spacing_ms}' from jsonb_each(answer -> 'endpoints')), '51.54639175257732', 'the run keeps them apart as well, a little closer') from claim;
select step(0, results(answer, 'delivered', '{"status": 200}')) from claim;
select time_passes('100 milliseconds');
select is(waits(step()), array[160], 'what comes in meanwhile leaves behind them');
select time_passes('10 seconds');
select is((waits(step()))[1], 0, 'after a pause the first leaves at once');

-- A hold that is lifted.
select time_passes('1 hour');
select take_all();
select time_passes('1 hour');
select take_all();
select message('+12025550177');
select is(fail(401, '{"code": "190", "error": "refused"}'), 1, 'the token has expired');
select is(outbox.get_channel('default', a) ->> 'status', 'paused', 'the channel is held') from made;
select is(outbox.resume_channel('default', a, 'tester') ->> 'status', 'enabled', 'somebody lifts the hold') from made;
select matches((trail('CHANNEL', a::text))[array_length(trail('CHANNEL', a::text), 1)], 'RESUMED Channel resumed, which was .*190', 'which the trail tells') from made;
select time_passes('5 seconds');
select is(take_all(), 1, 'and what waits is sent, not a minute later');

-- Its end.
select message('+12025550178'), message('+12025550179');
select step(0) is null;
select is(outbox.delete_channel('default', a, 'tester') - 'id', '{"open": 2}', 'a channel is deleted') from made;
select is((trail('CHANNEL', a::text))[array_length(trail('CHANNEL', a::text), 1)], 'DELETED Channel deleted', 'which the trail tells') from made;
select throws_ok(format('select outbox.get_channel(''default'', %L)', a), 'OH002', null, 'nobody sees it any more') from made;
select is(channel(p_number_id => '100000000000003') is not null, true, 'another takes its place');
select is((select is_default from outbox.whatsapp_channel where phone_number_id = '100000000000003'), true, 'as the default');
-- In batches, so that a channel with many waiting does not outlast the tick.
select outbox.purge_deleted(1), outbox.purge_deleted(1), outbox.purge_deleted(1);
select is((select count(*) from outbox.outbound_message where error_code = 'channel_deleted'), 1::bigint, 'batch after batch');
select outbox.purge_deleted(1000);
select is((select status || ' ' || error_code from outbox.outbound_message where to_recipient = '+12025550178'), 'FAILED channel_deleted', 'what it had not sent fails');
select is((select count(*) from vault.decrypted_secrets where decrypted_secret = 'new-token'), 0::bigint, 'its token is gone');
select is(channel() is not null, true, 'and its number is free');

select * from finish();
rollback;
