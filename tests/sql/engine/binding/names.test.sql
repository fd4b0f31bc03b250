-- project_name(): one name for all URLs of a project, and another for each other project.
begin;
\ir ../../_helpers.sql
select plan(34);

select is(outbox.project_name(c.text), c.name, coalesce(quote_literal(c.text), 'null') || ' is ' || coalesce(c.name, 'no name'))
from (values
  ('https://abcdefghijklmnopqrst.supabase.co', 'abcdefghijklmnopqrst'),
  ('https://abcdefghijklmnopqrst.supabase.co/', 'abcdefghijklmnopqrst'),
  ('http://abcdefghijklmnopqrst.supabase.co', 'abcdefghijklmnopqrst'),
  ('HTTPS://ABCDEFGHIJKLMNOPQRST.SUPABASE.CO', 'abcdefghijklmnopqrst'),
  ('https://abcdefghijklmnopqrst.supabase.co:443', 'abcdefghijklmnopqrst'),
  ('https://abcdefghijklmnopqrst.supabase.co.', 'abcdefghijklmnopqrst'),
  ('https://abcdefghijklmnopqrst.supabase.co/functions/v1', 'abcdefghijklmnopqrst'),
  ('https://abcdefghijklmnopqrst.functions.supabase.co', 'abcdefghijklmnopqrst'),
  ('db.abcdefghijklmnopqrst.supabase.co:5432', 'abcdefghijklmnopqrst'),
  ('abcdefghijklmnopqrst', 'abcdefghijklmnopqrst'),
  (' abcdefghijklmnopqrst ', 'abcdefghijklmnopqrst'),
  ('https://bbcdefghijklmnopqrst.supabase.co', 'bbcdefghijklmnopqrst'),
  ('http://127.0.0.1:54321', 'local'),
  ('http://127.0.0.1:49152', 'local'),
  ('http://localhost:54321', 'local'),
  ('http://[::1]:54321', 'local'),
  ('http://kong:8000', 'local'),
  ('http://supabase_kong_shop:8000', 'local'),
  ('http://host.docker.internal:54321/functions/v1', 'local'),
  ('local', 'local'),
  ('https://api.example.com', 'api.example.com'),
  ('https://API.example.com/', 'api.example.com'),
  ('http://api.example.com:80', 'api.example.com'),
  ('https://api.example.com:8443', 'api.example.com:8443'),
  ('https://user:secret@api.example.com', 'api.example.com'),
  ('http://10.0.0.5:8000', '10.0.0.5:8000'),
  ('https://localhost.example.com', 'localhost.example.com'),
  ('https://abcdefghijklmnopqrst.supabase.co.example.com', 'abcdefghijklmnopqrst.supabase.co.example.com'),
  ('Shop staging', 'shop staging'),
  ('', null),
  ('   ', null),
  ('https://', null),
  (null, null)
) c (text, name);
select is(length(outbox.project_name(repeat('x', 5000))), 200, 'a name has at most 200 characters');

select * from finish();
rollback;
