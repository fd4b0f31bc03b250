-- Reads of people in a read-only transaction, before and after there is a key of recipients.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
\ir _person.sql
select plan(3);

-- The answer of a read-only transaction, which a block with a handler ends.
create function read_only(p_statement text) returns text language plpgsql as $$
declare
  v_answer text;
begin
  begin
    set local transaction_read_only = on;
    execute p_statement into v_answer;
    raise exception using errcode = 'P0099', message = coalesce(v_answer, 'null');
  exception when others then
    return case when sqlstate = 'P0099' then sqlerrm else sqlstate end;
  end;
end
$$;

delete from vault.secrets where name = 'outhook_recipient_key';
select is(read_only($$select outbox.get_person('default', '+12025550111')$$), 'OH002', 'nobody is found before there is a key');
select is((select count(*) from vault.secrets where name = 'outhook_recipient_key'), 0::bigint, 'and none is created');
select link('+12025550111', 'US.1349');
select alike(read_only($$select outbox.get_person('default', 'US.1349')$$), '%"+12025550111"%', 'a person is found');

select * from finish();
rollback;
