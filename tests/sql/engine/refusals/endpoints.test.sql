-- An endpoint from which the database refuses to claim is left out for a while, twice as long each time, and takes
-- nobody's turn.
begin;
\ir ../../_helpers.sql
select plan(12);

create temporary table made as select endpoint('{bad}') as bad, endpoint('{good}') as good;
create function refused(p_id uuid) returns interval language plpgsql as $$
begin
  perform outbox.refuse_endpoint(p_id, 'P0001', 'no claim', outbox.clock());
  return (select again_at - at from outbox.endpoint_refusal where endpoint_id = p_id);
end
$$;
select is(refused(bad), wait * interval '1 s', 'refusal ' || n || ' of an endpoint waits ' || wait || ' s')
from made, (values (1, 10), (2, 20), (3, 40), (4, 80), (5, 160), (6, 300), (7, 300), (20, 300)) w (n, wait) order by n;

do $$ begin perform events(1, 'bad'), events(1, 'good'), step(0); end $$;
-- Its gate may be what is refused, so that it stays due.
update outbox.gate set next_at = outbox.clock() where true;
create temporary table answer as select step() as a;
select results_eq('select claimed(a, good), claimed(a, bad) from answer, made', 'values (1, 0)', 'until then it is not claimed from, though its gate is due');
select time_passes('300 s');
update answer set a = step() where true;
select is(claimed(a, bad), 1, 'then it is') from answer, made;
select is_empty('select from outbox.endpoint_refusal', 'and a claim that succeeds ends it');

-- More refused endpoints than a call looks at.
create temporary table crowd as select endpoint('{crowd}') as id from generate_series(1, 101);
do $$ begin perform events(1, 'crowd'), step(0); end $$;
select refused(id) from crowd;
do $$ begin perform events(1, 'good'), step(0, results(a, 'delivered')) from answer; end $$;
-- Before the gate of the good endpoint, and not before the ring.
update outbox.gate set next_at = (select from_at from outbox.ring) where endpoint_id in (select id from crowd);
update answer set a = step(10) where true;
select is(claimed(a, good), 1, 'a hundred refused endpoints hide nobody') from answer, made;

select * from finish();
rollback;
