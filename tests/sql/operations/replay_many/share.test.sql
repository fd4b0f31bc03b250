-- However much jobs have put back, what is live has as many turns of its endpoint as each of them.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(6);

create temporary table made as select endpoint(p_max_in_flight => 2, p_quantum => 2) as id;
select events(40, 'one.done'), events(40, 'other.done');
do $$ begin for n in 1 .. 40 loop perform send('failed', '{"status": 404}'); end loop; end $$;
select is((select count(*) from outbox.dead_letter), 80::bigint, 'eighty dead letters');
select outbox.replay_many(p_event_type => 'one.done'), outbox.replay_many(p_event_type => 'other.done');
select outbox.tick();
select is((select count(*) from outbox.delivery where replayed_at is not null), 80::bigint, 'two jobs put them back');
select events(20, 'live.done');
select step(0);

create temporary table turn (n integer, type text);
do $$
declare
  v_answer jsonb;
begin
  for n in 1 .. 40 loop
    perform time_passes('10 ms');
    v_answer := step(2);
    insert into turn select n, v_answer -> 'events' -> (d ->> 'event') ->> 'type' from jsonb_array_elements(v_answer -> 'deliveries') d;
    perform step(0, results(v_answer, 'delivered'));
  end loop;
end
$$;
select is_empty('select n from turn group by n having count(*) <> 2 or count(distinct type) <> 1', 'each turn is one lane''s');
select results_eq('select (n - 1) / 3, string_agg(distinct type, '','' order by type) from turn where n <= 30 group by 1 order by 1',
  $$select n, 'live.done,one.done,other.done' from generate_series(0, 9) n$$, 'of any three turns each lane has one, as long as all wait');
select results_eq('select type, count(*) from turn where n <= 30 group by 1 order by 1', $$values ('live.done', 20::bigint), ('one.done', 20), ('other.done', 20)$$,
  'so all that is live has been sent after thirty turns');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
