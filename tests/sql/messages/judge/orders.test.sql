-- What becomes known of two attempts, in every order of up to five events, and of three in sampled orders of eight: the
-- message is what the events say, whatever their order. Of failed and delivered of one attempt the first one counts.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(5);

create temporary table made as select channel() as channel_id, template() as code;
create temporary table claim (answer jsonb);
create temporary sequence visited;

-- A message of which all attempts but the last got no response, and the last is under way.
create function under_way(p_to text, p_attempts integer) returns bigint language plpgsql as $$
declare
  v_id bigint := message_id(message(p_to));
begin
  for i in 2 .. p_attempts loop
    perform send('failed', '{"error_class": "timeout", "error": "No answer"}');
    perform time_passes('1 hour');
  end loop;
  insert into claim select step();
  return v_id;
end
$$;

-- One event: '1 sent', or the response of the last attempt: 'taken', 'refused' (to be retried) or 'dead'.
create function happens(p_id bigint, p_event text, p_last integer) returns void language plpgsql as $$
declare
  v_no text := split_part(p_event, ' ', 1);
  v_status text := split_part(p_event, ' ', 2);
  v_more jsonb := jsonb_build_object('callback_data', format('ob1:%s:%s', p_id, v_no));
  v_at integer := v_no::integer * 10 + array_position('{sent,delivered,read,failed}', v_status);
begin
  if v_status in ('taken', 'refused', 'dead') then
    perform step(0, results(answer, case v_status when 'taken' then 'delivered' else 'failed' end, case v_status
      when 'taken' then jsonb_build_object('status', 200, 'provider_id', 'wamid.' || p_last)
      when 'refused' then '{"status": 500, "code": "131016"}'
      else '{"status": 400, "code": "131051"}' end)) from claim;
  elsif v_status = 'failed' then
    perform receive(failure('wamid.' || v_no, '131049', v_at, v_more));
  else
    perform receive(status('wamid.' || v_no, v_status, v_at, v_more));
  end if;
end
$$;

-- The message that the events make, computed without their order, except that of failed and delivered of one attempt.
create function expected(p_events text[], p_last integer) returns text language plpgsql as $$
declare
  v_response text := (select split_part(e, ' ', 2) from unnest(p_events) e where e ~ 'taken|refused|dead');
  v_states text[] := '{}';
  v_state text;
  v_first text;
  v_status text;
begin
  for i in 1 .. p_last loop
    select case when split_part(e, ' ', 2) = 'failed' then 'failed' else 'arrived' end into v_first
    from unnest(p_events) with ordinality x (e, n) where e ~ format('^%s (delivered|read|failed)$', i) order by n limit 1;
    v_state := coalesce(v_first, case
      when format('%s sent', i) = any (p_events) or (i = p_last and v_response = 'taken') then 'accepted'
      when i < p_last or v_response is not null then 'refused'
      else 'open' end);
    v_states := v_states || v_state;
  end loop;
  v_status := case
    when 'arrived' = any (v_states) then 'DELIVERED' when 'accepted' = any (v_states) then 'SENT' when 'open' = any (v_states) then 'SENDING'
    when 'failed' = any (v_states) or v_response = 'dead' then 'FAILED' else 'QUEUED' end;
  return concat_ws(' ', v_status, case v_status
    -- The times grow with the number of the attempt.
    when 'DELIVERED' then 'wamid.' || array_position(v_states, 'arrived')
    when 'SENT' then 'wamid.' || p_last + 1 - array_position((select array_agg(s order by n desc) from unnest(v_states) with ordinality x (s, n)), 'accepted')
    when 'FAILED' then case when v_states[p_last] = 'failed' then '131049' when v_response = 'dead' then '131051' else '131016' end
    when 'QUEUED' then '131016' end);
end
$$;
create function found(p_id bigint) returns text language sql as $$
  select concat_ws(' ', m.status, case m.status when 'DELIVERED' then m.provider_message_id when 'SENT' then m.provider_message_id
    when 'FAILED' then m.error_code when 'QUEUED' then m.error_code end)
  from outbox.outbound_message m where m.id = p_id
$$;
-- What must hold beside: a retry waits only for a QUEUED message, no one's retry is lost, and a message that was sent has no dead letter.
create function loose_ends(p_id bigint) returns text language sql as $$
  select nullif(concat_ws(', ',
    case when (m.status = 'QUEUED') <> exists (select from outbox.delivery d where d.event_id = m.event_id and d.leased_until is null) then 'retry' end,
    case when m.status in ('SENT', 'DELIVERED') and exists (select from outbox.dead_letter x where x.event_id = m.event_id and x.discarded_at is null) then 'dead letter' end), '')
  from outbox.outbound_message m where m.id = p_id
$$;

create function walk(p_id bigint, p_done text[], p_left text[], p_depth integer) returns void language plpgsql as $$
declare
  v_event text;
  v_events text[];
begin
  if p_depth = 0 then
    return;
  end if;
  foreach v_event in array p_left loop
    v_events := p_done || v_event;
    begin
      perform happens(p_id, v_event, 2);
      perform nextval('visited');
      if found(p_id) <> expected(v_events, 2) or loose_ends(p_id) is not null then
        raise exception '% is % and not %; %', v_events, found(p_id), expected(v_events, 2), loose_ends(p_id);
      end if;
      perform walk(p_id, v_events, array_remove(p_left, v_event), p_depth - 1);
      raise exception using errcode = 'TE001';
    exception when sqlstate 'TE001' then
      null;
    end;
  end loop;
end
$$;
create temporary table m as select under_way('+12025550101', 2) as id;
select lives_ok(format('select walk(%s, ''{}'', %L, 5)', id, events), format('any order of up to five events is judged alike: %s', events))
from m, (values ('{1 sent,1 delivered,1 failed,2 taken,2 delivered}'), ('{1 sent,1 failed,2 refused,2 delivered,2 failed}'), ('{1 sent,1 delivered,1 failed,2 dead,2 failed}')) v (events);
select is((select last_value from visited), 3 * (5 + 20 + 60 + 120 + 120)::bigint, 'which were all orders of one to five events');

-- Longer ones of three attempts.
create function sample(p_count integer) returns text language plpgsql as $$
declare
  v_id bigint;
  v_events text[];
  v_wrong text;
begin
  for i in 1 .. p_count loop
    begin
      select array_agg(e order by random()) into v_events from (
        select e from unnest(array['1 sent', '1 delivered', '1 read', '1 failed', '2 sent', '2 delivered', '2 read', '2 failed', '3 sent', '3 delivered', '3 read', '3 failed']) e
        order by random() limit 7) x;
      select v_events[:k] || ('3 ' || (array['taken', 'refused', 'dead'])[1 + floor(random() * 3)]) || v_events[k + 1:] into v_events from (select floor(random() * 8)::integer as k) x;
      v_id := (select id from m3);
      for n in 1 .. 8 loop
        perform happens(v_id, v_events[n], 3);
        if found(v_id) <> expected(v_events[:n], 3) or loose_ends(v_id) is not null then
          v_wrong := format('%s is %s and not %s; %s', v_events[:n], found(v_id), expected(v_events[:n], 3), loose_ends(v_id));
          return v_wrong;
        end if;
      end loop;
      raise exception using errcode = 'TE001';
    exception when sqlstate 'TE001' then
      null;
    end;
  end loop;
  return null;
end
$$;
select happens(id, '2 dead', 2) from m;
delete from claim where true;
create temporary table m3 as select under_way('+12025550102', 3) as id;
select is(sample(60), null, 'sampled orders of eight events of three attempts are judged alike');

select * from finish();
rollback;
