/**
 * Makes the steps of spread-org slower, so that the adversary can kill it between any two of them: after an endpoint
 * was copied, amid the commit with which it leaves its database, and before it is opened in the other one.
 */
export const slowMoves = `
create function public.rest() returns trigger language plpgsql as $$
begin perform pg_catalog.pg_sleep(0.1); return null; end $$;
create trigger rest_leaves after update of status on outbox.endpoint for each row
  when (new.status = 'deleted' and old.status <> 'deleted') execute function public.rest();
create constraint trigger rest_left after update of status on outbox.endpoint
  deferrable initially deferred for each row
  when (new.status = 'deleted' and old.status <> 'deleted') execute function public.rest();
create trigger rest_opens after update of status on outbox.endpoint for each row
  when (new.status = 'enabled' and old.status = 'paused') execute function public.rest();`
