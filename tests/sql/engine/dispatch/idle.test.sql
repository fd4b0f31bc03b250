-- A call with nothing to do stores no batch, and keeps what a repeated call needs.
begin;
\ir ../../_helpers.sql
select plan(9);

create function call(p_seq bigint) returns jsonb language sql as $$
  select outbox.dispatch('00000000-0000-7000-8000-00000000000a', p_seq, '[]', 10)::jsonb
$$;
create function batches() returns text language sql as $$
  select string_agg(b.seq::text, ' ' order by b.seq) from outbox.run_batch b
$$;

do $$ begin perform endpoint(), call(1), call(2); end $$;
select is(batches(), null, 'an idle call stores none');
do $$ begin perform time_passes('1 s'), events(2); end $$;
create temporary table first as select call(3) as answer;
select is(claimed(answer), 2, 'a call with work claims it') from first;
select is(batches(), '3', 'and stores its batch');
select is(outbox.has_due(outbox.clock()), false, 'nothing more is due');
select is(call(3) -> 'deliveries', answer -> 'deliveries', 'the same call again gets the same batch') from first;
do $$ begin for n in 4 .. 11 loop perform call(n); end loop; end $$;
select is(batches(), '3', 'a later idle call leaves it while the run may ask for it');
do $$ begin for n in 12 .. 13 loop perform call(n); end loop; end $$;
select is(batches(), null, 'and removes it after that');

-- A call whose response was lost may still be on its way when it is repeated.
do $$ begin
  perform outbox.dispatch('00000000-0000-7000-8000-00000000000a', 20, '[]', 10, p_contract => '{"oldest": 1, "newest": 1, "repeat": true}');
  perform events(1), call(20);
end $$;
select is(batches(), '20', 'an idle call that is a repeat stores its batch');
select is((select count(*) from outbox.delivery d where d.leased_until is not null), 2::bigint, 'so the late first call claims nothing that nobody would send');

select * from finish();
rollback;
