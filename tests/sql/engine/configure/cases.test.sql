-- configure(): where the functions are and which secret starts them, in Vault.
begin;
\ir ../../_helpers.sql
select plan(23);

select is(refusal('select outbox.configure(' || c.arguments || ')'), 'OH001 ' || c.problem, 'configure() refuses ' || c.arguments)
from (values
  ($$null, repeat('s', 32)$$, 'functions_url is not an http or https URL without credentials and query'),
  ($$'', repeat('s', 32)$$, 'functions_url is not an http or https URL without credentials and query'),
  ($$'project.supabase.co/functions/v1', repeat('s', 32)$$, 'functions_url is not an http or https URL without credentials and query'),
  ($$'ftp://project.supabase.co', repeat('s', 32)$$, 'functions_url is not an http or https URL without credentials and query'),
  ($$'https://user:pass@project.supabase.co', repeat('s', 32)$$, 'functions_url is not an http or https URL without credentials and query'),
  ($$'https://project.supabase.co/functions/v1?key=1', repeat('s', 32)$$, 'functions_url is not an http or https URL without credentials and query'),
  ($$'https://project.supabase.co/ v1', repeat('s', 32)$$, 'functions_url is not an http or https URL without credentials and query'),
  ($$'https://', repeat('s', 32)$$, 'functions_url is not an http or https URL without credentials and query'),
  ($$'https://project.supabase.co:70000/functions/v1', repeat('s', 32)$$, 'functions_url is not a URL that pg_net can call'),
  ($$'http://{ref}/functions/v1', repeat('s', 32)$$, 'functions_url is not a URL that pg_net can call'),
  ($$'https://project.supabase.co/functions/v1', null$$, 'worker_secret has fewer than 32 characters'),
  ($$'https://project.supabase.co/functions/v1', ''$$, 'worker_secret has fewer than 32 characters'),
  ($$'https://project.supabase.co/functions/v1', repeat('s', 31)$$, 'worker_secret has fewer than 32 characters')
) c (arguments, problem);

create function kept(p_name text) returns text language sql as $$
  select s.decrypted_secret from vault.decrypted_secrets s where s.name = p_name
$$;
select is(kept('outhook_functions_url'), null, 'configure() keeps nothing of what it refuses');
select is(outbox.configure('https://project.supabase.co/functions/v1/', repeat('s', 32)), '{"functions_url": "https://project.supabase.co/functions/v1", "problems": []}'::jsonb,
  'configure() returns the URL without the last slash, and no secret');
select is(kept('outhook_functions_url'), 'https://project.supabase.co/functions/v1', 'configure() keeps the URL in Vault');
select is(kept('outhook_worker_secret'), repeat('s', 32), 'configure() keeps the secret in Vault');
select is_empty($$select from vault.secrets where secret like '%ssss%' or secret like '%supabase.co%'$$, 'encrypted');
select is((outbox.configure('http://kong:8000/functions/v1', repeat('t', 64)) ->> 'functions_url'), 'http://kong:8000/functions/v1', 'configure() may be called again');
select is(kept('outhook_functions_url'), 'http://kong:8000/functions/v1', 'and replaces the URL');
select is(kept('outhook_worker_secret'), repeat('t', 64), 'and the secret');
select is((select count(*)::integer from vault.secrets where name in ('outhook_functions_url', 'outhook_worker_secret')), 2, 'without leaving the old ones');
select is(refusal(format('select outbox.configure(%L, %L)', 'http://127.0.0.1:54321/functions/v1', repeat('t', 32))), 'accepted', 'configure() accepts an address and a port');

select * from finish();
rollback;
