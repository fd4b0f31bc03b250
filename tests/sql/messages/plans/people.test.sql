-- Creating and claiming a message looks its person up by index, once, whatever the statistics say.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_usage.sql
select plan(8);

create temporary table made as select channel() as a, template() as code;
analyze outbox.person, outbox.person_identifier, outbox.opt_out;
insert into outbox.person (id, org_id, lane_keys, first_seen_at, last_seen_at)
select n, 'default', array['key ' || n], outbox.clock(), outbox.clock() from generate_series(1, 20000) n;
insert into outbox.person_identifier (org_id, value, kind, person_id, created_at)
select 'default', '+1202' || 5000000 + n, 'NUMBER', n, outbox.clock() from generate_series(1, 20000) n;
insert into outbox.opt_out (org_id, channel, person_id, purpose, source, said_at, decided_at, created_at)
select 'default', 'WHATSAPP', n, 'MARKETING', 'x', outbox.clock(), outbox.clock(), outbox.clock() from generate_series(1, 20000) n;

-- What a statement reads of the tables of people: 'relation: rows', and whole scans.
create function reads(p_statement text) returns text language plpgsql as $$
declare
  v_before jsonb := (select jsonb_object_agg(c.relation, jsonb_build_array(c.seq_scans, c.rows)) from helper.counters() c);
begin
  execute p_statement;
  return (select string_agg(format('%s %s', c.relation, c.rows - (v_before -> c.relation ->> 1)::bigint
      + 1000000 * (c.seq_scans - (v_before -> c.relation ->> 0)::bigint)), ', ' order by c.relation)
    from helper.counters() c where c.relation in ('person', 'person_identifier'));
end
$$;
select reads('select message(''+12025000001'')'), reads('select step(0)');
select is(reads('select message(''+12025000077'')'), 'person 1, person_identifier 1', 'a message is created: one identifier and one person, with stale statistics');
select step(0);
select is(reads('select step(1)'), 'person 1, person_identifier 1', 'and so is one claimed');
select is(reads('select step(1)'), 'person 1, person_identifier 1', 'and the next');
analyze outbox.person, outbox.person_identifier, outbox.opt_out;
select is(reads('select message(''+12025000078'')'), 'person 1, person_identifier 1', 'and with fresh ones');
select step(0), time_passes('10 seconds');
select is(reads('select step(1)'), 'person 1, person_identifier 1', 'also when it is claimed');
select is(reads('select message(''+12029999999'')'), 'person 0, person_identifier 0', 'a number that nobody knows has no row to read');
select is((select count(*) from outbox.event e join outbox.outbound_message m on m.event_id = e.id where m.to_recipient = '+12025000077' and e.partition_key = 'key 77'), 1::bigint, 'a message has the lane key of its person');
select is(message('+12025000079', p_template => template('promo', 'MARKETING')) ->> 'code', 'opted_out', 'and the wishes');

select * from finish();
rollback;
