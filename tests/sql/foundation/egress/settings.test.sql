-- Modules: messages
-- The settings of where deliveries may go: what they take, what they refuse, and that a save follows them.
begin;
\ir ../../_helpers.sql
select plan(47);

create function setting(p_name text, p_value text) returns text language sql as $$
  select refusal(format('select outbox.set_setting(%L, %L)', p_name, p_value))
$$;
create function saved(p_url text) returns text language sql as $$
  select refusal(format('select outbox.check_url(%L)', p_url))
$$;

select is(setting('egress.allow_ports', '["' || v || '"]'), 'accepted', 'egress.allow_ports takes ' || v)
from unnest(array['443', '1', '65535', '1024-65535', '80-80']) v;
select matches(setting(s, '["443", "' || v || '"]'), format('^OH005 setting %s holds ', s), s || ' refuses ' || v)
from unnest(array['egress.allow_ports', 'egress.deny_ports']) s, unnest(array['0', '65536', '8443-443', '443-', 'https', '-1']) v;
select is(setting('egress.proxy_url', '"' || v || '"'), 'accepted', 'egress.proxy_url takes ' || v)
from unnest(array['http://proxy.example.com:3128', 'http://10.0.0.9', '']) v;
select matches(setting('egress.proxy_url', '"' || v || '"'), '^OH005 setting egress.proxy_url must be ', 'egress.proxy_url refuses what is no proxy')
from unnest(array['http://user:sesame@proxy:3128', 'https://proxy', 'proxy:3128', 'http://proxy/path', 'socks5://proxy', 'http://proxy:99999', 'http://proxy:0', 'http://-', 'http://.', 'http://a..b']) v;
-- The sender reads 010 as octal, and cannot read the rest.
select matches(setting('egress.allow_cidrs', '["' || v || '"]'), '^OH005 setting egress.allow_cidrs holds ', 'egress.allow_cidrs refuses ' || v)
from unnest(array['010.0.0.0/8', '10.0.0.0/08']) v;
select matches(setting('whatsapp.graph_url', '"' || v || '"'), '^OH005 setting whatsapp.graph_url must be ', 'whatsapp.graph_url refuses ' || v)
from unnest(array['https://graph:99999', 'https://-', 'https://graph/../v1']) v;
select doesnt_match(setting('egress.proxy_url', '"http://user:sesame@proxy:3128"'), 'sesame', 'and shows no credentials');

select outbox.set_setting('egress.allow_ports', '["443", "8000-8999"]'), outbox.set_setting('egress.deny_ports', '["8080-8081"]');
select is(saved('https://example.com' || c.rest), c.expected, 'check_url() of https://example.com' || c.rest)
from (values
  ('', 'accepted'), (':/', 'accepted'), (':8000', 'accepted'), (':08443/', 'accepted'),
  (':80', 'OH001 url has a port that is not allowed'), (':8080', 'OH001 url has a port that is not allowed'),
  (':99999', 'OH001 url has a port that is not allowed'), (':123456', 'OH001 url has a port that is no number from 1 to 65535'),
  (':https', 'OH001 url has a port that is no number from 1 to 65535')
) c (rest, expected);

-- One sentence for every place inside, so that nobody learns what is there.
select is(saved(u), 'OH001 url has a host that is not allowed', 'check_url() says no more of ' || u)
from unnest(array['https://10.0.0.1', 'https://localhost']) u;

select * from finish();
rollback;
