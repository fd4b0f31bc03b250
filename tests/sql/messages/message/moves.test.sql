-- From which status a message may get to which: anything else is refused where it is written.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(37);

create temporary table made as select channel() as a, template() as code;
create temporary table m as select message_id(message()) as id;
create temporary table status as select unnest(array['QUEUED', 'SENDING', 'SENT', 'DELIVERED', 'FAILED', 'CANCELLED']) as s;
create temporary table may (was text, becomes text[]);
insert into may values
  ('QUEUED', '{QUEUED,SENDING,SENT,DELIVERED,FAILED,CANCELLED}'), ('SENDING', '{QUEUED,SENDING,SENT,DELIVERED,FAILED}'), ('SENT', '{QUEUED,SENDING,SENT,DELIVERED,FAILED}'),
  ('DELIVERED', '{DELIVERED}'), ('FAILED', '{QUEUED,SENT,DELIVERED,FAILED}'), ('CANCELLED', '{CANCELLED}');
create function moves(p_was text, p_to text) returns boolean language plpgsql as $$
declare
  v_message outbox.outbound_message;
begin
  update outbox.outbound_message set status = p_was where id = (select id from m) returning * into v_message;
  v_message.status := p_to;
  perform outbox.save_message(v_message, outbox.clock());
  return true;
exception when sqlstate 'OH004' then
  return false;
end
$$;
select is(moves(may.was, s), s = any (may.becomes), format('%s to %s', may.was, s)) from may, status order by may.was, s;
update outbox.outbound_message set status = 'DELIVERED' where true;
select throws_ok($$select outbox.cancel_message('default', (select id::text from m))$$, 'OH004', format('message %s is DELIVERED', id), 'a person is told why') from m;

select * from finish();
rollback;
