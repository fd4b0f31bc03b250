-- Limits of an organisation: how many objects of a kind it may have, or how much it may use in a
-- day (UTC). The module that creates the objects inserts its settings limit.* and checks them when
-- it creates one, never when an event is published. What an organisation has above a limit stays.
--
-- Two sessions at a limit must not both pass. So a creation first takes the turn of its
-- organisation and limit, which it holds until its transaction ends, and counts after that. It is a
-- row and no advisory lock: with REPEATABLE READ, which would count in an old snapshot, the second
-- creation fails with a serialization failure.

create table outbox.limit_turn (
  org_id text not null,
  name text not null,
  turn bigint not null default 1,
  primary key (org_id, name)
) with (fillfactor = 50);
comment on table outbox.limit_turn is
  'One row for each organisation and limit, which each creation changes: the creations of an '
  'organisation wait for each other.';

create function outbox.take_limit_turn(p_org_id text, p_name text) returns void
language plpgsql set search_path = ''
as $$
begin
  insert into outbox.limit_turn as t (org_id, name) values (p_org_id, p_name)
  on conflict (org_id, name) do update set turn = t.turn + 1;
end
$$;
comment on function outbox.take_limit_turn(text, text) is
  'Waits until no other transaction creates something that this limit of the organisation counts. '
  'locks: the row of limit_turn, after the row of the endpoint that the caller may hold.';

create function outbox.check_limit(
  p_org_id text, p_name text, p_count bigint, p_owner text, p_things text, p_remedy text
) returns void
language plpgsql volatile set search_path = ''
as $$
declare
  v_most integer := outbox.org_setting_int(p_org_id, p_name);
begin
  if p_count > v_most then
    raise exception using errcode = 'OH010',
      message = pg_catalog.format('%s may have at most %s %s (%s)', p_owner, v_most, p_things,
        p_name),
      detail = p_name,
      hint = pg_catalog.format('%s, or ask the operator to raise the setting %s, for all '
        'organisations or for this one', p_remedy, p_name);
  end if;
end
$$;
comment on function outbox.check_limit(text, text, bigint, text, text, text) is
  'Raises OH010 if a count is above a limit of the organisation, a setting limit.*: message '
  '"<owner> may have at most <limit> <things> (<setting>)", detail: the setting, hint: the remedy. '
  'The caller has taken the turn, and p_count includes what it creates.';

create function outbox.day_of(p_now timestamptz) returns date
language sql immutable set search_path = ''
as $$
  select (p_now at time zone 'UTC')::date
$$;
comment on function outbox.day_of(timestamptz) is 'The day of a time, in UTC.';

create function outbox.day_end(p_now timestamptz) returns timestamptz
language sql immutable set search_path = ''
as $$
  select ((p_now at time zone 'UTC')::date + 1)::timestamp at time zone 'UTC'
$$;
comment on function outbox.day_end(timestamptz) is 'The end of the day of a time, in UTC.';

create function outbox.refuse_for_today(
  p_name text, p_problem text, p_now timestamptz
) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  raise exception using errcode = 'OH011',
    message = pg_catalog.format('%s (%s)', p_problem, p_name),
    detail = pg_catalog.ceil(extract(epoch from outbox.day_end(p_now) - p_now))::text,
    hint = pg_catalog.format('Wait until 00:00 UTC, or ask the operator to raise the setting %s, '
      'for all organisations or for this one', p_name);
end
$$;
comment on function outbox.refuse_for_today(text, text, timestamptz) is
  'Raises OH011 for a daily limit of an organisation: message "<problem> (<setting>)", detail: the '
  'seconds until the day ends in UTC, hint: the remedy.';
