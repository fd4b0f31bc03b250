-- A channel whose access token cannot be read: a new one sends again, unless WhatsApp has stopped the channel meanwhile.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(9);

create temporary table made as select channel() as a, channel(p_number_id => '100000000000002') as b, template() as code;
delete from vault.secrets where id in (select token_vault_id from outbox.whatsapp_channel);
do $$ begin perform message(p_channel_id => a), message('+12025550112', p_channel_id => b) from made; end $$;
create temporary table answer as select step() as s;
select is(claimed(s), 0, 'nothing is sent without a token') from answer;
select is((select status_reason from outbox.endpoint join made on a = id),
  'unreadable: the access token cannot be read from Vault (OH004 the access token is missing in Vault): outbox.set_channel_token() sets it again', 'the reason and the remedy stand at the channel');

-- Meta speaks of the second one while it waits.
do $$ begin perform outbox.hold_channel(b, 'account', true, 'the account is locked', outbox.clock(), null, outbox.clock()) from made; end $$;
do $$ begin perform outbox.set_channel_token('default', a, 'new-token'), outbox.set_channel_token('default', b, 'new-token') from made; end $$;
select results_eq('select status, status_reason from outbox.endpoint join made on a = id', $$values ('enabled', null::text)$$, 'a new token serves the channel again');
select results_eq('select status, status_reason from outbox.endpoint join made on b = id', $$values ('paused', 'held: the account is locked')$$, 'one that WhatsApp has stopped stays held, for that reason');
select is((select count(*)::integer from outbox.event where type = 'outhook.endpoint.released'), 1, 'one is released');
do $$ begin perform outbox.wake_changed(outbox.clock()); end $$;
select is(take_all(), 1, 'and sends');
do $$ begin perform outbox.hold_channel(b, 'account', false, 'it is open again', outbox.clock() + interval '1 s', null, outbox.clock()) from made; end $$;
select is((select status from outbox.endpoint join made on b = id), 'enabled', 'the other one is resumed by the word of WhatsApp');
do $$ begin perform outbox.wake_changed(outbox.clock()); end $$;
select is(take_all(), 1, 'and sends too');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
