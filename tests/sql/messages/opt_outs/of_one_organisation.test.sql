-- Opt-outs and consents belong to one organisation, and its audit trail has each change of consent.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(6);

create temporary table made as select channel() as channel_id, template() as code;
select outbox.opt_out_recipient('other', '+12025550111', 'STOP');
select is(message() ->> 'outcome', 'created', 'who wants nothing of one organisation is written to by another');
select outbox.opt_out_recipient('default', '+12025550111', 'STOP');
select is(message() ->> 'code', 'opted_out', 'until they want nothing of that one either');

-- Whom another organisation knows by two numbers is two recipients, in two lanes.
select outbox.save_person('other', '{+12025550112,+12025550113}', outbox.clock());
create temporary table sent as select message_id(message(n)) as id from unnest(array['+12025550112', '+12025550113']) n;
select is((select bool_and(e.partition_key = outbox.person_key(m.to_recipient)) from sent join outbox.outbound_message m using (id) join outbox.event e on e.id = m.event_id), true, 'what links two numbers is of one organisation');

select outbox.grant_consent('default', 'd-1', '{UTILITY,MARKETING}', 'web form', null, 'Zoé');
select outbox.revoke_consent('default', 'd-1', '{MARKETING}', 'letter', 'folder 7', 'Ada');
select is(trail('DOSSIER', 'd-1'), array['CONSENT_GRANTED WHATSAPP: UTILITY, MARKETING', 'CONSENT_REVOKED WHATSAPP: MARKETING'], 'a granted and a revoked consent are in the trail');
select is((select array_agg(actor order by id) from outbox.audit_event where entity_type = 'DOSSIER'), '{Zoé,Ada}', 'with whoever noted them');
select is((select array_agg(c ->> 'evidence') from jsonb_array_elements(outbox.list_consents('default', 'd-1') -> 'data') c where c ->> 'granted' = 'false'), '{folder 7}', 'and the evidence');

select * from finish();
rollback;
