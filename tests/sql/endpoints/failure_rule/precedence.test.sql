-- Of several rules the most exact one counts: the provider's code, then the status, then its class, then
-- the error class; and the kind's own before the one for all.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(24);

insert into outbox.failure_rule (kind, code, action, title) values
  ('*', '131000', 'fail', 'a provider''s code'), ('webhook', '131001', 'retry', 'a code of the kind'), ('*', '131001', 'fail', 'the same for all'),
  ('webhook', '404', 'retry', 'a status of the kind'), ('webhook', '418', 'fail', 'the same status'), ('*', '418', 'retry', 'the same for all'),
  ('whatsapp', '500', 'fail', 'another kind'), ('*', 'tls', 'fail', 'an error class'), ('webhook', '5xx', 'fail', 'a class of the kind'),
  ('*', '502', 'retry', 'a status for all');

select is((outbox.failure_rule_of(c.kind, c.status, c.class, c.code)).action, c.action,
  format('%s, status %s, class %s, code %s: %s', c.kind, coalesce(c.status::text, '-'), coalesce(c.class, '-'), coalesce(c.code, '-'), c.action))
from (values
  -- A code beats a status, a status its class, its class the error class.
  ('webhook', 500, null, '131000', 'fail'), ('webhook', 400, 'tls', '131001', 'retry'), ('whatsapp', 400, null, '131001', 'fail'),
  ('webhook', 404, null, null, 'retry'), ('kafka', 404, null, null, 'fail'), ('webhook', 403, null, null, 'fail'),
  ('webhook', 418, null, null, 'fail'), ('kafka', 418, null, null, 'retry'),
  -- The kind decides among rules of one place, never between places.
  ('webhook', 500, null, null, 'fail'), ('webhook', 502, null, null, 'retry'), ('webhook', 503, null, null, 'throttle'),
  ('whatsapp', 500, null, null, 'fail'), ('kafka', 500, null, null, 'retry'),
  -- A status beats the error class; a 2xx is no status here, since a body may still fail.
  ('webhook', 429, 'tls', null, 'throttle'), ('webhook', 200, 'tls', null, 'fail'), ('webhook', null, 'tls', null, 'fail'),
  -- An unknown code leaves the question to the status.
  ('webhook', 404, null, '999', 'retry'), ('webhook', 410, null, '999', 'hold'),
  -- What nothing names is retried.
  ('webhook', null, null, null, 'retry'), ('webhook', null, 'dns', null, 'retry'), ('webhook', 200, null, null, 'retry'),
  ('webhook', 700, null, null, 'retry'), ('sms', null, 'odd', '5', 'retry')
) c (kind, status, class, code, action);

-- And so it is in a run.
select endpoint();
select events(1);
select send('failed', '{"status": 500, "code": "131001"}');
select is((select status from outbox.delivery_status), 'retrying', 'a run''s result is judged by the same rules');

select * from finish();
rollback;
