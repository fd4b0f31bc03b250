-- The end of an alert. outhook.delivery.dead_lettered opens one for an endpoint. When the last of
-- its dead letters is replayed or discarded, outhook.dead_letters.cleared closes it. A trigger
-- publishes it, because dead letters end in several places: a replay, a job, a discard, a late
-- status.

create index dead_letter_waiting_endpoint on outbox.dead_letter (endpoint_id, failed_at)
where replayed_at is null and discarded_at is null;

create function outbox.announce_cleared() returns trigger
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_ended jsonb;
begin
  select pg_catalog.jsonb_object_agg(n.endpoint_id, n.org_id) into v_ended
  from old_rows o
  join new_rows n on n.id = o.id
  where o.replayed_at is null and o.discarded_at is null
    and (n.replayed_at is not null or n.discarded_at is not null) and n.org_id <> 'outhook';
  -- Without an endpoint of the organisation outhook, nobody has the alert.
  if v_ended is null or not exists (
    select from outbox.endpoint e where e.org_id = 'outhook' and e.status <> 'deleted')
  then
    return null;
  end if;
  perform outbox.put_news('outhook.dead_letters.cleared', array(
    select pg_catalog.json_build_object('endpointId', k.key, 'orgId', k.value, 'url', e.url)::text
    from pg_catalog.jsonb_each_text(v_ended) k
    left join outbox.endpoint e on e.id = k.key::uuid
    -- From the newest one: a job ends the oldest first, and beside an open transaction their index
    -- entries stay.
    where (
      select x.id from outbox.dead_letter x
      where x.endpoint_id = k.key::uuid and x.replayed_at is null and x.discarded_at is null
      order by x.failed_at desc limit 1) is null
    order by k.key));
  return null;
end
$$;
comment on function outbox.announce_cleared() is
  'Trigger: publishes outhook.dead_letters.cleared for each endpoint whose last waiting dead '
  'letter was replayed or discarded. The caller holds the gate.';

create trigger announce_cleared
  after update on outbox.dead_letter
  referencing old table as old_rows new table as new_rows
  for each statement execute function outbox.announce_cleared();
