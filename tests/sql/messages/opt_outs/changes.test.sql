-- Opt-outs as a person lists and changes them.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(20);

create temporary table made as select channel() as a, template() as code, template('offer', 'MARKETING') as offer;
create function listed(p_answer jsonb) returns text[] language sql as $$
  select array_agg((x.value ->> 'recipient') || ' ' || (x.value ->> 'purpose') order by x.ordinality) from jsonb_array_elements(p_answer -> 'data') with ordinality x
$$;
create function change(p_to text, p_purpose text, p_out boolean, p_source text default 'phone call', p_evidence text default null) returns jsonb language sql as $$
  select outbox.change_opt_out('default', p_to, p_purpose, p_out, p_source, p_evidence, 'tester')
$$;

select is(change('+12025550101', 'MARKETING', true), '{"optedOut": true, "purpose": "MARKETING", "isNew": true}', 'a number opts out of marketing');
select is(message('+12025550101', p_template => 'offer') ->> 'code', 'opted_out', 'it gets no offer');
select is(message('+12025550101') ->> 'outcome', 'created', 'and still its reminder');
select is(change('+12025550101', 'MARKETING', true) -> 'isNew', 'false', 'saying so twice changes nothing');
select change('+12025550102', 'ALL', true, 'letter', 'file 7');
select is(message('+12025550102') ->> 'code', 'opted_out', 'another wants nothing at all');
select is(outbox.list_opt_outs('default', '+12025550102') -> 'data' -> 0 ->> 'evidence', 'file 7', 'the evidence is kept');
select is(trail('PERSON', outbox.find_person('default', '+12025550102')::text), array['OPTED_OUT WHATSAPP ALL: letter'], 'the trail names no number');
select is((select count(*) from outbox.audit_event where details || entity_id like '%2025550102%'), 0::bigint, 'nowhere');

-- The list, page by page.
select change('+12025550103', 'ALL', true), change('+12025550101', 'ALL', true);
create temporary table page as select outbox.list_opt_outs('default', p_limit => 3) as first;
select is(listed(first), array['+12025550101 ALL', '+12025550101 MARKETING', '+12025550102 ALL'], 'a page in the order of the numbers') from page;
select is(listed(outbox.list_opt_outs('default', p_cursor => first ->> 'nextCursor')), array['+12025550103 ALL'], 'and the rest') from page;
select is(outbox.list_opt_outs('default', p_cursor => first ->> 'nextCursor') -> 'nextCursor', 'null', 'with no page behind it') from page;
select is(listed(outbox.list_opt_outs('default', '+12025550101')), array['+12025550101 ALL', '+12025550101 MARKETING'], 'or those of one number');
select is(outbox.list_opt_outs('other') -> 'data', '[]', 'another org has none');

-- Taken back.
select is(change('+12025550102', 'ALL', false), '{"optedOut": false, "purpose": "ALL", "isNew": true}', 'an opt-out is taken back');
select is(message('+12025550102') ->> 'outcome', 'created', 'and messages go again');
select is(listed(outbox.list_opt_outs('default', '+12025550102')), null, 'the list knows it no more');
select throws_ok('select outbox.change_opt_out(''default'', ''0202555'', ''ALL'', true, ''x'')', 'OH001', 'recipient is not a number, a wa_id or a user id of WhatsApp', 'a number is checked');
select throws_ok('select outbox.change_opt_out(''default'', ''+12025550101'', ''SOME'', true, ''x'')', 'OH001', 'purpose is ''SOME''', 'and a purpose');

-- An opt-out that is said twice, and a START of between that comes late.
select time_passes('10 s');
select is(change('+12025550103', 'ALL', true) -> 'isNew', 'false', 'an opt-out is repeated by hand');
do $$ begin perform outbox.save_opt_outs(array[row('default', '+12025550103', 'ALL', true, outbox.clock() - interval '5 s', 'inbound START', null, null, null, null)::outbox.opt_out_change], outbox.clock()); end $$;
select is((select lifted from outbox.opt_out o where o.person_id = outbox.find_person('default', '+12025550103')), false, 'a START from before it does not lift it');

select * from finish();
rollback;
