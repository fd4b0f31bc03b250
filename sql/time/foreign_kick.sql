-- A physical copy has the identity of its original, and its kicks go to the original's function,
-- which refuses them. From this response the copy learns that it is one.

create function outbox.note_foreign_kick(p_now timestamptz, p_most integer) returns void
language plpgsql set search_path = ''
as $$
begin
  -- Once in 5 s is enough. A refused kick from before a restart names another server_id().
  if pg_catalog.floor(extract(epoch from p_now))::bigint % 5 = 0 and exists (
    select from (
      select r.status_code, r.content from net._http_response r
      where r.created > pg_catalog.clock_timestamp() - interval '10 s' and r.status_code = 409
      order by r.created desc limit p_most
    ) r
    where pg_catalog.strpos(r.content, '"foreign_kick"') > 0
      and pg_catalog.strpos(r.content, outbox.server_id()) > 0)
  then
    perform outbox.refuse_project(null, 'edge', 'foreign_kick', null, p_now);
  end if;
end
$$;
comment on function outbox.note_foreign_kick(timestamptz, integer) is
  'Step of the tick: records that the function at the configured URL refused a kick of this '
  'database, because it works on another one.';

insert into outbox.tick_step (name, calls, most) values
  ('foreign kicks', 'outbox.note_foreign_kick', 100);
