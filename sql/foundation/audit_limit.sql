-- How many rows the tokens of an organisation may leave in the audit trail in a day (UTC). Each of
-- their writes leaves one that is kept for audit.retention_days: at 100 a second, 3,400 million
-- rows in a table that all share. At the limit a write is refused, and its change with it. Rows are
-- never merged and nothing of them is left out, or a token could hide what it did behind noise.
-- Whoever operates the project is not limited: secret keys, and SQL outside of a request.
--
-- Tokens of users have as many rows again for what stops or protects something, or a token that
-- writes much would keep others from replacing a secret that has leaked. Portal tokens do not: they
-- are in the browsers of customers, and one of them could use up these rows by pausing an endpoint
-- again and again. So the rows in which a user revokes it are always left.
--
-- A write waits for no other one. A counter in one row would be locked to the end of a transaction,
-- while that may wait for an endpoint that the other one has locked. So an organisation has as many
-- rows as its tokens have ever written at once, and a write takes one that nobody has locked. It
-- does not count the writes that are under way, so as many of them may exceed the limit. With
-- REPEATABLE READ, a write beside another may fail with a serialization failure.

insert into outbox.setting (name, value, type, lowest, highest, by_org, description) values
  ('limit.audit_rows_per_day', '10000', 'integer', 1, 10000000, true,
    'How many rows the tokens of an organisation may leave in the audit trail in a day (UTC); what '
    'stops or protects something is refused to tokens of users at twice as many; secret keys and '
    'SQL have no limit');

create table outbox.audit_count (
  org_id text not null,
  slot uuid not null default pg_catalog.gen_random_uuid(),
  day date not null,
  n integer not null,
  primary key (org_id, slot)
) with (fillfactor = 50);
comment on table outbox.audit_count is
  'How many rows the tokens of an organisation left in the audit trail on that day (UTC), added up '
  'over its slots: each of several writes at once has its own.';

create function outbox.add_to_free_count(p_org_id text, p_day date) returns boolean
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set lock_timeout = '20ms'
as $$
begin
  update outbox.audit_count c set
    day = p_day,
    n = 1 + case when c.day = p_day then c.n else 0 end
  where c.org_id = p_org_id and c.slot = (
    select o.slot from outbox.audit_count o
    -- The counts of a later day, after which the clock was set back, are still to be used.
    where o.org_id = p_org_id and o.day <= p_day
    limit 1 for no key update skip locked);
  return found;
exception when lock_not_available then
  return false;
end
$$;
comment on function outbox.add_to_free_count(text, date) is
  'Adds 1 to a row of audit_count of the organisation that nobody has locked; false if there is '
  'none, or after a wait of 20 ms, which SKIP LOCKED does not rule out (see the head of gate).';

create function outbox.count_action(p_org_id text, p_action text) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  -- Who calls, not a name in an argument: with another name a token would escape the limit.
  v_actor text := outbox.current_actor();
  v_now timestamptz;
  v_day date;
  v_most integer;
begin
  if p_org_id is null or v_actor !~ '^(user|portal|sql):'
    or coalesce(pg_catalog.current_setting('request.headers', true), '') = ''
  then
    return;
  end if;
  v_now := outbox.clock();
  v_day := outbox.day_of(v_now);
  v_most := outbox.org_setting_int(p_org_id, 'limit.audit_rows_per_day')
    * case
      when v_actor ~ '^user:' and p_action in ('PAUSED', 'DISABLED', 'DELETED', 'CANCELLED',
        'SECRET_ROTATED', 'SECRET_EXPIRED', 'REVOKED') then 2
      else 1
    end;
  if v_most <= (
    select pg_catalog.sum(c.n) from outbox.audit_count c
    where c.org_id = p_org_id and c.day = v_day)
  then
    perform outbox.refuse_for_today('limit.audit_rows_per_day',
      pg_catalog.format('the tokens of organisation %s may leave at most %s rows in the audit '
        'trail a day', p_org_id, v_most), v_now);
  end if;
  if not outbox.add_to_free_count(p_org_id, v_day) then
    insert into outbox.audit_count (org_id, day, n) values (p_org_id, v_day, 1);
  end if;
end
$$;
comment on function outbox.count_action(text, text) is
  'Counts a row that is about to be added to the audit trail, if current_actor() has a token: in a '
  'request, user:…, portal:… or sql:<role>. OH011: the tokens of the organisation have left all '
  'rows of this day; to tokens of users, what stops or protects something is refused at twice the '
  'limit. locks: a row of audit_count that nobody has locked, with SKIP LOCKED.';
