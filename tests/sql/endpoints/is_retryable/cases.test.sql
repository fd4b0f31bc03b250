-- Which failures may pass by themselves.
begin;
\ir ../../_helpers.sql
select plan(36);

select is(outbox.is_retryable('webhook', c.status, 'status'), c.retryable,
  format('is_retryable() of %s is %s', coalesce(c.status::text, 'no status'), c.retryable))
from (values
  (null, true), (100, true), (200, true), (204, true), (301, true), (302, true), (304, true), (307, true), (308, true),
  (400, false), (401, false), (402, false), (403, false), (404, false), (405, false), (406, false), (409, false), (410, false),
  (408, true), (413, false), (415, false), (422, false), (425, true), (429, true), (451, false), (499, false),
  (500, true), (501, true), (502, true), (503, true), (504, true), (599, true)
) c (status, retryable);

select is(outbox.is_retryable('webhook', null, c.class), c.retryable, format('is_retryable() of the class %s is %s', c.class, c.retryable))
from (values ('timeout', true), ('dns', true), ('tls', true), ('blocked', false)) c (class, retryable);

select * from finish();
rollback;
