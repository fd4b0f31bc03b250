-- Waits until no change of this command runs: one whose answer was lost may still be going on.
do $migrate$
begin
  perform pg_catalog.set_config('lock_timeout', '20s', true);
  perform pg_catalog.pg_advisory_xact_lock('outbox.publish_row()'::regprocedure::oid::bigint);
end
$migrate$;
