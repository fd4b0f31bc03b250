-- What a Retry-After header asks for, in every form that one may have.
begin;
\ir ../../_helpers.sql
select plan(34);

select is(outbox.retry_after(c.header, '2026-03-01 12:00:00+00'), c.wait::interval,
  format('retry_after() of %s is %s', coalesce(quote_literal(c.header), 'no header'), coalesce(c.wait, 'nothing')))
from (values
  -- Seconds.
  ('120', '2 min'), ('1', '1 s'), (' 120 ', '2 min'), (E'\t7', '7 s'), ('007', '7 s'),
  -- A fraction of one, which receivers send though RFC 9110 knows whole seconds only.
  ('0.5', '500 ms'), ('1.25', '1.25 s'),
  -- One hour at most.
  ('3599', '59 min 59 s'), ('3600', '1 h'), ('3601', '1 h'), ('86400', '1 h'), ('999999999999', '1 h'), ('99999999999999999999', '1 h'), ('3600.5', '1 h'),
  -- An HTTP date.
  ('Sun, 01 Mar 2026 12:00:30 GMT', '30 s'), ('Sun, 01 Mar 2026 13:00:00 GMT', '1 h'), ('Mon, 02 Mar 2026 12:00:00 GMT', '1 h'),
  ('Fri, 31 Dec 9999 23:59:59 GMT', '1 h'),
  -- Past, or now.
  ('Sun, 01 Mar 2026 12:00:00 GMT', null), ('Sun, 01 Mar 2026 11:59:59 GMT', null), ('Thu, 01 Jan 1970 00:00:00 GMT', null),
  ('0', null), ('0.0', null),
  -- Unreadable.
  ('-1', null), ('+5', null), ('1e3', null), ('1,5', null), ('soon', null), ('', null), (null, null), ('60 s', null),
  ('Sat, 31 Feb 2026 12:00:00 GMT', null), ('Sun, 01 Mar 2026 25:00:00 GMT', null), ('2026-03-01T12:01:00Z', null)
) c (header, wait);

select * from finish();
rollback;
