-- X-Signature during a rotation: of the old secret until the receiver accepts another one. A rejected delivery alone
-- tries the others, each once without using up a retry, and a 401 or 403 of that time is not final.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(32);

create function given(p_n integer) returns text language sql as $$
  select 'whsec_' || translate(encode(decode(repeat(lpad(to_hex(p_n), 2, '0'), 32), 'hex'), 'base64'), E'\n', '')
$$;
create temporary table ours as select endpoint() as id;
select outbox.rotate_secret(id, given(1), '0') from ours;
select time_passes('1 h');

-- The number of the secret that X-Signature of this event is of.
create function signs(p_answer jsonb, p_event uuid) returns integer language sql as $$
  select n from generate_series(1, 9) n, ours, jsonb_array_elements(p_answer -> 'deliveries') d
  where d ->> 'event' = p_event::text
    and given(n) = coalesce(d ->> 'secret', p_answer -> 'endpoints' -> id::text -> 'secrets' ->> 0)
$$;
-- Reports the results of these events, in this order: a status below 300 is delivered.
create function report(p_answer jsonb, p_events uuid[], p_statuses integer[]) returns void language sql as $$
  select step(0, (
    select jsonb_agg(r || jsonb_build_object('status', x.status, 'outcome',
      case when x.status < 300 then 'delivered' else 'failed' end) order by x.place)
    from unnest(p_events, p_statuses) with ordinality x (event, status, place)
    join jsonb_array_elements(results(p_answer, 'failed')) r on r ->> 'event' = x.event::text))
$$;
create function state(p_event uuid) returns text language sql as $$
  select coalesce((select 'dead: ' || why from outbox.dead_letter where event_id = p_event),
    (select 'open after ' || failed_attempts from outbox.delivery where event_id = p_event), 'delivered')
$$;
-- An event that is claimed once and ends with this status: the secret of its X-Signature and its state.
create function again(p_event uuid, p_status integer) returns text language plpgsql as $$
declare
  v_answer jsonb := step();
begin
  perform report(v_answer, array[p_event], array[p_status]);
  return coalesce(signs(v_answer, p_event)::text, '-') || ', ' || state(p_event);
end
$$;
create function attempt(p_status integer) returns text language sql as $$
  select again((events(1))[1], p_status)
$$;
-- The number of the secret that the gate keeps.
create function kept() returns integer language sql as $$
  select n from generate_series(1, 9) n, ours, outbox.endpoint_secret s
  where s.id = (gate_of(ours.id)).secret_id and given(n) = outbox.try_read(s.vault_id)
$$;

select is(attempt(401), '1, dead: not_retryable', 'without a rotation a 401 is final');

-- The receiver has only the new secret.
select outbox.rotate_secret(id, given(2)) from ours;
select is(attempt(200), '1, delivered', 'after a rotation X-Signature is of the old secret');
select is(attempt(404), '1, dead: not_retryable', 'and a 404 is final as ever');
create temporary table first as select (events(1))[1] as event;
select is(again(event, 401), '1, open after 0', 'a 401 is not, and uses up no retry') from first;
select is(kept(), null, 'a rejection alone changes nothing for the others');
select is(again(event, 200), '2, delivered', 'the next attempt follows at once with the new secret') from first;
select is(kept(), 2, 'which was accepted and is kept');
select is(attempt(200), '2, delivered', 'for all others too');

-- A delivery that was claimed before the upgrade, which added secret_id.
create temporary table older as select (events(1))[1] as event;
create temporary table older_claim as select step() as answer;
update outbox.delivery set secret_id = null where true;
select report(answer, array[event], '{401}') from older_claim, older;
select is(state(event), 'open after 0', 'nor is a 401 of a delivery that was claimed before the upgrade') from older;
select is(again(event, 403), '1, open after 1', 'which tries the other secret once') from older;
select outbox.cancel_delivery(event, id) from older, ours;

-- An event that the receiver forbids, each time alone in its batch.
create temporary table forbidden as select (events(1))[1] as event;
select is(again(event, 403), '2, open after 0', 'a forbidden event tries the other secret') from forbidden;
create temporary table lone as select (events(1))[1] as event;
create temporary table both_claimed as select step() as answer;
select report(b.answer, array[f.event], '{401}') from both_claimed b, forbidden f;
select is(signs(b.answer, f.event) || ', ' || state(f.event), '1, open after 1', 'rejected with each secret, it uses up a retry') from both_claimed b, forbidden f;
select report(b.answer, array[l.event], '{200}') from both_claimed b, lone l;
select is(signs(b.answer, l.event) || ', ' || state(l.event), '2, delivered', 'and others stay with the accepted secret') from both_claimed b, lone l;
select time_passes('1 h');
select is(again(event, 403), '2, open after 2', 'its next retry uses the secret that was rejected longest ago') from forbidden;
select time_passes('1 h');
select is(again(event, 401), '1, open after 3', 'and the one after it the other') from forbidden;
select is(kept(), 2, 'no rejection moves the secret of the gate');
select is((select count(*)::integer from outbox.attempt a, lone l where a.event_id = l.event), 1, 'a good event is sent once');
select outbox.cancel_delivery(event, id) from forbidden, ours;

-- An endpoint without retries.
update outbox.endpoint set retry = jsonb_set(coalesce(retry, (select retry from outbox.endpoint_kind where kind = 'webhook')), '{max_retries}', '0');
create temporary table once as select (events(1))[1] as event;
select is(again(event, 401), '2, open after 0', 'without retries, the other secret is tried too') from once;
select is(again(event, 401), '1, dead: retries_exhausted', 'but each only once') from once;
update outbox.endpoint set retry = null;

-- Three secrets, and results of claims before the change, also together with a failure.
select outbox.rotate_secret(id, given(3)) from ours;
create temporary table two as select events(3) as ids;
create temporary table old_claim as select step() as answer;
update outbox.endpoint set timeout_ms = timeout_ms * 2;
select report(answer, ids[1:1], '{403}') from old_claim, two;
select is(again(ids[1], 403), '1, open after 0', 'of three secrets the second is tried') from two;
create temporary table with_failure as select step() as answer;
select is(signs(answer, ids[1]), 3, 'and then the third') from with_failure, two;
select step(0, (select jsonb_agg(r) from (
  select results_of(answer, id, 'delivered', '{"status": 200}') -> 0 as r from with_failure, ours
  union all
  select jsonb_build_object('event', ids[2], 'endpoint', id, 'attempt', 1, 'outcome', 'failed', 'status', 401) from two, ours
) x));
select is(kept(), 3, 'the accepted one is kept, also if another result of the call is a failure');
select is(state(ids[2]), 'open after 0', 'a late 401 of the old secret is not final') from two;
select is(again(ids[2], 200), '3, delivered', 'and its delivery uses the secret that is kept now') from two;
select report(answer, ids[3:3], '{200}') from old_claim, two;
select is(kept(), 3, 'a late acceptance of the old secret changes nothing');

-- A replay starts anew.
create temporary table anew as select (events(1))[1] as event;
select again(event, 401) from anew;
select outbox.replay(event, id) from anew, ours;
select is(again(event, 200), '3, delivered', 'a replay forgets which secrets were rejected') from anew;

-- The end of the overlap.
select time_passes('2 days');
select is(attempt(401), '3, dead: not_retryable', 'after the overlap a 401 is final again');

-- A request on its way while the secret is replaced at once.
create temporary table late as select (events(1))[1] as event;
create temporary table sent as select step() as answer;
select outbox.rotate_secret(id, given(4), '0') from ours;
select report(answer, array[event], '{401}') from sent, late;
select is(state(event), 'open after 0', 'a 401 of a request on its way during a rotation is not final') from late;
select is(again(event, 200), '4, delivered', 'and the new secret signs') from late;
select is(attempt(401), '4, dead: not_retryable', 'later it is final');

select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

select * from finish();
rollback;
