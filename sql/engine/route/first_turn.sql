-- The first organisation of a turn has something in each call. in_turn() puts up to 50 deliveries
-- of organisations with few endpoints before it. If their filters use up the work of the call, or
-- their events have more deliveries than the organisation has subscriptions, nothing of the first
-- one would come before the end of the batch, in this call and in each later one. Then
-- read_unrouted() starts again with its first event before all others.

create function outbox.serves_first(p_batch outbox.routing, p_most integer) returns boolean
language plpgsql immutable set search_path = ''
as $$
declare
  v_cut uuid := p_batch.pairs[p_most + 1].event_id;
  v_first integer := pg_catalog.array_position(p_batch.orgs, p_batch.turn_orgs[1]);
  v_place integer := pg_catalog.array_position(p_batch.events, v_cut);
begin
  return v_first is null or v_cut is null or v_first < v_place
    or (v_first = v_place and p_batch.pairs[p_most].event_id = v_cut);
end
$$;
comment on function outbox.serves_first(outbox.routing, integer) is
  'Whether a batch cut to p_most pairs has something of the first organisation of waiting_part. '
  'True if it has no event of it.';

create function outbox.first_ahead(p_batch outbox.routing) returns outbox.routing
language plpgsql immutable set search_path = ''
as $$
declare
  v_at integer := pg_catalog.array_position(p_batch.orgs, p_batch.turn_orgs[1]);
begin
  p_batch.events := p_batch.events[v_at] || p_batch.events[1:v_at - 1]
    || p_batch.events[v_at + 1:];
  p_batch.rows_at := p_batch.rows_at[v_at] || p_batch.rows_at[1:v_at - 1]
    || p_batch.rows_at[v_at + 1:];
  p_batch.behind := p_batch.behind[v_at] || p_batch.behind[1:v_at - 1]
    || p_batch.behind[v_at + 1:];
  p_batch.orgs := p_batch.orgs[v_at] || p_batch.orgs[1:v_at - 1] || p_batch.orgs[v_at + 1:];
  return p_batch;
end
$$;
comment on function outbox.first_ahead(outbox.routing) is
  'A batch with the first event of the first organisation of waiting_part before all others.';
