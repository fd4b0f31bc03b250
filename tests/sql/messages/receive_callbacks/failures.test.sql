-- What a failure that comes by callback means beyond its message: opt-outs, held channels, throttles, and never a retry.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(32);

create temporary table made as select channel() as a, channel(p_number_id => '100000000000002') as b, template() as code, template('promo', 'MARKETING') as promo;
create function waits(p_endpoint uuid) returns interval language sql as $$
  select case when isfinite((gate_of(p_endpoint)).not_before) then greatest((gate_of(p_endpoint)).not_before - outbox.clock(), '0') else '0' end
$$;

-- 131050: no marketing for this person, under every number by which they were written to.
create temporary table m as select sent('A') as id;
select receive(failure('wamid.A', '131050', 2));
select is((row_of(id)).status || ' ' || (row_of(id)).error_code, 'FAILED 131050', 'the message is FAILED') from m;
select is_empty('select from outbox.delivery', 'and not tried again');
select results_eq('select outbox.recipients_json(person_id), purpose, source, lifted from outbox.opt_out', $$values ('["+12025550111"]'::jsonb, 'MARKETING', 'code 131050', false)$$, 'its recipient wants no marketing');
select results_eq('select wamid, words, said_at from outbox.opt_out', 'select wamid, ''Title of 131050: Details of 131050'', happened_at from outbox.whatsapp_update', 'what WhatsApp said is the evidence');
select is((trail('OUTBOUND_MESSAGE', id::text))[5], 'OPTED_OUT WHATSAPP MARKETING: code 131050', 'which is audited') from m;
select is(message(p_template => 'promo') ->> 'code', 'opted_out', 'the next of that kind is blocked');
select is(message() ->> 'outcome', 'created', 'another is not');
-- WhatsApp knows a Mexican number by another form than we were given.
select send('delivered', '{"status": 200, "provider_id": "wamid.mx1"}') from (select time_passes('10 seconds')) x;
create temporary table mx as select message_id(message('+525512345678')) as id;
select send('delivered', '{"status": 200, "provider_id": "wamid.MX", "provider": {"wa_id": "5215512345678"}}');
select receive(failure('wamid.MX', '130403', 2));
select results_eq('select outbox.recipients_json(person_id), purpose from outbox.opt_out where purpose = ''ALL''', $$values ('["+525512345678"]'::jsonb, 'ALL')$$, 'the person is opted out');
select is(message('+525512345678') ->> 'code', 'opted_out', 'so that neither is written to');

-- The same as an answer.
select time_passes('1 minute');
create temporary table refused as select message_id(message('+12025550110')) as id;
select is(fail(400, '{"code": "131050", "error": "User stopped marketing messages"}'), 1, 'an answer may say so as well');
select results_eq('select purpose, source, words from outbox.opt_out where person_id = outbox.find_person(''default'', ''+12025550110'')', $$values ('MARKETING', 'code 131050', 'User stopped marketing messages')$$, 'with the same effect');

-- 131042: the channel is held, once, and resumed by a person.
select time_passes('1 minute');
create temporary table held as select sent('H', '+12025550102') as id, sent('I', '+12025550103') as other, sent('P', '+12025550113') as locked, sent('Q', '+12025550114') as at_once;
select receive(failure('wamid.H', '131042', 1));
select results_eq('select status, status_reason from outbox.endpoint, made where id = a', $$values ('paused', 'held: 131042 Business eligibility payment issue')$$, 'a fault of the account holds the channel');
select is((row_of(id)).status, 'FAILED', 'and fails its message, without a retry') from held;
select is((select count(*) from news('outhook.channel.held')), 1::bigint, 'which is announced');
select is((select status from outbox.endpoint, made where id = b), 'enabled', 'the other number goes on') from made;
select time_passes('1 minute');
select outbox.resume_endpoint(a) from made;
select receive(failure('wamid.I', '131042', -90));
select is((select status from outbox.endpoint, made where id = a), 'enabled', 'what failed before the resume holds nothing');
select is((row_of(other)).status, 'FAILED', 'but its message') from held;
-- Of a cause that has not held the channel before, nothing else is known than when the person resumed it.
select receive(failure('wamid.P', '131031', -1));
select is((select status from outbox.endpoint, made where id = a), 'enabled', 'nor does a failure of another cause, a second before the resume') from made;
select receive(failure('wamid.Q', '131031', 0));
select is((select status from outbox.endpoint, made where id = a), 'enabled', 'or at its very time') from made;
select is((select count(*) from outbox.channel_hold, made where channel_id = a and held), 0::bigint, 'and no hold is noted') from made;

-- 131031 speaks of the account: a reinstatement lifts it.
select time_passes('1 minute');
create temporary table locked as select sent('J', '+12025550104') as id;
select receive(failure('wamid.J', '131031', 1));
select is((select status from outbox.endpoint, made where id = a), 'paused', 'a locked account holds the channel');
select receive(update_of('account', '{"field": "account_update", "status": "DISABLED_UPDATE", "phone_number_id": null, "data": {"ban_info": {"waba_ban_state": "REINSTATE"}}}'
  || jsonb_build_object('at', extract(epoch from outbox.clock())::bigint + 60)));
select is((select status from outbox.endpoint, made where id = a), 'enabled', 'until it is reinstated');

-- Too fast: a number, a recipient, an app; as long as the rule says from when it failed.
select time_passes('1 minute');
create temporary table fast as select sent('K', '+12025550105') as k, sent('L', '+12025550106') as l, sent('N', '+12025550107') as n, sent('O', '+12025550108') as o;
select receive(failure('wamid.K', '131048', -600));
select is(waits(a), interval '50 minutes', 'a number that is too fast rests for an hour from its failure') from made;
select is(waits(b), '0', 'another does not') from made;
select time_passes('50 minutes');
select receive(failure('wamid.L', '130429', -90));
select is(waits(a), '0', 'an old failure slows nothing') from made;
select message('+12025550107');
select step(0);
select receive(failure('wamid.N', '131056', 0));
select is(waits(a), '0', 'a recipient''s pace') from made;
select is(claimed(step()), 0, 'slows that recipient alone');
select is(send('delivered'), 1, 'another is written to') from (select message('+12025550109'), step(0)) x;
select time_passes('1 minute');
select is(send('delivered'), 1, 'and that one a minute later');
select receive(failure('wamid.O', '4', 0));
select is(waits(b), '15 min', 'a whole app rests when its calls are used up') from made;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
