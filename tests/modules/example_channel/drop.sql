-- Removes the module sms. Delete its channels first and wait until endpoint_status shows no open
-- delivery of them. Messages, attempts and audit trail stay until their retention ends.

do $$
begin
  if exists (
    select from outbox.endpoint e
    where e.kind = 'sms'
      and (e.status <> 'deleted' or exists (
        select from outbox.gate g where g.endpoint_id = e.id)))
  then
    raise exception using errcode = 'OH004',
      message = 'there are endpoints of kind sms',
      hint = 'Call delete_endpoint() for each, and wait until the tick has removed its deliveries';
  end if;
end
$$;

delete from outbox.endpoint e where e.kind = 'sms';
delete from outbox.failure_rule f where f.kind = 'sms';
delete from outbox.channel_kind k where k.kind = 'sms';
delete from outbox.endpoint_kind k where k.kind = 'sms';

drop function outbox.report_sms(uuid, text, text, text);
drop function outbox.set_sms_key(uuid, text);
drop function outbox.create_sms_channel(text, text, text, text, double precision);
drop function outbox.put_sms_key(uuid, text);
drop function outbox.check_sms(jsonb);
