-- What a worker says about itself. Each of its calls names its host and process, its version, and
-- how much it does, so that one query shows the workers of all hosts: operations/list_workers.

create function outbox.worker_facts(p_says jsonb) returns jsonb
language plpgsql immutable set search_path = ''
as $$
declare
  v_worker jsonb := p_says -> 'worker';
begin
  if pg_catalog.jsonb_typeof(v_worker) is distinct from 'object' then
    return null;
  end if;
  return pg_catalog.jsonb_build_object(
    'host', pg_catalog.left(v_worker ->> 'host', 200),
    'pid', pg_catalog.left(v_worker ->> 'pid', 20),
    'version', pg_catalog.left(v_worker ->> 'version', 50),
    'in_flight', outbox.count_said(v_worker ->> 'in_flight'),
    'delivered', outbox.count_said(v_worker ->> 'delivered'),
    'oldest', outbox.count_said(p_says ->> 'oldest'),
    'newest', outbox.count_said(p_says ->> 'newest'));
end
$$;
comment on function outbox.worker_facts(jsonb) is
  'What a worker says about itself in p_contract of dispatch(): {"host", "pid", "version", '
  '"in_flight": deliveries that it holds, "delivered": those of its last 60 s, "oldest", "newest": '
  'its contracts}; null if it says nothing. A member that cannot be read is null.';

create function outbox.count_said(p_text text) returns integer
language plpgsql immutable set search_path = ''
as $$
begin
  return case when p_text ~ '^[0-9]{1,9}$' then p_text::integer end;
end
$$;
comment on function outbox.count_said(text) is
  'A whole number that a run has said; null if it is none.';
