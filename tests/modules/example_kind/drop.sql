-- Removes the module ntfy. Delete its endpoints first and wait until endpoint_status shows no open
-- delivery of them. Attempts and dead letters stay until their retention ends.

do $$
begin
  if exists (
    select from outbox.endpoint e
    where e.kind = 'ntfy'
      and (e.status <> 'deleted' or exists (
        select from outbox.gate g where g.endpoint_id = e.id)))
  then
    raise exception using errcode = 'OH004',
      message = 'there are endpoints of kind ntfy',
      hint = 'Call delete_endpoint() for each, and wait until the tick has removed its deliveries';
  end if;
end
$$;

delete from outbox.endpoint e where e.kind = 'ntfy';
delete from outbox.tick_step s where s.name = 'ntfy';
delete from outbox.failure_rule f where f.kind = 'ntfy';
delete from outbox.error_hint h where h.error_class like 'ntfy.%';
delete from outbox.setting s where s.name like 'ntfy.%';
delete from outbox.endpoint_kind k where k.kind = 'ntfy';

drop function outbox.resume_held_ntfy(timestamptz, integer);
drop function outbox.change_ntfy_of_wire(uuid, jsonb);
drop function outbox.create_ntfy_of_wire(text, jsonb, text[]);
drop function outbox.set_ntfy_token(uuid, text);
drop function outbox.create_ntfy_endpoint(text, text, text, integer, text[], text, text, text);
drop function outbox.put_ntfy_token(uuid, text);
drop function outbox.check_ntfy(jsonb);
