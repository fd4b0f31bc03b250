-- Modules: api, brokers, messages, sagas
-- PostgREST calls a stable function in a read-only transaction, so no stable function may call one that writes.
begin;
\ir ../_helpers.sql
select plan(2);

create temporary view calls as
select caller.proname as caller, callee.proname as callee
from (
  select p.proname, p.provolatile, regexp_replace(regexp_replace(p.prosrc, '--[^\n]*', '', 'g'), '''[^'']*''', '', 'g') as source
  from pg_proc p where p.pronamespace = 'outbox'::regnamespace and p.prokind = 'f'
) caller
cross join lateral regexp_matches(caller.source, '\moutbox\.([a-z_0-9]+)\s*\(', 'g') as named
join pg_proc callee on callee.pronamespace = 'outbox'::regnamespace and callee.proname = named[1]
where caller.provolatile <> 'v' and callee.provolatile = 'v'
  and callee.prosrc ~* '\m(insert\s+into|update\s+(only\s+)?\w+\.|delete\s+from|create_secret|update_secret|nextval|setval|for\s+(no\s+key\s+)?update)\M';

select is_empty('select * from calls', 'no stable function calls one that writes or locks');

create function outbox.writes() returns void language sql as $$ insert into outbox.setting select * from outbox.setting where false $$;
create function outbox.reads() returns void language plpgsql stable as $$ begin perform outbox.writes(); end $$;
select set_eq('select * from calls', $$values ('reads'::name, 'writes'::name)$$, 'one that does is found');

select * from finish();
rollback;
