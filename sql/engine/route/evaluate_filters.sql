-- The filters of subscriptions, evaluated on the payloads of a batch. add_pairs() adds one
-- question for each pair of an event and an endpoint with filters. The payload is parsed once for
-- all filters of its event. The cost of filters is added up before they run, and the batch ends at
-- the limit of one call, or at the share of one organisation if others may be waiting (see turn).

create function outbox.read_payload(
  p_event_id uuid, out doc jsonb, out problem text
)
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_body text;
begin
  select e.body into v_body from outbox.event e where e.id = p_event_id;
  begin
    doc := v_body::jsonb;
  exception when others then
    if outbox.is_passing(sqlstate) then
      raise;
    end if;
    problem := 'filter: ' || sqlerrm;
  end;
end
$$;
comment on function outbox.read_payload(uuid) is
  'The payload of an event for its filters, or the reason why it cannot be read as jsonb.';

create function outbox.each_filter_once(p_question outbox.question) returns outbox.question
language plpgsql stable set search_path = ''
as $$
begin
  select pg_catalog.array_agg(f.filter), pg_catalog.array_agg(f.weight)
  into p_question.filters, p_question.weights
  from (
    select (pg_catalog.array_agg(q.filter))[1] as filter, pg_catalog.min(q.weight) as weight
    from unnest(p_question.filters, p_question.weights) as q (filter, weight)
    group by q.filter::text
  ) f;
  return p_question;
end
$$;
comment on function outbox.each_filter_once(outbox.question) is
  'A question without repeated filters: several patterns of an endpoint that match a type often '
  'have the same filter.';

create function outbox.passes_filters(p_question outbox.question, p_doc jsonb) returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  for v_n in 1 .. pg_catalog.cardinality(p_question.filters) loop
    if pg_catalog.jsonb_path_match(p_doc, p_question.filters[v_n], '{}', true) then
      return true;
    end if;
  end loop;
  return false;
end
$$;
comment on function outbox.passes_filters(outbox.question, jsonb) is
  'Whether a payload passes one of the filters of a question.';

create function outbox.filter_problem(
  p_question outbox.question, p_doc jsonb, p_steps bigint
) returns text
language plpgsql stable set search_path = ''
as $$
begin
  if p_steps > outbox.most_filter_steps() then
    return pg_catalog.format('filter: takes up to %s steps for this payload, and at most %s are '
      'allowed', p_steps, outbox.most_filter_steps());
  elsif outbox.passes_filters(p_question, p_doc) then
    return null;
  end if;
  return '';
exception when others then
  if outbox.is_passing(sqlstate) then
    raise;
  end if;
  return 'filter: ' || sqlerrm;
end
$$;
comment on function outbox.filter_problem(outbox.question, jsonb, bigint) is
  'The problem of a pair (see outbox.pair): null if the payload passes one of its filters. '
  'p_steps: the filter_steps(); above most_filter_steps() the filters are not evaluated.';

create function outbox.question_orgs(p_questions outbox.question[]) returns integer[]
language sql immutable set search_path = ''
as $$
  -- Numbers instead of a jsonb of sums: with 1,000 organisations that took 146 ms to build.
  select array(
    select pg_catalog.dense_rank() over (order by q.org_id)::integer
    from unnest(p_questions) with ordinality
      as q (event_id, endpoint_id, body_bytes, filters, weights, org_id, place)
    order by q.place)
$$;
comment on function outbox.question_orgs(outbox.question[]) is
  'A number from 1 for the organisation of each question, the same for questions of the same one.';

create function outbox.evaluate_filters(
  p_batch outbox.routing, p_most bigint, p_is_whole boolean
) returns outbox.routing
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
as $$
declare
  -- Reading takes a step for each 4 bytes. What runs once in a filter takes at most 100.
  v_bytes_of_step constant integer := 4;
  v_once constant integer := 100;
  v_steps bigint;
  v_question outbox.question;
  v_event uuid;
  v_doc jsonb;
  v_value_count bigint;
  v_unreadable text;
  v_work bigint := 0;
  v_sorting bigint := 0;
  v_problems text[] := array[]::text[];
  v_asked integer;
  v_cut integer;
  -- The number of each question's organisation; null if none waits for another.
  v_orgs integer[];
  -- The estimated work so far of the organisation of each number; null before its first question.
  v_shares bigint[];
  v_org integer;
  v_place integer := 0;
  v_share bigint;
  v_is_read boolean;
begin
  if p_batch.is_shared then
    -- A batch that will be cut at its pairs stays as it is: its last events have no pairs yet.
    if p_is_whole then
      p_batch := outbox.heavy_last(p_batch, p_most / 2);
    end if;
    v_orgs := outbox.question_orgs(p_batch.questions);
    v_shares := pg_catalog.array_fill(null::bigint, array[pg_catalog.cardinality(v_orgs)]);
  end if;
  foreach v_question in array p_batch.questions loop
    if v_orgs is not null then
      v_place := v_place + 1;
      v_org := v_orgs[v_place];
      v_share := coalesce(v_shares[v_org], 0)
        + outbox.estimated_work(v_question.body_bytes, v_question.weights);
      -- The first question of each organisation is always asked.
      exit when v_share > p_most / 2 and v_shares[v_org] is not null;
      v_shares[v_org] := v_share;
    end if;
    if v_event is distinct from v_question.event_id then
      v_work := v_work + v_question.body_bytes / v_bytes_of_step;
      v_sorting := v_sorting
        + coalesce(outbox.sorting_work(v_question.event_id, v_question.body_bytes), 0);
      exit when v_event is not null and (v_work > p_most or v_sorting > p_most);
      v_event := v_question.event_id;
      v_value_count := (
        select outbox.count_values(e.body) from outbox.event e where e.id = v_event);
      v_is_read := false;
    end if;
    if pg_catalog.cardinality(v_question.filters) > 1 then
      v_question := outbox.each_filter_once(v_question);
    end if;
    v_steps := outbox.filter_steps(v_question.weights, v_value_count);
    v_work := v_work + v_once * pg_catalog.cardinality(v_question.filters)
      + case when v_steps > outbox.most_filter_steps() then 0 else coalesce(v_steps, 0) end;
    exit when v_work > p_most and pg_catalog.cardinality(v_problems) > 0;
    -- A payload with too many values for its filters is not parsed: that takes 8 ms for 230 KB.
    if not v_is_read and coalesce(v_steps <= outbox.most_filter_steps(), true) then
      select r.doc, r.problem into v_doc, v_unreadable from outbox.read_payload(v_event) r;
      v_is_read := true;
    end if;
    v_problems := pg_catalog.array_append(v_problems, coalesce(
      case when v_is_read then v_unreadable end,
      outbox.filter_problem(v_question, v_doc, v_steps)));
  end loop;
  v_asked := pg_catalog.cardinality(v_problems);
  p_batch.pairs := array(
    select row(p.event_id, p.endpoint_id, case when a.asked then a.problem else p.problem end,
      p.deliver_at, p.key_hash, p.body_bytes, p.is_deleted)::outbox.pair
    from pg_catalog.unnest(p_batch.pairs) with ordinality as p (event_id, endpoint_id, problem,
      deliver_at, key_hash, body_bytes, is_deleted, place)
    left join (
      select q.event_id, q.endpoint_id, q.problem, true as asked
      from unnest(p_batch.questions[1:v_asked], v_problems)
        as q (event_id, endpoint_id, body_bytes, filters, weights, org_id, problem)
    ) a on a.event_id = p.event_id and a.endpoint_id = p.endpoint_id
    order by p.place);
  p_batch.questions := case
    when v_asked < pg_catalog.cardinality(p_batch.questions) then p_batch.questions[v_asked + 1:]
  end;
  if p_batch.questions is not null then
    v_question := p_batch.questions[1];
    v_cut := (
      select p.place from pg_catalog.unnest(p_batch.pairs) with ordinality as p (event_id,
        endpoint_id, problem, deliver_at, key_hash, body_bytes, is_deleted, place)
      where p.event_id = v_question.event_id and p.endpoint_id = v_question.endpoint_id);
    p_batch.pairs := p_batch.pairs[1:v_cut];
  end if;
  return p_batch;
end
$$;
comment on function outbox.evaluate_filters(outbox.routing, bigint, boolean) is
  'Evaluates the filters of a batch, pair by pair, up to the work limit of one call and for at '
  'least one pair, and returns the batch. If the limit is reached, the pairs end with the first '
  'one whose filters were not evaluated, and questions has the questions from that pair on. A '
  'payload that cannot be read, or has too many values for its filters, is a problem only of its '
  'own pairs. p_most: the limit in steps of at most 0.5 us; p_is_whole: the batch has the pairs of '
  'all its events.';
