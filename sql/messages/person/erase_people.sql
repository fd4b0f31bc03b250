-- Erasing of people, message.retention_days after the last contact. A person without an opt-out is
-- deleted. The opt-outs of others stay, and the keyed hashes of their identifiers find them.

create function outbox.erase_people(p_now timestamptz, p_limit integer) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_task constant text := 'outbox.erase_people';
  v_before timestamptz :=
    p_now - pg_catalog.make_interval(days => outbox.setting_int('message.retention_days'));
  v_erased integer;
begin
  -- A lifted opt-out is only needed against late callbacks.
  perform outbox.change_rows(v_task, 'outbox.opt_out',
    'delete from outbox.opt_out d where d.ctid = any ($1) and d.lifted',
    array(
      select o.ctid from outbox.opt_out o
      where o.lifted and o.decided_at < p_now - interval '60 days' limit p_limit),
    p_now);
  v_erased := outbox.change_rows(v_task, 'outbox.person', $erase$
      with erased as materialized (
        select p.id, p.org_id from outbox.person p where p.ctid = any ($1)
      ), secret as materialized (
        select outbox.hash_key() as key
      ), evidence as (
        update outbox.opt_out o set wamid = '#' || pg_catalog.encode(
          extensions.hmac(o.wamid, s.key, 'sha256'), 'hex')
        from erased e, secret s
        where o.org_id = e.org_id and o.person_id = e.id and o.wamid not like '#%'
      ), hashed as (
        update outbox.person_identifier i set value = '#' || outbox.hash_person(i.value, s.key)
        from erased e, secret s
        where i.person_id = e.id and i.value not like '#%'
      )
      update outbox.person p set
        erased_at = $2, name = null, username = null, parent_user_id = null
      where p.ctid = any ($1)
    $erase$,
    array(
      select o.ctid from outbox.person o
      where o.erased_at is null and o.last_seen_at < v_before
      order by o.last_seen_at limit p_limit for update skip locked),
    p_now);
  perform outbox.change_rows(v_task, 'outbox.person', $delete$
      with identifiers as (
        delete from outbox.person_identifier i using outbox.person p
        where p.ctid = any ($1) and p.erased_at is not null and i.person_id = p.id
      )
      delete from outbox.person p where p.ctid = any ($1) and p.erased_at is not null
    $delete$,
    array(
      select p.ctid from outbox.person p
      where p.erased_at is not null
        and not exists (select from outbox.opt_out o where o.person_id = p.id)
      order by p.id limit p_limit for update skip locked),
    p_now);
  return v_erased;
end
$$;
comment on function outbox.erase_people(timestamptz, integer) is
  'Erases the names and identifiers of up to p_limit people of whom nothing was heard for '
  'message.retention_days; returns how many. Of who has opted out, the opt-outs and keyed hashes '
  'of the identifiers stay; others are deleted.';

-- Erasing rewrites each row, so a transaction handles at most 10,000.
insert into outbox.cleanup_step (name, calls, most) values
  ('people', 'outbox.erase_people', 10000);
