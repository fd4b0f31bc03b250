-- Run once, after the migrations, on a new local database (supabase db reset, deno task stack); never
-- on a hosted project. On the developer's own machine webhooks may go to plain http and to itself.
select outbox.set_setting('egress.allow_http', 'true');
select outbox.set_setting('egress.allow_cidrs', '["127.0.0.0/8", "::1/128", "172.16.0.0/12"]');
