-- Which versions of the functions and of the schema work together. They are deployed one after the
-- other, so two versions work together during each upgrade. A contract is a numbered format of
-- dispatch()'s call and response. Each side supports a range of contracts: its own and the one
-- before. Each call of a run names its range, and both sides use the highest number in both ranges.
-- If there is none, the call claims nothing and says which side to update. It still records
-- results, because their requests were sent: no contract may change what record_refused() reads.
--
-- For a change that the other side cannot read, raise `newest` here and in
-- functions/_shared/contract/range.ts; both sides keep supporting the contract before it. A call
-- without a range comes from functions older than these ranges; their contract is 1.

create unlogged table outbox.contract_refusal (
  kind text primary key
    constraint contract_refusal_kind_is_known check (kind in ('edge', 'worker')),
  speaks jsonb not null,
  at timestamptz not null
);
comment on table outbox.contract_refusal is
  'The last run of each kind that was refused because it supports no contract of this database.';

-- Not immutable: Postgres would put the value into cached plans, and a session would use the old
-- value after a migration.
create function outbox.contracts() returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return '{"oldest": 1, "newest": 1}'::jsonb;
end
$$;
comment on function outbox.contracts() is
  'The contracts of dispatch() that this database supports: {"oldest", "newest"}.';

create function outbox.agreed_contract(p_speaks jsonb) returns integer
language plpgsql stable set search_path = ''
as $$
declare
  v_ours jsonb := outbox.contracts();
  v_oldest integer;
  v_newest integer;
begin
  if p_speaks is null then
    p_speaks := '{"oldest": 1, "newest": 1}';
  end if;
  if (p_speaks ->> 'oldest') ~ '^[1-9][0-9]{0,8}$' and (p_speaks ->> 'newest') ~ '^[1-9][0-9]{0,8}$'
  then
    v_oldest := greatest((p_speaks ->> 'oldest')::integer, (v_ours ->> 'oldest')::integer);
    v_newest := least((p_speaks ->> 'newest')::integer, (v_ours ->> 'newest')::integer);
    return case when v_oldest <= v_newest then v_newest end;
  end if;
  perform outbox.invalid('contract', 'is not an object with two whole numbers from 1',
    'Expected {"oldest": 1, "newest": 2}');
  return null;
end
$$;
comment on function outbox.agreed_contract(jsonb) is
  'The highest contract that this database and a run support; null if there is none. p_speaks: '
  '{"oldest", "newest"}; null means 1. OH001.';

create function outbox.contract_advice(p_speaks jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_ours jsonb := outbox.contracts();
  v_side text := case
    when coalesce((p_speaks ->> 'newest')::integer, 1) < (v_ours ->> 'oldest')::integer
    then 'functions' else 'database'
  end;
begin
  return pg_catalog.jsonb_build_object('update', v_side, 'message', pg_catalog.format(
    'The functions support contract %s and the database supports contract %s: %s',
    outbox.contract_text(p_speaks), outbox.contract_text(v_ours),
    case v_side
      when 'functions' then
        'update the functions: deploy them and restart workers from the version of the migrations'
      else 'update the database: push the migrations of the version of the functions'
    end));
end
$$;
comment on function outbox.contract_advice(jsonb) is
  'Which side to update if a run and this database have no common contract: {"update": '
  '"functions" or "database", "message"}.';

create function outbox.contract_text(p_range jsonb) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.concat_ws(' to ', coalesce(p_range ->> 'oldest', '1'),
    nullif(p_range ->> 'newest', p_range ->> 'oldest'));
end
$$;
comment on function outbox.contract_text(jsonb) is
  'A range of contracts in words: 2, or 2 to 3.';

create function outbox.refuse_contract(
  p_run uuid, p_speaks jsonb, p_kind text, p_applied integer, p_now timestamptz
) returns json
language plpgsql set search_path = ''
as $$
declare
  v_advice jsonb := outbox.contract_advice(p_speaks);
begin
  -- A row from the last second is new enough. Not updating it avoids waiting for its lock.
  if not exists (
    select from outbox.contract_refusal r
    where r.kind = p_kind and r.at between p_now - interval '1 s' and p_now
      and r.speaks = coalesce(p_speaks, '{}')
  ) then
    insert into outbox.contract_refusal (kind, speaks, at)
    values (p_kind, coalesce(p_speaks, '{}'), p_now)
    on conflict (kind) do update set speaks = excluded.speaks, at = excluded.at;
  end if;
  perform outbox.count_up('runs', array[p_kind, 'contract']);
  -- A migration may be applied during a run. Free the run's slot.
  update outbox.run r set ended_at = p_now
  where r.id = (
    select l.id from outbox.run l
    where l.id = p_run and l.ended_at is null for update skip locked);
  -- The members of contract 1 are included, so that older functions end their run by "stop" and log
  -- the message as an error of dispatch. "refused" is the same in every contract.
  return pg_catalog.json_build_object(
    'refused', v_advice, 'contracts', outbox.contracts(),
    'applied', p_applied, 'stale', 0, 'routed', 0, 'repeat', false, 'stop', 'contract',
    'settings', outbox.run_settings(),
    'error', pg_catalog.json_build_object('claim', v_advice ->> 'message'),
    'retries', null, 'renewed', null,
    'deliveries', '[]'::json, 'events', '{}'::json, 'endpoints', '{}'::json);
end
$$;
comment on function outbox.refuse_contract(uuid, jsonb, text, integer, timestamptz) is
  'The response of dispatch() to a run that supports no contract of this database: {"refused": '
  '{"update", "message"}, "contracts", "stop": "contract", "applied", …} without deliveries. Ends '
  'the run and records it for contract_problem().';

create function outbox.contract_problem(p_now timestamptz) returns text
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select pg_catalog.string_agg(
      pg_catalog.format('a run of kind %s was refused: %s', r.kind,
        outbox.contract_advice(r.speaks) ->> 'message'),
      '; ' order by r.kind)
    from outbox.contract_refusal r
    where r.at > p_now - interval '5 minutes'
      and outbox.agreed_contract(nullif(r.speaks, '{}')) is null);
end
$$;
comment on function outbox.contract_problem(timestamptz) is
  'Which side to update, if a run was refused for its contract in the last 5 minutes; null if none '
  'was.';
