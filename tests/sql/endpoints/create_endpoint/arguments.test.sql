-- The other arguments of create_endpoint(): what is refused, and that nothing of it stays.
begin;
\ir ../../_helpers.sql
select plan(61);

create temporary table refused (arguments text, expected text);
insert into refused values
  ($$null$$, 'OH001 url is empty'),
  ($$''$$, 'OH001 url is empty'),
  ($$'example.com/hook'$$, 'OH001 url is not an absolute http or https URL'),
  ($$'/hook'$$, 'OH001 url is not an absolute http or https URL'),
  ($$'https://'$$, 'OH001 url is not an absolute http or https URL'),
  ($$'https:///hook'$$, 'OH001 url is not an absolute http or https URL'),
  ($$'https:example.com'$$, 'OH001 url is not an absolute http or https URL'),
  ($$'ftp://example.com'$$, 'OH001 url is not an absolute http or https URL'),
  ($$'file:///etc/passwd'$$, 'OH001 url is not an absolute http or https URL'),
  ($$'javascript:alert(1)'$$, 'OH001 url is not an absolute http or https URL'),
  ($$'http://example.com'$$, 'OH001 url is not https'),
  ($$'HTTP://example.com'$$, 'OH001 url is not https'),
  ($$'https://user:secret@example.com'$$, 'OH001 url carries credentials'),
  ($$'https://user@example.com'$$, 'OH001 url carries credentials'),
  ($$'https://example.com\@inside'$$, 'OH001 url carries credentials'),
  ($$'https://example.com/a b'$$, 'OH001 url holds a space or a control character'),
  ($$E'https://example.com/\r\nx: y'$$, 'OH001 url holds a space or a control character'),
  ($$E'https://example.com/\x7f'$$, 'OH001 url holds a space or a control character'),
  ($$'https://example.com/' || repeat('a', 2029)$$, 'OH001 url is longer than 2048 characters'),
  ($$'https://example.com', p_org_id => ''$$, $$OH001 org_id is ''$$),
  ($$'https://example.com', '{order*}'$$, $$OH001 event_types contains 'order*'$$),
  ($$'https://example.com', '{*.paid}'$$, $$OH001 event_types contains '*.paid'$$),
  ($$'https://example.com', '{order.**}'$$, $$OH001 event_types contains 'order.**'$$),
  ($$'https://example.com', '{order.*.paid}'$$, $$OH001 event_types contains 'order.*.paid'$$),
  ($$'https://example.com', '{.*}'$$, $$OH001 event_types contains '.*'$$),
  ($$'https://example.com', '{ok,""}'$$, $$OH001 event_types contains ''$$),
  ($$'https://example.com', '{ok,NULL}'$$, 'OH001 event_types contains NULL'),
  ($$'https://example.com', p_headers => null$$, 'OH001 headers is not a JSON object'),
  ($$'https://example.com', p_headers => '[]'$$, 'OH001 headers is not a JSON object'),
  ($$'https://example.com', p_headers => '{"x-key": 5}'$$, 'OH001 headers.x-key is not a string'),
  ($$'https://example.com', p_headers => '{"x-key": null}'$$, 'OH001 headers.x-key is not a string'),
  ($$'https://example.com', p_headers => '{"x key": "a"}'$$, 'OH001 headers.x key has characters that HTTP does not allow'),
  ($$'https://example.com', p_headers => '{"": "a"}'$$, 'OH001 headers. has characters that HTTP does not allow'),
  ($$'https://example.com', p_headers => '{"Host": "a"}'$$, 'OH001 headers.Host is reserved'),
  ($$'https://example.com', p_headers => '{"Content-Length": "1"}'$$, 'OH001 headers.Content-Length is reserved'),
  ($$'https://example.com', p_headers => '{"webhook-id": "a"}'$$, 'OH001 headers.webhook-id is reserved'),
  ($$'https://example.com', p_headers => '{"X-Signature": "a"}'$$, 'OH001 headers.X-Signature is reserved'),
  ($$'https://example.com', p_headers => '{"x-key": ""}'$$, 'OH001 headers.x-key has an empty value, or characters that are not visible ASCII'),
  ($$'https://example.com', p_headers => '{"x-key": " a"}'$$, 'OH001 headers.x-key has an empty value, or characters that are not visible ASCII'),
  ($$'https://example.com', p_headers => '{"x-key": "a\r\nb: c"}'$$, 'OH001 headers.x-key has an empty value, or characters that are not visible ASCII'),
  ($$'https://example.com', p_headers => jsonb_build_object('x-key', repeat('a', 8192))$$, 'OH001 headers has more than 8192 bytes'),
  ($$'https://example.com', p_retry => '{"strategy": "never"}'$$, $$OH001 retry.strategy is 'never'$$);
select is(refusal('select outbox.create_endpoint(' || r.arguments || ')'), r.expected,
  'create_endpoint() refuses ' || left(r.arguments, 80))
from refused r;

select is(refusal('select outbox.create_endpoint(''https://example.com'', ' || c.argument || ')'), 'OH001 ' || c.message,
  'create_endpoint() refuses ' || c.argument)
from (values
  ('p_timeout_ms => 499', 'timeout_ms is 499'), ('p_timeout_ms => 60001', 'timeout_ms is 60001'),
  ('p_max_in_flight => 0', 'max_in_flight is 0'), ('p_max_in_flight => 1001', 'max_in_flight is 1001'),
  ('p_quantum => 0', 'quantum is 0'), ('p_quantum => 1001', 'quantum is 1001'), ('p_rate_per_second => 0', 'rate_per_second is 0'),
  ('p_ordering => ''some''', 'ordering is ''some'''), ('p_ordering => null', 'ordering is NULL'), ('p_payload => ''xml''', 'payload is ''xml''')
) c (argument, message);

select is_empty(
  'select id from outbox.endpoint union all select endpoint_id from outbox.gate
   union all select endpoint_id from outbox.subscription union all select endpoint_id from outbox.endpoint_secret
   union all select id from vault.secrets where name like ''outhook_endpoint%''',
  'create_endpoint() leaves nothing of what it refuses');

select is(refusal('select outbox.create_endpoint(' || c.arguments || ')'), 'accepted', 'create_endpoint() accepts ' || left(c.arguments, 80))
from (values
  ($$'https://example.com/' || repeat('a', 2028)$$),
  ($$'HTTPS://example.com:8443/a?b=c@d#e'$$),
  ($$'https://[2606:4700::1111]/hook'$$),
  ($$'https://example.com', null$$),
  ($$'https://example.com', '{*,order.*,order.paid,a-b_c.D.*}'$$),
  ($$'https://example.com', p_headers => '{"X-Api-Key": "a b~", "authorization": "Bearer x"}'$$),
  ($$'https://example.com', p_timeout_ms => 500, p_max_in_flight => 1, p_quantum => 1000, p_ordering => 'partition', p_payload => 'data'$$)
) c (arguments);
select outbox.set_setting('egress.allow_http', 'true'), outbox.set_setting('egress.allow_cidrs', '["127.0.0.0/8"]');
select is(refusal($$select outbox.create_endpoint('http://127.0.0.1:8080/hook')$$), 'accepted',
  'create_endpoint() accepts http where the setting egress.allow_http is on');

select * from finish();
rollback;
