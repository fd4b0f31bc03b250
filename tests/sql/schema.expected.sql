-- Name: outbox; Type: SCHEMA; Schema: -; Owner: postgres

CREATE SCHEMA outbox;

ALTER SCHEMA outbox OWNER TO postgres;

-- Name: SCHEMA outbox; Type: COMMENT; Schema: -; Owner: postgres

COMMENT ON SCHEMA outbox IS 'Outhook: a transactional outbox that delivers events as webhooks, messages and broker records.';

-- Name: claimed; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.claimed AS (
	events uuid[],
	endpoints uuid[],
	attempts integer[],
	tries integer[],
	lanes bigint[],
	ordered boolean[],
	replayed boolean[],
	leases_ms integer[]
);

ALTER TYPE outbox.claimed OWNER TO postgres;

-- Name: TYPE claimed; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.claimed IS 'Claimed deliveries, as arrays of one length; leases_ms: what is left of each lease.';

-- Name: claimed_message; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.claimed_message AS (
	event_id uuid,
	attempt integer,
	wait_ms integer
);

ALTER TYPE outbox.claimed_message OWNER TO postgres;

-- Name: TYPE claimed_message; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.claimed_message IS 'A message that was claimed, and for how long it waits before it is sent.';

-- Name: delivery_key; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.delivery_key AS (
	event_id uuid,
	endpoint_id uuid
);

ALTER TYPE outbox.delivery_key OWNER TO postgres;

-- Name: TYPE delivery_key; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.delivery_key IS 'What names a delivery.';

-- Name: gain; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.gain AS (
	lane_at tid,
	gate_at tid,
	n bigint,
	first_at timestamp with time zone,
	last_at timestamp with time zone
);

ALTER TYPE outbox.gain OWNER TO postgres;

-- Name: TYPE gain; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.gain IS 'How many deliveries a lane has gained, due from when to when.';

-- Name: message_move; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.message_move AS (
	message_id bigint,
	was text,
	became text
);

ALTER TYPE outbox.message_move OWNER TO postgres;

-- Name: TYPE message_move; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.message_move IS 'A message whose status changed.';

-- Name: news; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.news AS (
	applied integer,
	dead_events uuid[],
	dead_endpoints uuid[],
	opened uuid[],
	closed uuid[],
	gone uuid[],
	failing uuid[]
);

ALTER TYPE outbox.news OWNER TO postgres;

-- Name: TYPE news; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.news IS 'What became of results beyond the deliveries: dead letters, breakers that opened or closed, endpoints that answered 410 or have failed for days.';

-- Name: pace; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.pace AS (
	rate_per_second double precision,
	rate_burst integer,
	max_in_flight integer
);

ALTER TYPE outbox.pace OWNER TO postgres;

-- Name: TYPE pace; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.pace IS 'How fast a channel may go, as its endpoint has it.';

-- Name: pair; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.pair AS (
	event_id uuid,
	endpoint_id uuid,
	problem text,
	deliver_at timestamp with time zone,
	key_hash bigint,
	body_bytes integer
);

ALTER TYPE outbox.pair OWNER TO postgres;

-- Name: TYPE pair; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.pair IS 'An event for an endpoint, with what its delivery needs of the event. problem: null when it is to be delivered, the empty string when it is not wanted, else why its filter could not be asked.';

-- Name: parcel; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.parcel AS (
	deliveries json,
	events json,
	endpoints json
);

ALTER TYPE outbox.parcel OWNER TO postgres;

-- Name: TYPE parcel; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.parcel IS 'What a run needs to send what it has claimed, as JSON text.';

-- Name: replay_step; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.replay_step AS (
	job_id bigint,
	event_id uuid,
	endpoint_id uuid,
	failed_at timestamp with time zone,
	letter_id uuid
);

ALTER TYPE outbox.replay_step OWNER TO postgres;

-- Name: TYPE replay_step; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.replay_step IS 'One dead letter that a replay job comes to.';

-- Name: result; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.result AS (
	event uuid,
	endpoint uuid,
	attempt integer,
	outcome text,
	status integer,
	error_class text,
	error text,
	code text,
	retry_after text,
	duration_ms integer,
	response text,
	lossy boolean,
	provider_id text,
	provider jsonb
);

ALTER TYPE outbox.result OWNER TO postgres;

-- Name: TYPE result; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.result IS 'What a run reports of one delivery: outcome is delivered, failed or released (given back unsent), or renew (its ordered lane takes longer). provider_id is what the provider calls the thing that it took, provider what else it said.';

-- Name: routing; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.routing AS (
	events uuid[],
	rows_at tid[],
	behind uuid[],
	pairs outbox.pair[],
	cut_event uuid,
	cut_endpoint uuid,
	watermark uuid,
	seen_below xid8,
	open_xids xid8[]
);

ALTER TYPE outbox.routing OWNER TO postgres;

-- Name: TYPE routing; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.routing IS 'One batch: the events that it finishes, in the order of their ids, each with the place of its unrouted row and the endpoint behind which it goes on; the pairs it delivers; the event that it leaves half done with the last endpoint done; and the state of router after it, a null watermark keeps the state.';

-- Name: status_change; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.status_change AS (
	update_id bigint,
	attempt_id bigint,
	message_id bigint,
	status text,
	rank integer,
	at timestamp with time zone,
	wamid text,
	code text,
	title text,
	details text,
	noted boolean,
	state text,
	reason text
);

ALTER TYPE outbox.status_change OWNER TO postgres;

-- Name: TYPE status_change; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.status_change IS 'One status and what comes of it. rank: 1 sent, 2 delivered, 3 read or played, 4 failed; noted: it adds to the facts of its try.';

-- Name: target; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.target AS (
	endpoint_id uuid,
	key_hash bigint,
	gate_id bigint,
	gate_at tid,
	lane_id bigint,
	lane_at tid,
	ordered boolean,
	due_from timestamp with time zone
);

ALTER TYPE outbox.target OWNER TO postgres;

-- Name: TYPE target; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.target IS 'The lane of a key of an endpoint, null when there is none yet, with the places of its row and its gate''s, and the time from which on what is new in it is due.';

-- Name: wish; Type: TYPE; Schema: outbox; Owner: postgres

CREATE TYPE outbox.wish AS (
	org_id text,
	recipient text,
	purpose text,
	lifted boolean,
	at timestamp with time zone,
	source text,
	evidence text,
	entity_type text,
	entity_id text
);

ALTER TYPE outbox.wish OWNER TO postgres;

-- Name: TYPE wish; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TYPE outbox.wish IS 'A person wants no messages of a purpose, or wants them again (lifted): said when and where, and what the audit trail files it under.';

-- Name: accept_once(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.accept_once(p_consumer text, p_event_id text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $_$
begin
  if p_consumer is null or p_consumer !~ '^[A-Za-z0-9_.:-]{1,64}$' then
    perform outbox.invalid('consumer',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(pg_catalog.left(p_consumer, 80))),
      'Expected 1 to 64 letters, digits, _ . : -, such as billing');
  end if;
  if coalesce(pg_catalog.length(p_event_id), 0) not between 1 and 255 then
    perform outbox.invalid('event_id', 'is not 1 to 255 characters long',
      'Expected the id that came with the event: the header webhook-id, or the message id');
  end if;
  insert into outbox.consumer_inbox (consumer, event_id, accepted_at)
  values (p_consumer, p_event_id, outbox.clock())
  on conflict do nothing;
  return found;
end
$_$;

ALTER FUNCTION outbox.accept_once(p_consumer text, p_event_id text) OWNER TO postgres;

-- Name: FUNCTION accept_once(p_consumer text, p_event_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.accept_once(p_consumer text, p_event_id text) IS 'True the first time that a consumer has this event, false ever after. Call it in the transaction that does the work: a second delivery waits for the first to end, and is accepted if that rolled back. Under REPEATABLE READ the second may get a serialization failure instead of false: repeat the transaction. OH001.';

-- Name: act_on_delivery(text, uuid, uuid, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.act_on_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_action text, p_reason text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  perform outbox.check_delivery(p_org_id, p_event_id, p_endpoint_id);
  case p_action
    when 'retry' then
      perform outbox.check_is_open(p_event_id, p_endpoint_id, 'replay sends it again');
      perform outbox.retry_now(p_event_id, p_endpoint_id);
    when 'replay' then
      perform outbox.replay(p_event_id, p_endpoint_id);
    when 'cancel' then
      perform outbox.check_is_open(p_event_id, p_endpoint_id, 'there is nothing to cancel');
      perform outbox.cancel_delivery(p_event_id, p_endpoint_id, p_reason);
    else
      perform outbox.check_choice('action', p_action, array['retry', 'replay', 'cancel']);
  end case;
  return outbox.delivery_json(p_event_id, p_endpoint_id);
end
$$;

ALTER FUNCTION outbox.act_on_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_action text, p_reason text) OWNER TO postgres;

-- Name: FUNCTION act_on_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_action text, p_reason text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.act_on_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_action text, p_reason text) IS 'Does retry (now), replay or cancel to a delivery and returns what it is then: delivery_json(). OH001; OH002; OH004: it is being sent, or finished.';

-- Name: add_deliveries(outbox.pair[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.add_deliveries(p_pairs outbox.pair[], p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_nestloop TO 'on'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_targets outbox.target[] := outbox.targets(p_pairs, p_now);
  v_gains outbox.gain[];
begin
  insert into outbox.lane (gate_id, ordered, key_hash)
  select t.gate_id, t.ordered, t.key_hash
  from pg_catalog.unnest(v_targets) t
  where t.lane_id is null;
  if found then
    v_targets := outbox.targets(p_pairs, p_now);
  end if;
  v_gains := outbox.insert_deliveries(p_pairs, v_targets);
  update outbox.lane l set
    depth = l.depth + b.n,
    changed_at = pg_catalog.date_trunc('second', p_now),
    head_at = case when l.ordered then l.head_at else least(l.head_at, b.first_at) end,
    tail_at = case when l.ordered then b.last_at else l.tail_at end,
    next_at = case
      when not l.ordered then least(l.next_at, b.first_at)
      when l.depth = 0 and not l.halted then greatest(p_now, l.not_before)
      else l.next_at
    end
  from pg_catalog.unnest(v_gains) b
  where l.ctid = b.lane_at;
  update outbox.gate g set
    depth = g.depth + b.n,
    changed_at = pg_catalog.date_trunc('second', p_now)
  from (
    select b.gate_at, pg_catalog.sum(b.n) as n from pg_catalog.unnest(v_gains) b group by b.gate_at
  ) b
  where g.ctid = b.gate_at;
  return (select coalesce(pg_catalog.sum(b.n), 0) from pg_catalog.unnest(v_gains) b);
end
$$;

ALTER FUNCTION outbox.add_deliveries(p_pairs outbox.pair[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION add_deliveries(p_pairs outbox.pair[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.add_deliveries(p_pairs outbox.pair[], p_now timestamp with time zone) IS 'Makes the deliveries of pairs that are not open yet, in the order given; returns how many. locks: the caller holds the gates.';

-- Name: add_gate(uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.add_gate(p_endpoint_id uuid, p_ordering text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_gate bigint;
begin
  insert into outbox.gate (endpoint_id) values (p_endpoint_id) returning id into v_gate;
  if p_ordering = 'none' then
    insert into outbox.lane (gate_id, ordered) values (v_gate, false);
  end if;
end
$$;

ALTER FUNCTION outbox.add_gate(p_endpoint_id uuid, p_ordering text) OWNER TO postgres;

-- Name: FUNCTION add_gate(p_endpoint_id uuid, p_ordering text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.add_gate(p_endpoint_id uuid, p_ordering text) IS 'The gate of a new endpoint, with the lane that an unordered one keeps for ever.';

-- Name: add_pairs(outbox.routing, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.add_pairs(p_batch outbox.routing, p_limit integer) RETURNS outbox.routing
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'on'
    SET enable_nestloop TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_nobody constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  v_first uuid := p_batch.events[1];
  v_last uuid := p_batch.events[pg_catalog.cardinality(p_batch.events)];
begin
  with read as materialized (
    select b.place, b.behind, e.*
    from unnest(p_batch.events, p_batch.behind) with ordinality as b (event_id, behind, place)
    join (
      select e.id, e.org_id, e.type, coalesce(e.endpoint_id, v_nobody) as addressee, e.created_at,
        e.deliver_at, e.partition_key, e.body, pg_catalog.octet_length(e.body) as body_bytes
      from outbox.event e
      -- The bounds choose the partitions.
      where e.id = any (p_batch.events) and e.id between v_first and v_last
      offset 0
    ) e on e.id = b.event_id
  ), kind as materialized (
    -- Events that the same endpoints may want, by the place of the first.
    select r.org_id, r.type, r.addressee, r.behind, pg_catalog.min(r.place) as id
    from read r
    group by r.org_id, r.type, r.addressee, r.behind
  ), wish as materialized (
    -- Since when an endpoint wants a kind unasked, and with which filters; no ordering when it was
    -- deleted. Wherever this limit cuts, the pairs of the first of each kind are p_limit already.
    select k.id as kind, s.*, p.ordering
    from (select k.* from kind k order by k.id) k
    cross join lateral (
      select k.addressee as endpoint_id, '-infinity'::timestamptz as since,
        null::jsonpath[] as filters, null::timestamptz[] as filters_since
      where k.addressee > k.behind
      union all
      (
        select s.endpoint_id, pg_catalog.min(s.created_at) filter (where s.filter is null),
          pg_catalog.array_agg(s.filter) filter (where s.filter is not null),
          pg_catalog.array_agg(s.created_at) filter (where s.filter is not null)
        from pg_catalog.unnest(outbox.type_patterns(k.type)) as q (pattern)
        cross join lateral (
          select s.endpoint_id, s.filter, s.created_at from outbox.subscription s
          where s.org_id = k.org_id and s.pattern = q.pattern offset 0
        ) s
        where k.addressee = v_nobody and s.endpoint_id > k.behind
        group by s.endpoint_id
        order by s.endpoint_id
        limit p_limit
      )
    ) s
    left join lateral (
      select p.ordering from outbox.endpoint p
      where p.id = s.endpoint_id and p.state <> 'deleted' offset 0
    ) p on true
    order by k.id, s.endpoint_id
    limit p_limit
  ), taken as (
    -- The events that come into the first p_limit pairs.
    select t.*
    from (
      select r.*, k.id as kind,
        pg_catalog.sum(n.n) over (order by r.place rows unbounded preceding) - n.n as before
      from read r
      join kind k on k.org_id = r.org_id and k.type = r.type and k.addressee = r.addressee
        and k.behind = r.behind
      join (
        select w.kind, pg_catalog.count(*)::integer as n from wish w group by w.kind
      ) n on n.kind = k.id
    ) t
    where t.before < p_limit
  )
  select pg_catalog.array_agg(
    row(
      c.id, c.endpoint_id,
      case
        when c.ordering is null then ''
        when c.since <= c.created_at then null
        when c.filters is null then ''
        else outbox.filter_problem(c.filters, c.filters_since, c.asked_body, c.created_at)
      end,
      c.deliver_at,
      -- A call of a function costs as much as a look-up, and most endpoints have one lane.
      case
        when c.ordering = 'partition' then outbox.key_hash(c.ordering, c.partition_key) else 0
      end,
      c.body_bytes
    )::outbox.pair)
  into p_batch.pairs
  from (
    select t.*, w.*, case when w.filters is not null then t.body end as asked_body
    from taken t
    join wish w on w.kind = t.kind
    order by t.place, w.endpoint_id
    limit p_limit
  ) c;
  return p_batch;
end
$$;

ALTER FUNCTION outbox.add_pairs(p_batch outbox.routing, p_limit integer) OWNER TO postgres;

-- Name: FUNCTION add_pairs(p_batch outbox.routing, p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.add_pairs(p_batch outbox.routing, p_limit integer) IS 'A batch with the pairs (event, endpoint) that its events make, in the order of its events: p_limit of them at most, those included that turn out not to be wanted.';

-- Name: add_partition(text, date); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.add_partition(p_table text, p_day date) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO ''
    SET lock_timeout TO '100ms'
    AS $$
declare
  v_name text := outbox.partition_name(p_table, p_day);
  v_from text := (p_day::timestamp at time zone 'UTC')::text;
  v_to text := ((p_day + 1)::timestamp at time zone 'UTC')::text;
  v_key text := 'at';
begin
  if pg_catalog.to_regclass('outbox.' || v_name) is not null then
    return false;
  end if;
  if p_table = 'event' then
    v_key := 'id';
    v_from := outbox.uuid_v7_floor(v_from::timestamptz)::text;
    v_to := outbox.uuid_v7_floor(v_to::timestamptz)::text;
  end if;
  -- Whoever has chosen DEFAULT for a row and then waits for it would be refused once the row's day
  -- has its partition. So of a day that rows are written for now they wait before they choose.
  if p_day <= (outbox.clock() at time zone 'UTC')::date + 1 then
    execute pg_catalog.format('lock table only outbox.%I in share row exclusive mode', p_table);
  end if;
  -- Attached after the rows of its day have left DEFAULT, or DEFAULT would contradict it.
  execute pg_catalog.format('lock table outbox.%I in share row exclusive mode',
    p_table || '_default');
  -- Another call may have made it while this one waited.
  if pg_catalog.to_regclass('outbox.' || v_name) is not null then
    return false;
  end if;
  execute pg_catalog.format('create table outbox.%I (like outbox.%I including all)', v_name,
    p_table);
  execute pg_catalog.format('alter table outbox.%I enable row level security', v_name);
  execute pg_catalog.format(
    'with moved as (delete from outbox.%I where %I >= %L and %I < %L returning *) '
    'insert into outbox.%I select * from moved',
    p_table || '_default', v_key, v_from, v_key, v_to, v_name);
  execute pg_catalog.format(
    'alter table outbox.%I attach partition outbox.%I for values from (%L) to (%L)', p_table,
    v_name, v_from, v_to);
  return true;
end
$$;

ALTER FUNCTION outbox.add_partition(p_table text, p_day date) OWNER TO postgres;

-- Name: FUNCTION add_partition(p_table text, p_day date); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.add_partition(p_table text, p_day date) IS 'Makes the partition of event or attempt for one day (UTC), with the rows of DEFAULT that belong there, unless it exists; true if it made it. Waits 100 ms for a lock at most.';

-- Name: add_partitions(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.add_partitions() RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_today date := (outbox.clock() at time zone 'UTC')::date;
  v_made integer := 0;
  v_late text[] := array[]::text[];
  v_table text;
  v_day date;
begin
  for v_table, v_day in
    select t.name, v_today + d.n
    from (values ('event'), ('attempt')) t (name), pg_catalog.generate_series(0, 7) as d (n)
    order by 2, 1
  loop
    -- Whoever held up one day holds up the next as well, and runs wait for what is locked so far.
    continue when v_table = any (v_late);
    begin
      v_made := v_made + outbox.add_partition(v_table, v_day)::integer;
    exception when lock_not_available then
      v_late := v_late || v_table;
    end;
  end loop;
  return pg_catalog.jsonb_build_object('made', v_made, 'late', v_late);
end
$$;

ALTER FUNCTION outbox.add_partitions() OWNER TO postgres;

-- Name: FUNCTION add_partitions(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.add_partitions() IS 'Makes the partitions of today and the next seven days that do not exist: {"made", "late": the tables that a lock held up until the next time}.';

-- Name: add_secret(uuid, text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.add_secret(p_endpoint_id uuid, p_secret text, p_now timestamp with time zone) RETURNS uuid
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_id uuid := pg_catalog.gen_random_uuid();
  v_is_key boolean := p_secret like 'whsk\_%';
  v_secret text := case
    when v_is_key then outbox.check_signing_key(p_secret)
    else outbox.check_secret(p_secret)
  end;
begin
  insert into outbox.endpoint_secret (id, endpoint_id, vault_id, scheme, public_key, created_at)
  values (v_id, p_endpoint_id,
          vault.create_secret(v_secret, 'outhook_endpoint_secret_' || v_id::text,
            'Signing secret of an Outhook endpoint'),
          case when v_is_key then 'v1a' else 'v1' end,
          case when v_is_key then 'whpk_' || pg_catalog.encode(
            pg_catalog.substr(pg_catalog.decode(pg_catalog.substr(v_secret, 6), 'base64'), 33),
            'base64') end,
          p_now);
  return v_id;
end
$$;

ALTER FUNCTION outbox.add_secret(p_endpoint_id uuid, p_secret text, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION add_secret(p_endpoint_id uuid, p_secret text, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.add_secret(p_endpoint_id uuid, p_secret text, p_now timestamp with time zone) IS 'Stores one more signing secret of an endpoint in Vault and returns the id of its row; whsk_ is one of scheme v1a, with its public key beside it.';

-- Name: adopt_message(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.adopt_message(p_callback_data text, p_wamid text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $_$
declare
  v_now timestamptz := outbox.clock();
  v_name text[] := pg_catalog.regexp_match(p_callback_data, '^ob1:([0-9]{1,18}):([0-9]{1,9})$');
  v_message outbox.outbound_message;
  v_attempt outbox.message_attempt;
  v_delivery outbox.delivery;
begin
  select * into v_message from outbox.outbound_message m where m.id = v_name[1]::bigint;
  if not found then
    return 'unknown';
  end if;
  perform outbox.lock_gates(array[v_message.channel_id]);
  select * into v_message from outbox.outbound_message m
  where m.id = v_message.id for update;
  select * into v_attempt from outbox.message_attempt a
  where a.message_id = v_message.id and a.attempt_no = v_name[2]::integer;
  if not found then
    return 'unknown';
  elsif v_attempt.wamid is not null then
    return case when v_attempt.wamid = p_wamid then 'known' else 'unknown' end;
  end if;
  perform outbox.mark_sent(v_message, v_attempt, p_wamid, null, v_now);
  select * into v_delivery from outbox.delivery d
  where d.event_id = v_attempt.event_id and d.endpoint_id = v_message.channel_id;
  -- A lease stands: its result ends the delivery, or the next claim finds the message sent.
  if found and v_delivery.leased_until is null then
    perform outbox.close_delivery(v_delivery, 'cancelled',
      pg_catalog.format('attempt %s was taken, though its answer was lost', v_attempt.attempt_no),
      v_now);
  end if;
  return 'adopted';
end
$_$;

ALTER FUNCTION outbox.adopt_message(p_callback_data text, p_wamid text) OWNER TO postgres;

-- Name: FUNCTION adopt_message(p_callback_data text, p_wamid text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.adopt_message(p_callback_data text, p_wamid text) IS 'Gives an attempt, named by its callback data, the id under which WhatsApp took it: the message is SENT and its pending retry is closed, so that a lost answer makes no second message. Returns adopted, known (it has that id already) or unknown. locks: the gate, then the message.';

-- Name: allowed_in_flight(integer, boolean, timestamp with time zone, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.allowed_in_flight(p_max integer, p_last_timed_out boolean, p_ramp_from timestamp with time zone, p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return case
    when p_last_timed_out then 1
    when p_ramp_from <= p_now - interval '10 s' then p_max
    else least(p_max,
      pg_catalog.ceil(greatest(1, p_max * extract(epoch from p_now - p_ramp_from) / 10)))::integer
  end;
end
$$;

ALTER FUNCTION outbox.allowed_in_flight(p_max integer, p_last_timed_out boolean, p_ramp_from timestamp with time zone, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION allowed_in_flight(p_max integer, p_last_timed_out boolean, p_ramp_from timestamp with time zone, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.allowed_in_flight(p_max integer, p_last_timed_out boolean, p_ramp_from timestamp with time zone, p_now timestamp with time zone) IS 'How many requests an endpoint may have in flight: one after a timeout until it succeeds; after a resume or a closed breaker a share that grows to max_in_flight within 10 s.';

-- Name: announce(text, uuid[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.announce(p_type text, p_endpoints uuid[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  perform outbox.put_news(p_type, array(
    select pg_catalog.json_build_object('endpointId', e.id, 'orgId', e.org_id, 'url', e.url,
      'state', e.state, 'reason', e.state_reason)::text
    from outbox.endpoint e
    where e.id = any (p_endpoints) and e.org_id <> 'outhook'), p_now);
end
$$;

ALTER FUNCTION outbox.announce(p_type text, p_endpoints uuid[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION announce(p_type text, p_endpoints uuid[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.announce(p_type text, p_endpoints uuid[], p_now timestamp with time zone) IS 'Publishes an operational event about each endpoint: outhook.breaker.opened, outhook.breaker.closed, outhook.endpoint.disabled.';

-- Name: announce_dead(uuid[], uuid[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.announce_dead(p_events uuid[], p_endpoints uuid[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  perform outbox.put_news('outhook.delivery.dead_lettered', array(
    select pg_catalog.json_build_object(
      'deadLetterId', x.id, 'eventId', x.event_id, 'endpointId', x.endpoint_id, 'orgId', x.org_id,
      'eventType', x.original_topic, 'error', x.error, 'retryCount', x.retry_count, 'why', x.why
    )::text
    from unnest(p_events, p_endpoints) as p (event_id, endpoint_id)
    cross join lateral (
      select x.* from outbox.dead_letter x
      where x.event_id = p.event_id and x.endpoint_id = p.endpoint_id offset 0
    ) x
    where x.org_id <> 'outhook'), p_now);
end
$$;

ALTER FUNCTION outbox.announce_dead(p_events uuid[], p_endpoints uuid[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION announce_dead(p_events uuid[], p_endpoints uuid[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.announce_dead(p_events uuid[], p_endpoints uuid[], p_now timestamp with time zone) IS 'Publishes outhook.delivery.dead_lettered for deliveries that just became dead letters.';

-- Name: answer(integer, integer, integer, boolean, text, outbox.claimed, jsonb, json, json, text, text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.answer(p_applied integer, p_stale integer, p_routed integer, p_repeat boolean, p_stop text, p_claimed outbox.claimed, p_known jsonb, p_retries json, p_renewed json, p_route_error text, p_claim_error text, p_now timestamp with time zone) RETURNS json
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_parcel outbox.parcel := case
    when p_claimed.events is null then row('[]', '{}', '{}')::outbox.parcel
    else outbox.batch(p_claimed, p_known, p_now)
  end;
begin
  return pg_catalog.json_build_object(
    'applied', p_applied, 'stale', p_stale, 'routed', p_routed, 'repeat', p_repeat,
    'stop', p_stop, 'settings', outbox.run_settings(),
    'error', case
      when p_route_error is not null or p_claim_error is not null then
        pg_catalog.json_strip_nulls(
          pg_catalog.json_build_object('route', p_route_error, 'claim', p_claim_error))
    end,
    'retries', p_retries, 'renewed', p_renewed, 'deliveries', v_parcel.deliveries,
    'events', v_parcel.events, 'endpoints', v_parcel.endpoints);
end
$$;

ALTER FUNCTION outbox.answer(p_applied integer, p_stale integer, p_routed integer, p_repeat boolean, p_stop text, p_claimed outbox.claimed, p_known jsonb, p_retries json, p_renewed json, p_route_error text, p_claim_error text, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION answer(p_applied integer, p_stale integer, p_routed integer, p_repeat boolean, p_stop text, p_claimed outbox.claimed, p_known jsonb, p_retries json, p_renewed json, p_route_error text, p_claim_error text, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.answer(p_applied integer, p_stale integer, p_routed integer, p_repeat boolean, p_stop text, p_claimed outbox.claimed, p_known jsonb, p_retries json, p_renewed json, p_route_error text, p_claim_error text, p_now timestamp with time zone) IS 'The answer of dispatch().';

-- Name: whatsapp_update; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.whatsapp_update (
    id bigint NOT NULL,
    app_id text NOT NULL,
    key text NOT NULL,
    kind text NOT NULL,
    field text,
    waba_id text,
    phone_number_id text,
    display text,
    wamid text,
    status text,
    callback_data text,
    wa_id text,
    user_id text,
    happened_at timestamp with time zone NOT NULL,
    data jsonb NOT NULL,
    received_at timestamp with time zone NOT NULL,
    org_id text,
    channel_id uuid,
    message_id bigint,
    attempt_id bigint,
    state text NOT NULL,
    reason text,
    look_at timestamp with time zone,
    looks integer DEFAULT 0 NOT NULL,
    CONSTRAINT whatsapp_update_kind_is_known CHECK ((kind = ANY (ARRAY['status'::text, 'message'::text, 'preference'::text, 'template'::text, 'account'::text, 'quality'::text, 'other'::text]))),
    CONSTRAINT whatsapp_update_state_is_known CHECK ((state = ANY (ARRAY['stored'::text, 'applied'::text, 'skipped'::text, 'kept'::text])))
);

ALTER TABLE outbox.whatsapp_update OWNER TO postgres;

-- Name: TABLE whatsapp_update; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.whatsapp_update IS 'Updates from Meta as they came (data), each once: of which app''s callbacks, for whom, and what came of it. stored: not applied yet; skipped: reason says why; kept: until a message has its id. happened_at is Meta''s time, or the time of its arrival where that is missing or absurd.';

-- Name: answered_message(outbox.whatsapp_update); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.answered_message(p_update outbox.whatsapp_update) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  return (
    select m.id
    from (
      select x.message_id from outbox.message_attempt x
      where x.phone_number_id = p_update.phone_number_id
        and x.wamid = coalesce(p_update.data #>> '{context,id}',
          p_update.data #>> '{reaction,message_id}')
      offset 0
    ) a
    cross join lateral (
      select o.id, o.org_id from outbox.outbound_message o where o.id = a.message_id offset 0
    ) m
    where m.org_id = p_update.org_id);
end
$$;

ALTER FUNCTION outbox.answered_message(p_update outbox.whatsapp_update) OWNER TO postgres;

-- Name: FUNCTION answered_message(p_update outbox.whatsapp_update); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.answered_message(p_update outbox.whatsapp_update) IS 'The message of ours that an inbound one answers or reacts to, if any.';

-- Name: whatsapp_app; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.whatsapp_app (
    app_id text NOT NULL,
    app_key text NOT NULL,
    secret_vault_id uuid,
    old_secret_vault_id uuid,
    old_secret_until timestamp with time zone,
    allow_unsigned boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT whatsapp_app_id_is_a_number CHECK ((app_id ~ '^[0-9]{1,32}$'::text)),
    CONSTRAINT whatsapp_app_key_is_plain CHECK ((app_key ~ '^[A-Za-z0-9_-]{16,64}$'::text))
);

ALTER TABLE outbox.whatsapp_app OWNER TO postgres;

-- Name: TABLE whatsapp_app; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.whatsapp_app IS 'Meta apps by Meta''s own id. The app secret is in Vault, and for a while the one before it; allow_unsigned takes callbacks without a signature.';

-- Name: app_secrets(outbox.whatsapp_app, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.app_secrets(p_app outbox.whatsapp_app, p_now timestamp with time zone) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return array(
    select s.decrypted_secret
    from pg_catalog.unnest(array[
      p_app.secret_vault_id,
      case when p_app.old_secret_until > p_now then p_app.old_secret_vault_id end
    ]) with ordinality as k (id, place)
    join vault.decrypted_secrets s on s.id = k.id
    order by k.place);
end
$$;

ALTER FUNCTION outbox.app_secrets(p_app outbox.whatsapp_app, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION app_secrets(p_app outbox.whatsapp_app, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.app_secrets(p_app outbox.whatsapp_app, p_now timestamp with time zone) IS 'The secrets of a Meta app that count, the newest first.';

-- Name: apply_callbacks(integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.apply_callbacks(p_limit integer DEFAULT 500) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_until timestamptz := pg_catalog.clock_timestamp() + interval '2 s';
  v_ids bigint[];
  v_id bigint;
begin
  v_ids := array(
    select u.id from outbox.whatsapp_update u
    where u.look_at <= v_now
    order by u.look_at limit p_limit
    for update skip locked);
  perform outbox.lift_expired_holds(v_now);
  if pg_catalog.cardinality(v_ids) = 0 then
    return 0;
  end if;
  -- A message may have its id since.
  update outbox.whatsapp_update u set message_id = a.message_id, attempt_id = a.id
  from pg_catalog.unnest(v_ids) i
  cross join lateral (
    select x.ctid as row_at, x.* from outbox.whatsapp_update x
    where x.id = i and x.kind = 'status' offset 0
  ) w
  cross join lateral outbox.find_attempt(w.org_id, w.phone_number_id, w.wamid, w.callback_data) a
  where u.ctid = w.row_at and a.id is not null;
  if not outbox.try_apply(v_ids, v_now) and pg_catalog.cardinality(v_ids) > 1 then
    foreach v_id in array v_ids loop
      -- Each may wait for somebody's lock: the tick has other things to do, and will be here again.
      exit when pg_catalog.clock_timestamp() > v_until;
      perform outbox.try_apply(array[v_id], v_now);
    end loop;
  end if;
  perform outbox.count_updates(v_ids);
  return pg_catalog.cardinality(v_ids);
end
$$;

ALTER FUNCTION outbox.apply_callbacks(p_limit integer) OWNER TO postgres;

-- Name: FUNCTION apply_callbacks(p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.apply_callbacks(p_limit integer) IS 'Looks again at up to p_limit updates that could not be applied or wait for their message; returns how many. When they cannot be applied together, each is by itself.';

-- Name: apply_delivered(outbox.result[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.apply_delivered(p_results outbox.result[], p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_applied integer;
  v_empty bigint[];
  v_events uuid[];
  v_endpoints uuid[];
  v_attempts integer[];
  v_bounds integer[] := outbox.attempt_bounds();
  v_ages bigint[] := outbox.latency_bounds();
  v_ms bigint := pg_catalog.floor(extract(epoch from p_now) * 1000);
  v_each boolean := outbox.setting_on('metrics.per_endpoint');
begin
  with gone as (
    -- By ctid: whoever could move the row waits for the gate. Of two results that say the same
    -- one deletes the row.
    delete from outbox.delivery d
    using pg_catalog.unnest(p_results) r
    cross join lateral (
      select o.ctid as row_at from outbox.delivery o
      where o.event_id = r.event and o.endpoint_id = r.endpoint and o.attempt = r.attempt
        and o.leased_until is not null offset 0
    ) o
    where d.ctid = o.row_at
    returning d.event_id, d.endpoint_id, d.attempt, d.lane_id, d.replayed_at, d.deliver_at,
      r.status, r.error_class, r.error, r.duration_ms, r.response, r.lossy
  ), receipt as (
    insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome,
      status, error_class, error, duration_ms, response, response_lossy)
    select g.event_id, g.endpoint_id, g.attempt, p_now, 'try', 'delivered',
      g.status, g.error_class, g.error, g.duration_ms, g.response, g.lossy
    from gone g
  ), tallied as (
    select t.*, e.kind
    from (
      select g.endpoint_id, coalesce(pg_catalog.left(g.error_class, 40), '') as error_class,
        coalesce(case when g.status = 429 then '429' else g.status / 100 || 'xx' end, '') as code,
        pg_catalog.width_bucket(g.duration_ms - 1, v_bounds) + 1 as took,
        pg_catalog.width_bucket(a.ms - 1, v_ages) + 1 as age,
        pg_catalog.count(*) as n, pg_catalog.sum(g.duration_ms) as ms,
        pg_catalog.sum(a.ms) as age_ms
      from gone g
      cross join lateral (
        -- Since it was due: from the time in the id, or that for which the publisher wished.
        select case
          when g.replayed_at is null then greatest(0, v_ms - greatest(
            pg_catalog.floor(extract(epoch from g.deliver_at) * 1000)::bigint,
            ('x' || pg_catalog.encode(
              pg_catalog.substr(pg_catalog.uuid_send(g.event_id), 1, 6), 'hex')
            )::bit(48)::bigint))
        end as ms offset 0
      ) a
      group by 1, 2, 3, 4, 5
    ) t
    cross join lateral (
      select e.kind from outbox.endpoint e where e.id = t.endpoint_id offset 0
    ) e
  ), counted as (
    insert into outbox.counter_change (metric, labels, n, total)
    select c.metric, c.labels, pg_catalog.sum(t.n), coalesce(pg_catalog.sum(c.total), 0)
    from tallied t
    cross join lateral (values
      ('attempts', array[t.kind, 'delivered', t.error_class, t.code], 0),
      ('attempt_ms', array[t.kind, 'delivered', t.took::text], t.ms),
      ('latency_ms', array[t.kind, t.age::text], t.age_ms),
      ('deliveries', array[t.kind, 'delivered'], 0),
      ('endpoint_attempts', case
        when v_each then array[t.endpoint_id::text, 'delivered', t.error_class]
      end, 0)
    ) c (metric, labels, total)
    where pg_catalog.array_position(c.labels, null) is null and c.labels is not null
    group by c.metric, c.labels
  ), by_lane as materialized (
    select g.lane_id, g.endpoint_id, pg_catalog.count(*)::integer as n
    from gone g
    group by g.lane_id, g.endpoint_id
  ), lanes as (
    update outbox.lane l set
      leased = l.leased - b.n,
      changed_at = pg_catalog.date_trunc('second', p_now),
      leased_until = case when l.leased > b.n then l.leased_until end,
      depth = l.depth - b.n,
      not_before = case when l.ordered then greatest(l.not_before, r.rested_at)
        else l.not_before end,
      next_at = case
        when l.depth = b.n then 'infinity'
        when not l.ordered or l.leased > b.n then l.next_at
        when l.halted then 'infinity'
        else greatest(l.not_before, r.rested_at, p_now)
      end
    from by_lane b
    cross join lateral (
      select o.ctid as lane_at from outbox.lane o
      where o.id = b.lane_id order by o.changed_at desc limit 1
    ) o
    cross join lateral (
      -- A lane with a spacing rests behind what was sent.
      select p_now + e.lane_spacing_ms * interval '1 ms' as rested_at
      from outbox.endpoint e where e.id = b.endpoint_id offset 0
    ) r
    where l.ctid = o.lane_at
    returning l.id, l.gate_id, b.n,
      -- An ordered lane is one request at a time, and free again with its last result.
      case when l.ordered then (l.leased = 0)::integer else b.n end as slots,
      l.ordered and l.leased = 0 and l.depth = 0 and not l.halted
        and coalesce(r.rested_at <= p_now, true) as empty
  ), gates as (
    update outbox.gate g set
      in_flight = g.in_flight - b.slots,
      changed_at = pg_catalog.date_trunc('second', p_now),
      depth = g.depth - b.n,
      last_timed_out = false,
      streak = 0,
      first_failure_at = null
    from (
      select l.gate_id, pg_catalog.sum(l.slots) as slots, pg_catalog.sum(l.n) as n
      from lanes l
      group by l.gate_id
    ) b
    cross join lateral (
      select o.ctid as gate_at from outbox.gate o
      where o.id = b.gate_id order by o.changed_at desc limit 1
    ) o
    where g.ctid = o.gate_at
  ), replays as (
    select g.event_id, g.endpoint_id, g.attempt from gone g where g.replayed_at is not null
  )
  select (select pg_catalog.count(*) from gone),
    (select pg_catalog.array_agg(l.id) from lanes l where l.empty),
    r.events, r.endpoints, r.attempts
  into v_applied, v_empty, v_events, v_endpoints, v_attempts
  from (
    select pg_catalog.array_agg(r.event_id) as events,
      pg_catalog.array_agg(r.endpoint_id) as endpoints, pg_catalog.array_agg(r.attempt) as attempts
    from replays r
  ) r;
  if v_empty is not null then
    delete from outbox.lane l where l.id = any (v_empty);
  end if;
  if v_events is not null then
    perform outbox.resolve_dead_letters(v_events, v_endpoints, v_attempts, p_now);
  end if;
  return v_applied;
end
$$;

ALTER FUNCTION outbox.apply_delivered(p_results outbox.result[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION apply_delivered(p_results outbox.result[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.apply_delivered(p_results outbox.result[], p_now timestamp with time zone) IS 'Applies results of endpoints that endpoints_to_judge() did not name, each to the delivery whose lease it holds, and returns how many applied: the delivery goes, its receipt stays, its lane and gate are free for the next. locks: the caller holds the gates.';

-- Name: apply_inbound(bigint[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.apply_inbound(p_ids bigint[], p_now timestamp with time zone) RETURNS outbox.wish[]
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_update outbox.whatsapp_update;
  v_wishes outbox.wish[] := array[]::outbox.wish[];
  v_more outbox.wish[];
  v_states text[] := array[]::text[];
  v_reasons text[] := array[]::text[];
  v_ids bigint[] := array[]::bigint[];
  v_reason text;
begin
  for v_update in
    select u.* from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    where u.kind in ('message', 'preference') and u.state = 'stored'
    -- Contacts are locked in this order, and each person's messages come as they were sent.
    order by u.org_id, u.wa_id, u.user_id, u.happened_at, u.wamid, u.id
  loop
    if v_update.kind = 'message' then
      select * into v_reason, v_more from outbox.take_inbound(v_update, p_now);
    else
      select * into v_reason, v_more from outbox.take_preference(v_update, p_now);
    end if;
    v_wishes := v_wishes || v_more;
    v_ids := v_ids || v_update.id;
    v_states := v_states || case when v_reason is null then 'applied' else 'skipped' end;
    v_reasons := v_reasons || v_reason;
  end loop;
  if pg_catalog.cardinality(v_ids) > 0 then
    perform outbox.settle_updates(v_ids, v_states, v_reasons, p_now);
    perform outbox.kick_on_commit();
  end if;
  return v_wishes;
end
$$;

ALTER FUNCTION outbox.apply_inbound(p_ids bigint[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION apply_inbound(p_ids bigint[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.apply_inbound(p_ids bigint[], p_now timestamp with time zone) IS 'Applies the messages and preferences among stored updates, and returns what people want. locks: contacts in the order of their ids at WhatsApp.';

-- Name: apply_kept(outbox.result[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.apply_kept(p_results outbox.result[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
  v_ids bigint[];
begin
  -- Nobody is waited for: who holds one of these is the sweep, which looks for the message itself.
  with met as materialized (
    select k.id, a.message_id, a.id as attempt_id
    from pg_catalog.unnest(p_results) r
    cross join lateral (
      select x.* from outbox.message_attempt x
      where x.event_id = r.event and x.claim = r.attempt offset 0
    ) a
    cross join lateral (
      select w.id, w.org_id from outbox.whatsapp_update w
      where w.look_at is not null and w.phone_number_id = a.phone_number_id
        and w.wamid = a.wamid and w.kind = 'status' offset 0
    ) k
    cross join lateral (
      select m.org_id from outbox.outbound_message m where m.id = a.message_id offset 0
    ) m
    where r.outcome = 'delivered' and r.provider_id is not null and m.org_id = k.org_id
  ), held as materialized (
    select m.*, u.row_at from met m
    cross join lateral (
      select w.ctid as row_at from outbox.whatsapp_update w
      where w.id = m.id for update skip locked
    ) u
  ), found as (
    update outbox.whatsapp_update u set message_id = h.message_id, attempt_id = h.attempt_id
    from held h
    where u.ctid = h.row_at
    returning u.id
  )
  select pg_catalog.array_agg(f.id order by f.id) into v_ids from found f;
  if v_ids is not null then
    perform outbox.try_apply(v_ids, p_now);
    perform outbox.count_updates(v_ids);
  end if;
end
$$;

ALTER FUNCTION outbox.apply_kept(p_results outbox.result[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION apply_kept(p_results outbox.result[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.apply_kept(p_results outbox.result[], p_now timestamp with time zone) IS 'Applies what callbacks have said of messages that just got their id. locks: updates with SKIP LOCKED; the caller holds the gates and the messages.';

-- Name: apply_notices(bigint[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.apply_notices(p_ids bigint[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_update outbox.whatsapp_update;
  v_reason text;
begin
  for v_update in
    select u.* from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    where u.kind in ('template', 'account', 'quality') and u.state = 'stored'
    order by u.waba_id, u.kind, u.happened_at, u.id
  loop
    v_reason := outbox.take_notice(v_update, p_now);
    perform outbox.settle_updates(array[v_update.id],
      array[case when v_reason is null then 'applied' else 'skipped' end], array[v_reason], p_now);
  end loop;
end
$$;

ALTER FUNCTION outbox.apply_notices(p_ids bigint[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION apply_notices(p_ids bigint[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.apply_notices(p_ids bigint[], p_now timestamp with time zone) IS 'Applies what stored updates say of templates, accounts and numbers. locks: endpoints, of which none that somebody else holds is waited for: then it is tried again.';

-- Name: apply_results(outbox.result[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.apply_results(p_results outbox.result[], p_now timestamp with time zone) RETURNS outbox.news
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_news outbox.news;
  v_empty bigint[];
  v_events uuid[];
  v_endpoints uuid[];
  v_attempts integer[];
  v_patience interval :=
    pg_catalog.make_interval(days => outbox.setting_int('endpoint.disable_after_days'));
  v_longest integer := outbox.setting_int('retry_after.max_s');
  v_bounds integer[] := outbox.attempt_bounds();
  v_ages bigint[] := outbox.latency_bounds();
  v_ms bigint := pg_catalog.floor(extract(epoch from p_now) * 1000);
  v_each boolean := outbox.setting_on('metrics.per_endpoint');
begin
  with given as materialized (
    select distinct on (u.event, u.endpoint, u.attempt) u.*
    from pg_catalog.unnest(p_results) with ordinality
      as u (event, endpoint, attempt, outcome, status, error_class, error, code, retry_after,
        duration_ms, response, lossy, provider_id, provider, place)
    where u.outcome in ('delivered', 'failed', 'released')
    order by u.event, u.endpoint, u.attempt, u.place
  ), weighed as materialized (
    -- What each result means: the delivery is gone (delivered, or dead), free again (released), or
    -- waits for its retry. tries counts this one. For the breaker: an answer ends the streak of
    -- failures; a lost lease, a redirect and a request to wait are neither.
    select d.row_at, d.event_id, d.endpoint_id, e.kind, d.attempt,
      d.tries + (r.outcome <> 'released' and v.harmless is not true)::integer as tries, v.waits,
      d.lane_id, d.deliver_at, d.replayed_at, l.lane_at, l.ordered, l.gate_id, l.head_at, l.leased,
      r.outcome, r.status, r.error_class, r.error, r.duration_ms, r.response, r.lossy, r.place,
      (f.rule).action, x.refused, v.dead, h.hint, h.counted, h.answered,
      (f.rule).scope = 'lane' as of_lane, e.lane_spacing_ms * interval '1 ms' as spacing,
      case
        when v.waits then p_now + outbox.delay_after(p.policy, 1)
        when v.harmless then p_now
        when r.outcome = 'failed' and not v.dead then p_now + greatest(
          outbox.delay_after(p.policy, d.tries + 1),
          (f.rule).min_delay_s * interval '1 s',
          h.hint)
      end as retry_at
    from given r
    cross join lateral (
      select d.ctid as row_at, d.* from outbox.delivery d
      where d.event_id = r.event and d.endpoint_id = r.endpoint and d.attempt = r.attempt
        and d.leased_until is not null offset 0
    ) d
    cross join lateral (
      select l.ctid as lane_at, l.* from outbox.lane l
      where l.id = d.lane_id order by l.changed_at desc limit 1
    ) l
    cross join lateral (select e.* from outbox.endpoint e where e.id = d.endpoint_id offset 0) e
    cross join lateral (select coalesce(e.retry, outbox.retry_preset(e.kind)) as policy) p
    -- offset 0 keeps the planner from asking for the rule of a success, and thrice for a failure's.
    cross join lateral (
      select case
        when r.outcome = 'failed'
        then outbox.softened(
          outbox.failure_rule_of(e.kind, r.status, r.error_class, r.code,
            r.provider ->> 'subcode'),
          r.provider)
      end as rule offset 0
    ) f
    -- Never null: without a status retry_4xx has no say.
    cross join lateral (
      select (f.rule).action in ('fail', 'fail_hold')
        and not (e.retry_4xx and coalesce(r.status between 400 and 499, false)) as refused
    ) x
    cross join lateral (
      select r.outcome = 'failed' and (f.rule).action not in ('hold', 'wait')
        and (x.refused or d.tries >= least((f.rule).max_retries,
          coalesce((p.policy ->> 'max_retries')::integer, 5))) as dead,
        -- A channel that is held has done the message no harm: it goes first when that ends.
        (f.rule).action = 'wait' or ((f.rule).action = 'hold' and e.kind = 'whatsapp')
          as harmless,
        coalesce((f.rule).action = 'wait', false) as waits
    ) v
    cross join lateral (
      select case
        when (f.rule).action = 'throttle' then greatest(
          outbox.retry_after(r.retry_after, p_now, v_longest),
          nullif((f.rule).min_delay_s, 0) * interval '1 s')
      end as hint
    ) w
    cross join lateral (
      select r.error_class is not distinct from 'broker' as answered
    ) b
    cross join lateral (
      select w.hint,
        r.outcome = 'failed' and w.hint is null
          and r.error_class is distinct from 'lease_expired'
          and case
            when v.waits then true
            when r.status is null then r.error_class is distinct from 'blocked'
              and not (b.answered and x.refused)
            else r.status in (408, 429) or r.status >= 500
          end as counted,
        r.outcome = 'delivered' or (
          r.outcome = 'failed' and (
            (r.status between 400 and 499 and r.status not in (408, 429))
            or (b.answered and x.refused))
        ) as answered
    ) h
  ), judged as materialized (
    -- Windows, where a join of the batch with its own sums would be quadratic in its gates.
    select w.*,
      pg_catalog.count(*) over (partition by w.gate_id, w.lane_id) as in_lane,
      pg_catalog.max(w.place) filter (where w.answered) over (partition by w.gate_id) as answered_at
    from weighed w
  ), tallied as materialized (
    -- For the counters: a batch has few different outcomes.
    select b.kind, b.outcome, coalesce(pg_catalog.left(b.error_class, 40), '') as error_class,
      coalesce(case when b.status = 429 then '429' else b.status / 100 || 'xx' end, '') as code,
      b.dead, b.refused, b.again, b.endpoint_id, b.took, b.n, b.ms,
      b.age, b.age_ms
    from (
      select j.kind, j.outcome, j.error_class, j.status, j.dead, j.refused,
        j.retry_at is not null as again,
        case when v_each then j.endpoint_id end as endpoint_id,
        pg_catalog.width_bucket(j.duration_ms - 1, v_bounds) + 1 as took,
        pg_catalog.width_bucket(a.ms - 1, v_ages) + 1 as age,
        pg_catalog.count(*) as n, pg_catalog.sum(j.duration_ms) as ms,
        pg_catalog.sum(a.ms) as age_ms
      from judged j
      cross join lateral (
        -- As in apply_delivered().
        select case
          when j.outcome = 'delivered' and j.replayed_at is null then greatest(0, v_ms - greatest(
            pg_catalog.floor(extract(epoch from j.deliver_at) * 1000)::bigint,
            ('x' || pg_catalog.encode(
              pg_catalog.substr(pg_catalog.uuid_send(j.event_id), 1, 6), 'hex')
            )::bit(48)::bigint))
        end as ms offset 0
      ) a
      where j.outcome <> 'released'
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    ) b
  ), counted as (
    insert into outbox.counter_change (metric, labels, n, total)
    select 'attempts', array[t.kind, t.outcome, t.error_class, t.code], pg_catalog.sum(t.n), 0
    from tallied t
    group by t.kind, t.outcome, t.error_class, t.code
    union all
    select 'attempt_ms', array[t.kind, t.outcome, t.took::text], pg_catalog.sum(t.n),
      pg_catalog.sum(t.ms)
    from tallied t
    where t.took is not null
    group by t.kind, t.outcome, t.took
    union all
    select 'latency_ms', array[t.kind, t.age::text], pg_catalog.sum(t.n),
      pg_catalog.sum(t.age_ms)
    from tallied t
    where t.age is not null
    group by t.kind, t.age
    union all
    select 'deliveries', array[t.kind, case when t.dead then 'dead_letter' else t.outcome end],
      pg_catalog.sum(t.n), 0
    from tallied t
    where t.dead or t.outcome = 'delivered'
    group by 2
    union all
    select 'dead_letters',
      array[t.kind, case when t.refused then 'not_retryable' else 'retries_exhausted' end],
      pg_catalog.sum(t.n), 0
    from tallied t
    where t.dead
    group by 2
    union all
    select 'retries', array[t.kind, t.error_class], pg_catalog.sum(t.n), 0
    from tallied t
    where t.again
    group by 2
    union all
    select 'endpoint_attempts', array[t.endpoint_id::text, t.outcome, t.error_class],
      pg_catalog.sum(t.n), 0
    from tallied t
    where t.endpoint_id is not null
    group by 2
  ), gone as (
    -- By ctid: whoever could move the row waits for the gate.
    delete from outbox.delivery d
    using judged j
    where d.ctid = j.row_at and (j.outcome = 'delivered' or j.dead)
  ), kept as (
    -- An ordered lane keeps its order: the lane waits for the retry, the row stays where it is.
    update outbox.delivery d set
      leased_until = null,
      tries = j.tries,
      due_at = case
        when j.retry_at is null or j.ordered then d.due_at
        else greatest(j.retry_at, j.head_at)
      end
    from judged j
    where d.ctid = j.row_at and j.outcome <> 'delivered' and not j.dead
  ), receipt as (
    insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome,
      status, error_class, error, duration_ms, response, response_lossy, next_retry_at)
    select j.event_id, j.endpoint_id, j.attempt, p_now, 'try', j.outcome,
      j.status, j.error_class, j.error, j.duration_ms, j.response, j.lossy, j.retry_at
    from judged j
    where j.outcome <> 'released'
    union all
    select j.event_id, j.endpoint_id, j.attempt, p_now, 'close', 'dead_letter',
      j.status, j.error_class, j.error, null, null, null, null
    from judged j
    where j.dead
  ), buried as (
    insert into outbox.dead_letter as x (
      id, event_id, endpoint_id,
      org_id, original_topic, original_message, partition_key, idempotency_key, traceparent,
      correlation_id, event_created_at,
      error, retry_count, failed_at, attempt, why)
    select
      outbox.uuid_v7(p_now), e.id, j.endpoint_id,
      e.org_id, e.type, e.body, e.partition_key, e.idempotency_key, e.traceparent,
      coalesce(e.correlation_id, e.id::text), e.created_at,
      coalesce(j.error, j.error_class, 'failed'), j.tries, p_now, j.attempt,
      case when j.refused then 'not_retryable' else 'retries_exhausted' end
    from judged j
    cross join lateral outbox.find_event(j.event_id, j.endpoint_id) e
    where j.dead
    on conflict (event_id, endpoint_id) do update set
      error = excluded.error, retry_count = excluded.retry_count, failed_at = excluded.failed_at,
      attempt = excluded.attempt, why = excluded.why,
      replayed_at = null, delivered_at = null, discarded_at = null, note = null
  ), by_lane as materialized (
    select j.lane_at, j.endpoint_id, j.ordered,
      pg_catalog.count(*)::integer as ended,
      pg_catalog.count(*) filter (where j.outcome = 'delivered' or j.dead)::integer as gone,
      pg_catalog.min(case when j.outcome = 'released' then p_now else j.retry_at end) as back_at,
      pg_catalog.max(j.retry_at) as retry_at,
      pg_catalog.bool_or(j.dead) as died,
      -- A lane with a spacing rests behind what was sent, and behind what may have been.
      p_now + pg_catalog.max(j.spacing) filter (where j.outcome <> 'released') as rested_at
    from judged j
    group by j.lane_at, j.endpoint_id, j.ordered
  ), lanes as (
    update outbox.lane l set
      leased = l.leased - b.ended,
      changed_at = pg_catalog.date_trunc('second', p_now),
      leased_until = case when l.leased > b.ended then l.leased_until end,
      depth = l.depth - b.gone,
      halted = l.halted or (b.ordered and b.died and e.on_dead_letter = 'halt'),
      not_before = case
        when b.ordered then greatest(coalesce(b.retry_at, l.not_before), b.rested_at)
        else l.not_before
      end,
      next_at = case
        when l.depth = b.gone then 'infinity'
        when not b.ordered then least(l.next_at, b.back_at)
        when l.leased > b.ended then l.next_at
        when l.halted or (b.died and e.on_dead_letter = 'halt') then 'infinity'
        else greatest(coalesce(b.retry_at, l.not_before), b.rested_at, p_now)
      end
    from by_lane b
    cross join lateral (
      select e.on_dead_letter from outbox.endpoint e where e.id = b.endpoint_id offset 0
    ) e
    where l.ctid = b.lane_at
    returning l.id,
      b.ordered and l.leased = 0 and l.depth = 0 and not l.halted
        and coalesce(b.rested_at <= p_now, true) as empty
  ), by_gate as materialized (
    select g.gate_at, j.endpoint_id,
      pg_catalog.bool_or(j.answered) as answered,
      pg_catalog.bool_or(j.outcome = 'delivered') as delivered,
      pg_catalog.bool_or(
        j.outcome = 'failed' and j.hint is null and j.error_class is distinct from 'lease_expired'
      ) as failed,
      pg_catalog.count(*) filter (
        where j.counted and j.place > coalesce(j.answered_at, 0)
      )::integer as failures,
      pg_catalog.count(*) filter (where j.outcome = 'delivered' or j.dead) as ended,
      -- An ordered lane is one request at a time, and free again with its last result.
      pg_catalog.count(*) filter (where not j.ordered)
        + pg_catalog.count(distinct j.lane_id) filter (where j.ordered and j.in_lane = j.leased)
        as slots,
      pg_catalog.max(j.hint) filter (where not j.of_lane) as hint,
      pg_catalog.bool_or(j.action in ('hold', 'fail_hold')) as gone,
      pg_catalog.bool_or(j.waits and j.place > coalesce(j.answered_at, 0)) as down,
      (
        pg_catalog.array_agg(
          j.outcome = 'failed' and j.error_class is not distinct from 'timeout'
          order by j.place desc)
        filter (where j.outcome <> 'released' and j.error_class is distinct from 'lease_expired')
      )[1] as timed_out,
      pg_catalog.max(case
        when j.event_id = g.probe_event and j.attempt = g.probe_attempt then
          case when j.answered then 'answered' when j.counted then 'failed' else 'void' end
      end) as probe
    from judged j
    cross join lateral (
      select g.ctid as gate_at, g.probe_event, g.probe_attempt
      from outbox.gate g
      where g.id = j.gate_id order by g.changed_at desc limit 1
    ) g
    group by g.gate_at, j.endpoint_id
  ), gates as (
    update outbox.gate g set
      in_flight = g.in_flight - b.slots,
      changed_at = pg_catalog.date_trunc('second', p_now),
      depth = g.depth - b.ended,
      last_timed_out = coalesce(b.timed_out, g.last_timed_out),
      not_before = greatest(g.not_before, p_now + b.hint),
      streak = n.streak,
      first_failure_at = case
        when b.delivered then null
        when b.failed then coalesce(g.first_failure_at, p_now)
        else g.first_failure_at
      end,
      breaker = n.breaker,
      open_until = case
        when n.breaker <> 'open' or (g.breaker = 'open' and b.probe is null) then g.open_until
        when b.probe = 'void' then p_now
        else p_now + e.breaker_open_ms * interval '1 ms'
      end,
      ramp_from = case
        when n.breaker = 'closed' and g.breaker <> 'closed' then p_now
        else g.ramp_from
      end,
      probe_event = case when n.breaker = 'half_open' then g.probe_event end,
      probe_attempt = case when n.breaker = 'half_open' then g.probe_attempt end
    from by_gate b
    cross join lateral (select e.* from outbox.endpoint e where e.id = b.endpoint_id offset 0) e
    cross join lateral (select o.* from outbox.gate o where o.ctid = b.gate_at offset 0) o
    cross join lateral (
      select
        case
          when o.breaker <> 'closed' and b.probe is distinct from 'answered'
          then o.streak + (b.probe is not distinct from 'failed')::integer
          when b.answered then b.failures
          else o.streak + b.failures
        end as streak
    ) s
    cross join lateral (
      select s.streak,
        case
          when b.probe = 'answered' then 'closed'
          when b.probe is not null then 'open'
          when o.breaker = 'closed' and e.breaker_enabled
            and (b.down or s.streak >= e.breaker_threshold)
          then 'open'
          else o.breaker
        end as breaker
    ) n
    where g.ctid = b.gate_at
    returning b.endpoint_id, b.gone,
      n.breaker = 'open' and o.breaker = 'closed' as opened,
      n.breaker = 'closed' and o.breaker <> 'closed' as closed,
      g.first_failure_at < p_now - v_patience and e.ramp_from < p_now - v_patience as failing
  )
  select (select pg_catalog.count(*) from judged),
    (select pg_catalog.array_agg(j.event_id order by j.event_id, j.endpoint_id)
     from judged j where j.dead),
    (select pg_catalog.array_agg(j.endpoint_id order by j.event_id, j.endpoint_id)
     from judged j where j.dead),
    (select pg_catalog.array_agg(g.endpoint_id) from gates g where g.opened),
    (select pg_catalog.array_agg(g.endpoint_id) from gates g where g.closed),
    (select pg_catalog.array_agg(g.endpoint_id) from gates g where g.gone),
    (select pg_catalog.array_agg(g.endpoint_id) from gates g where g.failing),
    (select pg_catalog.array_agg(l.id) from lanes l where l.empty),
    r.events, r.endpoints, r.attempts
  into v_news.applied, v_news.dead_events, v_news.dead_endpoints, v_news.opened, v_news.closed,
    v_news.gone, v_news.failing, v_empty, v_events, v_endpoints, v_attempts
  from (
    select pg_catalog.array_agg(j.event_id) as events,
      pg_catalog.array_agg(j.endpoint_id) as endpoints, pg_catalog.array_agg(j.attempt) as attempts
    from judged j
    where j.replayed_at is not null and j.outcome = 'delivered'
  ) r;
  if v_empty is not null then
    delete from outbox.lane l where l.id = any (v_empty);
  end if;
  if v_events is not null then
    perform outbox.resolve_dead_letters(v_events, v_endpoints, v_attempts, p_now);
  end if;
  return v_news;
end
$$;

ALTER FUNCTION outbox.apply_results(p_results outbox.result[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION apply_results(p_results outbox.result[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.apply_results(p_results outbox.result[], p_now timestamp with time zone) IS 'Applies results to the deliveries whose lease they hold, with their receipts, dead letters, lanes, gates and breakers, in one statement; results without a lease change nothing. locks: the caller holds the gates.';

-- Name: apply_statuses(bigint[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.apply_statuses(p_ids bigint[], p_now timestamp with time zone) RETURNS outbox.wish[]
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
  v_messages bigint[];
  v_gates uuid[];
  v_changes outbox.status_change[];
  v_moves outbox.message_move[];
begin
  v_messages := array(
    select distinct u.message_id
    from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    where u.kind = 'status' and u.state in ('stored', 'kept') and u.message_id is not null
    order by u.message_id);
  v_gates := array(
    select distinct m.channel_id
    from pg_catalog.unnest(v_messages) i
    cross join lateral (select x.* from outbox.outbound_message x where x.id = i offset 0) m
    where m.status = 'QUEUED');
  if pg_catalog.cardinality(v_gates) > 0 then
    perform outbox.lock_gates(v_gates);
  end if;
  perform from pg_catalog.unnest(v_messages) i
  cross join lateral (
    select from outbox.outbound_message m where m.id = i for no key update
  ) m;
  v_changes := outbox.judge_statuses(p_ids, v_gates);
  perform outbox.note_statuses(v_changes, p_now);
  v_moves := outbox.move_messages(array(
    select distinct c.message_id from pg_catalog.unnest(v_changes) c where c.noted
    order by c.message_id), p_now);
  perform outbox.tell_statuses(v_changes, v_moves, p_now);
  perform outbox.close_retries(v_moves, p_now);
  perform outbox.settle_updates(
    array(select c.update_id from pg_catalog.unnest(v_changes) c),
    array(select c.state from pg_catalog.unnest(v_changes) c),
    array(select c.reason from pg_catalog.unnest(v_changes) c), p_now);
  return outbox.heed_failures(v_changes, p_now);
end
$$;

ALTER FUNCTION outbox.apply_statuses(p_ids bigint[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION apply_statuses(p_ids bigint[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.apply_statuses(p_ids bigint[], p_now timestamp with time zone) IS 'Applies the statuses among stored updates, and returns what they say that people want. locks: the gates of messages that wait for a retry, by id, then messages by id.';

-- Name: apply_updates(bigint[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.apply_updates(p_ids bigint[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET lock_timeout TO '1s'
    AS $$
declare
  v_wishes outbox.wish[];
begin
  v_wishes := outbox.apply_statuses(p_ids, p_now);
  v_wishes := v_wishes || outbox.apply_inbound(p_ids, p_now);
  if pg_catalog.cardinality(v_wishes) > 0 then
    perform outbox.note_wishes(v_wishes, p_now);
  end if;
  perform outbox.apply_notices(p_ids, p_now);
  perform outbox.learn_numbers(p_ids);
end
$$;

ALTER FUNCTION outbox.apply_updates(p_ids bigint[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION apply_updates(p_ids bigint[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.apply_updates(p_ids bigint[], p_now timestamp with time zone) IS 'Applies stored updates of every kind and writes their verdicts. locks: gates by id, then messages by id, contacts, opt-outs by key.';

-- Name: attempt_bounds(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.attempt_bounds() RETURNS integer[]
    LANGUAGE sql IMMUTABLE
    SET search_path TO ''
    AS $$
  select array[5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 15000, 30000]
$$;

ALTER FUNCTION outbox.attempt_bounds() OWNER TO postgres;

-- Name: FUNCTION attempt_bounds(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.attempt_bounds() IS 'The upper bounds of the buckets of how long an attempt takes, in ms.';

-- Name: audit(text, text, text, text, text, text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.audit(p_org_id text, p_entity_type text, p_entity_id text, p_action text, p_details text, p_actor text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  insert into outbox.audit_event (
    org_id, entity_type, entity_id, action, details, actor, created_at)
  values (p_org_id, p_entity_type, p_entity_id, p_action, p_details, p_actor, p_now);
end
$$;

ALTER FUNCTION outbox.audit(p_org_id text, p_entity_type text, p_entity_id text, p_action text, p_details text, p_actor text, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION audit(p_org_id text, p_entity_type text, p_entity_id text, p_action text, p_details text, p_actor text, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.audit(p_org_id text, p_entity_type text, p_entity_id text, p_action text, p_details text, p_actor text, p_now timestamp with time zone) IS 'Writes one line of the audit trail.';

-- Name: outbound_message; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.outbound_message (
    id bigint NOT NULL,
    org_id text NOT NULL,
    dossier_id text,
    channel text NOT NULL,
    to_recipient text NOT NULL,
    template_code text,
    payload_json jsonb NOT NULL,
    status text DEFAULT 'QUEUED'::text NOT NULL,
    provider_message_id text,
    idempotency_key text NOT NULL,
    attempt_count integer DEFAULT 0 NOT NULL,
    max_attempts integer DEFAULT 6 NOT NULL,
    error_code text,
    error_message text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    channel_id uuid NOT NULL,
    event_id uuid NOT NULL,
    content bytea NOT NULL,
    category text NOT NULL,
    wa_id text,
    created_by text,
    sent_at timestamp with time zone,
    delivered_at timestamp with time zone,
    read_at timestamp with time zone,
    erased_at timestamp with time zone,
    CONSTRAINT outbound_message_category_is_known CHECK ((category = ANY (ARRAY['MARKETING'::text, 'UTILITY'::text, 'AUTHENTICATION'::text, 'SERVICE'::text]))),
    CONSTRAINT outbound_message_channel_is_known CHECK ((channel = 'WHATSAPP'::text)),
    CONSTRAINT outbound_message_status_is_known CHECK ((status = ANY (ARRAY['QUEUED'::text, 'SENDING'::text, 'SENT'::text, 'DELIVERED'::text, 'FAILED'::text, 'CANCELLED'::text])))
);

ALTER TABLE outbox.outbound_message OWNER TO postgres;

-- Name: TABLE outbound_message; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.outbound_message IS 'Messages and what became of them. channel_id is the endpoint that sends it, event_id the event of its present life (a resend begins a new one), content the hash that makes two creations with one key the same; category is the template''s, or SERVICE without one; erased_at: payload, number and ids are gone.';

-- Name: audit_refusal(outbox.outbound_message, text, text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.audit_refusal(p_message outbox.outbound_message, p_code text, p_actor text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  perform outbox.audit(p_message.org_id,
    case when p_message.dossier_id is null then 'CHANNEL' else 'DOSSIER' end,
    coalesce(p_message.dossier_id, p_message.channel_id::text),
    'BLOCKED_BY_POLICY', outbox.refusal_words(p_code), p_actor, p_now);
  perform outbox.count_up('messages_blocked', array[p_code]);
end
$$;

ALTER FUNCTION outbox.audit_refusal(p_message outbox.outbound_message, p_code text, p_actor text, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION audit_refusal(p_message outbox.outbound_message, p_code text, p_actor text, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.audit_refusal(p_message outbox.outbound_message, p_code text, p_actor text, p_now timestamp with time zone) IS 'Writes into the audit trail that a message was blocked.';

-- Name: authority_problem(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.authority_problem(p_url text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $_$
declare
  v_authority text := (pg_catalog.regexp_match(p_url, '^https?://([^/?#]*)', 'i'))[1];
  v_parts text[] := pg_catalog.regexp_match(v_authority, '^(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$');
  v_port text := nullif(v_parts[2], '');
  v_default text := case when p_url ~* '^https' then '443' else '80' end;
begin
  if v_parts is null or pg_catalog.length(v_port) > 5 then
    return 'has a port that is no number from 1 to 65535';
  end if;
  return coalesce(
    outbox.host_problem(v_parts[1]),
    case
      when not outbox.port_allowed(coalesce(v_port, v_default)::integer)
      then 'has a port that is not allowed'
    end);
end
$_$;

ALTER FUNCTION outbox.authority_problem(p_url text) OWNER TO postgres;

-- Name: FUNCTION authority_problem(p_url text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.authority_problem(p_url text) IS 'What is wrong with the host or the port of a URL, as the end of a sentence; null when it is right.';

-- Name: batch(outbox.claimed, jsonb, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.batch(p_claimed outbox.claimed, p_known jsonb, p_now timestamp with time zone) RETURNS outbox.parcel
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_parcel outbox.parcel;
  v_dropped outbox.event[];
begin
  -- json, which is text already, and of whole rows: json_build_object looks up the type of each of
  -- its arguments anew: 5.6 us a delivery where a row takes 2.6, and 18 us an event, now 14.
  v_parcel.deliveries := (
    select coalesce(pg_catalog.json_agg(d), '[]')
    from (
      select c.event_id as event, c.endpoint_id as endpoint, c.attempt, c.tries,
        c.lane_id::text as lane, c.ordered, c.lease_ms
      from unnest(p_claimed.events, p_claimed.endpoints, p_claimed.attempts, p_claimed.tries,
        p_claimed.lanes, p_claimed.ordered, p_claimed.leases_ms) with ordinality
        as c (event_id, endpoint_id, attempt, tries, lane_id, ordered, lease_ms, place)
      order by c.place
    ) d);
  -- Only a replay outlives its event.
  if true = any (p_claimed.replayed) then
    v_dropped := outbox.dropped_events(p_claimed);
  end if;
  v_parcel.events := (
    select coalesce(pg_catalog.json_object_agg(e.id, x), '{}')
    from (
      select v.id, v.type, v.org_id, v.correlation_id, v.idempotency_key, v.traceparent,
        v.partition_key, v.body
      from (select distinct u.id from pg_catalog.unnest(p_claimed.events) as u (id)) c
      cross join lateral (select v.* from outbox.event v where v.id = c.id offset 0) v
      union all
      select v.id, v.type, v.org_id, v.correlation_id, v.idempotency_key, v.traceparent,
        v.partition_key, v.body
      from pg_catalog.unnest(v_dropped) v
    ) e
    cross join lateral (
      select e.type, e.org_id, coalesce(e.correlation_id, e.id::text) as correlation_id,
        coalesce(e.idempotency_key, e.id::text) as idempotency_key, e.traceparent, e.partition_key,
        e.body
    ) x);
  v_parcel.endpoints := (
    select coalesce(pg_catalog.json_object_agg(e.id, x), '{}')
    from (select distinct u.id from pg_catalog.unnest(p_claimed.endpoints) as u (id)) c
    cross join lateral (
      select e.*, e.xmin::text as revision from outbox.endpoint e where e.id = c.id offset 0
    ) e
    cross join lateral (
      select e.revision, e.version, e.kind, e.url, e.timeout_ms, e.payload,
        case
          when e.headers_vault_id is null then '{}'
          else outbox.stored_headers(e.headers_vault_id)
        end as headers,
        outbox.live_secrets(e.id, p_now) as secrets,
        case
          when e.credentials_vault_id is not null
          then outbox.stored_credentials(e.credentials_vault_id)
        end as credentials,
        e.broker
    ) x
    -- To read a secret takes 30 us. A channel's token is replaced without its endpoint. And a
    -- secret that runs out changes no row: whoever was told of it, at most 30 s ago, is told anew.
    where p_known ->> e.id::text is distinct from e.revision or e.kind = 'whatsapp'
      or exists (
        select from outbox.endpoint_secret s
        where s.endpoint_id = e.id and s.expires_at > p_now - interval '1 minute'));
  if exists (select from outbox.whatsapp_channel) then
    v_parcel := outbox.with_messages(v_parcel, p_claimed);
  end if;
  return v_parcel;
end
$$;

ALTER FUNCTION outbox.batch(p_claimed outbox.claimed, p_known jsonb, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION batch(p_claimed outbox.claimed, p_known jsonb, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.batch(p_claimed outbox.claimed, p_known jsonb, p_now timestamp with time zone) IS 'What a run needs to send claimed deliveries: deliveries […], events {id: …}, endpoints {id: …}; each event and endpoint once, without the endpoints that p_known has with their present revision.';

-- Name: begin_attempt(outbox.outbound_message, text, uuid, integer, integer, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.begin_attempt(p_message outbox.outbound_message, p_phone_number_id text, p_event_id uuid, p_claim integer, p_count integer, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  insert into outbox.message_attempt (
    message_id, attempt_no, status, created_at, updated_at, event_id, claim, phone_number_id)
  select p_message.id, coalesce(pg_catalog.max(a.attempt_no), 0) + 1, 'TRYING', p_now, p_now,
    p_event_id, p_claim, p_phone_number_id
  from outbox.message_attempt a where a.message_id = p_message.id;
  if p_message.status = 'FAILED' then
    p_message.status := 'QUEUED';
    p_message.provider_message_id := null;
    perform outbox.save_message(p_message, p_now);
    perform outbox.audit(p_message.org_id, 'OUTBOUND_MESSAGE', p_message.id::text, 'UPDATED',
      'Sent again by a replay', null, p_now);
  end if;
  p_message.status := 'SENDING';
  p_message.attempt_count := p_count;
  perform outbox.save_message(p_message, p_now);
end
$$;

ALTER FUNCTION outbox.begin_attempt(p_message outbox.outbound_message, p_phone_number_id text, p_event_id uuid, p_claim integer, p_count integer, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION begin_attempt(p_message outbox.outbound_message, p_phone_number_id text, p_event_id uuid, p_claim integer, p_count integer, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.begin_attempt(p_message outbox.outbound_message, p_phone_number_id text, p_event_id uuid, p_claim integer, p_count integer, p_now timestamp with time zone) IS 'Makes a message SENDING, with its attempt TRYING. locks: the caller holds the message.';

-- Name: begin_request(text, text, text, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.begin_request(p_org_id text, p_route text, p_key text, p_request jsonb) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $_$
declare
  v_now timestamptz := outbox.clock();
  v_content bytea := pg_catalog.sha256(pg_catalog.convert_to(p_request::text, 'UTF8'));
  v_held outbox.request_key;
begin
  if p_key is null then
    return null;
  end if;
  if p_key !~ '^[\x21-\x7e]{1,128}$' then
    perform outbox.invalid('Idempotency-Key', 'is not 1 to 128 visible ASCII characters',
      'Use one random key for each thing to make, such as a UUID');
  end if;
  -- A request that has not committed makes the next one with its key wait, and no other.
  insert into outbox.request_key as k (org_id, key, route, content, created_at)
  values (p_org_id, p_key, p_route, v_content, v_now)
  on conflict (org_id, key) do update
    set route = excluded.route, content = excluded.content, answer = null,
      created_at = excluded.created_at
    where k.created_at <= excluded.created_at - outbox.key_window();
  if found then
    return null;
  end if;
  select * into v_held from outbox.request_key k where k.org_id = p_org_id and k.key = p_key;
  if v_held.route <> p_route or v_held.content <> v_content then
    raise exception using errcode = 'OH003',
      message = pg_catalog.format(
        'Idempotency-Key was used within %s hours for another request',
        outbox.setting_int('idempotency.window_hours')),
      hint = 'Use a new key for a new request, or send the same body as the first time';
  end if;
  return v_held.answer;
end
$_$;

ALTER FUNCTION outbox.begin_request(p_org_id text, p_route text, p_key text, p_request jsonb) OWNER TO postgres;

-- Name: FUNCTION begin_request(p_org_id text, p_route text, p_key text, p_request jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.begin_request(p_org_id text, p_route text, p_key text, p_request jsonb) IS 'Takes an Idempotency-Key for a request that makes something and returns null, or returns what the request with this key was answered. To be called first in the transaction that makes it; without a key null. OH001; OH003: the key has another route or body.';

-- Name: begin_saga(text, jsonb, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.begin_saga(p_name text, p_context jsonb, p_org_id text, p_idempotency_key text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $_$
declare
  v_now timestamptz := outbox.clock();
  v_steps jsonb;
  v_content bytea;
  v_held outbox.saga_key;
begin
  perform outbox.check_org(p_org_id);
  if p_idempotency_key !~ '^[\x21-\x7e]{1,255}$' then
    perform outbox.invalid('idempotency_key', 'is not 1 to 255 visible ASCII characters',
      'Use an id without spaces');
  end if;
  if pg_catalog.jsonb_typeof(p_context) is distinct from 'object' then
    perform outbox.invalid('context', 'is not a JSON object', 'Expected something like {"id": 1}');
  end if;
  select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
    'function', s.function, 'event_type', s.event_type) order by s.position)
  into v_steps
  from outbox.saga_step s
  where s.saga = p_name;
  if v_steps is null then
    perform outbox.no_saga(p_name);
  end if;
  if p_idempotency_key is not null then
    v_content := pg_catalog.sha256(pg_catalog.convert_to(
      pg_catalog.jsonb_build_array(p_name, p_context)::text, 'UTF8'));
    insert into outbox.saga_key as k (org_id, key, saga, content, created_at)
    values (p_org_id, p_idempotency_key, p_name, v_content, v_now)
    on conflict (org_id, key) do update
      set saga = excluded.saga, content = excluded.content, result = null,
        created_at = excluded.created_at
      where k.created_at <= excluded.created_at - outbox.key_window();
    if not found then
      select * into v_held from outbox.saga_key k
      where k.org_id = p_org_id and k.key = p_idempotency_key;
      if v_held.content <> v_content then
        raise exception using errcode = 'OH003',
          message = pg_catalog.format(
            'idempotency_key was used within %s hours for another saga or context',
            outbox.setting_int('idempotency.window_hours')),
          hint = 'Use a new key for a new execution, or the same name and context';
      end if;
      return v_held.result || '{"repeated": true}'::jsonb;
    end if;
  end if;
  return pg_catalog.jsonb_build_object('id', outbox.uuid_v7(v_now), 'steps', v_steps);
end
$_$;

ALTER FUNCTION outbox.begin_saga(p_name text, p_context jsonb, p_org_id text, p_idempotency_key text) OWNER TO postgres;

-- Name: FUNCTION begin_saga(p_name text, p_context jsonb, p_org_id text, p_idempotency_key text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.begin_saga(p_name text, p_context jsonb, p_org_id text, p_idempotency_key text) IS 'Part of execute_saga(): checks its arguments and takes the key. {"id", "steps": [{"function", "event_type"}]}, or the result of the execution that has the key, with "repeated": true. OH001, OH002, OH003.';

-- Name: broker_of_wire(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.broker_of_wire(p_broker jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  if pg_catalog.jsonb_typeof(p_broker) is distinct from 'object' then
    return p_broker;
  end if;
  return coalesce((
    select pg_catalog.jsonb_object_agg(
      case b.key
        when 'routingKey' then 'routing_key' when 'dlqExchange' then 'dlq_exchange'
        when 'dlqRoutingKey' then 'dlq_routing_key' when 'dlqTopic' then 'dlq_topic' else b.key
      end, b.value)
    from pg_catalog.jsonb_each(p_broker) b), '{}');
end
$$;

ALTER FUNCTION outbox.broker_of_wire(p_broker jsonb) OWNER TO postgres;

-- Name: FUNCTION broker_of_wire(p_broker jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.broker_of_wire(p_broker jsonb) IS 'The settings of a broker as the API took them, in the names of SQL.';

-- Name: broker_text(text, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.broker_text(p_template text, p_type text, p_org_id text, p_key text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  -- The key last: it may hold what looks like a placeholder.
  return pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(p_template,
    '{type}', p_type), '{org}', p_org_id), '{key}', coalesce(p_key, ''));
end
$$;

ALTER FUNCTION outbox.broker_text(p_template text, p_type text, p_org_id text, p_key text) OWNER TO postgres;

-- Name: FUNCTION broker_text(p_template text, p_type text, p_org_id text, p_key text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.broker_text(p_template text, p_type text, p_org_id text, p_key text) IS 'A topic or routing key of a template. functions/_shared/senders/broker/template.ts does the same.';

-- Name: broker_to_wire(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.broker_to_wire(p_broker jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return (
    select pg_catalog.jsonb_object_agg(
      case b.key
        when 'routing_key' then 'routingKey' when 'dlq_exchange' then 'dlqExchange'
        when 'dlq_routing_key' then 'dlqRoutingKey' when 'dlq_topic' then 'dlqTopic' else b.key
      end, b.value)
    from pg_catalog.jsonb_each(p_broker) b);
end
$$;

ALTER FUNCTION outbox.broker_to_wire(p_broker jsonb) OWNER TO postgres;

-- Name: FUNCTION broker_to_wire(p_broker jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.broker_to_wire(p_broker jsonb) IS 'The settings of a broker as the API shows them; null for none.';

-- Name: calculate_delay(jsonb, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.calculate_delay(p_policy jsonb, p_attempt integer) RETURNS interval
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  perform outbox.check_retry(coalesce(p_policy, '{}'));
  return outbox.delay_after(p_policy, p_attempt);
end
$$;

ALTER FUNCTION outbox.calculate_delay(p_policy jsonb, p_attempt integer) OWNER TO postgres;

-- Name: FUNCTION calculate_delay(p_policy jsonb, p_attempt integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.calculate_delay(p_policy jsonb, p_attempt integer) IS 'How long to wait after failure number p_attempt (from 1). Jitter multiplies by a uniform 0.5 to 1.5; max_delay, a week where there is none, holds after jitter. OH001 for what is no policy.';

-- Name: callback_answer(bigint[], integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.callback_answer(p_ids bigint[], p_given integer) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  return (
    select pg_catalog.jsonb_build_object(
      'stored', pg_catalog.cardinality(p_ids),
      'duplicates', p_given - pg_catalog.cardinality(p_ids),
      'applied', coalesce(pg_catalog.sum(s.n) filter (where s.state = 'applied'), 0),
      'skipped', coalesce(pg_catalog.sum(s.n) filter (where s.state = 'skipped'), 0),
      'kept', coalesce(pg_catalog.sum(s.n) filter (where s.state = 'kept'), 0),
      'warnings', coalesce(pg_catalog.jsonb_agg(
        pg_catalog.format('%s updates %s: %s', s.n, s.state, s.reason) order by s.reason)
        filter (where s.reason in ('not_understood', 'unknown_number', 'unknown_account',
          'wrong_account', 'org_mismatch', 'error', 'after_delivered', 'after_failed')), '[]'))
    from (
      select u.state, u.reason, pg_catalog.count(*) as n
      from pg_catalog.unnest(p_ids) i
      cross join lateral (
        select w.state, w.reason from outbox.whatsapp_update w where w.id = i offset 0
      ) u
      group by u.state, u.reason
    ) s);
end
$$;

ALTER FUNCTION outbox.callback_answer(p_ids bigint[], p_given integer) OWNER TO postgres;

-- Name: FUNCTION callback_answer(p_ids bigint[], p_given integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.callback_answer(p_ids bigint[], p_given integer) IS 'What receive_callbacks() returns of updates that it stored, of so many that were given.';

-- Name: callback_apps(text, text[], text[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.callback_apps(p_app_key text DEFAULT NULL::text, p_phone_number_ids text[] DEFAULT '{}'::text[], p_waba_ids text[] DEFAULT '{}'::text[]) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_ids text[];
begin
  if p_app_key is not null then
    v_ids := array(select a.app_id from outbox.whatsapp_app a where a.app_key = p_app_key);
  else
    v_ids := array(
      select distinct c.app_id from outbox.whatsapp_channel c
      where c.phone_number_id = any (p_phone_number_ids) order by c.app_id limit 20);
    if pg_catalog.cardinality(v_ids) = 0 then
      v_ids := array(
        select distinct c.app_id from outbox.whatsapp_channel c
        where c.waba_id = any (p_waba_ids) order by c.app_id limit 20);
    end if;
  end if;
  return pg_catalog.jsonb_build_object('apps', coalesce((
    select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('id', a.app_id,
        'secrets', pg_catalog.to_jsonb(outbox.app_secrets(a, outbox.clock())),
        'allow_unsigned', a.allow_unsigned)
      order by a.app_id)
    from outbox.whatsapp_app a where a.app_id = any (v_ids)), '[]'));
end
$$;

ALTER FUNCTION outbox.callback_apps(p_app_key text, p_phone_number_ids text[], p_waba_ids text[]) OWNER TO postgres;

-- Name: FUNCTION callback_apps(p_app_key text, p_phone_number_ids text[], p_waba_ids text[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.callback_apps(p_app_key text, p_phone_number_ids text[], p_waba_ids text[]) IS 'Which Meta apps may have signed a callback, with what verifies it: {"apps": [{"id", "secrets": the newest first, "allow_unsigned"}]}. By the key in its address, or without one by the numbers that its body names, else by the accounts.';

-- Name: callback_data(bigint, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.callback_data(p_message_id bigint, p_attempt_no integer) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.format('ob1:%s:%s', p_message_id, p_attempt_no);
end
$$;

ALTER FUNCTION outbox.callback_data(p_message_id bigint, p_attempt_no integer) OWNER TO postgres;

-- Name: FUNCTION callback_data(p_message_id bigint, p_attempt_no integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.callback_data(p_message_id bigint, p_attempt_no integer) IS 'What names an attempt to WhatsApp, which echoes it in each status.';

-- Name: callback_time(jsonb, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.callback_time(p_at jsonb, p_now timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
declare
  v_at timestamptz;
begin
  if pg_catalog.jsonb_typeof(p_at) = 'number' and p_at between '0' and '253402300799' then
    v_at := pg_catalog.to_timestamp((p_at #>> '{}')::double precision);
  end if;
  -- Meta repeats a callback for 7 days and a message lives for 30; nothing is told of tomorrow.
  return case
    when v_at between p_now - interval '60 days' and p_now + interval '1 day' then v_at
    else p_now
  end;
end
$$;

ALTER FUNCTION outbox.callback_time(p_at jsonb, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION callback_time(p_at jsonb, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.callback_time(p_at jsonb, p_now timestamp with time zone) IS 'Meta''s time of an update (Unix seconds); the time of its arrival where that is missing or absurd.';

-- Name: calling_role(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.calling_role() RETURNS name
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return coalesce(
    nullif(pg_catalog.current_setting('role'), 'none'), session_user)::name;
end
$$;

ALTER FUNCTION outbox.calling_role() OWNER TO postgres;

-- Name: FUNCTION calling_role(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.calling_role() IS 'The role that made the call, seen from inside a SECURITY DEFINER function.';

-- Name: cancel_delivery(uuid, uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.cancel_delivery(p_event_id uuid, p_endpoint_id uuid, p_why text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
begin
  perform outbox.settle_lost(outbox.open_delivery(p_event_id, p_endpoint_id), v_now);
  perform outbox.close_delivery(outbox.open_delivery(p_event_id, p_endpoint_id), 'cancelled',
    coalesce(p_why, 'cancelled by hand'), v_now);
  return pg_catalog.jsonb_build_object(
    'event_id', p_event_id, 'endpoint_id', p_endpoint_id, 'status', 'cancelled');
end
$$;

ALTER FUNCTION outbox.cancel_delivery(p_event_id uuid, p_endpoint_id uuid, p_why text) OWNER TO postgres;

-- Name: FUNCTION cancel_delivery(p_event_id uuid, p_endpoint_id uuid, p_why text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.cancel_delivery(p_event_id uuid, p_endpoint_id uuid, p_why text) IS 'Ends an open delivery that is not being sent: {"event_id", "endpoint_id", "status": "cancelled"}. OH002, OH004.';

-- Name: cancel_message(text, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.cancel_message(p_org_id text, p_message_id text, p_actor text DEFAULT NULL::text, p_why text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_message outbox.outbound_message := outbox.lock_message(p_org_id, p_message_id);
  v_delivery outbox.delivery;
begin
  if v_message.status <> 'QUEUED' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('message %s is %s', p_message_id, v_message.status),
      hint = 'Only a message that is QUEUED can be cancelled';
  end if;
  v_message.status := 'CANCELLED';
  perform outbox.save_message(v_message, v_now);
  perform outbox.audit(p_org_id, 'OUTBOUND_MESSAGE', v_message.id::text, 'CANCELLED',
    'Message cancelled' || coalesce(': ' || p_why, ''), p_actor, v_now);
  select * into v_delivery from outbox.delivery d
  where d.event_id = v_message.event_id and d.endpoint_id = v_message.channel_id;
  -- Without one its event is not routed yet: the claim finds the message cancelled.
  if found then
    perform outbox.close_delivery(v_delivery, 'cancelled', 'the message was cancelled', v_now);
  end if;
  return outbox.get_message(p_org_id, p_message_id);
end
$$;

ALTER FUNCTION outbox.cancel_message(p_org_id text, p_message_id text, p_actor text, p_why text) OWNER TO postgres;

-- Name: FUNCTION cancel_message(p_org_id text, p_message_id text, p_actor text, p_why text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.cancel_message(p_org_id text, p_message_id text, p_actor text, p_why text) IS 'Cancels a message that is QUEUED and returns it. OH002; OH004 when it is being sent or has ended.';

-- Name: cause_of(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.cause_of(p_code text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  -- These two speak of the account, and an update that it is reinstated lifts them.
  return case when p_code in ('131031', '368') then 'account' else 'failure' end;
end
$$;

ALTER FUNCTION outbox.cause_of(p_code text) OWNER TO postgres;

-- Name: FUNCTION cause_of(p_code text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.cause_of(p_code text) IS 'The cause of a hold that a code of WhatsApp''s makes.';

-- Name: chain_length(uuid, integer, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.chain_length(p_endpoint_id uuid, p_quantum integer, p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
begin
  return (
    select least(p_quantum, greatest(1, 500 / greatest(1, pg_catalog.max(a.duration_ms))))
    from (
      select t.duration_ms from outbox.attempt t
      where t.endpoint_id = p_endpoint_id and t.at > p_now - interval '1 hour' and t.at <= p_now
        and t.kind = 'try'
      order by t.at desc limit 5
    ) a);
end
$$;

ALTER FUNCTION outbox.chain_length(p_endpoint_id uuid, p_quantum integer, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION chain_length(p_endpoint_id uuid, p_quantum integer, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.chain_length(p_endpoint_id uuid, p_quantum integer, p_now timestamp with time zone) IS 'How many deliveries of one ordered lane a run is given: what it sends in half a second, as the slowest of the endpoint''s last five tries within an hour went; from 1 to its quantum. A run holds all that it is given, and 200 lanes of a slow endpoint would fill its hand for minutes.';

-- Name: change_catalogue(text, boolean); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.change_catalogue(p_org_id text, p_strict boolean DEFAULT NULL::boolean) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  perform outbox.check_org(p_org_id);
  insert into outbox.event_catalogue as c (org_id, strict)
  values (p_org_id, coalesce(p_strict, false))
  on conflict (org_id) do update set
    strict = coalesce(p_strict, c.strict), version = c.version + 1;
end
$$;

ALTER FUNCTION outbox.change_catalogue(p_org_id text, p_strict boolean) OWNER TO postgres;

-- Name: FUNCTION change_catalogue(p_org_id text, p_strict boolean); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.change_catalogue(p_org_id text, p_strict boolean) IS 'Notes a change of an organisation''s catalogue. locks: its row, which makes changes wait for each other.';

-- Name: change_consent(text, text, text[], boolean, text, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.change_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_granted boolean, p_channel text, p_source text, p_evidence text, p_actor text) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_purpose text;
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_dossier(p_dossier_id);
  perform outbox.check_choice('channel', p_channel, array['WHATSAPP']);
  if coalesce(pg_catalog.cardinality(p_purposes), 0) = 0 then
    perform outbox.invalid('purposes', 'is empty', 'Expected MARKETING, UTILITY or both');
  end if;
  if p_source is null or pg_catalog.length(p_source) not between 1 and 200 then
    perform outbox.invalid('source', 'is not 1 to 200 characters',
      'Say how consent was given or taken back, such as web form or phone call');
  end if;
  if pg_catalog.length(p_evidence) > 2000 then
    perform outbox.invalid('evidence', 'is longer than 2000 characters',
      'Say where the evidence can be found');
  end if;
  foreach v_purpose in array p_purposes loop
    perform outbox.check_choice('purposes', v_purpose, array['MARKETING', 'UTILITY']);
  end loop;
  insert into outbox.consent (
    org_id, dossier_id, channel, purpose, granted, source, evidence, actor, created_at)
  select p_org_id, p_dossier_id, p_channel, p.purpose, p_granted, p_source, p_evidence, p_actor,
    v_now
  from (select distinct pg_catalog.unnest(p_purposes) as purpose) p;
  perform outbox.audit(p_org_id, 'DOSSIER', p_dossier_id,
    case when p_granted then 'CONSENT_GRANTED' else 'CONSENT_REVOKED' end,
    pg_catalog.format('%s: %s', p_channel, pg_catalog.array_to_string(p_purposes, ', ')), p_actor,
    v_now);
  return outbox.consents_json(p_org_id, p_dossier_id);
end
$$;

ALTER FUNCTION outbox.change_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_granted boolean, p_channel text, p_source text, p_evidence text, p_actor text) OWNER TO postgres;

-- Name: FUNCTION change_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_granted boolean, p_channel text, p_source text, p_evidence text, p_actor text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.change_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_granted boolean, p_channel text, p_source text, p_evidence text, p_actor text) IS 'Writes down that consent was given or taken back. OH001.';

-- Name: change_endpoint(uuid, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.change_endpoint(p_endpoint_id uuid, p_change jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_breaker jsonb := coalesce(p_change -> 'breaker', '{}');
  v_kind text := (select e.kind from outbox.endpoint e where e.id = p_endpoint_id);
begin
  perform outbox.check_endpoint_change(p_change);
  if p_change ? 'url' and v_kind in ('rabbitmq', 'kafka') then
    perform outbox.invalid('url', 'is made of the settings of a broker',
      'Change broker, with a secret key, or call outbox.set_broker()');
  end if;
  update outbox.endpoint e set
    url = case
      when p_change ? 'url' and e.kind <> 'slack' then outbox.check_url(p_change ->> 'url')
      else e.url
    end,
    description = coalesce(p_change ->> 'description', e.description),
    payload = coalesce(p_change ->> 'payload', e.payload),
    timeout_ms = coalesce((p_change ->> 'timeoutMs')::integer, e.timeout_ms),
    max_in_flight = coalesce((p_change ->> 'maxInFlight')::integer, e.max_in_flight),
    quantum = coalesce((p_change ->> 'quantum')::integer, e.quantum),
    rate_per_second = case
      when p_change ? 'ratePerSecond' then (p_change ->> 'ratePerSecond')::float8
      else e.rate_per_second
    end,
    rate_burst = coalesce((p_change ->> 'rateBurst')::integer, e.rate_burst),
    retry_4xx = coalesce((p_change ->> 'retry4xx')::boolean, e.retry_4xx),
    on_dead_letter = coalesce(p_change ->> 'onDeadLetter', e.on_dead_letter),
    breaker_enabled = coalesce((v_breaker ->> 'enabled')::boolean, e.breaker_enabled),
    breaker_threshold = coalesce((v_breaker ->> 'threshold')::integer, e.breaker_threshold),
    breaker_open_ms = coalesce((v_breaker ->> 'openMs')::integer, e.breaker_open_ms)
  where e.id = p_endpoint_id;
  if p_change ? 'url' and v_kind = 'slack' then
    perform outbox.put_slack_url(p_endpoint_id, p_change ->> 'url');
  end if;
  if p_change ? 'broker' or p_change ? 'credentials' then
    perform outbox.set_broker(p_endpoint_id,
      outbox.broker_of_wire(coalesce(p_change -> 'broker', '{}')),
      nullif(p_change -> 'credentials', 'null'));
  end if;
end
$$;

ALTER FUNCTION outbox.change_endpoint(p_endpoint_id uuid, p_change jsonb) OWNER TO postgres;

-- Name: FUNCTION change_endpoint(p_endpoint_id uuid, p_change jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.change_endpoint(p_endpoint_id uuid, p_change jsonb) IS 'Writes the plain members of an endpoint that a change names. OH001.';

-- Name: change_event_types(uuid, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.change_event_types(p_endpoint_id uuid, p_change jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_types text[];
  v_filter text;
begin
  if not p_change ? 'eventTypes' and not p_change ? 'filter' then
    return;
  end if;
  select pg_catalog.array_agg(s.pattern), pg_catalog.min(s.filter::text)
  into v_types, v_filter
  from outbox.subscription s where s.endpoint_id = p_endpoint_id;
  if p_change ? 'eventTypes' then
    v_types := array(
      select t from pg_catalog.jsonb_array_elements_text(p_change -> 'eventTypes') t);
  end if;
  if p_change ? 'filter' then
    v_filter := p_change ->> 'filter';
  end if;
  delete from outbox.subscription s
  where s.endpoint_id = p_endpoint_id and s.pattern <> all (v_types);
  perform outbox.subscribe(p_endpoint_id, v_types, v_filter);
end
$$;

ALTER FUNCTION outbox.change_event_types(p_endpoint_id uuid, p_change jsonb) OWNER TO postgres;

-- Name: FUNCTION change_event_types(p_endpoint_id uuid, p_change jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.change_event_types(p_endpoint_id uuid, p_change jsonb) IS 'Gives an endpoint the event types and the filter that a change names; a type that it has already stays as old as it is. OH001.';

-- Name: change_opt_out(text, text, text, boolean, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.change_opt_out(p_org_id text, p_recipient text, p_purpose text, p_opted_out boolean, p_source text, p_evidence text DEFAULT NULL::text, p_actor text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_answer jsonb;
begin
  perform outbox.check_recipient(p_recipient);
  if pg_catalog.length(p_source) not between 1 and 200 then
    perform outbox.invalid('source', 'is not 1 to 200 characters',
      'Say how it was said, such as phone call');
  end if;
  if pg_catalog.length(p_evidence) > 2000 then
    perform outbox.invalid('evidence', 'is longer than 2000 characters',
      'Say where the evidence can be found');
  end if;
  if p_opted_out then
    v_answer := outbox.opt_out_recipient(p_org_id, p_recipient, p_source, p_purpose);
    update outbox.opt_out o set evidence = p_evidence
    where o.org_id = p_org_id and o.channel = 'WHATSAPP' and o.recipient = p_recipient
      and o.purpose = p_purpose and (v_answer -> 'isNew')::boolean;
  else
    v_answer := outbox.opt_in_recipient(p_org_id, p_recipient, p_purpose);
  end if;
  -- The number itself is erased one day, so the trail does not hold it.
  if (v_answer -> 'isNew')::boolean then
    perform outbox.audit(p_org_id, 'RECIPIENT', outbox.person_key(p_recipient),
      case when p_opted_out then 'OPTED_OUT' else 'OPTED_IN' end,
      pg_catalog.format('WHATSAPP %s: %s', p_purpose, coalesce(p_source, 'by hand')), p_actor,
      outbox.clock());
  end if;
  return v_answer;
end
$$;

ALTER FUNCTION outbox.change_opt_out(p_org_id text, p_recipient text, p_purpose text, p_opted_out boolean, p_source text, p_evidence text, p_actor text) OWNER TO postgres;

-- Name: FUNCTION change_opt_out(p_org_id text, p_recipient text, p_purpose text, p_opted_out boolean, p_source text, p_evidence text, p_actor text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.change_opt_out(p_org_id text, p_recipient text, p_purpose text, p_opted_out boolean, p_source text, p_evidence text, p_actor text) IS 'Writes down that a number wants nothing more (p_purpose: ALL or MARKETING), or wants it again, audited under a hash of the number: {"optedOut", "purpose", "isNew": it was otherwise before}. OH001.';

-- Name: change_replay_job(text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.change_replay_job(p_org_id text, p_id text, p_state text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_job jsonb := outbox.get_replay_job(p_org_id, p_id);
begin
  if v_job ->> 'state' not in ('running', 'paused') then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('replay job %s is %s', p_id, v_job ->> 'state'),
      hint = 'A job that has ended stays so: start another';
  end if;
  perform outbox.set_replay_job(p_id, p_state);
  return outbox.get_replay_job(p_org_id, p_id);
end
$$;

ALTER FUNCTION outbox.change_replay_job(p_org_id text, p_id text, p_state text) OWNER TO postgres;

-- Name: FUNCTION change_replay_job(p_org_id text, p_id text, p_state text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.change_replay_job(p_org_id text, p_id text, p_state text) IS 'Pauses, goes on with, or cancels a replay job of an org, and returns it. OH001, OH002; OH004: it has ended.';

-- Name: channel_json(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.channel_json(p_channel_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return (
    select pg_catalog.jsonb_build_object('id', e.id, 'orgId', e.org_id, 'channel', 'WHATSAPP',
      'description', e.description, 'phoneNumberId', c.phone_number_id, 'wabaId', c.waba_id,
      'appId', c.app_id, 'isDefault', c.is_default, 'quality', c.quality,
      'state', e.state, 'stateReason', e.state_reason,
      'messagesPerSecond', c.messages_per_second, 'graphVersion', c.graph_version,
      'pairSeconds', e.lane_spacing_ms / 1000::float8, 'version', e.version,
      'createdAt', outbox.iso_time(e.created_at), 'updatedAt', outbox.iso_time(e.updated_at))
    from outbox.whatsapp_channel c
    join outbox.endpoint e on e.id = c.endpoint_id
    where c.endpoint_id = p_channel_id);
end
$$;

ALTER FUNCTION outbox.channel_json(p_channel_id uuid) OWNER TO postgres;

-- Name: FUNCTION channel_json(p_channel_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.channel_json(p_channel_id uuid) IS 'A channel as the API shows it.';

-- Name: channels_of(outbox.whatsapp_update); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.channels_of(p_update outbox.whatsapp_update) RETURNS uuid[]
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_ids uuid[];
begin
  -- An update of a number names it as people read it. Until a callback of that number has come,
  -- any of the account's may be meant.
  if p_update.kind = 'quality' and p_update.display is not null then
    v_ids := array(
      select c.endpoint_id from outbox.whatsapp_channel c
      where c.waba_id = p_update.waba_id and c.app_id = p_update.app_id
        and c.display_digits = p_update.display
        and (p_update.org_id is null or c.org_id = p_update.org_id));
  end if;
  if coalesce(pg_catalog.cardinality(v_ids), 0) = 0 then
    v_ids := array(
      select c.endpoint_id from outbox.whatsapp_channel c
      where c.waba_id = p_update.waba_id and c.app_id = p_update.app_id
        and (p_update.org_id is null or c.org_id = p_update.org_id)
        and (p_update.kind <> 'quality' or c.display_digits is null or p_update.display is null)
      order by c.endpoint_id);
  end if;
  return v_ids;
end
$$;

ALTER FUNCTION outbox.channels_of(p_update outbox.whatsapp_update) OWNER TO postgres;

-- Name: FUNCTION channels_of(p_update outbox.whatsapp_update); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.channels_of(p_update outbox.whatsapp_update) IS 'The channels that an update of an account, or of one of its numbers, concerns: of the app that signed it alone.';

-- Name: event; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.event (
    id uuid NOT NULL,
    org_id text NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    partition_key text,
    correlation_id text,
    idempotency_key text,
    traceparent text,
    endpoint_id uuid,
    deliver_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
)
PARTITION BY RANGE (id);

ALTER TABLE outbox.event OWNER TO postgres;

-- Name: TABLE event; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.event IS 'What happened: written once by publish(), never changed. body is the JSON as text, as it will be sent. The id carries created_at, to the millisecond: what is sent goes by the id.';

-- Name: check_addressed(outbox.event); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_addressed(p_event outbox.event) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_ordering text;
begin
  select e.ordering into v_ordering from outbox.endpoint e
  where e.id = p_event.endpoint_id and e.org_id = p_event.org_id and e.state <> 'deleted';
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('endpoint %s does not exist in organisation %s',
        p_event.endpoint_id, p_event.org_id),
      hint = 'create_endpoint() returns the id of an endpoint; org_id must be the endpoint''s';
  end if;
  if v_ordering <> 'none' and p_event.deliver_at is not null then
    perform outbox.invalid('deliver_at', 'is given for an ordered endpoint',
      'A later delivery would hold up what follows it: leave it out, or use an endpoint without '
      'order');
  end if;
end
$$;

ALTER FUNCTION outbox.check_addressed(p_event outbox.event) OWNER TO postgres;

-- Name: FUNCTION check_addressed(p_event outbox.event); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_addressed(p_event outbox.event) IS 'Raises OH002 unless the event''s endpoint is the organisation''s, OH001 when that endpoint is ordered and the event is for later.';

-- Name: check_amqp_url(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_amqp_url(p_url text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $_$
declare
  v_parts text[];
begin
  if p_url ~ '^amqps?://[^/]*@' then
    perform outbox.invalid('broker.url', 'carries credentials',
      'Give them in credentials, which nobody can read: {"username", "password"}');
  end if;
  v_parts := pg_catalog.regexp_match(p_url,
    '^(amqps?)://([^/?#:]+|\[[^\]]*\])(:[0-9]{1,5})?(/[A-Za-z0-9._~%!$&''()*+,;=:@-]*)?$');
  if v_parts is null then
    perform outbox.invalid('broker.url', 'is not an amqps URL',
      'Expected amqps://host:5671/vhost; write a / in the vhost as %2F');
  elsif v_parts[1] = 'amqp' and not outbox.setting_on('egress.allow_http') then
    perform outbox.invalid('broker.url', 'is not amqps', 'Use amqps. For local development: '
      'select outbox.set_setting(''egress.allow_http'', ''true'')');
  end if;
  v_parts[3] := coalesce(v_parts[3], case v_parts[1] when 'amqps' then ':5671' else ':5672' end);
  perform outbox.check_broker_address('broker.url', v_parts[2] || v_parts[3]);
  return v_parts[1] || '://' || v_parts[2] || v_parts[3] || coalesce(v_parts[4], '');
end
$_$;

ALTER FUNCTION outbox.check_amqp_url(p_url text) OWNER TO postgres;

-- Name: FUNCTION check_amqp_url(p_url text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_amqp_url(p_url text) IS 'The URL of a RabbitMQ broker with its port, such as amqps://host:5671/vhost. OH001: it is none, carries credentials, or must not be reached.';

-- Name: check_broker_address(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_broker_address(p_field text, p_address text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $_$
declare
  v_problem text := case
    when p_address is null or p_address !~ '^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}$'
    then 'is not host:port'
    else outbox.authority_problem('https://' || p_address)
  end;
begin
  if v_problem is not null then
    perform outbox.invalid(p_field, v_problem, case v_problem
      when 'has a host that is not allowed' then
        'Use a host on the public Internet. A network of one''s own is allowed by the setting '
        'egress.allow_cidrs'
      when 'has a port that is not allowed' then
        'The settings egress.allow_ports and egress.deny_ports say which ports are'
      else 'Expected something like broker.example.com:9092'
    end);
  end if;
end
$_$;

ALTER FUNCTION outbox.check_broker_address(p_field text, p_address text) OWNER TO postgres;

-- Name: FUNCTION check_broker_address(p_field text, p_address text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_broker_address(p_field text, p_address text) IS 'Raises OH001 unless a broker may be reached at this host:port. The addresses behind a name are vetted at each connection.';

-- Name: check_ca(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_ca(p_ca jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  if p_ca <> 'null' and (
    p_ca #>> '{}' !~ '^\s*-----BEGIN CERTIFICATE-----' or pg_catalog.length(p_ca #>> '{}') > 65536)
  then
    perform outbox.invalid('broker.ca', 'is not a certificate in PEM',
      'Expected -----BEGIN CERTIFICATE----- and so on: of the authority, not of the broker');
  end if;
end
$$;

ALTER FUNCTION outbox.check_ca(p_ca jsonb) OWNER TO postgres;

-- Name: FUNCTION check_ca(p_ca jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_ca(p_ca jsonb) IS 'Raises OH001 unless the certificates to trust instead of the public ones are null or PEM.';

-- Name: check_channel(text, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_channel(p_org_id text, p_channel_id uuid) RETURNS uuid
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_id uuid;
begin
  select c.endpoint_id into v_id
  from outbox.whatsapp_channel c
  join outbox.endpoint e on e.id = c.endpoint_id and e.state <> 'deleted'
  where c.org_id = p_org_id
    and case when p_channel_id is null then c.is_default else c.endpoint_id = p_channel_id end;
  if v_id is null then
    raise exception using errcode = 'OH002',
      message = case
        when p_channel_id is null
        then pg_catalog.format('organisation %s has no default channel', p_org_id)
        else pg_catalog.format('channel %s does not exist', p_channel_id)
      end,
      hint = 'create_channel() makes one; the first of an organisation is its default';
  end if;
  return v_id;
end
$$;

ALTER FUNCTION outbox.check_channel(p_org_id text, p_channel_id uuid) OWNER TO postgres;

-- Name: FUNCTION check_channel(p_org_id text, p_channel_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_channel(p_org_id text, p_channel_id uuid) IS 'The channel of that org, or its default one when no id is given. OH002.';

-- Name: check_channel_change(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_channel_change(p_change jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $_$
declare
  v_stray text;
begin
  select k into v_stray from pg_catalog.jsonb_object_keys(p_change) k
  where k not in ('description', 'accessToken', 'messagesPerSecond', 'pairSeconds',
    'graphVersion', 'isDefault')
  order by k limit 1;
  if found then
    perform outbox.invalid(v_stray, 'cannot be changed',
      'A channel has description, accessToken, messagesPerSecond, pairSeconds, graphVersion and '
      'isDefault');
  end if;
  if p_change ? 'messagesPerSecond' then
    perform outbox.check_range('messagesPerSecond',
      (p_change ->> 'messagesPerSecond')::float8, 1, 1000);
  end if;
  if p_change ? 'pairSeconds' then
    perform outbox.check_range('pairSeconds', (p_change ->> 'pairSeconds')::float8, 0, 3600);
  end if;
  if p_change ->> 'graphVersion' !~ '^v[1-9][0-9]{0,2}\.[0-9]$' then
    perform outbox.invalid('graphVersion', 'is not a version of the Graph API',
      'Expected something like v25.0, or null for what the setting says');
  end if;
  if p_change -> 'isDefault' is distinct from 'true' and p_change ? 'isDefault' then
    perform outbox.invalid('isDefault', 'can only become true',
      'Make another channel the default one');
  end if;
end
$_$;

ALTER FUNCTION outbox.check_channel_change(p_change jsonb) OWNER TO postgres;

-- Name: FUNCTION check_channel_change(p_change jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_channel_change(p_change jsonb) IS 'Raises OH001 for the first member that no channel may have.';

-- Name: check_choice(text, text, text[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_choice(p_field text, p_value text, p_choices text[]) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  if p_value is null or p_value <> all (p_choices) then
    perform outbox.invalid(p_field,
      pg_catalog.format('is %s', pg_catalog.quote_nullable(pg_catalog.left(p_value, 60))),
      'Expected one of ' || pg_catalog.array_to_string(p_choices, ', '));
  end if;
end
$$;

ALTER FUNCTION outbox.check_choice(p_field text, p_value text, p_choices text[]) OWNER TO postgres;

-- Name: FUNCTION check_choice(p_field text, p_value text, p_choices text[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_choice(p_field text, p_value text, p_choices text[]) IS 'Raises OH001 unless a value is one of the choices.';

-- Name: check_columns(regclass, text, text[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_columns(p_table regclass, p_field text, p_columns text[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_missing text;
begin
  select c into v_missing from pg_catalog.unnest(p_columns) c
  where not exists (
    select from pg_catalog.pg_attribute a
    where a.attrelid = p_table and a.attname = c and a.attnum > 0 and not a.attisdropped)
  limit 1;
  if found then
    perform outbox.invalid(p_field,
      pg_catalog.format('names %s, which %s does not have', pg_catalog.quote_nullable(v_missing),
        p_table),
      'Expected names of its columns, as the catalog has them');
  end if;
end
$$;

ALTER FUNCTION outbox.check_columns(p_table regclass, p_field text, p_columns text[]) OWNER TO postgres;

-- Name: FUNCTION check_columns(p_table regclass, p_field text, p_columns text[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_columns(p_table regclass, p_field text, p_columns text[]) IS 'Raises OH001 unless the table has these columns.';

-- Name: check_credentials(text, jsonb, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_credentials(p_kind text, p_broker jsonb, p_credentials jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
declare
  v_wanted boolean := p_kind = 'rabbitmq' or p_broker -> 'sasl' <> 'null';
  v_field text;
begin
  if p_credentials is null and not v_wanted then
    return;
  elsif p_credentials is null then
    perform outbox.invalid('credentials', 'is missing', 'Expected {"username", "password"}');
  elsif not v_wanted then
    perform outbox.invalid('credentials', 'is given without broker.sasl',
      'Name the mechanism in broker.sasl: plain, scram-sha-256 or scram-sha-512');
  end if;
  perform outbox.check_members('credentials', p_credentials, array['username', 'password'],
    p_kind);
  foreach v_field in array array['username', 'password'] loop
    if pg_catalog.jsonb_typeof(p_credentials -> v_field) is distinct from 'string'
      or pg_catalog.length(p_credentials ->> v_field) not between 1 and 2048
    then
      perform outbox.invalid('credentials.' || v_field, 'is not a text of 1 to 2048 characters',
        'Any characters go, as they are: nothing is to be escaped');
    end if;
  end loop;
end
$$;

ALTER FUNCTION outbox.check_credentials(p_kind text, p_broker jsonb, p_credentials jsonb) OWNER TO postgres;

-- Name: FUNCTION check_credentials(p_kind text, p_broker jsonb, p_credentials jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_credentials(p_kind text, p_broker jsonb, p_credentials jsonb) IS 'Raises OH001 unless these are what a broker is logged in to with; never shows them.';

-- Name: check_delivery(text, uuid, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_delivery jsonb;
begin
  if exists (
    select from outbox.endpoint e where e.id = p_endpoint_id and e.org_id = p_org_id
  ) then
    v_delivery := outbox.delivery_json(p_event_id, p_endpoint_id);
  end if;
  if v_delivery is null then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('delivery %s.%s does not exist', p_event_id, p_endpoint_id),
      hint = 'The event shows its deliveries; finished ones are kept as long as their event';
  end if;
  return v_delivery;
end
$$;

ALTER FUNCTION outbox.check_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION check_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid) IS 'The delivery of an organisation''s endpoint as delivery_json(), or OH002.';

-- Name: check_dossier(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_dossier(p_dossier_id text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
begin
  if p_dossier_id is null or p_dossier_id !~ '^[\x21-\x7e]{1,128}$' then
    perform outbox.invalid('dossierId', 'is not 1 to 128 visible ASCII characters',
      'Use the id of your record, not a name or a number of the person');
  end if;
end
$_$;

ALTER FUNCTION outbox.check_dossier(p_dossier_id text) OWNER TO postgres;

-- Name: FUNCTION check_dossier(p_dossier_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_dossier(p_dossier_id text) IS 'Raises OH001 unless this may be a dossier''s id.';

-- Name: check_retry(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_retry(p_policy jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
declare
  v_strategy text := p_policy ->> 'strategy';
  v_field text;
begin
  if p_policy is null then
    return;
  end if;
  if pg_catalog.jsonb_typeof(p_policy) <> 'object' or v_strategy is null
    or v_strategy not in ('schedule', 'exponential', 'linear', 'fixed')
  then
    perform outbox.invalid('retry.strategy',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(v_strategy)),
      'Expected schedule, exponential, linear or fixed');
  end if;
  select k into v_field from pg_catalog.jsonb_object_keys(p_policy) k
  where k not in (
    'strategy', 'delays', 'base_delay', 'factor', 'max_delay', 'max_retries', 'jitter'
  )
  limit 1;
  if found then
    perform outbox.invalid('retry.' || v_field, 'is not a field of a retry policy',
      'Expected strategy, delays, base_delay, factor, max_delay, max_retries, jitter');
  end if;
  -- strict: a lax path looks into arrays, and would take [[1]] for numbers. What is smaller than a
  -- millisecond may be too small to be read as double precision.
  if v_strategy = 'schedule' and (
    pg_catalog.jsonb_typeof(p_policy -> 'delays') is distinct from 'array'
    or pg_catalog.jsonb_array_length(p_policy -> 'delays') not between 1 and 50
    or pg_catalog.jsonb_path_exists(p_policy,
      'strict $.delays[*] ? (@.type() != "number" || @ != 0 && @ < 0.001 || @ > 604800)'))
  then
    perform outbox.invalid('retry.delays', 'is not a list of 1 to 50 numbers from 0 to 604800',
      'Expected seconds, such as [1, 5, 15, 60, 300], to a millisecond');
  end if;
  -- A schedule needs none, but what is there is read.
  if (v_strategy <> 'schedule' or p_policy ? 'base_delay')
    and pg_catalog.jsonb_path_exists(p_policy -> 'base_delay',
      'strict $ ? (@.type() == "number" && (@ == 0 || @ >= 0.001) && @ <= 604800)') is not true
  then
    perform outbox.invalid('retry.base_delay', 'is not a number from 0 to 604800',
      'Expected seconds, such as 1, to a millisecond');
  end if;
  foreach v_field in array array['factor', 'max_delay', 'max_retries'] loop
    if p_policy ? v_field and (
      not pg_catalog.jsonb_path_exists(p_policy -> v_field, (case v_field
        when 'factor' then 'strict $ ? (@.type() == "number" && @ >= 1 && @ <= 100)'
        when 'max_delay' then
          'strict $ ? (@.type() == "number" && (@ == 0 || @ >= 0.001) && @ <= 604800)'
        else 'strict $ ? (@.type() == "number" && @ >= 0 && @ <= 50)'
      end)::jsonpath)
      -- 5.0 is a number that integer does not read.
      or v_field = 'max_retries' and p_policy ->> v_field ~ '[^0-9]')
    then
      perform outbox.invalid('retry.' || v_field, 'is out of range',
        'factor: 1 to 100; max_delay: 0 to 604800 s; max_retries: a whole number from 0 to 50');
    end if;
  end loop;
  if p_policy ? 'jitter' and pg_catalog.jsonb_typeof(p_policy -> 'jitter') <> 'boolean' then
    perform outbox.invalid('retry.jitter', 'is not true or false',
      'Expected true: the delay is multiplied by 0.5 to 1.5');
  end if;
end
$_$;

ALTER FUNCTION outbox.check_retry(p_policy jsonb) OWNER TO postgres;

-- Name: FUNCTION check_retry(p_policy jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_retry(p_policy jsonb) IS 'Raises OH001 for the first field of a retry policy that is not valid; null is valid.';

-- Name: setting_int(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.setting_int(p_name text) RETURNS integer
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return (select (s.value #>> '{}')::integer from outbox.setting s where s.name = p_name);
end
$$;

ALTER FUNCTION outbox.setting_int(p_name text) OWNER TO postgres;

-- Name: FUNCTION setting_int(p_name text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.setting_int(p_name text) IS 'The value of an integer setting.';

-- Name: setting_on(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.setting_on(p_name text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return (select (s.value #>> '{}')::boolean from outbox.setting s where s.name = p_name);
end
$$;

ALTER FUNCTION outbox.setting_on(p_name text) OWNER TO postgres;

-- Name: FUNCTION setting_on(p_name text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.setting_on(p_name text) IS 'The value of a boolean setting.';

-- Name: endpoint; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.endpoint (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    org_id text NOT NULL,
    kind text DEFAULT 'webhook'::text NOT NULL,
    url text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    header_names text[] DEFAULT '{}'::text[] NOT NULL,
    headers_vault_id uuid,
    payload text DEFAULT 'envelope'::text NOT NULL,
    timeout_ms integer DEFAULT outbox.setting_int('endpoint.timeout_ms'::text) NOT NULL,
    ordering text DEFAULT 'none'::text NOT NULL,
    max_in_flight integer DEFAULT outbox.setting_int('endpoint.max_in_flight'::text) NOT NULL,
    quantum integer DEFAULT outbox.setting_int('endpoint.quantum'::text) NOT NULL,
    rate_per_second double precision,
    rate_burst integer DEFAULT outbox.setting_int('endpoint.rate_burst'::text) NOT NULL,
    lane_spacing_ms integer DEFAULT 0 NOT NULL,
    retry jsonb,
    retry_4xx boolean DEFAULT false NOT NULL,
    on_dead_letter text DEFAULT 'continue'::text NOT NULL,
    breaker_enabled boolean DEFAULT outbox.setting_on('breaker.enabled'::text) NOT NULL,
    breaker_threshold integer DEFAULT outbox.setting_int('breaker.threshold'::text) NOT NULL,
    breaker_open_ms integer DEFAULT outbox.setting_int('breaker.open_ms'::text) NOT NULL,
    state text DEFAULT 'enabled'::text NOT NULL,
    state_reason text,
    ramp_from timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    credentials_vault_id uuid,
    broker jsonb,
    CONSTRAINT endpoint_breaker_open_is_sensible CHECK (((breaker_open_ms >= 1000) AND (breaker_open_ms <= 3600000))),
    CONSTRAINT endpoint_breaker_threshold_is_positive CHECK (((breaker_threshold >= 1) AND (breaker_threshold <= 1000))),
    CONSTRAINT endpoint_burst_is_positive CHECK (((rate_burst >= 1) AND (rate_burst <= 100000))),
    CONSTRAINT endpoint_kind_is_known CHECK ((kind = ANY (ARRAY['webhook'::text, 'whatsapp'::text, 'slack'::text, 'rabbitmq'::text, 'kafka'::text]))),
    CONSTRAINT endpoint_lane_spacing_is_sensible CHECK (((lane_spacing_ms >= 0) AND (lane_spacing_ms <= 3600000))),
    CONSTRAINT endpoint_max_in_flight_is_positive CHECK (((max_in_flight >= 1) AND (max_in_flight <= 1000))),
    CONSTRAINT endpoint_on_dead_letter_is_known CHECK ((on_dead_letter = ANY (ARRAY['continue'::text, 'halt'::text]))),
    CONSTRAINT endpoint_ordering_is_known CHECK ((ordering = ANY (ARRAY['none'::text, 'partition'::text, 'endpoint'::text]))),
    CONSTRAINT endpoint_payload_is_known CHECK ((payload = ANY (ARRAY['envelope'::text, 'data'::text]))),
    CONSTRAINT endpoint_quantum_is_positive CHECK (((quantum >= 1) AND (quantum <= 1000))),
    CONSTRAINT endpoint_rate_is_positive CHECK (((rate_per_second >= (0.001)::double precision) AND (rate_per_second <= (100000)::double precision))),
    CONSTRAINT endpoint_retry_is_valid CHECK ((outbox.check_retry(retry) IS NOT NULL)),
    CONSTRAINT endpoint_state_is_known CHECK ((state = ANY (ARRAY['enabled'::text, 'paused'::text, 'disabled'::text, 'deleted'::text]))),
    CONSTRAINT endpoint_timeout_is_sensible CHECK (((timeout_ms >= 500) AND (timeout_ms <= 60000)))
);

ALTER TABLE outbox.endpoint OWNER TO postgres;

-- Name: TABLE endpoint; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.endpoint IS 'Where deliveries go, with every setting of the endpoint. version grows with each change. What it is not given when it is made is what outbox.setting says at the time, and stays.';

-- Name: COLUMN endpoint.header_names; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON COLUMN outbox.endpoint.header_names IS 'The custom headers; their values are in Vault and are read by dispatch() alone. set_headers() changes them.';

-- Name: COLUMN endpoint.lane_spacing_ms; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON COLUMN outbox.endpoint.lane_spacing_ms IS 'How long an ordered lane rests behind each delivery.';

-- Name: COLUMN endpoint.retry; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON COLUMN outbox.endpoint.retry IS 'The retry policy (see calculate_delay); null: the preset of the kind.';

-- Name: COLUMN endpoint.retry_4xx; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON COLUMN outbox.endpoint.retry_4xx IS 'Whether every 4xx but 410 is retried; by default only 408, 425 and 429 are.';

-- Name: COLUMN endpoint.on_dead_letter; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON COLUMN outbox.endpoint.on_dead_letter IS 'Whether an ordered lane goes on behind a dead letter or stands still until resume_lane().';

-- Name: COLUMN endpoint.ramp_from; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON COLUMN outbox.endpoint.ramp_from IS 'When the endpoint was last resumed: from then on it is served more and more, up to max_in_flight.';

-- Name: COLUMN endpoint.credentials_vault_id; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON COLUMN outbox.endpoint.credentials_vault_id IS 'What a kind other than webhook needs and nobody may read, as JSON in Vault; put_credentials() writes it and dispatch() alone reads it.';

-- Name: COLUMN endpoint.broker; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON COLUMN outbox.endpoint.broker IS 'The settings that only a broker has (see create_broker_endpoint); null for other kinds.';

-- Name: check_endpoint(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_endpoint(p_endpoint_id uuid) RETURNS outbox.endpoint
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_endpoint outbox.endpoint;
begin
  select *
  into v_endpoint
  from outbox.endpoint e
  where e.id = p_endpoint_id and e.state <> 'deleted';
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('endpoint %s does not exist',
        pg_catalog.quote_nullable(p_endpoint_id::text)),
      hint = 'create_endpoint() returns the id of an endpoint; outbox.endpoint_status lists them';
  end if;
  return v_endpoint;
end
$$;

ALTER FUNCTION outbox.check_endpoint(p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION check_endpoint(p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_endpoint(p_endpoint_id uuid) IS 'The endpoint, or OH002 when there is none or it was deleted.';

-- Name: check_endpoint_change(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_endpoint_change(p_change jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_ranges constant jsonb := '{"timeoutMs": [500, 60000], "maxInFlight": [1, 1000],
    "quantum": [1, 1000], "ratePerSecond": [0.001, 100000], "rateBurst": [1, 100000]}'::jsonb;
  v_field text;
begin
  for v_field in select k from pg_catalog.jsonb_object_keys(v_ranges) k loop
    if p_change -> v_field <> 'null' then
      perform outbox.check_range(v_field, (p_change ->> v_field)::float8,
        (v_ranges -> v_field ->> 0)::float8, (v_ranges -> v_field ->> 1)::float8);
    end if;
  end loop;
  perform outbox.check_range('breaker.threshold',
    coalesce((p_change -> 'breaker' ->> 'threshold')::float8, 1), 1, 1000);
  perform outbox.check_range('breaker.openMs',
    coalesce((p_change -> 'breaker' ->> 'openMs')::float8, 1000), 1000, 3600000);
  perform outbox.check_choice('payload', coalesce(p_change ->> 'payload', 'data'),
    array['envelope', 'data']);
  perform outbox.check_choice('onDeadLetter', coalesce(p_change ->> 'onDeadLetter', 'halt'),
    array['continue', 'halt']);
end
$$;

ALTER FUNCTION outbox.check_endpoint_change(p_change jsonb) OWNER TO postgres;

-- Name: FUNCTION check_endpoint_change(p_change jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_endpoint_change(p_change jsonb) IS 'Raises OH001 for the first member that no endpoint may have.';

-- Name: check_event(outbox.event); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_event(p_event outbox.event) RETURNS uuid
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $_$
declare
  v_bytes integer := pg_catalog.octet_length(p_event.body);
  -- The setting is 1,024 at least: a small event need not look it up.
  v_most integer := case
    when v_bytes > 1024 then outbox.setting_int('publish.max_body_bytes')
  end;
  v_days integer := case
    when p_event.deliver_at is not null then outbox.setting_int('event.retention_days')
  end;
begin
  -- The default organisation passes both checks, of 3 us each.
  if p_event.org_id is distinct from 'default' then
    perform outbox.check_publisher(p_event);
  end if;
  perform outbox.check_type(p_event.type);
  if p_event.body is null then
    perform outbox.invalid('payload', 'is null',
      'Expected a JSON value; for an event without data publish an empty object');
  end if;
  if v_bytes > v_most then
    perform outbox.invalid('payload',
      pg_catalog.format('has %s bytes, more than %s', v_bytes, v_most),
      'Send a reference to large data, or raise the setting publish.max_body_bytes (up to '
      '1048576)');
  end if;
  if pg_catalog.length(p_event.partition_key) > 256 then
    perform outbox.invalid('partition_key', 'is longer than 256 characters',
      'Use an id, such as the customer''s');
  end if;
  if p_event.correlation_id !~ '^[\x21-\x7e]{1,128}$' then
    perform outbox.invalid('correlation_id', 'is not 1 to 128 visible ASCII characters',
      'It travels in a header: use an id without spaces');
  end if;
  if p_event.idempotency_key !~ '^[\x21-\x7e]{1,255}$' then
    perform outbox.invalid('idempotency_key', 'is not 1 to 255 visible ASCII characters',
      'It travels in a header: use an id without spaces');
  end if;
  if p_event.traceparent !~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' then
    perform outbox.invalid('traceparent', 'is not a W3C trace context',
      'Expected 00-<32 hex digits>-<16 hex digits>-<2 hex digits>, or leave it out');
  end if;
  if p_event.deliver_at > p_event.created_at + pg_catalog.make_interval(days => v_days) then
    perform outbox.invalid('deliver_at', 'lies beyond the retention of events',
      pg_catalog.format('It reaches at most %s days ahead (setting event.retention_days)', v_days));
  end if;
  if p_event.endpoint_id is not null then
    perform outbox.check_addressed(p_event);
  elsif p_event.deliver_at is not null then
    perform outbox.check_unordered(p_event);
  end if;
  return p_event.id;
end
$_$;

ALTER FUNCTION outbox.check_event(p_event outbox.event) OWNER TO postgres;

-- Name: FUNCTION check_event(p_event outbox.event); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_event(p_event outbox.event) IS 'Returns the id of a new event that is valid; OH001 for the first field that is not, OH002 for an endpoint that is not the organisation''s.';

-- Name: check_filter(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_filter(p_filter text) RETURNS jsonpath
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
declare
  v_filter jsonpath;
  v_walks integer;
begin
  begin
    v_filter := p_filter::jsonpath;
  exception when syntax_error or invalid_text_representation or invalid_regular_expression
    or untranslatable_character or numeric_value_out_of_range
  then
    raise exception using errcode = 'OH001',
      message = pg_catalog.format('filter is not a jsonpath: %s', sqlerrm),
      hint = 'Expected something like $.total ? (@ > 100) or $.country == "DE"';
  end;
  -- Two walks multiply: $[*] ? (@ == $[*]) takes minutes for a payload of 256 KiB.
  select pg_catalog.count(*) into v_walks
  from pg_catalog.regexp_matches(
    pg_catalog.regexp_replace(v_filter::text, '"([^"\\]|\\.)*"', '""', 'g'),
    '\[\*\]|\.\*\*?|\[[^]]* to [^]]*\]', 'g');
  if v_walks > 1 then
    perform outbox.invalid('filter', 'walks the payload more than once',
      'Use [*], .*, .** or a range once; name the other members, or filter at the receiver');
  end if;
  return v_filter;
end
$_$;

ALTER FUNCTION outbox.check_filter(p_filter text) OWNER TO postgres;

-- Name: FUNCTION check_filter(p_filter text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_filter(p_filter text) IS 'The filter as jsonpath, or OH001: with the parser''s reason, or because its cost would grow with the square of the payload.';

-- Name: check_handler(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_handler(p_function text) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_function regprocedure;
begin
  v_function := pg_catalog.to_regprocedure(p_function || '(jsonb)');
  if v_function is null or p_function !~ '\.' then
    perform outbox.invalid('function',
      pg_catalog.format('%s(jsonb) does not exist', coalesce(p_function, 'null')),
      'Name the function with its schema, such as public.bill_order; it takes one jsonb');
  end if;
  return (
    select pg_catalog.format('%I.%I', n.nspname, p.proname)
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where p.oid = v_function);
exception when invalid_name or syntax_error then
  raise exception using errcode = 'OH001',
    message = pg_catalog.format('function %s is not a name', p_function), detail = 'function',
    hint = 'Expected a schema and a name, such as public.bill_order';
end
$$;

ALTER FUNCTION outbox.check_handler(p_function text) OWNER TO postgres;

-- Name: FUNCTION check_handler(p_function text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_handler(p_function text) IS 'The function of that name (schema.name) that takes one jsonb, quoted as SQL needs it. OH001.';

-- Name: check_headers(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_headers(p_headers jsonb) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
declare
  v_example constant text :=
    'Expected up to 20 names with their values, such as {"x-api-key": "secret"}';
  v_name text;
  v_problem text;
  v_seen text[] := array[]::text[];
begin
  if pg_catalog.jsonb_typeof(p_headers) is distinct from 'object' then
    perform outbox.invalid('headers', 'is not a JSON object', v_example);
  elsif pg_catalog.octet_length(p_headers::text) > 8192 then
    perform outbox.invalid('headers', 'has more than 8192 bytes',
      'Receivers refuse so many: send the data in the payload');
  elsif (select pg_catalog.count(*) from pg_catalog.jsonb_object_keys(p_headers)) > 20 then
    perform outbox.invalid('headers', 'has more than 20 names', v_example);
  end if;
  for v_name in select k from pg_catalog.jsonb_object_keys(p_headers) k loop
    v_problem := outbox.header_problem(v_name, p_headers -> v_name);
    if v_problem is null and pg_catalog.lower(v_name) = any (v_seen) then
      v_problem := 'is there twice: HTTP does not tell upper from lower case';
    end if;
    if v_problem is not null then
      perform outbox.invalid('headers.' || pg_catalog.left(v_name, 80), v_problem,
        'Expected a header of your own with a value of visible ASCII; Outhook sets what it needs '
        'itself');
    end if;
    v_seen := v_seen || pg_catalog.lower(v_name);
  end loop;
end
$$;

ALTER FUNCTION outbox.check_headers(p_headers jsonb) OWNER TO postgres;

-- Name: FUNCTION check_headers(p_headers jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_headers(p_headers jsonb) IS 'Raises OH001 for the first custom header that may not be sent; never shows a value, which may be a credential.';

-- Name: check_is_open(uuid, uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_is_open(p_event_id uuid, p_endpoint_id uuid, p_remedy text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  if not exists (
    select from outbox.delivery d
    where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id
  ) then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('delivery %s.%s is finished', p_event_id, p_endpoint_id),
      hint = 'Only an open delivery can be tried now or cancelled: ' || p_remedy;
  end if;
end
$$;

ALTER FUNCTION outbox.check_is_open(p_event_id uuid, p_endpoint_id uuid, p_remedy text) OWNER TO postgres;

-- Name: FUNCTION check_is_open(p_event_id uuid, p_endpoint_id uuid, p_remedy text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_is_open(p_event_id uuid, p_endpoint_id uuid, p_remedy text) IS 'Raises OH004 for a delivery that is no longer open.';

-- Name: check_json(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_json(p_body text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  perform p_body::json;
exception
  when invalid_text_representation or untranslatable_character or program_limit_exceeded
    or statement_too_complex then
    raise exception using errcode = 'OH001',
      message = pg_catalog.format('payload is not JSON: %s', sqlerrm), detail = 'payload',
      hint = 'Expected one JSON value, such as {"id": 1}';
end
$$;

ALTER FUNCTION outbox.check_json(p_body text) OWNER TO postgres;

-- Name: FUNCTION check_json(p_body text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_json(p_body text) IS 'Raises OH001 with the parser''s reason unless the text is one JSON value.';

-- Name: check_kafka(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_kafka(p_broker jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $_$
declare
  v_broker jsonb := '{"topic": "{type}", "tls": true, "ca": null, "sasl": null,
    "dlq_topic": "{topic}.dlq"}'::jsonb || p_broker;
  v_address text;
begin
  perform outbox.check_members('broker', p_broker, array[
    'brokers', 'topic', 'tls', 'ca', 'sasl', 'dlq_topic'], 'kafka');
  if pg_catalog.jsonb_typeof(v_broker -> 'brokers') is distinct from 'array'
    or pg_catalog.jsonb_array_length(v_broker -> 'brokers') not between 1 and 20
  then
    perform outbox.invalid('broker.brokers', 'is not a list of 1 to 20 addresses',
      'Expected something like ["kafka-1.example.com:9093"]; the others are learnt from these');
  end if;
  for v_address in select a from pg_catalog.jsonb_array_elements_text(v_broker -> 'brokers') a loop
    if v_address like '[%' then
      perform outbox.invalid('broker.brokers', 'has an IPv6 address, which kafkajs cannot read',
        'Use a name such as kafka-1.example.com:9093');
    end if;
    perform outbox.check_broker_address('broker.brokers', v_address);
  end loop;
  perform outbox.check_template('broker.topic', v_broker -> 'topic', array['type', 'org'],
    '^[A-Za-z0-9._-]*$');
  if v_broker -> 'dlq_topic' <> 'null' then
    perform outbox.check_template('broker.dlq_topic', v_broker -> 'dlq_topic',
      array['type', 'org', 'topic'], '^[A-Za-z0-9._-]*$');
    if v_broker -> 'dlq_topic' in (v_broker -> 'topic', '"{topic}"') then
      perform outbox.invalid('broker.dlq_topic', 'is the topic itself',
        'Expected another one, such as {topic}.dlq, or null for none');
    end if;
  end if;
  if pg_catalog.jsonb_typeof(v_broker -> 'tls') <> 'boolean' then
    perform outbox.invalid('broker.tls', 'is not true or false', 'Expected true');
  elsif v_broker -> 'tls' = 'false' and not outbox.setting_on('egress.allow_http') then
    perform outbox.invalid('broker.tls', 'is false', 'Use TLS. For local development: '
      'select outbox.set_setting(''egress.allow_http'', ''true'')');
  end if;
  if v_broker -> 'sasl' <> 'null' then
    perform outbox.check_choice('broker.sasl', v_broker ->> 'sasl',
      array['plain', 'scram-sha-256', 'scram-sha-512']);
  end if;
  perform outbox.check_ca(v_broker -> 'ca');
  return v_broker;
end
$_$;

ALTER FUNCTION outbox.check_kafka(p_broker jsonb) OWNER TO postgres;

-- Name: FUNCTION check_kafka(p_broker jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_kafka(p_broker jsonb) IS 'The settings of a Kafka endpoint, complete: {"brokers": ["host:port"], "topic", "tls", "ca", "sasl", "dlq_topic"}. OH001.';

-- Name: check_members(text, jsonb, text[], text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_members(p_field text, p_value jsonb, p_members text[], p_kind text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
declare
  v_stray text;
begin
  if pg_catalog.jsonb_typeof(p_value) is distinct from 'object' then
    perform outbox.invalid(p_field, 'is not an object',
      'Expected members such as ' || pg_catalog.array_to_string(p_members, ', '));
  end if;
  select k into v_stray from pg_catalog.jsonb_object_keys(p_value) k
  where k <> all (p_members) order by k limit 1;
  if found then
    perform outbox.invalid(p_field || '.' || pg_catalog.left(v_stray, 60),
      'is no setting of kind ' || p_kind,
      'Expected ' || pg_catalog.array_to_string(p_members, ', '));
  end if;
end
$$;

ALTER FUNCTION outbox.check_members(p_field text, p_value jsonb, p_members text[], p_kind text) OWNER TO postgres;

-- Name: FUNCTION check_members(p_field text, p_value jsonb, p_members text[], p_kind text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_members(p_field text, p_value jsonb, p_members text[], p_kind text) IS 'Raises OH001 for the first member of an object that its kind does not know.';

-- Name: check_message(outbox.outbound_message); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_message(p_message outbox.outbound_message) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $_$
begin
  perform outbox.check_org(p_message.org_id);
  perform outbox.check_choice('channel', p_message.channel, array['WHATSAPP']);
  perform outbox.check_recipient(p_message.to_recipient);
  if p_message.dossier_id is not null then
    perform outbox.check_dossier(p_message.dossier_id);
  end if;
  if p_message.idempotency_key !~ '^[\x21-\x7e]{1,255}$' then
    perform outbox.invalid('Idempotency-Key', 'is not 1 to 255 visible ASCII characters',
      'Use an id without spaces, or leave it out');
  end if;
  if pg_catalog.jsonb_typeof(p_message.payload_json) is distinct from 'object' then
    perform outbox.invalid('payloadJson', 'is not a JSON object',
      'Expected the template''s parameters, or without a template something like '
      '{"type": "text", "text": "…"}');
  elsif pg_catalog.octet_length(p_message.payload_json::text) > 65536 then
    perform outbox.invalid('payloadJson', 'has more than 65536 bytes', 'Send a link instead');
  elsif p_message.template_code is null and not p_message.payload_json ? 'type' then
    perform outbox.invalid('payloadJson.type', 'is missing',
      'Without a templateCode say what kind of message it is, such as text');
  end if;
end
$_$;

ALTER FUNCTION outbox.check_message(p_message outbox.outbound_message) OWNER TO postgres;

-- Name: FUNCTION check_message(p_message outbox.outbound_message); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_message(p_message outbox.outbound_message) IS 'Raises OH001 for the first field of a new message that is not valid.';

-- Name: check_message_id(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_message_id(p_org_id text, p_message_id text) RETURNS outbox.outbound_message
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_message outbox.outbound_message;
begin
  select * into v_message from outbox.outbound_message m
  where m.id = outbox.message_number(p_message_id) and m.org_id = p_org_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('message %s does not exist',
        pg_catalog.quote_nullable(pg_catalog.left(p_message_id, 40))),
      hint = 'create_message() returns the id of a message; list_messages() shows them';
  end if;
  return v_message;
end
$$;

ALTER FUNCTION outbox.check_message_id(p_org_id text, p_message_id text) OWNER TO postgres;

-- Name: FUNCTION check_message_id(p_org_id text, p_message_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_message_id(p_org_id text, p_message_id text) IS 'The message of that org, or OH002.';

-- Name: check_old_secrets(uuid, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_old_secrets(p_endpoint_id uuid, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_most constant integer := 5;
  v_old integer;
  v_first timestamptz;
begin
  select pg_catalog.count(*), pg_catalog.min(s.expires_at) into v_old, v_first
  from outbox.endpoint_secret s where s.endpoint_id = p_endpoint_id and s.expires_at > p_now;
  if v_old > v_most then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s has %s old secrets that still sign', p_endpoint_id,
        v_most),
      hint = pg_catalog.format(
        'The first of them ends at %s; read_secret() lists them and expire_secret() ends one at '
        'once', v_first);
  end if;
end
$$;

ALTER FUNCTION outbox.check_old_secrets(p_endpoint_id uuid, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION check_old_secrets(p_endpoint_id uuid, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_old_secrets(p_endpoint_id uuid, p_now timestamp with time zone) IS 'Raises OH004 when more than 5 replaced secrets of an endpoint still sign: each makes every header longer.';

-- Name: check_org(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_org(p_org_id text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
begin
  if p_org_id is null or p_org_id !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$' then
    perform outbox.invalid('org_id',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(pg_catalog.left(p_org_id, 80))),
      'Expected 1 to 64 letters, digits, _ . : -, such as org-123');
  end if;
end
$_$;

ALTER FUNCTION outbox.check_org(p_org_id text) OWNER TO postgres;

-- Name: FUNCTION check_org(p_org_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_org(p_org_id text) IS 'Raises OH001 unless this may be an organisation''s id.';

-- Name: check_overlap(interval); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_overlap(p_overlap interval) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  if p_overlap is null or p_overlap < interval '0' or p_overlap > interval '30 days' then
    perform outbox.invalid('overlap',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(p_overlap::text)),
      'Expected how long the old secret signs on, from 0 to 30 days, such as 24 hours');
  end if;
end
$$;

ALTER FUNCTION outbox.check_overlap(p_overlap interval) OWNER TO postgres;

-- Name: FUNCTION check_overlap(p_overlap interval); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_overlap(p_overlap interval) IS 'Raises OH001 for an overlap that is not between 0 and 30 days.';

-- Name: check_page(integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_page(p_limit integer) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  perform outbox.check_range('limit', p_limit, 1, 100);
end
$$;

ALTER FUNCTION outbox.check_page(p_limit integer) OWNER TO postgres;

-- Name: FUNCTION check_page(p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_page(p_limit integer) IS 'Raises OH001 for a page size that is not between 1 and 100.';

-- Name: check_publisher(outbox.event); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_publisher(p_event outbox.event) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  perform outbox.check_org(p_event.org_id);
  -- Endpoints of outhook receive operational events; send_test_event() is all that a person
  -- publishes to them.
  if p_event.org_id = 'outhook'
    and (p_event.type is distinct from 'outhook.test' or p_event.endpoint_id is null)
  then
    perform outbox.invalid('org_id', 'is outhook, which is the system''s own',
      'Choose another id; operational events are published under this one');
  end if;
end
$$;

ALTER FUNCTION outbox.check_publisher(p_event outbox.event) OWNER TO postgres;

-- Name: FUNCTION check_publisher(p_event outbox.event); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_publisher(p_event outbox.event) IS 'Raises OH001 unless people may publish this event under its org_id.';

-- Name: check_rabbitmq(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_rabbitmq(p_broker jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $_$
declare
  v_broker jsonb := '{"exchange": "amq.topic", "routing_key": "{type}", "mandatory": true,
    "ca": null, "dlq_exchange": "", "dlq_routing_key": null}'::jsonb || p_broker;
  v_url text;
  v_field text;
begin
  perform outbox.check_members('broker', p_broker, array[
    'url', 'exchange', 'routing_key', 'mandatory', 'ca', 'dlq_exchange', 'dlq_routing_key'],
    'rabbitmq');
  v_url := outbox.check_amqp_url(v_broker ->> 'url');
  foreach v_field in array array['exchange', 'dlq_exchange'] loop
    if pg_catalog.jsonb_typeof(v_broker -> v_field) <> 'string'
      or v_broker ->> v_field !~ '^[A-Za-z0-9._:-]{0,127}$'
    then
      perform outbox.invalid('broker.' || v_field, 'is not the name of an exchange',
        'Expected up to 127 letters, digits and . _ : -; an empty text is the default exchange');
    end if;
  end loop;
  perform outbox.check_template('broker.routing_key', v_broker -> 'routing_key',
    array['type', 'org', 'key'], '^[A-Za-z0-9._:#-]*$');
  if v_broker -> 'dlq_routing_key' <> 'null' then
    perform outbox.check_template('broker.dlq_routing_key', v_broker -> 'dlq_routing_key',
      array['type', 'org', 'routing_key'], '^[A-Za-z0-9._:#-]*$');
  end if;
  if pg_catalog.jsonb_typeof(v_broker -> 'mandatory') <> 'boolean' then
    perform outbox.invalid('broker.mandatory', 'is not true or false',
      'true: a message that no queue takes is a failure');
  end if;
  perform outbox.check_ca(v_broker -> 'ca');
  return v_broker || pg_catalog.jsonb_build_object('url', v_url);
end
$_$;

ALTER FUNCTION outbox.check_rabbitmq(p_broker jsonb) OWNER TO postgres;

-- Name: FUNCTION check_rabbitmq(p_broker jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_rabbitmq(p_broker jsonb) IS 'The settings of a RabbitMQ endpoint, complete: {"url": "amqps://host:port/vhost", "exchange", "routing_key", "mandatory", "ca", "dlq_exchange", "dlq_routing_key"}. OH001.';

-- Name: check_range(text, double precision, double precision, double precision); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_range(p_field text, p_value double precision, p_lowest double precision, p_highest double precision) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  if p_value is null or not p_value between p_lowest and p_highest then
    perform outbox.invalid(p_field, pg_catalog.format('is %s', coalesce(p_value::text, 'null')),
      pg_catalog.format('Expected a number from %s to %s', p_lowest, p_highest));
  end if;
end
$$;

ALTER FUNCTION outbox.check_range(p_field text, p_value double precision, p_lowest double precision, p_highest double precision) OWNER TO postgres;

-- Name: FUNCTION check_range(p_field text, p_value double precision, p_lowest double precision, p_highest double precision); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_range(p_field text, p_value double precision, p_lowest double precision, p_highest double precision) IS 'Raises OH001 unless a number lies within its bounds.';

-- Name: check_recipient(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_recipient(p_to text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
begin
  if p_to is null or p_to !~ '^\+[1-9][0-9]{6,14}$' then
    -- Not shown: it may be somebody's number.
    perform outbox.invalid('to', 'is not a number in E.164 form',
      'Expected + and 7 to 15 digits, the country''s code first, such as +12025550111');
  end if;
end
$_$;

ALTER FUNCTION outbox.check_recipient(p_to text) OWNER TO postgres;

-- Name: FUNCTION check_recipient(p_to text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_recipient(p_to text) IS 'Raises OH001 unless this may be a person''s number.';

-- Name: check_secret(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_secret(p_secret text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
declare
  v_expected constant text := 'Expected whsec_ followed by the base64 of 24 to 64 random bytes';
  v_base64 text;
  v_length integer;
begin
  if p_secret is null or p_secret = '' then
    perform outbox.invalid('secret', 'is empty', v_expected);
  elsif p_secret like 'v1,%' then
    perform outbox.invalid('secret', 'starts with v1,', v_expected || '; leave the v1, away');
  elsif p_secret not like 'whsec\_%' then
    perform outbox.invalid('secret', 'does not start with whsec_', v_expected);
  end if;
  v_base64 := pg_catalog.rtrim(pg_catalog.substr(p_secret, 7), '=');
  if v_base64 !~ '^[A-Za-z0-9+/]+$' or pg_catalog.length(v_base64) % 4 = 1 then
    perform outbox.invalid('secret', 'is not base64 behind whsec_',
      v_expected || ' in the standard alphabet');
  end if;
  v_length := pg_catalog.length(v_base64) * 3 / 4;
  if v_length not between 24 and 64 then
    perform outbox.invalid('secret', pg_catalog.format('has %s bytes', v_length), v_expected);
  end if;
  return 'whsec_' || v_base64 || pg_catalog.repeat('=', (4 - pg_catalog.length(v_base64) % 4) % 4);
end
$_$;

ALTER FUNCTION outbox.check_secret(p_secret text) OWNER TO postgres;

-- Name: FUNCTION check_secret(p_secret text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_secret(p_secret text) IS 'The secret in its canonical form (padded base64 behind whsec_), or OH001 that says what is expected; never shows the secret.';

-- Name: check_setting(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_setting() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_now jsonb := case when tg_op = 'UPDATE' then old.value end;
  v_problem text;
  v_remedy text := new.description;
begin
  if tg_when = 'BEFORE' then
    v_problem := outbox.setting_problem(new, new.value);
    new.updated_at := pg_catalog.now();
  else
    select * into v_problem, v_remedy from outbox.setting_conflict(new.name);
  end if;
  if v_problem is not null then
    raise exception using errcode = 'OH005',
      message = pg_catalog.format('setting %s %s', new.name, v_problem),
      detail = new.name,
      hint = v_remedy || coalesce('. It is ' || v_now::text || ' now', '');
  end if;
  return new;
end
$$;

ALTER FUNCTION outbox.check_setting() OWNER TO postgres;

-- Name: FUNCTION check_setting(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_setting() IS 'Trigger: raises OH005 for a value that may not be stored: message "setting <name> <problem>", detail: the name, hint: the remedy.';

-- Name: check_signing_key(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_signing_key(p_secret text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
declare
  v_expected constant text :=
    'Expected whsk_ followed by the base64 of an ed25519 key: 32 bytes of seed, 32 of public '
    'key. `deno task keypair` makes one';
  v_base64 text := pg_catalog.rtrim(pg_catalog.substr(p_secret, 6), '=');
begin
  if v_base64 !~ '^[A-Za-z0-9+/]+$' or pg_catalog.length(v_base64) % 4 = 1 then
    perform outbox.invalid('secret', 'is not base64 behind whsk_', v_expected);
  elsif pg_catalog.length(v_base64) * 3 / 4 <> 64 then
    perform outbox.invalid('secret',
      pg_catalog.format('has %s bytes behind whsk_', pg_catalog.length(v_base64) * 3 / 4),
      v_expected);
  end if;
  return 'whsk_' || v_base64 || '==';
end
$_$;

ALTER FUNCTION outbox.check_signing_key(p_secret text) OWNER TO postgres;

-- Name: FUNCTION check_signing_key(p_secret text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_signing_key(p_secret text) IS 'An ed25519 key in its canonical form (padded base64 behind whsk_), or OH001 that says what is expected; never shows the key.';

-- Name: check_signs(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_signs(p_endpoint_id uuid) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_kind text := (outbox.check_endpoint(p_endpoint_id)).kind;
begin
  if v_kind <> 'webhook' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is of kind %s, which has no signing secret',
        p_endpoint_id, v_kind),
      hint = 'Webhooks alone are signed';
  end if;
end
$$;

ALTER FUNCTION outbox.check_signs(p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION check_signs(p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_signs(p_endpoint_id uuid) IS 'Raises OH004 for an endpoint of a kind that signs nothing, OH002 when there is none.';

-- Name: check_template(text, jsonb, text[], text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_template(p_field text, p_template jsonb, p_names text[], p_characters text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
declare
  v_text text := p_template #>> '{}';
begin
  if pg_catalog.jsonb_typeof(p_template) is distinct from 'string' or v_text = ''
    or pg_catalog.length(v_text) > 200
    or pg_catalog.regexp_replace(v_text,
      '\{(' || pg_catalog.array_to_string(p_names, '|') || ')\}', '', 'g') !~ p_characters
  then
    perform outbox.invalid(p_field, 'is not a text of 1 to 200 such characters',
      pg_catalog.format('Expected letters, digits, . _ - and {%s}, such as shop.{type}',
        pg_catalog.array_to_string(p_names, '}, {')));
  end if;
end
$$;

ALTER FUNCTION outbox.check_template(p_field text, p_template jsonb, p_names text[], p_characters text) OWNER TO postgres;

-- Name: FUNCTION check_template(p_field text, p_template jsonb, p_names text[], p_characters text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_template(p_field text, p_template jsonb, p_names text[], p_characters text) IS 'Raises OH001 unless a template has only the placeholders {…} of p_names and, beside them, what the pattern p_characters allows.';

-- Name: check_type(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_type(p_type text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
begin
  if p_type is null or p_type !~ '^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$'
    or pg_catalog.length(p_type) > 128
  then
    perform outbox.invalid('type',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(pg_catalog.left(p_type, 140))),
      'Expected words of letters, digits, _ and - with dots between them, such as order.paid, at '
      'most 128 characters');
  end if;
  if p_type = 'outhook.dead_letter' then
    perform outbox.invalid('type', 'is outhook.dead_letter, which is the system''s own',
      'Choose another type; what a broker did not take is published under this one');
  end if;
end
$_$;

ALTER FUNCTION outbox.check_type(p_type text) OWNER TO postgres;

-- Name: FUNCTION check_type(p_type text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_type(p_type text) IS 'Raises OH001 unless this may be an event''s type.';

-- Name: check_unordered(outbox.event); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_unordered(p_event outbox.event) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  if exists (
    select
    from outbox.subscription s
    join outbox.endpoint e on e.id = s.endpoint_id and e.state <> 'deleted' and e.ordering <> 'none'
    where s.org_id = p_event.org_id and s.pattern = any (outbox.type_patterns(p_event.type)))
  then
    perform outbox.invalid('deliver_at',
      'is given for a type that an ordered endpoint is subscribed to',
      'A later delivery would hold up what follows it: leave it out, or name one endpoint '
      'without order');
  end if;
end
$$;

ALTER FUNCTION outbox.check_unordered(p_event outbox.event) OWNER TO postgres;

-- Name: FUNCTION check_unordered(p_event outbox.event); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_unordered(p_event outbox.event) IS 'Raises OH001 when an ordered endpoint is subscribed to the type of an event that is for later.';

-- Name: check_url(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_url(p_url text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_problem text;
begin
  v_problem := case
    when p_url is null or p_url = '' then 'is empty'
    when pg_catalog.length(p_url) > 2048 then 'is longer than 2048 characters'
    when p_url ~ '[[:space:][:cntrl:]]' then 'holds a space or a control character'
    when p_url !~* '^https?://[^/?#]+' then 'is not an absolute http or https URL'
    when p_url ~* '^https?://[^/?#]*@' then 'carries credentials'
    when p_url ~* '^http://' and not outbox.setting_on('egress.allow_http') then 'is not https'
    else outbox.authority_problem(p_url)
  end;
  if v_problem is not null then
    perform outbox.invalid('url', v_problem, case v_problem
      when 'is not https' then
        'Use https. For local development: '
        'select outbox.set_setting(''egress.allow_http'', ''true'')'
      when 'has a host that is not allowed' then
        'Use a host on the public Internet. A network of one''s own is allowed by the setting '
        'egress.allow_cidrs'
      when 'has a port that is not allowed' then
        'Use 443, or another port that the settings egress.allow_ports and egress.deny_ports allow'
      when 'has a host that is no name of letters, digits and hyphens' then
        'Expected something like https://example.com/webhooks; write an international name in its '
        'xn-- form'
      else 'Expected something like https://example.com/webhooks'
    end);
  end if;
  return p_url;
end
$$;

ALTER FUNCTION outbox.check_url(p_url text) OWNER TO postgres;

-- Name: FUNCTION check_url(p_url text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_url(p_url text) IS 'The URL as given, or OH001 that says what is wrong with it. The addresses behind a name are vetted at each send.';

-- Name: check_watched(regclass); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.check_watched(p_table regclass) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  if p_table is null or not exists (
    select from pg_catalog.pg_class c
    where c.oid = p_table and c.relkind in ('r', 'p')
      and c.relnamespace <> 'outbox'::regnamespace
      and c.relnamespace <> 'pg_catalog'::regnamespace)
  then
    perform outbox.invalid('table',
      pg_catalog.format('is %s', coalesce(p_table::text, 'null')),
      'Expected a table of the application''s own; of a view, watch the tables behind it');
  end if;
end
$$;

ALTER FUNCTION outbox.check_watched(p_table regclass) OWNER TO postgres;

-- Name: FUNCTION check_watched(p_table regclass); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.check_watched(p_table regclass) IS 'Raises OH001 unless this is a table that can be watched.';

-- Name: claim(integer, uuid[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.claim(p_limit integer, p_touched uuid[], p_now timestamp with time zone) RETURNS outbox.claimed
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_endpoints uuid[];
  v_claimed outbox.claimed;
  v_served uuid[];
begin
  if p_touched is not null then
    perform outbox.park(p_touched, p_now);
  end if;
  if p_limit > 0 then
    v_endpoints := outbox.due_gates(p_limit, p_now);
  end if;
  if v_endpoints is not null then
    if outbox.lose_leases(v_endpoints, p_now) > 0 then
      perform outbox.park(v_endpoints, p_now);
    end if;
  end if;
  -- A lane may be due in vain, its first delivery having been put off or the clock set back. What
  -- take() saw only such lanes of goes on to its next ones: every look puts some of them aside. The
  -- number is a precaution.
  for v_look in 1 .. 100 loop
    exit when v_endpoints is null;
    v_claimed := outbox.take(v_endpoints, p_limit, p_now);
    v_served := v_claimed.endpoints;
    if v_claimed.events is not null and exists (select from outbox.whatsapp_channel) then
      v_claimed := outbox.take_messages(v_claimed, p_now);
    end if;
    perform outbox.park(v_endpoints, p_now, v_served);
    exit when v_claimed.events is not null;
    v_endpoints := outbox.still_due(v_endpoints, p_now);
  end loop;
  return v_claimed;
end
$$;

ALTER FUNCTION outbox.claim(p_limit integer, p_touched uuid[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION claim(p_limit integer, p_touched uuid[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.claim(p_limit integer, p_touched uuid[], p_now timestamp with time zone) IS 'Parks the gates that complete() and route() touched, then leases up to p_limit deliveries from the gates that are due.';

-- Name: claimed_before(uuid, bigint, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.claimed_before(p_run uuid, p_seq bigint, p_now timestamp with time zone) RETURNS outbox.claimed
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_claimed outbox.claimed;
begin
  select pg_catalog.array_agg(h.event_id), pg_catalog.array_agg(h.endpoint_id),
    pg_catalog.array_agg(h.attempt), pg_catalog.array_agg(h.tries),
    pg_catalog.array_agg(h.lane_id), pg_catalog.array_agg(h.ordered),
    pg_catalog.array_agg(h.replayed), pg_catalog.array_agg(h.lease_ms)
  into v_claimed
  from (
    select d.event_id, d.endpoint_id, d.attempt, d.tries, d.lane_id, l.ordered,
      d.replayed_at is not null as replayed,
      (extract(epoch from d.leased_until - p_now) * 1000)::integer as lease_ms
    from outbox.run_batch b
    cross join lateral unnest(b.events, b.endpoints, b.attempts) with ordinality
      as c (event_id, endpoint_id, attempt, place)
    cross join lateral (
      select d.* from outbox.delivery d
      where d.event_id = c.event_id and d.endpoint_id = c.endpoint_id and d.attempt = c.attempt
        and d.leased_until > p_now offset 0
    ) d
    cross join lateral (
      select l.ordered from outbox.lane l
      where l.id = d.lane_id order by l.changed_at desc limit 1
    ) l
    where b.run_id = p_run and b.seq = p_seq
    order by c.place
  ) h;
  return v_claimed;
end
$$;

ALTER FUNCTION outbox.claimed_before(p_run uuid, p_seq bigint, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION claimed_before(p_run uuid, p_seq bigint, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.claimed_before(p_run uuid, p_seq bigint, p_now timestamp with time zone) IS 'What an earlier call of a run claimed, of it what is still leased.';

-- Name: cleanup(integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.cleanup(p_most integer DEFAULT 100000) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_few constant integer := least(p_most, 10000);
  v_saga_keys integer;
  v_keys integer;
  v_letters integer;
  v_runs integer;
  v_accepted integer;
  v_messages integer;
  v_updates integer;
  v_inbound integer;
  v_requests integer;
begin
  -- A lane of one recipient outlives its last delivery by its spacing.
  delete from outbox.lane l
  where l.ordered and l.depth = 0 and l.leased = 0 and not l.halted and l.not_before <= v_now
    and exists (select from outbox.gate g where g.id = l.gate_id for no key update skip locked);
  delete from outbox.consumer_inbox i where i.ctid = any (array(
    select o.ctid from outbox.consumer_inbox o
    where o.accepted_at
      < v_now - pg_catalog.make_interval(days => outbox.setting_int('inbox.retention_days'))
    order by o.accepted_at limit p_most));
  get diagnostics v_accepted = row_count;
  delete from outbox.saga_key k where k.ctid = any (array(
    select o.ctid from outbox.saga_key o
    where o.created_at < v_now - outbox.key_window() order by o.created_at limit p_most));
  get diagnostics v_saga_keys = row_count;
  delete from outbox.idempotency_key k where k.ctid = any (array(
    select o.ctid from outbox.idempotency_key o
    where o.created_at < v_now - outbox.key_window() order by o.created_at limit p_most));
  get diagnostics v_keys = row_count;
  delete from outbox.dead_letter x where x.ctid = any (array(
    select o.ctid from outbox.dead_letter o
    where greatest(o.discarded_at, o.delivered_at) < v_now
        - pg_catalog.make_interval(days => outbox.setting_int('dead_letter.retention_days'))
      and not exists (
        select from outbox.delivery d
        where d.event_id = o.event_id and d.endpoint_id = o.endpoint_id)
    limit p_most for update skip locked));
  get diagnostics v_letters = row_count;
  delete from cron.job_run_details r where r.runid = any (array(
    select o.runid from cron.job_run_details o
    where o.end_time < pg_catalog.clock_timestamp() - interval '7 days'
      and o.jobid in (select j.jobid from cron.job j where j.jobname like 'outhook-%')
    limit p_most));
  get diagnostics v_runs = row_count;
  delete from outbox.lane l
  where not l.ordered and l.key_hash > 0 and l.depth = 0 and l.leased = 0
    and exists (
      select from outbox.replay_job j
      where j.id = l.key_hash and j.state in ('done', 'cancelled')
        and j.finished_at < v_now - interval '1 day')
    and exists (select from outbox.gate g where g.id = l.gate_id for no key update skip locked);
  v_messages := outbox.erase_messages(v_few);
  v_updates := outbox.forget_updates(v_now, p_most);
  v_inbound := outbox.erase_inbound(v_now, v_few);
  v_requests := outbox.forget_requests(v_now, p_most);
  return pg_catalog.jsonb_build_object(
    'idempotency_keys', v_keys, 'dead_letters', v_letters, 'job_runs', v_runs,
    'accepted', v_accepted, 'messages', v_messages, 'updates', v_updates, 'inbound', v_inbound,
    'secrets', outbox.drop_expired_secrets(v_now), 'request_keys', v_requests,
    'more', greatest(v_accepted, v_saga_keys, v_keys, v_letters, v_runs, v_updates, v_requests)
        >= p_most
      or greatest(v_messages, v_inbound) >= v_few);
end
$$;

ALTER FUNCTION outbox.cleanup(p_most integer) OWNER TO postgres;

-- Name: FUNCTION cleanup(p_most integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.cleanup(p_most integer) IS 'Removes what has had its time, up to p_most of each kind (10,000 messages): {"idempotency_keys", "dead_letters", "job_runs", "accepted" (of consumer_inbox), "messages" (erased), "updates" (of WhatsApp), "inbound" (erased), "secrets", "request_keys", "more": whether there may be more, so that it should be called again}. Delivered history goes with its partition (drop_partitions()) after event.delivered_days.';

-- Name: clock(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.clock() RETURNS timestamp with time zone
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.clock_timestamp();
end
$$;

ALTER FUNCTION outbox.clock() OWNER TO postgres;

-- Name: FUNCTION clock(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.clock() IS 'The time that the outbox goes by: that of the call. Tests put another function in its place.';

-- Name: delivery; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.delivery (
    event_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    lane_id bigint NOT NULL,
    due_at timestamp with time zone NOT NULL,
    leased_until timestamp with time zone,
    attempt integer DEFAULT 0 NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    body_bytes integer NOT NULL,
    replayed_at timestamp with time zone,
    deliver_at timestamp with time zone
)
WITH (fillfactor='85', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');

ALTER TABLE outbox.delivery OWNER TO postgres;

-- Name: TABLE delivery; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.delivery IS 'Open deliveries. attempt counts claims and only grows: it is the fencing token; tries counts what the retry budget has lost; leased_until is set while a run holds it; body_bytes is the size of the event''s body, which bounds a batch; replayed_at begins the life of a replay; deliver_at is when the publisher wished for it, null for at once.';

-- Name: close_delivery(outbox.delivery, text, text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.close_delivery(p_delivery outbox.delivery, p_outcome text, p_why text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_was_first boolean;
  v_retry_at timestamptz;
begin
  delete from outbox.delivery d
  where d.event_id = p_delivery.event_id and d.endpoint_id = p_delivery.endpoint_id;
  insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, error)
  values (p_delivery.event_id, p_delivery.endpoint_id, p_delivery.attempt, p_now, 'close',
    p_outcome, p_why);
  perform outbox.count_ended(p_delivery.endpoint_id, p_outcome, 1);
  update outbox.dead_letter x set attempt = p_delivery.attempt
  where x.event_id = p_delivery.event_id and x.endpoint_id = p_delivery.endpoint_id;
  -- An ordered lane waits for the retry of its first delivery, and for no other's: when that one is
  -- closed, the next may have failed as well, since a lane is lost as a whole.
  v_was_first := not exists (
    select from outbox.delivery d
    where d.lane_id = p_delivery.lane_id and d.lane_id > 0
      and (d.due_at, d.event_id) < (p_delivery.due_at, p_delivery.event_id));
  if v_was_first then
    v_retry_at := coalesce(outbox.first_retry_at(p_delivery.lane_id), p_now);
  end if;
  update outbox.lane l set
    depth = l.depth - 1,
    not_before = case
      when l.ordered and v_was_first then least(l.not_before, v_retry_at)
      else l.not_before
    end,
    next_at = case
      when l.depth = 1 then 'infinity'
      when l.ordered and v_was_first and not l.halted and l.leased = 0
        then greatest(p_now, least(l.not_before, v_retry_at))
      else l.next_at
    end
  where l.id = p_delivery.lane_id;
  update outbox.gate g set depth = g.depth - 1 where g.endpoint_id = p_delivery.endpoint_id;
  perform outbox.close_message(p_delivery.event_id, p_outcome, p_why, p_now);
  delete from outbox.lane l
  where l.id = p_delivery.lane_id and l.ordered and l.depth = 0 and not l.halted and l.leased = 0;
  perform outbox.park(array[p_delivery.endpoint_id], p_now);
end
$$;

ALTER FUNCTION outbox.close_delivery(p_delivery outbox.delivery, p_outcome text, p_why text, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION close_delivery(p_delivery outbox.delivery, p_outcome text, p_why text, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.close_delivery(p_delivery outbox.delivery, p_outcome text, p_why text, p_now timestamp with time zone) IS 'Ends a delivery that nobody holds, with its closing receipt. locks: the caller holds the gate.';

-- Name: close_message(uuid, text, text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.close_message(p_event_id uuid, p_outcome text, p_why text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_message outbox.outbound_message;
begin
  select * into v_message from outbox.outbound_message m
  where m.event_id = p_event_id and m.status = 'QUEUED' for update;
  if not found then
    return;
  end if;
  if p_outcome = 'cancelled' then
    v_message.status := 'CANCELLED';
    perform outbox.save_message(v_message, p_now);
    perform outbox.audit(v_message.org_id, 'OUTBOUND_MESSAGE', v_message.id::text, 'CANCELLED',
      'Message cancelled: ' || p_why, null, p_now);
  else
    perform outbox.fail_message(v_message, p_outcome, p_why, p_now);
  end if;
end
$$;

ALTER FUNCTION outbox.close_message(p_event_id uuid, p_outcome text, p_why text, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION close_message(p_event_id uuid, p_outcome text, p_why text, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.close_message(p_event_id uuid, p_outcome text, p_why text, p_now timestamp with time zone) IS 'Ends the message, if there is one that still waits, of a delivery that was closed. locks: the caller holds the gate; the message.';

-- Name: close_pairs(outbox.pair[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.close_pairs(p_pairs outbox.pair[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, error)
  select p.event_id, p.endpoint_id, 0, p_now, 'close',
    case when p.problem is null then 'cancelled' else 'filter_error' end,
    coalesce(p.problem, 'the endpoint was deleted')
  from pg_catalog.unnest(p_pairs) p
  -- An endpoint may have been purged since the batch was read.
  where p.problem is not null
    or (
      select g.id from outbox.gate g
      where g.endpoint_id = p.endpoint_id order by g.changed_at desc limit 1
    ) is null;
  perform outbox.count_ended(p.endpoint_id, 'filter_error', p.n)
  from (
    select p.endpoint_id, pg_catalog.count(*) as n
    from pg_catalog.unnest(p_pairs) p
    where p.problem is not null
    group by p.endpoint_id
  ) p;
end
$$;

ALTER FUNCTION outbox.close_pairs(p_pairs outbox.pair[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION close_pairs(p_pairs outbox.pair[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.close_pairs(p_pairs outbox.pair[], p_now timestamp with time zone) IS 'The closing receipts of pairs that made no delivery because their filter failed or their endpoint is gone.';

-- Name: close_retries(outbox.message_move[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.close_retries(p_moves outbox.message_move[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_delivery outbox.delivery;
begin
  for v_delivery in
    select d.*
    from pg_catalog.unnest(p_moves) x
    cross join lateral (
      select o.* from outbox.outbound_message o where o.id = x.message_id offset 0
    ) m
    cross join lateral (
      select o.* from outbox.delivery o
      where o.event_id = m.event_id and o.endpoint_id = m.channel_id offset 0
    ) d
    where x.was = 'QUEUED' and d.leased_until is null
    order by m.id
  loop
    perform outbox.close_delivery(v_delivery, 'cancelled',
      'its callback says what became of the attempt before', p_now);
  end loop;
end
$$;

ALTER FUNCTION outbox.close_retries(p_moves outbox.message_move[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION close_retries(p_moves outbox.message_move[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.close_retries(p_moves outbox.message_move[], p_now timestamp with time zone) IS 'Closes the pending retries of messages that callbacks took further. The caller holds the gates.';

-- Name: complete(outbox.result[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.complete(p_results outbox.result[], p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_judge uuid[] := outbox.endpoints_to_judge(p_results);
  v_news outbox.news;
  v_applied integer;
begin
  if pg_catalog.cardinality(v_judge) = 0 then
    v_applied := outbox.apply_delivered(p_results, p_now);
  else
    v_news := outbox.apply_results(
      array(select r from pg_catalog.unnest(p_results) r where r.endpoint = any (v_judge)), p_now);
    v_applied := v_news.applied + outbox.apply_delivered(
      array(select r from pg_catalog.unnest(p_results) r where r.endpoint <> all (v_judge)), p_now);
  end if;
  if exists (select from outbox.whatsapp_channel) then
    perform outbox.complete_messages(p_results, p_now);
    perform outbox.throttle_apps(p_results, p_now);
    v_news.gone := outbox.hold_channels(v_news.gone, p_results, p_now);
  end if;
  if v_news.gone is not null then
    perform outbox.disable_itself(v_news.gone, 'gone', p_now);
  end if;
  if v_news.failing is not null then
    perform outbox.disable_itself(v_news.failing, 'failing_for_days', p_now);
  end if;
  if v_news.dead_events is not null then
    perform outbox.announce_dead(v_news.dead_events, v_news.dead_endpoints, p_now);
    perform outbox.publish_dead(v_news.dead_events, v_news.dead_endpoints, p_now);
  end if;
  if v_news.opened is not null then
    perform outbox.count_up('breaker_opens', array[e.kind])
    from outbox.endpoint e where e.id = any (v_news.opened);
    perform outbox.announce('outhook.breaker.opened', v_news.opened, p_now);
  end if;
  if v_news.closed is not null then
    perform outbox.announce('outhook.breaker.closed', v_news.closed, p_now);
  end if;
  return v_applied;
end
$$;

ALTER FUNCTION outbox.complete(p_results outbox.result[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION complete(p_results outbox.result[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.complete(p_results outbox.result[], p_now timestamp with time zone) IS 'Applies results, disables endpoints that are gone, publishes the operational events, and returns how many results applied; the rest are stale. locks: the caller holds the gates.';

-- Name: complete_message(outbox.result, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.complete_message(p_result outbox.result, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_message outbox.outbound_message;
  v_attempt outbox.message_attempt;
  v_receipt outbox.attempt;
begin
  select m.* into v_message from outbox.message_attempt a
  join outbox.outbound_message m on m.id = a.message_id
  where a.event_id = p_result.event and a.claim = p_result.attempt for update of m;
  select * into v_attempt from outbox.message_attempt a
  where a.event_id = p_result.event and a.claim = p_result.attempt;
  if v_attempt.status = 'TRYING' and p_result.outcome = 'released' then
    perform outbox.undo_attempt(v_message, v_attempt, p_now);
    return;
  end if;
  select * into v_receipt from outbox.attempt t
  where t.event_id = p_result.event and t.endpoint_id is not distinct from p_result.endpoint
    and t.attempt = p_result.attempt and t.kind = 'try';
  if v_attempt.status <> 'TRYING' or v_receipt.event_id is null
    or v_receipt.outcome <> p_result.outcome
  then
    perform outbox.heed_late_result(v_message, v_attempt, p_result, p_now);
  elsif p_result.outcome = 'delivered' then
    perform outbox.mark_sent(v_message, v_attempt, p_result.provider_id, p_result.provider, p_now);
  else
    perform outbox.fail_attempt(v_message, v_attempt, v_receipt, p_result, p_now);
  end if;
end
$$;

ALTER FUNCTION outbox.complete_message(p_result outbox.result, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION complete_message(p_result outbox.result, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.complete_message(p_result outbox.result, p_now timestamp with time zone) IS 'Writes what one result means for its message: SENT, FAILED or QUEUED again. locks: the message.';

-- Name: complete_messages(outbox.result[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.complete_messages(p_results outbox.result[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
  v_result outbox.result;
begin
  for v_result in
    select r.event, r.endpoint, r.attempt, r.outcome, r.status, r.error_class, r.error, r.code,
      r.retry_after, r.duration_ms, r.response, r.lossy, r.provider_id, r.provider
    from pg_catalog.unnest(p_results) with ordinality as r (event, endpoint, attempt, outcome,
      status, error_class, error, code, retry_after, duration_ms, response, lossy, provider_id,
      provider, place)
    join outbox.whatsapp_channel w on w.endpoint_id = r.endpoint
    join outbox.message_attempt a on a.event_id = r.event and a.claim = r.attempt
    order by a.message_id, r.place
  loop
    perform outbox.complete_message(v_result, p_now);
  end loop;
  perform outbox.apply_kept(p_results, p_now);
  perform outbox.heed_answers(p_results, p_now);
end
$$;

ALTER FUNCTION outbox.complete_messages(p_results outbox.result[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION complete_messages(p_results outbox.result[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.complete_messages(p_results outbox.result[], p_now timestamp with time zone) IS 'Writes what results mean for their messages, after they were applied to the deliveries. locks: messages by id.';

-- Name: configure(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.configure(p_functions_url text, p_worker_secret text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $_$
begin
  if p_functions_url is null
    or p_functions_url !~ '^https?://[^[:space:]/?#@]+(/[^[:space:]?#]*)?$'
  then
    -- Not shown: what is wrong with it may be a password or a key.
    perform outbox.invalid('functions_url',
      'is not an http or https URL without credentials and query',
      'Expected https://<project>.supabase.co/functions/v1; inside the CLI''s containers '
      'http://kong:8000/functions/v1');
  end if;
  if p_worker_secret is null or pg_catalog.length(p_worker_secret) < 32 then
    perform outbox.invalid('worker_secret', 'has fewer than 32 characters',
      'Use a random one, such as openssl rand -hex 32 prints, and give the function the same as '
      'OUTHOOK_WORKER_SECRET');
  end if;
  if p_worker_secret ~ '[,[:space:]]' then
    perform outbox.invalid('worker_secret', 'holds a comma or white space',
      'The function reads OUTHOOK_WORKER_SECRET as a list with commas, during a rotation of two; '
      'give the new one alone here');
  end if;
  perform outbox.keep_secret('outhook_functions_url', pg_catalog.rtrim(p_functions_url, '/'),
    'Where Outhook''s functions are');
  perform outbox.keep_secret('outhook_worker_secret', p_worker_secret,
    'Shared with the deliver function to sign kicks');
  -- A commit as large as our migration overflows the queue of invalidations, and pg_cron, which
  -- then hears of everything but not of its own table, would not know its new jobs before the next
  -- change of any.
  perform cron.alter_job(j.jobid, active => j.active)
  from cron.job j
  where j.jobname = 'outhook-tick';
  return pg_catalog.jsonb_build_object('functions_url', pg_catalog.rtrim(p_functions_url, '/'));
end
$_$;

ALTER FUNCTION outbox.configure(p_functions_url text, p_worker_secret text) OWNER TO postgres;

-- Name: FUNCTION configure(p_functions_url text, p_worker_secret text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.configure(p_functions_url text, p_worker_secret text) IS 'Says where the functions are and which secret starts them; both go to Vault. Returns {"functions_url"}. Call it again to change either. OH001.';

-- Name: consents_json(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.consents_json(p_org_id text, p_dossier_id text) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.jsonb_build_object('data', coalesce((
    select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'dossierId', c.dossier_id, 'channel', c.channel, 'purpose', c.purpose,
        'granted', c.granted, 'source', c.source, 'evidence', c.evidence, 'actor', c.actor,
        'at', outbox.iso_time(c.created_at), 'inForce', c.n = 1)
      order by c.id desc)
    from (
      select x.*, pg_catalog.row_number() over (
        partition by x.channel, x.purpose order by x.id desc) as n
      from outbox.consent x
      where x.org_id = p_org_id and x.dossier_id = p_dossier_id
      order by x.id desc limit 1000
    ) c), '[]'));
end
$$;

ALTER FUNCTION outbox.consents_json(p_org_id text, p_dossier_id text) OWNER TO postgres;

-- Name: FUNCTION consents_json(p_org_id text, p_dossier_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.consents_json(p_org_id text, p_dossier_id text) IS 'What list_consents() returns.';

-- Name: consume(text, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.consume(p_consumer text, p_event_id text, p_function text, p_message text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $_$
declare
  v_function text := outbox.check_handler(p_function);
begin
  if not outbox.accept_once(p_consumer, p_event_id) then
    return false;
  end if;
  execute pg_catalog.format('select %s($1)', v_function) using p_message::jsonb;
  return true;
end
$_$;

ALTER FUNCTION outbox.consume(p_consumer text, p_event_id text, p_function text, p_message text) OWNER TO postgres;

-- Name: FUNCTION consume(p_consumer text, p_event_id text, p_function text, p_message text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.consume(p_consumer text, p_event_id text, p_function text, p_message text) IS 'Hands a message (JSON text) to a function (schema.name, of one jsonb) with the caller''s rights, unless the consumer has that event already: then false. What the function raises passes, and nothing has happened. OH001.';

-- Name: contact_of(text, text, text, jsonb, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.contact_of(p_org_id text, p_wa_id text, p_user_id text, p_contact jsonb, p_now timestamp with time zone) RETURNS uuid
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_wa_id text := case when outbox.number_of(p_wa_id) is not null then p_wa_id end;
  v_of_user outbox.whatsapp_contact;
  v_of_number outbox.whatsapp_contact;
  v_id uuid;
begin
  if v_wa_id is null and p_user_id is null then
    return null;
  end if;
  -- A number that comes with another user id has a new owner.
  update outbox.whatsapp_contact c set wa_id = null
  where c.org_id = p_org_id and c.wa_id = v_wa_id and c.user_id <> p_user_id;
  insert into outbox.whatsapp_contact (org_id, wa_id, user_id, first_seen_at, last_seen_at)
  select p_org_id, v_wa_id, p_user_id, p_now, p_now
  where not exists (
    select from outbox.whatsapp_contact c
    where c.org_id = p_org_id and (c.wa_id = v_wa_id or c.user_id = p_user_id))
  on conflict do nothing;
  select * into v_of_user from outbox.whatsapp_contact c
  where c.org_id = p_org_id and c.user_id = p_user_id for update;
  select * into v_of_number from outbox.whatsapp_contact c
  where c.org_id = p_org_id and c.wa_id = v_wa_id for update;
  v_id := coalesce(v_of_user.id, v_of_number.id);
  -- Two contacts that turn out to be one.
  if v_of_user.id <> v_of_number.id then
    update outbox.inbound_message m set contact_id = v_id where m.contact_id = v_of_number.id;
    delete from outbox.whatsapp_contact c where c.id = v_of_number.id;
  end if;
  update outbox.whatsapp_contact c set
    wa_id = coalesce(v_wa_id, c.wa_id),
    user_id = coalesce(p_user_id, c.user_id),
    parent_user_id = coalesce(pg_catalog.left(p_contact ->> 'parent_user_id', 256),
      c.parent_user_id),
    name = coalesce(pg_catalog.left(p_contact #>> '{profile,name}', 256), c.name),
    username = coalesce(pg_catalog.left(p_contact #>> '{profile,username}', 256), c.username),
    last_seen_at = greatest(c.last_seen_at, p_now)
  where c.id = v_id;
  return v_id;
end
$$;

ALTER FUNCTION outbox.contact_of(p_org_id text, p_wa_id text, p_user_id text, p_contact jsonb, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION contact_of(p_org_id text, p_wa_id text, p_user_id text, p_contact jsonb, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.contact_of(p_org_id text, p_wa_id text, p_user_id text, p_contact jsonb, p_now timestamp with time zone) IS 'The contact of an org with that number or user id, made or completed; null without either. locks: the contact.';

-- Name: count_ended(uuid, text, bigint); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.count_ended(p_endpoint_id uuid, p_outcome text, p_n bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  perform outbox.count_up('deliveries', array[e.kind, p_outcome], p_n)
  from outbox.endpoint e where e.id = p_endpoint_id;
  if p_outcome = 'expired' then
    perform outbox.count_up('dead_letters', array[e.kind, p_outcome], p_n)
    from outbox.endpoint e where e.id = p_endpoint_id;
  end if;
end
$$;

ALTER FUNCTION outbox.count_ended(p_endpoint_id uuid, p_outcome text, p_n bigint) OWNER TO postgres;

-- Name: FUNCTION count_ended(p_endpoint_id uuid, p_outcome text, p_n bigint); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.count_ended(p_endpoint_id uuid, p_outcome text, p_n bigint) IS 'Counts deliveries that ended without a try: cancelled, expired, filter_error.';

-- Name: count_failure(uuid, text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.count_failure(p_event uuid, p_error text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  update outbox.unrouted u set failures = u.failures + 1 where u.event_id = p_event;
  insert into outbox.unroutable (event_id, error, set_aside_at, routed_to)
  select u.event_id, p_error, p_now, u.routed_to from outbox.unrouted u
  where u.event_id = p_event and u.failures >= 3
  on conflict (event_id) do update set
    error = excluded.error, set_aside_at = excluded.set_aside_at, routed_to = excluded.routed_to;
  if found then
    perform outbox.count_up('events', array['set_aside']);
  end if;
  delete from outbox.unrouted u where u.event_id = p_event and u.failures >= 3;
end
$$;

ALTER FUNCTION outbox.count_failure(p_event uuid, p_error text, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION count_failure(p_event uuid, p_error text, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.count_failure(p_event uuid, p_error text, p_now timestamp with time zone) IS 'Notes that an event could not be routed; the third time it is set aside in unroutable.';

-- Name: count_message(text, text, bigint); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.count_message(p_status text, p_error_code text DEFAULT NULL::text, p_n bigint DEFAULT 1) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  perform outbox.count_up('messages', array[pg_catalog.lower(p_status), case
    when p_status = 'FAILED' then coalesce(pg_catalog.left(p_error_code, 40), '')
    else ''
  end], p_n);
end
$$;

ALTER FUNCTION outbox.count_message(p_status text, p_error_code text, p_n bigint) OWNER TO postgres;

-- Name: FUNCTION count_message(p_status text, p_error_code text, p_n bigint); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.count_message(p_status text, p_error_code text, p_n bigint) IS 'Counts that messages got a status.';

-- Name: count_messages(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.count_messages(p_org_id text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return (
    select pg_catalog.jsonb_object_agg(s.status, (
      select pg_catalog.count(*) from outbox.outbound_message m
      where m.org_id = p_org_id and m.status = s.status))
    from pg_catalog.unnest(
      array['QUEUED', 'SENDING', 'SENT', 'DELIVERED', 'FAILED', 'CANCELLED']) as s (status));
end
$$;

ALTER FUNCTION outbox.count_messages(p_org_id text) OWNER TO postgres;

-- Name: FUNCTION count_messages(p_org_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.count_messages(p_org_id text) IS 'How many messages of an org have each status: {"QUEUED": 0, …}.';

-- Name: count_moves(outbox.message_move[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.count_moves(p_moves outbox.message_move[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  perform outbox.count_message(c.became, c.error_code, c.n)
  from (
    select x.became, m.error_code, pg_catalog.count(*) as n
    from pg_catalog.unnest(p_moves) x
    cross join lateral (
      select o.error_code from outbox.outbound_message o where o.id = x.message_id offset 0
    ) m
    group by x.became, m.error_code
  ) c;
end
$$;

ALTER FUNCTION outbox.count_moves(p_moves outbox.message_move[]) OWNER TO postgres;

-- Name: FUNCTION count_moves(p_moves outbox.message_move[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.count_moves(p_moves outbox.message_move[]) IS 'Counts the statuses that messages got, FAILED by its code.';

-- Name: count_up(text, text[], bigint, bigint); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.count_up(p_metric text, p_labels text[], p_n bigint DEFAULT 1, p_total bigint DEFAULT 0) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  if p_n > 0 then
    insert into outbox.counter_change (metric, labels, n, total)
    values (p_metric, p_labels, p_n, p_total);
  end if;
end
$$;

ALTER FUNCTION outbox.count_up(p_metric text, p_labels text[], p_n bigint, p_total bigint) OWNER TO postgres;

-- Name: FUNCTION count_up(p_metric text, p_labels text[], p_n bigint, p_total bigint); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.count_up(p_metric text, p_labels text[], p_n bigint, p_total bigint) IS 'Counts something p_n times, when the transaction commits. Waits for nobody.';

-- Name: count_updates(bigint[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.count_updates(p_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  insert into outbox.callback_count as c (shard, kind, state, reason, n)
  select pg_catalog.pg_backend_pid() % 16, u.kind, u.state, coalesce(u.reason, ''),
    pg_catalog.count(*)
  from pg_catalog.unnest(p_ids) i
  cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
  -- What waits is counted once it has its verdict, and once as waiting.
  where u.state in ('applied', 'skipped') or (u.state = 'kept' and u.looks = 1)
  group by u.kind, u.state, coalesce(u.reason, '')
  order by u.kind, u.state, coalesce(u.reason, '')
  on conflict (shard, kind, state, reason) do update set n = c.n + excluded.n;
end
$$;

ALTER FUNCTION outbox.count_updates(p_ids bigint[]) OWNER TO postgres;

-- Name: FUNCTION count_updates(p_ids bigint[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.count_updates(p_ids bigint[]) IS 'Adds updates that have their verdict to callback_count. locks: this session''s shard.';

-- Name: counters(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.counters() RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_since timestamptz := outbox.counters_since(pg_catalog.clock_timestamp());
begin
  return (
    select coalesce(pg_catalog.jsonb_agg(
      pg_catalog.jsonb_build_array(c.metric, c.labels, c.n, c.total)), '[]')
    from (
      select a.metric, a.labels, pg_catalog.sum(a.n) as n, pg_catalog.sum(a.total) as total
      from (
        select c.metric, c.labels, c.n, c.total from outbox.counter c
        union all
        select c.metric, c.labels, c.n, c.total from outbox.counter_change c where c.at >= v_since
      ) a
      group by a.metric, a.labels
      union all
      select 'callbacks', array[c.kind, c.state, c.reason], pg_catalog.sum(c.n), 0
      from outbox.callback_count c
      group by c.kind, c.state, c.reason
    ) c);
end
$$;

ALTER FUNCTION outbox.counters() OWNER TO postgres;

-- Name: FUNCTION counters(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.counters() IS 'All counters: [[metric, [label, …], n, total], …].';

-- Name: counters_since(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.counters_since(p_now timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return (
    select case
      when s.last_value < extract(epoch from p_now) * 1000
      then pg_catalog.to_timestamp(s.last_value / 1000.0)
      else '-infinity'
    end
    from outbox.counters_from s);
end
$$;

ALTER FUNCTION outbox.counters_since(p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION counters_since(p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.counters_since(p_now timestamp with time zone) IS 'From where on counter_change is read; all of it after the clock was set back.';

-- Name: create_broker_endpoint(text, jsonb, jsonb, text[], text, text, text, text, jsonb, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.create_broker_endpoint(p_kind text, p_broker jsonb, p_credentials jsonb DEFAULT NULL::jsonb, p_event_types text[] DEFAULT '{*}'::text[], p_org_id text DEFAULT 'default'::text, p_description text DEFAULT ''::text, p_ordering text DEFAULT NULL::text, p_payload text DEFAULT 'envelope'::text, p_headers jsonb DEFAULT '{}'::jsonb, p_filter text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  -- A partition of a topic keeps the order in which records come, so they come in order.
  v_ordering text := coalesce(p_ordering,
    case p_kind when 'kafka' then 'partition' else 'none' end);
  v_id uuid;
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_choice('kind', p_kind, array['rabbitmq', 'kafka']);
  perform outbox.check_choice('ordering', v_ordering, array['none', 'partition', 'endpoint']);
  perform outbox.check_choice('payload', p_payload, array['envelope', 'data']);
  perform outbox.check_headers(p_headers);
  -- A probe costs a broker nothing, so it is made soon.
  insert into outbox.endpoint (org_id, kind, url, description, payload, ordering, max_in_flight,
    quantum, breaker_open_ms, created_at, updated_at)
  values (p_org_id, p_kind, '', coalesce(p_description, ''), p_payload, v_ordering, 200, 100, 5000,
    v_now, v_now)
  returning id into v_id;
  perform outbox.put_broker(v_id, p_broker, p_credentials);
  perform outbox.put_headers(v_id, p_headers);
  perform outbox.add_gate(v_id, v_ordering);
  perform outbox.subscribe(v_id, p_event_types, p_filter);
  return pg_catalog.jsonb_build_object('id', v_id);
end
$$;

ALTER FUNCTION outbox.create_broker_endpoint(p_kind text, p_broker jsonb, p_credentials jsonb, p_event_types text[], p_org_id text, p_description text, p_ordering text, p_payload text, p_headers jsonb, p_filter text) OWNER TO postgres;

-- Name: FUNCTION create_broker_endpoint(p_kind text, p_broker jsonb, p_credentials jsonb, p_event_types text[], p_org_id text, p_description text, p_ordering text, p_payload text, p_headers jsonb, p_filter text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.create_broker_endpoint(p_kind text, p_broker jsonb, p_credentials jsonb, p_event_types text[], p_org_id text, p_description text, p_ordering text, p_payload text, p_headers jsonb, p_filter text) IS 'Makes an endpoint that publishes to a broker: {"id"}. p_kind rabbitmq: p_broker {"url": "amqps://host:port/vhost", "exchange", "routing_key", "mandatory", "ca", "dlq_exchange", "dlq_routing_key"}; kafka: {"brokers": ["host:port"], "topic", "tls", "ca", "sasl", "dlq_topic"}; p_credentials: {"username", "password"}. OH001 names the field that is wrong.';

-- Name: create_by_kind(text, jsonb, text[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.create_by_kind(p_org_id text, p_endpoint jsonb, p_event_types text[]) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_url text := p_endpoint ->> 'url';
  v_headers jsonb := coalesce(p_endpoint -> 'headers', '{}');
  v_filter text := p_endpoint ->> 'filter';
  v_new jsonb;
begin
  if p_endpoint ->> 'kind' = 'slack' then
    perform outbox.refuse_members(p_endpoint, 'slack',
      array['broker', 'credentials', 'ordering', 'payload', 'retry', 'secret'], 'Leave it away');
    return outbox.create_slack_endpoint(v_url, p_event_types, p_org_id,
      p_headers => v_headers, p_filter => v_filter);
  end if;
  if p_endpoint ->> 'kind' in ('rabbitmq', 'kafka') then
    perform outbox.refuse_members(p_endpoint, p_endpoint ->> 'kind', array['secret', 'url'],
      'Give broker, and credentials where the broker wants them');
    perform outbox.check_retry(outbox.retry_of_wire(nullif(p_endpoint -> 'retry', 'null')));
    v_new := outbox.create_broker_endpoint(p_endpoint ->> 'kind',
      outbox.broker_of_wire(p_endpoint -> 'broker'), nullif(p_endpoint -> 'credentials', 'null'),
      p_event_types, p_org_id, p_ordering => p_endpoint ->> 'ordering',
      p_headers => v_headers, p_filter => v_filter);
    update outbox.endpoint e set retry = outbox.retry_of_wire(nullif(p_endpoint -> 'retry', 'null'))
    where e.id = (v_new ->> 'id')::uuid;
    return v_new;
  end if;
  perform outbox.refuse_members(p_endpoint, 'webhook', array['broker', 'credentials'],
    'Leave it away');
  return outbox.create_endpoint(v_url, p_event_types, p_org_id,
    p_secret => p_endpoint ->> 'secret',
    p_headers => v_headers,
    p_ordering => coalesce(p_endpoint ->> 'ordering', 'none'),
    p_retry => outbox.retry_of_wire(nullif(p_endpoint -> 'retry', 'null')),
    p_filter => v_filter);
end
$$;

ALTER FUNCTION outbox.create_by_kind(p_org_id text, p_endpoint jsonb, p_event_types text[]) OWNER TO postgres;

-- Name: FUNCTION create_by_kind(p_org_id text, p_endpoint jsonb, p_event_types text[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.create_by_kind(p_org_id text, p_endpoint jsonb, p_event_types text[]) IS 'Makes an endpoint of the kind that the API was asked for: {"id", "secret" where it has one}. OH001.';

-- Name: create_channel(text, text, text, text, text, text, double precision, double precision); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.create_channel(p_org_id text, p_phone_number_id text, p_waba_id text, p_app_id text, p_access_token text, p_description text DEFAULT ''::text, p_messages_per_second double precision DEFAULT 80, p_pair_seconds double precision DEFAULT 6) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $_$
declare
  v_now timestamptz := outbox.clock();
  v_id uuid;
begin
  perform outbox.check_org(p_org_id);
  if p_phone_number_id is null or p_phone_number_id !~ '^[0-9]{1,32}$' then
    perform outbox.invalid('phoneNumberId', 'is not Meta''s id of a number',
      'Expected the digits that the dashboard shows under the number, not the number itself');
  end if;
  if p_waba_id is null or p_waba_id !~ '^[0-9]{1,32}$' then
    perform outbox.invalid('wabaId', 'is not Meta''s id of an account', 'Expected digits');
  end if;
  if not exists (select from outbox.whatsapp_app a where a.app_id = p_app_id) then
    perform outbox.invalid('appId', 'is not a Meta app that is known here',
      'put_whatsapp_app() makes it known');
  end if;
  perform outbox.check_range('messagesPerSecond', p_messages_per_second, 1, 1000);
  perform outbox.check_range('pairSeconds', p_pair_seconds, 0, 3600);
  -- A turn takes one row of each recipient, so that the next one waits for lane_spacing_ms.
  insert into outbox.endpoint (org_id, kind, url, description, timeout_ms, ordering, quantum,
    max_in_flight, rate_per_second, rate_burst, lane_spacing_ms, created_at, updated_at)
  select p_org_id, 'whatsapp', '', coalesce(p_description, ''), 20000, 'partition', 1,
    p.max_in_flight, p.rate_per_second, p.rate_burst, p_pair_seconds * 1000, v_now, v_now
  from outbox.pace_of(p_messages_per_second) p
  returning id into v_id;
  insert into outbox.whatsapp_channel (endpoint_id, org_id, phone_number_id, waba_id, app_id,
    token_vault_id, is_default, messages_per_second, created_at)
  values (v_id, p_org_id, p_phone_number_id, p_waba_id, p_app_id,
    outbox.keep_in_vault('accessToken', p_access_token),
    not exists (
      select from outbox.whatsapp_channel c where c.org_id = p_org_id and c.is_default),
    p_messages_per_second, v_now);
  perform outbox.add_gate(v_id, 'partition');
  perform outbox.audit(p_org_id, 'CHANNEL', v_id::text, 'CREATED', 'Channel created', null, v_now);
  return outbox.channel_json(v_id);
exception when unique_violation then
  raise exception using errcode = 'OH001',
    message = 'phoneNumberId belongs to a channel already', detail = 'phoneNumberId',
    hint = 'A number has one channel, of one organisation: use that, or delete it first';
end
$_$;

ALTER FUNCTION outbox.create_channel(p_org_id text, p_phone_number_id text, p_waba_id text, p_app_id text, p_access_token text, p_description text, p_messages_per_second double precision, p_pair_seconds double precision) OWNER TO postgres;

-- Name: FUNCTION create_channel(p_org_id text, p_phone_number_id text, p_waba_id text, p_app_id text, p_access_token text, p_description text, p_messages_per_second double precision, p_pair_seconds double precision); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.create_channel(p_org_id text, p_phone_number_id text, p_waba_id text, p_app_id text, p_access_token text, p_description text, p_messages_per_second double precision, p_pair_seconds double precision) IS 'Makes a WhatsApp channel, the default one if the org has none, as channel_json() shows it. p_messages_per_second and p_pair_seconds are WhatsApp''s limits for the number, and for one recipient. OH001.';

-- Name: create_endpoint(text, text[], text, text, text, jsonb, text, integer, text, integer, integer, jsonb, double precision, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.create_endpoint(p_url text, p_event_types text[] DEFAULT '{*}'::text[], p_org_id text DEFAULT 'default'::text, p_secret text DEFAULT NULL::text, p_description text DEFAULT ''::text, p_headers jsonb DEFAULT '{}'::jsonb, p_payload text DEFAULT 'envelope'::text, p_timeout_ms integer DEFAULT NULL::integer, p_ordering text DEFAULT 'none'::text, p_max_in_flight integer DEFAULT NULL::integer, p_quantum integer DEFAULT NULL::integer, p_retry jsonb DEFAULT NULL::jsonb, p_rate_per_second double precision DEFAULT NULL::double precision, p_filter text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_secret text := outbox.check_secret(coalesce(p_secret, outbox.new_secret()));
  v_timeout_ms integer := coalesce(p_timeout_ms, outbox.setting_int('endpoint.timeout_ms'));
  v_max_in_flight integer :=
    coalesce(p_max_in_flight, outbox.setting_int('endpoint.max_in_flight'));
  v_quantum integer := coalesce(p_quantum, outbox.setting_int('endpoint.quantum'));
  v_id uuid;
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_headers(p_headers);
  perform outbox.check_retry(p_retry);
  perform outbox.check_choice('payload', p_payload, array['envelope', 'data']);
  perform outbox.check_choice('ordering', p_ordering, array['none', 'partition', 'endpoint']);
  perform outbox.check_range('timeout_ms', v_timeout_ms, 500, 60000);
  perform outbox.check_range('max_in_flight', v_max_in_flight, 1, 1000);
  perform outbox.check_range('quantum', v_quantum, 1, 1000);
  perform outbox.check_range('rate_per_second', coalesce(p_rate_per_second, 1), 0.001, 100000);
  insert into outbox.endpoint (org_id, url, description, payload,
    timeout_ms, ordering, max_in_flight, quantum, retry, rate_per_second,
    created_at, updated_at)
  values (p_org_id, outbox.check_url(p_url), coalesce(p_description, ''), p_payload,
    v_timeout_ms, p_ordering, v_max_in_flight, v_quantum, p_retry, p_rate_per_second,
    v_now, v_now)
  returning id into v_id;
  perform outbox.put_headers(v_id, p_headers);
  perform outbox.add_secret(v_id, v_secret, v_now);
  perform outbox.add_gate(v_id, p_ordering);
  perform outbox.subscribe(v_id, p_event_types, p_filter);
  return pg_catalog.jsonb_build_object('id', v_id, 'secret', v_secret);
end
$$;

ALTER FUNCTION outbox.create_endpoint(p_url text, p_event_types text[], p_org_id text, p_secret text, p_description text, p_headers jsonb, p_payload text, p_timeout_ms integer, p_ordering text, p_max_in_flight integer, p_quantum integer, p_retry jsonb, p_rate_per_second double precision, p_filter text) OWNER TO postgres;

-- Name: FUNCTION create_endpoint(p_url text, p_event_types text[], p_org_id text, p_secret text, p_description text, p_headers jsonb, p_payload text, p_timeout_ms integer, p_ordering text, p_max_in_flight integer, p_quantum integer, p_retry jsonb, p_rate_per_second double precision, p_filter text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.create_endpoint(p_url text, p_event_types text[], p_org_id text, p_secret text, p_description text, p_headers jsonb, p_payload text, p_timeout_ms integer, p_ordering text, p_max_in_flight integer, p_quantum integer, p_retry jsonb, p_rate_per_second double precision, p_filter text) IS 'Makes a webhook endpoint and returns {"id": uuid, "secret": "whsec_…"}; the secret is shown this once. p_timeout_ms, p_max_in_flight and p_quantum are those of the settings endpoint.* unless they are given. OH001 names the argument that is wrong.';

-- Name: create_message(text, text, jsonb, text, text, text, text, uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.create_message(p_org_id text, p_to text, p_payload jsonb, p_template_code text DEFAULT NULL::text, p_dossier_id text DEFAULT NULL::text, p_idempotency_key text DEFAULT NULL::text, p_channel text DEFAULT 'WHATSAPP'::text, p_channel_id uuid DEFAULT NULL::uuid, p_actor text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_message outbox.outbound_message;
  v_held outbox.outbound_message;
  v_refusal text;
begin
  v_message.org_id := p_org_id;
  v_message.dossier_id := p_dossier_id;
  v_message.channel := p_channel;
  v_message.to_recipient := p_to;
  v_message.template_code := p_template_code;
  v_message.payload_json := p_payload;
  v_message.idempotency_key := coalesce(p_idempotency_key, pg_catalog.gen_random_uuid()::text);
  v_message.created_by := p_actor;
  perform outbox.check_message(v_message);
  v_message.channel_id := outbox.check_channel(p_org_id, p_channel_id);
  v_message.content := outbox.message_content(v_message);
  v_held := outbox.message_of_key(v_message);
  if v_held.id is not null then
    return pg_catalog.jsonb_build_object('outcome', 'existing',
      'message', outbox.message_json(v_held));
  end if;
  v_message.category := 'SERVICE';
  if p_template_code is not null then
    select t.category into v_message.category from outbox.template t
    where t.org_id = p_org_id and t.code = p_template_code;
    if not found then
      perform outbox.invalid('templateCode', 'is not a template of this organisation',
        'put_template() makes one');
    end if;
  end if;
  v_refusal := outbox.refusal_of(v_message, v_now);
  if v_refusal is not null then
    perform outbox.audit_refusal(v_message, v_refusal, p_actor, v_now);
    return pg_catalog.jsonb_build_object('outcome', 'blocked', 'code', v_refusal,
      'reason', outbox.refusal_words(v_refusal));
  end if;
  return outbox.put_message(v_message, v_now);
end
$$;

ALTER FUNCTION outbox.create_message(p_org_id text, p_to text, p_payload jsonb, p_template_code text, p_dossier_id text, p_idempotency_key text, p_channel text, p_channel_id uuid, p_actor text) OWNER TO postgres;

-- Name: FUNCTION create_message(p_org_id text, p_to text, p_payload jsonb, p_template_code text, p_dossier_id text, p_idempotency_key text, p_channel text, p_channel_id uuid, p_actor text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.create_message(p_org_id text, p_to text, p_payload jsonb, p_template_code text, p_dossier_id text, p_idempotency_key text, p_channel text, p_channel_id uuid, p_actor text) IS 'Queues a message in the caller''s transaction: {"outcome": "created" | "existing" (the key has been used for the same), "message": as message_json()}, or {"outcome": "blocked", "code": "consent_required" | "opted_out" | "outside_window", "reason"}, which is audited and takes no key. p_payload: the template''s parameters, or {"type", …} without p_template_code. OH001; OH002: no such channel; OH003: the key has other content.';

-- Name: create_org_endpoint(text, jsonb, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.create_org_endpoint(p_org_id text, p_endpoint jsonb, p_key text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_new jsonb;
  v_id uuid :=
    (outbox.begin_request(p_org_id, 'POST /endpoints', p_key, p_endpoint) ->> 'id')::uuid;
begin
  if v_id is not null then
    return outbox.get_org_endpoint(p_org_id, v_id) || case
      when (select e.kind from outbox.endpoint e where e.id = v_id) = 'webhook'
      then pg_catalog.jsonb_build_object('secret', outbox.read_secret(v_id) -> 'secret')
      else '{}'
    end;
  end if;
  v_new := outbox.create_by_kind(p_org_id, p_endpoint,
    case
      when p_endpoint ? 'eventTypes' then
        array(select t from pg_catalog.jsonb_array_elements_text(p_endpoint -> 'eventTypes') t)
      else array['*']
    end);
  v_id := (v_new ->> 'id')::uuid;
  perform outbox.change_endpoint(v_id, p_endpoint - 'url' - 'broker' - 'credentials');
  perform outbox.end_request(p_org_id, p_key, pg_catalog.jsonb_build_object('id', v_id));
  return outbox.get_org_endpoint(p_org_id, v_id) || (v_new - 'id');
end
$$;

ALTER FUNCTION outbox.create_org_endpoint(p_org_id text, p_endpoint jsonb, p_key text) OWNER TO postgres;

-- Name: FUNCTION create_org_endpoint(p_org_id text, p_endpoint jsonb, p_key text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.create_org_endpoint(p_org_id text, p_endpoint jsonb, p_key text) IS 'Makes an endpoint of the members that the API takes, and returns it with its secret; a repeat with the same p_key returns it as it is then. OH001, OH003.';

-- Name: create_replay_job(text, jsonb, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.create_replay_job(p_org_id text, p_job jsonb, p_key text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_answer jsonb := outbox.begin_request(p_org_id, 'POST /replay-jobs', p_key, p_job);
  v_endpoint uuid := (p_job ->> 'endpointId')::uuid;
begin
  if v_answer is not null then
    return v_answer;
  end if;
  if v_endpoint is not null then
    perform outbox.org_endpoint(p_org_id, v_endpoint);
  end if;
  v_answer := outbox.replay_many(p_org_id, v_endpoint, p_job ->> 'eventType',
    (p_job ->> 'failedFrom')::timestamptz, (p_job ->> 'failedTo')::timestamptz,
    coalesce((p_job ->> 'ratePerSecond')::integer, 50));
  v_answer := outbox.get_replay_job(p_org_id, v_answer ->> 'id');
  perform outbox.end_request(p_org_id, p_key, v_answer);
  return v_answer;
end
$$;

ALTER FUNCTION outbox.create_replay_job(p_org_id text, p_job jsonb, p_key text) OWNER TO postgres;

-- Name: FUNCTION create_replay_job(p_org_id text, p_job jsonb, p_key text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.create_replay_job(p_org_id text, p_job jsonb, p_key text) IS 'Starts a job that replays the org''s dead letters that match {"endpointId", "eventType", "failedFrom", "failedTo", "ratePerSecond"}, and returns it. OH001, OH002, OH003.';

-- Name: create_slack_endpoint(text, text[], text, text, jsonb, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.create_slack_endpoint(p_url text, p_event_types text[] DEFAULT '{*}'::text[], p_org_id text DEFAULT 'default'::text, p_description text DEFAULT ''::text, p_headers jsonb DEFAULT '{}'::jsonb, p_filter text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_id uuid;
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_headers(p_headers);
  -- Slack takes one message a second of a webhook, with short bursts above it.
  insert into outbox.endpoint (org_id, kind, url, description, max_in_flight, rate_per_second,
    rate_burst, created_at, updated_at)
  values (p_org_id, 'slack', '', coalesce(p_description, ''), 2, 1, 5, v_now, v_now)
  returning id into v_id;
  perform outbox.put_slack_url(v_id, p_url);
  perform outbox.put_headers(v_id, p_headers);
  perform outbox.add_gate(v_id, 'none');
  perform outbox.subscribe(v_id, p_event_types, p_filter);
  return pg_catalog.jsonb_build_object('id', v_id);
end
$$;

ALTER FUNCTION outbox.create_slack_endpoint(p_url text, p_event_types text[], p_org_id text, p_description text, p_headers jsonb, p_filter text) OWNER TO postgres;

-- Name: FUNCTION create_slack_endpoint(p_url text, p_event_types text[], p_org_id text, p_description text, p_headers jsonb, p_filter text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.create_slack_endpoint(p_url text, p_event_types text[], p_org_id text, p_description text, p_headers jsonb, p_filter text) IS 'Makes an endpoint that writes events into a channel through a Slack-compatible incoming webhook, one a second: {"id"}. For what the system says of itself: p_org_id => ''outhook''. OH001.';

-- Name: current_traceparent(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.current_traceparent() RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $_$
begin
  return coalesce(
    pg_catalog.substring(
      pg_catalog.current_setting('outhook.traceparent', true),
      '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'),
    -- Not parsed as JSON: a setting of that name that is none must not fail a publisher.
    pg_catalog.substring(
      pg_catalog.current_setting('request.headers', true),
      '"traceparent" *: *"([0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})"'));
end
$_$;

ALTER FUNCTION outbox.current_traceparent() OWNER TO postgres;

-- Name: FUNCTION current_traceparent(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.current_traceparent() IS 'The W3C trace context that the caller works in: the setting outhook.traceparent, else the header traceparent of the HTTP request (PostgREST''s request.headers); null when there is none or it is malformed.';

-- Name: cursor_to_key(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.cursor_to_key(p_cursor text, p_form text) RETURNS text
    LANGUAGE plpgsql STABLE STRICT
    SET search_path TO ''
    AS $_$
declare
  v_key text;
begin
  if p_cursor ~ '^[A-Za-z0-9_-]+$' and pg_catalog.length(p_cursor) <= 400 then
    v_key := pg_catalog.convert_from(pg_catalog.decode(
      pg_catalog.rpad(pg_catalog.translate(p_cursor, '-_', '+/'),
        (pg_catalog.length(p_cursor) + 3) / 4 * 4, '='),
      'base64'), 'UTF8');
  end if;
  if v_key is null or v_key !~ p_form then
    perform outbox.invalid('cursor', 'is not one that this list gave',
      'Send nextCursor of the page before, unchanged, or leave it out for the first page');
  end if;
  return v_key;
exception when invalid_parameter_value or character_not_in_repertoire then
  perform outbox.invalid('cursor', 'is not one that this list gave',
    'Send nextCursor of the page before, unchanged, or leave it out for the first page');
  return null;
end
$_$;

ALTER FUNCTION outbox.cursor_to_key(p_cursor text, p_form text) OWNER TO postgres;

-- Name: FUNCTION cursor_to_key(p_cursor text, p_form text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.cursor_to_key(p_cursor text, p_form text) IS 'The key in a cursor, which must match the form (a regular expression); null for null. OH001.';

-- Name: cut_batch(outbox.routing, uuid[], integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.cut_batch(p_batch outbox.routing, p_late uuid[], p_most integer) RETURNS outbox.routing
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
declare
  v_cut uuid := p_batch.pairs[p_most + 1].event_id;
  v_place integer := pg_catalog.array_position(p_batch.events, v_cut);
begin
  p_batch.pairs := p_batch.pairs[1:p_most];
  p_batch.events := p_batch.events[1:v_place - 1];
  p_batch.rows_at := p_batch.rows_at[1:v_place - 1];
  p_batch.behind := p_batch.behind[1:v_place - 1];
  if p_batch.pairs[p_most].event_id = v_cut then
    p_batch.cut_event := v_cut;
    p_batch.cut_endpoint := p_batch.pairs[p_most].endpoint_id;
  end if;
  p_batch.watermark := case
    when v_place <= pg_catalog.cardinality(p_late) + 1 then null
    else p_batch.events[v_place - 1]
  end;
  return p_batch;
end
$$;

ALTER FUNCTION outbox.cut_batch(p_batch outbox.routing, p_late uuid[], p_most integer) OWNER TO postgres;

-- Name: FUNCTION cut_batch(p_batch outbox.routing, p_late uuid[], p_most integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.cut_batch(p_batch outbox.routing, p_late uuid[], p_most integer) IS 'A batch cut down to p_most pairs: the event at the cut stays unrouted, with the last endpoint that was looked at.';

-- Name: database_metrics(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.database_metrics() RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.jsonb_build_object(
    'tables', (
      select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('table', t.relname,
        'live', t.n_live_tup, 'dead', t.n_dead_tup,
        'vacuumed_at', extract(epoch from greatest(t.last_vacuum, t.last_autovacuum))))
      from pg_catalog.pg_stat_user_tables t
      where t.schemaname = 'outbox' and t.relname in (
        'gate', 'lane', 'delivery', 'unrouted', 'run', 'run_batch', 'counter_change',
        'dead_letter')),
    -- Only the oldest of each: whoever it is, vacuum waits for it.
    'snapshot_s', (
      select coalesce(extract(epoch from
        pg_catalog.clock_timestamp() - pg_catalog.min(a.xact_start)), 0)
      from pg_catalog.pg_stat_activity a
      where a.backend_xmin is not null and a.pid <> pg_catalog.pg_backend_pid()
        and a.backend_type <> 'autovacuum worker'),
    'xmin_age', (
      select coalesce(pg_catalog.max(x.age), 0) from (
        select pg_catalog.age(a.backend_xmin) as age from pg_catalog.pg_stat_activity a
        where a.pid <> pg_catalog.pg_backend_pid()
        union all
        select greatest(pg_catalog.age(s.xmin), pg_catalog.age(s.catalog_xmin))
        from pg_catalog.pg_replication_slots s
        union all
        select pg_catalog.age(p.transaction) from pg_catalog.pg_prepared_xacts p
      ) x));
end
$$;

ALTER FUNCTION outbox.database_metrics() OWNER TO postgres;

-- Name: FUNCTION database_metrics(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.database_metrics() IS 'What Postgres says of the busy tables and of whatever holds vacuum up: {"tables": [{"table", "live", "dead", "vacuumed_at"}], "snapshot_s", "xmin_age": in transactions}.';

-- Name: dead_letter; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.dead_letter (
    id uuid NOT NULL,
    event_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    org_id text NOT NULL,
    original_topic text NOT NULL,
    original_message text NOT NULL,
    error text NOT NULL,
    retry_count integer NOT NULL,
    failed_at timestamp with time zone NOT NULL,
    correlation_id text NOT NULL,
    attempt integer NOT NULL,
    partition_key text,
    idempotency_key text,
    traceparent text,
    event_created_at timestamp with time zone NOT NULL,
    why text NOT NULL,
    replayed_at timestamp with time zone,
    delivered_at timestamp with time zone,
    discarded_at timestamp with time zone,
    note text
);

ALTER TABLE outbox.dead_letter OWNER TO postgres;

-- Name: TABLE dead_letter; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.dead_letter IS 'Deliveries out of retries, kept whole: what was sent (original_topic and original_message are the event''s type and body), why it failed, the last attempt number, and what was done about it. One that nobody replayed or discarded never expires.';

-- Name: dead_letter_json(outbox.dead_letter); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.dead_letter_json(p_letter outbox.dead_letter) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.jsonb_build_object(
    'id', p_letter.id, 'eventId', p_letter.event_id, 'endpointId', p_letter.endpoint_id,
    'eventType', p_letter.original_topic, 'partitionKey', p_letter.partition_key,
    'correlationId', p_letter.correlation_id, 'idempotencyKey', p_letter.idempotency_key,
    'eventCreatedAt', outbox.iso_time(p_letter.event_created_at),
    'why', p_letter.why, 'error', p_letter.error, 'retryCount', p_letter.retry_count,
    'attempt', p_letter.attempt, 'failedAt', outbox.iso_time(p_letter.failed_at),
    'state', case
      when p_letter.delivered_at is not null then 'delivered'
      when p_letter.replayed_at is not null then 'replayed'
      when p_letter.discarded_at is not null then 'discarded'
      else 'open'
    end,
    'replayedAt', outbox.iso_time(p_letter.replayed_at),
    'deliveredAt', outbox.iso_time(p_letter.delivered_at),
    'discardedAt', outbox.iso_time(p_letter.discarded_at), 'note', p_letter.note);
end
$$;

ALTER FUNCTION outbox.dead_letter_json(p_letter outbox.dead_letter) OWNER TO postgres;

-- Name: FUNCTION dead_letter_json(p_letter outbox.dead_letter); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.dead_letter_json(p_letter outbox.dead_letter) IS 'A dead letter as the API lists it, without its body.';

-- Name: define_saga(text, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.define_saga(p_name text, p_steps jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $_$
declare
  v_step jsonb;
  v_at integer := 0;
  v_function regprocedure;
  v_stray text;
begin
  if p_name is null or p_name !~ '^[A-Za-z0-9_-]{1,64}$' then
    perform outbox.invalid('name', pg_catalog.format('is %s', pg_catalog.quote_nullable(p_name)),
      'Expected 1 to 64 letters, digits, _ and -, such as place_order');
  end if;
  if pg_catalog.jsonb_typeof(p_steps) is distinct from 'array'
    or pg_catalog.jsonb_array_length(p_steps) not between 1 and 100
  then
    perform outbox.invalid('steps', 'is not an array of 1 to 100 steps',
      'Expected [{"function": "public.reserve_stock", "event_type": "stock.reserved"}, …]');
  end if;
  insert into outbox.saga (name, created_at) values (p_name, outbox.clock())
  on conflict (name) do update set created_at = excluded.created_at;
  delete from outbox.saga_step s where s.saga = p_name;
  for v_step in select e from pg_catalog.jsonb_array_elements(p_steps) e loop
    v_at := v_at + 1;
    if pg_catalog.jsonb_typeof(v_step) <> 'object' then
      perform outbox.invalid(pg_catalog.format('steps[%s]', v_at - 1), 'is not an object',
        'Expected {"function": "public.reserve_stock", "event_type": "stock.reserved"}');
    end if;
    select k into v_stray from pg_catalog.jsonb_object_keys(v_step) k
    where k not in ('function', 'event_type') limit 1;
    if found then
      perform outbox.invalid(pg_catalog.format('steps[%s].%s', v_at - 1, v_stray),
        'is not a field of a step', 'A step has a function and an event_type');
    end if;
    v_function := outbox.step_function(v_step ->> 'function');
    if not pg_catalog.has_function_privilege(outbox.calling_role(), v_function, 'execute') then
      perform outbox.invalid(pg_catalog.format('steps[%s].function', v_at - 1),
        pg_catalog.format('is %s, which the role %s may not execute', v_function,
          outbox.calling_role()),
        'Grant execute on it to that role, or define the saga as a role that has it');
    end if;
    perform outbox.check_type(v_step ->> 'event_type');
    insert into outbox.saga_step (saga, position, function, event_type)
    select p_name, v_at, pg_catalog.format('%I.%I', n.nspname, p.proname), v_step ->> 'event_type'
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where p.oid = v_function;
  end loop;
  return pg_catalog.jsonb_build_object('name', p_name, 'steps', v_at);
end
$_$;

ALTER FUNCTION outbox.define_saga(p_name text, p_steps jsonb) OWNER TO postgres;

-- Name: FUNCTION define_saga(p_name text, p_steps jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.define_saga(p_name text, p_steps jsonb) IS 'Makes a saga, or replaces it: p_steps is [{"function": schema.name of (jsonb) returns jsonb, "event_type"}]. Returns {"name", "steps": how many}. OH001: a name or step is not valid, or the calling role may not execute a step''s function.';

-- Name: delay_after(jsonb, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.delay_after(p_policy jsonb, p_failure integer) RETURNS interval
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_failure integer := greatest(p_failure, 1);
  v_base float8 := (p_policy ->> 'base_delay')::float8;
  v_seconds float8;
begin
  v_seconds := case p_policy ->> 'strategy'
    when 'schedule' then (
      p_policy -> 'delays'
      ->> least(v_failure, pg_catalog.jsonb_array_length(p_policy -> 'delays')) - 1
    )::float8
    -- The exponent stops at 64: beyond it every cap is reached, and power() would overflow.
    when 'exponential' then least(604800, v_base * pg_catalog.power(
      coalesce((p_policy ->> 'factor')::float8, 2), least(v_failure - 1, 64)))
    when 'linear' then v_base * v_failure
    when 'fixed' then v_base
  end;
  return pg_catalog.make_interval(secs => least(
    v_seconds
      * case when (p_policy ->> 'jitter')::boolean then 0.5 + pg_catalog.random() else 1 end,
    coalesce((p_policy ->> 'max_delay')::float8, 604800)));
end
$$;

ALTER FUNCTION outbox.delay_after(p_policy jsonb, p_failure integer) OWNER TO postgres;

-- Name: FUNCTION delay_after(p_policy jsonb, p_failure integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.delay_after(p_policy jsonb, p_failure integer) IS 'calculate_delay() for a policy that check_retry() has taken, as every stored one.';

-- Name: delete_channel(text, uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.delete_channel(p_org_id text, p_channel_id uuid, p_actor text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_id uuid := outbox.lock_channel(p_org_id, p_channel_id);
  v_open jsonb := outbox.delete_endpoint(v_id) -> 'open';
begin
  update outbox.whatsapp_channel c set is_default = false where c.endpoint_id = v_id;
  perform outbox.audit(p_org_id, 'CHANNEL', v_id::text, 'DELETED', 'Channel deleted', p_actor,
    outbox.clock());
  return pg_catalog.jsonb_build_object('id', v_id, 'open', v_open);
end
$$;

ALTER FUNCTION outbox.delete_channel(p_org_id text, p_channel_id uuid, p_actor text) OWNER TO postgres;

-- Name: FUNCTION delete_channel(p_org_id text, p_channel_id uuid, p_actor text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.delete_channel(p_org_id text, p_channel_id uuid, p_actor text) IS 'Deletes a channel: nothing more is sent from it, what it had not sent fails within seconds, and its number is free after that. Returns {"id", "open": messages that were open}. OH002.';

-- Name: delete_endpoint(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.delete_endpoint(p_endpoint_id uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return outbox.set_endpoint_state(p_endpoint_id, 'deleted', 'deleted');
end
$$;

ALTER FUNCTION outbox.delete_endpoint(p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION delete_endpoint(p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.delete_endpoint(p_endpoint_id uuid) IS 'Deletes an endpoint: from the commit on nothing of it is sent, and every view says cancelled. Its rows go in batches (see endpoint_status.open). Returns {"id", "state", "was", "reason", "open"}. OH002.';

-- Name: delete_event_type(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.delete_event_type(p_org_id text, p_type text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_type jsonb := outbox.get_event_type(p_org_id, p_type);
begin
  perform outbox.change_catalogue(p_org_id);
  delete from outbox.event_type t where t.org_id = p_org_id and t.type = p_type;
  return v_type;
end
$$;

ALTER FUNCTION outbox.delete_event_type(p_org_id text, p_type text) OWNER TO postgres;

-- Name: FUNCTION delete_event_type(p_org_id text, p_type text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.delete_event_type(p_org_id text, p_type text) IS 'Takes an event type out of the catalogue; events of it stay. Returns what it was. OH002.';

-- Name: delete_org_endpoint(text, uuid, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.delete_org_endpoint(p_org_id text, p_endpoint_id uuid, p_version integer DEFAULT NULL::integer) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  perform outbox.refuse_channel(
    outbox.lock_org_endpoint(p_org_id, p_endpoint_id, p_version));
  return pg_catalog.jsonb_build_object('id', p_endpoint_id,
    'open', outbox.delete_endpoint(p_endpoint_id) -> 'open');
end
$$;

ALTER FUNCTION outbox.delete_org_endpoint(p_org_id text, p_endpoint_id uuid, p_version integer) OWNER TO postgres;

-- Name: FUNCTION delete_org_endpoint(p_org_id text, p_endpoint_id uuid, p_version integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.delete_org_endpoint(p_org_id text, p_endpoint_id uuid, p_version integer) IS 'Deletes an endpoint as delete_endpoint() does: {"id", "open"}. OH002, OH008.';

-- Name: delete_template(text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.delete_template(p_org_id text, p_code text, p_actor text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_was jsonb := outbox.template_json(p_org_id, p_code);
begin
  delete from outbox.template t where t.org_id = p_org_id and t.code = p_code;
  perform outbox.audit(p_org_id, 'TEMPLATE', p_code, 'DELETED', 'Template deleted', p_actor,
    outbox.clock());
  return v_was;
end
$$;

ALTER FUNCTION outbox.delete_template(p_org_id text, p_code text, p_actor text) OWNER TO postgres;

-- Name: FUNCTION delete_template(p_org_id text, p_code text, p_actor text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.delete_template(p_org_id text, p_code text, p_actor text) IS 'Deletes a template and returns it; messages that wait with it fail at their next try. OH002.';

-- Name: delivery_ends(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.delivery_ends(p_event_id uuid) RETURNS TABLE(endpoint_id uuid)
    LANGUAGE plpgsql STABLE ROWS 10
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  return query
  select d.endpoint_id from outbox.delivery d where d.event_id = p_event_id
  union
  select a.endpoint_id from outbox.attempt a
  where a.event_id = p_event_id and a.endpoint_id is not null
  order by 1 desc;
end
$$;

ALTER FUNCTION outbox.delivery_ends(p_event_id uuid) OWNER TO postgres;

-- Name: FUNCTION delivery_ends(p_event_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.delivery_ends(p_event_id uuid) IS 'The endpoints that an event has a delivery for, open or finished, by id from the highest.';

-- Name: delivery_json(uuid, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.delivery_json(p_event_id uuid, p_endpoint_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
declare
  v_answer jsonb;
begin
  select pg_catalog.jsonb_build_object(
    'eventType', s.event_type,
    'status', case s.status when 'failed' then 'retrying' else s.status end,
    'reason', s.held_because, 'attempt', s.attempt, 'tries', s.tries,
    'nextAttemptAt', outbox.iso_time(s.next_attempt_at),
    'createdAt', outbox.iso_time(s.created_at), 'finishedAt', outbox.iso_time(s.finished_at))
  into v_answer
  from outbox.delivery_status s
  -- Not =: without statistics of today's partition the planner would read the endpoint's receipts.
  where s.event_id = p_event_id and s.endpoint_id is not distinct from p_endpoint_id;
  if v_answer is null then
    -- The event's day has been dropped: its dead letter is what is left.
    select pg_catalog.jsonb_build_object(
      'eventType', x.original_topic,
      'status', case
        when x.delivered_at is not null then 'delivered'
        when x.why in ('expired', 'filter_error') then x.why
        else 'dead_letter'
      end,
      'reason', x.error, 'attempt', x.attempt, 'tries', null, 'nextAttemptAt', null,
      'createdAt', outbox.iso_time(x.event_created_at),
      'finishedAt', outbox.iso_time(coalesce(x.delivered_at, x.failed_at)))
    into v_answer
    from outbox.dead_letter x
    where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id;
  end if;
  return pg_catalog.jsonb_build_object('id', p_event_id::text || '.' || p_endpoint_id::text,
    'eventId', p_event_id, 'endpointId', p_endpoint_id) || v_answer;
end
$$;

ALTER FUNCTION outbox.delivery_json(p_event_id uuid, p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION delivery_json(p_event_id uuid, p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.delivery_json(p_event_id uuid, p_endpoint_id uuid) IS 'A delivery as the API shows it, null when there is none: {"id": "<event>.<endpoint>", "eventId", "endpointId", "eventType", "status" (pending, processing, retrying, held, delivered, dead_letter, cancelled, expired, filter_error), "reason", "attempt", "tries", "nextAttemptAt", "createdAt", "finishedAt"}.';

-- Name: disable_endpoint(uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.disable_endpoint(p_endpoint_id uuid, p_reason text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_answer jsonb := outbox.set_endpoint_state(p_endpoint_id, 'disabled',
    coalesce(p_reason, 'disabled by hand'));
begin
  perform outbox.announce('outhook.endpoint.disabled', array[p_endpoint_id], outbox.clock());
  return v_answer;
end
$$;

ALTER FUNCTION outbox.disable_endpoint(p_endpoint_id uuid, p_reason text) OWNER TO postgres;

-- Name: FUNCTION disable_endpoint(p_endpoint_id uuid, p_reason text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.disable_endpoint(p_endpoint_id uuid, p_reason text) IS 'As pause_endpoint(), for an endpoint that is broken; publishes outhook.endpoint.disabled. OH002.';

-- Name: disable_itself(uuid[], text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.disable_itself(p_endpoint_ids uuid[], p_reason text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_disabled uuid[];
begin
  -- SKIP LOCKED: a change left open at the console holds up no run; the next failure disables it
  -- then.
  with free as (
    select e.id
    from outbox.endpoint e
    where e.id = any (p_endpoint_ids) and e.state = 'enabled'
    for no key update skip locked
  ), done as (
    update outbox.endpoint e
    set state = 'disabled', state_reason = p_reason, version = e.version + 1, updated_at = p_now
    from free f where e.id = f.id returning e.id
  )
  select pg_catalog.array_agg(d.id) into v_disabled from done d;
  if v_disabled is not null then
    perform outbox.announce('outhook.endpoint.disabled', v_disabled, p_now);
  end if;
end
$$;

ALTER FUNCTION outbox.disable_itself(p_endpoint_ids uuid[], p_reason text, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION disable_itself(p_endpoint_ids uuid[], p_reason text, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.disable_itself(p_endpoint_ids uuid[], p_reason text, p_now timestamp with time zone) IS 'Disables endpoints that answered 410 (gone) or have failed for days (failing_for_days), and says so.';

-- Name: discard_dead_letter(uuid, uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.discard_dead_letter(p_event_id uuid, p_endpoint_id uuid, p_reason text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  if coalesce(pg_catalog.btrim(p_reason), '') = '' then
    perform outbox.invalid('reason', 'is empty', 'Say why this will never be sent');
  end if;
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[p_endpoint_id]);
  update outbox.dead_letter x set discarded_at = outbox.clock(), note = p_reason
  where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('event %s has no dead letter for endpoint %s',
        pg_catalog.quote_nullable(p_event_id::text),
        pg_catalog.quote_nullable(p_endpoint_id::text)),
      hint = 'select * from outbox.dead_letter lists them';
  end if;
  return pg_catalog.jsonb_build_object(
    'event_id', p_event_id, 'endpoint_id', p_endpoint_id, 'discarded', true);
end
$$;

ALTER FUNCTION outbox.discard_dead_letter(p_event_id uuid, p_endpoint_id uuid, p_reason text) OWNER TO postgres;

-- Name: FUNCTION discard_dead_letter(p_event_id uuid, p_endpoint_id uuid, p_reason text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.discard_dead_letter(p_event_id uuid, p_endpoint_id uuid, p_reason text) IS 'Marks a dead letter as reviewed and not to be sent: {"event_id", "endpoint_id", "discarded": true}; cleanup removes it in time. OH001, OH002.';

-- Name: discard_org_dead_letter(text, uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.discard_org_dead_letter(p_org_id text, p_id uuid, p_reason text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_letter outbox.dead_letter := outbox.org_dead_letter(p_org_id, p_id);
begin
  perform outbox.discard_dead_letter(v_letter.event_id, v_letter.endpoint_id, p_reason);
  return outbox.dead_letter_json(outbox.org_dead_letter(p_org_id, p_id));
end
$$;

ALTER FUNCTION outbox.discard_org_dead_letter(p_org_id text, p_id uuid, p_reason text) OWNER TO postgres;

-- Name: FUNCTION discard_org_dead_letter(p_org_id text, p_id uuid, p_reason text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.discard_org_dead_letter(p_org_id text, p_id uuid, p_reason text) IS 'Marks a dead letter as reviewed and not to be sent, and returns it as it is then. OH001, OH002.';

-- Name: dispatch(uuid, bigint, jsonb, integer, text, boolean, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.dispatch(p_run uuid, p_seq bigint, p_results jsonb DEFAULT '[]'::jsonb, p_limit integer DEFAULT 0, p_kind text DEFAULT 'edge'::text, p_ended boolean DEFAULT false, p_known jsonb DEFAULT '{}'::jsonb) RETURNS json
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    SET statement_timeout TO '5s'
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_memoize TO 'off'
    SET jit TO 'off'
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_stop text := outbox.touch_run(p_run, p_kind, v_now, p_ended);
  v_limit integer := case
    when v_stop is null then least(coalesce(p_limit, 0), outbox.setting_int('worker.batch_size'))
    else 0
  end;
  v_given integer := pg_catalog.jsonb_array_length(coalesce(p_results, '[]'));
  v_results outbox.result[];
  v_renewals outbox.result[];
  v_batch outbox.routing;
  v_touched uuid[];
  v_applied integer := 0;
  v_route jsonb := '{"routed": 0, "error": null}'::jsonb;
  v_claimed outbox.claimed;
  v_claim_error text;
  v_failing uuid[];
  v_retries json;
  v_renewed json;
begin
  insert into outbox.run_batch (run_id, seq, at)
  values (p_run, p_seq, v_now)
  on conflict do nothing;
  if not found then
    v_claimed := outbox.claimed_before(p_run, p_seq, v_now);
    return outbox.answer(0, 0, 0, true, v_stop, v_claimed, p_known, null, null, null, null,
      v_now);
  end if;
  -- Three calls of a run may be under way at most, so older batches are not asked for again.
  -- Not all below: that would walk what a transaction left open keeps of them.
  delete from outbox.run_batch b
  where b.run_id = p_run and b.seq between p_seq - 16 and p_seq - 9;
  if v_given = 0 and (v_stop is not null or not outbox.has_due(v_now)) then
    return outbox.answer(0, 0, 0, false, v_stop, null, p_known, null, null, null, null,
      v_now);
  end if;
  if v_given > 0 then
    select pg_catalog.array_agg(r) filter (where r.outcome is distinct from 'renew'),
      pg_catalog.array_agg(r) filter (where r.outcome = 'renew')
    into v_results, v_renewals
    from pg_catalog.jsonb_populate_recordset(null::outbox.result, p_results) r;
    v_given := coalesce(pg_catalog.cardinality(v_results), 0);
  end if;
  if v_stop is null then
    begin
      v_batch := outbox.read_unrouted();
    exception when query_canceled or others then
      v_route := pg_catalog.jsonb_build_object(
        'routed', 0, 'error', sqlerrm, 'out_of_time', sqlstate = '57014');
      perform outbox.shrink_routing(null, sqlerrm, v_now);
    end;
  end if;
  v_touched := array(
    select r.endpoint from pg_catalog.unnest(v_results || v_renewals) r
    where r.endpoint is not null
    union
    select p.endpoint_id from pg_catalog.unnest(v_batch.pairs) p);
  if pg_catalog.cardinality(v_touched) > 0 then
    perform outbox.lock_gates(v_touched);
  end if;
  if v_given > 0 then
    v_applied := outbox.complete(v_results, v_now);
    perform outbox.count_up('stale_results', '{}', v_given - v_applied);
    v_failing := array(
      select distinct r.endpoint from pg_catalog.unnest(v_results) r where r.outcome = 'failed');
    if pg_catalog.cardinality(v_failing) > 0 then
      v_retries := outbox.retries_at(v_failing, v_now);
    end if;
  end if;
  if v_renewals is not null then
    v_renewed := outbox.renew_leases(v_renewals, v_now);
  end if;
  if v_batch.events is not null then
    v_route := outbox.route(v_batch, v_now);
  end if;
  begin
    -- The limit of the statement has struck and will not again: nothing more is begun.
    v_claimed := outbox.claim(
      case when (v_route -> 'out_of_time')::boolean then 0 else v_limit end, v_touched, v_now);
  exception when query_canceled or others then
    v_claim_error := sqlerrm;
    perform outbox.park(v_touched, v_now);
  end;
  if v_claimed.events is not null then
    update outbox.run_batch b set
      events = v_claimed.events, endpoints = v_claimed.endpoints, attempts = v_claimed.attempts
    where b.run_id = p_run and b.seq = p_seq;
  end if;
  return outbox.answer(v_applied, v_given - v_applied, (v_route ->> 'routed')::integer, false,
    v_stop, v_claimed, p_known, v_retries, v_renewed, v_route ->> 'error', v_claim_error, v_now);
end
$$;

ALTER FUNCTION outbox.dispatch(p_run uuid, p_seq bigint, p_results jsonb, p_limit integer, p_kind text, p_ended boolean, p_known jsonb) OWNER TO postgres;

-- Name: FUNCTION dispatch(p_run uuid, p_seq bigint, p_results jsonb, p_limit integer, p_kind text, p_ended boolean, p_known jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.dispatch(p_run uuid, p_seq bigint, p_results jsonb, p_limit integer, p_kind text, p_ended boolean, p_known jsonb) IS 'The only call that a run makes. p_results: [{"event", "endpoint", "attempt", "outcome": "delivered" | "failed" | "released" | "renew" (a new lease for its ordered lane), "status", "error_class", "error", "retry_after", "duration_ms", "response", "lossy", "code", "provider_id", "provider"}]; p_limit: free slots; p_ended: the run''s last call; p_known: {endpoint id: revision} of the endpoints that the run has from an earlier answer, which are left out of this one while they are the same. Returns {"applied", "stale", "routed", "repeat", "stop", "settings", "error", "retries", "renewed", "deliveries", "events", "endpoints"}. A call whose answer was lost is made again with the same p_run and p_seq; that answer says nothing of renewals. locks: router with SKIP LOCKED, then the gates of results, renewals and new deliveries by id, then due gates with SKIP LOCKED.';

-- Name: dlq_message(outbox.dead_letter, outbox.endpoint); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.dlq_message(p_letter outbox.dead_letter, p_endpoint outbox.endpoint) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_data text := p_letter.original_message;
begin
  -- As concatenated text: a body is never written anew, not even its numbers.
  return '{"original_topic":' || pg_catalog.to_json(outbox.broker_text(
      coalesce(p_endpoint.broker ->> 'topic', p_endpoint.broker ->> 'routing_key'),
      p_letter.original_topic, p_letter.org_id, p_letter.partition_key))
    || ',"original_message":' || case
      when p_endpoint.payload = 'data' then v_data
      else '{"id":"' || p_letter.event_id
        || '","eventType":' || pg_catalog.to_json(p_letter.original_topic)
        || ',"createdAt":"' || outbox.iso_time(p_letter.event_created_at)
        || '","correlationId":' || pg_catalog.to_json(p_letter.correlation_id)
        || ',"data":' || v_data || '}'
    end
    || ',"error":' || pg_catalog.to_json(p_letter.error)
    || ',"retry_count":' || p_letter.retry_count
    || ',"failed_at":"' || outbox.iso_time(p_letter.failed_at)
    || '","correlation_id":' || pg_catalog.to_json(p_letter.correlation_id)
    || ',"original_exchange":'
    || coalesce(pg_catalog.to_json(p_endpoint.broker ->> 'exchange')::text, 'null')
    || ',"original_key":' || coalesce(pg_catalog.to_json(p_letter.partition_key)::text, 'null')
    || ',"event_id":"' || p_letter.event_id
    || '","event_type":' || pg_catalog.to_json(p_letter.original_topic)
    || ',"endpoint_id":"' || p_letter.endpoint_id || '"}';
end
$$;

ALTER FUNCTION outbox.dlq_message(p_letter outbox.dead_letter, p_endpoint outbox.endpoint) OWNER TO postgres;

-- Name: FUNCTION dlq_message(p_letter outbox.dead_letter, p_endpoint outbox.endpoint); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.dlq_message(p_letter outbox.dead_letter, p_endpoint outbox.endpoint) IS 'What the dead-letter topic gets of a dead letter: {"original_topic", "original_message": as it would have been published, "error", "retry_count", "failed_at", "correlation_id", "original_exchange", "original_key", "event_id", "event_type", "endpoint_id"}.';

-- Name: drop_expired_secrets(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.drop_expired_secrets(p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_dropped integer;
begin
  with gone as (
    delete from outbox.endpoint_secret s
    where s.id in (
      -- Whoever holds one of them forgets its endpoint, secrets and all.
      select o.id from outbox.endpoint_secret o
      where o.expires_at <= p_now - interval '5 minutes'
      for update skip locked)
    returning s.vault_id
  )
  delete from vault.secrets v using gone g where v.id = g.vault_id;
  get diagnostics v_dropped = row_count;
  return v_dropped;
end
$$;

ALTER FUNCTION outbox.drop_expired_secrets(p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION drop_expired_secrets(p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.drop_expired_secrets(p_now timestamp with time zone) IS 'Removes from Vault the secrets that have not signed for five minutes, so that batch() still sees which endpoints the runs know with one; returns how many.';

-- Name: drop_partition(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.drop_partition(p_name text) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO ''
    SET lock_timeout TO '100ms'
    AS $$
begin
  -- Its parent first, as whoever reads and writes does.
  execute pg_catalog.format('lock table only outbox.%I in access exclusive mode',
    pg_catalog.left(p_name, -10));
  execute pg_catalog.format('lock table outbox.%I in access exclusive mode', p_name);
  -- Whoever held it up may have published into it, or replayed an event of it.
  if p_name like 'event%' and outbox.is_open_on(outbox.partition_day(p_name)) then
    return false;
  end if;
  execute pg_catalog.format('drop table outbox.%I', p_name);
  delete from outbox.partition_check c where c.name = p_name;
  return true;
-- Or dropped it.
exception when lock_not_available or undefined_table then
  return false;
end
$$;

ALTER FUNCTION outbox.drop_partition(p_name text) OWNER TO postgres;

-- Name: FUNCTION drop_partition(p_name text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.drop_partition(p_name text) IS 'Drops a partition; false when a lock held it up for 100 ms, when something of it was opened meanwhile, or when it is gone.';

-- Name: drop_partitions(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.drop_partitions() RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $_$
declare
  v_today date := (outbox.clock() at time zone 'UTC')::date;
  v_retention integer := outbox.setting_int('event.retention_days');
  -- The night that begins behind a day is not a full day after it.
  v_clean integer := outbox.setting_int('event.delivered_days') + 1;
  v_name text;
  v_day date;
  v_nights integer;
  v_dropped integer := 0;
begin
  for v_name, v_day in
    select c.relname, outbox.partition_day(c.relname)
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'outbox.event'::regclass and c.relname ~ '_p[0-9]{8}$'
    order by c.relname
  loop
    continue when v_day >= v_today;
    if outbox.is_open_on(v_day) then
      delete from outbox.partition_check c where c.name = v_name;
      continue;
    end if;
    insert into outbox.partition_check as c (name, clean_nights, checked_on)
    values (v_name, 1, v_today)
    on conflict (name) do update set
      clean_nights = c.clean_nights + 1, checked_on = excluded.checked_on
    where c.checked_on < excluded.checked_on;
    select c.clean_nights into v_nights from outbox.partition_check c where c.name = v_name;
    if v_nights >= v_clean or v_day < v_today - v_retention - 8 then
      v_dropped := v_dropped + outbox.drop_partition(v_name)::integer;
    end if;
  end loop;
  for v_name in
    select c.relname
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'outbox.attempt'::regclass and c.relname ~ '_p[0-9]{8}$'
      and outbox.partition_day(c.relname) < v_today - outbox.setting_int('attempt.retention_days')
    order by c.relname
  loop
    -- Whoever holds up one day holds up the next as well, and may wait for the days of event that
    -- are gone by now: after a second of that it would be ended as a deadlock.
    exit when not outbox.drop_partition(v_name);
    v_dropped := v_dropped + 1;
  end loop;
  return pg_catalog.jsonb_build_object('dropped', v_dropped);
end
$_$;

ALTER FUNCTION outbox.drop_partitions() OWNER TO postgres;

-- Name: FUNCTION drop_partitions(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.drop_partitions() IS 'Drops the days of event of which nothing was open on more nights running than event.delivered_days, so that what was delivered is there for so many full days, and the days of attempt beyond attempt.retention_days: {"dropped"}.';

-- Name: drop_saga(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.drop_saga(p_name text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  delete from outbox.saga s where s.name = p_name;
  if not found then
    perform outbox.no_saga(p_name);
  end if;
  return pg_catalog.jsonb_build_object('name', p_name, 'dropped', true);
end
$$;

ALTER FUNCTION outbox.drop_saga(p_name text) OWNER TO postgres;

-- Name: FUNCTION drop_saga(p_name text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.drop_saga(p_name text) IS 'Forgets a saga; what it has published stays: {"name", "dropped": true}. OH002.';

-- Name: dropped_events(outbox.claimed); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.dropped_events(p_claimed outbox.claimed) RETURNS outbox.event[]
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  return (
    select pg_catalog.array_agg(f)
    from (
      select distinct on (u.event_id) u.event_id, u.endpoint_id
      from unnest(p_claimed.events, p_claimed.endpoints, p_claimed.replayed)
        as u (event_id, endpoint_id, replayed)
      where u.replayed
    ) c
    cross join lateral outbox.find_event(c.event_id, c.endpoint_id) f
    where not exists (select from outbox.event v where v.id = c.event_id offset 0));
end
$$;

ALTER FUNCTION outbox.dropped_events(p_claimed outbox.claimed) OWNER TO postgres;

-- Name: FUNCTION dropped_events(p_claimed outbox.claimed); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.dropped_events(p_claimed outbox.claimed) IS 'The events of claimed replays whose day has been dropped, from their dead letters; null when there is none.';

-- Name: due_gates(integer, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.due_gates(p_limit integer, p_now timestamp with time zone) RETURNS uuid[]
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_endpoints uuid[];
  v_from timestamptz := outbox.ring_from(p_now);
  v_first timestamptz;
begin
  with due as materialized (
    select g.id, g.endpoint_id, g.changed_at, g.next_at, g.depth, g.in_flight, g.breaker
    from outbox.gate g
    -- Some more than the batch needs: an endpoint that is paused takes nobody's turn.
    where g.next_at >= v_from and g.next_at <= p_now and g.next_at < 'infinity'
    order by g.next_at
    limit greatest(p_limit, 100)
  ), wanted as materialized (
    -- Lock no more gates than it takes to fill the batch.
    select w.id, w.changed_at
    from (
      select d.id, d.changed_at,
        pg_catalog.sum(m.most) over (order by d.next_at, d.id) - m.most as before
      from due d
      cross join lateral (
        select e.* from outbox.endpoint e where e.id = d.endpoint_id offset 0
      ) e
      cross join lateral (
        select case
          when e.state = 'enabled' then least(
            d.depth, e.quantum, greatest(e.max_in_flight - d.in_flight, 1),
            case when d.breaker = 'closed' then e.quantum else 1 end)
          else 0
        end as most
      ) m
    ) w
    where w.before < p_limit
  ), locked as materialized (
    select g.endpoint_id, g.next_at, g.id
    from wanted w
    cross join lateral (
      -- Looked at again once locked; coalesce keeps the index on next_at out of a look-up by id.
      -- SKIP LOCKED goes on to older versions, which are all dead: changed_at stops it. A version
      -- that a slower call wrote meanwhile, with its earlier time, is left to the next call.
      select g.endpoint_id, g.next_at, g.id from outbox.gate g
      where g.id = w.id and g.changed_at >= w.changed_at
        and coalesce(g.next_at, 'infinity') <= p_now
      order by g.changed_at desc limit 1
      for no key update skip locked
    ) g
  )
  select (select pg_catalog.array_agg(l.endpoint_id order by l.next_at, l.id) from locked l),
    (select pg_catalog.min(d.next_at) from due d)
  into v_endpoints, v_first;
  -- A call notes as due what its beginning was, and commits some time later.
  v_first := coalesce(v_first, p_now) - interval '1 s';
  if v_first > v_from + interval '500 ms' then
    perform outbox.turn_ring(v_first);
  end if;
  return v_endpoints;
end
$$;

ALTER FUNCTION outbox.due_gates(p_limit integer, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION due_gates(p_limit integer, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.due_gates(p_limit integer, p_now timestamp with time zone) IS 'Locks the gates whose turn it is, as many as a batch of p_limit needs, and returns their endpoints in the order of the ring; null when none is due. locks: gates with SKIP LOCKED, so it waits for nobody.';

-- Name: end_request(text, text, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.end_request(p_org_id text, p_key text, p_answer jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  update outbox.request_key k set answer = p_answer where k.org_id = p_org_id and k.key = p_key;
end
$$;

ALTER FUNCTION outbox.end_request(p_org_id text, p_key text, p_answer jsonb) OWNER TO postgres;

-- Name: FUNCTION end_request(p_org_id text, p_key text, p_answer jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.end_request(p_org_id text, p_key text, p_answer jsonb) IS 'Notes the answer, without secrets, of the request whose key begin_request() took. Without a key it does nothing.';

-- Name: end_saga(text, text, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.end_saga(p_org_id text, p_idempotency_key text, p_result jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  update outbox.saga_key k set result = p_result
  where k.org_id = p_org_id and k.key = p_idempotency_key and k.result is null;
  return p_result || '{"repeated": false}'::jsonb;
end
$$;

ALTER FUNCTION outbox.end_saga(p_org_id text, p_idempotency_key text, p_result jsonb) OWNER TO postgres;

-- Name: FUNCTION end_saga(p_org_id text, p_idempotency_key text, p_result jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.end_saga(p_org_id text, p_idempotency_key text, p_result jsonb) IS 'Part of execute_saga(): keeps the result under the key, and returns it.';

-- Name: end_told(outbox.outbound_message, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.end_told(p_message outbox.outbound_message, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_why constant text := 'its callback came before this answer';
  v_delivery outbox.delivery;
begin
  if p_message.status in ('QUEUED', 'SENDING') then
    return;
  end if;
  select * into v_delivery from outbox.delivery d
  where d.event_id = p_message.event_id and d.endpoint_id = p_message.channel_id
    and d.leased_until is null;
  if found then
    perform outbox.close_delivery(v_delivery, 'cancelled', v_why, p_now);
  end if;
  update outbox.dead_letter x set discarded_at = p_now, note = v_why
  where x.event_id = p_message.event_id and x.endpoint_id = p_message.channel_id
    and x.discarded_at is null and p_message.status in ('SENT', 'DELIVERED');
end
$$;

ALTER FUNCTION outbox.end_told(p_message outbox.outbound_message, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION end_told(p_message outbox.outbound_message, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.end_told(p_message outbox.outbound_message, p_now timestamp with time zone) IS 'Ends what a failed or lost answer leaves of a delivery whose message callbacks have taken further in the meantime: the retry would keep back the next message to that person. locks: the caller holds the gate and the message.';

-- Name: endpoint_json(outbox.endpoint); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.endpoint_json(p_endpoint outbox.endpoint) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_types jsonb;
  v_filter text;
  v_breaker text;
begin
  select coalesce(pg_catalog.jsonb_agg(s.pattern order by s.pattern), '[]'),
    pg_catalog.min(s.filter::text)
  into v_types, v_filter
  from outbox.subscription s where s.endpoint_id = p_endpoint.id;
  select g.breaker into v_breaker from outbox.gate g where g.endpoint_id = p_endpoint.id;
  return pg_catalog.jsonb_build_object(
    'id', p_endpoint.id, 'kind', p_endpoint.kind, 'url', p_endpoint.url,
    'description', p_endpoint.description, 'eventTypes', v_types, 'filter', v_filter,
    'headerNames', pg_catalog.to_jsonb(p_endpoint.header_names), 'payload', p_endpoint.payload,
    'timeoutMs', p_endpoint.timeout_ms, 'ordering', p_endpoint.ordering,
    'maxInFlight', p_endpoint.max_in_flight, 'quantum', p_endpoint.quantum,
    'ratePerSecond', p_endpoint.rate_per_second, 'rateBurst', p_endpoint.rate_burst,
    'retry4xx', p_endpoint.retry_4xx, 'onDeadLetter', p_endpoint.on_dead_letter,
    'breaker', pg_catalog.jsonb_build_object(
      'enabled', p_endpoint.breaker_enabled, 'threshold', p_endpoint.breaker_threshold,
      'openMs', p_endpoint.breaker_open_ms,
      'state', case when p_endpoint.breaker_enabled then coalesce(v_breaker, 'closed') end),
    'broker', outbox.broker_to_wire(p_endpoint.broker),
    'state', p_endpoint.state, 'stateReason', p_endpoint.state_reason,
    'version', p_endpoint.version,
    'createdAt', outbox.iso_time(p_endpoint.created_at),
    'updatedAt', outbox.iso_time(p_endpoint.updated_at));
end
$$;

ALTER FUNCTION outbox.endpoint_json(p_endpoint outbox.endpoint) OWNER TO postgres;

-- Name: FUNCTION endpoint_json(p_endpoint outbox.endpoint); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.endpoint_json(p_endpoint outbox.endpoint) IS 'An endpoint as the API shows it. filter is the one of all its event types; where SQL gave them several, the first.';

-- Name: endpoints_to_judge(outbox.result[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.endpoints_to_judge(p_results outbox.result[]) RETURNS uuid[]
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  return array(
    select r.endpoint
    from (
      select u.endpoint,
        pg_catalog.bool_or(u.outcome is distinct from 'delivered') as failed
      from pg_catalog.unnest(p_results) u
      group by u.endpoint
    ) r
    cross join lateral (
      select g.breaker from outbox.gate g
      where g.endpoint_id = r.endpoint order by g.changed_at desc limit 1
    ) g
    where r.failed or g.breaker <> 'closed');
end
$$;

ALTER FUNCTION outbox.endpoints_to_judge(p_results outbox.result[]) OWNER TO postgres;

-- Name: FUNCTION endpoints_to_judge(p_results outbox.result[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.endpoints_to_judge(p_results outbox.result[]) IS 'The endpoints that have a result other than delivered, or a breaker that is not closed: their results are for apply_results(), all others for apply_delivered().';

-- Name: engine_metrics(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.engine_metrics(p_now timestamp with time zone) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $_$
begin
  return pg_catalog.jsonb_build_object(
    'enabled', outbox.setting_on('worker.enabled'),
    'runs', (
      select coalesce(pg_catalog.jsonb_object_agg(r.kind, r.n), '{}')
      from (
        select r.kind, pg_catalog.count(*) as n from outbox.run r
        where r.ended_at is null and r.polled_at > p_now - interval '10 s'
        group by r.kind
      ) r),
    'tick_at', (select nullif(s.last_value, 0) / 1000.0 from outbox.last_tick s),
    'kick_at', (select nullif(s.last_value, 0) / 1000.0 from outbox.last_kick s),
    'kicks', pg_catalog.jsonb_build_object(
      'commit', (select s.last_value + s.is_called::integer from outbox.kicks_on_commit s),
      'tick', (select s.last_value + s.is_called::integer from outbox.kicks_by_tick s)),
    'replay_jobs', (
      select pg_catalog.count(*) from outbox.replay_job j where j.state in ('running', 'paused')),
    'in_default', pg_catalog.jsonb_build_object(
      'event', (
        select pg_catalog.count(*) from (select from outbox.event_default limit 10000) d),
      'attempt', (
        select pg_catalog.count(*) from (select from outbox.attempt_default limit 10000) d)),
    'partitions', (
      select pg_catalog.jsonb_agg(p)
      from (
        select o.relname as table, pg_catalog.count(*) as n,
          extract(epoch from
            (pg_catalog.max(outbox.partition_day(c.relname)) + 1)::timestamp at time zone 'UTC')
            as until,
          -- What the last vacuum saw: a size that is asked for waits for whoever makes a partition.
          pg_catalog.sum(c.relpages::bigint * 8192) as bytes
        from pg_catalog.pg_inherits i
        join pg_catalog.pg_class c on c.oid = i.inhrelid
        join pg_catalog.pg_class o on o.oid = i.inhparent
        where i.inhparent in ('outbox.event'::regclass, 'outbox.attempt'::regclass)
          and c.relname ~ '_p[0-9]{8}$'
        group by o.relname
      ) p));
end
$_$;

ALTER FUNCTION outbox.engine_metrics(p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION engine_metrics(p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.engine_metrics(p_now timestamp with time zone) IS 'What moves deliveries, and the partitions: {"enabled", "runs": by kind, "tick_at", "kick_at", "kicks": by reason, "replay_jobs", "in_default", "partitions": [{"table", "n", "until", "bytes"}]}.';

-- Name: erase_inbound(timestamp with time zone, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.erase_inbound(p_now timestamp with time zone, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_before timestamptz :=
    p_now - pg_catalog.make_interval(days => outbox.setting_int('message.retention_days'));
  v_erased integer;
  v_forgotten integer;
begin
  update outbox.inbound_message m set
    wamid = null, contact_id = null, text = null, payload = '{}', erased_at = p_now
  where m.id = any (array(
    select o.id from outbox.inbound_message o
    where o.erased_at is null and o.received_at < v_before
    order by o.received_at limit p_limit for update skip locked));
  get diagnostics v_erased = row_count;
  delete from outbox.whatsapp_contact c where c.id = any (array(
    select o.id from outbox.whatsapp_contact o
    where o.last_seen_at < v_before order by o.last_seen_at limit p_limit for update skip locked));
  get diagnostics v_forgotten = row_count;
  delete from outbox.conversation_window w
  where w.expires_at < p_now - interval '1 day';
  -- A wish that was taken back is only kept against callbacks that come late.
  delete from outbox.opt_out o where o.lifted and o.decided_at < p_now - interval '60 days';
  return greatest(v_erased, v_forgotten);
end
$$;

ALTER FUNCTION outbox.erase_inbound(p_now timestamp with time zone, p_limit integer) OWNER TO postgres;

-- Name: FUNCTION erase_inbound(p_now timestamp with time zone, p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.erase_inbound(p_now timestamp with time zone, p_limit integer) IS 'Removes text, payload and ids of up to p_limit inbound messages older than message.retention_days; up to p_limit contacts that have not written since are forgotten. Returns the larger of the two numbers.';

-- Name: erase_messages(integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.erase_messages(p_limit integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_ids bigint[];
begin
  v_ids := array(
    select m.id from outbox.outbound_message m
    where m.erased_at is null
      and m.created_at
        < v_now - pg_catalog.make_interval(days => outbox.setting_int('message.retention_days'))
      and m.status in ('SENT', 'DELIVERED', 'FAILED', 'CANCELLED')
    order by m.created_at
    limit p_limit
    for update skip locked);
  update outbox.outbound_message m set
    to_recipient = 'erased', payload_json = '{}', provider_message_id = null, wa_id = null,
    erased_at = v_now
  where m.id = any (v_ids);
  update outbox.message_attempt a set wamid = null, provider_response = null
  where a.message_id = any (v_ids);
  return pg_catalog.cardinality(v_ids);
end
$$;

ALTER FUNCTION outbox.erase_messages(p_limit integer) OWNER TO postgres;

-- Name: FUNCTION erase_messages(p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.erase_messages(p_limit integer) IS 'Removes payload, number and WhatsApp''s ids of up to p_limit finished messages older than message.retention_days; returns how many. What happened to them stays.';

-- Name: event_content(outbox.event); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.event_content(p_event outbox.event) RETURNS bytea
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.sha256(pg_catalog.convert_to(
    pg_catalog.jsonb_build_array(p_event.type, p_event.body, p_event.partition_key,
      p_event.endpoint_id, extract(epoch from p_event.deliver_at))::text,
    'UTF8'));
end
$$;

ALTER FUNCTION outbox.event_content(p_event outbox.event) OWNER TO postgres;

-- Name: FUNCTION event_content(p_event outbox.event); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.event_content(p_event outbox.event) IS 'SHA-256 of what makes two events with one idempotency key the same.';

-- Name: event_json(outbox.event); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.event_json(p_event outbox.event) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.jsonb_build_object(
    'id', p_event.id, 'type', p_event.type, 'partitionKey', p_event.partition_key,
    'correlationId', p_event.correlation_id, 'idempotencyKey', p_event.idempotency_key,
    'traceparent', p_event.traceparent, 'endpointId', p_event.endpoint_id,
    'deliverAt', outbox.iso_time(p_event.deliver_at),
    'createdAt', outbox.iso_time(p_event.created_at));
end
$$;

ALTER FUNCTION outbox.event_json(p_event outbox.event) OWNER TO postgres;

-- Name: FUNCTION event_json(p_event outbox.event); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.event_json(p_event outbox.event) IS 'An event as the API lists it, without its payload: {"id", "type", "partitionKey", "correlationId", "idempotencyKey", "traceparent", "endpointId", "deliverAt", "createdAt"}.';

-- Name: event_metrics(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.event_metrics() RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_router outbox.router;
begin
  select * into v_router from outbox.router r order by r.turn desc limit 1;
  return pg_catalog.jsonb_build_object(
    -- From where routing reads: what lies before is dead, save what committed late.
    'unrouted', (
      select pg_catalog.count(*) from (
        (select from outbox.unrouted u where u.event_id > v_router.watermark limit 10000)
        union all
        (select from outbox.unrouted_late(v_router, 1000) u)
      ) u),
    'unrouted_since', (
      select extract(epoch from outbox.uuid_v7_time(u))
      from pg_catalog.unnest(outbox.next_unrouted(v_router)) u),
    'set_aside', (select pg_catalog.count(*) from (select from outbox.unroutable limit 10000) u),
    'dead_letters', (
      select pg_catalog.count(*) from (
        select from outbox.dead_letter x
        where x.replayed_at is null and x.discarded_at is null limit 10000
      ) x));
end
$$;

ALTER FUNCTION outbox.event_metrics() OWNER TO postgres;

-- Name: FUNCTION event_metrics(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.event_metrics() IS 'Events that wait for routing or were set aside, and dead letters that nobody has dealt with: {"unrouted", "unrouted_since", "set_aside", "dead_letters"}, each counted up to 10,000.';

-- Name: event_of_json(jsonb, timestamp with time zone, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.event_of_json(p_event jsonb, p_at timestamp with time zone, p_org_id text) RETURNS outbox.event
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_unknown text;
  v_endpoint_id uuid;
  v_deliver_at timestamptz;
begin
  if pg_catalog.jsonb_typeof(p_event) is distinct from 'object' then
    perform outbox.invalid('event', 'is not a JSON object',
      'Expected {"type": "order.paid", "payload": {"id": 1}}');
  end if;
  select k into v_unknown from pg_catalog.jsonb_object_keys(p_event) k
  where k not in (
    'type', 'payload', 'body', 'org_id', 'partition_key', 'correlation_id', 'idempotency_key',
    'endpoint_id', 'deliver_at', 'traceparent'
  )
  limit 1;
  if found then
    perform outbox.invalid(v_unknown, 'is not a field of an event',
      'The comment on outbox.publish_many lists the fields');
  end if;
  if (p_event ? 'payload') = (p_event ? 'body') then
    perform outbox.invalid('payload', 'and body are both given or both missing',
      'Give payload (JSON) or body (text), one of them');
  end if;
  if p_event ? 'body' then
    perform outbox.check_json(p_event ->> 'body');
  end if;
  v_endpoint_id := (p_event ->> 'endpoint_id')::uuid;
  v_deliver_at := (p_event ->> 'deliver_at')::timestamptz;
  return outbox.new_event(p_at, p_event ->> 'type',
    case when p_event ? 'body' then p_event ->> 'body' else (p_event -> 'payload')::text end,
    coalesce(p_org_id, p_event ->> 'org_id', 'default'),
    p_event ->> 'partition_key', p_event ->> 'correlation_id', p_event ->> 'idempotency_key',
    v_endpoint_id, v_deliver_at, p_event ->> 'traceparent');
exception
  when invalid_text_representation then
    raise exception using errcode = 'OH001', message = 'endpoint_id is not a uuid',
      detail = 'endpoint_id',
      hint = 'Expected the id that create_endpoint() returned, or leave it out';
  when invalid_datetime_format or datetime_field_overflow or invalid_time_zone_displacement_value
    or invalid_parameter_value then
    raise exception using errcode = 'OH001', message = 'deliver_at is not a time',
      detail = 'deliver_at',
      hint = 'Expected a time with zone, such as 2026-01-31T12:00:00Z, or leave it out';
end
$$;

ALTER FUNCTION outbox.event_of_json(p_event jsonb, p_at timestamp with time zone, p_org_id text) OWNER TO postgres;

-- Name: FUNCTION event_of_json(p_event jsonb, p_at timestamp with time zone, p_org_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.event_of_json(p_event jsonb, p_at timestamp with time zone, p_org_id text) IS 'One element of publish_many() as an event of that time, of that organisation unless it is null. OH001 names the field that is not valid.';

-- Name: event_type; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.event_type (
    org_id text NOT NULL,
    type text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    schema json,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

ALTER TABLE outbox.event_type OWNER TO postgres;

-- Name: TABLE event_type; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.event_type IS 'The event types of an organisation; schema is a JSON Schema of the payload, or null. json, not jsonb: it is given back as it came.';

-- Name: event_type_json(outbox.event_type); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.event_type_json(p_type outbox.event_type) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.jsonb_build_object(
    'type', p_type.type, 'description', p_type.description, 'schema', p_type.schema,
    'createdAt', outbox.iso_time(p_type.created_at),
    'updatedAt', outbox.iso_time(p_type.updated_at));
end
$$;

ALTER FUNCTION outbox.event_type_json(p_type outbox.event_type) OWNER TO postgres;

-- Name: FUNCTION event_type_json(p_type outbox.event_type); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.event_type_json(p_type outbox.event_type) IS 'An event type as the API shows it: {"type", "description", "schema", "createdAt", "updatedAt"}.';

-- Name: execute_org_saga(text, text, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.execute_org_saga(p_org_id text, p_name text, p_context text, p_key text DEFAULT NULL::text, p_traceparent text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_done jsonb := outbox.execute_saga(p_name, p_context::jsonb, p_org_id, p_key, p_traceparent);
begin
  return pg_catalog.jsonb_build_object(
    'id', v_done -> 'id', 'saga', v_done -> 'saga',
    'steps', (
      select pg_catalog.jsonb_agg(
        pg_catalog.jsonb_build_object('function', s.value -> 'function',
          'eventType', s.value -> 'event_type', 'eventId', s.value -> 'event_id')
        order by s.ordinality)
      from pg_catalog.jsonb_array_elements(v_done -> 'steps') with ordinality s),
    'eventIds', v_done -> 'event_ids', 'context', (v_done -> 'context')::text,
    'repeated', v_done -> 'repeated');
end
$$;

ALTER FUNCTION outbox.execute_org_saga(p_org_id text, p_name text, p_context text, p_key text, p_traceparent text) OWNER TO postgres;

-- Name: FUNCTION execute_org_saga(p_org_id text, p_name text, p_context text, p_key text, p_traceparent text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.execute_org_saga(p_org_id text, p_name text, p_context text, p_key text, p_traceparent text) IS 'Executes a saga as execute_saga() does: {"id", "saga", "steps": [{"function", "eventType", "eventId"}], "eventIds", "context", "repeated"}. The context comes and goes as text, so that no number in it is rounded on the way. OH001, OH002, OH003, OH007.';

-- Name: execute_saga(text, jsonb, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.execute_saga(p_name text, p_context jsonb DEFAULT '{}'::jsonb, p_org_id text DEFAULT 'default'::text, p_idempotency_key text DEFAULT NULL::text, p_traceparent text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $_$
declare
  v_begun jsonb := outbox.begin_saga(p_name, p_context, p_org_id, p_idempotency_key);
  v_id text := v_begun ->> 'id';
  v_context jsonb := p_context;
  v_steps jsonb := '[]'::jsonb;
  v_step record;
  v_added jsonb;
  v_event uuid;
  v_org_before text := pg_catalog.current_setting('outhook.org_id', true);
begin
  if v_begun ? 'repeated' then
    return v_begun;
  end if;
  -- For the steps: the context is the caller's own words, this is not.
  perform pg_catalog.set_config('outhook.org_id', p_org_id, true);
  for v_step in
    select s.value ->> 'function' as function, s.value ->> 'event_type' as event_type,
      s.ordinality::integer as place
    from pg_catalog.jsonb_array_elements(v_begun -> 'steps') with ordinality s
  loop
    v_added := outbox.run_step(p_name, v_step.place, v_step.function, v_context);
    v_context := v_context || v_added;
    -- The id of the saga is the key, so that an ordered endpoint gets its events in their order.
    v_event := outbox.publish(v_step.event_type, v_added, p_org_id, p_partition_key => v_id,
      p_correlation_id => v_id, p_traceparent => p_traceparent);
    v_steps := v_steps || pg_catalog.jsonb_build_object('function', v_step.function,
      'event_type', v_step.event_type, 'event_id', v_event);
  end loop;
  perform pg_catalog.set_config('outhook.org_id', coalesce(v_org_before, ''), true);
  return outbox.end_saga(p_org_id, p_idempotency_key, pg_catalog.jsonb_build_object(
    'id', v_id, 'saga', p_name, 'steps', v_steps,
    'event_ids', pg_catalog.jsonb_path_query_array(v_steps, '$[*].event_id'),
    'context', v_context));
end
$_$;

ALTER FUNCTION outbox.execute_saga(p_name text, p_context jsonb, p_org_id text, p_idempotency_key text, p_traceparent text) OWNER TO postgres;

-- Name: FUNCTION execute_saga(p_name text, p_context jsonb, p_org_id text, p_idempotency_key text, p_traceparent text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.execute_saga(p_name text, p_context jsonb, p_org_id text, p_idempotency_key text, p_traceparent text) IS 'Runs a saga''s steps in the caller''s transaction and with the caller''s rights. What a step returns is the payload of its event (correlation id and partition key: the saga''s id) and is laid over the context for the next; current_setting(''outhook.org_id'') tells a step for whom it runs. Returns {"id", "saga", "steps": [{"function", "event_type", "event_id"}], "event_ids", "context", "repeated": whether the key''s first execution gave this}. OH001; OH002: no such saga; OH003: the key has another saga or context; OH007: a step failed, and nothing has happened.';

-- Name: expire_deliveries(integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.expire_deliveries(p_limit integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_before timestamptz :=
    v_now - pg_catalog.make_interval(days => outbox.setting_int('event.retention_days'));
  v_endpoints uuid[];
  v_delivery outbox.delivery;
  v_expired integer := 0;
begin
  select pg_catalog.array_agg(distinct o.endpoint_id) into v_endpoints
  from (
    select d.endpoint_id from outbox.delivery d
    where d.event_id < outbox.uuid_v7_floor(v_before)
      and coalesce(d.replayed_at, '-infinity') < v_before
    order by d.event_id
    limit p_limit
  ) o;
  if v_endpoints is null then
    return 0;
  end if;
  -- What a deleted endpoint left is cancelled by purge_deleted(), and nobody's to replay.
  v_endpoints := outbox.try_lock_gates(array(
    select e.id from outbox.endpoint e where e.id = any (v_endpoints) and e.state <> 'deleted'));
  for v_delivery in
    select d.* from outbox.delivery d
    where d.event_id < outbox.uuid_v7_floor(v_before)
      and coalesce(d.replayed_at, '-infinity') < v_before
      and d.endpoint_id = any (v_endpoints) and coalesce(d.leased_until, '-infinity') <= v_now
    order by d.event_id
    limit p_limit
  loop
    perform outbox.settle_lost(v_delivery, v_now);
    v_expired := v_expired + outbox.expire_delivery(v_delivery, v_now)::integer;
  end loop;
  return v_expired;
end
$$;

ALTER FUNCTION outbox.expire_deliveries(p_limit integer) OWNER TO postgres;

-- Name: FUNCTION expire_deliveries(p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.expire_deliveries(p_limit integer) IS 'Makes dead letters (why: expired) of up to p_limit deliveries that are still open event.retention_days after their event, or after their replay; returns how many. locks: gates with SKIP LOCKED.';

-- Name: expire_delivery(outbox.delivery, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.expire_delivery(p_delivery outbox.delivery, p_now timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_why constant text := 'still open after the retention of events';
begin
  -- A lease that ended cost it a try since it was read, perhaps the last: then it is dead already.
  select *
  into p_delivery
  from outbox.delivery d
  where d.event_id = p_delivery.event_id and d.endpoint_id = p_delivery.endpoint_id;
  if not found then
    return false;
  end if;
  insert into outbox.dead_letter as x (
    id, event_id, endpoint_id,
    org_id, original_topic, original_message, partition_key, idempotency_key, traceparent,
    correlation_id, event_created_at,
    error, retry_count, failed_at, attempt, why)
  select
    outbox.uuid_v7(p_now), e.id, p_delivery.endpoint_id,
    e.org_id, e.type, e.body, e.partition_key, e.idempotency_key, e.traceparent,
    coalesce(e.correlation_id, e.id::text), e.created_at,
    v_why, p_delivery.tries, p_now, p_delivery.attempt, 'expired'
  from outbox.find_event(p_delivery.event_id, p_delivery.endpoint_id) e
  on conflict (event_id, endpoint_id) do update set
    error = excluded.error, retry_count = excluded.retry_count, failed_at = excluded.failed_at,
    attempt = excluded.attempt, why = excluded.why,
    replayed_at = null, delivered_at = null, discarded_at = null, note = null;
  perform outbox.close_delivery(p_delivery, 'expired', v_why, p_now);
  perform outbox.announce_dead(array[p_delivery.event_id], array[p_delivery.endpoint_id], p_now);
  perform outbox.publish_dead(array[p_delivery.event_id], array[p_delivery.endpoint_id], p_now);
  perform outbox.park(array[p_delivery.endpoint_id], p_now);
  return true;
end
$$;

ALTER FUNCTION outbox.expire_delivery(p_delivery outbox.delivery, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION expire_delivery(p_delivery outbox.delivery, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.expire_delivery(p_delivery outbox.delivery, p_now timestamp with time zone) IS 'Makes a dead letter of a delivery that was open too long; false when it is no longer open. locks: the caller holds the gate.';

-- Name: expire_org_secret(text, uuid, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.expire_org_secret(p_org_id text, p_endpoint_id uuid, p_secret_id uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform from outbox.endpoint_secret s
  where s.id = p_secret_id and s.endpoint_id = p_endpoint_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('secret %s does not exist', p_secret_id),
      hint = 'The secret of the endpoint lists those that sign';
  end if;
  perform outbox.expire_secret(p_secret_id);
  return outbox.get_org_secret(p_org_id, p_endpoint_id);
end
$$;

ALTER FUNCTION outbox.expire_org_secret(p_org_id text, p_endpoint_id uuid, p_secret_id uuid) OWNER TO postgres;

-- Name: FUNCTION expire_org_secret(p_org_id text, p_endpoint_id uuid, p_secret_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.expire_org_secret(p_org_id text, p_endpoint_id uuid, p_secret_id uuid) IS 'Ends a replaced secret at once, and returns what get_org_secret() does. OH002, OH004.';

-- Name: expire_secret(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.expire_secret(p_secret_id uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz;
  v_secret outbox.endpoint_secret;
begin
  perform outbox.lock_endpoint(s.endpoint_id)
  from outbox.endpoint_secret s where s.id = p_secret_id;
  v_now := outbox.clock();
  select *
  into v_secret
  from outbox.endpoint_secret s
  where s.id = p_secret_id and (s.expires_at is null or s.expires_at > v_now);
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('secret %s does not exist or has expired',
        pg_catalog.quote_nullable(p_secret_id::text)),
      hint = 'read_secret() lists the secrets of an endpoint';
  elsif v_secret.scheme = 'v1' and v_secret.expires_at is null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('secret %s is the one that endpoint %s signs with', p_secret_id,
        v_secret.endpoint_id),
      hint = 'rotate_secret() with p_overlap => ''0'' replaces it at once';
  end if;
  update outbox.endpoint e
  set version = e.version + 1, updated_at = v_now
  where e.id = v_secret.endpoint_id;
  update outbox.endpoint_secret s set expires_at = v_now where s.id = p_secret_id;
  return pg_catalog.jsonb_build_object('id', v_secret.endpoint_id, 'secret_id', p_secret_id,
    'expires_at', v_now);
end
$$;

ALTER FUNCTION outbox.expire_secret(p_secret_id uuid) OWNER TO postgres;

-- Name: FUNCTION expire_secret(p_secret_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.expire_secret(p_secret_id uuid) IS 'Ends at once a replaced secret, or an ed25519 key: {"id", "secret_id", "expires_at"}. OH002; OH004 for the secret that every endpoint must have.';

-- Name: attempt; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.attempt (
    event_id uuid NOT NULL,
    endpoint_id uuid,
    attempt integer NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    outcome text NOT NULL,
    status integer,
    error_class text,
    error text,
    duration_ms integer,
    response text,
    response_lossy boolean,
    next_retry_at timestamp with time zone,
    CONSTRAINT attempt_kind_is_known CHECK ((kind = ANY (ARRAY['try'::text, 'close'::text]))),
    CONSTRAINT attempt_outcome_is_known CHECK ((outcome = ANY (ARRAY['delivered'::text, 'failed'::text, 'dead_letter'::text, 'cancelled'::text, 'expired'::text, 'filter_error'::text, 'no_subscriber'::text])))
)
PARTITION BY RANGE (at);

ALTER TABLE outbox.attempt OWNER TO postgres;

-- Name: TABLE attempt; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.attempt IS 'One row per outcome of a claim (try), and per end without a delivery (close). Append-only, dropped by age.';

-- Name: message_attempt; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.message_attempt (
    id bigint NOT NULL,
    message_id bigint NOT NULL,
    attempt_no integer NOT NULL,
    status text NOT NULL,
    error_code text,
    error_message text,
    provider_response jsonb,
    next_retry_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    event_id uuid NOT NULL,
    claim integer NOT NULL,
    phone_number_id text NOT NULL,
    wamid text,
    taken_at timestamp with time zone,
    sent_at timestamp with time zone,
    delivered_at timestamp with time zone,
    read_at timestamp with time zone,
    failed_at timestamp with time zone,
    CONSTRAINT message_attempt_status_is_known CHECK ((status = ANY (ARRAY['TRYING'::text, 'SUCCESS'::text, 'FAILED'::text])))
);

ALTER TABLE outbox.message_attempt OWNER TO postgres;

-- Name: TABLE message_attempt; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.message_attempt IS 'The tries of a message, numbered through its resends. claim is the number of the delivery''s attempt; a claim that was given back unsent leaves no row. taken_at is when WhatsApp''s answer came; the other four are what its callbacks say of the try, at the earliest time that any says.';

-- Name: fail_attempt(outbox.outbound_message, outbox.message_attempt, outbox.attempt, outbox.result, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.fail_attempt(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_receipt outbox.attempt, p_result outbox.result, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_dead boolean;
begin
  p_message.error_code := coalesce(p_result.code, p_result.status::text, p_result.error_class);
  p_message.error_message := coalesce(p_result.error, p_result.error_class, 'failed');
  update outbox.message_attempt a set
    status = 'FAILED', error_code = p_message.error_code,
    error_message = p_message.error_message, provider_response = p_result.provider,
    next_retry_at = p_receipt.next_retry_at, updated_at = p_now
  where a.id = p_attempt.id;
  v_dead := exists (
    select from outbox.attempt t
    where t.event_id = p_result.event and t.endpoint_id is not distinct from p_result.endpoint
      and t.attempt = p_result.attempt and t.kind = 'close');
  -- A callback may have said in the meantime that it was sent: then that stands.
  if p_message.status <> 'SENDING' then
    return;
  end if;
  if v_dead then
    perform outbox.fail_message(p_message, p_message.error_code, p_message.error_message, p_now);
  else
    p_message.status := 'QUEUED';
    perform outbox.save_message(p_message, p_now);
  end if;
end
$$;

ALTER FUNCTION outbox.fail_attempt(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_receipt outbox.attempt, p_result outbox.result, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION fail_attempt(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_receipt outbox.attempt, p_result outbox.result, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.fail_attempt(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_receipt outbox.attempt, p_result outbox.result, p_now timestamp with time zone) IS 'Notes that an attempt failed, with the time of the next one from its receipt: the message is QUEUED again, or FAILED when its delivery was closed. locks: the caller holds the message.';

-- Name: fail_message(outbox.outbound_message, text, text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.fail_message(p_message outbox.outbound_message, p_code text, p_error text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  p_message.status := 'FAILED';
  p_message.error_code := p_code;
  p_message.error_message := p_error;
  perform outbox.save_message(p_message, p_now);
  perform outbox.audit(p_message.org_id, 'OUTBOUND_MESSAGE', p_message.id::text, 'FAILED',
    'Message failed: ' || p_error, null, p_now);
  perform outbox.note_activity(p_message, 'MESSAGE_FAILED',
    pg_catalog.jsonb_build_object('errorCode', p_code, 'error', p_error), p_now);
end
$$;

ALTER FUNCTION outbox.fail_message(p_message outbox.outbound_message, p_code text, p_error text, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION fail_message(p_message outbox.outbound_message, p_code text, p_error text, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.fail_message(p_message outbox.outbound_message, p_code text, p_error text, p_now timestamp with time zone) IS 'Ends a message as FAILED, with its audit and activity. OH004. locks: the message.';

-- Name: fail_unsent(uuid, integer, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.fail_unsent(p_endpoint_id uuid, p_limit integer, p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_message outbox.outbound_message;
  v_failed integer := 0;
begin
  for v_message in
    select m.* from outbox.whatsapp_channel w
    cross join lateral (
      select * from outbox.outbound_message m
      where m.org_id = w.org_id and m.status in ('QUEUED', 'SENDING')
        and m.channel_id = p_endpoint_id
      order by m.id limit p_limit
    ) m
    where w.endpoint_id = p_endpoint_id
  loop
    perform outbox.fail_message(v_message, 'channel_deleted', 'The channel was deleted', p_now);
    v_failed := v_failed + 1;
  end loop;
  return v_failed;
end
$$;

ALTER FUNCTION outbox.fail_unsent(p_endpoint_id uuid, p_limit integer, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION fail_unsent(p_endpoint_id uuid, p_limit integer, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.fail_unsent(p_endpoint_id uuid, p_limit integer, p_now timestamp with time zone) IS 'Fails up to p_limit messages that a deleted channel had not sent; returns how many. locks: the caller holds the gate; messages by id.';

-- Name: failure_rule; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.failure_rule (
    kind text NOT NULL,
    code text NOT NULL,
    action text NOT NULL,
    min_delay_s double precision DEFAULT 0 NOT NULL,
    title text NOT NULL,
    scope text DEFAULT 'endpoint'::text NOT NULL,
    firm boolean DEFAULT false NOT NULL,
    note text DEFAULT ''::text NOT NULL,
    opt_out text,
    max_retries integer,
    new_token boolean DEFAULT false NOT NULL,
    CONSTRAINT failure_rule_action_is_known CHECK ((action = ANY (ARRAY['retry'::text, 'wait'::text, 'fail'::text, 'hold'::text, 'fail_hold'::text, 'throttle'::text]))),
    CONSTRAINT failure_rule_max_retries_is_sensible CHECK (((max_retries >= 0) AND (max_retries <= 50))),
    CONSTRAINT failure_rule_min_delay_is_sensible CHECK (((min_delay_s >= (0)::double precision) AND (min_delay_s <= (604800)::double precision))),
    CONSTRAINT failure_rule_opt_out_is_known CHECK ((opt_out = ANY (ARRAY['MARKETING'::text, 'ALL'::text]))),
    CONSTRAINT failure_rule_scope_is_known CHECK ((scope = ANY (ARRAY['endpoint'::text, 'lane'::text, 'account'::text, 'app'::text])))
);

ALTER TABLE outbox.failure_rule OWNER TO postgres;

-- Name: TABLE failure_rule; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.failure_rule IS 'What a failure of an endpoint kind (* for all) means. retry: by the schedule, after min_delay_s at least; wait: no fault of the delivery, so the breaker opens at once and no try is spent; fail: a dead letter at once; hold: the endpoint is disabled and the delivery stays; fail_hold: both; throttle: retry, and the whole endpoint waits for min_delay_s or what Retry-After says. scope: what a throttle slows, of which lane is one recipient alone; firm: a provider that calls the failure transient changes nothing; opt_out: the failure says that the person wants no such messages; max_retries: fewer than the endpoint''s own; new_token: what mends it is another access token. A code may have a subcode behind a dot.';

-- Name: failure_rule_of(text, integer, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.failure_rule_of(p_kind text, p_status integer, p_error_class text, p_code text, p_subcode text DEFAULT NULL::text) RETURNS outbox.failure_rule
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_rule outbox.failure_rule;
begin
  select f.* into v_rule
  from unnest(array[
    p_code || '.' || p_subcode,
    p_code,
    case when p_status not between 200 and 299 then p_status::text end,
    case when p_status not between 200 and 299 then p_status / 100 || 'xx' end,
    p_error_class
  ]) with ordinality as c (code, place)
  join outbox.failure_rule f on f.code = c.code and f.kind in (p_kind, '*')
  order by c.place, f.kind = '*'
  limit 1;
  if not found then
    v_rule := row(p_kind, '', 'retry', 0, 'Nothing says otherwise', 'endpoint', false, '', null,
      null, false)::outbox.failure_rule;
  end if;
  return v_rule;
end
$$;

ALTER FUNCTION outbox.failure_rule_of(p_kind text, p_status integer, p_error_class text, p_code text, p_subcode text) OWNER TO postgres;

-- Name: FUNCTION failure_rule_of(p_kind text, p_status integer, p_error_class text, p_code text, p_subcode text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.failure_rule_of(p_kind text, p_status integer, p_error_class text, p_code text, p_subcode text) IS 'The rule for a failure: of the provider''s code, with its subcode or without, else the status, else its class, else the error class; without one, retry.';

-- Name: filter_problem(jsonpath[], timestamp with time zone[], text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.filter_problem(p_filters jsonpath[], p_since timestamp with time zone[], p_body text, p_created_at timestamp with time zone) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
declare
  v_problem text := '';
begin
  for v_n in 1 .. pg_catalog.cardinality(p_filters) loop
    continue when p_since[v_n] > p_created_at;
    begin
      -- A predicate ($.a == 1) gives true or false; another path matches when it finds something.
      if exists (
        select from pg_catalog.jsonb_path_query(p_body::jsonb, p_filters[v_n]) f (value)
        where f.value not in ('false'::jsonb, 'null'::jsonb)
      ) then
        return null;
      end if;
    exception when others then
      v_problem := greatest(v_problem, 'filter: ' || sqlerrm);
    end;
  end loop;
  return v_problem;
end
$_$;

ALTER FUNCTION outbox.filter_problem(p_filters jsonpath[], p_since timestamp with time zone[], p_body text, p_created_at timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION filter_problem(p_filters jsonpath[], p_since timestamp with time zone[], p_body text, p_created_at timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.filter_problem(p_filters jsonpath[], p_since timestamp with time zone[], p_body text, p_created_at timestamp with time zone) IS 'Null when a payload passes one of the filters that are not younger than its event, the empty string when it passes none, else why one of them could not be asked.';

-- Name: find_attempt(text, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.find_attempt(p_org_id text, p_phone_number_id text, p_wamid text, p_callback_data text) RETURNS outbox.message_attempt
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $_$
declare
  v_attempt outbox.message_attempt;
  v_name text[];
begin
  select a.* into v_attempt from outbox.message_attempt a
  where a.phone_number_id = p_phone_number_id and a.wamid = p_wamid;
  if not found then
    v_name := pg_catalog.regexp_match(p_callback_data, '^ob1:([0-9]{1,18}):([0-9]{1,9})$');
    select a.* into v_attempt from outbox.message_attempt a
    where a.message_id = v_name[1]::bigint and a.attempt_no = v_name[2]::integer
      and a.phone_number_id = p_phone_number_id;
  end if;
  -- A number may have been another organisation's before.
  if found and exists (
    select from outbox.outbound_message m where m.id = v_attempt.message_id and m.org_id = p_org_id)
  then
    return v_attempt;
  end if;
  return null;
end
$_$;

ALTER FUNCTION outbox.find_attempt(p_org_id text, p_phone_number_id text, p_wamid text, p_callback_data text) OWNER TO postgres;

-- Name: FUNCTION find_attempt(p_org_id text, p_phone_number_id text, p_wamid text, p_callback_data text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.find_attempt(p_org_id text, p_phone_number_id text, p_wamid text, p_callback_data text) IS 'The try of an organisation''s message that a status speaks of: by WhatsApp''s id, or by the callback data that the try carried where no answer has brought that id yet.';

-- Name: find_event(uuid, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.find_event(p_event_id uuid, p_endpoint_id uuid) RETURNS SETOF outbox.event
    LANGUAGE plpgsql STABLE ROWS 1
    SET search_path TO ''
    AS $$
begin
  return query select e.* from outbox.event e where e.id = p_event_id;
  if not found then
    -- The event's day has been dropped: its dead letter has all of it.
    return query
    select x.event_id, x.org_id, x.original_topic, x.original_message,
      x.partition_key, x.correlation_id, x.idempotency_key, x.traceparent,
      null::uuid, null::timestamptz, x.event_created_at
    from outbox.dead_letter x
    where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id;
  end if;
end
$$;

ALTER FUNCTION outbox.find_event(p_event_id uuid, p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION find_event(p_event_id uuid, p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.find_event(p_event_id uuid, p_endpoint_id uuid) IS 'The event of a delivery, from its dead letter when the event itself has been dropped.';

-- Name: first_lane_at(bigint, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.first_lane_at(p_gate_id bigint, p_from timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  return coalesce(
    (select l.next_at from outbox.lane l
     where l.gate_id = p_gate_id and l.next_at >= p_from and l.next_at < 'infinity'
     order by l.next_at limit 1),
    'infinity');
end
$$;

ALTER FUNCTION outbox.first_lane_at(p_gate_id bigint, p_from timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION first_lane_at(p_gate_id bigint, p_from timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.first_lane_at(p_gate_id bigint, p_from timestamp with time zone) IS 'When the first lane of a gate is due, of those that are not due before p_from; infinity when none is.';

-- Name: first_lease_end(bigint); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.first_lease_end(p_gate_id bigint) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
begin
  -- The lane that is always there by itself, the newest version first; the jobs' have few.
  return (
    select pg_catalog.min(l.leased_until)
    from (
      (
        select l.leased_until, l.leased from outbox.lane l
        where l.gate_id = p_gate_id and not l.ordered and l.key_hash = 0
        order by l.changed_at desc limit 1
      )
      union all
      select l.leased_until, l.leased from outbox.lane l
      where l.gate_id = p_gate_id and not l.ordered and l.key_hash > 0
    ) l
    where l.leased > 0);
end
$$;

ALTER FUNCTION outbox.first_lease_end(p_gate_id bigint) OWNER TO postgres;

-- Name: FUNCTION first_lease_end(p_gate_id bigint); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.first_lease_end(p_gate_id bigint) IS 'When the first lease in the unordered lanes of a gate ends (the live one, and one for each replay job), as they noted it; null when they hold none.';

-- Name: first_retry_at(bigint); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.first_retry_at(p_lane_id bigint) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  return (
    select t.next_retry_at
    from (
      select d.event_id, d.endpoint_id, d.tries from outbox.delivery d
      where d.lane_id = p_lane_id and d.lane_id > 0
      order by d.due_at, d.event_id limit 1
    ) f
    cross join lateral (
      select a.next_retry_at from outbox.attempt a
      -- Not =: see last_attempt().
      where a.event_id = f.event_id and a.endpoint_id is not distinct from f.endpoint_id
        and a.kind = 'try'
      order by a.attempt desc limit 1
    ) t
    where f.tries > 0);
end
$$;

ALTER FUNCTION outbox.first_retry_at(p_lane_id bigint) OWNER TO postgres;

-- Name: FUNCTION first_retry_at(p_lane_id bigint); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.first_retry_at(p_lane_id bigint) IS 'When the first delivery of a lane may be tried again, by the receipt of its last try; null when it has not failed.';

-- Name: fold_counters(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.fold_counters() RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_now timestamptz := pg_catalog.clock_timestamp();
  -- All of it once a minute: what took long to commit lies before the beginning.
  v_since timestamptz := case
    when pg_catalog.floor(extract(epoch from v_now))::bigint % 60 < 10 then '-infinity'
    else outbox.counters_since(v_now)
  end;
  v_first timestamptz;
  v_folded integer;
begin
  with taken as (
    delete from outbox.counter_change c where c.at >= v_since returning c.*
  ), folded as (
    -- In one order, for two of these may meet.
    insert into outbox.counter as c (metric, labels, n, total)
    select t.metric, t.labels, pg_catalog.sum(t.n), pg_catalog.sum(t.total)
    from taken t
    group by t.metric, t.labels
    order by t.metric, t.labels
    on conflict (metric, labels) do update
      set n = c.n + excluded.n, total = c.total + excluded.total
  )
  select pg_catalog.count(*), pg_catalog.min(t.at) into v_folded, v_first from taken t;
  -- Not behind anything that this call removes: a reader may still see it.
  if v_first is not null then
    perform pg_catalog.setval('outbox.counters_from',
      greatest(0, (extract(epoch from v_first - interval '15 s') * 1000)::bigint));
  end if;
  return v_folded;
end
$$;

ALTER FUNCTION outbox.fold_counters() OWNER TO postgres;

-- Name: FUNCTION fold_counters(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.fold_counters() IS 'Adds counter_change up into counter and returns how many rows it had.';

-- Name: forget_app_secrets(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.forget_app_secrets(p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_forgotten integer;
begin
  with old as (
    select a.app_id, a.old_secret_vault_id as id from outbox.whatsapp_app a
    where a.old_secret_until <= p_now and a.old_secret_vault_id is not null
    for update skip locked
  ), gone as (
    delete from vault.secrets v using old o where v.id = o.id
  )
  update outbox.whatsapp_app a set old_secret_vault_id = null, old_secret_until = null
  from old o where a.app_id = o.app_id;
  get diagnostics v_forgotten = row_count;
  return v_forgotten;
end
$$;

ALTER FUNCTION outbox.forget_app_secrets(p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION forget_app_secrets(p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.forget_app_secrets(p_now timestamp with time zone) IS 'Removes the secrets of Meta apps that count no more; returns how many.';

-- Name: forget_channel(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.forget_channel(p_endpoint_id uuid) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_token uuid;
begin
  delete from outbox.whatsapp_channel w
  where w.endpoint_id = p_endpoint_id returning w.token_vault_id into v_token;
  if not found then
    return;
  end if;
  delete from vault.secrets v where v.id = v_token;
  delete from outbox.conversation_window w where w.channel_id = p_endpoint_id;
  delete from outbox.channel_hold h where h.channel_id = p_endpoint_id;
end
$$;

ALTER FUNCTION outbox.forget_channel(p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION forget_channel(p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.forget_channel(p_endpoint_id uuid) IS 'Removes what a deleted channel leaves: its token, windows and holds.';

-- Name: forget_endpoint(uuid, bigint); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.forget_endpoint(p_endpoint_id uuid, p_gate_id bigint) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  -- In the order of drop_expired_secrets(): the secret, then what Vault has of it.
  with gone as (
    delete from outbox.endpoint_secret s where s.endpoint_id = p_endpoint_id returning s.vault_id
  )
  delete from vault.secrets v using gone g where v.id = g.vault_id;
  perform outbox.put_headers(p_endpoint_id, '{}');
  perform outbox.put_credentials(p_endpoint_id, null);
  perform outbox.forget_channel(p_endpoint_id);
  delete from outbox.subscription s where s.endpoint_id = p_endpoint_id;
  -- The one series that goes with what it counts, what is not added up yet too.
  delete from outbox.counter_change c
  where c.at >= outbox.counters_since(pg_catalog.clock_timestamp())
    and c.metric = 'endpoint_attempts' and c.labels[1] = p_endpoint_id::text;
  delete from outbox.counter c
  where c.metric = 'endpoint_attempts' and c.labels[1] = p_endpoint_id::text;
  delete from outbox.lane l where l.gate_id = p_gate_id;
  delete from outbox.gate g where g.id = p_gate_id;
end
$$;

ALTER FUNCTION outbox.forget_endpoint(p_endpoint_id uuid, p_gate_id bigint) OWNER TO postgres;

-- Name: FUNCTION forget_endpoint(p_endpoint_id uuid, p_gate_id bigint); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.forget_endpoint(p_endpoint_id uuid, p_gate_id bigint) IS 'Removes the secrets, headers, credentials, subscriptions, lanes and gate of a deleted endpoint; its own row stays for what history names.';

-- Name: forget_requests(timestamp with time zone, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.forget_requests(p_now timestamp with time zone, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_keys integer;
begin
  delete from outbox.request_bucket b where b.filled_at < p_now - interval '1 hour';
  delete from outbox.request_key k where k.ctid = any (array(
    select o.ctid from outbox.request_key o
    where o.created_at < p_now - outbox.key_window() order by o.created_at limit p_limit));
  get diagnostics v_keys = row_count;
  return v_keys;
end
$$;

ALTER FUNCTION outbox.forget_requests(p_now timestamp with time zone, p_limit integer) OWNER TO postgres;

-- Name: FUNCTION forget_requests(p_now timestamp with time zone, p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.forget_requests(p_now timestamp with time zone, p_limit integer) IS 'Removes up to p_limit keys older than idempotency.window_hours, and buckets that are full by now; returns how many keys.';

-- Name: forget_updates(timestamp with time zone, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.forget_updates(p_now timestamp with time zone, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_kept interval :=
    pg_catalog.make_interval(days => outbox.setting_int('callback.retention_days'));
  v_said interval :=
    pg_catalog.make_interval(days => outbox.setting_int('message.retention_days'));
  v_forgotten integer;
  v_emptied integer := 0;
begin
  delete from outbox.whatsapp_update u where u.id = any (array(
    select o.id from outbox.whatsapp_update o
    where o.received_at < p_now - v_kept
    order by o.received_at limit p_limit for update skip locked));
  get diagnostics v_forgotten = row_count;
  if v_said < v_kept then
    update outbox.whatsapp_update u set
      data = '{}', wamid = null, wa_id = null, user_id = null, callback_data = null
    where u.id = any (array(
      select o.id from outbox.whatsapp_update o
      where o.received_at < p_now - v_said and o.data <> '{}'
      order by o.received_at limit p_limit for update skip locked));
    get diagnostics v_emptied = row_count;
  end if;
  -- Those that wait for a message: one that neither transaction saw has its id by now.
  update outbox.whatsapp_update u set look_at = p_now
  where u.look_at = 'infinity' and u.received_at > p_now - interval '2 days' and exists (
    select from outbox.message_attempt a
    where a.phone_number_id = u.phone_number_id and a.wamid = u.wamid);
  perform outbox.forget_app_secrets(p_now);
  return greatest(v_forgotten, v_emptied);
end
$$;

ALTER FUNCTION outbox.forget_updates(p_now timestamp with time zone, p_limit integer) OWNER TO postgres;

-- Name: FUNCTION forget_updates(p_now timestamp with time zone, p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.forget_updates(p_now timestamp with time zone, p_limit integer) IS 'Removes up to p_limit updates older than callback.retention_days; of up to p_limit of those older than message.retention_days, if that is less, only the key is left. Returns the larger of the two numbers.';

-- Name: gate_metrics(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.gate_metrics(p_now timestamp with time zone) RETURNS TABLE(endpoint_id uuid, org_id text, kind text, state text, open bigint, halted bigint, in_flight integer, failures integer, failing_since timestamp with time zone, due_at timestamp with time zone)
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  return query
  with gates as materialized (
    select e.id, e.org_id, e.kind,
      case
        when e.state = 'enabled' and e.breaker_enabled and g.breaker <> 'closed'
        then 'breaker_' || g.breaker
        -- A channel that WhatsApp's answer put on hold, other than one that a person paused.
        when e.state = 'paused' and e.kind = 'whatsapp' and e.state_reason like 'held: %'
        then 'held'
        else e.state
      end as state,
      g.depth, h.depth as halted, g.in_flight, g.streak, g.first_failure_at,
      l.id as lane_id, l.head_at, l.not_before,
      pg_catalog.row_number() over (order by l.head_at) as place
    from outbox.endpoint e
    cross join lateral (
      select o.* from outbox.gate o
      where o.endpoint_id = e.id order by o.changed_at desc limit 1
    ) g
    -- An unordered endpoint, which is most of them, has no key that could stand still.
    left join lateral (
      select pg_catalog.sum(n.depth)::bigint as depth from outbox.lane n
      where n.gate_id = g.id and n.halted and e.ordering <> 'none'
    ) h on true
    -- The lane whose turn comes next; what a replay puts back is late by intention.
    left join lateral (
      select n.* from outbox.lane n
      where n.gate_id = g.id and n.next_at >= g.lanes_from and n.next_at <= p_now
        and n.next_at < 'infinity' and (n.ordered or n.key_hash = 0)
        -- In here, or the look-up is made whatever comes of this.
        and g.depth > g.in_flight and e.state = 'enabled'
        and (g.breaker = 'closed' or not e.breaker_enabled)
        -- The receiver asked for quiet, or its rate is used up.
        and g.not_before <= p_now
      order by n.next_at limit 1
    ) l on true
    where e.state <> 'deleted'
  )
  select g.id, g.org_id, g.kind, g.state, g.depth, coalesce(g.halted, 0), g.in_flight, g.streak,
    g.first_failure_at,
    case
      when f.due_at <= p_now then greatest(f.due_at, g.not_before)
      when g.place > 200 then greatest(g.head_at, g.not_before)
    end
  from gates g
  -- Nothing is due before head_at, which is later than the first delivery of no lane: the oldest is
  -- among those where it is earliest. A look walks what was delivered since the last claim.
  left join lateral (
    select o.due_at from outbox.delivery o
    where g.place <= 200 and o.lane_id = g.lane_id and o.lane_id > 0 and o.due_at >= g.head_at
    order by o.due_at, o.event_id limit 1
  ) f on true;
end
$$;

ALTER FUNCTION outbox.gate_metrics(p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION gate_metrics(p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.gate_metrics(p_now timestamp with time zone) IS 'Each endpoint with what its gate knows, and since when the first of its deliveries is due; null when none is that could be sent. Exact for the 200 that wait longest, not later than true for the others. Some index look-ups for each endpoint.';

-- Name: gate_totals(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.gate_totals() RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  return (
    select pg_catalog.jsonb_build_object(
      'open', coalesce(pg_catalog.sum(g.depth) filter (where e.state <> 'deleted'), 0),
      'in_flight', coalesce(pg_catalog.sum(g.in_flight), 0),
      'breakers_open', pg_catalog.count(*) filter (
        where g.breaker <> 'closed' and e.breaker_enabled and e.state <> 'deleted'))
    from outbox.endpoint e
    cross join lateral (
      select o.* from outbox.gate o where o.endpoint_id = e.id order by o.changed_at desc limit 1
    ) g);
end
$$;

ALTER FUNCTION outbox.gate_totals() OWNER TO postgres;

-- Name: FUNCTION gate_totals(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.gate_totals() IS 'What the gates of all endpoints come to: {"open", "in_flight", "breakers_open"}.';

-- Name: get_channel(text, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_channel(p_org_id text, p_channel_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return outbox.channel_json(outbox.check_channel(p_org_id, p_channel_id));
end
$$;

ALTER FUNCTION outbox.get_channel(p_org_id text, p_channel_id uuid) OWNER TO postgres;

-- Name: FUNCTION get_channel(p_org_id text, p_channel_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_channel(p_org_id text, p_channel_id uuid) IS 'One channel of an org, as channel_json() shows it; without an id the default one. OH002.';

-- Name: get_dead_letter(text, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_dead_letter(p_org_id text, p_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_letter outbox.dead_letter := outbox.org_dead_letter(p_org_id, p_id);
begin
  return outbox.dead_letter_json(v_letter)
    || pg_catalog.jsonb_build_object('body', v_letter.original_message);
end
$$;

ALTER FUNCTION outbox.get_dead_letter(p_org_id text, p_id uuid) OWNER TO postgres;

-- Name: FUNCTION get_dead_letter(p_org_id text, p_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_dead_letter(p_org_id text, p_id uuid) IS 'One dead letter of an org as dead_letter_json() shows it, with the body: the event''s JSON as text, byte for byte. OH002.';

-- Name: get_delivery(text, uuid, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return outbox.check_delivery(p_org_id, p_event_id, p_endpoint_id);
end
$$;

ALTER FUNCTION outbox.get_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION get_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid) IS 'One delivery: delivery_json(). OH002.';

-- Name: get_event(text, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_event(p_org_id text, p_event_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_event outbox.event;
begin
  select * into v_event from outbox.event e where e.id = p_event_id and e.org_id = p_org_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('event %s does not exist', coalesce(p_event_id::text, 'NULL')),
      hint = 'Events are kept for event.retention_days; the list of events has what is there';
  end if;
  return outbox.event_json(v_event) || pg_catalog.jsonb_build_object(
    -- As text: jsonb would change its bytes.
    'body', v_event.body,
    'routing', outbox.routing_state(p_event_id),
    'deliveries', coalesce(
      (
        select pg_catalog.jsonb_agg(outbox.delivery_json(p_event_id, p.endpoint_id)
          order by p.endpoint_id)
        from (select * from outbox.delivery_ends(p_event_id) limit 1000) p
      ), '[]'));
end
$$;

ALTER FUNCTION outbox.get_event(p_org_id text, p_event_id uuid) OWNER TO postgres;

-- Name: FUNCTION get_event(p_org_id text, p_event_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_event(p_org_id text, p_event_id uuid) IS 'One event: event_json() with "body" (text, as it was published), "routing" (waiting, done, set_aside) and "deliveries" (delivery_json(), the first 1,000). OH002.';

-- Name: get_event_type(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_event_type(p_org_id text, p_type text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_type outbox.event_type;
begin
  select * into v_type from outbox.event_type t where t.org_id = p_org_id and t.type = p_type;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('event type %s does not exist',
        pg_catalog.quote_nullable(pg_catalog.left(p_type, 140))),
      hint = 'The list of event types has their names';
  end if;
  return outbox.event_type_json(v_type);
end
$$;

ALTER FUNCTION outbox.get_event_type(p_org_id text, p_type text) OWNER TO postgres;

-- Name: FUNCTION get_event_type(p_org_id text, p_type text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_event_type(p_org_id text, p_type text) IS 'One event type: {"type", "description", "schema", "createdAt", "updatedAt"}. OH002.';

-- Name: get_health(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_health() RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := pg_catalog.clock_timestamp();
  v_tick timestamptz;
  v_waiting jsonb := outbox.waiting();
  v_due timestamptz := least((v_waiting ->> 'oldest_unrouted_at')::timestamptz,
    (v_waiting ->> 'oldest_due_at')::timestamptz);
  v_problems text[] := array[]::text[];
begin
  select d.start_time
  into v_tick
  from cron.job_run_details d
  where d.jobid = (select j.jobid from cron.job j where j.jobname = 'outhook-tick' and j.active)
  order by d.runid desc
  limit 1;
  -- pg_cron 1.4 starts the tick once a minute, and it stays for that minute.
  if v_tick is null or v_tick < v_now - interval '90 s' then
    v_problems := v_problems || 'the tick does not run'::text;
  end if;
  if v_due < v_now - interval '60 s' then
    v_problems := v_problems || 'work has been due for more than a minute'::text;
  end if;
  if not outbox.setting_on('worker.enabled') then
    v_problems := v_problems || 'delivery is switched off'::text;
  end if;
  return pg_catalog.jsonb_build_object(
    'status', case when pg_catalog.cardinality(v_problems) = 0 then 'ok' else 'degraded' end,
    'version', outbox.version() ->> 'version',
    'time', outbox.iso_time(v_now),
    'lastTickAt', outbox.iso_time(v_tick),
    'oldestDueAt', case when v_due <= v_now then outbox.iso_time(v_due) end,
    'problems', pg_catalog.to_jsonb(v_problems));
end
$$;

ALTER FUNCTION outbox.get_health() OWNER TO postgres;

-- Name: FUNCTION get_health(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_health() IS 'Whether the outbox works: {"status": "ok" or "degraded", "version", "time", "lastTickAt", "oldestDueAt": null when nothing is due, "problems"}. Reads one row of each index.';

-- Name: get_message(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_message(p_org_id text, p_message_id text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_message outbox.outbound_message := outbox.check_message_id(p_org_id, p_message_id);
begin
  return outbox.message_json(v_message) || pg_catalog.jsonb_build_object('attempts', coalesce((
    select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'attemptNo', a.attempt_no, 'status', a.status, 'errorCode', a.error_code,
        'errorMessage', a.error_message, 'providerResponse', a.provider_response,
        'providerMessageId', a.wamid, 'nextRetryAt', outbox.iso_time(a.next_retry_at),
        'createdAt', outbox.iso_time(a.created_at), 'updatedAt', outbox.iso_time(a.updated_at))
      order by a.attempt_no)
    from outbox.message_attempt a where a.message_id = v_message.id), '[]'));
end
$$;

ALTER FUNCTION outbox.get_message(p_org_id text, p_message_id text) OWNER TO postgres;

-- Name: FUNCTION get_message(p_org_id text, p_message_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_message(p_org_id text, p_message_id text) IS 'A message as message_json() shows it, with "attempts". OH002.';

-- Name: get_metrics(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_metrics() RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET statement_timeout TO '5s'
    AS $$
declare
  v_now timestamptz := outbox.clock();
begin
  return pg_catalog.jsonb_build_object(
    'version', outbox.version() ->> 'version',
    'now', extract(epoch from v_now),
    'bounds', pg_catalog.jsonb_build_object('attempt_ms', outbox.attempt_bounds(),
      'latency_ms', outbox.latency_bounds()),
    'counters', outbox.counters(),
    'queue', outbox.queue_metrics(v_now),
    'events', outbox.event_metrics(),
    'engine', outbox.engine_metrics(v_now),
    'database', outbox.database_metrics());
end
$$;

ALTER FUNCTION outbox.get_metrics() OWNER TO postgres;

-- Name: FUNCTION get_metrics(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_metrics() IS 'All that the function metrics shows: {"version", "now", "bounds", "counters", "queue", "events", "engine", "database"}. The parts are those of counters(), queue_metrics(), event_metrics(), engine_metrics() and database_metrics(). Reads neither history nor queues.';

-- Name: get_org_endpoint(text, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_org_endpoint(p_org_id text, p_endpoint_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return outbox.endpoint_json(outbox.org_endpoint(p_org_id, p_endpoint_id));
end
$$;

ALTER FUNCTION outbox.get_org_endpoint(p_org_id text, p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION get_org_endpoint(p_org_id text, p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_org_endpoint(p_org_id text, p_endpoint_id uuid) IS 'One endpoint of an org, as endpoint_json() shows it. OH002.';

-- Name: get_org_secret(text, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_org_secret(p_org_id text, p_endpoint_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_read jsonb;
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  v_read := outbox.read_secret(p_endpoint_id);
  return pg_catalog.jsonb_build_object('secret', v_read -> 'secret',
    'publicKey', v_read -> 'public_key',
    'secrets', (
      select pg_catalog.jsonb_agg(
        pg_catalog.jsonb_build_object('id', s.value -> 'secret_id',
          'scheme', s.value -> 'scheme', 'publicKey', s.value -> 'public_key',
          'createdAt', outbox.iso_time((s.value ->> 'created_at')::timestamptz),
          'expiresAt', outbox.iso_time((s.value ->> 'expires_at')::timestamptz))
        order by s.ordinality)
      from pg_catalog.jsonb_array_elements(v_read -> 'secrets')
        with ordinality as s (value, ordinality)
    ));
end
$$;

ALTER FUNCTION outbox.get_org_secret(p_org_id text, p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION get_org_secret(p_org_id text, p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_org_secret(p_org_id text, p_endpoint_id uuid) IS 'What a receiver verifies with, and all that signs: {"secret", "publicKey", "secrets"}. OH002.';

-- Name: get_org_stats(text, uuid, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_org_stats(p_org_id text, p_endpoint_id uuid, p_hours integer DEFAULT 24) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
declare
  v_most constant integer := 10000;
  v_since timestamptz;
  v_gate outbox.gate;
  v_attempts jsonb;
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform outbox.check_range('hours', p_hours, 1, 168);
  v_since := outbox.clock() - pg_catalog.make_interval(hours => p_hours);
  select * into v_gate from outbox.gate g where g.endpoint_id = p_endpoint_id;
  select pg_catalog.jsonb_build_object(
    'total', pg_catalog.count(*),
    'delivered', pg_catalog.count(*) filter (where a.outcome = 'delivered'),
    'failed', pg_catalog.count(*) filter (where a.outcome <> 'delivered'),
    'capped', pg_catalog.count(*) = v_most,
    'since', outbox.iso_time(
      case when pg_catalog.count(*) = v_most then pg_catalog.min(a.at) else v_since end),
    'lastAt', outbox.iso_time(pg_catalog.max(a.at)),
    'p50Ms', pg_catalog.percentile_disc(0.5) within group (order by a.duration_ms),
    'p95Ms', pg_catalog.percentile_disc(0.95) within group (order by a.duration_ms))
  into v_attempts
  from (
    select t.outcome, t.duration_ms, t.at
    from outbox.attempt t
    where t.endpoint_id = p_endpoint_id and t.at > v_since and t.kind = 'try'
    order by t.at desc
    limit v_most
  ) a;
  return pg_catalog.jsonb_build_object('endpointId', p_endpoint_id,
    'open', coalesce(v_gate.depth, 0), 'inFlight', coalesce(v_gate.in_flight, 0),
    'failuresRunning', coalesce(v_gate.streak, 0),
    'failingSince', outbox.iso_time(v_gate.first_failure_at),
    'breaker', coalesce(v_gate.breaker, 'closed'),
    'probeAt', case when v_gate.breaker = 'open' then outbox.iso_time(v_gate.open_until) end,
    'nextAt', outbox.iso_time(v_gate.next_at),
    'deadLetters', (
      select pg_catalog.count(*)
      from (
        select from outbox.dead_letter x
        where x.endpoint_id = p_endpoint_id and x.failed_at > '-infinity'
          and x.replayed_at is null and x.discarded_at is null
        limit v_most
      ) l
    ),
    'attempts', v_attempts);
end
$$;

ALTER FUNCTION outbox.get_org_stats(p_org_id text, p_endpoint_id uuid, p_hours integer) OWNER TO postgres;

-- Name: FUNCTION get_org_stats(p_org_id text, p_endpoint_id uuid, p_hours integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_org_stats(p_org_id text, p_endpoint_id uuid, p_hours integer) IS 'What waits at an endpoint, and its last attempts within p_hours, 10,000 at most ("capped" says so, and "since" from when on they are all). OH001, OH002.';

-- Name: get_org_test(text, uuid, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_org_test(p_org_id text, p_endpoint_id uuid, p_event_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_last outbox.attempt;
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  select *
  into v_last
  from outbox.attempt a
  -- Not =: see last_attempt().
  where a.event_id = p_event_id and a.endpoint_id is not distinct from p_endpoint_id
  order by a.attempt desc, a.kind desc
  limit 1;
  return pg_catalog.jsonb_build_object('eventId', p_event_id,
    'outcome', coalesce(v_last.outcome, 'pending'), 'status', v_last.status,
    'errorClass', v_last.error_class, 'error', v_last.error, 'durationMs', v_last.duration_ms,
    'response', v_last.response, 'attempt', v_last.attempt,
    'nextRetryAt', outbox.iso_time(v_last.next_retry_at));
end
$$;

ALTER FUNCTION outbox.get_org_test(p_org_id text, p_endpoint_id uuid, p_event_id uuid) OWNER TO postgres;

-- Name: FUNCTION get_org_test(p_org_id text, p_endpoint_id uuid, p_event_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_org_test(p_org_id text, p_endpoint_id uuid, p_event_id uuid) IS 'The last receipt of an event at an endpoint; its outcome is pending while there is none. OH002.';

-- Name: get_replay_job(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_replay_job(p_org_id text, p_id text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $_$
declare
  v_job outbox.replay_job;
begin
  if p_id ~ '^[0-9]{1,18}$' then
    select * into v_job from outbox.replay_job j where j.id = p_id::bigint and j.org_id = p_org_id;
  end if;
  if v_job.id is null then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('replay job %s does not exist', pg_catalog.quote_nullable(p_id)),
      hint = 'The list of replay jobs shows those that there are';
  end if;
  return outbox.replay_job_json(v_job);
end
$_$;

ALTER FUNCTION outbox.get_replay_job(p_org_id text, p_id text) OWNER TO postgres;

-- Name: FUNCTION get_replay_job(p_org_id text, p_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_replay_job(p_org_id text, p_id text) IS 'One replay job of an org, as replay_job_json() shows it. OH002.';

-- Name: get_retry_config(text, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_retry_config(p_org_id text, p_endpoint_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return outbox.retry_config_json(outbox.org_endpoint(p_org_id, p_endpoint_id));
end
$$;

ALTER FUNCTION outbox.get_retry_config(p_org_id text, p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION get_retry_config(p_org_id text, p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_retry_config(p_org_id text, p_endpoint_id uuid) IS 'The retry policy of an endpoint, as retry_config_json() shows it. OH002.';

-- Name: get_whatsapp_app(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.get_whatsapp_app(p_app_id text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_app outbox.whatsapp_app;
begin
  select * into v_app from outbox.whatsapp_app a where a.app_id = p_app_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('Meta app %s does not exist',
        pg_catalog.quote_nullable(pg_catalog.left(p_app_id, 40))),
      hint = 'put_whatsapp_app() makes it known';
  end if;
  return pg_catalog.jsonb_build_object('appId', v_app.app_id, 'appKey', v_app.app_key,
    'allowUnsigned', v_app.allow_unsigned,
    'secrets', pg_catalog.cardinality(outbox.app_secrets(v_app, outbox.clock())));
end
$$;

ALTER FUNCTION outbox.get_whatsapp_app(p_app_id text) OWNER TO postgres;

-- Name: FUNCTION get_whatsapp_app(p_app_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.get_whatsapp_app(p_app_id text) IS 'A Meta app: {"appId", "appKey": the last part of the address of its callbacks, "allowUnsigned", "secrets": how many count}. OH002.';

-- Name: grant_consent(text, text, text[], text, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.grant_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_source text, p_evidence text DEFAULT NULL::text, p_actor text DEFAULT NULL::text, p_channel text DEFAULT 'WHATSAPP'::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return outbox.change_consent(p_org_id, p_dossier_id, p_purposes, true, p_channel, p_source,
    p_evidence, p_actor);
end
$$;

ALTER FUNCTION outbox.grant_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_source text, p_evidence text, p_actor text, p_channel text) OWNER TO postgres;

-- Name: FUNCTION grant_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_source text, p_evidence text, p_actor text, p_channel text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.grant_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_source text, p_evidence text, p_actor text, p_channel text) IS 'Notes that the person of a dossier agrees to be sent messages of these purposes (MARKETING, UTILITY): how (source), with what evidence, written down by whom. Returns what list_consents() does. OH001.';

-- Name: had_pairs(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.had_pairs(p_event uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  return exists (select from outbox.delivery d where d.event_id = p_event)
    or exists (select from outbox.attempt a where a.event_id = p_event);
end
$$;

ALTER FUNCTION outbox.had_pairs(p_event uuid) OWNER TO postgres;

-- Name: FUNCTION had_pairs(p_event uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.had_pairs(p_event uuid) IS 'Whether somebody wanted an event that earlier calls have begun to route.';

-- Name: has_due(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.has_due(p_now timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_from timestamptz := outbox.ring_from(p_now);
begin
  return exists (
      select from outbox.gate g
      where g.next_at >= v_from and g.next_at <= p_now and g.next_at < 'infinity'
    )
    or outbox.has_unrouted();
end
$$;

ALTER FUNCTION outbox.has_due(p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION has_due(p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.has_due(p_now timestamp with time zone) IS 'Whether a run would find work: a gate is due, or an event is unrouted.';

-- Name: has_unrouted(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.has_unrouted() RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_router outbox.router;
begin
  select * into v_router from outbox.router r order by r.turn desc limit 1;
  return exists (select from outbox.unrouted u where u.event_id > v_router.watermark)
    or exists (select from outbox.unrouted_late(v_router, 1) u);
end
$$;

ALTER FUNCTION outbox.has_unrouted() OWNER TO postgres;

-- Name: FUNCTION has_unrouted(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.has_unrouted() IS 'Whether routing has something to do: the same read that routing makes.';

-- Name: hash_key(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.hash_key() RETURNS text
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_name constant text := 'outhook_recipient_key';
  v_key text := (select v.decrypted_secret from vault.decrypted_secrets v where v.name = v_name);
begin
  if v_key is null then
    begin
      perform vault.create_secret(
        pg_catalog.encode(extensions.gen_random_bytes(32), 'hex'), v_name,
        'Key of the hashes by which Outhook names a person''s number');
    exception when unique_violation then
      -- Another session was first.
      null;
    end;
    v_key := (select v.decrypted_secret from vault.decrypted_secrets v where v.name = v_name);
  end if;
  return v_key;
end
$$;

ALTER FUNCTION outbox.hash_key() OWNER TO postgres;

-- Name: FUNCTION hash_key(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.hash_key() IS 'The key of person_key(), from Vault; made at its first use.';

-- Name: hash_person(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.hash_person(p_recipient text, p_key text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.encode(
    extensions.hmac((outbox.spellings(p_recipient))[1], p_key, 'sha256'), 'hex');
end
$$;

ALTER FUNCTION outbox.hash_person(p_recipient text, p_key text) OWNER TO postgres;

-- Name: FUNCTION hash_person(p_recipient text, p_key text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.hash_person(p_recipient text, p_key text) IS 'person_key() by a key that the caller has read already: for many, since each reading of Vault costs a tenth of a millisecond and more.';

-- Name: header_problem(text, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.header_problem(p_name text, p_value jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
begin
  return case
    when p_name !~ '^[!#$%&''*+.^_`|~0-9A-Za-z-]+$' then 'has characters that HTTP does not allow'
    when pg_catalog.length(p_name) > 100 then 'has a name of more than 100 characters'
    when pg_catalog.lower(p_name) = any (outbox.reserved_headers())
      or pg_catalog.regexp_replace(
        pg_catalog.lower(p_name), '^(proxy|sec|webhook|x-outhook)-.*$', '\1-*'
      ) = any (outbox.reserved_headers())
    then 'is reserved'
    when pg_catalog.jsonb_typeof(p_value) <> 'string' then 'is not a string'
    when p_value #>> '{}' !~ '^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$' then
      'has an empty value or one that is not visible ASCII'
  end;
end
$_$;

ALTER FUNCTION outbox.header_problem(p_name text, p_value jsonb) OWNER TO postgres;

-- Name: FUNCTION header_problem(p_name text, p_value jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.header_problem(p_name text, p_value jsonb) IS 'What is wrong with a custom header, as the end of a sentence; null when it may be sent. Never shows the value.';

-- Name: heed_answers(outbox.result[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.heed_answers(p_results outbox.result[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
  v_wishes outbox.wish[] := array(
    select row(m.org_id, r.to, f.opt_out, false, p_now, pg_catalog.format('code %s', r.code),
      pg_catalog.format('attempt %s', a.attempt_no), 'OUTBOUND_MESSAGE', m.id::text)::outbox.wish
    from (
      select x.event, x.attempt, x.code from pg_catalog.unnest(p_results) x
      where x.outcome = 'failed' and x.code is not null
    ) r0
    join outbox.failure_rule f on f.kind = 'whatsapp' and f.code = r0.code
      and f.opt_out is not null
    cross join lateral (
      select x.attempt_no, x.message_id from outbox.message_attempt x
      where x.event_id = r0.event and x.claim = r0.attempt offset 0
    ) a
    cross join lateral (
      select x.* from outbox.outbound_message x where x.id = a.message_id offset 0
    ) m
    cross join lateral (
      select r0.code, t.recipient as to from (
        select m.to_recipient union select pg_catalog.unnest(
          outbox.recipients_of(m.org_id, m.wa_id, null))
      ) t (recipient)
    ) r);
begin
  if pg_catalog.cardinality(v_wishes) > 0 then
    perform outbox.note_wishes(v_wishes, p_now);
  end if;
end
$$;

ALTER FUNCTION outbox.heed_answers(p_results outbox.result[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION heed_answers(p_results outbox.result[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.heed_answers(p_results outbox.result[], p_now timestamp with time zone) IS 'Notes the opt-outs that WhatsApp''s answers speak of, as heed_failures() does those of callbacks. locks: opt-outs by key.';

-- Name: heed_failures(outbox.status_change[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.heed_failures(p_changes outbox.status_change[], p_now timestamp with time zone) RETURNS outbox.wish[]
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
  v_failures outbox.status_change[] := array(
    select c from pg_catalog.unnest(p_changes) c
    where c.rank = 4 and c.noted and c.reason is distinct from 'already');
begin
  if pg_catalog.cardinality(v_failures) = 0 then
    return null;
  end if;
  perform outbox.hold_failing(v_failures, p_now);
  perform outbox.slow_down(v_failures, p_now);
  return array(
    select row(m.org_id, r, f.opt_out, false, c.at, pg_catalog.format('code %s', c.code),
      pg_catalog.format('update %s', c.update_id), 'OUTBOUND_MESSAGE', m.id::text)::outbox.wish
    from pg_catalog.unnest(v_failures) c
    join outbox.failure_rule f on f.kind = 'whatsapp' and f.code = c.code
      and f.opt_out is not null
    cross join lateral (
      select x.* from outbox.outbound_message x where x.id = c.message_id offset 0
    ) m
    cross join lateral (
      select m.to_recipient union select pg_catalog.unnest(
        outbox.recipients_of(m.org_id, m.wa_id, null))
    ) t (r));
end
$$;

ALTER FUNCTION outbox.heed_failures(p_changes outbox.status_change[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION heed_failures(p_changes outbox.status_change[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.heed_failures(p_changes outbox.status_change[], p_now timestamp with time zone) IS 'Does what failure_rule says of failures that callbacks brought, holds and throttles, and returns the opt-outs that they mean. locks: endpoints and gates with SKIP LOCKED.';

-- Name: heed_late_result(outbox.outbound_message, outbox.message_attempt, outbox.result, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.heed_late_result(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_result outbox.result, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  -- A late answer still says that the message was taken: no second one is sent.
  if p_result.outcome = 'delivered' and p_result.provider_id is not null then
    perform outbox.adopt_message(
      outbox.callback_data(p_message.id, p_attempt.attempt_no), p_result.provider_id);
  elsif p_attempt.wamid is not null then
    perform outbox.end_told(p_message, p_now);
  end if;
end
$$;

ALTER FUNCTION outbox.heed_late_result(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_result outbox.result, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION heed_late_result(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_result outbox.result, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.heed_late_result(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_result outbox.result, p_now timestamp with time zone) IS 'What a result still means for its message when it came too late for its delivery. locks: the caller holds the gate and the message.';

-- Name: hold_channel(uuid, text, boolean, text, timestamp with time zone, timestamp with time zone, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.hold_channel(p_channel_id uuid, p_cause text, p_held boolean, p_why text, p_at timestamp with time zone, p_expires_at timestamp with time zone, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_endpoint outbox.endpoint;
begin
  select * into v_endpoint from outbox.endpoint e where e.id = p_channel_id
  for no key update nowait;
  insert into outbox.channel_hold as h (channel_id, cause, held, why, decided_at, expires_at)
  values (p_channel_id, p_cause, p_held, p_why, p_at, p_expires_at)
  on conflict (channel_id, cause) do update set
    held = excluded.held, why = excluded.why, decided_at = excluded.decided_at,
    expires_at = excluded.expires_at
  where excluded.decided_at > h.decided_at
    or (excluded.decided_at = h.decided_at and excluded.held and not h.held);
  if not found then
    return;
  end if;
  if p_held and v_endpoint.state = 'enabled' and coalesce(p_expires_at > p_now, true) then
    perform outbox.set_endpoint_state(p_channel_id, 'paused', 'held: ' || p_why);
    perform outbox.announce('outhook.channel.held', array[p_channel_id], p_now);
    perform outbox.audit(v_endpoint.org_id, 'CHANNEL', p_channel_id::text, 'HELD',
      'held: ' || p_why, null, p_now);
  elsif not p_held and v_endpoint.state = 'paused' and v_endpoint.state_reason like 'held:%'
    and not exists (
      select from outbox.channel_hold h where h.channel_id = p_channel_id and h.held)
  then
    perform outbox.set_endpoint_state(p_channel_id, 'enabled', null);
    perform outbox.announce('outhook.channel.resumed', array[p_channel_id], p_now);
    perform outbox.audit(v_endpoint.org_id, 'CHANNEL', p_channel_id::text, 'RESUMED', p_why, null,
      p_now);
  end if;
end
$$;

ALTER FUNCTION outbox.hold_channel(p_channel_id uuid, p_cause text, p_held boolean, p_why text, p_at timestamp with time zone, p_expires_at timestamp with time zone, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION hold_channel(p_channel_id uuid, p_cause text, p_held boolean, p_why text, p_at timestamp with time zone, p_expires_at timestamp with time zone, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.hold_channel(p_channel_id uuid, p_cause text, p_held boolean, p_why text, p_at timestamp with time zone, p_expires_at timestamp with time zone, p_now timestamp with time zone) IS 'Holds a channel for a cause, or lifts that cause, unless a later word has been spoken; the last cause lifted resumes it, unless a person paused it. locks: the endpoint, without waiting.';

-- Name: hold_channels(uuid[], outbox.result[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.hold_channels(p_endpoint_ids uuid[], p_results outbox.result[], p_now timestamp with time zone) RETURNS uuid[]
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_id uuid;
  v_code text;
  v_why text;
begin
  for v_id in
    select w.endpoint_id from outbox.whatsapp_channel w
    join outbox.endpoint e on e.id = w.endpoint_id
    where w.endpoint_id = any (p_endpoint_ids) and e.state = 'enabled'
    order by w.endpoint_id
    -- As disable_itself(): the next failure holds it then.
    for no key update of e skip locked
  loop
    select coalesce(r.code, r.error_class),
      pg_catalog.format('%s %s', coalesce(r.code, r.error_class), f.title)
    into v_code, v_why
    from pg_catalog.unnest(p_results) r
    cross join lateral outbox.failure_rule_of('whatsapp', r.status, r.error_class, r.code,
      r.provider ->> 'subcode') f
    where r.endpoint = v_id and r.outcome = 'failed' and f.action in ('hold', 'fail_hold')
    limit 1;
    perform outbox.hold_channel(v_id, outbox.cause_of(v_code), true, v_why, p_now, null, p_now);
  end loop;
  return nullif(array(
    select u from pg_catalog.unnest(p_endpoint_ids) u
    where not exists (select from outbox.whatsapp_channel w where w.endpoint_id = u)), '{}');
end
$$;

ALTER FUNCTION outbox.hold_channels(p_endpoint_ids uuid[], p_results outbox.result[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION hold_channels(p_endpoint_ids uuid[], p_results outbox.result[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.hold_channels(p_endpoint_ids uuid[], p_results outbox.result[], p_now timestamp with time zone) IS 'Pauses the channels among endpoints that a failure wants held, with the reason, and publishes outhook.channel.held; returns the endpoints that are no channels.';

-- Name: hold_failing(outbox.status_change[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.hold_failing(p_failures outbox.status_change[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_row record;
begin
  for v_row in
    select e.id, o.code, o.title, o.at
    from (
      select distinct on (m.channel_id) m.channel_id, c.code, f.title, c.at
      from pg_catalog.unnest(p_failures) c
      join outbox.failure_rule f on f.kind = 'whatsapp' and f.code = c.code
        and f.action in ('hold', 'fail_hold')
      cross join lateral (
      select x.* from outbox.outbound_message x where x.id = c.message_id offset 0
    ) m
      order by m.channel_id, c.at desc
    ) o
    join outbox.whatsapp_channel w on w.endpoint_id = o.channel_id
    join outbox.endpoint e on e.id = o.channel_id
    where e.state = 'enabled' and o.at > coalesce(e.ramp_from, '-infinity')
    order by e.id
    -- As hold_channels(): the next failure holds it then.
    for no key update of e skip locked
  loop
    perform outbox.hold_channel(v_row.id, outbox.cause_of(v_row.code), true,
      pg_catalog.format('%s %s', v_row.code, v_row.title), v_row.at, null, p_now);
  end loop;
end
$$;

ALTER FUNCTION outbox.hold_failing(p_failures outbox.status_change[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION hold_failing(p_failures outbox.status_change[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.hold_failing(p_failures outbox.status_change[], p_now timestamp with time zone) IS 'Holds the channels whose failures say so. locks: endpoints with SKIP LOCKED.';

-- Name: notice_rule; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.notice_rule (
    field text NOT NULL,
    event text NOT NULL,
    action text NOT NULL,
    cause text NOT NULL,
    title text NOT NULL,
    CONSTRAINT notice_rule_action_is_known CHECK ((action = ANY (ARRAY['hold'::text, 'lift'::text, 'note'::text]))),
    CONSTRAINT notice_rule_cause_is_known CHECK ((cause = ANY (ARRAY['template'::text, 'account'::text, 'quality'::text])))
);

ALTER TABLE outbox.notice_rule OWNER TO postgres;

-- Name: TABLE notice_rule; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.notice_rule IS 'What an update about a template, an account or a number means: hold, lift, or note, which is an operational event alone. One UPDATE changes it; an event in no row is stored and skipped.';

-- Name: hold_template(outbox.whatsapp_update, outbox.notice_rule, text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.hold_template(p_update outbox.whatsapp_update, p_rule outbox.notice_rule, p_why text, p_now timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_name text := pg_catalog.left(p_update.data ->> 'message_template_name', 512);
  -- Meta writes en_US and en-US.
  v_language text := pg_catalog.left(pg_catalog.replace(
    p_update.data ->> 'message_template_language', '-', '_'), 16);
  v_was boolean;
begin
  if v_name is null or v_language is null then
    return 'not_understood';
  end if;
  select h.held into v_was from outbox.template_hold h
  where h.app_id = p_update.app_id and h.waba_id = p_update.waba_id and h.name = v_name
    and h.language = v_language for update;
  insert into outbox.template_hold as h (
    app_id, waba_id, name, language, held, why, decided_at)
  values (p_update.app_id, p_update.waba_id, v_name, v_language, p_rule.action = 'hold', p_why,
    p_update.happened_at)
  on conflict (app_id, waba_id, name, language) do update set
    held = excluded.held, why = excluded.why, decided_at = excluded.decided_at
  where excluded.decided_at > h.decided_at
    or (excluded.decided_at = h.decided_at and excluded.held and not h.held);
  if not found then
    return 'behind';
  elsif coalesce(v_was, false) = (p_rule.action = 'hold') then
    return null;
  end if;
  perform outbox.put_news(
    case p_rule.action
      when 'hold' then 'outhook.template.held' else 'outhook.template.resumed'
    end,
    array(
      select pg_catalog.json_build_object('orgId', t.org_id, 'templateCode', t.code,
        'name', t.name, 'language', t.language, 'reason', p_why)::text
      from outbox.templates_of(p_update.app_id, p_update.waba_id, v_name, v_language) t),
    p_now);
  insert into outbox.audit_event (
    org_id, entity_type, entity_id, action, details, actor, created_at)
  select t.org_id, 'TEMPLATE', t.code,
    case p_rule.action when 'hold' then 'HELD' else 'RESUMED' end, p_why, null, p_now
  from outbox.templates_of(p_update.app_id, p_update.waba_id, v_name, v_language) t;
  return null;
end
$$;

ALTER FUNCTION outbox.hold_template(p_update outbox.whatsapp_update, p_rule outbox.notice_rule, p_why text, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION hold_template(p_update outbox.whatsapp_update, p_rule outbox.notice_rule, p_why text, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.hold_template(p_update outbox.whatsapp_update, p_rule outbox.notice_rule, p_why text, p_now timestamp with time zone) IS 'Holds a template of an account or lifts that, unless a later word has been spoken; returns why it does nothing, if so.';

-- Name: host_problem(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.host_problem(p_host text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $_$
declare
  v_host text := pg_catalog.lower(pg_catalog.regexp_replace(p_host, '\.$', ''));
  v_address inet;
begin
  if v_host like '[%' then
    v_address := outbox.ipv6_of(v_host);
  -- What ends in a number is an address or nothing (URL Standard, "ends in a number").
  elsif v_host ~ '(^|\.)([0-9]+|0x[0-9a-f]*)$' then
    v_address := outbox.ipv4_of(v_host);
  elsif v_host !~ '^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$' or pg_catalog.length(v_host) > 253 then
    return 'has a host that is no name of letters, digits and hyphens';
  else
    return outbox.inside_name_problem(v_host);
  end if;
  return case
    when v_address is null then 'has a host that is no valid address'
    when not outbox.is_reachable(v_address) then 'has a host that is not allowed'
  end;
end
$_$;

ALTER FUNCTION outbox.host_problem(p_host text) OWNER TO postgres;

-- Name: FUNCTION host_problem(p_host text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.host_problem(p_host text) IS 'What is wrong with a URL''s host, as the end of a sentence; null when nothing is.';

-- Name: inbound_text(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.inbound_text(p_data jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.left(coalesce(p_data #>> '{text,body}', p_data #>> '{button,text}',
    p_data #>> '{interactive,button_reply,title}', p_data #>> '{interactive,list_reply,title}',
    p_data #>> '{interactive,nfm_reply,body}', p_data #>> '{reaction,emoji}',
    p_data #>> '{image,caption}', p_data #>> '{video,caption}', p_data #>> '{document,caption}',
    p_data #>> '{system,body}'), 4096);
end
$$;

ALTER FUNCTION outbox.inbound_text(p_data jsonb) OWNER TO postgres;

-- Name: FUNCTION inbound_text(p_data jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.inbound_text(p_data jsonb) IS 'What a person reads of an inbound message; null where there is no text.';

-- Name: insert_deliveries(outbox.pair[], outbox.target[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.insert_deliveries(p_pairs outbox.pair[], p_targets outbox.target[]) RETURNS outbox.gain[]
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_hashjoin TO 'on'
    SET enable_nestloop TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_gains outbox.gain[];
begin
  with added as (
    insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes, deliver_at)
    select p.event_id, p.endpoint_id, t.lane_id,
      case
        when t.ordered then t.due_from + p.place * interval '1 microsecond'
        else greatest(t.due_from, p.deliver_at)
      end,
      p.body_bytes, p.deliver_at
    from pg_catalog.unnest(p_pairs) with ordinality
      as p (event_id, endpoint_id, problem, deliver_at, key_hash, body_bytes, place)
    join pg_catalog.unnest(p_targets) t
      on t.endpoint_id = p.endpoint_id and t.key_hash = p.key_hash
    on conflict (event_id, endpoint_id) do nothing
    returning lane_id, due_at
  )
  select pg_catalog.array_agg(row(t.lane_at, t.gate_at, a.n, a.first_at, a.last_at)::outbox.gain)
  into v_gains
  from (
    select a.lane_id, pg_catalog.count(*) as n, pg_catalog.min(a.due_at) as first_at,
      pg_catalog.max(a.due_at) as last_at
    from added a
    group by a.lane_id
  ) a
  join pg_catalog.unnest(p_targets) t on t.lane_id = a.lane_id;
  return v_gains;
end
$$;

ALTER FUNCTION outbox.insert_deliveries(p_pairs outbox.pair[], p_targets outbox.target[]) OWNER TO postgres;

-- Name: FUNCTION insert_deliveries(p_pairs outbox.pair[], p_targets outbox.target[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.insert_deliveries(p_pairs outbox.pair[], p_targets outbox.target[]) IS 'Inserts the deliveries of pairs that are not open yet, and returns what each lane has gained.';

-- Name: inside_name_problem(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.inside_name_problem(p_name text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $_$
begin
  return case
    when p_name ~ '^(.*\.)?(localhost|localhost\.localdomain|ip6-localhost|ip6-loopback)$'
      and not outbox.is_reachable('127.0.0.1') and not outbox.is_reachable('::1')
    then 'has a host that is not allowed'
    when (p_name !~ '\.' or p_name ~ '\.(local|internal|localdomain|home\.arpa)$')
      and outbox.setting_value('egress.allow_cidrs') = '[]'
    then 'has a host that is not allowed'
  end;
end
$_$;

ALTER FUNCTION outbox.inside_name_problem(p_name text) OWNER TO postgres;

-- Name: FUNCTION inside_name_problem(p_name text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.inside_name_problem(p_name text) IS 'What is wrong with a name that only a private network knows, where no such network is allowed; null when nothing is.';

-- Name: invalid(text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.invalid(p_field text, p_problem text, p_remedy text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  raise exception using errcode = 'OH001', message = pg_catalog.format('%s %s', p_field, p_problem),
    detail = p_field, hint = p_remedy;
end
$$;

ALTER FUNCTION outbox.invalid(p_field text, p_problem text, p_remedy text) OWNER TO postgres;

-- Name: FUNCTION invalid(p_field text, p_problem text, p_remedy text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.invalid(p_field text, p_problem text, p_remedy text) IS 'Raises OH001 for one argument: message "<field> <problem>", detail: the field, hint: the remedy.';

-- Name: ipv4_number(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.ipv4_number(p_part text) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
declare
  v_base integer := case when p_part like '0x%' then 16 when p_part like '0_%' then 8 else 10 end;
  v_digits text := pg_catalog.ltrim(
    case v_base when 16 then pg_catalog.substr(p_part, 3) else p_part end, '0');
  v_number bigint := 0;
  v_digit integer;
begin
  if pg_catalog.length(v_digits) > 11 then
    return null;
  end if;
  for v_n in 1 .. pg_catalog.length(v_digits) loop
    v_digit := pg_catalog.strpos('0123456789abcdef', pg_catalog.substr(v_digits, v_n, 1)) - 1;
    if v_digit not between 0 and v_base - 1 then
      return null;
    end if;
    v_number := v_number * v_base + v_digit;
  end loop;
  return v_number;
end
$$;

ALTER FUNCTION outbox.ipv4_number(p_part text) OWNER TO postgres;

-- Name: FUNCTION ipv4_number(p_part text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.ipv4_number(p_part text) IS 'One part of an IPv4 address as URLs write it (decimal, octal behind 0, hexadecimal behind 0x); null when it is none.';

-- Name: ipv4_of(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.ipv4_of(p_host text) RETURNS inet
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
declare
  v_parts text[] := pg_catalog.string_to_array(p_host, '.');
  v_count integer := pg_catalog.cardinality(v_parts);
  v_address bigint := 0;
  v_number bigint;
  v_beyond bigint;
begin
  if v_count > 4 then
    return null;
  end if;
  for v_n in 1 .. v_count loop
    v_number := case when v_parts[v_n] <> '' then outbox.ipv4_number(v_parts[v_n]) end;
    -- The last part fills what the others leave: 127.1 is 127.0.0.1.
    v_beyond := case when v_n < v_count then 256 else 256::bigint ^ (5 - v_count) end;
    if v_number is null or v_number >= v_beyond then
      return null;
    end if;
    v_address := v_address
      + v_number * case when v_n < v_count then 256::bigint ^ (4 - v_n) else 1 end;
  end loop;
  return '0.0.0.0'::inet + v_address;
end
$$;

ALTER FUNCTION outbox.ipv4_of(p_host text) OWNER TO postgres;

-- Name: FUNCTION ipv4_of(p_host text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.ipv4_of(p_host text) IS 'The IPv4 address that a URL''s host in any of its forms (127.1, 0x7f.1, 2130706433) stands for; null when it is none.';

-- Name: ipv6_of(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.ipv6_of(p_host text) RETURNS inet
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
begin
  return case
    when p_host ~ '^\[[0-9a-f:.]*:[0-9a-f:.]*\]$' then pg_catalog.btrim(p_host, '[]')::inet
  end;
exception when invalid_text_representation then
  return null;
end
$_$;

ALTER FUNCTION outbox.ipv6_of(p_host text) OWNER TO postgres;

-- Name: FUNCTION ipv6_of(p_host text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.ipv6_of(p_host text) IS 'The IPv6 address of a URL''s host in brackets; null when it is none, a zone id included.';

-- Name: is_base_url(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.is_base_url(p_text text, p_form text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
declare
  v_label constant text := '[a-z0-9]([a-z0-9-]*[a-z0-9])?';
  v_parts text[] := pg_catalog.regexp_match(p_text, '^https?://([^/:]+)(?::([0-9]{1,5}))?(/.*)?$');
begin
  return v_parts is not null and p_text ~ p_form
    and v_parts[1] ~ ('^' || v_label || '(\.' || v_label || ')*$')
    and coalesce(v_parts[2]::integer, 80) between 1 and 65535
    -- A path of dots would be resolved away.
    and coalesce(v_parts[3], '') ~ '^(/[A-Za-z0-9._~-]*[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$';
end
$_$;

ALTER FUNCTION outbox.is_base_url(p_text text, p_form text) OWNER TO postgres;

-- Name: FUNCTION is_base_url(p_text text, p_form text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.is_base_url(p_text text, p_form text) IS 'Whether a text is an http or https URL of that form that a path can be put behind: a name or IPv4 address, a port that there is, no credentials, no query.';

-- Name: run; Type: TABLE; Schema: outbox; Owner: postgres

CREATE UNLOGGED TABLE outbox.run (
    id uuid NOT NULL,
    kind text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    polled_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT run_kind_is_known CHECK ((kind = ANY (ARRAY['edge'::text, 'worker'::text])))
);

ALTER TABLE outbox.run OWNER TO postgres;

-- Name: TABLE run; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.run IS 'Live runs, and when each last called dispatch().';

-- Name: is_crowded(outbox.run, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.is_crowded(p_run outbox.run, p_now timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return p_run.kind = 'edge' and outbox.setting_int('worker.max_runs') <= (
    select pg_catalog.count(*) from outbox.run r
    where r.kind = 'edge' and r.ended_at is null and r.polled_at > p_now - interval '10 s'
      and r.polled_at <= p_now + interval '10 s'
      and (r.started_at, r.id) < (p_run.started_at, p_run.id));
end
$$;

ALTER FUNCTION outbox.is_crowded(p_run outbox.run, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION is_crowded(p_run outbox.run, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.is_crowded(p_run outbox.run, p_now timestamp with time zone) IS 'Whether as many edge runs as are allowed are older than this one and alive: a run that has not polled for 10 s is taken for dead.';

-- Name: is_network(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.is_network(p_text text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
begin
  -- The cast alone would take 10/8 and a bare address too, which the sender does not read, and
  -- 010.0.0.0/8, which the sender reads as octal.
  return p_text ~ ('^((0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){3}|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*)'
      '/(0|[1-9][0-9]*)$')
    and p_text::cidr is not null;
exception when invalid_text_representation then
  return false;
end
$_$;

ALTER FUNCTION outbox.is_network(p_text text) OWNER TO postgres;

-- Name: FUNCTION is_network(p_text text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.is_network(p_text text) IS 'Whether a text is a network in CIDR form, its host bits zero.';

-- Name: is_open_on(date); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.is_open_on(p_day date) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_from uuid := outbox.uuid_v7_floor(p_day::timestamp at time zone 'UTC');
  v_to uuid := outbox.uuid_v7_floor((p_day + 1)::timestamp at time zone 'UTC');
begin
  return exists (select from outbox.delivery d where d.event_id >= v_from and d.event_id < v_to)
    or exists (select from outbox.unrouted u where u.event_id >= v_from and u.event_id < v_to)
    or exists (select from outbox.unroutable u where u.event_id >= v_from and u.event_id < v_to);
end
$$;

ALTER FUNCTION outbox.is_open_on(p_day date) OWNER TO postgres;

-- Name: FUNCTION is_open_on(p_day date); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.is_open_on(p_day date) IS 'Whether anything is open of the events of that day (UTC).';

-- Name: is_port_range(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.is_port_range(p_text text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
declare
  v_ends text[] := pg_catalog.regexp_match(p_text, '^([0-9]{1,5})(?:-([0-9]{1,5}))?$');
begin
  return v_ends is not null and v_ends[1]::integer between 1 and 65535
    and coalesce(v_ends[2], v_ends[1])::integer between v_ends[1]::integer and 65535;
end
$_$;

ALTER FUNCTION outbox.is_port_range(p_text text) OWNER TO postgres;

-- Name: FUNCTION is_port_range(p_text text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.is_port_range(p_text text) IS 'Whether a text is a port such as 443 or a range such as 1024-65535.';

-- Name: is_public(inet); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.is_public(p_address inet) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  if pg_catalog.family(p_address) = 4 then
    return not p_address <<= any (array[
      '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12',
      '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24',
      '192.168.0.0/16', '192.175.48.0/24',
      '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4',
      -- Azure's wire server: metadata and DNS of the virtual machine, on a public address.
      '168.63.129.16/32'
    ]::inet[]);
  end if;
  return p_address <<= '2000::/3'
    and not p_address <<= any (
      array['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']::inet[]
    )
    -- ISATAP: an interface identifier of 5efe with or without the universal bit, then the IPv4
    -- address.
    and p_address & '::fdff:ffff:0:0' <> '::5efe:0:0';
end
$$;

ALTER FUNCTION outbox.is_public(p_address inet) OWNER TO postgres;

-- Name: FUNCTION is_public(p_address inet); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.is_public(p_address inet) IS 'Whether an address is one of the public Internet. IPv6 forms that carry an IPv4 address are not, whichever they carry.';

-- Name: is_quiet(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.is_quiet(p_now timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_since timestamptz := p_now - outbox.setting_int('kick.quiet_ms') * interval '1 ms';
  -- What is later was noted while the clock was ahead: it would keep everybody quiet until then.
  v_until timestamptz := p_now + interval '10 s';
begin
  return not exists (
      select from outbox.run r
      where r.ended_at is null and r.polled_at > v_since and r.polled_at <= v_until)
    and (
      select s.last_value not between extract(epoch from v_since) * 1000
        and extract(epoch from v_until) * 1000
      from outbox.last_kick s);
end
$$;

ALTER FUNCTION outbox.is_quiet(p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION is_quiet(p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.is_quiet(p_now timestamp with time zone) IS 'Whether no run has polled and nobody has kicked within the setting kick.quiet_ms.';

-- Name: is_reachable(inet); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.is_reachable(p_address inet) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return outbox.is_public(p_address) or exists (
    select from pg_catalog.jsonb_array_elements_text(outbox.setting_value('egress.allow_cidrs')) c
    where p_address <<= c.value::inet);
end
$$;

ALTER FUNCTION outbox.is_reachable(p_address inet) OWNER TO postgres;

-- Name: FUNCTION is_reachable(p_address inet); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.is_reachable(p_address inet) IS 'Whether deliveries may go to an address: a public one, or one that egress.allow_cidrs allows.';

-- Name: is_retryable(text, integer, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.is_retryable(p_kind text, p_status integer, p_error_class text, p_code text DEFAULT NULL::text) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return (outbox.failure_rule_of(p_kind, p_status, p_error_class, p_code)).action
    in ('retry', 'wait', 'throttle');
end
$$;

ALTER FUNCTION outbox.is_retryable(p_kind text, p_status integer, p_error_class text, p_code text) OWNER TO postgres;

-- Name: FUNCTION is_retryable(p_kind text, p_status integer, p_error_class text, p_code text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.is_retryable(p_kind text, p_status integer, p_error_class text, p_code text) IS 'Whether a failure may pass by itself: no usable answer, 3xx, 408, 425, 429 and 5xx may; any other answer, and an address that is not allowed, do not. The table failure_rule decides.';

-- Name: is_template_held(outbox.outbound_message); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.is_template_held(p_message outbox.outbound_message) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  return p_message.template_code is not null and exists (
    select from outbox.template t
    join outbox.whatsapp_channel c on c.endpoint_id = p_message.channel_id
    join outbox.template_hold h on h.app_id = c.app_id and h.waba_id = c.waba_id
      and h.name = t.name and h.language = t.language and h.held
    where t.org_id = p_message.org_id and t.code = p_message.template_code);
end
$$;

ALTER FUNCTION outbox.is_template_held(p_message outbox.outbound_message) OWNER TO postgres;

-- Name: FUNCTION is_template_held(p_message outbox.outbound_message); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.is_template_held(p_message outbox.outbound_message) IS 'Whether WhatsApp has paused or disabled the template of a message in the account that sends it.';

-- Name: is_watched_change(jsonb, jsonb, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.is_watched_change(p_new jsonb, p_old jsonb, p_watch jsonb) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return p_new is null or p_old is null or not p_watch ? 'changed' or exists (
    select from pg_catalog.jsonb_array_elements_text(p_watch -> 'changed') c
    where p_new -> c is distinct from p_old -> c);
end
$$;

ALTER FUNCTION outbox.is_watched_change(p_new jsonb, p_old jsonb, p_watch jsonb) OWNER TO postgres;

-- Name: FUNCTION is_watched_change(p_new jsonb, p_old jsonb, p_watch jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.is_watched_change(p_new jsonb, p_old jsonb, p_watch jsonb) IS 'Whether a change is published: an update is only when a column of "changed" has.';

-- Name: iso_time(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.iso_time(p_at timestamp with time zone) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return case
    when pg_catalog.isfinite(p_at)
    then pg_catalog.to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  end;
end
$$;

ALTER FUNCTION outbox.iso_time(p_at timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION iso_time(p_at timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.iso_time(p_at timestamp with time zone) IS 'A moment as the API writes it, such as 2026-11-28T03:25:45.123Z; null for null and infinity.';

-- Name: judge_statuses(bigint[], uuid[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.judge_statuses(p_ids bigint[], p_gates uuid[]) RETURNS outbox.status_change[]
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
  v_changes outbox.status_change[];
begin
  with given as materialized (
    select u.id, u.attempt_id, u.status, u.wamid, u.happened_at as at, u.data,
      case u.status
        when 'sent' then 1 when 'delivered' then 2 when 'read' then 3 when 'played' then 3
        when 'failed' then 4
      end as rank
    from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    where u.kind = 'status' and u.state in ('stored', 'kept')
  ), met as materialized (
    select g.*, a.id as try_id, a.message_id, a.wamid as known_as, m.status as message_status,
      m.erased_at, m.status = 'QUEUED' and m.channel_id <> all (p_gates) as unlocked,
      a.event_id = m.event_id as of_this_life, l.newer, l.newer_out,
      a.failed_at is not null as has_failed,
      a.delivered_at is not null or a.read_at is not null as has_arrived,
      case g.rank
        when 1 then a.sent_at when 2 then a.delivered_at when 3 then a.read_at else a.failed_at
      end as known_at
    from given g
    left join lateral (
      select x.* from outbox.message_attempt x where x.id = g.attempt_id offset 0
    ) a on true
    left join lateral (
      select x.* from outbox.outbound_message x where x.id = a.message_id offset 0
    ) m on true
    left join lateral (
      select pg_catalog.count(*) > 0 as newer,
        coalesce(pg_catalog.bool_or(outbox.may_be_out(b)), false) as newer_out
      from outbox.message_attempt b
      where b.message_id = a.message_id and b.attempt_no > a.attempt_no
    ) l on true
  ), ranked as (
    -- Within one call the earlier of failed and delivered counts as the first word.
    select m.*,
      pg_catalog.row_number() over (partition by m.try_id, m.rank order by m.at, m.id) as nth,
      pg_catalog.first_value(m.rank) over (
        partition by m.try_id order by coalesce(m.rank, 0) > 1 desc, m.at, m.id) = 4 as fails_first,
      pg_catalog.min(m.wamid) over (partition by m.try_id) as first_wamid
    from met m
  ), judged as (
    select r.*, case
        when r.try_id is null then 'unknown_message'
        when r.rank is null then 'unknown_status'
        when r.erased_at is not null then 'erased'
        when r.wamid <> coalesce(r.known_as, r.first_wamid) then 'other_id'
        when r.unlocked then 'retry_pending'
        when r.rank = 4 and (r.has_arrived or (not r.has_failed and not r.fails_first))
          then 'after_delivered'
        when r.rank in (2, 3) and (r.has_failed or (not r.has_arrived and r.fails_first))
          then 'after_failed'
        when r.known_at is not null or r.nth > 1 then 'already'
        when r.message_status = 'CANCELLED' then 'message_cancelled'
        when not r.of_this_life or (r.rank = 4 and r.newer) then 'old_attempt'
        when r.newer_out and r.message_status not in ('QUEUED', 'SENDING') then 'old_attempt'
        when r.message_status = 'FAILED' then 'message_failed'
        when r.message_status = 'DELIVERED' and r.rank = 4 then 'after_delivered'
        when r.message_status = 'DELIVERED' and r.rank < 3 then 'behind'
      end as why
    from ranked r
  )
  select pg_catalog.array_agg(row(
      j.id, j.try_id, j.message_id, j.status, j.rank, j.at, j.wamid,
      case when j.rank = 4 then coalesce(e.error ->> 'code', 'failed') end,
      case when j.rank = 4 then pg_catalog.left(
        coalesce(e.error ->> 'title', e.error ->> 'message', f.title, 'failed'), 500) end,
      case when j.rank = 4 then pg_catalog.left(coalesce(
        e.error #>> '{error_data,details}', e.error ->> 'details'), 1000) end,
      coalesce(j.why not in ('unknown_message', 'unknown_status', 'erased', 'other_id',
        'retry_pending', 'after_delivered', 'after_failed'), true),
      case
        when j.why is null then 'applied'
        when j.why = 'retry_pending' then 'stored'
        when j.why = 'unknown_message' then 'kept'
        else 'skipped'
      end, j.why)::outbox.status_change
    order by j.message_id, j.rank, j.at, j.id)
  into v_changes
  from judged j
  left join lateral (
    select j.data #> '{errors,0}' as error where j.rank = 4 offset 0
  ) e on true
  left join outbox.failure_rule f on f.kind = 'whatsapp' and f.code = e.error ->> 'code';
  return coalesce(v_changes, '{}');
end
$$;

ALTER FUNCTION outbox.judge_statuses(p_ids bigint[], p_gates uuid[]) OWNER TO postgres;

-- Name: FUNCTION judge_statuses(p_ids bigint[], p_gates uuid[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.judge_statuses(p_ids bigint[], p_gates uuid[]) IS 'What comes of each status among stored updates, before anything is changed. The caller holds the messages, and the gates given.';

-- Name: keep_days(uuid[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.keep_days(p_event_ids uuid[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  -- In the order in which drop_partitions() comes to them.
  delete from outbox.partition_check c
  using (
    select o.name from outbox.partition_check o
    where o.name in (
      select outbox.partition_name('event',
        (outbox.uuid_v7_time(u) at time zone 'UTC')::date)
      from pg_catalog.unnest(p_event_ids) u)
    order by o.name
    for update
  ) o
  where c.name = o.name;
end
$$;

ALTER FUNCTION outbox.keep_days(p_event_ids uuid[]) OWNER TO postgres;

-- Name: FUNCTION keep_days(p_event_ids uuid[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.keep_days(p_event_ids uuid[]) IS 'Starts the count of nights without anything open anew for the days of replayed events. locks: partition_check by name, behind the gates.';

-- Name: keep_in_vault(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.keep_in_vault(p_field text, p_secret text) RETURNS uuid
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $_$
begin
  -- What goes into a header, so nothing that a header cannot hold.
  if p_secret is null or p_secret !~ '^[\x21-\x7e]+$' or pg_catalog.length(p_secret) > 2048
  then
    perform outbox.invalid(p_field, 'is empty, too long or not visible ASCII',
      'Copy it from Meta''s dashboard again');
  end if;
  return vault.create_secret(p_secret);
end
$_$;

ALTER FUNCTION outbox.keep_in_vault(p_field text, p_secret text) OWNER TO postgres;

-- Name: FUNCTION keep_in_vault(p_field text, p_secret text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.keep_in_vault(p_field text, p_secret text) IS 'Puts a secret into Vault and returns its id there. OH001, which never shows it.';

-- Name: keep_secret(text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.keep_secret(p_name text, p_value text, p_description text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_id uuid;
begin
  select s.id into v_id from vault.secrets s where s.name = p_name;
  if found then
    perform vault.update_secret(v_id, p_value, p_name, p_description);
  else
    perform vault.create_secret(p_value, p_name, p_description);
  end if;
end
$$;

ALTER FUNCTION outbox.keep_secret(p_name text, p_value text, p_description text) OWNER TO postgres;

-- Name: FUNCTION keep_secret(p_name text, p_value text, p_description text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.keep_secret(p_name text, p_value text, p_description text) IS 'Creates or replaces a secret in Vault by its name.';

-- Name: key_hash(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.key_hash(p_ordering text, p_partition_key text) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return case
    when p_ordering = 'partition' then pg_catalog.hashtextextended(coalesce(p_partition_key, ''), 0)
    else 0
  end;
end
$$;

ALTER FUNCTION outbox.key_hash(p_ordering text, p_partition_key text) OWNER TO postgres;

-- Name: FUNCTION key_hash(p_ordering text, p_partition_key text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.key_hash(p_ordering text, p_partition_key text) IS 'Which lane of its gate a delivery belongs to: the hash of the partition key where each key has its own order, else 0.';

-- Name: key_to_cursor(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.key_to_cursor(p_key text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.translate(
    pg_catalog.encode(pg_catalog.convert_to(p_key, 'UTF8'), 'base64'), E'+/=\n', '-_');
end
$$;

ALTER FUNCTION outbox.key_to_cursor(p_key text) OWNER TO postgres;

-- Name: FUNCTION key_to_cursor(p_key text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.key_to_cursor(p_key text) IS 'The key of a row as an opaque cursor, base64url.';

-- Name: key_window(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.key_window() RETURNS interval
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.make_interval(hours => outbox.setting_int('idempotency.window_hours'));
end
$$;

ALTER FUNCTION outbox.key_window() OWNER TO postgres;

-- Name: FUNCTION key_window(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.key_window() IS 'How long an idempotency key is known: the setting idempotency.window_hours.';

-- Name: kick(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.kick(p_why text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    SET lock_timeout TO '50ms'
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_at text := pg_catalog.floor(extract(epoch from pg_catalog.clock_timestamp()))::bigint::text;
  v_url text;
  v_secret text;
begin
  select pg_catalog.max(s.decrypted_secret) filter (where s.name = 'outhook_functions_url'),
    pg_catalog.max(s.decrypted_secret) filter (where s.name = 'outhook_worker_secret')
  into v_url, v_secret
  from vault.decrypted_secrets s
  where s.name in ('outhook_functions_url', 'outhook_worker_secret');
  if v_url is null or v_secret is null then
    return false;
  end if;
  perform pg_catalog.setval('outbox.last_kick', (extract(epoch from v_now) * 1000)::bigint);
  perform net.http_post(
    url => v_url || '/deliver/run',
    body => pg_catalog.jsonb_build_object('why', p_why),
    headers => pg_catalog.jsonb_build_object(
      'Content-Type', 'application/json',
      'x-outhook-kick', 't=' || v_at || ',v1='
        || pg_catalog.encode(extensions.hmac(v_at, v_secret, 'sha256'), 'hex')),
    timeout_milliseconds => 2000);
  perform pg_catalog.nextval(case p_why
    when 'commit' then 'outbox.kicks_on_commit' else 'outbox.kicks_by_tick'
  end::regclass);
  return true;
exception when others then
  return false;
end
$$;

ALTER FUNCTION outbox.kick(p_why text) OWNER TO postgres;

-- Name: FUNCTION kick(p_why text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.kick(p_why text) IS 'Asks pg_net to start a run once the transaction commits; true if it was asked. Never raises, and waits 50 ms at most for a lock.';

-- Name: kick_on_commit(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.kick_on_commit() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  if pg_catalog.current_setting('outbox.kicked', true) = pg_catalog.pg_current_xact_id()::text then
    return;
  end if;
  perform pg_catalog.set_config('outbox.kicked', pg_catalog.pg_current_xact_id()::text, true);
  if outbox.setting_on('worker.enabled') and outbox.setting_on('kick.on_commit')
    and outbox.is_quiet(outbox.clock())
  then
    perform outbox.kick('commit');
  end if;
end
$$;

ALTER FUNCTION outbox.kick_on_commit() OWNER TO postgres;

-- Name: FUNCTION kick_on_commit(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.kick_on_commit() IS 'Kicks, at most once in a transaction, when no run is awake.';

-- Name: last_attempt(uuid, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.last_attempt(p_event_id uuid, p_endpoint_id uuid) RETURNS integer
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return greatest(
    (select pg_catalog.max(a.attempt) from outbox.attempt a
     -- Not =, or the planner, without statistics of today's partition, reads all of the endpoint's.
     where a.event_id = p_event_id and a.endpoint_id is not distinct from p_endpoint_id),
    (select x.attempt from outbox.dead_letter x
     where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id));
end
$$;

ALTER FUNCTION outbox.last_attempt(p_event_id uuid, p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION last_attempt(p_event_id uuid, p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.last_attempt(p_event_id uuid, p_endpoint_id uuid) IS 'The last attempt number of a finished delivery; null when nothing is known of it.';

-- Name: latency_bounds(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.latency_bounds() RETURNS bigint[]
    LANGUAGE sql IMMUTABLE
    SET search_path TO ''
    AS $$
  select array[25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 300000, 1800000,
    3600000, 21600000, 86400000]::bigint[]
$$;

ALTER FUNCTION outbox.latency_bounds() OWNER TO postgres;

-- Name: FUNCTION latency_bounds(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.latency_bounds() IS 'The upper bounds of the buckets of how long a delivery takes from when it is due, in ms.';

-- Name: learn_numbers(bigint[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.learn_numbers(p_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  update outbox.whatsapp_channel c set display_digits = x.display
  from (
    select distinct on (u.channel_id) u.channel_id, u.display
    from pg_catalog.unnest(p_ids) i
    cross join lateral (select w.* from outbox.whatsapp_update w where w.id = i offset 0) u
    where u.display is not null and u.channel_id is not null
    order by u.channel_id, u.id desc
  ) x
  join lateral (
    -- Whoever holds it has another callback that says the same, or is a person: the next one does.
    select w.ctid as row_at from outbox.whatsapp_channel w
    where w.endpoint_id = x.channel_id and w.display_digits is distinct from x.display
    for no key update skip locked
  ) h on true
  where c.ctid = h.row_at;
end
$$;

ALTER FUNCTION outbox.learn_numbers(p_ids bigint[]) OWNER TO postgres;

-- Name: FUNCTION learn_numbers(p_ids bigint[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.learn_numbers(p_ids bigint[]) IS 'Notes the numbers of channels, which their callbacks show and only those: an update of a number''s quality names it by nothing else.';

-- Name: lift_expired_holds(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.lift_expired_holds(p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_hold outbox.channel_hold;
  v_lifted integer := 0;
begin
  for v_hold in
    select h.* from outbox.channel_hold h
    join outbox.endpoint e on e.id = h.channel_id
    where h.held and h.expires_at <= p_now
    order by h.expires_at limit 100
    for no key update of e skip locked
  loop
    perform outbox.hold_channel(v_hold.channel_id, v_hold.cause, false, 'its time is over',
      greatest(v_hold.expires_at, v_hold.decided_at + interval '1 us'), null, p_now);
    v_lifted := v_lifted + 1;
  end loop;
  return v_lifted;
end
$$;

ALTER FUNCTION outbox.lift_expired_holds(p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION lift_expired_holds(p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.lift_expired_holds(p_now timestamp with time zone) IS 'Lifts holds whose end WhatsApp had announced; returns how many.';

-- Name: list_activity(text, text, text, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_activity(p_org_id text, p_dossier_id text, p_cursor text DEFAULT NULL::text, p_limit integer DEFAULT 50) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $_$
declare
  v_below text := outbox.cursor_to_key(p_cursor, '^[0-9]{1,18}$');
  v_answer jsonb;
begin
  perform outbox.check_page(p_limit);
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
          'id', p.id::text, 'dossierId', p.dossier_id, 'type', p.type, 'metadata', p.metadata,
          'at', outbox.iso_time(p.created_at))
        order by p.n) filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.key_to_cursor(p.id::text)) filter (where p.n = p_limit) end)
  into v_answer
  from (
    select x.*, pg_catalog.row_number() over (order by x.id desc) as n
    from outbox.activity x
    where x.org_id = p_org_id and x.dossier_id = p_dossier_id
      and (p_cursor is null or x.id < v_below::bigint)
    order by x.id desc
    limit p_limit + 1
  ) p;
  return v_answer;
end
$_$;

ALTER FUNCTION outbox.list_activity(p_org_id text, p_dossier_id text, p_cursor text, p_limit integer) OWNER TO postgres;

-- Name: FUNCTION list_activity(p_org_id text, p_dossier_id text, p_cursor text, p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_activity(p_org_id text, p_dossier_id text, p_cursor text, p_limit integer) IS 'The timeline of a dossier, newest first: {"data": [{"id", "dossierId", "type", "metadata", "at"}], "nextCursor"}. OH001.';

-- Name: list_attempts(text, uuid, uuid, text, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_attempts(p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_cursor text DEFAULT NULL::text, p_limit integer DEFAULT 50) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $_$
declare
  v_from integer := coalesce(outbox.cursor_to_key(p_cursor, '^[0-9]{1,9}$')::integer, 0);
  v_data jsonb;
  v_all integer;
begin
  perform outbox.check_page(p_limit);
  perform outbox.check_delivery(p_org_id, p_event_id, p_endpoint_id);
  -- Receipts are only added, behind those that are there, and few: a place is a stable cursor.
  select
    coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
      'attempt', o.attempt, 'kind', o.kind, 'outcome', o.outcome, 'at', outbox.iso_time(o.at),
      'status', o.status, 'errorClass', o.error_class, 'error', o.error,
      'durationMs', o.duration_ms, 'response', o.response,
      'nextRetryAt', outbox.iso_time(o.next_retry_at)) order by o.place)
      filter (where o.place > v_from and o.place <= v_from + p_limit), '[]'),
    pg_catalog.count(*)
  into v_data, v_all
  from (
    select a.*, pg_catalog.row_number() over (order by a.at, a.attempt, a.kind desc) as place
    from outbox.attempt a
    where a.event_id = p_event_id and a.endpoint_id is not distinct from p_endpoint_id
  ) o;
  return pg_catalog.jsonb_build_object('data', v_data, 'nextCursor', case
    when v_all > v_from + p_limit then outbox.key_to_cursor((v_from + p_limit)::text)
  end);
end
$_$;

ALTER FUNCTION outbox.list_attempts(p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_cursor text, p_limit integer) OWNER TO postgres;

-- Name: FUNCTION list_attempts(p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_cursor text, p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_attempts(p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_cursor text, p_limit integer) IS 'The receipts of a delivery in their order: {"data": [{"attempt", "kind" (try, close), "outcome", "at", "status", "errorClass", "error", "durationMs", "response", "nextRetryAt"}], "nextCursor"}. OH001, OH002.';

-- Name: list_audit_events(text, text, integer, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_audit_events(p_org_id text, p_cursor text DEFAULT NULL::text, p_limit integer DEFAULT 50, p_entity_type text DEFAULT NULL::text, p_entity_id text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $_$
declare
  v_below text := outbox.cursor_to_key(p_cursor, '^[0-9]{1,18}$');
  v_answer jsonb;
begin
  perform outbox.check_page(p_limit);
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
          'id', p.id::text, 'entityType', p.entity_type, 'entityId', p.entity_id,
          'action', p.action, 'details', p.details, 'actor', p.actor,
          'at', outbox.iso_time(p.created_at))
        order by p.n) filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.key_to_cursor(p.id::text)) filter (where p.n = p_limit) end)
  into v_answer
  from (
    select x.*, pg_catalog.row_number() over (order by x.id desc) as n
    from outbox.audit_event x
    where x.org_id = p_org_id
      and (p_cursor is null or x.id < v_below::bigint)
      and (p_entity_type is null or x.entity_type = p_entity_type)
      and (p_entity_id is null or x.entity_id = p_entity_id)
    order by x.id desc
    limit p_limit + 1
  ) p;
  return v_answer;
end
$_$;

ALTER FUNCTION outbox.list_audit_events(p_org_id text, p_cursor text, p_limit integer, p_entity_type text, p_entity_id text) OWNER TO postgres;

-- Name: FUNCTION list_audit_events(p_org_id text, p_cursor text, p_limit integer, p_entity_type text, p_entity_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_audit_events(p_org_id text, p_cursor text, p_limit integer, p_entity_type text, p_entity_id text) IS 'The audit trail of an org, or of one entity, newest first: {"data": [{"id", "entityType", "entityId", "action", "details", "actor", "at"}], "nextCursor"}. OH001.';

-- Name: list_channels(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_channels(p_org_id text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.jsonb_build_object('data', coalesce((
    select pg_catalog.jsonb_agg(outbox.channel_json(c.endpoint_id) order by c.created_at desc)
    from outbox.whatsapp_channel c
    join outbox.endpoint e on e.id = c.endpoint_id and e.state <> 'deleted'
    where c.org_id = p_org_id), '[]'));
end
$$;

ALTER FUNCTION outbox.list_channels(p_org_id text) OWNER TO postgres;

-- Name: FUNCTION list_channels(p_org_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_channels(p_org_id text) IS 'The channels of an org, newest first: {"data": […]}.';

-- Name: list_consents(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_consents(p_org_id text, p_dossier_id text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return outbox.consents_json(p_org_id, p_dossier_id);
end
$$;

ALTER FUNCTION outbox.list_consents(p_org_id text, p_dossier_id text) OWNER TO postgres;

-- Name: FUNCTION list_consents(p_org_id text, p_dossier_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_consents(p_org_id text, p_dossier_id text) IS 'Each change of a dossier''s consent, newest first: {"data": [{"dossierId", "channel", "purpose", "granted", "source", "evidence", "actor", "at", "inForce": it is the last word}]}.';

-- Name: list_dead_letters(text, uuid, text, text, timestamp with time zone, timestamp with time zone, text, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_dead_letters(p_org_id text, p_endpoint_id uuid DEFAULT NULL::uuid, p_event_type text DEFAULT NULL::text, p_state text DEFAULT NULL::text, p_from timestamp with time zone DEFAULT NULL::timestamp with time zone, p_to timestamp with time zone DEFAULT NULL::timestamp with time zone, p_cursor text DEFAULT NULL::text, p_limit integer DEFAULT 50) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  -- What a page may cost, in rows walked.
  v_budget integer := 20000;
  v_at timestamptz;
  v_id uuid;
  v_list refcursor;
  v_letter outbox.dead_letter;
  v_last outbox.dead_letter;
  v_one jsonb;
  v_data jsonb[] := array[]::jsonb[];
begin
  perform outbox.check_page(p_limit);
  if p_state is not null then
    perform outbox.check_choice('state', p_state,
      array['open', 'replayed', 'delivered', 'discarded']);
  end if;
  if p_from >= p_to then
    perform outbox.invalid('from', 'does not lie before to', 'Expected a span of time');
  end if;
  select c.p_at, c.p_id::uuid into v_at, v_id from outbox.read_cursor(p_cursor) c;
  if p_to <= v_at then
    v_at := p_to;
    v_id := '00000000-0000-0000-0000-000000000000';
  end if;
  v_list := outbox.open_letter_list(p_org_id, p_endpoint_id, coalesce(p_from, '-infinity'), v_at,
    v_id);
  while v_budget > 0 loop
    fetch v_list into v_letter;
    if not found then
      close v_list;
      return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data), 'nextCursor', null);
    end if;
    exit when pg_catalog.cardinality(v_data) = p_limit;
    v_last := v_letter;
    v_budget := v_budget - 1;
    if v_letter.original_topic = coalesce(p_event_type, v_letter.original_topic) then
      v_one := outbox.dead_letter_json(v_letter);
      if v_one ->> 'state' = coalesce(p_state, v_one ->> 'state') then
        v_data := v_data || v_one;
      end if;
    end if;
  end loop;
  close v_list;
  return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data),
    'nextCursor', outbox.to_cursor(v_last.failed_at, v_last.id::text));
end
$$;

ALTER FUNCTION outbox.list_dead_letters(p_org_id text, p_endpoint_id uuid, p_event_type text, p_state text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer) OWNER TO postgres;

-- Name: FUNCTION list_dead_letters(p_org_id text, p_endpoint_id uuid, p_event_type text, p_state text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_dead_letters(p_org_id text, p_endpoint_id uuid, p_event_type text, p_state text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer) IS 'The dead letters of an org, newest first, by endpoint, event type, state and the time of failure (p_from and after, before p_to): {"data": [dead_letter_json()], "nextCursor"}. Looks at 20,000 at most, so a page may be short; a cursor of null is the end. OH001.';

-- Name: list_deliveries(text, text, uuid, text, timestamp with time zone, timestamp with time zone, text, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_deliveries(p_org_id text, p_status text DEFAULT NULL::text, p_endpoint_id uuid DEFAULT NULL::uuid, p_event_type text DEFAULT NULL::text, p_from timestamp with time zone DEFAULT NULL::timestamp with time zone, p_to timestamp with time zone DEFAULT NULL::timestamp with time zone, p_cursor text DEFAULT NULL::text, p_limit integer DEFAULT 50) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $_$
declare
  -- What a page may cost, in rows walked.
  v_budget integer := 20000;
  v_span uuid[] := outbox.time_span(p_from, p_to);
  v_key text := outbox.cursor_to_key(p_cursor,
    '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$');
  v_below outbox.delivery_key := row(v_span[2], '00000000-0000-0000-0000-000000000000'::uuid);
  v_list refcursor;
  v_at outbox.delivery_key;
  v_last outbox.delivery_key;
  v_delivery jsonb;
  v_data jsonb[] := array[]::jsonb[];
begin
  perform outbox.check_page(p_limit);
  if p_status is not null then
    perform outbox.check_choice('status', p_status, array['pending', 'processing', 'retrying',
      'held', 'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error']);
  end if;
  if pg_catalog.split_part(v_key, '.', 1)::uuid < v_span[2] then
    v_below := row(pg_catalog.split_part(v_key, '.', 1)::uuid,
      pg_catalog.split_part(v_key, '.', 2)::uuid);
  end if;
  v_list := outbox.open_delivery_list(p_org_id, p_status, v_span[1], v_below);
  while v_budget > 0 loop
    fetch v_list into v_at;
    if not found then
      return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data), 'nextCursor', null);
    end if;
    exit when pg_catalog.cardinality(v_data) = p_limit;
    v_last := v_at;
    v_budget := v_budget - case when v_at.endpoint_id is null then 5 else 1 end;
    if v_at.endpoint_id = coalesce(p_endpoint_id, v_at.endpoint_id) and exists (
      select from outbox.endpoint e where e.id = v_at.endpoint_id and e.org_id = p_org_id)
    then
      v_budget := v_budget - 20;
      v_delivery := outbox.delivery_json(v_at.event_id, v_at.endpoint_id);
      if v_delivery ->> 'status' = coalesce(p_status, v_delivery ->> 'status')
        and v_delivery ->> 'eventType' = coalesce(p_event_type, v_delivery ->> 'eventType')
      then
        v_data := v_data || v_delivery;
      end if;
    end if;
  end loop;
  close v_list;
  return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data), 'nextCursor',
    outbox.key_to_cursor(v_last.event_id::text || '.'
      || coalesce(v_last.endpoint_id, '00000000-0000-0000-0000-000000000000')::text));
end
$_$;

ALTER FUNCTION outbox.list_deliveries(p_org_id text, p_status text, p_endpoint_id uuid, p_event_type text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer) OWNER TO postgres;

-- Name: FUNCTION list_deliveries(p_org_id text, p_status text, p_endpoint_id uuid, p_event_type text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_deliveries(p_org_id text, p_status text, p_endpoint_id uuid, p_event_type text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer) IS 'The deliveries of an organisation''s endpoints, newest event first: {"data": [delivery_json()], "nextCursor"}. p_status is one of delivery_json()''s; p_from and p_to are the event''s time. Walks 20,000 rows at most, of the organisation''s events or, for the status of open ones or dead letters, of everybody''s: so a page may be short; a cursor of null is the end. OH001.';

-- Name: list_event_types(text, text, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_event_types(p_org_id text, p_cursor text DEFAULT NULL::text, p_limit integer DEFAULT 50) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $_$
declare
  v_after text := coalesce(outbox.cursor_to_key(p_cursor, '^[A-Za-z0-9_.-]+$'), '');
  v_types outbox.event_type[];
begin
  perform outbox.check_page(p_limit);
  v_types := array(
    select t from outbox.event_type t
    where t.org_id = p_org_id and t.type > v_after
    order by t.type
    limit p_limit + 1);
  return pg_catalog.jsonb_build_object(
    'data', coalesce(
      (
        select pg_catalog.jsonb_agg(outbox.event_type_json(t) order by t.type)
        from pg_catalog.unnest(v_types[1:p_limit]) t
      ), '[]'),
    'nextCursor', case
      when pg_catalog.cardinality(v_types) > p_limit
      then outbox.key_to_cursor(v_types[p_limit].type)
    end);
end
$_$;

ALTER FUNCTION outbox.list_event_types(p_org_id text, p_cursor text, p_limit integer) OWNER TO postgres;

-- Name: FUNCTION list_event_types(p_org_id text, p_cursor text, p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_event_types(p_org_id text, p_cursor text, p_limit integer) IS 'The event types of an organisation by name: {"data", "nextCursor"}. OH001.';

-- Name: list_events(text, text, timestamp with time zone, timestamp with time zone, text, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_events(p_org_id text, p_event_type text DEFAULT NULL::text, p_from timestamp with time zone DEFAULT NULL::timestamp with time zone, p_to timestamp with time zone DEFAULT NULL::timestamp with time zone, p_cursor text DEFAULT NULL::text, p_limit integer DEFAULT 50) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    AS $_$
declare
  v_look constant integer := 20000;
  v_span uuid[] := outbox.time_span(p_from, p_to);
  v_below uuid := least(v_span[2],
    outbox.cursor_to_key(p_cursor, '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')::uuid);
  v_seen integer := 0;
  v_last uuid;
  v_event outbox.event;
  v_data jsonb[] := array[]::jsonb[];
begin
  perform outbox.check_page(p_limit);
  for v_event in
    select e.id, e.org_id, e.type, null, e.partition_key, e.correlation_id, e.idempotency_key,
      e.traceparent, e.endpoint_id, e.deliver_at, e.created_at
    from outbox.event e
    where e.org_id > ''
      and (e.org_id, e.id) >= (p_org_id, v_span[1]) and (e.org_id, e.id) < (p_org_id, v_below)
      -- For the partitions.
      and e.id >= v_span[1] and e.id < v_below
    order by e.org_id desc, e.id desc
    limit v_look + 1
  loop
    v_seen := v_seen + 1;
    if v_seen > v_look or pg_catalog.cardinality(v_data) = p_limit then
      return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data),
        'nextCursor', outbox.key_to_cursor(v_last::text));
    end if;
    v_last := v_event.id;
    if v_event.type = coalesce(p_event_type, v_event.type) then
      v_data := v_data || outbox.event_json(v_event);
    end if;
  end loop;
  return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data), 'nextCursor', null);
end
$_$;

ALTER FUNCTION outbox.list_events(p_org_id text, p_event_type text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer) OWNER TO postgres;

-- Name: FUNCTION list_events(p_org_id text, p_event_type text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_events(p_org_id text, p_event_type text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer) IS 'The events of an organisation, newest first: {"data": [event_json()], "nextCursor"}. Looks at 20,000 of its events at most, so a page of a rare type may be short; a cursor of null is the end. OH001.';

-- Name: list_messages(text, text, integer, text, text, text, timestamp with time zone, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_messages(p_org_id text, p_cursor text DEFAULT NULL::text, p_limit integer DEFAULT 50, p_dossier_id text DEFAULT NULL::text, p_status text DEFAULT NULL::text, p_channel text DEFAULT NULL::text, p_from timestamp with time zone DEFAULT NULL::timestamp with time zone, p_to timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $$
declare
  v_below bigint;
  v_above bigint := 0;
  v_answer jsonb;
begin
  perform outbox.check_page(p_limit);
  -- Ids grow with the time of creation, but for what is created at the same moment: so what lies
  -- outside the time that is asked for is not walked.
  if p_from is not null then
    v_above := coalesce((
      select m.id from outbox.outbound_message m
      where m.erased_at is null and m.created_at < p_from - interval '1 minute'
      order by m.created_at desc limit 1), 0);
  end if;
  -- The cursor's uuid has the id in its last twelve digits.
  select ('x' || pg_catalog.lpad(pg_catalog.right(c.p_id, 12), 16, '0'))::bit(64)::bigint
  into v_below from outbox.read_cursor(p_cursor) c;
  if p_to is not null then
    v_below := least(v_below, (
      select m.id from outbox.outbound_message m
      where m.erased_at is null and m.created_at >= p_to + interval '1 minute'
      order by m.created_at limit 1));
  end if;
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(outbox.message_json(p.found) order by p.n)
        filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.to_cursor((p.found).created_at, '00000000-0000-0000-0000-'
        || pg_catalog.lpad(pg_catalog.to_hex((p.found).id), 12, '0')))
        filter (where p.n = p_limit) end)
  into v_answer
  from (
    select m as found, pg_catalog.row_number() over (order by m.id desc) as n
    from outbox.outbound_message m
    where m.org_id = p_org_id and m.id < v_below and m.id > v_above
      and (p_dossier_id is null or m.dossier_id = p_dossier_id)
      and (p_status is null or m.status = p_status)
      and (p_channel is null or m.channel = p_channel)
      and (p_from is null or m.created_at >= p_from)
      and (p_to is null or m.created_at < p_to)
    order by m.id desc
    limit p_limit + 1
  ) p;
  return v_answer;
end
$$;

ALTER FUNCTION outbox.list_messages(p_org_id text, p_cursor text, p_limit integer, p_dossier_id text, p_status text, p_channel text, p_from timestamp with time zone, p_to timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION list_messages(p_org_id text, p_cursor text, p_limit integer, p_dossier_id text, p_status text, p_channel text, p_from timestamp with time zone, p_to timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_messages(p_org_id text, p_cursor text, p_limit integer, p_dossier_id text, p_status text, p_channel text, p_from timestamp with time zone, p_to timestamp with time zone) IS 'The messages of an org, newest first: {"data", "nextCursor"}; p_from and p_to bound the time of creation. OH001.';

-- Name: list_opt_outs(text, text, text, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_opt_outs(p_org_id text, p_recipient text DEFAULT NULL::text, p_cursor text DEFAULT NULL::text, p_limit integer DEFAULT 50) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_custom_plan'
    AS $_$
declare
  v_behind text := outbox.cursor_to_key(p_cursor, '^[^ ]+ [A-Z]+$');
  v_answer jsonb;
begin
  perform outbox.check_page(p_limit);
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(outbox.opt_out_json(p.found) order by p.n)
        filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.key_to_cursor((p.found).recipient || ' ' || (p.found).purpose))
        filter (where p.n = p_limit) end)
  into v_answer
  from (
    select o as found, pg_catalog.row_number() over (order by o.recipient, o.purpose) as n
    from outbox.opt_out o
    where o.org_id = p_org_id and o.channel = 'WHATSAPP' and not o.lifted
      and (p_recipient is null or o.recipient = any (outbox.spellings(p_recipient)))
      and (v_behind is null or (o.recipient, o.purpose) > (
        pg_catalog.split_part(v_behind, ' ', 1), pg_catalog.split_part(v_behind, ' ', 2)))
    order by o.recipient, o.purpose
    limit p_limit + 1
  ) p;
  return v_answer;
end
$_$;

ALTER FUNCTION outbox.list_opt_outs(p_org_id text, p_recipient text, p_cursor text, p_limit integer) OWNER TO postgres;

-- Name: FUNCTION list_opt_outs(p_org_id text, p_recipient text, p_cursor text, p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_opt_outs(p_org_id text, p_recipient text, p_cursor text, p_limit integer) IS 'The numbers of an org that want nothing more, in their order, or those of one number: {"data": [{"recipient", "channel", "purpose", "source", "evidence", "at"}], "nextCursor"}. OH001.';

-- Name: list_org_endpoints(text, text, integer, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_org_endpoints(p_org_id text, p_cursor text DEFAULT NULL::text, p_limit integer DEFAULT 50, p_state text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    AS $$
declare
  v_at timestamptz;
  v_id uuid;
  v_answer jsonb;
begin
  perform outbox.check_page(p_limit);
  select c.p_at, c.p_id::uuid into v_at, v_id from outbox.read_cursor(p_cursor) c;
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(outbox.endpoint_json(p.found) order by p.n)
        filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.to_cursor((p.found).created_at, (p.found).id::text))
        filter (where p.n = p_limit) end)
  into v_answer
  from (
    select e as found,
      pg_catalog.row_number() over (order by e.created_at desc, e.id desc) as n
    from outbox.endpoint e
    where e.org_id = p_org_id and e.state <> 'deleted' and (e.created_at, e.id) < (v_at, v_id)
      and (p_state is null or e.state = p_state)
    order by e.created_at desc, e.id desc
    limit p_limit + 1
  ) p;
  return v_answer;
end
$$;

ALTER FUNCTION outbox.list_org_endpoints(p_org_id text, p_cursor text, p_limit integer, p_state text) OWNER TO postgres;

-- Name: FUNCTION list_org_endpoints(p_org_id text, p_cursor text, p_limit integer, p_state text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_org_endpoints(p_org_id text, p_cursor text, p_limit integer, p_state text) IS 'The endpoints of an org, newest first: {"data", "nextCursor"}. OH001.';

-- Name: list_replay_jobs(text, text, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_replay_jobs(p_org_id text, p_cursor text DEFAULT NULL::text, p_limit integer DEFAULT 50) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $_$
declare
  v_below bigint := 9223372036854775807;
  v_answer jsonb;
begin
  perform outbox.check_page(p_limit);
  if p_cursor is not null then
    if p_cursor !~ '^[0-9]{1,18}$' then
      perform outbox.invalid('cursor', 'is not one that a list gave',
        'Expected nextCursor of the page before; leave it out for the first page');
    end if;
    v_below := p_cursor::bigint;
  end if;
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(outbox.replay_job_json(p.found) order by p.n)
        filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min((p.found).id) filter (where p.n = p_limit)::text end)
  into v_answer
  from (
    select j as found, pg_catalog.row_number() over (order by j.id desc) as n
    from outbox.replay_job j
    where j.org_id = p_org_id and j.id < v_below
    order by j.id desc
    limit p_limit + 1
  ) p;
  return v_answer;
end
$_$;

ALTER FUNCTION outbox.list_replay_jobs(p_org_id text, p_cursor text, p_limit integer) OWNER TO postgres;

-- Name: FUNCTION list_replay_jobs(p_org_id text, p_cursor text, p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_replay_jobs(p_org_id text, p_cursor text, p_limit integer) IS 'The replay jobs of an org, newest first: {"data", "nextCursor"}. OH001.';

-- Name: list_reply_words(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_reply_words(p_org_id text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.jsonb_build_object('data', coalesce((
    select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('language', w.language,
        'word', w.word, 'action', w.action, 'own', w.org_id <> '*')
      order by w.language, w.word, w.org_id)
    from outbox.reply_word w
    where w.org_id = p_org_id or (w.org_id = '*' and not exists (
      select from outbox.reply_word o where o.org_id = p_org_id and o.word = w.word))), '[]'));
end
$$;

ALTER FUNCTION outbox.list_reply_words(p_org_id text) OWNER TO postgres;

-- Name: FUNCTION list_reply_words(p_org_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_reply_words(p_org_id text) IS 'The words that mean STOP or START to an organisation: {"data": [{"language", "word", "action", "own": the organisation has said so itself}]}.';

-- Name: list_templates(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.list_templates(p_org_id text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.jsonb_build_object('data', coalesce((
    select pg_catalog.jsonb_agg(outbox.template_json(t.org_id, t.code) order by t.code)
    from outbox.template t where t.org_id = p_org_id), '[]'));
end
$$;

ALTER FUNCTION outbox.list_templates(p_org_id text) OWNER TO postgres;

-- Name: FUNCTION list_templates(p_org_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.list_templates(p_org_id text) IS 'The templates of an org by code: {"data": […]}.';

-- Name: live_secrets(uuid, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.live_secrets(p_endpoint_id uuid, p_now timestamp with time zone) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return (
    select coalesce(
      pg_catalog.jsonb_agg(v.decrypted_secret
        order by s.expires_at is null desc, s.created_at desc),
      '[]')
    from outbox.endpoint_secret s
    join vault.decrypted_secrets v on v.id = s.vault_id
    where s.endpoint_id = p_endpoint_id and (s.expires_at is null or s.expires_at > p_now));
end
$$;

ALTER FUNCTION outbox.live_secrets(p_endpoint_id uuid, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION live_secrets(p_endpoint_id uuid, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.live_secrets(p_endpoint_id uuid, p_now timestamp with time zone) IS 'The secrets that sign at that time, newest first, as a jsonb array of text. For dispatch() and read_secret() alone.';

-- Name: lock_channel(text, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.lock_channel(p_org_id text, p_channel_id uuid) RETURNS uuid
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_id uuid := outbox.check_channel(p_org_id, p_channel_id);
begin
  perform outbox.lock_endpoint(v_id);
  return v_id;
end
$$;

ALTER FUNCTION outbox.lock_channel(p_org_id text, p_channel_id uuid) OWNER TO postgres;

-- Name: FUNCTION lock_channel(p_org_id text, p_channel_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.lock_channel(p_org_id text, p_channel_id uuid) IS 'As check_channel(), for whoever changes it: its endpoint''s row locked. OH002.';

-- Name: lock_endpoint(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.lock_endpoint(p_endpoint_id uuid) RETURNS outbox.endpoint
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  -- Looked at once it is held: whoever held it before may have deleted it, and that is for ever.
  perform from outbox.endpoint e where e.id = p_endpoint_id for no key update;
  return outbox.check_endpoint(p_endpoint_id);
end
$$;

ALTER FUNCTION outbox.lock_endpoint(p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION lock_endpoint(p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.lock_endpoint(p_endpoint_id uuid) IS 'The endpoint, its row locked, for whoever changes it or what belongs to it: OH002 when there is none or it was deleted. No run waits for this row.';

-- Name: lock_gates(uuid[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.lock_gates(p_endpoint_ids uuid[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
begin
  perform from (
    select n.id
    from pg_catalog.unnest(p_endpoint_ids) e
    cross join lateral (
      select g.id from outbox.gate g where g.endpoint_id = e order by g.changed_at desc limit 1
    ) n
    order by n.id
  ) o
  cross join lateral (
    select from outbox.gate g where g.id = o.id order by g.changed_at desc limit 1
    for no key update
  ) g;
end
$$;

ALTER FUNCTION outbox.lock_gates(p_endpoint_ids uuid[]) OWNER TO postgres;

-- Name: FUNCTION lock_gates(p_endpoint_ids uuid[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.lock_gates(p_endpoint_ids uuid[]) IS 'Waits for the gates of these endpoints, in the order of their ids: the one waiting lock of a transaction.';

-- Name: lock_message(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.lock_message(p_org_id text, p_message_id text) RETURNS outbox.outbound_message
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_message outbox.outbound_message := outbox.check_message_id(p_org_id, p_message_id);
begin
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[v_message.channel_id]);
  select * into v_message from outbox.outbound_message m where m.id = v_message.id for update;
  return v_message;
end
$$;

ALTER FUNCTION outbox.lock_message(p_org_id text, p_message_id text) OWNER TO postgres;

-- Name: FUNCTION lock_message(p_org_id text, p_message_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.lock_message(p_org_id text, p_message_id text) IS 'A message of an org, locked behind its gate. OH002. locks: the gate, then the message.';

-- Name: lock_org_endpoint(text, uuid, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.lock_org_endpoint(p_org_id text, p_endpoint_id uuid, p_version integer) RETURNS outbox.endpoint
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_endpoint outbox.endpoint;
begin
  perform from outbox.endpoint e
  where e.id = p_endpoint_id and e.org_id = p_org_id for no key update;
  v_endpoint := outbox.org_endpoint(p_org_id, p_endpoint_id);
  if v_endpoint.version <> p_version then
    raise exception using errcode = 'OH008',
      message = pg_catalog.format('endpoint %s was changed: it is at version %s, not %s',
        p_endpoint_id, v_endpoint.version, p_version),
      hint = 'Read it again, and send the change with its new ETag';
  end if;
  return v_endpoint;
end
$$;

ALTER FUNCTION outbox.lock_org_endpoint(p_org_id text, p_endpoint_id uuid, p_version integer) OWNER TO postgres;

-- Name: FUNCTION lock_org_endpoint(p_org_id text, p_endpoint_id uuid, p_version integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.lock_org_endpoint(p_org_id text, p_endpoint_id uuid, p_version integer) IS 'An endpoint of an org, its row locked. OH002; OH008 when it is not at that version, if one is given.';

-- Name: router; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.router (
    turn bigint DEFAULT 0 NOT NULL,
    watermark uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    seen_below xid8 DEFAULT '0'::xid8 NOT NULL,
    open_xids xid8[] DEFAULT '{}'::xid8[] NOT NULL,
    batch integer DEFAULT 1000 NOT NULL
);

ALTER TABLE outbox.router OWNER TO postgres;

-- Name: TABLE router; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.router IS 'One row, where routing stands; its row lock is what makes routing single-flight. Every row of unrouted, committed or not, has an id above watermark, or an xid of open_xids, or one that is not below seen_below. turn: how often it has moved; it is the key because by one that stays the same each look-up would walk the versions of all turns, beside a transaction that is left open. There is one row because nothing inserts another.';

-- Name: lock_router(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.lock_router() RETURNS outbox.router
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_router outbox.router;
begin
  -- SKIP LOCKED goes on to older versions, which are all dead: the bound stops it.
  select * into v_router from outbox.router r
  where r.turn >= (select n.turn from outbox.router n order by n.turn desc limit 1)
  order by r.turn desc limit 1
  for no key update skip locked;
  return v_router;
end
$$;

ALTER FUNCTION outbox.lock_router() OWNER TO postgres;

-- Name: FUNCTION lock_router(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.lock_router() IS 'Where routing stands, locked until the transaction or its present step ends; nulls while another call is routing. locks: router with SKIP LOCKED.';

-- Name: lock_settings(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.lock_settings() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  -- Or two changes at a time, each of which goes with what the other finds, would not go together.
  -- Nobody who only reads settings waits for this.
  perform pg_catalog.pg_advisory_xact_lock('outbox.setting'::regclass::oid::bigint);
  return null;
end
$$;

ALTER FUNCTION outbox.lock_settings() OWNER TO postgres;

-- Name: FUNCTION lock_settings(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.lock_settings() IS 'Trigger: one transaction at a time changes settings.';

-- Name: lose_leases(uuid[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.lose_leases(p_endpoint_ids uuid[], p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_lost outbox.result[];
  v_lanes bigint[];
  v_applied integer := 0;
begin
  v_lanes := array(
    select n.id
    from pg_catalog.unnest(p_endpoint_ids) p
    cross join lateral (
      select o.* from outbox.gate o
      where o.endpoint_id = p order by o.changed_at desc limit 1
    ) g
    cross join lateral (select e.* from outbox.endpoint e where e.id = g.endpoint_id offset 0) e
    cross join lateral (
      (
        -- The lanes whose turn it is, as take() will see them. All that are due (100,000 take 40
        -- ms) only when the gate is full or waits for its probe: no turn comes then before a lease
        -- ends.
        select l.id, l.leased, l.leased_until from outbox.lane l
        where l.gate_id = g.id and l.next_at >= g.lanes_from and l.next_at <= p_now
          and l.next_at < 'infinity'
        order by l.next_at
        limit case
          when g.breaker = 'closed' and g.in_flight < outbox.allowed_in_flight(
            e.max_in_flight, g.last_timed_out, greatest(g.ramp_from, e.ramp_from), p_now)
          then 1000
        end
      )
      union all
      (
        -- And the unordered ones, by whose notes park() goes where the gate is full.
        select l.id, l.leased, l.leased_until from outbox.lane l
        where l.gate_id = g.id and not l.ordered and l.key_hash = 0
        order by l.changed_at desc limit 1
      )
      union all
      select l.id, l.leased, l.leased_until from outbox.lane l
      where l.gate_id = g.id and not l.ordered and l.key_hash > 0
    ) n
    where n.leased > 0 and n.leased_until <= p_now);
  if pg_catalog.cardinality(v_lanes) = 0 then
    return 0;
  end if;
  v_lost := array(
    select outbox.lost(d.held)
    from (select distinct u from pg_catalog.unnest(v_lanes) u) n (id)
    cross join lateral (
      select l.id, l.head_at from outbox.lane l
      where l.id = n.id order by l.changed_at desc limit 1
    ) l
    cross join lateral (
      -- Leased rows lie at the head of their lane, behind none but rows that were given back, of
      -- which there are never more than may be in flight (1,000).
      select d as held from outbox.delivery d
      where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= l.head_at
      order by d.due_at, d.event_id
      limit 2000
    ) d
    where (d.held).leased_until <= p_now);
  if pg_catalog.cardinality(v_lost) > 0 then
    v_applied := outbox.complete(v_lost, p_now);
  end if;
  -- The lease that a lane noted as its first may have ended with a result: it notes the next.
  update outbox.lane l set leased_until = coalesce((
    select pg_catalog.min(d.leased_until) from (
      select d.leased_until from outbox.delivery d
      where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= l.head_at
      order by d.due_at, d.event_id
      limit 2000
    ) d), l.leased_until)
  where l.id = any (v_lanes) and l.leased > 0;
  return v_applied;
end
$$;

ALTER FUNCTION outbox.lose_leases(p_endpoint_ids uuid[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION lose_leases(p_endpoint_ids uuid[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.lose_leases(p_endpoint_ids uuid[], p_now timestamp with time zone) IS 'Records every lease of these endpoints that has ended as a failed attempt of class lease_expired and returns how many: it spends a try and waits for its retry like any other, so that a delivery that kills its run does not kill one after the other. locks: the caller holds the gates.';

-- Name: lost(outbox.delivery); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.lost(p_delivery outbox.delivery) RETURNS outbox.result
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return row(p_delivery.event_id, p_delivery.endpoint_id, p_delivery.attempt,
    'failed', null, 'lease_expired', 'The run that held the delivery ended without a result',
    null, null, null, null, null, null, null)::outbox.result;
end
$$;

ALTER FUNCTION outbox.lost(p_delivery outbox.delivery) OWNER TO postgres;

-- Name: FUNCTION lost(p_delivery outbox.delivery); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.lost(p_delivery outbox.delivery) IS 'The result of a delivery whose lease has ended.';

-- Name: mark_sent(outbox.outbound_message, outbox.message_attempt, text, jsonb, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.mark_sent(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_wamid text, p_provider jsonb, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  -- A provider that gives one id twice must not cost the results of a whole call.
  if exists (
    select from outbox.message_attempt a
    where a.phone_number_id = p_attempt.phone_number_id and a.wamid = p_wamid
      and a.id <> p_attempt.id)
  then
    p_wamid := null;
  end if;
  update outbox.message_attempt a set
    status = 'SUCCESS', wamid = coalesce(p_wamid, a.wamid), taken_at = coalesce(a.taken_at, p_now),
    provider_response = coalesce(p_provider, a.provider_response), updated_at = p_now,
    error_code = null, error_message = null, next_retry_at = null
  where a.id = p_attempt.id;
  if p_message.status not in ('QUEUED', 'SENDING') then
    return;
  end if;
  p_message.status := 'SENT';
  p_message.provider_message_id := p_wamid;
  p_message.wa_id := coalesce(p_provider ->> 'wa_id', p_message.wa_id);
  p_message.sent_at := p_now;
  p_message.error_code := null;
  p_message.error_message := null;
  perform outbox.save_message(p_message, p_now);
  perform outbox.audit(p_message.org_id, 'OUTBOUND_MESSAGE', p_message.id::text, 'SENT',
    'Message sent successfully', null, p_now);
  perform outbox.note_activity(p_message, 'MESSAGE_SENT',
    pg_catalog.jsonb_build_object('attempt', p_attempt.attempt_no), p_now);
end
$$;

ALTER FUNCTION outbox.mark_sent(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_wamid text, p_provider jsonb, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION mark_sent(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_wamid text, p_provider jsonb, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.mark_sent(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_wamid text, p_provider jsonb, p_now timestamp with time zone) IS 'Notes that WhatsApp has taken an attempt: the message is SENT, with audit and activity, unless it was ended before. locks: the caller holds the message.';

-- Name: may_be_out(outbox.message_attempt); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.may_be_out(p_attempt outbox.message_attempt) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return p_attempt.status <> 'FAILED' or p_attempt.wamid is not null
    or coalesce(p_attempt.error_code, '')
      in ('timeout', 'reset', 'protocol', 'lease_expired', 'incomplete');
end
$$;

ALTER FUNCTION outbox.may_be_out(p_attempt outbox.message_attempt) OWNER TO postgres;

-- Name: FUNCTION may_be_out(p_attempt outbox.message_attempt); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.may_be_out(p_attempt outbox.message_attempt) IS 'Whether a try may have reached WhatsApp: it is under way, was taken, or nobody knows.';

-- Name: may_become(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.may_become(p_from text, p_to text) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return p_from = p_to or (p_from, p_to) in (
    ('QUEUED', 'SENDING'), ('QUEUED', 'FAILED'), ('QUEUED', 'CANCELLED'),
    -- An answer that was lost, or came after its lease, and turns up before the next try.
    ('QUEUED', 'SENT'), ('QUEUED', 'DELIVERED'),
    ('SENDING', 'QUEUED'), ('SENDING', 'SENT'), ('SENDING', 'FAILED'), ('SENDING', 'DELIVERED'),
    ('SENT', 'DELIVERED'), ('SENT', 'FAILED'),
    ('FAILED', 'QUEUED'));
end
$$;

ALTER FUNCTION outbox.may_become(p_from text, p_to text) OWNER TO postgres;

-- Name: FUNCTION may_become(p_from text, p_to text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.may_become(p_from text, p_to text) IS 'Whether a message of one status may get another.';

-- Name: message_content(outbox.outbound_message); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.message_content(p_message outbox.outbound_message) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.sha256(pg_catalog.convert_to(
    pg_catalog.jsonb_build_array(p_message.dossier_id, p_message.channel, p_message.channel_id,
      p_message.to_recipient, p_message.template_code, p_message.payload_json)::text, 'UTF8'));
end
$$;

ALTER FUNCTION outbox.message_content(p_message outbox.outbound_message) OWNER TO postgres;

-- Name: FUNCTION message_content(p_message outbox.outbound_message); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.message_content(p_message outbox.outbound_message) IS 'SHA-256 of what makes two messages with one idempotency key the same.';

-- Name: message_json(outbox.outbound_message); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.message_json(p_message outbox.outbound_message) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.jsonb_build_object(
    'id', p_message.id::text, 'orgId', p_message.org_id, 'dossierId', p_message.dossier_id,
    'channel', p_message.channel, 'channelId', p_message.channel_id,
    'to', p_message.to_recipient, 'templateCode', p_message.template_code,
    'payloadJson', p_message.payload_json, 'category', p_message.category,
    'status', p_message.status, 'providerMessageId', p_message.provider_message_id,
    'idempotencyKey', p_message.idempotency_key, 'attemptCount', p_message.attempt_count,
    'maxAttempts', p_message.max_attempts, 'errorCode', p_message.error_code,
    'errorMessage', p_message.error_message, 'createdBy', p_message.created_by,
    'createdAt', outbox.iso_time(p_message.created_at),
    'updatedAt', outbox.iso_time(p_message.updated_at),
    'sentAt', outbox.iso_time(p_message.sent_at),
    'deliveredAt', outbox.iso_time(p_message.delivered_at),
    'readAt', outbox.iso_time(p_message.read_at),
    'erasedAt', outbox.iso_time(p_message.erased_at));
end
$$;

ALTER FUNCTION outbox.message_json(p_message outbox.outbound_message) OWNER TO postgres;

-- Name: FUNCTION message_json(p_message outbox.outbound_message); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.message_json(p_message outbox.outbound_message) IS 'A message as the API shows it.';

-- Name: message_number(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.message_number(p_message_id text) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
begin
  return case when p_message_id ~ '^[0-9]{1,18}$' then p_message_id::bigint else 0 end;
end
$_$;

ALTER FUNCTION outbox.message_number(p_message_id text) OWNER TO postgres;

-- Name: FUNCTION message_number(p_message_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.message_number(p_message_id text) IS 'A message''s id from its text; 0, which none has, for what is no number.';

-- Name: message_of_key(outbox.outbound_message); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.message_of_key(p_message outbox.outbound_message) RETURNS outbox.outbound_message
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_held outbox.outbound_message;
begin
  select * into v_held from outbox.outbound_message m
  where m.org_id = p_message.org_id and m.idempotency_key = p_message.idempotency_key;
  if v_held.id is not null and v_held.content <> p_message.content then
    raise exception using errcode = 'OH003',
      message = 'Idempotency-Key was used for a message with other content',
      detail = pg_catalog.format('It belongs to message %s', v_held.id),
      hint = 'Use a new key for a new message';
  end if;
  return v_held;
end
$$;

ALTER FUNCTION outbox.message_of_key(p_message outbox.outbound_message) OWNER TO postgres;

-- Name: FUNCTION message_of_key(p_message outbox.outbound_message); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.message_of_key(p_message outbox.outbound_message) IS 'The message that has this one''s key already, if any. OH003: it has other content.';

-- Name: move_messages(bigint[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.move_messages(p_messages bigint[], p_now timestamp with time zone) RETURNS outbox.message_move[]
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
  v_moves outbox.message_move[];
  v_read bigint;
begin
  with told as materialized (
    select m.row_at, m.id, m.status as was, m.read_at as was_read_at, t.newest, t.last_out,
      t.last_taken,
      case
        when m.status in ('DELIVERED', 'FAILED', 'CANCELLED') then m.status
        when (t.last_out).delivered_at is not null or (t.last_out).read_at is not null
          then 'DELIVERED'
        when (t.newest).failed_at is not null then 'FAILED'
        when m.status in ('QUEUED', 'SENDING') and t.taken then 'SENT'
        else m.status
      end as becomes
    from pg_catalog.unnest(p_messages) i
    cross join lateral (
      select x.ctid as row_at, x.* from outbox.outbound_message x where x.id = i offset 0
    ) m
    cross join lateral (
      select (pg_catalog.array_agg(a order by a.attempt_no desc))[1] as newest,
        (pg_catalog.array_agg(a order by a.attempt_no desc)
          filter (where outbox.may_be_out(a)))[1] as last_out,
        (pg_catalog.array_agg(a order by a.attempt_no desc)
          filter (where a.wamid is not null))[1] as last_taken,
        coalesce(pg_catalog.bool_or(a.status = 'SUCCESS'), false) as taken
      from outbox.message_attempt a where a.message_id = m.id and a.event_id = m.event_id
      offset 0
    ) t
  ), moved as (
    -- Statuses only rise, and the three last ones are final: whatever the plan, this never lowers.
    update outbox.outbound_message m set
      status = t.becomes,
      provider_message_id = (t.last_taken).wamid,
      sent_at = coalesce((t.last_taken).taken_at, least((t.last_taken).sent_at,
        (t.last_taken).delivered_at, (t.last_taken).read_at)),
      delivered_at = case
        when t.becomes = 'DELIVERED'
        then least((t.last_out).delivered_at, (t.last_out).read_at)
      end,
      read_at = case when t.becomes = 'DELIVERED' then (t.last_out).read_at end,
      error_code = case when t.becomes = 'FAILED' then (t.newest).error_code end,
      error_message = case when t.becomes = 'FAILED' then (t.newest).error_message end,
      updated_at = p_now
    from told t
    where m.ctid = t.row_at and m.status = t.was and outbox.may_become(m.status, t.becomes)
      -- What failed or waits for another reason than its callbacks is none of theirs.
      and (t.becomes in ('SENT', 'DELIVERED')
        or (t.becomes = 'FAILED' and (t.newest).failed_at is not null))
    returning t.id, t.was, t.becomes, t.was_read_at is null and m.read_at is not null as now_read
  )
  select pg_catalog.array_agg(row(x.id, x.was, x.becomes)::outbox.message_move order by x.id)
      filter (where x.was <> x.becomes),
    pg_catalog.count(*) filter (where x.now_read)
  into v_moves, v_read
  from moved x;
  perform outbox.count_message('READ', null, v_read);
  perform outbox.count_moves(v_moves);
  return coalesce(v_moves, '{}');
end
$$;

ALTER FUNCTION outbox.move_messages(p_messages bigint[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION move_messages(p_messages bigint[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.move_messages(p_messages bigint[], p_now timestamp with time zone) IS 'Gives messages the status, times and error that follow from the facts of their tries; returns those whose status changed. The caller holds the messages.';

-- Name: new_event(timestamp with time zone, text, text, text, text, text, text, uuid, timestamp with time zone, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.new_event(p_at timestamp with time zone, p_type text, p_body text, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text) RETURNS outbox.event
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  return row(outbox.uuid_v7(p_at), p_org_id, p_type, p_body, p_partition_key, p_correlation_id,
    p_idempotency_key,
    case
      when p_traceparent is not null then p_traceparent
      -- Asked for only where there may be one: a call costs 4 us.
      when pg_catalog.current_setting('outhook.traceparent', true) <> ''
        or pg_catalog.current_setting('request.headers', true) <> ''
      then outbox.current_traceparent()
    end,
    p_endpoint_id, p_deliver_at, p_at)::outbox.event;
end
$$;

ALTER FUNCTION outbox.new_event(p_at timestamp with time zone, p_type text, p_body text, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text) OWNER TO postgres;

-- Name: FUNCTION new_event(p_at timestamp with time zone, p_type text, p_body text, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.new_event(p_at timestamp with time zone, p_type text, p_body text, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text) IS 'An event of that time with a new id, neither checked nor stored yet.';

-- Name: new_secret(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.new_secret() RETURNS text
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  return 'whsec_' || pg_catalog.translate(
    pg_catalog.encode(extensions.gen_random_bytes(32), 'base64'), E'\n', '');
end
$$;

ALTER FUNCTION outbox.new_secret() OWNER TO postgres;

-- Name: FUNCTION new_secret(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.new_secret() IS 'A new signing secret of 32 random bytes.';

-- Name: next_replays(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.next_replays() RETURNS outbox.replay_step[]
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return array(
    select row(j.id, x.event_id, x.endpoint_id, x.failed_at, x.id)::outbox.replay_step
    from outbox.replay_job j
    cross join lateral (
      select x.event_id, x.endpoint_id, x.failed_at, x.id
      from outbox.dead_letter x
      where (x.failed_at, x.id) > (j.at_failed, j.at_id) and x.failed_at <= j.failed_to
        and x.failed_at >= coalesce(j.failed_from, '-infinity')
        and x.org_id = coalesce(j.org_id, x.org_id)
        and x.endpoint_id = coalesce(j.endpoint_id, x.endpoint_id)
        and x.original_topic = coalesce(j.event_type, x.original_topic)
        and x.discarded_at is null and x.replayed_at is null
      order by x.failed_at, x.id
      limit j.rate_per_second
    ) x
    where j.state = 'running'
    order by j.id, x.failed_at, x.id);
end
$$;

ALTER FUNCTION outbox.next_replays() OWNER TO postgres;

-- Name: FUNCTION next_replays(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.next_replays() IS 'The dead letters that the running jobs come to next, as many of each job as its rate allows in a second.';

-- Name: next_unrouted(outbox.router); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.next_unrouted(p_router outbox.router) RETURNS uuid[]
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  return array(
    select l.id from (
      select u as id, 0 as place from outbox.unrouted_late(p_router, 1) u
      union all
      (
        select u.event_id, 1 from outbox.unrouted u
        where u.event_id > p_router.watermark order by u.event_id limit 1
      )
    ) l
    order by l.place limit 1);
end
$$;

ALTER FUNCTION outbox.next_unrouted(p_router outbox.router) OWNER TO postgres;

-- Name: FUNCTION next_unrouted(p_router outbox.router); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.next_unrouted(p_router outbox.router) IS 'The event that routing comes to next, as an array of one; empty when there is none.';

-- Name: no_saga(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.no_saga(p_name text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  raise exception using errcode = 'OH002',
    message = pg_catalog.format('saga %s does not exist', pg_catalog.quote_nullable(p_name)),
    hint = 'select * from outbox.saga lists them; define_saga() makes one';
end
$$;

ALTER FUNCTION outbox.no_saga(p_name text) OWNER TO postgres;

-- Name: FUNCTION no_saga(p_name text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.no_saga(p_name text) IS 'Raises OH002 for a saga of that name.';

-- Name: note_activity(outbox.outbound_message, text, jsonb, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.note_activity(p_message outbox.outbound_message, p_type text, p_more jsonb, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  if p_message.dossier_id is not null then
    insert into outbox.activity (org_id, dossier_id, type, metadata, created_at)
    values (p_message.org_id, p_message.dossier_id, p_type,
      pg_catalog.jsonb_build_object('messageId', p_message.id::text, 'channel', p_message.channel,
        'templateCode', p_message.template_code, 'status', p_message.status) || p_more, p_now);
  end if;
end
$$;

ALTER FUNCTION outbox.note_activity(p_message outbox.outbound_message, p_type text, p_more jsonb, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION note_activity(p_message outbox.outbound_message, p_type text, p_more jsonb, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.note_activity(p_message outbox.outbound_message, p_type text, p_more jsonb, p_now timestamp with time zone) IS 'Writes one line of the timeline of the message''s dossier, if it has one: {"messageId", "channel", "templateCode", "status", …}.';

-- Name: note_portal_token(text, text, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.note_portal_token(p_org_id text, p_key text, p_token jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  -- What names one token and no other is not part of the request.
  v_answer jsonb := outbox.begin_request(p_org_id, 'POST /portal-tokens', p_key,
    p_token - '{id,issuedAt}'::text[]);
begin
  if v_answer is null then
    v_answer := p_token;
    perform outbox.end_request(p_org_id, p_key, v_answer);
  end if;
  return v_answer;
end
$$;

ALTER FUNCTION outbox.note_portal_token(p_org_id text, p_key text, p_token jsonb) OWNER TO postgres;

-- Name: FUNCTION note_portal_token(p_org_id text, p_key text, p_token jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.note_portal_token(p_org_id text, p_key text, p_token jsonb) IS 'Notes what a portal token says ({"id", "issuedAt" and what was asked for}) under an Idempotency-Key and returns it, or what the first token of that key says: signed again it is the same token. OH001, OH003.';

-- Name: note_requests(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.note_requests(p_requests jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_bounds integer[] := outbox.attempt_bounds();
begin
  with given as materialized (
    select pg_catalog.left(r.method, 10) as method, pg_catalog.left(r.route, 100) as route,
      pg_catalog.left(r.status::text, 3) as status, r.n, r.ms
    from pg_catalog.jsonb_to_recordset(p_requests) as r (
      method text, route text, status integer, n bigint, ms bigint)
    where r.n > 0 and r.ms >= 0 and r.method is not null and r.route is not null
      and r.status is not null
    limit 1000
  )
  insert into outbox.counter_change (metric, labels, n, total)
  select 'requests', array[g.method, g.route, g.status], pg_catalog.sum(g.n), pg_catalog.sum(g.ms)
  from given g
  group by g.method, g.route, g.status
  union all
  select 'request_ms', array[g.method, b.bucket], pg_catalog.sum(g.n), pg_catalog.sum(g.ms)
  from given g
  cross join lateral (
    select (pg_catalog.width_bucket(g.ms / g.n - 1, v_bounds) + 1)::text as bucket
  ) b
  group by g.method, b.bucket;
  return pg_catalog.jsonb_build_object('noted', true);
end
$$;

ALTER FUNCTION outbox.note_requests(p_requests jsonb) OWNER TO postgres;

-- Name: FUNCTION note_requests(p_requests jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.note_requests(p_requests jsonb) IS 'Counts requests that the API has answered: [{"method", "route": as the API writes it, "status", "n": how many, "ms": how long they took in all; those of one entry fall into one bucket}]. Returns {"noted": true}.';

-- Name: note_statuses(outbox.status_change[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.note_statuses(p_changes outbox.status_change[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  update outbox.message_attempt a set
    wamid = coalesce(a.wamid, f.wamid),
    status = case
      when f.failed_at is not null or a.failed_at is not null then 'FAILED'
      else 'SUCCESS'
    end,
    sent_at = least(a.sent_at, f.sent_at),
    delivered_at = least(a.delivered_at, f.delivered_at),
    read_at = least(a.read_at, f.read_at),
    failed_at = least(a.failed_at, f.failed_at),
    error_code = case
      when a.failed_at is not null then a.error_code
      else f.code
    end,
    error_message = case
      when a.failed_at is not null then a.error_message
      else f.error
    end,
    provider_response = case
      when f.failed_at is not null and a.failed_at is null
      then coalesce(a.provider_response, '{}') || pg_catalog.jsonb_strip_nulls(
        pg_catalog.jsonb_build_object('title', f.title, 'details', f.details))
      else a.provider_response
    end,
    next_retry_at = null,
    updated_at = p_now
  from (
    select c.attempt_id, pg_catalog.min(c.wamid) as wamid,
      pg_catalog.min(c.at) filter (where c.rank = 1) as sent_at,
      pg_catalog.min(c.at) filter (where c.rank = 2) as delivered_at,
      pg_catalog.min(c.at) filter (where c.rank = 3) as read_at,
      pg_catalog.min(c.at) filter (where c.rank = 4) as failed_at,
      (pg_catalog.array_agg(c.code order by c.at, c.update_id)
        filter (where c.rank = 4))[1] as code,
      (pg_catalog.array_agg(c.title order by c.at, c.update_id)
        filter (where c.rank = 4))[1] as title,
      (pg_catalog.array_agg(c.details order by c.at, c.update_id)
        filter (where c.rank = 4))[1] as details,
      (pg_catalog.array_agg(pg_catalog.concat_ws(': ', c.title, c.details)
        order by c.at, c.update_id) filter (where c.rank = 4))[1] as error
    from pg_catalog.unnest(p_changes) c
    where c.noted
    group by c.attempt_id
  ) f
  -- By ctid: only who holds the message changes its tries.
  cross join lateral (
    select x.ctid as row_at from outbox.message_attempt x where x.id = f.attempt_id offset 0
  ) x
  where a.ctid = x.row_at;
end
$$;

ALTER FUNCTION outbox.note_statuses(p_changes outbox.status_change[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION note_statuses(p_changes outbox.status_change[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.note_statuses(p_changes outbox.status_change[], p_now timestamp with time zone) IS 'Adds statuses to the facts of their tries. The caller holds the messages.';

-- Name: note_wishes(outbox.wish[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.note_wishes(p_wishes outbox.wish[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  with last_word as (
    -- The later word counts, and of two at one time the one that asks for less.
    select distinct on (w.org_id, w.recipient, w.purpose) w.*
    from pg_catalog.unnest(p_wishes) w
    order by w.org_id, w.recipient, w.purpose, w.at desc, w.lifted
  ), changed as (
    insert into outbox.opt_out as o (org_id, channel, recipient, purpose, source, evidence, lifted,
      decided_at, created_at)
    select w.org_id, 'WHATSAPP', w.recipient, w.purpose, w.source, w.evidence, w.lifted, w.at, p_now
    from last_word w
    order by w.org_id, w.recipient, w.purpose
    on conflict (org_id, channel, recipient, purpose) do update set
      source = excluded.source, evidence = excluded.evidence, lifted = excluded.lifted,
      decided_at = excluded.decided_at
    where excluded.decided_at > o.decided_at
      or (excluded.decided_at = o.decided_at and o.lifted and not excluded.lifted)
    returning o.org_id, o.recipient, o.purpose
  )
  insert into outbox.audit_event (
    org_id, entity_type, entity_id, action, details, actor, created_at)
  select distinct w.org_id, w.entity_type, w.entity_id,
    case when w.lifted then 'OPTED_IN' else 'OPTED_OUT' end,
    pg_catalog.format('WHATSAPP %s: %s (%s)', w.purpose, w.source, w.evidence), null::text, p_now
  from changed c
  join last_word w on w.org_id = c.org_id and w.recipient = c.recipient and w.purpose = c.purpose;
end
$$;

ALTER FUNCTION outbox.note_wishes(p_wishes outbox.wish[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION note_wishes(p_wishes outbox.wish[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.note_wishes(p_wishes outbox.wish[], p_now timestamp with time zone) IS 'Writes what people want into opt_out, where it is their last word, and audits it. locks: opt-outs in the order of their keys.';

-- Name: notice_end(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.notice_end(p_data jsonb) RETURNS timestamp with time zone
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
begin
  -- Of several restrictions the last to end; one without an end does not.
  if pg_catalog.jsonb_typeof(p_data -> 'restriction_info') = 'array' then
    return (
      select case when pg_catalog.count(*) = pg_catalog.count(s.at) then
        pg_catalog.to_timestamp(pg_catalog.max(s.at)) end
      from pg_catalog.jsonb_array_elements(p_data -> 'restriction_info') k
      cross join lateral (
        select case
          when k ->> 'expiration' ~ '^[0-9]{1,11}$' then (k ->> 'expiration')::double precision
        end as at
      ) s);
  end if;
  return null;
end
$_$;

ALTER FUNCTION outbox.notice_end(p_data jsonb) OWNER TO postgres;

-- Name: FUNCTION notice_end(p_data jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.notice_end(p_data jsonb) IS 'When restrictions end by themselves; null when they do not.';

-- Name: notice_reason(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.notice_reason(p_data jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return nullif(pg_catalog.left(pg_catalog.concat_ws(', ',
    nullif(p_data ->> 'reason', 'NONE'), p_data #>> '{other_info,title}',
    p_data #>> '{violation_info,violation_type}',
    case when pg_catalog.jsonb_typeof(p_data -> 'restriction_info') = 'array' then (
      select pg_catalog.string_agg(k ->> 'restriction_type', ', ')
      from pg_catalog.jsonb_array_elements(p_data -> 'restriction_info') k) end), 200), '');
end
$$;

ALTER FUNCTION outbox.notice_reason(p_data jsonb) OWNER TO postgres;

-- Name: FUNCTION notice_reason(p_data jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.notice_reason(p_data jsonb) IS 'What WhatsApp gives as the reason, if anything.';

-- Name: notice_rule_of(outbox.whatsapp_update); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.notice_rule_of(p_update outbox.whatsapp_update) RETURNS outbox.notice_rule
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_event text := p_update.status;
  v_kinds jsonb := p_update.data -> 'restriction_info';
  v_rule outbox.notice_rule;
begin
  -- These two say what they mean further down.
  if v_event = 'DISABLED_UPDATE' then
    v_event := p_update.data #>> '{ban_info,waba_ban_state}';
  elsif v_event = 'PAUSED' and p_update.data #>> '{other_info,title}' = 'UNPAUSE' then
    v_event := 'UNPAUSE';
  elsif v_event = 'ACCOUNT_RESTRICTION' and pg_catalog.jsonb_typeof(v_kinds) = 'array' then
    if v_kinds = '[]' then
      v_event := 'ACCOUNT_UNRESTRICTION';
    elsif not exists (
      select from pg_catalog.jsonb_array_elements(v_kinds) k
      where k ->> 'restriction_type' is distinct from 'RESTRICTED_ADD_PHONE_NUMBER_ACTION')
    then
      -- It may go on sending.
      return null;
    end if;
  end if;
  select * into v_rule from outbox.notice_rule r
  where r.field = p_update.field and r.event = v_event;
  return v_rule;
end
$$;

ALTER FUNCTION outbox.notice_rule_of(p_update outbox.whatsapp_update) OWNER TO postgres;

-- Name: FUNCTION notice_rule_of(p_update outbox.whatsapp_update); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.notice_rule_of(p_update outbox.whatsapp_update) IS 'The rule for an update of a template, account or number; null when it has none.';

-- Name: number_of(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.number_of(p_wa_id text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
begin
  return case when p_wa_id ~ '^[1-9][0-9]{6,14}$' then '+' || p_wa_id end;
end
$_$;

ALTER FUNCTION outbox.number_of(p_wa_id text) OWNER TO postgres;

-- Name: FUNCTION number_of(p_wa_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.number_of(p_wa_id text) IS 'A wa_id as E.164 with its +; null for what is none.';

-- Name: open_delivery(uuid, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.open_delivery(p_event_id uuid, p_endpoint_id uuid) RETURNS outbox.delivery
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_delivery outbox.delivery;
begin
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[p_endpoint_id]);
  -- What a deleted endpoint has left is cancelled, though its rows go later.
  select d.*
  into v_delivery
  from outbox.delivery d
  join outbox.endpoint e on e.id = d.endpoint_id and e.state <> 'deleted'
  where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('event %s has no open delivery for endpoint %s',
        pg_catalog.quote_nullable(p_event_id::text),
        pg_catalog.quote_nullable(p_endpoint_id::text)),
      hint = 'outbox.delivery_status shows what became of it; replay() sends a finished one again';
  elsif v_delivery.leased_until > outbox.clock() then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('event %s is being sent to endpoint %s', p_event_id,
        p_endpoint_id),
      hint = pg_catalog.format('Try again when its attempt has ended, at %s at the latest',
        v_delivery.leased_until);
  end if;
  return v_delivery;
end
$$;

ALTER FUNCTION outbox.open_delivery(p_event_id uuid, p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION open_delivery(p_event_id uuid, p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.open_delivery(p_event_id uuid, p_endpoint_id uuid) IS 'A delivery that nobody is sending, its gate locked. OH002: it is not open; OH004: it is being sent.';

-- Name: open_delivery_list(text, text, uuid, outbox.delivery_key); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.open_delivery_list(p_org_id text, p_status text, p_from uuid, p_below outbox.delivery_key) RETURNS refcursor
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    AS $$
declare
  v_list refcursor;
begin
  if p_status in ('pending', 'processing', 'retrying', 'held') then
    open v_list for
    select d.event_id, d.endpoint_id
    from outbox.delivery d
    where (d.event_id, d.endpoint_id) < (p_below.event_id, p_below.endpoint_id)
      and d.event_id >= p_from
    order by d.event_id desc, d.endpoint_id desc;
  elsif p_status = 'dead_letter' then
    open v_list for
    select x.event_id, x.endpoint_id
    from outbox.dead_letter x
    where (x.event_id, x.endpoint_id) < (p_below.event_id, p_below.endpoint_id)
      and x.event_id >= p_from
    order by x.event_id desc, x.endpoint_id desc;
  else
    -- delivery_ends() gives its rows in order, and a nested loop keeps it.
    open v_list for
    select e.id, p.endpoint_id
    from outbox.event e
    left join lateral outbox.delivery_ends(e.id) p on true
    where e.org_id > '' and (e.org_id, e.id) >= (p_org_id, p_from)
      and (e.org_id, e.id) <= (p_org_id, p_below.event_id)
      -- For the partitions.
      and e.id >= p_from and e.id <= p_below.event_id
      and (e.id < p_below.event_id or p.endpoint_id < p_below.endpoint_id)
    order by e.org_id desc, e.id desc;
  end if;
  return v_list;
end
$$;

ALTER FUNCTION outbox.open_delivery_list(p_org_id text, p_status text, p_from uuid, p_below outbox.delivery_key) OWNER TO postgres;

-- Name: FUNCTION open_delivery_list(p_org_id text, p_status text, p_from uuid, p_below outbox.delivery_key); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.open_delivery_list(p_org_id text, p_status text, p_from uuid, p_below outbox.delivery_key) IS 'A cursor over the deliveries that may have a status (null: any), below a key and from an event on, newest first; an event without any may be there with a null. What they are, and whose where the status is of open ones or dead letters, must be asked of each.';

-- Name: open_letter_list(text, uuid, timestamp with time zone, timestamp with time zone, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.open_letter_list(p_org_id text, p_endpoint_id uuid, p_from timestamp with time zone, p_at timestamp with time zone, p_id uuid) RETURNS refcursor
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    AS $$
declare
  v_list refcursor;
begin
  if p_endpoint_id is null then
    open v_list for
    select x.*
    from outbox.dead_letter x
    where x.org_id = p_org_id and (x.failed_at, x.id) < (p_at, p_id) and x.failed_at >= p_from
    order by x.failed_at desc, x.id desc;
  else
    open v_list for
    select x.*
    from outbox.dead_letter x
    where x.endpoint_id = p_endpoint_id and x.failed_at > '-infinity' and x.org_id = p_org_id
      and x.failed_at <= p_at and (x.failed_at, x.id) < (p_at, p_id) and x.failed_at >= p_from
    order by x.failed_at desc, x.id desc;
  end if;
  return v_list;
end
$$;

ALTER FUNCTION outbox.open_letter_list(p_org_id text, p_endpoint_id uuid, p_from timestamp with time zone, p_at timestamp with time zone, p_id uuid) OWNER TO postgres;

-- Name: FUNCTION open_letter_list(p_org_id text, p_endpoint_id uuid, p_from timestamp with time zone, p_at timestamp with time zone, p_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.open_letter_list(p_org_id text, p_endpoint_id uuid, p_from timestamp with time zone, p_at timestamp with time zone, p_id uuid) IS 'A cursor over the dead letters of an org, or of one of its endpoints, below (time, id) and from a time on, newest first.';

-- Name: open_window(uuid, text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.open_window(p_channel_id uuid, p_recipient text, p_at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  insert into outbox.conversation_window as w (channel_id, recipient, expires_at)
  values (p_channel_id, p_recipient, p_at + interval '24 hours')
  on conflict (channel_id, recipient) do update
    set expires_at = greatest(w.expires_at, excluded.expires_at);
end
$$;

ALTER FUNCTION outbox.open_window(p_channel_id uuid, p_recipient text, p_at timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION open_window(p_channel_id uuid, p_recipient text, p_at timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.open_window(p_channel_id uuid, p_recipient text, p_at timestamp with time zone) IS 'Notes that a person (E.164 with its +) wrote to a channel at that time: for 24 hours they may be sent what is no template.';

-- Name: opt_in_recipient(text, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.opt_in_recipient(p_org_id text, p_recipient text, p_purpose text DEFAULT 'ALL'::text, p_channel text DEFAULT 'WHATSAPP'::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  perform outbox.check_recipient(p_recipient);
  -- Kept as lifted: a callback that comes late must not bring it back.
  update outbox.opt_out o set lifted = true, decided_at = outbox.clock()
  where o.org_id = p_org_id and o.channel = p_channel
    and o.recipient = any (outbox.spellings(p_recipient)) and o.purpose = p_purpose
    and not o.lifted;
  return pg_catalog.jsonb_build_object('optedOut', false, 'purpose', p_purpose, 'isNew', found);
end
$$;

ALTER FUNCTION outbox.opt_in_recipient(p_org_id text, p_recipient text, p_purpose text, p_channel text) OWNER TO postgres;

-- Name: FUNCTION opt_in_recipient(p_org_id text, p_recipient text, p_purpose text, p_channel text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.opt_in_recipient(p_org_id text, p_recipient text, p_purpose text, p_channel text) IS 'Takes an opt-out back: {"optedOut", "purpose", "isNew": there was one}. OH001.';

-- Name: opt_out; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.opt_out (
    org_id text NOT NULL,
    channel text NOT NULL,
    recipient text NOT NULL,
    purpose text NOT NULL,
    source text NOT NULL,
    evidence text,
    lifted boolean DEFAULT false NOT NULL,
    decided_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT opt_out_purpose_is_known CHECK ((purpose = ANY (ARRAY['MARKETING'::text, 'ALL'::text])))
);

ALTER TABLE outbox.opt_out OWNER TO postgres;

-- Name: TABLE opt_out; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.opt_out IS 'Numbers that want nothing more of an org: no marketing, or nothing at all; the last word of each, with where it can be found (evidence). lifted: they want it again. recipient is E.164 with its +, or WhatsApp''s id of a person who hides theirs.';

-- Name: opt_out_json(outbox.opt_out); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.opt_out_json(p_opt_out outbox.opt_out) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.jsonb_build_object('recipient', p_opt_out.recipient,
    'channel', p_opt_out.channel, 'purpose', p_opt_out.purpose, 'source', p_opt_out.source,
    'evidence', p_opt_out.evidence, 'at', outbox.iso_time(p_opt_out.decided_at));
end
$$;

ALTER FUNCTION outbox.opt_out_json(p_opt_out outbox.opt_out) OWNER TO postgres;

-- Name: FUNCTION opt_out_json(p_opt_out outbox.opt_out); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.opt_out_json(p_opt_out outbox.opt_out) IS 'An opt-out as the API shows it.';

-- Name: opt_out_recipient(text, text, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.opt_out_recipient(p_org_id text, p_recipient text, p_source text, p_purpose text DEFAULT 'ALL'::text, p_channel text DEFAULT 'WHATSAPP'::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_recipient(p_recipient);
  perform outbox.check_choice('purpose', p_purpose, array['MARKETING', 'ALL']);
  perform outbox.check_choice('channel', p_channel, array['WHATSAPP']);
  insert into outbox.opt_out as o (
    org_id, channel, recipient, purpose, source, decided_at, created_at)
  values (p_org_id, p_channel, p_recipient, p_purpose, coalesce(p_source, 'by hand'), v_now, v_now)
  on conflict (org_id, channel, recipient, purpose) do update set
    source = excluded.source, evidence = null, lifted = false, decided_at = excluded.decided_at
  where o.lifted;
  return pg_catalog.jsonb_build_object('optedOut', true, 'purpose', p_purpose, 'isNew', found);
end
$$;

ALTER FUNCTION outbox.opt_out_recipient(p_org_id text, p_recipient text, p_source text, p_purpose text, p_channel text) OWNER TO postgres;

-- Name: FUNCTION opt_out_recipient(p_org_id text, p_recipient text, p_source text, p_purpose text, p_channel text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.opt_out_recipient(p_org_id text, p_recipient text, p_source text, p_purpose text, p_channel text) IS 'Sends a number nothing more, or no marketing: {"optedOut", "purpose", "isNew"}. OH001.';

-- Name: org_dead_letter(text, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.org_dead_letter(p_org_id text, p_id uuid) RETURNS outbox.dead_letter
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_letter outbox.dead_letter;
begin
  select * into v_letter from outbox.dead_letter x where x.id = p_id and x.org_id = p_org_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('dead letter %s does not exist',
        pg_catalog.quote_nullable(p_id::text)),
      hint = 'The list of dead letters shows those that there are';
  end if;
  return v_letter;
end
$$;

ALTER FUNCTION outbox.org_dead_letter(p_org_id text, p_id uuid) OWNER TO postgres;

-- Name: FUNCTION org_dead_letter(p_org_id text, p_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.org_dead_letter(p_org_id text, p_id uuid) IS 'The dead letter, or OH002 when that org has none of this id.';

-- Name: org_endpoint(text, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.org_endpoint(p_org_id text, p_endpoint_id uuid) RETURNS outbox.endpoint
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_endpoint outbox.endpoint;
begin
  select *
  into v_endpoint
  from outbox.endpoint e
  where e.id = p_endpoint_id and e.org_id = p_org_id and e.state <> 'deleted';
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('endpoint %s does not exist',
        pg_catalog.quote_nullable(p_endpoint_id::text)),
      hint = 'The list of endpoints shows those that there are';
  end if;
  return v_endpoint;
end
$$;

ALTER FUNCTION outbox.org_endpoint(p_org_id text, p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION org_endpoint(p_org_id text, p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.org_endpoint(p_org_id text, p_endpoint_id uuid) IS 'The endpoint, or OH002 when that org has none of this id or it was deleted.';

-- Name: pace_of(double precision); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.pace_of(p_messages_per_second double precision) RETURNS outbox.pace
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
declare
  v_rate constant double precision := p_messages_per_second * 0.965;
begin
  -- The burst is what a run may claim a quarter of a second ahead, so that a late look costs
  -- nothing; with_messages() says when each is sent, so that none comes in a burst.
  return row(v_rate, 1 + pg_catalog.floor(v_rate / 4)::integer,
    greatest(200, pg_catalog.ceil(v_rate)::integer))::outbox.pace;
end
$$;

ALTER FUNCTION outbox.pace_of(p_messages_per_second double precision) OWNER TO postgres;

-- Name: FUNCTION pace_of(p_messages_per_second double precision); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.pace_of(p_messages_per_second double precision) IS 'The pace of a channel under a limit of WhatsApp: 96.5 % of it, evenly.';

-- Name: park(uuid[], timestamp with time zone, uuid[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.park(p_endpoint_ids uuid[], p_now timestamp with time zone, p_served uuid[] DEFAULT '{}'::uuid[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  update outbox.gate g set next_at = n.next_at, lanes_from = n.lanes_from, changed_at = n.changed_at
  from pg_catalog.unnest(p_endpoint_ids) p
  cross join lateral (
    select o.ctid as gate_at, o.* from outbox.gate o
    where o.endpoint_id = p order by o.changed_at desc limit 1
  ) o
  cross join lateral (
    select e.* from outbox.endpoint e where e.id = o.endpoint_id offset 0
  ) e
  cross join lateral (
    -- Whoever changes a lane makes it due at its p_now or later, and comes here with the same
    -- p_now: so none lies before both.
    select coalesce(
      (select l.next_at from outbox.lane l
       where l.gate_id = o.id and l.next_at >= least(o.lanes_from, p_now) and l.next_at < 'infinity'
       order by l.next_at limit 1),
      'infinity') as at
    offset 0
  ) f
  cross join lateral (
    select greatest(o.not_before, case
      when o.depth = 0 or e.state = 'deleted' then 'infinity'
      when e.state <> 'enabled' then p_now + interval '5 s'
      when o.breaker = 'open' and e.breaker_enabled then greatest(o.open_until, f.at)
      when (o.breaker = 'half_open' and e.breaker_enabled)
        or o.in_flight >= outbox.allowed_in_flight(
          e.max_in_flight, o.last_timed_out, greatest(o.ramp_from, e.ramp_from), p_now)
      then least(
        -- While its share still grows there is more to send before anything comes back.
        case
          when p_now < greatest(o.ramp_from, e.ramp_from) + interval '10 s'
          then p_now + interval '1 s'
        end,
        -- An ordered lane is due when its lease ends, or its retry, and there may be a hundred
        -- thousand of them; an unordered one is due again long before that.
        coalesce(
          least(
            outbox.first_lease_end(o.id),
            (select l.next_at from outbox.lane l
             where l.gate_id = o.id and l.ordered and l.next_at > p_now and l.next_at < 'infinity'
             order by l.next_at limit 1)),
          p_now + interval '1 s'))
      else f.at
    end) as at
    -- Evaluated once, where the planner would write it out four times.
    offset 0
  ) d
  cross join lateral (
    -- Who is due keeps the place that he has, and goes to the back when he was served. Nobody comes
    -- in before now, which is where the ring may begin.
    select
      case
        when d.at > p_now then d.at
        when o.next_at <= p_now and (o.endpoint_id = any (p_served)) is not true then o.next_at
        else p_now
      end as next_at,
      f.at as lanes_from,
      pg_catalog.date_trunc('second', p_now) as changed_at
  ) n
  -- lanes_from may lag behind: a row is not rewritten for the sake of it each time.
  where g.ctid = o.gate_at and (
    g.next_at <> n.next_at or n.lanes_from < o.lanes_from
    or (n.lanes_from > o.lanes_from + interval '1 s' and n.lanes_from < 'infinity'));
end
$$;

ALTER FUNCTION outbox.park(p_endpoint_ids uuid[], p_now timestamp with time zone, p_served uuid[]) OWNER TO postgres;

-- Name: FUNCTION park(p_endpoint_ids uuid[], p_now timestamp with time zone, p_served uuid[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.park(p_endpoint_ids uuid[], p_now timestamp with time zone, p_served uuid[]) IS 'Puts gates at their place in the ring: when their first lane is due, when a lease ends if they are full, when the breaker lets a probe through, in a while if the endpoint is paused, never if nothing is open; those that are due and were served at the back. locks: the caller holds the gates.';

-- Name: partition_day(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.partition_day(p_name text) RETURNS date
    LANGUAGE sql IMMUTABLE
    SET search_path TO ''
    AS $$
  select pg_catalog.make_date(pg_catalog.substr(p_name, pg_catalog.length(p_name) - 7, 4)::integer,
    pg_catalog.substr(p_name, pg_catalog.length(p_name) - 3, 2)::integer,
    pg_catalog.right(p_name, 2)::integer)
$$;

ALTER FUNCTION outbox.partition_day(p_name text) OWNER TO postgres;

-- Name: FUNCTION partition_day(p_name text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.partition_day(p_name text) IS 'The day (UTC) of a partition, from its name.';

-- Name: partition_name(text, date); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.partition_name(p_table text, p_day date) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO ''
    AS $$
  select p_table || '_p' || pg_catalog.to_char(p_day, 'YYYYMMDD')
$$;

ALTER FUNCTION outbox.partition_name(p_table text, p_day date) OWNER TO postgres;

-- Name: FUNCTION partition_name(p_table text, p_day date); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.partition_name(p_table text, p_day date) IS 'The name of the partition of a day.';

-- Name: pause_endpoint(uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.pause_endpoint(p_endpoint_id uuid, p_reason text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return outbox.set_endpoint_state(p_endpoint_id, 'paused', coalesce(p_reason, 'paused by hand'));
end
$$;

ALTER FUNCTION outbox.pause_endpoint(p_endpoint_id uuid, p_reason text) OWNER TO postgres;

-- Name: FUNCTION pause_endpoint(p_endpoint_id uuid, p_reason text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.pause_endpoint(p_endpoint_id uuid, p_reason text) IS 'Holds an endpoint''s deliveries until resume_endpoint(); they stay, and new ones join them. Returns {"id", "state", "was", "reason", "open"}. OH002.';

-- Name: pause_org_endpoint(text, uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.pause_org_endpoint(p_org_id text, p_endpoint_id uuid, p_reason text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform outbox.pause_endpoint(p_endpoint_id, p_reason);
  return outbox.get_org_endpoint(p_org_id, p_endpoint_id);
end
$$;

ALTER FUNCTION outbox.pause_org_endpoint(p_org_id text, p_endpoint_id uuid, p_reason text) OWNER TO postgres;

-- Name: FUNCTION pause_org_endpoint(p_org_id text, p_endpoint_id uuid, p_reason text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.pause_org_endpoint(p_org_id text, p_endpoint_id uuid, p_reason text) IS 'Holds an endpoint as pause_endpoint() does, and returns it. OH002.';

-- Name: person_key(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.person_key(p_recipient text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return outbox.hash_person(p_recipient, outbox.hash_key());
end
$$;

ALTER FUNCTION outbox.person_key(p_recipient text) OWNER TO postgres;

-- Name: FUNCTION person_key(p_recipient text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.person_key(p_recipient text) IS 'The partition key of what goes to a person, or comes from them, and their name in the audit trail: a keyed hash of the number, since events, dead letters and the trail outlive an erased message, and without a key ten digits are guessed in a minute.';

-- Name: plain_word(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.plain_word(p_text text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
begin
  -- Nothing longer is one of these words: a sentence that holds one is for a person to read.
  if pg_catalog.length(p_text) > 100 then
    return null;
  end if;
  return nullif(pg_catalog.regexp_replace(
    pg_catalog.regexp_replace(
      pg_catalog.lower(pg_catalog.regexp_replace(
        pg_catalog.normalize(p_text, 'NFKD'), '[\u0300-\u036f]', '', 'g')),
      '\s+', ' ', 'g'),
    '^[^[:alnum:]]+|[^[:alnum:]]+$', '', 'g'), '');
end
$_$;

ALTER FUNCTION outbox.plain_word(p_text text) OWNER TO postgres;

-- Name: FUNCTION plain_word(p_text text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.plain_word(p_text text) IS 'A text without case, accents, and what surrounds it: "Arrêt !" is arret. Null for a long one.';

-- Name: port_allowed(integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.port_allowed(p_port integer) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return coalesce((
    select pg_catalog.bool_and(s.name = 'egress.allow_ports') from outbox.setting s
    cross join pg_catalog.jsonb_array_elements_text(s.value) r
    where s.name in ('egress.allow_ports', 'egress.deny_ports')
      and p_port between pg_catalog.split_part(r.value, '-', 1)::integer
        and coalesce(nullif(pg_catalog.split_part(r.value, '-', 2), ''), r.value)::integer), false);
end
$$;

ALTER FUNCTION outbox.port_allowed(p_port integer) OWNER TO postgres;

-- Name: FUNCTION port_allowed(p_port integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.port_allowed(p_port integer) IS 'Whether deliveries may go to a port: in egress.allow_ports and not in egress.deny_ports.';

-- Name: port_ranges(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.port_ranges(p_ranges jsonb) RETURNS int4multirange
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return (
    select coalesce(pg_catalog.range_agg(pg_catalog.int4range(
      pg_catalog.split_part(r, '-', 1)::integer,
      coalesce(nullif(pg_catalog.split_part(r, '-', 2), ''), r)::integer, '[]')), '{}')
    from pg_catalog.jsonb_array_elements_text(p_ranges) r);
end
$$;

ALTER FUNCTION outbox.port_ranges(p_ranges jsonb) OWNER TO postgres;

-- Name: FUNCTION port_ranges(p_ranges jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.port_ranges(p_ranges jsonb) IS 'The ports of a setting such as egress.allow_ports, as one set.';

-- Name: preview_retry_config(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.preview_retry_config(p_policy jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.jsonb_build_object(
    'schedule', outbox.schedule_json(outbox.retry_of_wire(p_policy)));
end
$$;

ALTER FUNCTION outbox.preview_retry_config(p_policy jsonb) OWNER TO postgres;

-- Name: FUNCTION preview_retry_config(p_policy jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.preview_retry_config(p_policy jsonb) IS 'What a policy would mean: {"schedule": [{"failure", "delaySeconds", "leastSeconds", "mostSeconds", "afterSeconds"}]}. OH001.';

-- Name: preview_schedule(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.preview_schedule(p_policy jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  perform outbox.check_retry(p_policy);
  return (
    select coalesce(
      pg_catalog.jsonb_agg(
        pg_catalog.jsonb_build_object('failure', n, 'delay_s', d.delay_s,
          'least_s', d.least_s, 'most_s', d.most_s, 'after_s', d.after_s)
        order by n),
      '[]')
    from (
      select n, s.delay_s, case when j.on then 0.5 * s.delay_s else s.delay_s end as least_s,
        least(case when j.on then 1.5 * s.delay_s else s.delay_s end,
          coalesce((p_policy ->> 'max_delay')::float8, 604800)) as most_s,
        pg_catalog.sum(s.delay_s) over (order by n) as after_s
      from pg_catalog.generate_series(1, coalesce((p_policy ->> 'max_retries')::integer, 5)) as n
      cross join lateral (
        select extract(epoch from outbox.delay_after(p_policy - 'jitter', n))::float8 as delay_s
      ) s
      cross join (select coalesce((p_policy ->> 'jitter')::boolean, false) as on) j
    ) d);
end
$$;

ALTER FUNCTION outbox.preview_schedule(p_policy jsonb) OWNER TO postgres;

-- Name: FUNCTION preview_schedule(p_policy jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.preview_schedule(p_policy jsonb) IS 'What a policy means, one object per failure: [{"failure", "delay_s", "least_s" and "most_s" with jitter, "after_s" since the first try without it}]. OH001.';

-- Name: primary_key(regclass); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.primary_key(p_table regclass) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return array(
    select a.attname::text
    from pg_catalog.pg_index i
    join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    where i.indrelid = p_table and i.indisprimary
    order by a.attnum);
end
$$;

ALTER FUNCTION outbox.primary_key(p_table regclass) OWNER TO postgres;

-- Name: FUNCTION primary_key(p_table regclass); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.primary_key(p_table regclass) IS 'The columns of a table''s primary key.';

-- Name: publish(text, jsonb, text, text, text, text, uuid, timestamp with time zone, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish(p_type text, p_payload jsonb, p_org_id text DEFAULT 'default'::text, p_partition_key text DEFAULT NULL::text, p_correlation_id text DEFAULT NULL::text, p_idempotency_key text DEFAULT NULL::text, p_endpoint_id uuid DEFAULT NULL::uuid, p_deliver_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_traceparent text DEFAULT NULL::text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_id uuid;
begin
  v_id := outbox.put_event(outbox.new_event(outbox.clock(), p_type, p_payload::text, p_org_id,
    p_partition_key, p_correlation_id, p_idempotency_key, p_endpoint_id, p_deliver_at,
    p_traceparent));
  -- Asked here too: the call takes 3 us of each event in a transaction of many.
  if pg_catalog.current_setting('outbox.kicked', true)
    is distinct from pg_catalog.pg_current_xact_id()::text
  then
    perform outbox.kick_on_commit();
  end if;
  return v_id;
end
$$;

ALTER FUNCTION outbox.publish(p_type text, p_payload jsonb, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text) OWNER TO postgres;

-- Name: FUNCTION publish(p_type text, p_payload jsonb, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish(p_type text, p_payload jsonb, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text) IS 'Publishes an event in the caller''s transaction and returns its id: it is delivered to every subscribed endpoint once the transaction commits, and never if it rolls back. The body sent is the jsonb''s text; publish_raw() keeps the caller''s bytes. OH001 names the argument that is not valid, OH002 an unknown endpoint, OH003 a key with other content.';

-- Name: publish_array(jsonb, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish_array(p_events jsonb, p_org_id text) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_events outbox.event[] := array[]::outbox.event[];
  v_ids uuid[] := array[]::uuid[];
  v_at integer := 0;
  v_detail text;
  v_hint text;
begin
  if pg_catalog.jsonb_typeof(p_events) is distinct from 'array' then
    perform outbox.invalid('events', 'is not a JSON array',
      'Expected [{"type": "order.paid", "payload": {"id": 1}}, …]');
  end if;
  v_ids := outbox.publish_plain(p_events, p_org_id, v_now);
  if v_ids is not null then
    perform outbox.kick_on_commit();
    return pg_catalog.to_jsonb(v_ids);
  end if;
  while v_at < pg_catalog.jsonb_array_length(p_events) loop
    v_at := v_at + 1;
    v_events[v_at] := outbox.event_of_json(p_events -> (v_at - 1),
      v_now + (v_at - 1) * interval '1 microsecond', p_org_id);
  end loop;
  -- Keys in one order in every session, or two batches could wait for each other.
  for v_at in
    select e.ordinality
    from pg_catalog.unnest(v_events) with ordinality e
    order by e.org_id, e.idempotency_key nulls first, e.ordinality
  loop
    v_ids[v_at] := outbox.put_event(v_events[v_at]);
  end loop;
  perform outbox.kick_on_commit();
  return pg_catalog.to_jsonb(v_ids);
exception when sqlstate 'OH001' or sqlstate 'OH002' or sqlstate 'OH003' then
  get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  raise exception using errcode = sqlstate, hint = v_hint,
    detail = case
      when sqlstate = 'OH001' and v_at > 0 then
        pg_catalog.concat_ws('.', 'events', v_at - 1, nullif(v_detail, ''))
      else v_detail
    end,
    message = case
      when v_at = 0 then sqlerrm
      else pg_catalog.format('events[%s]: %s', v_at - 1, sqlerrm)
    end;
end
$$;

ALTER FUNCTION outbox.publish_array(p_events jsonb, p_org_id text) OWNER TO postgres;

-- Name: FUNCTION publish_array(p_events jsonb, p_org_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish_array(p_events jsonb, p_org_id text) IS 'publish_many() for one organisation, whatever the events say; null: for those that they name.';

-- Name: publish_change(jsonb, text, text, text, jsonb, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish_change(p_watch jsonb, p_schema text, p_table text, p_op text, p_new jsonb, p_old jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_row jsonb := coalesce(p_new, p_old);
  v_detail text;
  v_hint text;
begin
  perform outbox.put_event(outbox.new_event(
    outbox.clock(),
    pg_catalog.replace(p_watch ->> 'type', '{op}',
      case p_op when 'INSERT' then 'inserted' when 'UPDATE' then 'updated' else 'deleted' end),
    pg_catalog.json_build_object('type', p_op, 'table', p_table, 'schema', p_schema,
      'record', outbox.watched_part(p_new, p_watch),
      'old_record', outbox.watched_part(p_old, p_watch))::text,
    coalesce(v_row ->> (p_watch ->> 'org_column'), p_watch ->> 'org_id'),
    v_row ->> (p_watch ->> 'partition_column'), null, null, null, null, null));
exception when sqlstate 'OH001' then
  get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  raise exception using errcode = 'OH001', detail = v_detail, hint = v_hint,
    message = pg_catalog.format('the change of %I.%I cannot be published: %s', p_schema, p_table,
      sqlerrm);
end
$$;

ALTER FUNCTION outbox.publish_change(p_watch jsonb, p_schema text, p_table text, p_op text, p_new jsonb, p_old jsonb) OWNER TO postgres;

-- Name: FUNCTION publish_change(p_watch jsonb, p_schema text, p_table text, p_op text, p_new jsonb, p_old jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish_change(p_watch jsonb, p_schema text, p_table text, p_op text, p_new jsonb, p_old jsonb) IS 'Publishes one change of a watched table. OH001 names the table and what is wrong with its event.';

-- Name: publish_dead(uuid[], uuid[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish_dead(p_events uuid[], p_endpoints uuid[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
declare
  v_row record;
  v_id uuid;
  v_body text;
  v_lane outbox.lane;
begin
  for v_row in
    select x as letter, e as endpoint, g.id as gate_id
    from unnest(p_events, p_endpoints) as p (event_id, endpoint_id)
    cross join lateral (
      select e from outbox.endpoint e
      where e.id = p.endpoint_id and e.broker is not null and e.state <> 'deleted'
        and coalesce(e.broker ->> 'dlq_topic', e.broker ->> 'dlq_routing_key') is not null offset 0
    ) e
    cross join lateral (
      select x from outbox.dead_letter x
      where x.event_id = p.event_id and x.endpoint_id = p.endpoint_id
        and x.original_topic <> 'outhook.dead_letter' offset 0
    ) x
    cross join lateral (
      select g.id from outbox.gate g
      where g.endpoint_id = p.endpoint_id order by g.changed_at desc limit 1
    ) g
  loop
    v_id := outbox.uuid_v7(p_now);
    v_body := outbox.dlq_message(v_row.letter, v_row.endpoint);
    insert into outbox.event (
      id, org_id, type, body, partition_key, correlation_id, traceparent, endpoint_id, created_at)
    values (v_id, (v_row.letter).org_id, 'outhook.dead_letter', v_body,
      (v_row.letter).partition_key, (v_row.letter).correlation_id, (v_row.letter).traceparent,
      (v_row.letter).endpoint_id, p_now);
    -- Past the lane of its key, which may stand still behind this very dead letter.
    v_lane := outbox.replay_lane(v_row.gate_id, 0);
    insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
    values (v_id, (v_row.letter).endpoint_id, v_lane.id, greatest(p_now, v_lane.head_at),
      pg_catalog.octet_length(v_body));
    update outbox.lane l set
      depth = l.depth + 1, next_at = least(l.next_at, greatest(p_now, v_lane.head_at))
    where l.id = v_lane.id;
    update outbox.gate g set depth = g.depth + 1 where g.id = v_row.gate_id;
  end loop;
end
$$;

ALTER FUNCTION outbox.publish_dead(p_events uuid[], p_endpoints uuid[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION publish_dead(p_events uuid[], p_endpoints uuid[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish_dead(p_events uuid[], p_endpoints uuid[], p_now timestamp with time zone) IS 'Gives each new dead letter of a broker a delivery to its dead-letter topic, if it has one. locks: the caller holds the gates, and parks them.';

-- Name: publish_events(text, jsonb, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish_events(p_org_id text, p_events jsonb, p_catalogue text DEFAULT NULL::text, p_key text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_version bigint;
  v_answer jsonb;
begin
  select c.version into v_version
  from outbox.event_catalogue c where c.org_id = p_org_id and c.strict;
  if found and v_version::text is distinct from p_catalogue then
    return pg_catalog.jsonb_build_object('catalogue', outbox.read_catalogue(p_org_id));
  end if;
  v_answer := outbox.begin_request(p_org_id, 'POST /events/batch', p_key, p_events);
  if v_answer is null then
    v_answer := pg_catalog.jsonb_build_object('ids', outbox.publish_array(p_events, p_org_id));
    perform outbox.end_request(p_org_id, p_key, v_answer);
  end if;
  return v_answer;
end
$$;

ALTER FUNCTION outbox.publish_events(p_org_id text, p_events jsonb, p_catalogue text, p_key text) OWNER TO postgres;

-- Name: FUNCTION publish_events(p_org_id text, p_events jsonb, p_catalogue text, p_key text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish_events(p_org_id text, p_events jsonb, p_catalogue text, p_key text) IS 'publish_many() for one organisation, all or none: {"ids": [...]}. Where it is strict, the events must have been checked against the version of its catalogue that p_catalogue names, or nothing is published and the answer is {"catalogue": as read_catalogue()}. p_key is the Idempotency-Key of the whole. OH001, OH002, OH003.';

-- Name: inbound_message; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.inbound_message (
    id bigint NOT NULL,
    org_id text NOT NULL,
    channel_id uuid NOT NULL,
    phone_number_id text NOT NULL,
    wamid text,
    contact_id uuid,
    type text NOT NULL,
    text text,
    reply_to bigint,
    payload jsonb NOT NULL,
    sent_at timestamp with time zone NOT NULL,
    received_at timestamp with time zone NOT NULL,
    erased_at timestamp with time zone
);

ALTER TABLE outbox.inbound_message OWNER TO postgres;

-- Name: TABLE inbound_message; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.inbound_message IS 'Messages from people, each once. type is WhatsApp''s, text what a person reads of it, reply_to the message of ours that it answers, payload the rest as it came; erased_at: text, payload and ids are gone, message.retention_days after it came.';

-- Name: publish_inbound(outbox.inbound_message, outbox.whatsapp_update, text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish_inbound(p_message outbox.inbound_message, p_update outbox.whatsapp_update, p_action text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_id uuid := outbox.uuid_v7(p_now);
  v_body jsonb := pg_catalog.jsonb_build_object(
    'inboundMessageId', p_message.id::text, 'channelId', p_message.channel_id,
    'contactId', p_message.contact_id, 'from', outbox.number_of(p_update.wa_id),
    'userId', p_update.user_id, 'name', p_update.data #>> '{contact,profile,name}',
    'type', p_message.type, 'text', p_message.text, 'replyTo', p_message.reply_to::text,
    'meaning', p_action, 'sentAt', outbox.iso_time(p_message.sent_at));
  v_whole text := (v_body || pg_catalog.jsonb_build_object('message', p_message.payload))::text;
begin
  -- One that is too large to publish comes without WhatsApp's own form of it.
  if pg_catalog.octet_length(v_whole) > outbox.setting_int('publish.max_body_bytes') then
    v_whole := (v_body || pg_catalog.jsonb_build_object('message', null))::text;
  end if;
  insert into outbox.event (id, org_id, type, body, partition_key, idempotency_key, traceparent,
    created_at)
  values (v_id, p_message.org_id, 'whatsapp.message.received', v_whole,
    outbox.person_key(coalesce(outbox.number_of(p_update.wa_id), p_update.user_id, '')),
    p_update.key, outbox.current_traceparent(), p_now);
  insert into outbox.unrouted (event_id) values (v_id);
end
$$;

ALTER FUNCTION outbox.publish_inbound(p_message outbox.inbound_message, p_update outbox.whatsapp_update, p_action text, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION publish_inbound(p_message outbox.inbound_message, p_update outbox.whatsapp_update, p_action text, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish_inbound(p_message outbox.inbound_message, p_update outbox.whatsapp_update, p_action text, p_now timestamp with time zone) IS 'Publishes whatsapp.message.received: {"inboundMessageId", "channelId", "contactId", "from", "userId", "name", "type", "text", "replyTo", "meaning": STOP or START, "sentAt", "message": as WhatsApp sent it}. One person''s come in order to an endpoint ordered by partition.';

-- Name: publish_inserted(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish_inserted() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  new.id := outbox.publish_raw(new.event_type, new.payload::text);
  new.status := 'PENDING';
  new.retry_count := 0;
  return new;
end
$$;

ALTER FUNCTION outbox.publish_inserted() OWNER TO postgres;

-- Name: FUNCTION publish_inserted(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish_inserted() IS 'Trigger of webhook_outbox: publishes what is inserted; only event_type and payload count.';

-- Name: publish_many(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish_many(p_events jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return outbox.publish_array(p_events, null);
end
$$;

ALTER FUNCTION outbox.publish_many(p_events jsonb) OWNER TO postgres;

-- Name: FUNCTION publish_many(p_events jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish_many(p_events jsonb) IS 'Publishes an array of {"type", "payload" or "body" (text, kept as it is), "org_id", "partition_key", "correlation_id", "idempotency_key", "endpoint_id", "deliver_at", "traceparent"}, all or none, and returns the array of ids in the same order. Errors as publish(), with the place in the array.';

-- Name: publish_message(outbox.outbound_message, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish_message(p_message outbox.outbound_message, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_event outbox.event := outbox.new_event(p_now, 'outhook.message',
    pg_catalog.json_build_object('messageId', p_message.id::text)::text, p_message.org_id,
    outbox.person_key(p_message.to_recipient), null, null, p_message.channel_id, null, null);
begin
  v_event.id := p_message.event_id;
  perform outbox.put_event(v_event);
  perform outbox.kick_on_commit();
end
$$;

ALTER FUNCTION outbox.publish_message(p_message outbox.outbound_message, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION publish_message(p_message outbox.outbound_message, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish_message(p_message outbox.outbound_message, p_now timestamp with time zone) IS 'Publishes the event of a message''s present life, whose partition key is that of the person.';

-- Name: publish_plain(jsonb, text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish_plain(p_events jsonb, p_org_id text, p_now timestamp with time zone) RETURNS uuid[]
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $_$
declare
  v_most integer := outbox.setting_int('publish.max_body_bytes');
  v_plain boolean;
  v_events outbox.event[];
  v_keyed integer;
  v_taken integer;
  v_traceparent text := outbox.current_traceparent();
begin
  select
    coalesce(pg_catalog.bool_and(coalesce(
      o.value - array['type', 'payload', 'body', 'org_id', 'partition_key', 'correlation_id',
        'idempotency_key', 'endpoint_id', 'deliver_at', 'traceparent'] = '{}'
      and o.value ->> 'endpoint_id' is null and o.value ->> 'deliver_at' is null
      and o.value ? 'payload' <> o.value ? 'body'
      and coalesce(o.value ->> 'type', '') ~ '^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$'
      and pg_catalog.length(o.value ->> 'type') <= 128
      and o.value ->> 'type' <> 'outhook.dead_letter'
      and e.org_id ~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$' and e.org_id <> 'outhook'
      and (o.value ? 'payload' or e.body::json is not null)
      and pg_catalog.octet_length(e.body) <= v_most
      and coalesce(pg_catalog.length(o.value ->> 'partition_key') <= 256, true)
      and coalesce(o.value ->> 'correlation_id' ~ '^[\x21-\x7e]{1,128}$', true)
      and coalesce(o.value ->> 'idempotency_key' ~ '^[\x21-\x7e]{1,255}$', true)
      and coalesce(
        o.value ->> 'traceparent' ~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$', true),
      false)), true),
    pg_catalog.array_agg(
      row(outbox.uuid_v7(e.at), e.org_id, o.value ->> 'type', e.body, o.value ->> 'partition_key',
        o.value ->> 'correlation_id', o.value ->> 'idempotency_key',
        coalesce(o.value ->> 'traceparent', v_traceparent), null, null, e.at)::outbox.event
      order by o.ordinality),
    pg_catalog.count(o.value ->> 'idempotency_key')
  into v_plain, v_events, v_keyed
  from pg_catalog.jsonb_array_elements(p_events) with ordinality o
  cross join lateral (
    select coalesce(p_org_id, o.value ->> 'org_id', 'default') as org_id,
      coalesce(o.value ->> 'body', (o.value -> 'payload')::text) as body,
      p_now + (o.ordinality - 1) * interval '1 microsecond' as at
  ) e;
  if not v_plain then
    return null;
  end if;
  if v_keyed > 0 then
    insert into outbox.idempotency_key (org_id, key, event_id, content, created_at)
    select e.org_id, e.idempotency_key, e.id, outbox.event_content(e), e.created_at
    from pg_catalog.unnest(v_events) e
    where e.idempotency_key is not null
    order by e.org_id, e.idempotency_key
    on conflict (org_id, key) do nothing;
    get diagnostics v_taken = row_count;
    if v_taken < v_keyed then
      raise no_data_found;
    end if;
  end if;
  insert into outbox.event select e.* from pg_catalog.unnest(v_events) e;
  insert into outbox.unrouted (event_id) select e.id from pg_catalog.unnest(v_events) e;
  return array(
    select e.id from pg_catalog.unnest(v_events) with ordinality e order by e.ordinality);
exception
  when no_data_found or invalid_text_representation or untranslatable_character
    or program_limit_exceeded or statement_too_complex or invalid_parameter_value then
    return null;
end
$_$;

ALTER FUNCTION outbox.publish_plain(p_events jsonb, p_org_id text, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION publish_plain(p_events jsonb, p_org_id text, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish_plain(p_events jsonb, p_org_id text, p_now timestamp with time zone) IS 'Publishes an array of events in a few statements, a quarter of what one by one costs, and returns their ids; null, and nothing is published, when one is not valid, is addressed, is for later, or has an idempotency key that is taken: those are told apart one by one.';

-- Name: publish_raw(text, text, text, text, text, text, uuid, timestamp with time zone, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish_raw(p_type text, p_body text, p_org_id text DEFAULT 'default'::text, p_partition_key text DEFAULT NULL::text, p_correlation_id text DEFAULT NULL::text, p_idempotency_key text DEFAULT NULL::text, p_endpoint_id uuid DEFAULT NULL::uuid, p_deliver_at timestamp with time zone DEFAULT NULL::timestamp with time zone, p_traceparent text DEFAULT NULL::text) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_id uuid;
begin
  perform outbox.check_json(p_body);
  v_id := outbox.put_event(outbox.new_event(outbox.clock(), p_type, p_body, p_org_id,
    p_partition_key, p_correlation_id, p_idempotency_key, p_endpoint_id, p_deliver_at,
    p_traceparent));
  -- Asked here too: the call takes 3 us of each event in a transaction of many.
  if pg_catalog.current_setting('outbox.kicked', true)
    is distinct from pg_catalog.pg_current_xact_id()::text
  then
    perform outbox.kick_on_commit();
  end if;
  return v_id;
end
$$;

ALTER FUNCTION outbox.publish_raw(p_type text, p_body text, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text) OWNER TO postgres;

-- Name: FUNCTION publish_raw(p_type text, p_body text, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish_raw(p_type text, p_body text, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text) IS 'Publishes an event whose body is these very bytes, which must be JSON, in the caller''s transaction; returns its id. OH001 names the argument that is not valid, OH002 an unknown endpoint, OH003 a key with other content.';

-- Name: publish_row(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish_row() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_watch jsonb := tg_argv[0]::jsonb;
  v_new jsonb := case when tg_op <> 'DELETE' then pg_catalog.to_jsonb(new) end;
  v_old jsonb := case when tg_op <> 'INSERT' then pg_catalog.to_jsonb(old) end;
begin
  if outbox.is_watched_change(v_new, v_old, v_watch) then
    perform outbox.publish_change(v_watch, tg_table_schema, tg_table_name, tg_op, v_new, v_old);
    perform outbox.kick_on_commit();
  end if;
  return null;
end
$$;

ALTER FUNCTION outbox.publish_row() OWNER TO postgres;

-- Name: FUNCTION publish_row(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish_row() IS 'Trigger of a watched table, after each row: publishes the change. watch_table() sets it up.';

-- Name: publish_rows(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish_rows() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_watch jsonb := tg_argv[0]::jsonb;
  v_new jsonb;
  v_old jsonb;
  v_any boolean := false;
begin
  if tg_op = 'INSERT' then
    for v_new in select pg_catalog.to_jsonb(n) from new_rows n loop
      perform outbox.publish_change(v_watch, tg_table_schema, tg_table_name, tg_op, v_new, null);
      v_any := true;
    end loop;
  elsif tg_op = 'DELETE' then
    for v_old in select pg_catalog.to_jsonb(o) from old_rows o loop
      perform outbox.publish_change(v_watch, tg_table_schema, tg_table_name, tg_op, null, v_old);
      v_any := true;
    end loop;
  else
    v_any := outbox.publish_updates(v_watch, tg_table_schema, tg_table_name,
      array(select pg_catalog.to_jsonb(n) from new_rows n),
      array(select pg_catalog.to_jsonb(o) from old_rows o));
  end if;
  if v_any then
    perform outbox.kick_on_commit();
  end if;
  return null;
end
$$;

ALTER FUNCTION outbox.publish_rows() OWNER TO postgres;

-- Name: FUNCTION publish_rows(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish_rows() IS 'Trigger of a watched table, after each statement, with the transition tables new_rows and old_rows: publishes the change of each row. watch_table(p_per_statement => true) sets it up.';

-- Name: publish_statuses(outbox.status_change[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish_statuses(p_changes outbox.status_change[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
begin
  with told as (
    insert into outbox.event (id, org_id, type, body, partition_key, idempotency_key,
      traceparent, created_at)
    select outbox.uuid_v7(p_now + c.place * interval '1 us'), m.org_id, 'whatsapp.message.status',
      pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
        'messageId', m.id::text, 'dossierId', m.dossier_id, 'channelId', m.channel_id,
        'templateCode', m.template_code, 'attempt', a.attempt_no, 'status', c.status,
        'messageStatus', m.status, 'at', outbox.iso_time(c.at), 'errorCode', c.code,
        'error', c.title, 'details', c.details, 'pricing', u.data -> 'pricing'))::text,
      -- As the message's own event: in an ordered endpoint one person's come one after the other.
      outbox.hash_person(m.to_recipient, (select outbox.hash_key())), u.key,
      (select outbox.current_traceparent()), p_now + c.place * interval '1 us'
    from pg_catalog.unnest(p_changes) with ordinality as c (update_id, attempt_id, message_id,
      status, rank, at, wamid, code, title, details, noted, state, reason, place)
    cross join lateral (
      select x.key, x.data from outbox.whatsapp_update x where x.id = c.update_id offset 0
    ) u
    cross join lateral (
      select x.attempt_no from outbox.message_attempt x where x.id = c.attempt_id offset 0
    ) a
    cross join lateral (
      select x.* from outbox.outbound_message x where x.id = c.message_id offset 0
    ) m
    where c.state = 'applied'
    order by c.place
    returning id
  )
  insert into outbox.unrouted (event_id) select t.id from told t;
  if found then
    perform outbox.kick_on_commit();
  end if;
end
$$;

ALTER FUNCTION outbox.publish_statuses(p_changes outbox.status_change[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION publish_statuses(p_changes outbox.status_change[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish_statuses(p_changes outbox.status_change[], p_now timestamp with time zone) IS 'Publishes whatsapp.message.status of the statuses that were applied: {"messageId", "dossierId", "channelId", "templateCode", "attempt", "status": WhatsApp''s word, "messageStatus", "at", "errorCode", "error", "details", "pricing"}, without number and id of WhatsApp.';

-- Name: publish_updates(jsonb, text, text, jsonb[], jsonb[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.publish_updates(p_watch jsonb, p_schema text, p_table text, p_new jsonb[], p_old jsonb[]) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_new jsonb;
  v_old jsonb;
  v_op text;
  v_key jsonb := pg_catalog.jsonb_build_object('columns', p_watch -> 'key');
  v_any boolean := false;
begin
  for v_new, v_old in
    select n.r, o.r
    from (
      select r, outbox.watched_part(r, v_key) as key from pg_catalog.unnest(p_new) r
    ) n
    full join (
      select r, outbox.watched_part(r, v_key) as key from pg_catalog.unnest(p_old) r
    ) o on o.key = n.key
  loop
    -- A row whose primary key has changed is another row.
    v_op := case
      when v_old is null then 'INSERT'
      when v_new is null then 'DELETE'
      else 'UPDATE'
    end;
    continue when not outbox.is_watched_change(v_new, v_old, p_watch);
    perform outbox.publish_change(p_watch, p_schema, p_table, v_op, v_new, v_old);
    v_any := true;
  end loop;
  return v_any;
end
$$;

ALTER FUNCTION outbox.publish_updates(p_watch jsonb, p_schema text, p_table text, p_new jsonb[], p_old jsonb[]) OWNER TO postgres;

-- Name: FUNCTION publish_updates(p_watch jsonb, p_schema text, p_table text, p_new jsonb[], p_old jsonb[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.publish_updates(p_watch jsonb, p_schema text, p_table text, p_new jsonb[], p_old jsonb[]) IS 'Publishes the updates of one statement, rows before and after matched by primary key: one whose key has changed counts as deleted and inserted. True when there was one to publish.';

-- Name: purge_deleted(integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.purge_deleted(p_limit integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_endpoint uuid;
  v_purged integer := 0;
begin
  for v_endpoint in
    select e.id
    from outbox.endpoint e
    join outbox.gate g on g.endpoint_id = e.id
    where e.state = 'deleted'
    order by pg_catalog.random()
    limit 10
  loop
    v_purged := v_purged + outbox.purge_endpoint(v_endpoint, greatest(p_limit - v_purged, 1),
      outbox.clock());
    exit when v_purged >= p_limit;
  end loop;
  return v_purged;
end
$$;

ALTER FUNCTION outbox.purge_deleted(p_limit integer) OWNER TO postgres;

-- Name: FUNCTION purge_deleted(p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.purge_deleted(p_limit integer) IS 'Cancels up to about p_limit deliveries of deleted endpoints; returns how many.';

-- Name: purge_endpoint(uuid, integer, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.purge_endpoint(p_endpoint_id uuid, p_limit integer, p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_gate outbox.gate;
  v_purged integer;
begin
  -- Nobody is waited for, neither a person at the endpoint's row nor a run at its gate.
  perform from outbox.endpoint e
  where e.id = p_endpoint_id and e.state = 'deleted'
  for no key update skip locked;
  if not found then
    return 0;
  end if;
  select *
  into v_gate
  from outbox.gate g
  where g.endpoint_id = p_endpoint_id
  for no key update skip locked;
  if not found then
    return 0;
  end if;
  with doomed as materialized (
    select d.* from outbox.lane l
    cross join lateral (
      select d.ctid as row_at, d.* from outbox.delivery d
      where d.lane_id = l.id and d.lane_id > 0
      order by d.due_at, d.event_id limit p_limit
    ) d
    where l.gate_id = v_gate.id and (d.leased_until is null or d.leased_until <= p_now)
    limit p_limit
  ), gone as (
    delete from outbox.delivery d
    using doomed x
    where d.ctid = x.row_at
    returning x.lane_id, x.leased_until is not null as held, d.event_id, d.attempt
  ), receipt as (
    insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, error)
    select g.event_id, p_endpoint_id, g.attempt, p_now, 'close', 'cancelled',
      'the endpoint was deleted'
    from gone g
  ), lanes as (
    update outbox.lane l set depth = l.depth - b.n, leased = l.leased - b.held
    from (
      select g.lane_id, pg_catalog.count(*) as n,
        pg_catalog.count(*) filter (where g.held)::integer as held
      from gone g
      group by g.lane_id
    ) b
    where l.id = b.lane_id
    returning b.n,
      case when l.ordered then (l.leased = 0 and b.held > 0)::integer else b.held end as slots
  )
  update outbox.gate g set depth = g.depth - s.n, in_flight = g.in_flight - s.slots
  from (select pg_catalog.sum(l.n) as n, pg_catalog.sum(l.slots) as slots from lanes l) s
  where g.id = v_gate.id and s.n is not null
  returning s.n into v_purged;
  perform outbox.count_ended(p_endpoint_id, 'cancelled', v_purged);
  if coalesce(v_purged, 0) = 0 and v_gate.depth = 0 then
    v_purged := outbox.fail_unsent(p_endpoint_id, p_limit, p_now);
    if v_purged < p_limit then
      perform outbox.forget_endpoint(p_endpoint_id, v_gate.id);
    end if;
  end if;
  return coalesce(v_purged, 0);
end
$$;

ALTER FUNCTION outbox.purge_endpoint(p_endpoint_id uuid, p_limit integer, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION purge_endpoint(p_endpoint_id uuid, p_limit integer, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.purge_endpoint(p_endpoint_id uuid, p_limit integer, p_now timestamp with time zone) IS 'Cancels up to p_limit open deliveries of a deleted endpoint, then fails its unsent messages, and forgets its secrets, subscriptions and gate once none is left; returns how many it ended, none of an endpoint that is not deleted. locks: the endpoint, then its gate, with SKIP LOCKED.';

-- Name: put_back(uuid, uuid, bigint, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.put_back(p_event_id uuid, p_endpoint_id uuid, p_job bigint, p_now timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_gate bigint;
  v_lane outbox.lane;
  v_bytes integer;
  v_due timestamptz;
begin
  select g.id
  into v_gate
  from outbox.gate g
  join outbox.endpoint e on e.id = g.endpoint_id
  where g.endpoint_id = p_endpoint_id and e.state <> 'deleted';
  -- Cleanup may be removing the letter that alone still has the body: what it leaves is read after.
  perform from outbox.dead_letter x
  where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id
  for no key update;
  select pg_catalog.octet_length(e.body)
  into v_bytes
  from outbox.find_event(p_event_id, p_endpoint_id) e;
  if v_gate is null or v_bytes is null then
    return false;
  end if;
  v_lane := outbox.replay_lane(v_gate, p_job);
  v_due := greatest(p_now, v_lane.head_at);
  insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, attempt, body_bytes,
    replayed_at)
  values (p_event_id, p_endpoint_id, v_lane.id, v_due,
    coalesce(outbox.last_attempt(p_event_id, p_endpoint_id), 0), v_bytes, p_now)
  on conflict (event_id, endpoint_id) do nothing;
  if not found then
    return false;
  end if;
  update outbox.lane l set depth = l.depth + 1, next_at = least(l.next_at, v_due)
  where l.id = v_lane.id;
  update outbox.gate g set depth = g.depth + 1 where g.id = v_gate;
  update outbox.dead_letter x set replayed_at = p_now
  where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id;
  return true;
end
$$;

ALTER FUNCTION outbox.put_back(p_event_id uuid, p_endpoint_id uuid, p_job bigint, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION put_back(p_event_id uuid, p_endpoint_id uuid, p_job bigint, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.put_back(p_event_id uuid, p_endpoint_id uuid, p_job bigint, p_now timestamp with time zone) IS 'Opens a finished delivery again; false when it is open, or when its event or endpoint is gone. locks: the caller holds the gate.';

-- Name: put_broker(uuid, jsonb, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.put_broker(p_endpoint_id uuid, p_broker jsonb, p_credentials jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_kind text := (select e.kind from outbox.endpoint e where e.id = p_endpoint_id);
  v_broker jsonb := case v_kind
    when 'rabbitmq' then outbox.check_rabbitmq(p_broker)
    else outbox.check_kafka(p_broker)
  end;
begin
  perform outbox.check_credentials(v_kind, v_broker, p_credentials);
  update outbox.endpoint e set
    broker = v_broker,
    url = coalesce(v_broker ->> 'url', 'kafka://' || (
      select pg_catalog.string_agg(a, ',')
      from pg_catalog.jsonb_array_elements_text(v_broker -> 'brokers') a))
  where e.id = p_endpoint_id;
  perform outbox.put_credentials(p_endpoint_id, p_credentials);
end
$$;

ALTER FUNCTION outbox.put_broker(p_endpoint_id uuid, p_broker jsonb, p_credentials jsonb) OWNER TO postgres;

-- Name: FUNCTION put_broker(p_endpoint_id uuid, p_broker jsonb, p_credentials jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.put_broker(p_endpoint_id uuid, p_broker jsonb, p_credentials jsonb) IS 'Stores the settings of a broker endpoint, and its credentials in Vault. OH001.';

-- Name: put_credentials(uuid, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.put_credentials(p_endpoint_id uuid, p_credentials jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_old uuid := (
    select e.credentials_vault_id from outbox.endpoint e where e.id = p_endpoint_id);
begin
  if p_credentials is null and v_old is null then
    return;
  end if;
  update outbox.endpoint e
  set credentials_vault_id = case
    when p_credentials is not null then vault.create_secret(p_credentials::text,
      'outhook_endpoint_credentials_' || pg_catalog.gen_random_uuid()::text,
      'Credentials of an Outhook endpoint')
  end
  where e.id = p_endpoint_id;
  delete from vault.secrets v where v.id = v_old;
end
$$;

ALTER FUNCTION outbox.put_credentials(p_endpoint_id uuid, p_credentials jsonb) OWNER TO postgres;

-- Name: FUNCTION put_credentials(p_endpoint_id uuid, p_credentials jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.put_credentials(p_endpoint_id uuid, p_credentials jsonb) IS 'Stores the credentials of an endpoint in Vault, instead of those that it had; null leaves none.';

-- Name: put_event(outbox.event); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.put_event(p_event outbox.event) RETURNS uuid
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  -- An assignment: to call it by perform takes an executor, and twice the time.
  v_id uuid := outbox.check_event(p_event);
  v_held uuid;
begin
  if p_event.idempotency_key is not null then
    v_held := outbox.take_key(p_event);
    if v_held is not null then
      return v_held;
    end if;
  end if;
  with event as (
    insert into outbox.event select p_event.* returning id
  )
  insert into outbox.unrouted (event_id) select e.id from event e;
  return v_id;
end
$$;

ALTER FUNCTION outbox.put_event(p_event outbox.event) OWNER TO postgres;

-- Name: FUNCTION put_event(p_event outbox.event); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.put_event(p_event outbox.event) IS 'Checks an event, stores it as unrouted and returns its id, or the id of the event that has its idempotency key.';

-- Name: put_event_type(text, text, text, json, boolean, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.put_event_type(p_org_id text, p_type text, p_description text DEFAULT ''::text, p_schema json DEFAULT NULL::json, p_create boolean DEFAULT false, p_key text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_type outbox.event_type;
  v_answer jsonb := outbox.begin_request(p_org_id, 'POST /event-types', p_key,
    pg_catalog.jsonb_build_array(p_type, p_description, p_schema));
begin
  if v_answer is not null then
    return v_answer;
  end if;
  perform outbox.check_type(p_type);
  perform outbox.change_catalogue(p_org_id);
  select * into v_type from outbox.event_type t where t.org_id = p_org_id and t.type = p_type;
  if found and p_create then
    -- A repeat of the request that made it is no error.
    if v_type.description = coalesce(p_description, '')
      and v_type.schema::jsonb is not distinct from p_schema::jsonb
    then
      v_answer := outbox.event_type_json(v_type);
      perform outbox.end_request(p_org_id, p_key, v_answer);
      return v_answer;
    end if;
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('event type %s exists', p_type),
      hint = 'Change it with PUT, or choose another name';
  end if;
  -- The sum over the catalogue bounds what a publisher's function keeps.
  if not found and (
    select pg_catalog.count(*) from outbox.event_type t where t.org_id = p_org_id) >= 1000
  then
    perform outbox.invalid('type', 'would be the 1001st of the organisation',
      'Delete event types that are no longer used');
  end if;
  insert into outbox.event_type as t (org_id, type, description, schema, created_at, updated_at)
  values (p_org_id, p_type, coalesce(p_description, ''), p_schema, v_now, v_now)
  on conflict (org_id, type) do update set
    description = excluded.description, schema = excluded.schema, updated_at = excluded.updated_at
  returning t.* into v_type;
  v_answer := outbox.event_type_json(v_type);
  perform outbox.end_request(p_org_id, p_key, v_answer);
  return v_answer;
end
$$;

ALTER FUNCTION outbox.put_event_type(p_org_id text, p_type text, p_description text, p_schema json, p_create boolean, p_key text) OWNER TO postgres;

-- Name: FUNCTION put_event_type(p_org_id text, p_type text, p_description text, p_schema json, p_create boolean, p_key text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.put_event_type(p_org_id text, p_type text, p_description text, p_schema json, p_create boolean, p_key text) IS 'Adds an event type to the catalogue or replaces it; with p_create one that is there with other content is refused, and p_key is its Idempotency-Key. Returns {"type", "description", "schema", "createdAt", "updatedAt"}. OH001, OH004.';

-- Name: put_headers(uuid, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.put_headers(p_endpoint_id uuid, p_headers jsonb) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_old uuid := (select e.headers_vault_id from outbox.endpoint e where e.id = p_endpoint_id);
  v_new uuid;
begin
  if p_headers = '{}' and v_old is null then
    return;
  elsif p_headers <> '{}' then
    v_new := vault.create_secret(p_headers::text,
      'outhook_endpoint_headers_' || pg_catalog.gen_random_uuid()::text,
      'Custom headers of an Outhook endpoint');
  end if;
  update outbox.endpoint e set
    headers_vault_id = v_new,
    header_names = array(
      select k from pg_catalog.jsonb_object_keys(p_headers) k order by k collate "C")
  where e.id = p_endpoint_id;
  delete from vault.secrets v where v.id = v_old;
end
$$;

ALTER FUNCTION outbox.put_headers(p_endpoint_id uuid, p_headers jsonb) OWNER TO postgres;

-- Name: FUNCTION put_headers(p_endpoint_id uuid, p_headers jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.put_headers(p_endpoint_id uuid, p_headers jsonb) IS 'Stores the custom headers of an endpoint in Vault, instead of those that it had.';

-- Name: put_message(outbox.outbound_message, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.put_message(p_message outbox.outbound_message, p_now timestamp with time zone) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_message outbox.outbound_message := p_message;
begin
  insert into outbox.outbound_message as m (
    org_id, dossier_id, channel, to_recipient, template_code, payload_json, idempotency_key,
    channel_id, event_id, content, category, created_by, created_at, updated_at)
  values (
    p_message.org_id, p_message.dossier_id, p_message.channel, p_message.to_recipient,
    p_message.template_code, p_message.payload_json, p_message.idempotency_key,
    p_message.channel_id, outbox.uuid_v7(p_now), p_message.content, p_message.category,
    p_message.created_by, p_now, p_now)
  on conflict (org_id, idempotency_key) do nothing
  returning * into v_message;
  if not found then
    return pg_catalog.jsonb_build_object('outcome', 'existing',
      'message', outbox.message_json(outbox.message_of_key(p_message)));
  end if;
  perform outbox.publish_message(v_message, p_now);
  perform outbox.count_message('QUEUED');
  perform outbox.audit(v_message.org_id, 'OUTBOUND_MESSAGE', v_message.id::text, 'CREATED',
    'Message created', v_message.created_by, p_now);
  return pg_catalog.jsonb_build_object('outcome', 'created',
    'message', outbox.message_json(v_message));
end
$$;

ALTER FUNCTION outbox.put_message(p_message outbox.outbound_message, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION put_message(p_message outbox.outbound_message, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.put_message(p_message outbox.outbound_message, p_now timestamp with time zone) IS 'Stores a message that may be sent and publishes its event, as create_message() returns it.';

-- Name: put_news(text, text[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.put_news(p_type text, p_bodies text[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  with news as (
    insert into outbox.event (id, org_id, type, body, created_at)
    select outbox.uuid_v7(p_now), 'outhook', p_type, b, p_now from pg_catalog.unnest(p_bodies) b
    returning id
  )
  insert into outbox.unrouted (event_id) select n.id from news n;
end
$$;

ALTER FUNCTION outbox.put_news(p_type text, p_bodies text[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION put_news(p_type text, p_bodies text[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.put_news(p_type text, p_bodies text[], p_now timestamp with time zone) IS 'Publishes operational events of one type.';

-- Name: put_off(bigint[], text, text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.put_off(p_ids bigint[], p_error text, p_state text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  -- Somebody's lock, a deadlock, or the time: nothing is wrong with the update.
  v_passes boolean := p_state in ('55P03', '40P01', '57014');
begin
  -- In 1, 4, 16, … s up to an hour; the ninth time, after some five hours, it is given up.
  update outbox.whatsapp_update u set
    state = case when u.looks >= 8 and not v_passes then 'skipped' else u.state end,
    reason = case
      when u.looks >= 8 and not v_passes then 'error'
      else pg_catalog.left('error: ' || p_error, 200)
    end,
    looks = least(u.looks + 1, case when v_passes then 3 end),
    look_at = case
      when u.looks < 8 or v_passes
      then p_now + least(interval '1 s' * 4 ^ least(u.looks, 6), interval '1 hour')
    end
  where u.id = any (p_ids) and u.state in ('stored', 'kept');
end
$$;

ALTER FUNCTION outbox.put_off(p_ids bigint[], p_error text, p_state text, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION put_off(p_ids bigint[], p_error text, p_state text, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.put_off(p_ids bigint[], p_error text, p_state text, p_now timestamp with time zone) IS 'Notes that updates could not be applied, with the error and its SQLSTATE, and when they are looked at again.';

-- Name: put_reply_word(text, text, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.put_reply_word(p_org_id text, p_language text, p_word text, p_action text, p_actor text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $_$
declare
  v_word text := outbox.plain_word(p_word);
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_choice('action', p_action, array['STOP', 'START', 'NONE']);
  if p_language is null or p_language !~ '^[a-z]{2,3}$' then
    perform outbox.invalid('language', 'is not the code of a language', 'Expected fr or similar');
  end if;
  if v_word is null then
    perform outbox.invalid('word', 'is empty or longer than 100 characters',
      'Expected what a person would write as a whole message');
  end if;
  insert into outbox.reply_word as w (org_id, language, word, action)
  values (p_org_id, p_language, v_word, p_action)
  on conflict (org_id, language, word) do update set action = excluded.action;
  perform outbox.audit(p_org_id, 'REPLY_WORD', v_word, 'UPDATED',
    pg_catalog.format('%s means %s (%s)', v_word, p_action, p_language), p_actor, outbox.clock());
  return pg_catalog.jsonb_build_object('language', p_language, 'word', v_word, 'action', p_action);
end
$_$;

ALTER FUNCTION outbox.put_reply_word(p_org_id text, p_language text, p_word text, p_action text, p_actor text) OWNER TO postgres;

-- Name: FUNCTION put_reply_word(p_org_id text, p_language text, p_word text, p_action text, p_actor text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.put_reply_word(p_org_id text, p_language text, p_word text, p_action text, p_actor text) IS 'Says what a word means to an organisation, as a whole message: STOP, START, or NONE where all others take it for one of them. Returns {"language", "word", "action"}. OH001.';

-- Name: put_slack_url(uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.put_slack_url(p_endpoint_id uuid, p_url text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  perform outbox.check_url(p_url);
  update outbox.endpoint e set url = outbox.slack_url_shown(p_url) where e.id = p_endpoint_id;
  perform outbox.put_credentials(p_endpoint_id, pg_catalog.jsonb_build_object('url', p_url));
end
$$;

ALTER FUNCTION outbox.put_slack_url(p_endpoint_id uuid, p_url text) OWNER TO postgres;

-- Name: FUNCTION put_slack_url(p_endpoint_id uuid, p_url text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.put_slack_url(p_endpoint_id uuid, p_url text) IS 'Stores the URL of an incoming webhook. OH001.';

-- Name: put_template(text, text, text, text, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.put_template(p_org_id text, p_code text, p_name text, p_language text, p_category text, p_parameter_format text DEFAULT 'POSITIONAL'::text, p_actor text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $_$
declare
  v_now timestamptz := outbox.clock();
begin
  perform outbox.check_org(p_org_id);
  if p_code is null or p_code !~ '^[A-Za-z0-9_.-]{1,128}$' then
    perform outbox.invalid('code', 'is not 1 to 128 letters, digits, _ . -',
      'Expected a code of your own, such as appointment_reminder_fr');
  end if;
  if p_name is null or p_name !~ '^[a-z0-9_]+$' or pg_catalog.length(p_name) > 512 then
    perform outbox.invalid('name', 'is not a template''s name at Meta',
      'Expected small letters, digits and _, such as appointment_reminder');
  end if;
  if p_language is null or p_language !~ '^[a-z]{2,3}(_[A-Z]{2,3}|_[A-Z][a-z]{3})?$' then
    perform outbox.invalid('language', 'is not a language code of Meta',
      'Expected something like fr or en_US');
  end if;
  perform outbox.check_choice('category', p_category,
    array['MARKETING', 'UTILITY', 'AUTHENTICATION']);
  perform outbox.check_choice('parameterFormat', p_parameter_format,
    array['POSITIONAL', 'NAMED']);
  insert into outbox.template as t (
    org_id, code, name, language, category, parameter_format, created_at, updated_at)
  values (p_org_id, p_code, p_name, p_language, p_category, p_parameter_format, v_now, v_now)
  on conflict (org_id, code) do update set
    name = excluded.name, language = excluded.language, category = excluded.category,
    parameter_format = excluded.parameter_format, updated_at = excluded.updated_at;
  perform outbox.audit(p_org_id, 'TEMPLATE', p_code, 'UPDATED', 'Template saved', p_actor, v_now);
  return outbox.template_json(p_org_id, p_code);
end
$_$;

ALTER FUNCTION outbox.put_template(p_org_id text, p_code text, p_name text, p_language text, p_category text, p_parameter_format text, p_actor text) OWNER TO postgres;

-- Name: FUNCTION put_template(p_org_id text, p_code text, p_name text, p_language text, p_category text, p_parameter_format text, p_actor text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.put_template(p_org_id text, p_code text, p_name text, p_language text, p_category text, p_parameter_format text, p_actor text) IS 'Makes or changes a template, as template_json() shows it: p_code is the org''s own, p_name and p_language are Meta''s. OH001.';

-- Name: put_whatsapp_app(text, text, boolean, interval); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.put_whatsapp_app(p_app_id text, p_secret text DEFAULT NULL::text, p_allow_unsigned boolean DEFAULT false, p_overlap interval DEFAULT '24:00:00'::interval) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $_$
declare
  v_now timestamptz := outbox.clock();
  v_app outbox.whatsapp_app;
begin
  if p_app_id is null or p_app_id !~ '^[0-9]{1,32}$' then
    perform outbox.invalid('app_id', 'is not a Meta app''s id', 'Expected digits');
  end if;
  if p_overlap is null or p_overlap not between interval '0' and interval '30 days' then
    perform outbox.invalid('overlap', 'is not between 0 and 30 days',
      'Say how long the secret before this one still counts');
  end if;
  select * into v_app from outbox.whatsapp_app a where a.app_id = p_app_id for update;
  if p_secret is not null then
    delete from vault.secrets v where v.id = v_app.old_secret_vault_id;
    v_app.old_secret_vault_id := v_app.secret_vault_id;
    v_app.old_secret_until := v_now + p_overlap;
    v_app.secret_vault_id := outbox.keep_in_vault('secret', p_secret);
  end if;
  insert into outbox.whatsapp_app as a (app_id, app_key, secret_vault_id, old_secret_vault_id,
    old_secret_until, allow_unsigned, created_at, updated_at)
  values (p_app_id, pg_catalog.replace(pg_catalog.gen_random_uuid()::text, '-', ''),
    v_app.secret_vault_id, v_app.old_secret_vault_id, v_app.old_secret_until,
    coalesce(p_allow_unsigned, false), v_now, v_now)
  on conflict (app_id) do update set
    secret_vault_id = excluded.secret_vault_id,
    old_secret_vault_id = excluded.old_secret_vault_id,
    old_secret_until = excluded.old_secret_until,
    allow_unsigned = excluded.allow_unsigned, updated_at = excluded.updated_at;
  return outbox.get_whatsapp_app(p_app_id);
end
$_$;

ALTER FUNCTION outbox.put_whatsapp_app(p_app_id text, p_secret text, p_allow_unsigned boolean, p_overlap interval) OWNER TO postgres;

-- Name: FUNCTION put_whatsapp_app(p_app_id text, p_secret text, p_allow_unsigned boolean, p_overlap interval); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.put_whatsapp_app(p_app_id text, p_secret text, p_allow_unsigned boolean, p_overlap interval) IS 'Makes a Meta app known, or replaces its secret, of which the one before still counts for p_overlap; without a secret it keeps the one it has. Returns what get_whatsapp_app() does. OH001.';

-- Name: queue_metrics(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.queue_metrics(p_now timestamp with time zone) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_top integer := outbox.setting_int('metrics.top_endpoints');
  v_each boolean := outbox.setting_on('metrics.per_endpoint');
begin
  return (
    with gates as materialized (
      select g.*,
        pg_catalog.row_number() over (order by g.open desc, g.endpoint_id) as by_open,
        pg_catalog.row_number() over (
          order by g.failures desc, g.failing_since, g.endpoint_id) as by_failures
      from outbox.gate_metrics(p_now) g
    )
    select pg_catalog.jsonb_build_object(
      'endpoints', (
        select coalesce(pg_catalog.jsonb_agg(s), '[]')
        from (
          select g.kind, g.state, pg_catalog.count(*) as n,
            pg_catalog.sum(g.open - case when g.state = 'enabled' then g.halted else 0 end)
              as open,
            pg_catalog.sum(g.in_flight) as in_flight
          from gates g group by g.kind, g.state
          union all
          -- Keys, not endpoints; what holds the endpoint as a whole comes before.
          select g.kind, 'halted', 0, pg_catalog.sum(g.halted), 0
          from gates g where g.state = 'enabled' and g.halted > 0 group by g.kind
        ) s),
      'due_since', (select extract(epoch from pg_catalog.min(g.due_at)) from gates g),
      'open_since', (
        select extract(epoch from pg_catalog.min(g.failing_since)) from gates g
        where g.state in ('breaker_open', 'breaker_half_open')),
      'named', (
        select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
          'endpoint', g.endpoint_id, 'org', g.org_id, 'kind', g.kind, 'state', g.state,
          'open', g.open, 'failures', g.failures,
          'failing_since', extract(epoch from g.failing_since),
          'due_since', extract(epoch from g.due_at))), '[]')
        from gates g
        where v_each or (g.by_open <= v_top and g.open > 0)
          or (g.by_failures <= v_top and g.failures > 0))));
end
$$;

ALTER FUNCTION outbox.queue_metrics(p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION queue_metrics(p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.queue_metrics(p_now timestamp with time zone) IS 'The endpoints and their queues: {"endpoints": [{"kind", "state", "n", "open", "in_flight"}], of which the state halted has what waits behind keys that stand still at enabled endpoints, "due_since", "open_since", "named": [{"endpoint", "org", "kind", "state", "open", "failures", "failing_since", "due_since"}]}, times in seconds since 1970 or null.';

-- Name: read_catalogue(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.read_catalogue(p_org_id text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_strict boolean;
  v_version bigint;
begin
  select c.strict, c.version
  into v_strict, v_version
  from outbox.event_catalogue c
  where c.org_id = p_org_id;
  return pg_catalog.jsonb_build_object(
    'strict', coalesce(v_strict, false),
    'version', coalesce(v_version, 0)::text,
    'types', coalesce(
      (
        select pg_catalog.jsonb_object_agg(t.type, t.schema)
        from outbox.event_type t where t.org_id = p_org_id
      ), '{}'));
end
$$;

ALTER FUNCTION outbox.read_catalogue(p_org_id text) OWNER TO postgres;

-- Name: FUNCTION read_catalogue(p_org_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.read_catalogue(p_org_id text) IS 'What publishing must keep to: {"strict", "version", "types": {type: schema or null}}.';

-- Name: read_cursor(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.read_cursor(p_cursor text, OUT p_at timestamp with time zone, OUT p_id text) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $_$
declare
  v_base64 text := pg_catalog.translate(p_cursor, '-_', '+/');
  v_parts text[];
begin
  if p_cursor is null then
    p_at := 'infinity';
    p_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    return;
  end if;
  if p_cursor ~ '^[A-Za-z0-9_-]{1,200}$' and pg_catalog.length(p_cursor) % 4 <> 1 then
    v_parts := pg_catalog.regexp_match(
      pg_catalog.encode(
        pg_catalog.decode(
          v_base64 || pg_catalog.repeat('=', (4 - pg_catalog.length(v_base64) % 4) % 4), 'base64'),
        'escape'),
      '^(-?[0-9]{1,17}) ([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$');
  end if;
  if v_parts is null then
    perform outbox.invalid('cursor', 'is not one that a list gave',
      'Expected nextCursor of the page before; leave it out for the first page');
  end if;
  p_at := timestamptz 'epoch' + v_parts[1]::bigint * interval '1 microsecond';
  p_id := v_parts[2];
end
$_$;

ALTER FUNCTION outbox.read_cursor(p_cursor text, OUT p_at timestamp with time zone, OUT p_id text) OWNER TO postgres;

-- Name: FUNCTION read_cursor(p_cursor text, OUT p_at timestamp with time zone, OUT p_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.read_cursor(p_cursor text, OUT p_at timestamp with time zone, OUT p_id text) IS 'The (time, uuid) that a cursor stands for; without one the place before the newest row of a list that begins with the newest. OH001.';

-- Name: read_secret(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.read_secret(p_endpoint_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
begin
  perform outbox.check_signs(p_endpoint_id);
  return (
    select pg_catalog.jsonb_build_object('id', p_endpoint_id,
      'secret',
      pg_catalog.max(v.decrypted_secret) filter (where s.scheme = 'v1' and s.expires_at is null),
      'public_key', pg_catalog.max(s.public_key) filter (where s.expires_at is null),
      'secrets', pg_catalog.jsonb_agg(
        pg_catalog.jsonb_build_object(
          'secret_id', s.id, 'scheme', s.scheme, 'public_key', s.public_key,
          'created_at', s.created_at, 'expires_at', s.expires_at)
        order by s.expires_at is null desc, s.created_at desc))
    from outbox.endpoint_secret s
    join vault.decrypted_secrets v on v.id = s.vault_id
    where s.endpoint_id = p_endpoint_id and (s.expires_at is null or s.expires_at > v_now));
end
$$;

ALTER FUNCTION outbox.read_secret(p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION read_secret(p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.read_secret(p_endpoint_id uuid) IS 'What a receiver needs, and what signs: {"id", "secret": "whsec_…", "public_key": "whpk_…" or null, "secrets": [{"secret_id", "scheme", "public_key", "created_at", "expires_at"}] newest first}. No private key is shown. OH002.';

-- Name: read_unrouted(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.read_unrouted() RETURNS outbox.routing
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_router outbox.router;
  v_snapshot pg_snapshot;
  v_late uuid[];
  v_batch outbox.routing;
  v_most constant integer := 2000;
  v_start constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
begin
  -- The lock lasts as long as the transaction, which may come to wait for a gate: not without need.
  if not outbox.has_unrouted() then
    return null;
  end if;
  v_router := outbox.lock_router();
  if v_router.turn is null then
    return null;
  end if;
  -- A cluster restored from a dump counts transactions anew: begin at the beginning.
  if v_router.seen_below > pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) then
    v_router.seen_below := '0';
    v_router.watermark := '00000000-0000-0000-0000-000000000000';
  end if;
  select pg_catalog.pg_current_snapshot(),
    array(select u from outbox.unrouted_late(v_router, v_router.batch) u order by u),
    n.events, n.rows_at, n.behind
  into v_snapshot, v_late, v_batch.events, v_batch.rows_at, v_batch.behind
  from (
    select coalesce(pg_catalog.array_agg(u.event_id), '{}') as events,
      coalesce(pg_catalog.array_agg(u.ctid), '{}') as rows_at,
      coalesce(pg_catalog.array_agg(coalesce(u.routed_to, v_start)), '{}') as behind
    from (
      select u.event_id, u.ctid, u.routed_to from outbox.unrouted u
      where u.event_id > v_router.watermark order by u.event_id limit v_router.batch
    ) u
  ) n;
  if pg_catalog.cardinality(v_late) >= v_router.batch then
    v_batch := null;
  else
    v_batch.watermark := coalesce(v_batch.events[pg_catalog.cardinality(v_batch.events)],
      v_router.watermark);
    v_batch.seen_below := pg_catalog.pg_snapshot_xmax(v_snapshot);
    -- The own transaction counts as open: what it may publish after this read was not seen either.
    v_batch.open_xids := array(
      select x from pg_catalog.pg_snapshot_xip(v_snapshot) x
      union
      select pg_catalog.pg_current_xact_id_if_assigned());
  end if;
  if pg_catalog.cardinality(v_late) > 0 then
    v_batch := outbox.with_late(v_batch, v_late);
  end if;
  if pg_catalog.cardinality(v_batch.events) = 0 then
    return null;
  end if;
  v_batch := outbox.add_pairs(v_batch, v_most + 1);
  if pg_catalog.cardinality(v_batch.pairs) > v_most then
    v_batch := outbox.cut_batch(v_batch, v_late, v_most);
  end if;
  if exists (select from pg_catalog.unnest(v_batch.pairs) p where p.problem = '') then
    v_batch.pairs := array(
      select p from pg_catalog.unnest(v_batch.pairs) p where p.problem is distinct from '');
  end if;
  return v_batch;
end
$$;

ALTER FUNCTION outbox.read_unrouted() OWNER TO postgres;

-- Name: FUNCTION read_unrouted(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.read_unrouted() IS 'The next batch to route, at most 2,000 pairs of it, and what router is to remember after it; null when there is nothing or another call is routing. locks: router, until the transaction ends.';

-- Name: receive_callbacks(text, text, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.receive_callbacks(p_app_id text, p_org_id text DEFAULT NULL::text, p_updates jsonb DEFAULT '[]'::jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    SET statement_timeout TO '8s'
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_ids bigint[];
begin
  perform outbox.get_whatsapp_app(p_app_id);
  if pg_catalog.jsonb_typeof(p_updates) is distinct from 'array' then
    perform outbox.invalid('updates', 'is not an array', 'Expected one object for each update');
  end if;
  v_ids := outbox.store_callbacks(p_app_id, p_org_id, p_updates, v_now);
  perform outbox.try_apply(v_ids, v_now);
  perform outbox.count_updates(v_ids);
  return outbox.callback_answer(v_ids, pg_catalog.jsonb_array_length(p_updates));
end
$$;

ALTER FUNCTION outbox.receive_callbacks(p_app_id text, p_org_id text, p_updates jsonb) OWNER TO postgres;

-- Name: FUNCTION receive_callbacks(p_app_id text, p_org_id text, p_updates jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.receive_callbacks(p_app_id text, p_org_id text, p_updates jsonb) IS 'Stores the updates of one callback of a verified app, each once, and applies them. p_org_id: the organisation that the caller named, which only narrows. p_updates: [{"key", "kind", "field", "waba_id", "phone_number_id", "display", "wamid", "status", "callback_data", "at": Unix seconds, "wa_id", "user_id", "problem": why it was not understood, "data"}]. Returns {"stored", "duplicates", "applied", "skipped", "kept", "warnings"}. OH001, OH002. locks: gates by id, then messages by id.';

-- Name: gate; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.gate (
    id bigint NOT NULL,
    endpoint_id uuid NOT NULL,
    changed_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    next_at timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    lanes_from timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    in_flight integer DEFAULT 0 NOT NULL,
    depth bigint DEFAULT 0 NOT NULL,
    not_before timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    last_timed_out boolean DEFAULT false NOT NULL,
    tokens double precision DEFAULT 0 NOT NULL,
    tokens_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    breaker text DEFAULT 'closed'::text NOT NULL,
    streak integer DEFAULT 0 NOT NULL,
    first_failure_at timestamp with time zone,
    open_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    probe_event uuid,
    probe_attempt integer,
    ramp_from timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    CONSTRAINT gate_breaker_is_known CHECK ((breaker = ANY (ARRAY['closed'::text, 'open'::text, 'half_open'::text]))),
    CONSTRAINT gate_depth_is_not_negative CHECK ((depth >= 0)),
    CONSTRAINT gate_has_a_probe_when_half_open CHECK (((breaker = 'half_open'::text) = ((probe_event IS NOT NULL) AND (probe_attempt IS NOT NULL)))),
    CONSTRAINT gate_in_flight_is_not_negative CHECK ((in_flight >= 0))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0');

ALTER TABLE outbox.gate OWNER TO postgres;

-- Name: TABLE gate; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.gate IS 'One row per endpoint: its place in the ring (next_at), from when on its lanes are due (lanes_from: none is earlier), how many requests are under way, how many deliveries are open, until when it must be left alone (not_before: the receiver asked for quiet, or its rate is used up), and its breaker: streak counts consecutive failures, and half_open waits for the one probe.';

-- Name: lane; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.lane (
    id bigint NOT NULL,
    gate_id bigint NOT NULL,
    ordered boolean NOT NULL,
    key_hash bigint DEFAULT 0 NOT NULL,
    changed_at timestamp with time zone DEFAULT '1970-01-01 00:00:00+00'::timestamp with time zone NOT NULL,
    next_at timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    not_before timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    head_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    tail_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    leased integer DEFAULT 0 NOT NULL,
    leased_until timestamp with time zone,
    halted boolean DEFAULT false NOT NULL,
    depth bigint DEFAULT 0 NOT NULL,
    CONSTRAINT lane_depth_is_not_negative CHECK ((depth >= 0)),
    CONSTRAINT lane_leased_is_not_negative CHECK ((leased >= 0))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='500', autovacuum_vacuum_cost_delay='0');

ALTER TABLE outbox.lane OWNER TO postgres;

-- Name: TABLE lane; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.lane IS 'An order queue under a gate. No delivery of the lane is due before head_at, so that a claim starts behind the dead entries of its index. leased: how many of its deliveries runs hold; leased_until: when the first of these leases ends, or earlier: lose_leases() looks then, and notes the next. Of an ordered lane, tail_at is the last due_at that routing gave out, not_before holds the whole lane back for a retry, and halted stops it behind a dead letter until resume_lane(). An unordered lane with a key_hash belongs to the replay job of that number.';

-- Name: delivery_status; Type: VIEW; Schema: outbox; Owner: postgres

CREATE VIEW outbox.delivery_status WITH (security_invoker='true') AS
 SELECT d.event_id,
    d.endpoint_id,
    e.org_id,
    COALESCE(v.type, x.original_topic) AS event_type,
        CASE
            WHEN (e.state = 'deleted'::text) THEN 'cancelled'::text
            WHEN (d.leased_until IS NOT NULL) THEN 'processing'::text
            WHEN ((e.state <> 'enabled'::text) OR ((g.breaker <> 'closed'::text) AND e.breaker_enabled) OR l.halted) THEN 'held'::text
            WHEN (d.tries > 0) THEN 'failed'::text
            ELSE 'pending'::text
        END AS status,
        CASE
            WHEN (e.state = 'deleted'::text) THEN NULL::text
            WHEN (e.state <> 'enabled'::text) THEN (('endpoint '::text || e.state) || COALESCE((': '::text || e.state_reason), ''::text))
            WHEN ((g.breaker <> 'closed'::text) AND e.breaker_enabled) THEN ('breaker '::text || g.breaker)
            WHEN l.halted THEN 'halted behind a dead letter'::text
            ELSE NULL::text
        END AS held_because,
    d.attempt,
    d.tries,
        CASE
            WHEN l.ordered THEN GREATEST(l.not_before, d.due_at)
            ELSE d.due_at
        END AS next_attempt_at,
    COALESCE(v.created_at, x.event_created_at) AS created_at,
    NULL::timestamp with time zone AS finished_at,
    true AS open
   FROM (((((outbox.delivery d
     LEFT JOIN outbox.event v ON ((v.id = d.event_id)))
     LEFT JOIN outbox.dead_letter x ON (((v.id IS NULL) AND (x.event_id = d.event_id) AND (x.endpoint_id = d.endpoint_id))))
     JOIN outbox.endpoint e ON ((e.id = d.endpoint_id)))
     JOIN outbox.gate g ON ((g.endpoint_id = d.endpoint_id)))
     JOIN outbox.lane l ON (((l.id = d.lane_id) AND (l.gate_id = g.id))))
  WHERE (d.lane_id > 0)
UNION ALL
 SELECT a.event_id,
    a.endpoint_id,
    v.org_id,
    v.type AS event_type,
    a.outcome AS status,
    a.error AS held_because,
    a.attempt,
    NULL::integer AS tries,
    NULL::timestamp with time zone AS next_attempt_at,
    v.created_at,
    a.at AS finished_at,
    false AS open
   FROM (outbox.attempt a
     JOIN outbox.event v ON ((v.id = a.event_id)))
  WHERE (((a.kind = 'close'::text) OR (a.outcome = 'delivered'::text)) AND (a.outcome <> 'failed'::text) AND (NOT (EXISTS ( SELECT
           FROM outbox.delivery d
          WHERE ((d.event_id = a.event_id) AND (d.endpoint_id = a.endpoint_id))))) AND (NOT (EXISTS ( SELECT
           FROM outbox.attempt b
          WHERE ((b.event_id = a.event_id) AND (NOT (b.endpoint_id IS DISTINCT FROM a.endpoint_id)) AND ((b.kind = 'close'::text) OR (b.outcome = 'delivered'::text)) AND (ROW(b.attempt, b.at) > ROW(a.attempt, a.at)))))));

ALTER TABLE outbox.delivery_status OWNER TO postgres;

-- Name: VIEW delivery_status; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON VIEW outbox.delivery_status IS 'Every delivery, open or finished: pending, processing, failed (waits for its retry), held (and why), or, where open is false, how it ended: delivered, dead_letter, cancelled, expired, filter_error, no_subscriber. The newest of all: recent_deliveries(). A span: event_id >= uuid_v7_floor(time). Asked otherwise about what has ended, it may read all history.';

-- Name: recent_deliveries(text, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.recent_deliveries(p_org_id text DEFAULT NULL::text, p_limit integer DEFAULT 100) RETURNS SETOF outbox.delivery_status
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    AS $$
declare
  v_ids uuid[];
  v_id uuid;
  v_found bigint;
  v_left bigint := p_limit;
begin
  perform outbox.check_range('limit', p_limit, 1, 1000);
  if p_org_id is null then
    v_ids := array(select e.id from outbox.event e order by e.id desc limit p_limit);
  else
    v_ids := array(
      select e.id from outbox.event e
      where e.org_id > ''
        and (e.org_id, e.id) >= (p_org_id, '00000000-0000-0000-0000-000000000000'::uuid)
        and (e.org_id, e.id) <= (p_org_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
      order by e.org_id desc, e.id desc
      limit p_limit);
  end if;
  foreach v_id in array v_ids loop
    return query
    select s.* from outbox.delivery_status s
    where s.event_id = v_id
    order by s.endpoint_id
    limit v_left;
    get diagnostics v_found = row_count;
    v_left := v_left - v_found;
    exit when v_left <= 0;
  end loop;
end
$$;

ALTER FUNCTION outbox.recent_deliveries(p_org_id text, p_limit integer) OWNER TO postgres;

-- Name: FUNCTION recent_deliveries(p_org_id text, p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.recent_deliveries(p_org_id text, p_limit integer) IS 'The deliveries of the newest events, of one organisation or (null) of all, as delivery_status shows them: by event_id from the highest, then endpoint_id. p_limit (1 to 1000) bounds the rows and the events that are looked at, so the last event may be cut, and rows are fewer where events wait for routing. Its cost does not grow with history. OH001.';

-- Name: recipients_of(text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.recipients_of(p_org_id text, p_wa_id text, p_user_id text) RETURNS text[]
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_wa_id text := coalesce(p_wa_id, (
    select c.wa_id from outbox.whatsapp_contact c
    where c.org_id = p_org_id and c.user_id = p_user_id));
begin
  return array(
    select distinct r.recipient
    from (
      select outbox.number_of(v_wa_id) as recipient
      union all
      select p_user_id
      union all
      select m.to_recipient
      from (
        select x.to_recipient from outbox.outbound_message x
        where x.org_id = p_org_id and x.wa_id = v_wa_id and x.erased_at is null
        order by x.id desc limit 100
      ) m
    ) r
    where r.recipient is not null
    order by r.recipient);
end
$$;

ALTER FUNCTION outbox.recipients_of(p_org_id text, p_wa_id text, p_user_id text) OWNER TO postgres;

-- Name: FUNCTION recipients_of(p_org_id text, p_wa_id text, p_user_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.recipients_of(p_org_id text, p_wa_id text, p_user_id text) IS 'By what a person of an org may be addressed: their number, WhatsApp''s id of them, and the numbers by which they were written to.';

-- Name: refusal_of(outbox.outbound_message, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.refusal_of(p_message outbox.outbound_message, p_now timestamp with time zone) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_purpose text := case when p_message.category = 'MARKETING' then 'MARKETING' else 'UTILITY' end;
  v_numbers text[] := outbox.spellings(p_message.to_recipient);
  -- WhatsApp's clock is not ours: what is about to close counts as closed.
  v_margin constant interval := interval '5 minutes';
begin
  return case
    when exists (
      select from outbox.opt_out o
      where o.org_id = p_message.org_id and o.channel = p_message.channel
        and o.recipient = any (v_numbers || ('+' || p_message.wa_id))
        and o.purpose in ('ALL', v_purpose) and not o.lifted)
    then 'opted_out'
    when p_message.dossier_id is not null and (
      select c.granted from outbox.consent c
      where c.org_id = p_message.org_id and c.dossier_id = p_message.dossier_id
        and c.channel = p_message.channel and c.purpose = v_purpose
      order by c.id desc limit 1) is not true
    then 'consent_required'
    when p_message.template_code is null and not exists (
      select from outbox.conversation_window w
      where w.channel_id = p_message.channel_id and w.recipient = any (v_numbers)
        and w.expires_at > p_now + v_margin)
    then 'outside_window'
    when p_message.template_code is not null and not exists (
      select from outbox.template t
      where t.org_id = p_message.org_id and t.code = p_message.template_code)
    then 'template_missing'
  end;
end
$$;

ALTER FUNCTION outbox.refusal_of(p_message outbox.outbound_message, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION refusal_of(p_message outbox.outbound_message, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.refusal_of(p_message outbox.outbound_message, p_now timestamp with time zone) IS 'Why a message must not be sent now: opted_out, consent_required, outside_window (no template, and the person has not written for 24 hours), template_missing; null when it may be.';

-- Name: refusal_words(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.refusal_words(p_code text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return case p_code
    when 'opted_out' then 'Recipient opted out'
    when 'consent_required' then 'Consent required'
    when 'consent_revoked' then 'Consent required'
    when 'outside_window' then
      'More than 24 hours since the recipient last wrote: only a template may be sent'
    when 'template_missing' then 'The template does not exist any more'
  end;
end
$$;

ALTER FUNCTION outbox.refusal_words(p_code text) OWNER TO postgres;

-- Name: FUNCTION refusal_words(p_code text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.refusal_words(p_code text) IS 'A refusal as the audit trail words it.';

-- Name: refuse_channel(outbox.endpoint); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.refuse_channel(p_endpoint outbox.endpoint) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  if p_endpoint.kind = 'whatsapp' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is a channel', p_endpoint.id),
      hint = 'Change or delete it under /channels/{channelId}';
  end if;
end
$$;

ALTER FUNCTION outbox.refuse_channel(p_endpoint outbox.endpoint) OWNER TO postgres;

-- Name: FUNCTION refuse_channel(p_endpoint outbox.endpoint); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.refuse_channel(p_endpoint outbox.endpoint) IS 'Raises OH004 for a channel, whose pace and number the members of an endpoint would upset.';

-- Name: refuse_members(jsonb, text, text[], text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.refuse_members(p_endpoint jsonb, p_kind text, p_members text[], p_remedy text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_stray text;
begin
  select k into v_stray from pg_catalog.jsonb_object_keys(p_endpoint) k
  where k = any (p_members) order by k limit 1;
  if found then
    perform outbox.invalid(v_stray, 'does not go with kind ' || p_kind, p_remedy);
  end if;
end
$$;

ALTER FUNCTION outbox.refuse_members(p_endpoint jsonb, p_kind text, p_members text[], p_remedy text) OWNER TO postgres;

-- Name: FUNCTION refuse_members(p_endpoint jsonb, p_kind text, p_members text[], p_remedy text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.refuse_members(p_endpoint jsonb, p_kind text, p_members text[], p_remedy text) IS 'Raises OH001 for the first member of a new endpoint that does not go with its kind.';

-- Name: release_command(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.release_command(p_endpoint_id uuid) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_endpoint outbox.endpoint;
  v_graph_url constant text := 'https://graph.facebook.com';
  v_token boolean;
  v_blocked boolean;
begin
  select * into v_endpoint from outbox.endpoint e where e.id = p_endpoint_id;
  if v_endpoint.state is null or v_endpoint.state not in ('paused', 'disabled') then
    return null;
  end if;
  -- Of all its holds, for state_reason tells the first alone. A hold says why as its rule does.
  select pg_catalog.bool_or(f.new_token), pg_catalog.bool_or(f.code = 'blocked')
  into v_token, v_blocked
  from outbox.channel_hold h
  join outbox.failure_rule f on f.kind = 'whatsapp'
    and h.why = pg_catalog.split_part(f.code, '.', 1) || ' ' || f.title
  where h.channel_id = p_endpoint_id and h.held;
  return 'select ' || pg_catalog.concat_ws(', ',
    case
      when v_token then pg_catalog.format('outbox.set_channel_token(%L, %L, %L)',
        v_endpoint.org_id, p_endpoint_id, '<the new token>')
    end,
    case
      when v_blocked and outbox.setting_value('whatsapp.graph_url') #>> '{}' <> v_graph_url
      then pg_catalog.format('outbox.set_setting(%L, %L)', 'whatsapp.graph_url',
        pg_catalog.to_jsonb(v_graph_url))
    end,
    pg_catalog.format('outbox.resume_endpoint(%L)', p_endpoint_id));
end
$$;

ALTER FUNCTION outbox.release_command(p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION release_command(p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.release_command(p_endpoint_id uuid) IS 'The statement that releases a paused or disabled endpoint; null when it is neither. Of a channel whose access token failed it begins with set_channel_token(), whose <the new token> is to be replaced: as it stands it is refused, and nothing is released.';

-- Name: renew_leases(outbox.result[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.renew_leases(p_renewals outbox.result[], p_now timestamp with time zone) RETURNS json
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_renewed json;
begin
  with asked as materialized (
    select r.event, r.endpoint, r.attempt, o.lane_id, l.lane_at, l.head_at, l.leased, e.lease,
      greatest(l.leased_until, p_now + e.lease) as ends
    from (
      select distinct u.event, u.endpoint, u.attempt from pg_catalog.unnest(p_renewals) u
    ) r
    cross join lateral (
      select o.lane_id from outbox.delivery o
      where o.event_id = r.event and o.endpoint_id = r.endpoint and o.attempt = r.attempt
        and o.leased_until is not null offset 0
    ) o
    cross join lateral (
      select l.ctid as lane_at, l.* from outbox.lane l
      where l.id = o.lane_id order by l.changed_at desc limit 1
    ) l
    cross join lateral (
      select e.timeout_ms * interval '1 ms' + interval '5 s' as lease, e.state
      from outbox.endpoint e where e.id = r.endpoint offset 0
    ) e
    -- Not once it has ended, at the latest while this call waited for its gates: a person may have
    -- had a row of the lane since, unnoticed by its run. And a lane may be hundreds of sends long,
    -- so an endpoint that is held or deleted gets no more than the lease that is there.
    where l.ordered and e.state = 'enabled'
      and l.leased_until > greatest(p_now, outbox.clock())
  ), of_lane as materialized (
    select distinct a.lane_id, a.lane_at, a.head_at, a.leased, a.ends from asked a
  ), lanes as (
    update outbox.lane l set
      leased_until = a.ends, next_at = a.ends, changed_at = pg_catalog.date_trunc('second', p_now)
    from of_lane a
    where l.ctid = a.lane_at
  ), held as (
    -- All that is leased of the lane, which is one run's: its leases end together, or the lane
    -- would be due while some of it is held. By ctid: whoever could move the row waits for the
    -- gate.
    update outbox.delivery d set leased_until = a.ends
    from of_lane a
    cross join lateral (
      select o.ctid as row_at from outbox.delivery o
      where o.lane_id = a.lane_id and o.lane_id > 0 and o.due_at >= a.head_at
        and o.leased_until is not null
      order by o.due_at, o.event_id
      limit a.leased
    ) o
    where d.ctid = o.row_at
  )
  select pg_catalog.json_agg(
    pg_catalog.json_build_object(
      'event', a.event, 'endpoint', a.endpoint, 'attempt', a.attempt,
      'lease_ms', (extract(epoch from a.lease) * 1000)::integer)
    order by a.event, a.endpoint)
  into v_renewed
  from asked a;
  return v_renewed;
end
$$;

ALTER FUNCTION outbox.renew_leases(p_renewals outbox.result[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION renew_leases(p_renewals outbox.result[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.renew_leases(p_renewals outbox.result[], p_now timestamp with time zone) IS 'Gives ordered lanes of enabled endpoints a whole lease from now, the timeout and 5 s. A lane is named by one of its deliveries (event, endpoint, attempt), whose lease under that attempt must not have ended; all that is leased of the lane is renewed. Returns [{"event", "endpoint", "attempt", "lease_ms"}] of those that named one, or null when none did. locks: the caller holds the gates.';

-- Name: replay(uuid, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.replay(p_event_id uuid, p_endpoint_id uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_delivery outbox.delivery;
begin
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[p_endpoint_id]);
  -- It may have been deleted while this waited.
  perform outbox.check_endpoint(p_endpoint_id);
  if exists (
    select from outbox.delivery d where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id
  ) then
    -- A pending retry is replaced: the same delivery, with a fresh budget, now.
    v_delivery := outbox.open_delivery(p_event_id, p_endpoint_id);
    perform outbox.settle_lost(v_delivery, v_now);
    update outbox.delivery d set tries = 0, replayed_at = v_now
    where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id;
    if found then
      perform outbox.schedule_retry(p_event_id, p_endpoint_id, interval '0');
      return pg_catalog.jsonb_build_object(
        'event_id', p_event_id, 'endpoint_id', p_endpoint_id, 'replaced', true);
    end if;
  end if;
  if outbox.last_attempt(p_event_id, p_endpoint_id) is null
    or not outbox.put_back(p_event_id, p_endpoint_id, 0, v_now)
  then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('nothing is known of event %s for endpoint %s',
        pg_catalog.quote_nullable(p_event_id::text), p_endpoint_id),
      hint = 'A delivered event can be replayed for event.delivered_days, a dead letter as long as '
        'it is there';
  end if;
  perform outbox.keep_days(array[p_event_id]);
  perform outbox.park(array[p_endpoint_id], v_now);
  perform outbox.kick_on_commit();
  return pg_catalog.jsonb_build_object(
    'event_id', p_event_id, 'endpoint_id', p_endpoint_id, 'replaced', false);
end
$$;

ALTER FUNCTION outbox.replay(p_event_id uuid, p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION replay(p_event_id uuid, p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.replay(p_event_id uuid, p_endpoint_id uuid) IS 'Sends a finished delivery again, or an open one anew with a fresh budget: {"event_id", "endpoint_id", "replaced": whether it replaced a pending retry}. OH002: nothing is known of it; OH004: it is being sent.';

-- Name: replay_dead_letter(text, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.replay_dead_letter(p_org_id text, p_id uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_letter outbox.dead_letter := outbox.org_dead_letter(p_org_id, p_id);
begin
  perform outbox.replay(v_letter.event_id, v_letter.endpoint_id);
  return outbox.dead_letter_json(outbox.org_dead_letter(p_org_id, p_id));
end
$$;

ALTER FUNCTION outbox.replay_dead_letter(p_org_id text, p_id uuid) OWNER TO postgres;

-- Name: FUNCTION replay_dead_letter(p_org_id text, p_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.replay_dead_letter(p_org_id text, p_id uuid) IS 'Sends a dead letter again, as replay() does, and returns it as it is then. OH002, OH004.';

-- Name: replay_job; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.replay_job (
    id bigint NOT NULL,
    org_id text,
    endpoint_id uuid,
    event_type text,
    failed_from timestamp with time zone,
    failed_to timestamp with time zone NOT NULL,
    rate_per_second integer NOT NULL,
    state text DEFAULT 'running'::text NOT NULL,
    at_failed timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    at_id uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid NOT NULL,
    replayed bigint DEFAULT 0 NOT NULL,
    skipped bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT replay_job_rate_is_sensible CHECK (((rate_per_second >= 1) AND (rate_per_second <= 1000))),
    CONSTRAINT replay_job_state_is_known CHECK ((state = ANY (ARRAY['running'::text, 'paused'::text, 'done'::text, 'cancelled'::text])))
);

ALTER TABLE outbox.replay_job OWNER TO postgres;

-- Name: TABLE replay_job; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.replay_job IS 'Replays of many dead letters: the filter, how far it has come (at_failed, at_id), and how many it put back or skipped.';

-- Name: replay_job_json(outbox.replay_job); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.replay_job_json(p_job outbox.replay_job) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.jsonb_build_object(
    'id', p_job.id::text, 'state', p_job.state, 'endpointId', p_job.endpoint_id,
    'eventType', p_job.event_type, 'failedFrom', outbox.iso_time(p_job.failed_from),
    'failedTo', outbox.iso_time(p_job.failed_to), 'ratePerSecond', p_job.rate_per_second,
    'replayed', p_job.replayed, 'skipped', p_job.skipped,
    'reachedAt', outbox.iso_time(p_job.at_failed),
    'createdAt', outbox.iso_time(p_job.created_at),
    'finishedAt', outbox.iso_time(p_job.finished_at));
end
$$;

ALTER FUNCTION outbox.replay_job_json(p_job outbox.replay_job) OWNER TO postgres;

-- Name: FUNCTION replay_job_json(p_job outbox.replay_job); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.replay_job_json(p_job outbox.replay_job) IS 'A replay job as the API shows it; reachedAt is when the last letter failed that it came to.';

-- Name: replay_lane(bigint, bigint); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.replay_lane(p_gate_id bigint, p_job bigint) RETURNS outbox.lane
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_lane outbox.lane;
begin
  select *
  into v_lane
  from outbox.lane l
  where l.gate_id = p_gate_id and not l.ordered and l.key_hash = p_job
  order by l.changed_at desc limit 1;
  if not found then
    insert into outbox.lane (gate_id, ordered, key_hash) values (p_gate_id, false, p_job)
    returning * into v_lane;
  end if;
  return v_lane;
end
$$;

ALTER FUNCTION outbox.replay_lane(p_gate_id bigint, p_job bigint) OWNER TO postgres;

-- Name: FUNCTION replay_lane(p_gate_id bigint, p_job bigint); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.replay_lane(p_gate_id bigint, p_job bigint) IS 'The unordered lane of a gate that belongs to a replay job; 0 is the lane of single replays and of what is live. locks: the caller holds the gate.';

-- Name: replay_many(text, uuid, text, timestamp with time zone, timestamp with time zone, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.replay_many(p_org_id text DEFAULT NULL::text, p_endpoint_id uuid DEFAULT NULL::uuid, p_event_type text DEFAULT NULL::text, p_failed_from timestamp with time zone DEFAULT NULL::timestamp with time zone, p_failed_to timestamp with time zone DEFAULT NULL::timestamp with time zone, p_rate_per_second integer DEFAULT 50) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  -- What dies while the job is at work is not its concern, or it would replay it for ever.
  v_to timestamptz := least(p_failed_to, v_now);
  v_id bigint;
begin
  if p_failed_from > v_to then
    perform outbox.invalid('failed_from', 'lies after failed_to', 'Expected a span in the past');
  end if;
  if coalesce(p_rate_per_second, 0) not between 1 and 1000 then
    perform outbox.invalid('rate_per_second',
      pg_catalog.format('is %s', coalesce(p_rate_per_second::text, 'null')),
      'Expected 1 to 1000 deliveries a second');
  end if;
  insert into outbox.replay_job (org_id, endpoint_id, event_type, failed_from, failed_to,
    rate_per_second, created_at)
  values (p_org_id, p_endpoint_id, p_event_type, p_failed_from, v_to, p_rate_per_second, v_now)
  returning id into v_id;
  return pg_catalog.jsonb_build_object('id', v_id::text);
end
$$;

ALTER FUNCTION outbox.replay_many(p_org_id text, p_endpoint_id uuid, p_event_type text, p_failed_from timestamp with time zone, p_failed_to timestamp with time zone, p_rate_per_second integer) OWNER TO postgres;

-- Name: FUNCTION replay_many(p_org_id text, p_endpoint_id uuid, p_event_type text, p_failed_from timestamp with time zone, p_failed_to timestamp with time zone, p_rate_per_second integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.replay_many(p_org_id text, p_endpoint_id uuid, p_event_type text, p_failed_from timestamp with time zone, p_failed_to timestamp with time zone, p_rate_per_second integer) IS 'Starts a job that replays every dead letter that matches (null: any), failed before it began and was not discarded or replayed: {"id"}. outbox.replay_job shows its progress. OH001.';

-- Name: reply_action(text, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.reply_action(p_org_id text, p_data jsonb) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_word text;
  v_action text;
begin
  -- What was chosen counts before what was shown: a button may say anything.
  for v_word in
    select w.word
    from pg_catalog.unnest(array[p_data #>> '{text,body}', p_data #>> '{button,payload}',
      p_data #>> '{button,text}', p_data #>> '{interactive,button_reply,id}',
      p_data #>> '{interactive,button_reply,title}', p_data #>> '{interactive,list_reply,id}',
      p_data #>> '{interactive,list_reply,title}']) with ordinality as t (said, place)
    cross join lateral outbox.plain_word(t.said) as w (word)
    where w.word is not null
    order by t.place
  loop
    select r.action into v_action from outbox.reply_word r
    where r.word = v_word and r.org_id in (p_org_id, '*')
    order by r.org_id = '*', r.action = 'STOP' desc limit 1;
    if v_action is not null then
      return nullif(v_action, 'NONE');
    end if;
  end loop;
  return null;
end
$$;

ALTER FUNCTION outbox.reply_action(p_org_id text, p_data jsonb) OWNER TO postgres;

-- Name: FUNCTION reply_action(p_org_id text, p_data jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.reply_action(p_org_id text, p_data jsonb) IS 'STOP or START when an inbound message, or the button chosen, is one of the org''s words for it.';

-- Name: report_dead_message(text, text, text, text, text, text, text, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.report_dead_message(p_consumer text, p_topic text, p_dlq_topic text, p_message_id text, p_event_type text, p_correlation_id text, p_error text, p_retry_count integer) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  -- What the system says of itself never makes it say more.
  if p_event_type like 'outhook.%' then
    return;
  end if;
  perform outbox.put_news('outhook.consumer.dead_lettered', array[
    pg_catalog.json_build_object(
      'consumer', p_consumer, 'topic', p_topic, 'dlqTopic', p_dlq_topic,
      'messageId', p_message_id, 'eventType', p_event_type, 'correlationId', p_correlation_id,
      'error', pg_catalog.left(p_error, 1000), 'retryCount', p_retry_count)::text],
    outbox.clock());
  perform outbox.kick_on_commit();
end
$$;

ALTER FUNCTION outbox.report_dead_message(p_consumer text, p_topic text, p_dlq_topic text, p_message_id text, p_event_type text, p_correlation_id text, p_error text, p_retry_count integer) OWNER TO postgres;

-- Name: FUNCTION report_dead_message(p_consumer text, p_topic text, p_dlq_topic text, p_message_id text, p_event_type text, p_correlation_id text, p_error text, p_retry_count integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.report_dead_message(p_consumer text, p_topic text, p_dlq_topic text, p_message_id text, p_event_type text, p_correlation_id text, p_error text, p_retry_count integer) IS 'Publishes outhook.consumer.dead_lettered: a consumer has put a message into its dead-letter topic or queue.';

-- Name: resend_message(text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.resend_message(p_org_id text, p_message_id text, p_actor text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_message outbox.outbound_message := outbox.lock_message(p_org_id, p_message_id);
begin
  if v_message.status <> 'FAILED' or v_message.erased_at is not null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('message %s is %s', p_message_id,
        case when v_message.erased_at is null then v_message.status else 'erased' end),
      hint = 'Only a FAILED message whose content is still there can be sent again';
  end if;
  if exists (
    select from outbox.delivery d
    where d.event_id = v_message.event_id and d.endpoint_id = v_message.channel_id)
  then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('message %s is being sent again', p_message_id),
      hint = 'Its dead letter was replayed: wait for what comes of it';
  end if;
  update outbox.dead_letter x set discarded_at = v_now, note = 'the message was sent again'
  where x.event_id = v_message.event_id and x.endpoint_id = v_message.channel_id
    and x.discarded_at is null;
  v_message.status := 'QUEUED';
  v_message.attempt_count := 0;
  v_message.provider_message_id := null;
  v_message.error_code := null;
  v_message.error_message := null;
  v_message.sent_at := null;
  -- A new event: it keeps its place behind what waits for this person already.
  v_message.event_id := outbox.uuid_v7(v_now);
  perform outbox.save_message(v_message, v_now);
  perform outbox.publish_message(v_message, v_now);
  perform outbox.audit(p_org_id, 'OUTBOUND_MESSAGE', v_message.id::text, 'UPDATED',
    'Sent again by ' || coalesce(p_actor, 'an operator'), p_actor, v_now);
  return outbox.get_message(p_org_id, p_message_id);
end
$$;

ALTER FUNCTION outbox.resend_message(p_org_id text, p_message_id text, p_actor text) OWNER TO postgres;

-- Name: FUNCTION resend_message(p_org_id text, p_message_id text, p_actor text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.resend_message(p_org_id text, p_message_id text, p_actor text) IS 'Queues a FAILED message again, with a fresh budget and behind what waits for its recipient, and returns it; consent is asked again by the claim. OH002; OH004 when it is not FAILED, or erased.';

-- Name: reserved_headers(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.reserved_headers() RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return array[
    'accept-encoding', 'connection', 'content-encoding', 'content-length', 'content-type',
    'expect', 'host', 'http2-settings', 'idempotency-key', 'keep-alive', 'proxy-*', 'sec-*',
    'te', 'traceparent', 'tracestate', 'trailer', 'transfer-encoding', 'upgrade', 'user-agent',
    'webhook-*', 'x-attempt', 'x-correlation-id', 'x-event-type', 'x-outhook-*', 'x-signature',
    'x-timestamp'
  ];
end
$$;

ALTER FUNCTION outbox.reserved_headers() OWNER TO postgres;

-- Name: FUNCTION reserved_headers(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.reserved_headers() IS 'The names that no custom header may have, in lower case; webhook-* stands for all that begin so.';

-- Name: resolve_dead_letters(uuid[], uuid[], integer[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.resolve_dead_letters(p_events uuid[], p_endpoints uuid[], p_attempts integer[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  -- The attempt too: it outlives the receipts, and another replay goes on from there.
  update outbox.dead_letter x set delivered_at = p_now, attempt = p.attempt
  from unnest(p_events, p_endpoints, p_attempts) as p (event_id, endpoint_id, attempt)
  cross join lateral (
    select y.id from outbox.dead_letter y
    where y.event_id = p.event_id and y.endpoint_id = p.endpoint_id offset 0
  ) y
  -- A person may be changing this row, so not by ctid; and an array is no reason to begin with
  -- the dead letters.
  where x.id = any (array[y.id]);
end
$$;

ALTER FUNCTION outbox.resolve_dead_letters(p_events uuid[], p_endpoints uuid[], p_attempts integer[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION resolve_dead_letters(p_events uuid[], p_endpoints uuid[], p_attempts integer[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.resolve_dead_letters(p_events uuid[], p_endpoints uuid[], p_attempts integer[], p_now timestamp with time zone) IS 'Notes in the dead letters of these replays, if there are any, that they were delivered.';

-- Name: rest_lane(bigint, interval, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.rest_lane(p_lane_id bigint, p_for interval, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  update outbox.lane l set
    not_before = greatest(l.not_before, p_now + p_for),
    next_at = case
      when l.halted or l.leased > 0 or l.next_at = 'infinity' then l.next_at
      else greatest(l.next_at, p_now + p_for)
    end
  where l.id = p_lane_id and l.ordered;
end
$$;

ALTER FUNCTION outbox.rest_lane(p_lane_id bigint, p_for interval, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION rest_lane(p_lane_id bigint, p_for interval, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.rest_lane(p_lane_id bigint, p_for interval, p_now timestamp with time zone) IS 'Holds back one recipient''s lane. The caller holds the gate, and parks it.';

-- Name: resume_channel(text, uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.resume_channel(p_org_id text, p_channel_id uuid, p_actor text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_id uuid := outbox.lock_channel(p_org_id, p_channel_id);
  v_was jsonb := outbox.channel_json(v_id);
begin
  if v_was ->> 'state' <> 'enabled' then
    perform outbox.set_endpoint_state(v_id, 'enabled', null);
    perform outbox.audit(p_org_id, 'CHANNEL', v_id::text, 'RESUMED',
      pg_catalog.format('Channel resumed, which was %s',
        coalesce(v_was ->> 'stateReason', v_was ->> 'state')), p_actor, outbox.clock());
  end if;
  return outbox.channel_json(v_id);
end
$$;

ALTER FUNCTION outbox.resume_channel(p_org_id text, p_channel_id uuid, p_actor text) OWNER TO postgres;

-- Name: FUNCTION resume_channel(p_org_id text, p_channel_id uuid, p_actor text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.resume_channel(p_org_id text, p_channel_id uuid, p_actor text) IS 'Lifts the hold of a channel: what waits is sent at once, its tries uncounted by the hold. Returns it as channel_json() shows it. OH002.';

-- Name: resume_endpoint(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.resume_endpoint(p_endpoint_id uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return outbox.set_endpoint_state(p_endpoint_id, 'enabled', null);
end
$$;

ALTER FUNCTION outbox.resume_endpoint(p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION resume_endpoint(p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.resume_endpoint(p_endpoint_id uuid) IS 'Serves a paused or disabled endpoint again, within a second of the commit, a little at first and fully after 10 s. Returns {"id", "state", "was", "reason", "open"}. OH002.';

-- Name: resume_lane(uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.resume_lane(p_endpoint_id uuid, p_partition_key text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_ordering text;
  v_depth bigint;
begin
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[p_endpoint_id]);
  -- It may have been deleted while this waited.
  v_ordering := (outbox.check_endpoint(p_endpoint_id)).ordering;
  update outbox.lane l set
    halted = false,
    next_at = case
      when l.leased > 0 then l.next_at
      when l.depth > 0 then greatest(v_now, l.not_before)
      else 'infinity'
    end
  from outbox.gate g
  where g.endpoint_id = p_endpoint_id and l.gate_id = g.id and l.ordered
    and l.key_hash = outbox.key_hash(v_ordering, p_partition_key) and l.halted
  returning l.depth into v_depth;
  if not found then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('key %s of endpoint %s is not halted',
        pg_catalog.quote_nullable(p_partition_key), p_endpoint_id),
      hint = 'Only an ordered endpoint with on_dead_letter = halt stops behind a dead letter';
  end if;
  delete from outbox.lane l using outbox.gate g
  where v_depth = 0 and g.endpoint_id = p_endpoint_id and l.gate_id = g.id and l.ordered
    and l.key_hash = outbox.key_hash(v_ordering, p_partition_key) and l.leased = 0;
  perform outbox.park(array[p_endpoint_id], v_now);
  perform outbox.kick_on_commit();
  return pg_catalog.jsonb_build_object(
    'endpoint_id', p_endpoint_id, 'partition_key', p_partition_key, 'open', v_depth);
end
$$;

ALTER FUNCTION outbox.resume_lane(p_endpoint_id uuid, p_partition_key text) OWNER TO postgres;

-- Name: FUNCTION resume_lane(p_endpoint_id uuid, p_partition_key text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.resume_lane(p_endpoint_id uuid, p_partition_key text) IS 'Lets an ordered key go on that stopped behind a dead letter: {"endpoint_id", "partition_key", "open"}. OH002; OH004: it is not halted.';

-- Name: resume_org_endpoint(text, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.resume_org_endpoint(p_org_id text, p_endpoint_id uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform outbox.resume_endpoint(p_endpoint_id);
  return outbox.get_org_endpoint(p_org_id, p_endpoint_id);
end
$$;

ALTER FUNCTION outbox.resume_org_endpoint(p_org_id text, p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION resume_org_endpoint(p_org_id text, p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.resume_org_endpoint(p_org_id text, p_endpoint_id uuid) IS 'Serves an endpoint again as resume_endpoint() does, and returns it. OH002.';

-- Name: retries_at(uuid[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.retries_at(p_endpoint_ids uuid[], p_now timestamp with time zone) RETURNS json
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  return (
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'event', a.event_id, 'endpoint', a.endpoint_id, 'attempt', a.attempt,
      'delay_ms', (extract(epoch from a.next_retry_at - p_now) * 1000)::bigint))
    from pg_catalog.unnest(p_endpoint_ids) e
    cross join lateral (
      select a.* from outbox.attempt a
      where a.endpoint_id = e and a.at = p_now and a.kind = 'try' and a.outcome = 'failed' offset 0
    ) a);
end
$$;

ALTER FUNCTION outbox.retries_at(p_endpoint_ids uuid[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION retries_at(p_endpoint_ids uuid[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.retries_at(p_endpoint_ids uuid[], p_now timestamp with time zone) IS 'What follows the failed attempts of these endpoints that were recorded at that very time: [{"event", "endpoint", "attempt", "delay_ms": until the next one, null when it was the last}], or null when there is none.';

-- Name: retry_after(text, timestamp with time zone, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.retry_after(p_header text, p_now timestamp with time zone, p_most_s integer DEFAULT outbox.setting_int('retry_after.max_s'::text)) RETURNS interval
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $_$
declare
  v_months constant text[] := array[
    'Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  v_date text[];
  v_wait interval;
begin
  if p_header ~ '^[[:space:]]*[0-9]+([.][0-9]+)?[[:space:]]*$' then
    v_wait := pg_catalog.make_interval(secs => least(pg_catalog.btrim(p_header)::float8, p_most_s));
  else
    -- RFC 9110, section 5.6.7: the form in use, and the two that a recipient still has to read.
    v_date := coalesce(
      pg_catalog.regexp_match(p_header,
        '^[A-Z][a-z]{2}, ([0-9]{2}) ([A-Z][a-z]{2}) ([0-9]{4}) ([0-9:]{8}) GMT$'),
      pg_catalog.regexp_match(p_header,
        '^[A-Z][a-z]{5,8}, ([0-9]{2})-([A-Z][a-z]{2})-([0-9]{2}) ([0-9:]{8}) GMT$'),
      (
        select array[m[2], m[1], m[4], m[3]]
        from pg_catalog.regexp_match(p_header,
          '^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ 0-9][0-9]) ([0-9:]{8}) ([0-9]{4})$') m
      ));
    v_wait := (
      pg_catalog.make_date(
        v_date[3]::integer + case when pg_catalog.length(v_date[3]) = 2 then 2000 else 0 end,
        pg_catalog.array_position(v_months, v_date[2]),
        v_date[1]::integer)
      + v_date[4]::time
    ) at time zone 'UTC' - p_now;
    -- Two digits that seem more than 50 years ahead mean a year of the century before.
    if v_wait > interval '18262 days' and pg_catalog.length(v_date[3]) = 2 then
      return null;
    end if;
  end if;
  return case when v_wait > interval '0' then least(v_wait, p_most_s * interval '1 s') end;
exception when datetime_field_overflow or invalid_datetime_format then
  return null;
end
$_$;

ALTER FUNCTION outbox.retry_after(p_header text, p_now timestamp with time zone, p_most_s integer) OWNER TO postgres;

-- Name: FUNCTION retry_after(p_header text, p_now timestamp with time zone, p_most_s integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.retry_after(p_header text, p_now timestamp with time zone, p_most_s integer) IS 'How long a Retry-After header (seconds, with a fraction or not, or an HTTP date) asks to wait, p_most_s at most; null when it is past, zero or unreadable.';

-- Name: retry_config_json(outbox.endpoint); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.retry_config_json(p_endpoint outbox.endpoint) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_policy jsonb := coalesce(p_endpoint.retry, outbox.retry_preset(p_endpoint.kind));
begin
  return pg_catalog.jsonb_build_object('preset', p_endpoint.retry is null,
    'policy', outbox.retry_to_wire(v_policy), 'schedule', outbox.schedule_json(v_policy),
    'version', p_endpoint.version);
end
$$;

ALTER FUNCTION outbox.retry_config_json(p_endpoint outbox.endpoint) OWNER TO postgres;

-- Name: FUNCTION retry_config_json(p_endpoint outbox.endpoint); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.retry_config_json(p_endpoint outbox.endpoint) IS 'The policy in force, whether it is the preset of the kind, and what it means: {"preset", "policy", "schedule", "version" (of the endpoint)}.';

-- Name: retry_now(uuid, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.retry_now(p_event_id uuid, p_endpoint_id uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return outbox.schedule_retry(p_event_id, p_endpoint_id, interval '0');
end
$$;

ALTER FUNCTION outbox.retry_now(p_event_id uuid, p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION retry_now(p_event_id uuid, p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.retry_now(p_event_id uuid, p_endpoint_id uuid) IS 'Makes an open delivery due at once; holds of its endpoint stand. Returns {"event_id", "endpoint_id", "due_at"} as schedule_retry(). OH002, OH004.';

-- Name: retry_of_wire(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.retry_of_wire(p_policy jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  if p_policy is null then
    return null;
  end if;
  return (
    select coalesce(pg_catalog.jsonb_object_agg(
      case m.key
        when 'baseDelay' then 'base_delay'
        when 'maxDelay' then 'max_delay'
        when 'maxRetries' then 'max_retries'
        else m.key
      end, m.value), '{}')
    from pg_catalog.jsonb_each(p_policy) m
  );
end
$$;

ALTER FUNCTION outbox.retry_of_wire(p_policy jsonb) OWNER TO postgres;

-- Name: FUNCTION retry_of_wire(p_policy jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.retry_of_wire(p_policy jsonb) IS 'A retry policy with the names that SQL has, of one with those of the API; null for null.';

-- Name: retry_preset(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.retry_preset(p_kind text) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return case
    when p_kind in ('webhook', 'slack') then
      '{"strategy": "schedule", "delays": [1, 5, 15, 60, 300], '
      '"max_retries": 5, "jitter": true}'::jsonb
    when p_kind = 'whatsapp' then
      '{"strategy": "schedule", "delays": [60, 300, 900, 3600, 21600], '
      '"max_retries": 5, "jitter": false}'::jsonb
    else
      '{"strategy": "exponential", "base_delay": 1, "factor": 2, "max_delay": 30, '
      '"max_retries": 5, "jitter": true}'::jsonb
  end;
end
$$;

ALTER FUNCTION outbox.retry_preset(p_kind text) OWNER TO postgres;

-- Name: FUNCTION retry_preset(p_kind text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.retry_preset(p_kind text) IS 'The retry policy of an endpoint kind that has none of its own: webhook (slack too), message (whatsapp) or relay (brokers).';

-- Name: retry_to_wire(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.retry_to_wire(p_policy jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return (
    select pg_catalog.jsonb_object_agg(
      case m.key
        when 'base_delay' then 'baseDelay'
        when 'max_delay' then 'maxDelay'
        when 'max_retries' then 'maxRetries'
        else m.key
      end, m.value)
    from pg_catalog.jsonb_each(p_policy) m
  );
end
$$;

ALTER FUNCTION outbox.retry_to_wire(p_policy jsonb) OWNER TO postgres;

-- Name: FUNCTION retry_to_wire(p_policy jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.retry_to_wire(p_policy jsonb) IS 'A retry policy with the names of the API.';

-- Name: revoke_consent(text, text, text[], text, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.revoke_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_source text, p_evidence text DEFAULT NULL::text, p_actor text DEFAULT NULL::text, p_channel text DEFAULT 'WHATSAPP'::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  return outbox.change_consent(p_org_id, p_dossier_id, p_purposes, false, p_channel, p_source,
    p_evidence, p_actor);
end
$$;

ALTER FUNCTION outbox.revoke_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_source text, p_evidence text, p_actor text, p_channel text) OWNER TO postgres;

-- Name: FUNCTION revoke_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_source text, p_evidence text, p_actor text, p_channel text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.revoke_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_source text, p_evidence text, p_actor text, p_channel text) IS 'Takes consent back: what waits to be sent fails at its next try, unsent. Returns what list_consents() does. OH001.';

-- Name: ring_from(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.ring_from(p_now timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_from timestamptz := (select r.from_at from outbox.ring r order by r.from_at desc limit 1);
begin
  -- Later than that only when the clock was set back: what has been noted since lies before it.
  return case when v_from <= p_now - interval '1 s' then v_from else '-infinity' end;
end
$$;

ALTER FUNCTION outbox.ring_from(p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION ring_from(p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.ring_from(p_now timestamp with time zone) IS 'Where to begin to read the ring: behind the dead entries of its index.';

-- Name: rotate_org_secret(text, uuid, text, integer, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.rotate_org_secret(p_org_id text, p_endpoint_id uuid, p_secret text DEFAULT NULL::text, p_overlap_seconds integer DEFAULT 86400, p_key text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  if outbox.begin_request(p_org_id, 'POST /endpoints/{endpointId}/secret/rotate', p_key,
    pg_catalog.jsonb_build_array(p_endpoint_id, p_secret, p_overlap_seconds)) is null
  then
    perform outbox.rotate_secret(p_endpoint_id, p_secret,
      pg_catalog.make_interval(secs => p_overlap_seconds));
    -- Nothing of a secret is noted: a repeat reads it from Vault.
    perform outbox.end_request(p_org_id, p_key, '{}');
  end if;
  return outbox.get_org_secret(p_org_id, p_endpoint_id);
end
$$;

ALTER FUNCTION outbox.rotate_org_secret(p_org_id text, p_endpoint_id uuid, p_secret text, p_overlap_seconds integer, p_key text) OWNER TO postgres;

-- Name: FUNCTION rotate_org_secret(p_org_id text, p_endpoint_id uuid, p_secret text, p_overlap_seconds integer, p_key text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.rotate_org_secret(p_org_id text, p_endpoint_id uuid, p_secret text, p_overlap_seconds integer, p_key text) IS 'Replaces a secret as rotate_secret() does, once for each p_key, and returns what get_org_secret() does. OH001, OH002, OH003, OH004.';

-- Name: rotate_secret(uuid, text, interval); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.rotate_secret(p_endpoint_id uuid, p_secret text DEFAULT NULL::text, p_overlap interval DEFAULT '24:00:00'::interval) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_secret text := coalesce(p_secret, outbox.new_secret());
  v_scheme text := case when v_secret like 'whsk\_%' then 'v1a' else 'v1' end;
  v_now timestamptz;
  v_expires timestamptz;
  v_id uuid;
  v_new outbox.endpoint_secret;
begin
  -- Two rotations at a time would both take the same secret for the current one.
  perform outbox.lock_endpoint(p_endpoint_id);
  perform outbox.check_signs(p_endpoint_id);
  perform outbox.check_overlap(p_overlap);
  update outbox.endpoint e
  set version = e.version + 1, updated_at = outbox.clock()
  where e.id = p_endpoint_id;
  v_now := outbox.clock();
  update outbox.endpoint_secret s set expires_at = v_now + p_overlap
  where s.endpoint_id = p_endpoint_id and s.scheme = v_scheme and s.expires_at is null
  returning s.expires_at into v_expires;
  perform outbox.check_old_secrets(p_endpoint_id, v_now);
  v_id := outbox.add_secret(p_endpoint_id, v_secret, v_now);
  select * into v_new from outbox.endpoint_secret s where s.id = v_id;
  if (
    select pg_catalog.count(*) > pg_catalog.count(distinct l.value)
    from pg_catalog.jsonb_array_elements(outbox.live_secrets(p_endpoint_id, v_now)) l
  ) then
    perform outbox.invalid('secret', 'is one that the endpoint signs with already',
      'Leave it out and a new one is made');
  end if;
  return pg_catalog.jsonb_build_object(
    'id', p_endpoint_id,
    'secret_id', v_id,
    'secret', case
      when v_scheme = 'v1' then (
        select v.decrypted_secret from vault.decrypted_secrets v where v.id = v_new.vault_id
      )
    end,
    'public_key', v_new.public_key,
    'expires_at', v_expires);
end
$$;

ALTER FUNCTION outbox.rotate_secret(p_endpoint_id uuid, p_secret text, p_overlap interval) OWNER TO postgres;

-- Name: FUNCTION rotate_secret(p_endpoint_id uuid, p_secret text, p_overlap interval); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.rotate_secret(p_endpoint_id uuid, p_secret text, p_overlap interval) IS 'Gives an endpoint a new signing secret; the one it replaces signs on for p_overlap, beside it. A secret whsk_… (ed25519) replaces the one of its own kind, or is the first of it, and changes nothing of whsec_…. Returns {"id", "secret_id", "secret" (null for whsk_), "public_key" (whpk_…, for whsk_), "expires_at" (of the replaced one)}. OH001, OH002; OH004: more than 5 old ones still sign.';

-- Name: route(outbox.routing, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.route(p_batch outbox.routing, p_now timestamp with time zone) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_routed integer := 0;
  v_error text;
  v_late boolean := false;
begin
  begin
    v_routed := outbox.route_events(p_batch.rows_at, p_batch.pairs, p_now);
    if p_batch.cut_event is not null then
      update outbox.unrouted u set routed_to = p_batch.cut_endpoint
      where u.event_id = p_batch.cut_event;
    end if;
    update outbox.router r set
      turn = r.turn + 1,
      watermark = coalesce(p_batch.watermark, r.watermark),
      seen_below = case
        when p_batch.watermark is null then r.seen_below
        else p_batch.seen_below
      end,
      open_xids = case when p_batch.watermark is null then r.open_xids else p_batch.open_xids end,
      batch = least(r.batch * 2, outbox.setting_int('route.batch_size'))
    where r.turn = (select n.turn from outbox.router n order by n.turn desc limit 1);
  exception
    when query_canceled then
      v_error := sqlerrm;
      v_late := true;
      perform outbox.shrink_routing(outbox.touched_events(p_batch), v_error, p_now);
    when others then
      v_error := sqlerrm;
      -- A handler is not guarded by its own block, and time may run out here as well.
      begin
        v_routed := outbox.route_one_by_one(p_batch, p_now);
      exception when query_canceled then
        v_late := true;
        v_error := v_error || '; ' || sqlerrm;
        perform outbox.shrink_routing(outbox.touched_events(p_batch), v_error, p_now);
      end;
  end;
  return pg_catalog.jsonb_build_object('routed', v_routed, 'error', v_error, 'out_of_time', v_late);
end
$$;

ALTER FUNCTION outbox.route(p_batch outbox.routing, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION route(p_batch outbox.routing, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.route(p_batch outbox.routing, p_now timestamp with time zone) IS 'Routes a batch and returns {"routed": deliveries made, "error": text or null, "out_of_time": boolean}. When the batch fails, each event is tried alone. locks: the caller holds the gates.';

-- Name: route_again(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.route_again(p_event_id uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_routed_to uuid;
begin
  delete from outbox.unroutable u where u.event_id = p_event_id
  returning u.routed_to into v_routed_to;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('event %s is not set aside',
        pg_catalog.quote_nullable(p_event_id::text)),
      hint = 'select * from outbox.unroutable lists the events that are';
  end if;
  insert into outbox.unrouted (event_id, routed_to)
  values (p_event_id, v_routed_to)
  on conflict do nothing;
  return pg_catalog.jsonb_build_object('event_id', p_event_id, 'unrouted', true);
end
$$;

ALTER FUNCTION outbox.route_again(p_event_id uuid) OWNER TO postgres;

-- Name: FUNCTION route_again(p_event_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.route_again(p_event_id uuid) IS 'Gives an event that was set aside another chance: {"event_id", "unrouted": true}. OH002 when it is not set aside.';

-- Name: route_events(tid[], outbox.pair[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.route_events(p_rows_at tid[], p_pairs outbox.pair[], p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'on'
    SET enable_nestloop TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_added integer := 0;
  v_unwanted uuid[];
begin
  if pg_catalog.cardinality(p_pairs) > 0 then
    if exists (select from pg_catalog.unnest(p_pairs) p where p.problem is not null) then
      v_added := outbox.add_deliveries(
        array(select p from pg_catalog.unnest(p_pairs) p where p.problem is null), p_now);
    else
      v_added := outbox.add_deliveries(p_pairs, p_now);
    end if;
    if v_added < pg_catalog.cardinality(p_pairs) then
      perform outbox.close_pairs(p_pairs, p_now);
    end if;
    perform outbox.count_up('created', '{}', v_added);
  end if;
  -- Rows stay where they were read: the lock of router is held since.
  with done as (
    delete from outbox.unrouted u
    where u.ctid = any (p_rows_at)
    returning u.event_id, u.routed_to
  )
  select pg_catalog.array_agg(d.event_id)
  into v_unwanted
  from done d
  where not exists (select from pg_catalog.unnest(p_pairs) p where p.event_id = d.event_id)
    and (d.routed_to is null or not outbox.had_pairs(d.event_id));
  perform outbox.count_up('events', array['routed'],
    pg_catalog.cardinality(p_rows_at) - coalesce(pg_catalog.cardinality(v_unwanted), 0));
  if v_unwanted is not null then
    perform outbox.count_up('events', array['no_subscriber'], pg_catalog.cardinality(v_unwanted));
    insert into outbox.attempt (event_id, attempt, at, kind, outcome)
    select u.id, 0, p_now, 'close', 'no_subscriber' from pg_catalog.unnest(v_unwanted) as u (id);
  end if;
  return v_added;
end
$$;

ALTER FUNCTION outbox.route_events(p_rows_at tid[], p_pairs outbox.pair[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION route_events(p_rows_at tid[], p_pairs outbox.pair[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.route_events(p_rows_at tid[], p_pairs outbox.pair[], p_now timestamp with time zone) IS 'Makes the deliveries and finishes the events; one that nobody wants gets a closing receipt, and so does a delivery whose filter failed. Returns how many deliveries it made.';

-- Name: route_one_by_one(outbox.routing, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.route_one_by_one(p_batch outbox.routing, p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_events uuid[] := outbox.touched_events(p_batch);
  v_event uuid;
  v_routed integer := 0;
begin
  for v_place in 1 .. pg_catalog.cardinality(v_events) loop
    v_event := v_events[v_place];
    begin
      -- The one that is left half done comes last and has no row to be deleted.
      v_routed := v_routed + outbox.route_events(
        p_batch.rows_at[v_place:v_place],
        array(select p from pg_catalog.unnest(p_batch.pairs) p where p.event_id = v_event), p_now);
      if v_event = p_batch.cut_event then
        update outbox.unrouted u set routed_to = p_batch.cut_endpoint where u.event_id = v_event;
      end if;
    exception when others then
      perform outbox.count_failure(v_event, sqlerrm, p_now);
    end;
  end loop;
  return v_routed;
end
$$;

ALTER FUNCTION outbox.route_one_by_one(p_batch outbox.routing, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION route_one_by_one(p_batch outbox.routing, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.route_one_by_one(p_batch outbox.routing, p_now timestamp with time zone) IS 'Routes each event of a failed batch alone, so that one that cannot be routed costs no other. Returns how many deliveries it made.';

-- Name: routing_state(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.routing_state(p_event_id uuid) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return case
    when exists (select from outbox.unrouted u where u.event_id = p_event_id) then 'waiting'
    when exists (select from outbox.unroutable u where u.event_id = p_event_id) then 'set_aside'
    else 'done'
  end;
end
$$;

ALTER FUNCTION outbox.routing_state(p_event_id uuid) OWNER TO postgres;

-- Name: FUNCTION routing_state(p_event_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.routing_state(p_event_id uuid) IS 'How far routing is with an event: waiting, done, or set_aside after three failures.';

-- Name: run_settings(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.run_settings() RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return (
    select pg_catalog.jsonb_object_agg(n.key, s.value)
    from outbox.setting s
    join (values
      ('egress.allow_http', 'allow_http'), ('egress.allow_cidrs', 'allow_cidrs'),
      ('egress.allow_ports', 'allow_ports'), ('egress.deny_ports', 'deny_ports'),
      ('egress.proxy_url', 'proxy_url'),
      ('response.success_bytes', 'success_bytes'), ('response.failure_bytes', 'failure_bytes'),
      ('worker.poll_interval_ms', 'poll_ms'), ('worker.max_wall_ms', 'max_wall_ms'),
      ('worker.max_deliveries', 'max_deliveries'), ('worker.batch_size', 'batch_size')
    ) n (name, key) on n.name = s.name);
end
$$;

ALTER FUNCTION outbox.run_settings() OWNER TO postgres;

-- Name: FUNCTION run_settings(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.run_settings() IS 'What a run needs to know: {"allow_http", "allow_cidrs", "allow_ports", "deny_ports", "proxy_url", "success_bytes", "failure_bytes", "poll_ms", "max_wall_ms", "max_deliveries", "batch_size"}.';

-- Name: run_step(text, integer, text, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.run_step(p_saga text, p_place integer, p_function text, p_context jsonb) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $_$
declare
  v_result jsonb;
  v_detail text;
  v_hint text;
begin
  execute pg_catalog.format('select %s($1)', p_function) into v_result using p_context;
  if pg_catalog.jsonb_typeof(coalesce(v_result, '{}')) <> 'object' then
    raise exception using errcode = 'OH001', message = 'it returned no JSON object',
      hint = 'A step returns what it adds to the context, such as {"payment": 7}, or null';
  end if;
  return coalesce(v_result, '{}');
exception
  -- The caller's to repeat, as they are.
  when transaction_rollback then
    raise;
  when others then
    get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
    raise exception using errcode = 'OH007',
      message = pg_catalog.format('saga %s failed at step %s, %s: %s', p_saga, p_place, p_function,
        sqlerrm),
      detail = pg_catalog.jsonb_build_object('saga', p_saga, 'step', p_place,
        'function', p_function, 'code', sqlstate, 'cause', sqlerrm, 'detail', v_detail)::text,
      hint = v_hint;
end
$_$;

ALTER FUNCTION outbox.run_step(p_saga text, p_place integer, p_function text, p_context jsonb) OWNER TO postgres;

-- Name: FUNCTION run_step(p_saga text, p_place integer, p_function text, p_context jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.run_step(p_saga text, p_place integer, p_function text, p_context jsonb) IS 'Part of execute_saga(): calls one step with the caller''s rights and returns what it adds to the context. OH007 names saga, step and cause; detail has them as JSON: {"saga", "step", "function", "code": its SQLSTATE, "cause", "detail"}. Serialization failures and deadlocks pass as they are.';

-- Name: save_message(outbox.outbound_message, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.save_message(p_message outbox.outbound_message, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_was text;
begin
  select m.status into v_was from outbox.outbound_message m where m.id = p_message.id for update;
  if not outbox.may_become(v_was, p_message.status) then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('message %s is %s and cannot become %s', p_message.id, v_was,
        p_message.status),
      hint = 'Only a QUEUED message can be cancelled, and only a FAILED one sent again';
  end if;
  update outbox.outbound_message m set
    status = p_message.status,
    provider_message_id = p_message.provider_message_id,
    attempt_count = p_message.attempt_count,
    max_attempts = p_message.max_attempts,
    error_code = p_message.error_code,
    error_message = p_message.error_message,
    event_id = p_message.event_id,
    wa_id = p_message.wa_id,
    sent_at = p_message.sent_at,
    delivered_at = p_message.delivered_at,
    read_at = p_message.read_at,
    updated_at = p_now
  where m.id = p_message.id;
  if v_was <> p_message.status then
    perform outbox.count_message(p_message.status, p_message.error_code);
  end if;
end
$$;

ALTER FUNCTION outbox.save_message(p_message outbox.outbound_message, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION save_message(p_message outbox.outbound_message, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.save_message(p_message outbox.outbound_message, p_now timestamp with time zone) IS 'Writes what changes in the life of a message. OH004 when its status may not become that. locks: the message.';

-- Name: schedule_json(jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.schedule_json(p_policy jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return (
    select coalesce(
      pg_catalog.jsonb_agg(
        pg_catalog.jsonb_build_object('failure', s.value -> 'failure',
          'delaySeconds', s.value -> 'delay_s', 'leastSeconds', s.value -> 'least_s',
          'mostSeconds', s.value -> 'most_s', 'afterSeconds', s.value -> 'after_s')
        order by s.ordinality),
      '[]')
    from pg_catalog.jsonb_array_elements(outbox.preview_schedule(p_policy))
      with ordinality as s (value, ordinality)
  );
end
$$;

ALTER FUNCTION outbox.schedule_json(p_policy jsonb) OWNER TO postgres;

-- Name: FUNCTION schedule_json(p_policy jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.schedule_json(p_policy jsonb) IS 'preview_schedule() with the names of the API. OH001.';

-- Name: schedule_retry(uuid, uuid, interval); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.schedule_retry(p_event_id uuid, p_endpoint_id uuid, p_delay interval) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_delivery outbox.delivery;
  v_at timestamptz;
begin
  if p_delay is null or p_delay > interval '7 days' then
    perform outbox.invalid('delay',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(p_delay::text)),
      'Expected an interval of 7 days at most');
  end if;
  v_at := v_now + greatest(p_delay, interval '0');
  perform outbox.settle_lost(outbox.open_delivery(p_event_id, p_endpoint_id), v_now);
  select * into v_delivery from outbox.delivery d
  where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id;
  if not found then
    -- The lease that had ended was the last try. That stays recorded, so this is no error.
    return pg_catalog.jsonb_build_object('event_id', p_event_id, 'endpoint_id', p_endpoint_id,
      'due_at', null);
  end if;
  update outbox.lane l set
    not_before = case when l.ordered then v_at else l.not_before end,
    -- An ordered lane that is being sent stays out of the ring until its lease ends, or its gate
    -- would be due in vain.
    next_at = case
      when l.halted or (l.ordered and l.leased > 0) then l.next_at
      when l.ordered then v_at
      else least(l.next_at, greatest(v_at, l.head_at))
    end
  where l.id = v_delivery.lane_id;
  update outbox.delivery d set
    due_at = case when l.ordered then d.due_at else greatest(v_at, l.head_at) end
  from outbox.lane l
  where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id and l.id = d.lane_id;
  perform outbox.park(array[p_endpoint_id], v_now);
  perform outbox.kick_on_commit();
  return pg_catalog.jsonb_build_object(
    'event_id', p_event_id, 'endpoint_id', p_endpoint_id, 'due_at', v_at);
end
$$;

ALTER FUNCTION outbox.schedule_retry(p_event_id uuid, p_endpoint_id uuid, p_delay interval) OWNER TO postgres;

-- Name: FUNCTION schedule_retry(p_event_id uuid, p_endpoint_id uuid, p_delay interval); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.schedule_retry(p_event_id uuid, p_endpoint_id uuid, p_delay interval) IS 'Sets when an open delivery is tried next (an ordered one''s lane with it): {"event_id", "endpoint_id", "due_at"}; due_at is null when a lost lease was its last try, so that it is a dead letter now. OH001, OH002, OH004.';

-- Name: send_test_event(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.send_test_event(p_endpoint_id uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_endpoint outbox.endpoint := outbox.check_endpoint(p_endpoint_id);
  v_breaker text;
begin
  select g.breaker into v_breaker from outbox.gate g where g.endpoint_id = p_endpoint_id;
  if v_endpoint.state <> 'enabled' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is %s', p_endpoint_id, v_endpoint.state),
      hint = 'resume_endpoint() serves it again';
  elsif v_breaker <> 'closed' and v_endpoint.breaker_enabled then
    raise exception using errcode = 'OH006',
      message = pg_catalog.format('the breaker of endpoint %s is %s', p_endpoint_id, v_breaker),
      hint = 'A probe is sent by itself once its time is up: outbox.endpoint_status says when';
  end if;
  return pg_catalog.jsonb_build_object('event_id',
    outbox.publish('outhook.test', '{"test": true}', v_endpoint.org_id,
      p_endpoint_id => p_endpoint_id));
end
$$;

ALTER FUNCTION outbox.send_test_event(p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION send_test_event(p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.send_test_event(p_endpoint_id uuid) IS 'Publishes an event outhook.test for one endpoint alone: {"event_id"}. OH002; OH004 when the endpoint is held; OH006 when its breaker is not closed.';

-- Name: set_broker(uuid, jsonb, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.set_broker(p_endpoint_id uuid, p_broker jsonb DEFAULT '{}'::jsonb, p_credentials jsonb DEFAULT NULL::jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  -- Of two calls at a time the second starts from what the first left.
  v_endpoint outbox.endpoint := outbox.lock_endpoint(p_endpoint_id);
begin
  if v_endpoint.broker is null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is not of kind rabbitmq or kafka', p_endpoint_id),
      hint = 'create_broker_endpoint() makes one';
  end if;
  update outbox.endpoint e
  set version = e.version + 1, updated_at = outbox.clock()
  where e.id = p_endpoint_id;
  perform outbox.put_broker(p_endpoint_id, v_endpoint.broker || coalesce(p_broker, '{}'),
    coalesce(p_credentials, outbox.stored_credentials(v_endpoint.credentials_vault_id)));
  return (
    select pg_catalog.jsonb_build_object('id', e.id, 'url', e.url, 'broker', e.broker)
    from outbox.endpoint e where e.id = p_endpoint_id);
end
$$;

ALTER FUNCTION outbox.set_broker(p_endpoint_id uuid, p_broker jsonb, p_credentials jsonb) OWNER TO postgres;

-- Name: FUNCTION set_broker(p_endpoint_id uuid, p_broker jsonb, p_credentials jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.set_broker(p_endpoint_id uuid, p_broker jsonb, p_credentials jsonb) IS 'Changes the settings of a broker endpoint that p_broker names, and its credentials where they are given, from the next claim on: {"id", "url", "broker"}. OH001, OH002, OH004.';

-- Name: set_catalogue(text, boolean); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.set_catalogue(p_org_id text, p_strict boolean) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  if p_strict is null then
    perform outbox.invalid('strict', 'is null', 'Expected true or false');
  end if;
  perform outbox.change_catalogue(p_org_id, p_strict);
  return pg_catalog.jsonb_build_object('strict', p_strict);
end
$$;

ALTER FUNCTION outbox.set_catalogue(p_org_id text, p_strict boolean) OWNER TO postgres;

-- Name: FUNCTION set_catalogue(p_org_id text, p_strict boolean); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.set_catalogue(p_org_id text, p_strict boolean) IS 'Says whether the API refuses events whose type or payload the catalogue does not allow: {"strict"}. OH001.';

-- Name: set_channel_token(text, uuid, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.set_channel_token(p_org_id text, p_channel_id uuid, p_access_token text, p_actor text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_id uuid := outbox.lock_channel(p_org_id, p_channel_id);
  v_old uuid;
begin
  select c.token_vault_id into v_old from outbox.whatsapp_channel c
  where c.endpoint_id = v_id for update;
  update outbox.whatsapp_channel c
  set token_vault_id = outbox.keep_in_vault('accessToken', p_access_token)
  where c.endpoint_id = v_id;
  delete from vault.secrets v where v.id = v_old;
  perform outbox.audit(p_org_id, 'CHANNEL', v_id::text, 'UPDATED', 'Access token replaced',
    p_actor, v_now);
  return outbox.channel_json(v_id);
end
$$;

ALTER FUNCTION outbox.set_channel_token(p_org_id text, p_channel_id uuid, p_access_token text, p_actor text) OWNER TO postgres;

-- Name: FUNCTION set_channel_token(p_org_id text, p_channel_id uuid, p_access_token text, p_actor text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.set_channel_token(p_org_id text, p_channel_id uuid, p_access_token text, p_actor text) IS 'Replaces a channel''s access token, from the next claim on; a held channel stays held until resume_endpoint(). OH001, OH002.';

-- Name: set_default_channel(text, uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.set_default_channel(p_org_id text, p_channel_id uuid, p_actor text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_id uuid := outbox.lock_channel(p_org_id, p_channel_id);
begin
  update outbox.whatsapp_channel c set is_default = false
  where c.org_id = p_org_id and c.is_default;
  update outbox.whatsapp_channel c set is_default = true where c.endpoint_id = v_id;
  perform outbox.audit(p_org_id, 'CHANNEL', v_id::text, 'UPDATED', 'Made the default', p_actor,
    outbox.clock());
  return outbox.channel_json(v_id);
end
$$;

ALTER FUNCTION outbox.set_default_channel(p_org_id text, p_channel_id uuid, p_actor text) OWNER TO postgres;

-- Name: FUNCTION set_default_channel(p_org_id text, p_channel_id uuid, p_actor text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.set_default_channel(p_org_id text, p_channel_id uuid, p_actor text) IS 'Makes a channel the one that messages without a channelId go through. OH002.';

-- Name: set_endpoint_state(uuid, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.set_endpoint_state(p_endpoint_id uuid, p_state text, p_reason text) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_was text := (outbox.lock_endpoint(p_endpoint_id)).state;
  v_now timestamptz := outbox.clock();
begin
  update outbox.endpoint e
  set state = p_state, state_reason = p_reason, version = e.version + 1, updated_at = v_now,
    ramp_from = case
      when p_state = 'enabled' and e.state <> 'enabled' then v_now
      else e.ramp_from
    end
  where e.id = p_endpoint_id;
  -- Whoever resumes a channel has seen what held it.
  if p_state = 'enabled' then
    update outbox.channel_hold h set held = false, decided_at = v_now
    where h.channel_id = p_endpoint_id and h.held;
  end if;
  return pg_catalog.jsonb_build_object('id', p_endpoint_id, 'state', p_state, 'was', v_was,
    'reason', p_reason,
    'open', coalesce((select g.depth from outbox.gate g where g.endpoint_id = p_endpoint_id), 0));
end
$$;

ALTER FUNCTION outbox.set_endpoint_state(p_endpoint_id uuid, p_state text, p_reason text) OWNER TO postgres;

-- Name: FUNCTION set_endpoint_state(p_endpoint_id uuid, p_state text, p_reason text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.set_endpoint_state(p_endpoint_id uuid, p_state text, p_reason text) IS 'Changes an endpoint''s state: {"id", "state", "was", "reason", "open": deliveries that are open}. OH002.';

-- Name: set_headers(uuid, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.set_headers(p_endpoint_id uuid, p_headers jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_headers jsonb;
begin
  -- Of two calls at a time the second starts from what the first left.
  perform outbox.lock_endpoint(p_endpoint_id);
  perform outbox.check_headers(pg_catalog.jsonb_strip_nulls(p_headers));
  update outbox.endpoint e
  set version = e.version + 1, updated_at = outbox.clock()
  where e.id = p_endpoint_id;
  select coalesce(pg_catalog.jsonb_object_agg(h.key, h.value), '{}') into v_headers
  from outbox.endpoint e
  cross join pg_catalog.jsonb_each(outbox.stored_headers(e.headers_vault_id)) h
  where e.id = p_endpoint_id
    and pg_catalog.lower(h.key) not in (
      select pg_catalog.lower(k) from pg_catalog.jsonb_object_keys(p_headers) k
    );
  v_headers := v_headers || pg_catalog.jsonb_strip_nulls(p_headers);
  perform outbox.check_headers(v_headers);
  perform outbox.put_headers(p_endpoint_id, v_headers);
  return (
    select pg_catalog.jsonb_build_object('id', e.id, 'header_names', e.header_names)
    from outbox.endpoint e
    where e.id = p_endpoint_id
  );
end
$$;

ALTER FUNCTION outbox.set_headers(p_endpoint_id uuid, p_headers jsonb) OWNER TO postgres;

-- Name: FUNCTION set_headers(p_endpoint_id uuid, p_headers jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.set_headers(p_endpoint_id uuid, p_headers jsonb) IS 'Sets custom headers of an endpoint by name, in any case: a string is the new value, null removes the header, what is not named stays. Returns {"id", "header_names"}; no value is ever returned. OH001, OH002.';

-- Name: set_replay_job(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.set_replay_job(p_id text, p_state text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_job outbox.replay_job;
begin
  if p_state is null or p_state not in ('running', 'paused', 'cancelled') then
    perform outbox.invalid('state', pg_catalog.format('is %s', pg_catalog.quote_nullable(p_state)),
      'Expected running, paused or cancelled');
  end if;
  update outbox.replay_job j
  set state = p_state, finished_at = case when p_state = 'cancelled' then outbox.clock() end
  where j.id::text = p_id and j.state in ('running', 'paused')
  returning j.* into v_job;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('no replay job %s is under way', pg_catalog.quote_nullable(p_id)),
      hint = 'select * from outbox.replay_job lists them';
  end if;
  return pg_catalog.jsonb_build_object('id', v_job.id::text, 'state', v_job.state,
    'replayed', v_job.replayed, 'skipped', v_job.skipped);
end
$$;

ALTER FUNCTION outbox.set_replay_job(p_id text, p_state text) OWNER TO postgres;

-- Name: FUNCTION set_replay_job(p_id text, p_state text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.set_replay_job(p_id text, p_state text) IS 'Pauses, goes on with, or cancels a replay job; what it has put back stays: {"id", "state", "replayed", "skipped"}. OH001, OH002.';

-- Name: set_retry_config(text, uuid, jsonb, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.set_retry_config(p_org_id text, p_endpoint_id uuid, p_policy jsonb DEFAULT NULL::jsonb, p_version integer DEFAULT NULL::integer) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_policy jsonb := outbox.retry_of_wire(nullif(p_policy, 'null'));
begin
  perform outbox.lock_org_endpoint(p_org_id, p_endpoint_id, p_version);
  perform outbox.check_retry(v_policy);
  update outbox.endpoint e
  set retry = v_policy, version = e.version + 1, updated_at = outbox.clock()
  where e.id = p_endpoint_id;
  return outbox.get_retry_config(p_org_id, p_endpoint_id);
end
$$;

ALTER FUNCTION outbox.set_retry_config(p_org_id text, p_endpoint_id uuid, p_policy jsonb, p_version integer) OWNER TO postgres;

-- Name: FUNCTION set_retry_config(p_org_id text, p_endpoint_id uuid, p_policy jsonb, p_version integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.set_retry_config(p_org_id text, p_endpoint_id uuid, p_policy jsonb, p_version integer) IS 'Gives an endpoint a retry policy of its own, or with null the preset of its kind again. It holds from the next failure on. OH001, OH002, OH008.';

-- Name: set_setting(text, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.set_setting(p_name text, p_value jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_was jsonb;
begin
  select s.value into v_was from outbox.setting s where s.name = p_name;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('setting %s does not exist', pg_catalog.quote_nullable(p_name)),
      hint = 'select name, description from outbox.setting lists them';
  end if;
  update outbox.setting s set value = p_value where s.name = p_name;
  return pg_catalog.jsonb_build_object('name', p_name, 'value', p_value, 'was', v_was);
end
$$;

ALTER FUNCTION outbox.set_setting(p_name text, p_value jsonb) OWNER TO postgres;

-- Name: FUNCTION set_setting(p_name text, p_value jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.set_setting(p_name text, p_value jsonb) IS 'Changes one setting and returns {"name", "value", "was"}. OH002: no such setting; OH005: the value is refused, with the reason.';

-- Name: set_slack_url(uuid, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.set_slack_url(p_endpoint_id uuid, p_url text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  if (outbox.lock_endpoint(p_endpoint_id)).kind <> 'slack' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is not of kind slack', p_endpoint_id),
      hint = 'create_slack_endpoint() makes one';
  end if;
  perform outbox.put_slack_url(p_endpoint_id, p_url);
  update outbox.endpoint e
  set version = e.version + 1, updated_at = outbox.clock()
  where e.id = p_endpoint_id;
  return (
    select pg_catalog.jsonb_build_object('id', e.id, 'url', e.url)
    from outbox.endpoint e where e.id = p_endpoint_id);
end
$$;

ALTER FUNCTION outbox.set_slack_url(p_endpoint_id uuid, p_url text) OWNER TO postgres;

-- Name: FUNCTION set_slack_url(p_endpoint_id uuid, p_url text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.set_slack_url(p_endpoint_id uuid, p_url text) IS 'Gives a Slack endpoint another incoming webhook, from the next claim on: {"id", "url" as it is shown}. OH001, OH002, OH004.';

-- Name: setting_conflict(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.setting_conflict(p_name text, OUT problem text, OUT remedy text) RETURNS record
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_all jsonb := (select pg_catalog.jsonb_object_agg(s.name, s.value) from outbox.setting s);
begin
  -- Each rule: less * per_less <= more * per_more + spare.
  select r.problem, case p_name
    when r.less then pg_catalog.format('It may be %s at most while %s is %s: raise that first',
      v.more / r.per_less, r.more, v_all -> r.more)
    else pg_catalog.format('It must be %s at least while %s is %s: lower that first',
      pg_catalog.ceil((v.less - r.spare)::numeric / r.per_more), r.less, v_all -> r.less)
  end
  into problem, remedy
  from (values
    ('worker.batch_size', 1, 'worker.max_deliveries', 1, 0,
      'would let a run send fewer deliveries (worker.max_deliveries) than it claims at once '
      '(worker.batch_size)'),
    ('attempt.retention_days', 1, 'event.retention_days', 1, 8,
      'would keep receipts (attempt.retention_days) longer than any event they belong to '
      '(event.retention_days + 8)'),
    ('event.delivered_days', 1, 'attempt.retention_days', 1, -1,
      'would keep delivered events (event.delivered_days) longer than their receipts '
      '(attempt.retention_days)'),
    ('event.retention_days', 1, 'inbox.retention_days', 1, -1,
      'would let a consumer forget (inbox.retention_days) an event that is still tried '
      '(event.retention_days), and process it twice'),
    ('idempotency.window_hours', 1, 'event.retention_days', 24, 0,
      'would keep an idempotency key (idempotency.window_hours) longer than its event '
      '(event.retention_days)')
  ) r (less, per_less, more, per_more, spare, problem)
  cross join lateral (
    select (v_all ->> r.less)::bigint * r.per_less as less,
      (v_all ->> r.more)::bigint * r.per_more + r.spare as more
  ) v
  where p_name in (r.less, r.more) and v.less > v.more
  limit 1;
  if found then
    return;
  end if;
  if p_name in ('whatsapp.graph_url', 'egress.allow_http')
    and v_all ->> 'whatsapp.graph_url' like 'http:%' and v_all -> 'egress.allow_http' = 'false'
  then
    problem :=
      'would let no message out: whatsapp.graph_url is http, which egress.allow_http forbids';
    remedy := case p_name
      when 'whatsapp.graph_url' then 'Give an https URL, or set egress.allow_http to true first'
      else 'Set whatsapp.graph_url to an https URL first'
    end;
  elsif p_name in ('egress.allow_ports', 'egress.deny_ports')
    and outbox.port_ranges(v_all -> 'egress.allow_ports')
      <@ outbox.port_ranges(v_all -> 'egress.deny_ports')
  then
    problem :=
      'would let no webhook out: no port in egress.allow_ports is outside egress.deny_ports';
    remedy := case p_name
      when 'egress.allow_ports' then 'Allow a port that is not denied, such as 443'
      else 'Leave a port that is allowed, such as 443'
    end;
  end if;
end
$$;

ALTER FUNCTION outbox.setting_conflict(p_name text, OUT problem text, OUT remedy text) OWNER TO postgres;

-- Name: FUNCTION setting_conflict(p_name text, OUT problem text, OUT remedy text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.setting_conflict(p_name text, OUT problem text, OUT remedy text) IS 'Why a setting as it is stored cannot stand beside the others, as the end of a sentence, and what to do; null when it can.';

-- Name: setting; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.setting (
    name text NOT NULL,
    value jsonb NOT NULL,
    type text NOT NULL,
    lowest bigint,
    highest bigint,
    description text NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT setting_type_is_known CHECK ((type = ANY (ARRAY['boolean'::text, 'integer'::text, 'text'::text, 'text[]'::text])))
);

ALTER TABLE outbox.setting OWNER TO postgres;

-- Name: TABLE setting; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.setting IS 'Every setting with its type, bounds and meaning; set_setting() changes one.';

-- Name: setting_problem(outbox.setting, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.setting_problem(p_setting outbox.setting, p_value jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
declare
  v_item text;
begin
  case p_setting.type
    when 'boolean' then
      if pg_catalog.jsonb_typeof(p_value) is distinct from 'boolean' then
        return 'must be true or false';
      end if;
    when 'integer' then
      if pg_catalog.jsonb_typeof(p_value) is distinct from 'number'
        or (p_value #>> '{}') !~ '^-?[0-9]{1,18}$' then
        return 'must be a whole number';
      end if;
      if (p_value #>> '{}')::bigint not between p_setting.lowest and p_setting.highest then
        return pg_catalog.format('must lie between %s and %s', p_setting.lowest, p_setting.highest);
      end if;
    when 'text' then
      if pg_catalog.jsonb_typeof(p_value) is distinct from 'string' then
        return 'must be a string';
      end if;
      if p_setting.name = 'egress.proxy_url'
        and p_value <> '""'
        and not outbox.is_base_url(p_value #>> '{}', '^http://[^/]*$')
      then
        return
          'must be empty or a URL such as http://proxy.example.com:3128, without credentials and '
          'path';
      end if;
      if p_setting.name = 'whatsapp.graph_url'
        and not outbox.is_base_url(p_value #>> '{}', '^https?://')
      then
        return 'must be a URL such as https://graph.facebook.com, without credentials and query';
      end if;
      if p_setting.name = 'whatsapp.graph_version' and p_value #>> '{}' !~ '^v[0-9]{1,3}[.][0-9]$'
      then
        return 'must be a version such as v25.0';
      end if;
    else
      if pg_catalog.jsonb_typeof(p_value) is distinct from 'array'
        or exists (
          select from pg_catalog.jsonb_array_elements(p_value) v
          where pg_catalog.jsonb_typeof(v.value) <> 'string'
        )
      then
        return 'must be an array of strings';
      end if;
      if p_setting.name = 'egress.allow_cidrs' then
        for v_item in select v.value from pg_catalog.jsonb_array_elements_text(p_value) v loop
          if not outbox.is_network(v_item) then
            return pg_catalog.format(
              'holds %L, which is not a network such as 10.0.0.0/8 or fd00::/8',
              pg_catalog.left(v_item, 60));
          end if;
        end loop;
      elsif p_setting.name in ('egress.allow_ports', 'egress.deny_ports') then
        for v_item in select v.value from pg_catalog.jsonb_array_elements_text(p_value) v loop
          if not outbox.is_port_range(v_item) then
            return pg_catalog.format(
              'holds %L, which is not a port such as 443 or a range such as 1024-65535',
              pg_catalog.left(v_item, 60));
          end if;
        end loop;
      end if;
  end case;
  return null;
end
$_$;

ALTER FUNCTION outbox.setting_problem(p_setting outbox.setting, p_value jsonb) OWNER TO postgres;

-- Name: FUNCTION setting_problem(p_setting outbox.setting, p_value jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.setting_problem(p_setting outbox.setting, p_value jsonb) IS 'What is wrong with a value for a setting, as the end of a sentence; null when it may be stored.';

-- Name: setting_value(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.setting_value(p_name text) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return (select s.value from outbox.setting s where s.name = p_name);
end
$$;

ALTER FUNCTION outbox.setting_value(p_name text) OWNER TO postgres;

-- Name: FUNCTION setting_value(p_name text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.setting_value(p_name text) IS 'A setting''s value as jsonb; null for an unknown name.';

-- Name: settle_lost(outbox.delivery, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.settle_lost(p_delivery outbox.delivery, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  -- A lease that has ended is recorded before anything else becomes of the delivery.
  if p_delivery.leased_until is not null then
    perform outbox.complete(array[outbox.lost(p_delivery)], p_now);
  end if;
end
$$;

ALTER FUNCTION outbox.settle_lost(p_delivery outbox.delivery, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION settle_lost(p_delivery outbox.delivery, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.settle_lost(p_delivery outbox.delivery, p_now timestamp with time zone) IS 'Records the ended lease of a delivery, if it has one. locks: the caller holds the gate.';

-- Name: settle_updates(bigint[], text[], text[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.settle_updates(p_ids bigint[], p_states text[], p_reasons text[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
begin
  update outbox.whatsapp_update u set
    state = x.state, reason = x.reason,
    looks = u.looks + (x.state in ('stored', 'kept'))::integer,
    -- What waits for its message is found when that gets its id; these looks are for the moment in
    -- which neither transaction sees the other, and the last one is the cleanup's, at night.
    look_at = case
      when x.state = 'stored' then p_now
      when x.state = 'kept' then case u.looks
        when 0 then p_now + interval '5 s'
        when 1 then p_now + interval '1 minute'
        when 2 then p_now + interval '10 minutes'
        else 'infinity'
      end
    end
  from unnest(p_ids, p_states, p_reasons) as x (id, state, reason)
  -- By ctid: these rows are this transaction's.
  cross join lateral (
    select w.ctid as row_at from outbox.whatsapp_update w where w.id = x.id offset 0
  ) w
  where u.ctid = w.row_at;
end
$$;

ALTER FUNCTION outbox.settle_updates(p_ids bigint[], p_states text[], p_reasons text[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION settle_updates(p_ids bigint[], p_states text[], p_reasons text[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.settle_updates(p_ids bigint[], p_states text[], p_reasons text[], p_now timestamp with time zone) IS 'Writes the verdicts of updates: applied, skipped or kept with the reason; stored: once more within a second.';

-- Name: shrink_routing(uuid[], text, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.shrink_routing(p_events uuid[], p_error text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  -- The lock went with the step that failed, and another call may be routing now.
  v_router outbox.router := outbox.lock_router();
begin
  if v_router.turn is null then
    return;
  end if;
  if p_events is null and v_router.batch = 1 then
    -- Reading the one at the head took all the time: its filters did.
    p_events := outbox.next_unrouted(v_router);
  end if;
  if pg_catalog.cardinality(p_events) = 1 then
    perform outbox.count_failure(p_events[1], p_error, p_now);
  end if;
  update outbox.router r set batch = greatest(1, r.batch / 8)
  where r.turn = v_router.turn;
end
$$;

ALTER FUNCTION outbox.shrink_routing(p_events uuid[], p_error text, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION shrink_routing(p_events uuid[], p_error text, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.shrink_routing(p_events uuid[], p_error text, p_now timestamp with time zone) IS 'After routing ran out of time: smaller batches from the next call on; an event that took all the time alone counts as failed. p_events: what was being routed; null: it was being read.';

-- Name: slack_url_shown(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.slack_url_shown(p_url text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.substring(p_url, '^[^/]*//[^/?#]*') || '/…';
end
$$;

ALTER FUNCTION outbox.slack_url_shown(p_url text) OWNER TO postgres;

-- Name: FUNCTION slack_url_shown(p_url text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.slack_url_shown(p_url text) IS 'What is shown of the URL of an incoming webhook: https://hooks.slack.com/…';

-- Name: slow_down(outbox.status_change[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.slow_down(p_failures outbox.status_change[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_row record;
  v_gates uuid[];
begin
  for v_row in
    select f.scope, m.channel_id, m.to_recipient, w.app_id, w.waba_id,
      pg_catalog.max(c.at + f.min_delay_s * interval '1 s') as until
    from pg_catalog.unnest(p_failures) c
    join outbox.failure_rule f on f.kind = 'whatsapp' and f.code = c.code
      and f.action = 'throttle' and c.at + f.min_delay_s * interval '1 s' > p_now
    cross join lateral (
      select x.* from outbox.outbound_message x where x.id = c.message_id offset 0
    ) m
    join outbox.whatsapp_channel w on w.endpoint_id = m.channel_id
    group by f.scope, m.channel_id, m.to_recipient, w.app_id, w.waba_id
    order by f.scope, m.channel_id
  loop
    v_gates := outbox.try_lock_gates(array(
      select w.endpoint_id from outbox.whatsapp_channel w
      where w.endpoint_id = v_row.channel_id
        or (v_row.scope = 'app' and w.app_id = v_row.app_id)
        or (v_row.scope = 'account' and w.waba_id = v_row.waba_id)));
    if v_row.scope = 'lane' then
      perform outbox.rest_lane(l.id, v_row.until - p_now, p_now)
      from outbox.gate g
      join outbox.lane l on l.gate_id = g.id and l.ordered
        and l.key_hash = outbox.key_hash('partition', outbox.person_key(v_row.to_recipient))
      where g.endpoint_id = any (v_gates);
    else
      update outbox.gate g set not_before = greatest(g.not_before, v_row.until)
      where g.endpoint_id = any (v_gates);
    end if;
    perform outbox.park(v_gates, p_now);
  end loop;
end
$$;

ALTER FUNCTION outbox.slow_down(p_failures outbox.status_change[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION slow_down(p_failures outbox.status_change[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.slow_down(p_failures outbox.status_change[], p_now timestamp with time zone) IS 'Holds back the numbers, apps and recipients whose failures say that they are too fast. locks: gates with SKIP LOCKED.';

-- Name: softened(outbox.failure_rule, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.softened(p_rule outbox.failure_rule, p_provider jsonb) RETURNS outbox.failure_rule
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  if p_provider -> 'is_transient' = 'true' and not p_rule.firm
    and p_rule.action in ('fail', 'hold')
  then
    p_rule.action := 'retry';
  end if;
  return p_rule;
end
$$;

ALTER FUNCTION outbox.softened(p_rule outbox.failure_rule, p_provider jsonb) OWNER TO postgres;

-- Name: FUNCTION softened(p_rule outbox.failure_rule, p_provider jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.softened(p_rule outbox.failure_rule, p_provider jsonb) IS 'The rule, with a retry for what the provider itself calls transient.';

-- Name: spellings(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.spellings(p_recipient text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $_$
declare
  v_brazil text[] := pg_catalog.regexp_match(p_recipient, '^\+55([1-9][0-9])9?([6-9][0-9]{7})$');
  v_mexico text[] := pg_catalog.regexp_match(p_recipient, '^\+521?([1-9][0-9]{9})$');
begin
  -- The first is the number as its country's plan has it today.
  return case
    when v_brazil is not null then array[
      '+55' || v_brazil[1] || '9' || v_brazil[2], '+55' || v_brazil[1] || v_brazil[2]]
    when v_mexico is not null then array['+52' || v_mexico[1], '+521' || v_mexico[1]]
    else array[p_recipient]
  end;
end
$_$;

ALTER FUNCTION outbox.spellings(p_recipient text) OWNER TO postgres;

-- Name: FUNCTION spellings(p_recipient text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.spellings(p_recipient text) IS 'All ways to write a person''s number (E.164 with its +), the official one first.';

-- Name: step_function(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.step_function(p_function text) RETURNS regprocedure
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_function regprocedure;
begin
  v_function := pg_catalog.to_regprocedure(p_function || '(jsonb)');
  if v_function is null or p_function !~ '\.' then
    perform outbox.invalid('function',
      pg_catalog.format('%s(jsonb) does not exist', coalesce(p_function, 'null')),
      'Name the function of the step with its schema, such as public.reserve_stock');
  end if;
  if not exists (
    select from pg_catalog.pg_proc p
    where p.oid = v_function and p.prokind = 'f' and not p.proretset
      and p.prorettype = 'pg_catalog.jsonb'::regtype)
  then
    perform outbox.invalid('function', pg_catalog.format('%s does not return jsonb', v_function),
      'A step is a function (context jsonb) returns jsonb');
  end if;
  return v_function;
exception when invalid_name or syntax_error then
  raise exception using errcode = 'OH001',
    message = pg_catalog.format('function %s is not a name', p_function),
    hint = 'Expected a schema and a name, such as public.reserve_stock';
end
$$;

ALTER FUNCTION outbox.step_function(p_function text) OWNER TO postgres;

-- Name: FUNCTION step_function(p_function text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.step_function(p_function text) IS 'The function of that name (schema.name) that can be a step: it takes one jsonb and returns one. OH001.';

-- Name: still_due(uuid[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.still_due(p_endpoint_ids uuid[], p_now timestamp with time zone) RETURNS uuid[]
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
begin
  return nullif(array(
    select p.endpoint_id
    from pg_catalog.unnest(p_endpoint_ids) with ordinality as p (endpoint_id, place)
    cross join lateral (
      select g.next_at from outbox.gate g
      where g.endpoint_id = p.endpoint_id order by g.changed_at desc limit 1
    ) g
    where g.next_at <= p_now
    order by p.place), '{}');
end
$$;

ALTER FUNCTION outbox.still_due(p_endpoint_ids uuid[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION still_due(p_endpoint_ids uuid[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.still_due(p_endpoint_ids uuid[], p_now timestamp with time zone) IS 'Those of these endpoints, in the same order, whose gate is due; null when none is.';

-- Name: store_callbacks(text, text, jsonb, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.store_callbacks(p_app_id text, p_org_id text, p_updates jsonb, p_now timestamp with time zone) RETURNS bigint[]
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
  v_ids bigint[];
begin
  with given as (
    select g.*, x.problem is not null or coalesce(pg_catalog.length(g.key), 0) not between 1 and 128
        or pg_catalog.length(g.wamid) > 512 or pg_catalog.length(g.phone_number_id) > 64
        or g.kind not in ('status', 'message', 'preference', 'template', 'account', 'quality',
          'other')
        as unfit, outbox.callback_time(e.item -> 'at', p_now) as at, e.item
    from pg_catalog.jsonb_array_elements(p_updates) as e (item)
    cross join lateral pg_catalog.jsonb_to_record(
      case when pg_catalog.jsonb_typeof(e.item) = 'object' then e.item else '{}' end
    ) as g (key text, kind text, field text, waba_id text, phone_number_id text, display text,
      wamid text, status text, callback_data text, wa_id text, user_id text, problem text,
      data jsonb)
    cross join lateral (select g.problem) x
  ), met as (
    select g.*, c.endpoint_id, c.waba_id as of_waba,
      case
        when c.endpoint_id is not null then c.org_id
        -- What concerns an account concerns each of its channels, unless the caller named an org.
        when g.kind in ('template', 'account', 'quality') then p_org_id
      end as org_id,
      case
        when g.unfit then 'not_understood'
        when g.kind = 'other' then 'not_used'
        when g.kind in ('status', 'message', 'preference') then
          case
            when c.endpoint_id is null then 'unknown_number'
            when c.waba_id <> g.waba_id then 'wrong_account'
            when c.org_id <> p_org_id then 'org_mismatch'
          end
        else outbox.why_not_account(p_app_id, p_org_id, g.waba_id)
      end as reason
    from given g
    left join lateral (
      select c.* from outbox.whatsapp_channel c
      where c.phone_number_id = g.phone_number_id and c.app_id = p_app_id offset 0
    ) c on g.kind in ('status', 'message', 'preference')
  ), put as (
    insert into outbox.whatsapp_update (app_id, key, kind, field, waba_id, phone_number_id, display,
      wamid, status, callback_data, wa_id, user_id, happened_at, data, received_at, org_id,
      channel_id, message_id, attempt_id, state, reason)
    select p_app_id,
      -- Within the bounds of an index, whatever came.
      case when m.unfit then 'unfit ' || pg_catalog.md5(m.item::text) else m.key end,
      case when m.unfit then 'other' else m.kind end,
      pg_catalog.left(m.field, 64), pg_catalog.left(m.waba_id, 64),
      pg_catalog.left(m.phone_number_id, 64), pg_catalog.left(m.display, 32),
      pg_catalog.left(m.wamid, 512), pg_catalog.left(m.status, 64),
      pg_catalog.left(m.callback_data, 512), pg_catalog.left(m.wa_id, 64),
      pg_catalog.left(m.user_id, 256), m.at, coalesce(m.data, '{}'), p_now,
      -- What only the caller said counts where it was found to be so.
      case when m.endpoint_id is not null or m.reason is null then m.org_id end,
      m.endpoint_id, a.message_id, a.id,
      case when m.reason is null then 'stored' else 'skipped' end, m.reason
    from met m
    left join lateral outbox.find_attempt(m.org_id, m.phone_number_id, m.wamid, m.callback_data) a
      on m.kind = 'status' and m.reason is null
    -- Two calls with the same updates in another order wait for each other in one order.
    order by 2
    on conflict (app_id, key) do nothing
    returning id
  )
  select pg_catalog.array_agg(p.id order by p.id) into v_ids from put p;
  return coalesce(v_ids, '{}');
end
$$;

ALTER FUNCTION outbox.store_callbacks(p_app_id text, p_org_id text, p_updates jsonb, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION store_callbacks(p_app_id text, p_org_id text, p_updates jsonb, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.store_callbacks(p_app_id text, p_org_id text, p_updates jsonb, p_now timestamp with time zone) IS 'Stores those of a callback''s updates that are new and returns their ids: stored, or skipped where nothing can come of them. locks: keys in their order.';

-- Name: stored_credentials(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.stored_credentials(p_vault_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  if p_vault_id is null then
    return null;
  end if;
  return (
    select v.decrypted_secret::jsonb from vault.decrypted_secrets v where v.id = p_vault_id);
end
$$;

ALTER FUNCTION outbox.stored_credentials(p_vault_id uuid) OWNER TO postgres;

-- Name: FUNCTION stored_credentials(p_vault_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.stored_credentials(p_vault_id uuid) IS 'The credentials of an endpoint; null for none. For dispatch() alone.';

-- Name: stored_headers(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.stored_headers(p_vault_id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return coalesce(
    (select v.decrypted_secret::jsonb from vault.decrypted_secrets v where v.id = p_vault_id),
    '{}');
end
$$;

ALTER FUNCTION outbox.stored_headers(p_vault_id uuid) OWNER TO postgres;

-- Name: FUNCTION stored_headers(p_vault_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.stored_headers(p_vault_id uuid) IS 'The custom headers of an endpoint with their values. For dispatch() and set_headers() alone.';

-- Name: subscribe(uuid, text[], text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.subscribe(p_endpoint_id uuid, p_event_types text[], p_filter text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $_$
declare
  v_org text := (outbox.lock_endpoint(p_endpoint_id)).org_id;
  v_pattern text;
begin
  foreach v_pattern in array coalesce(p_event_types, '{}') loop
    if v_pattern is null or v_pattern !~ '^(\*|[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(\.\*)?)$'
      or pg_catalog.length(v_pattern) > 128
    then
      perform outbox.invalid('event_types',
        pg_catalog.format('holds %s', pg_catalog.quote_nullable(pg_catalog.left(v_pattern, 140))),
        'Expected an event type such as order.paid, a prefix such as order.*, or *');
    end if;
  end loop;
  insert into outbox.subscription as s (org_id, pattern, endpoint_id, filter, created_at)
  select v_org, p.pattern, p_endpoint_id, outbox.check_filter(p_filter), outbox.clock()
  from (select distinct pg_catalog.unnest(p_event_types) as pattern) p
  on conflict (org_id, pattern, endpoint_id) do update set filter = excluded.filter;
  return (
    select pg_catalog.jsonb_build_object('endpoint_id', p_endpoint_id,
      'event_types', pg_catalog.jsonb_agg(s.pattern order by s.pattern))
    from outbox.subscription s where s.endpoint_id = p_endpoint_id
  );
end
$_$;

ALTER FUNCTION outbox.subscribe(p_endpoint_id uuid, p_event_types text[], p_filter text) OWNER TO postgres;

-- Name: FUNCTION subscribe(p_endpoint_id uuid, p_event_types text[], p_filter text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.subscribe(p_endpoint_id uuid, p_event_types text[], p_filter text) IS 'Adds event types (exact, order.*, *) to an endpoint, each with the filter (jsonpath over the payload, or null), which replaces an earlier one; returns {"endpoint_id", "event_types"} with all it has now. OH001, OH002.';

-- Name: take(uuid[], integer, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.take(p_endpoint_ids uuid[], p_limit integer, p_now timestamp with time zone) RETURNS outbox.claimed
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_claimed outbox.claimed;
  v_share integer := pg_catalog.ceil(p_limit::numeric / pg_catalog.cardinality(p_endpoint_ids));
  v_bytes constant bigint := 4 * 1024 * 1024;
begin
  with ring as materialized (
    -- An open breaker whose time is up lets one delivery through, the probe.
    select g.id as gate_id, g.gate_at, g.lanes_from, o.place, c.chain, b.probing, t.tokens,
      e.rate_per_second,
      case
        when b.probing then 1
        else least(a.allowed - g.in_flight, greatest(e.quantum, v_share), p_limit,
          pg_catalog.floor(t.tokens)::integer)
      end as room,
      e.timeout_ms * interval '1 ms' + interval '5 s' as lease
    from pg_catalog.unnest(p_endpoint_ids) with ordinality as o (endpoint_id, place)
    cross join lateral (
      select g.ctid as gate_at, g.* from outbox.gate g
      where g.endpoint_id = o.endpoint_id order by g.changed_at desc limit 1
    ) g
    cross join lateral (
      select e.* from outbox.endpoint e where e.id = o.endpoint_id offset 0
    ) e
    cross join lateral (
      select e.breaker_enabled and g.breaker = 'open' and g.open_until <= p_now as probing
    ) b
    cross join lateral (
      select case
        when e.rate_per_second is not null then least(
          e.rate_burst,
          g.tokens + greatest(0, extract(epoch from p_now - g.tokens_at)) * e.rate_per_second)
      end as tokens
    ) t
    cross join lateral (
      select outbox.allowed_in_flight(
        e.max_in_flight, g.last_timed_out, greatest(g.ramp_from, e.ramp_from), p_now) as allowed
      offset 0
    ) a
    cross join lateral (
      select case
        when e.ordering <> 'none' then outbox.chain_length(o.endpoint_id, e.quantum, p_now)
      end as chain
      offset 0
    ) c
    where e.state = 'enabled' and g.not_before <= p_now
      and (b.probing or g.breaker = 'closed' or not e.breaker_enabled)
      and (b.probing or a.allowed > g.in_flight)
      and coalesce(t.tokens >= 1, true)
  ), turns as (
    -- Lanes in the order in which they fill the batch. given: what the ordered ones before this one
    -- give, who have their depth and wait for nothing. Beyond a full batch none is read: each of a
    -- hundred keys may have a whole quantum to give.
    select l.*,
      pg_catalog.sum(least(l.depth, l.most)) filter (where l.ordered and l.tokens is null)
        over (order by l.place, l.next_at, l.lane_id rows unbounded preceding exclude current row)
        as given
    from (
      select r.gate_at, r.place, r.room, r.lease, r.probing, r.tokens, r.rate_per_second, l.*,
        case when l.ordered and not r.probing then r.chain else r.room end as most
      from ring r
      cross join lateral (
        select l.ctid as lane_at, l.id as lane_id, l.ordered, l.next_at, l.head_at, l.depth
        from outbox.lane l
        where l.gate_id = r.gate_id and l.next_at >= r.lanes_from and l.next_at <= p_now
          and l.next_at < 'infinity'
          and (not l.ordered or l.leased = 0)
        order by l.next_at
        limit r.room
      ) l
    ) l
  ), seen as (
    -- One row per delivery that is free and due; a lane without any has one row of nulls. What is
    -- leased, at the head of an unordered lane, is passed by.
    select t.gate_at, t.place, t.room, t.lease, t.probing, t.tokens, t.rate_per_second,
      t.lane_id, t.lane_at, t.ordered, t.next_at, t.most,
      d.row_at, d.event_id, d.attempt, d.body_bytes, d.nth
    from turns t
    left join lateral (
      -- An ordered lane is due as a whole: its rows' due_at is their order, nothing else.
      select d.ctid as row_at, d.event_id, d.attempt, d.body_bytes,
        pg_catalog.row_number() over (order by d.due_at, d.event_id) as nth
      from outbox.delivery d
      where d.lane_id = t.lane_id and d.lane_id > 0 and d.due_at >= t.head_at
        and d.due_at <= case when t.ordered then 'infinity' else p_now end
        and d.leased_until is null
      order by d.due_at, d.event_id
      limit t.most + 1
    ) d on true
    where coalesce(t.given, 0) < p_limit
  ), ranked as (
    -- slot: how many requests of the gate this row makes; an ordered lane is sent one by one.
    -- spent: how many of its rate's tokens the gate has given out up to this row.
    select f.*,
      pg_catalog.count(*) filter (where f.fits) over round as rank,
      pg_catalog.sum(f.body_bytes) filter (where f.fits) over round as bytes
    from (
      select s.*, coalesce(s.nth <= s.most and s.slot <= s.room
        and s.spent <= coalesce(s.tokens, 'Infinity'), false) as fits
      from (
        select s.*,
          pg_catalog.count(*) filter (
            where s.row_at is not null and (not s.ordered or s.nth = 1)) over of_gate as slot,
          pg_catalog.count(*) filter (where s.nth <= s.most) over of_gate as spent
        from seen s
        window of_gate as (partition by s.place order by s.next_at, s.lane_id, s.nth)
      ) s
    ) f
    -- As of_gate is sorted: one sort serves both.
    window round as (order by f.place, f.next_at, f.lane_id, f.nth)
  ), marked as materialized (
    select r.gate_at, r.lane_at, r.row_at, r.lane_id, r.ordered, r.lease, r.probing, r.tokens,
      r.rate_per_second, r.event_id, r.attempt, r.rank,
      r.fits and r.rank <= p_limit and (r.bytes <= v_bytes or r.rank = 1) as picked
    from ranked r
  ), by_lane as materialized (
    select m.gate_at, m.lane_at, m.ordered, m.tokens, m.rate_per_second,
      (pg_catalog.array_agg(m.event_id) filter (where m.picked and m.probing))[1]
        as probe_event,
      (pg_catalog.array_agg(m.attempt + 1) filter (where m.picked and m.probing))[1]
        as probe_attempt,
      pg_catalog.count(m.row_at) as n,
      pg_catalog.count(*) filter (where m.picked)::integer as taken,
      case when pg_catalog.bool_or(m.picked) then p_now + m.lease end as lease_end
    from marked m
    group by m.gate_at, m.lane_at, m.ordered, m.lease, m.tokens, m.rate_per_second
  ), lanes as (
    update outbox.lane l set
      head_at = coalesce(
        (select d.due_at from outbox.delivery d
         where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= l.head_at
           and d.due_at <= case when b.ordered then 'infinity' else p_now end
         order by d.due_at limit 1),
        case when b.ordered then l.head_at else greatest(l.head_at, p_now) end),
      leased = l.leased + b.taken,
      -- The first may have ended with a result meanwhile: lose_leases() looks again then.
      leased_until = least(l.leased_until, b.lease_end),
      changed_at = pg_catalog.date_trunc('second', p_now),
      next_at = case
        when b.ordered and b.taken > 0 then b.lease_end
        when b.n > b.taken then p_now
        else greatest(p_now, coalesce(
          least(l.leased_until, b.lease_end, (
            select d.due_at from outbox.delivery d
            where d.lane_id = l.id and d.lane_id > 0 and d.due_at > p_now
            order by d.due_at limit 1)),
          'infinity'))
      end
    from by_lane b
    -- A lane that was served nothing for want of room keeps its turn.
    where l.ctid = b.lane_at and (b.taken > 0 or b.n = 0)
    returning b.gate_at, b.taken,
      case when b.ordered then least(b.taken, 1) else b.taken end as slots,
      b.probe_event, b.probe_attempt, b.tokens, b.rate_per_second
  ), gates as (
    update outbox.gate g set
      in_flight = g.in_flight + s.slots,
      changed_at = pg_catalog.date_trunc('second', p_now),
      tokens = coalesce(s.tokens - s.taken, g.tokens),
      tokens_at = case when s.tokens is null then g.tokens_at else p_now end,
      not_before = case
        when s.tokens - s.taken < 1 then greatest(
          g.not_before,
          p_now + (1 - (s.tokens - s.taken)) / s.rate_per_second * interval '1 s')
        else g.not_before
      end,
      breaker = case when s.probe_event is null then g.breaker else 'half_open' end,
      probe_event = coalesce(s.probe_event, g.probe_event),
      probe_attempt = coalesce(s.probe_attempt, g.probe_attempt)
    from (
      select l.gate_at, l.tokens, l.rate_per_second,
        pg_catalog.sum(l.slots) as slots,
        pg_catalog.sum(l.taken) as taken,
        (pg_catalog.array_agg(l.probe_event) filter (where l.probe_event is not null))[1]
          as probe_event,
        pg_catalog.max(l.probe_attempt) as probe_attempt
      from lanes l
      group by l.gate_at, l.tokens, l.rate_per_second
    ) s
    where g.ctid = s.gate_at and s.slots > 0
  ), held as (
    -- By ctid: whoever could move the row waits for the gate.
    update outbox.delivery d set
      attempt = d.attempt + 1,
      leased_until = p_now + m.lease
    from marked m
    where d.ctid = m.row_at and m.picked
    returning d.event_id, d.endpoint_id, d.attempt, d.tries, d.lane_id, m.ordered,
      d.replayed_at is not null as replayed,
      (extract(epoch from d.leased_until - p_now) * 1000)::integer as lease_ms, m.rank
  )
  -- Sorted once, where "order by" within the aggregates would sort for each of them.
  select pg_catalog.array_agg(h.event_id), pg_catalog.array_agg(h.endpoint_id),
    pg_catalog.array_agg(h.attempt), pg_catalog.array_agg(h.tries),
    pg_catalog.array_agg(h.lane_id), pg_catalog.array_agg(h.ordered),
    pg_catalog.array_agg(h.replayed), pg_catalog.array_agg(h.lease_ms)
  into v_claimed
  from (select h.* from held h order by h.rank) h;
  return v_claimed;
end
$$;

ALTER FUNCTION outbox.take(p_endpoint_ids uuid[], p_limit integer, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION take(p_endpoint_ids uuid[], p_limit integer, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.take(p_endpoint_ids uuid[], p_limit integer, p_now timestamp with time zone) IS 'Leases due deliveries of these endpoints, at most p_limit and 4 MiB of bodies, round after round of the ring. locks: the caller holds the gates.';

-- Name: take_inbound(outbox.whatsapp_update, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.take_inbound(p_update outbox.whatsapp_update, p_now timestamp with time zone, OUT reason text, OUT wishes outbox.wish[]) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_contact uuid := outbox.contact_of(p_update.org_id, p_update.wa_id, p_update.user_id,
    p_update.data -> 'contact', p_now);
  v_recipients text[] :=
    outbox.recipients_of(p_update.org_id, p_update.wa_id, p_update.user_id);
  v_message outbox.inbound_message;
  v_action text;
begin
  insert into outbox.inbound_message as m (org_id, channel_id, phone_number_id, wamid, contact_id,
    type, text, reply_to, payload, sent_at, received_at)
  values (p_update.org_id, p_update.channel_id, p_update.phone_number_id, p_update.wamid, v_contact,
    coalesce(p_update.status, 'unknown'), outbox.inbound_text(p_update.data),
    outbox.answered_message(p_update), p_update.data - 'contact', p_update.happened_at, p_now)
  -- WhatsApp may send what it could not show, and the same id again once it can.
  on conflict (phone_number_id, wamid) do update set
    type = excluded.type, text = excluded.text, reply_to = excluded.reply_to,
    payload = excluded.payload
  where m.type = 'unsupported' and excluded.type <> 'unsupported' and m.org_id = excluded.org_id
  returning m.* into v_message;
  if v_message.id is null then
    reason := 'already';
    return;
  end if;
  if v_message.type <> 'system' then
    perform outbox.open_window(p_update.channel_id, r, p_update.happened_at)
    from pg_catalog.unnest(v_recipients) r;
  end if;
  v_action := outbox.reply_action(p_update.org_id, p_update.data);
  if v_action is not null then
    wishes := outbox.wishes_of(p_update, v_contact, v_recipients, array['ALL'],
      v_action = 'START', pg_catalog.format('inbound %s', v_action));
    if v_action = 'START' then
      wishes := wishes || outbox.wishes_of(p_update, v_contact, v_recipients, array['MARKETING'],
        true, 'inbound START');
    end if;
  elsif p_update.data #>> '{system,type}' in ('user_changed_number', 'customer_changed_number') then
    -- Whoever gets the number next has agreed to nothing.
    wishes := outbox.wishes_of(p_update, v_contact,
      array[outbox.number_of(p_update.wa_id)], array['ALL'], false, 'number changed');
  end if;
  perform outbox.publish_inbound(v_message, p_update, v_action, p_now);
end
$$;

ALTER FUNCTION outbox.take_inbound(p_update outbox.whatsapp_update, p_now timestamp with time zone, OUT reason text, OUT wishes outbox.wish[]) OWNER TO postgres;

-- Name: FUNCTION take_inbound(p_update outbox.whatsapp_update, p_now timestamp with time zone, OUT reason text, OUT wishes outbox.wish[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.take_inbound(p_update outbox.whatsapp_update, p_now timestamp with time zone, OUT reason text, OUT wishes outbox.wish[]) IS 'Keeps one inbound message, opens the window, publishes it, and returns what the person wants; reason: why nothing was done.';

-- Name: take_key(outbox.event); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.take_key(p_event outbox.event) RETURNS uuid
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_content bytea := outbox.event_content(p_event);
  v_held outbox.idempotency_key;
begin
  -- A publisher that has not committed makes the next one with its key wait, and no other.
  insert into outbox.idempotency_key as k (org_id, key, event_id, content, created_at)
  values (p_event.org_id, p_event.idempotency_key, p_event.id, v_content, p_event.created_at)
  on conflict (org_id, key) do update
    set event_id = excluded.event_id, content = excluded.content, created_at = excluded.created_at
    where k.created_at <= excluded.created_at - outbox.key_window();
  if found then
    return null;
  end if;
  select *
  into v_held
  from outbox.idempotency_key k
  where k.org_id = p_event.org_id and k.key = p_event.idempotency_key;
  if v_held.content <> v_content then
    raise exception using errcode = 'OH003',
      message = pg_catalog.format(
        'idempotency_key was used within %s hours for an event with other content',
        outbox.setting_int('idempotency.window_hours')),
      detail = pg_catalog.format('It belongs to event %s', v_held.event_id),
      hint =
        'Use a new key for a new event, or publish the same type, payload, partition key, '
        'endpoint and deliver_at';
  end if;
  return v_held.event_id;
end
$$;

ALTER FUNCTION outbox.take_key(p_event outbox.event) OWNER TO postgres;

-- Name: FUNCTION take_key(p_event outbox.event); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.take_key(p_event outbox.event) IS 'Takes the event''s idempotency key for idempotency.window_hours and returns null, or returns the id of the event that has it. OH003: that event has other content.';

-- Name: take_messages(outbox.claimed, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.take_messages(p_claimed outbox.claimed, p_now timestamp with time zone) RETURNS outbox.claimed
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
  v_row record;
  v_message outbox.outbound_message;
  v_delivery outbox.delivery;
  v_why text;
  v_refused jsonb[] := array[]::jsonb[];
  v_held boolean;
  v_one jsonb;
  v_kept outbox.claimed;
begin
  for v_row in
    select c.event_id, c.endpoint_id, c.attempt, w.phone_number_id, d.tries, m.id
    from unnest(p_claimed.events, p_claimed.endpoints, p_claimed.attempts)
      as c (event_id, endpoint_id, attempt)
    join outbox.whatsapp_channel w on w.endpoint_id = c.endpoint_id
    join outbox.delivery d on d.event_id = c.event_id and d.endpoint_id = c.endpoint_id
    left join outbox.outbound_message m
      on m.event_id = c.event_id and m.channel_id = c.endpoint_id
    order by m.id
  loop
    select * into v_message from outbox.outbound_message m where m.id = v_row.id for update;
    v_why := outbox.why_not_send(v_message, v_row.event_id, v_row.endpoint_id, p_now);
    v_held := v_why is null and outbox.is_template_held(v_message);
    if v_why is null and not v_held then
      perform outbox.begin_attempt(v_message, v_row.phone_number_id, v_row.event_id,
        v_row.attempt, v_row.tries + 1, p_now);
    else
      v_refused := v_refused || pg_catalog.jsonb_build_object('event', v_row.event_id,
        'endpoint', v_row.endpoint_id, 'attempt', v_row.attempt, 'why', v_why);
    end if;
  end loop;
  if pg_catalog.cardinality(v_refused) = 0 then
    return p_claimed;
  end if;
  perform outbox.complete(array(
    select row((r ->> 'event')::uuid, (r ->> 'endpoint')::uuid, (r ->> 'attempt')::integer,
      'released', null, null, null, null, null, null, null, null, null, null)::outbox.result
    from pg_catalog.unnest(v_refused) r), p_now);
  foreach v_one in array v_refused loop
    select * into v_delivery from outbox.delivery d
    where d.event_id = (v_one ->> 'event')::uuid and d.endpoint_id = (v_one ->> 'endpoint')::uuid;
    if v_one ->> 'why' is null then
      perform outbox.rest_lane(v_delivery.lane_id, interval '1 minute', p_now);
    else
      perform outbox.close_delivery(v_delivery, 'cancelled', v_one ->> 'why', p_now);
    end if;
  end loop;
  select pg_catalog.array_agg(c.event_id order by c.place),
    pg_catalog.array_agg(c.endpoint_id order by c.place),
    pg_catalog.array_agg(c.attempt order by c.place),
    pg_catalog.array_agg(c.tries order by c.place),
    pg_catalog.array_agg(c.lane_id order by c.place),
    pg_catalog.array_agg(c.ordered order by c.place),
    pg_catalog.array_agg(c.replayed order by c.place),
    pg_catalog.array_agg(c.lease_ms order by c.place)
  into v_kept
  from unnest(p_claimed.events, p_claimed.endpoints, p_claimed.attempts, p_claimed.tries,
    p_claimed.lanes, p_claimed.ordered, p_claimed.replayed, p_claimed.leases_ms) with ordinality
    as c (event_id, endpoint_id, attempt, tries, lane_id, ordered, replayed, lease_ms, place)
  where not exists (
    select from pg_catalog.unnest(v_refused) r
    where r ->> 'event' = c.event_id::text and r ->> 'endpoint' = c.endpoint_id::text);
  return v_kept;
end
$$;

ALTER FUNCTION outbox.take_messages(p_claimed outbox.claimed, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION take_messages(p_claimed outbox.claimed, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.take_messages(p_claimed outbox.claimed, p_now timestamp with time zone) IS 'Makes the messages among claimed deliveries SENDING, each with its attempt; one that must not be sent now is failed and its delivery closed, one whose template is held is looked at again in a minute. Returns what is left to send. locks: the caller holds the gates; messages by id.';

-- Name: take_notice(outbox.whatsapp_update, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.take_notice(p_update outbox.whatsapp_update, p_now timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_rule outbox.notice_rule;
  v_why text;
  v_channels uuid[];
begin
  v_rule := outbox.notice_rule_of(p_update);
  if v_rule.action is null then
    return 'not_used';
  end if;
  v_why := pg_catalog.concat_ws(': ', v_rule.title, outbox.notice_reason(p_update.data));
  if v_rule.cause = 'template' and v_rule.action <> 'note' then
    return outbox.hold_template(p_update, v_rule, v_why, p_now);
  end if;
  v_channels := outbox.channels_of(p_update);
  perform outbox.put_news('outhook.whatsapp.notice', array(
    select pg_catalog.json_build_object('endpointId', c.endpoint_id, 'orgId', c.org_id,
      'field', p_update.field, 'event', v_rule.event, 'reason', v_why,
      'template', p_update.data ->> 'message_template_name')::text
    from outbox.whatsapp_channel c where c.endpoint_id = any (v_channels) order by c.endpoint_id),
    p_now);
  if v_rule.cause = 'quality' then
    update outbox.whatsapp_channel c set quality = pg_catalog.concat_ws(' ', v_rule.event,
      p_update.data ->> 'current_limit')
    where c.endpoint_id = any (v_channels);
  end if;
  if v_rule.action <> 'note' then
    perform outbox.hold_channel(c, v_rule.cause, v_rule.action = 'hold', v_why,
      p_update.happened_at, outbox.notice_end(p_update.data), p_now)
    from pg_catalog.unnest(v_channels) c;
  end if;
  return null;
end
$$;

ALTER FUNCTION outbox.take_notice(p_update outbox.whatsapp_update, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION take_notice(p_update outbox.whatsapp_update, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.take_notice(p_update outbox.whatsapp_update, p_now timestamp with time zone) IS 'Applies one update of a template, account or number; returns why it does nothing, if so.';

-- Name: take_preference(outbox.whatsapp_update, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.take_preference(p_update outbox.whatsapp_update, p_now timestamp with time zone, OUT reason text, OUT wishes outbox.wish[]) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_contact uuid;
begin
  reason := case
    when p_update.data ->> 'category' <> 'marketing_messages' then 'not_used'
    when coalesce(p_update.status, '') not in ('stop', 'resume', 'signup') then 'unknown_status'
    when p_update.wa_id is null and p_update.user_id is null then 'unknown_person'
  end;
  if reason is null then
    v_contact := outbox.contact_of(p_update.org_id, p_update.wa_id, p_update.user_id,
      p_update.data -> 'contact', p_now);
    wishes := outbox.wishes_of(p_update, v_contact,
      outbox.recipients_of(p_update.org_id, p_update.wa_id, p_update.user_id),
      array['MARKETING'], p_update.status <> 'stop', 'preference ' || p_update.status);
  end if;
end
$$;

ALTER FUNCTION outbox.take_preference(p_update outbox.whatsapp_update, p_now timestamp with time zone, OUT reason text, OUT wishes outbox.wish[]) OWNER TO postgres;

-- Name: FUNCTION take_preference(p_update outbox.whatsapp_update, p_now timestamp with time zone, OUT reason text, OUT wishes outbox.wish[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.take_preference(p_update outbox.whatsapp_update, p_now timestamp with time zone, OUT reason text, OUT wishes outbox.wish[]) IS 'What a person said by WhatsApp''s own button about marketing messages.';

-- Name: take_requests(text, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.take_requests(p_org_id text, p_count integer) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_rate float8 := outbox.setting_int('api.requests_per_second');
  v_burst float8 := outbox.setting_int('api.burst');
  v_tokens float8;
  v_granted integer;
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_range('count', p_count, 1, 1000);
  insert into outbox.request_bucket as b (org_id, tokens, filled_at)
  values (p_org_id, v_burst, v_now)
  on conflict (org_id) do update
    set tokens = least(v_burst, b.tokens
        + v_rate * greatest(extract(epoch from excluded.filled_at - b.filled_at), 0)),
      filled_at = greatest(b.filled_at, excluded.filled_at)
  returning b.tokens into v_tokens;
  v_granted := least(p_count, pg_catalog.floor(v_tokens));
  if v_granted > 0 then
    update outbox.request_bucket b set tokens = b.tokens - v_granted where b.org_id = p_org_id;
  end if;
  return pg_catalog.jsonb_build_object('granted', v_granted, 'retryAfterMs',
    case
      when v_granted > 0 then 0
      else pg_catalog.ceil((1 - v_tokens) / v_rate * 1000)
    end);
end
$$;

ALTER FUNCTION outbox.take_requests(p_org_id text, p_count integer) OWNER TO postgres;

-- Name: FUNCTION take_requests(p_org_id text, p_count integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.take_requests(p_org_id text, p_count integer) IS 'Takes up to p_count requests from what an org may send (settings api.requests_per_second and api.burst): {"granted", "retryAfterMs": until there is one more, 0 when any was granted}. OH001.';

-- Name: targets(outbox.pair[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.targets(p_pairs outbox.pair[], p_now timestamp with time zone) RETURNS outbox.target[]
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_nestloop TO 'on'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  return array(
    select row(
      p.endpoint_id, p.key_hash, g.id, g.gate_at, l.id, l.lane_at, e.ordered,
      -- A head that is hours ahead was noted while the clock was: what is new does not wait for it.
      greatest(p_now, case
        when e.ordered then l.tail_at
        when l.head_at < p_now + interval '10 s' then l.head_at
      end)
    )::outbox.target
    from (select distinct p.endpoint_id, p.key_hash from pg_catalog.unnest(p_pairs) p) p
    cross join lateral (
      select e.ordering <> 'none' as ordered from outbox.endpoint e
      where e.id = p.endpoint_id offset 0
    ) e
    cross join lateral (
      select g.id, g.ctid as gate_at from outbox.gate g
      where g.endpoint_id = p.endpoint_id order by g.changed_at desc limit 1
    ) g
    left join lateral (
      select l.id, l.ctid as lane_at, l.tail_at, l.head_at from outbox.lane l
      where l.gate_id = g.id and l.ordered = e.ordered and l.key_hash = p.key_hash
      order by l.changed_at desc limit 1
    ) l on true);
end
$$;

ALTER FUNCTION outbox.targets(p_pairs outbox.pair[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION targets(p_pairs outbox.pair[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.targets(p_pairs outbox.pair[], p_now timestamp with time zone) IS 'The lanes that deliveries of these pairs go to. locks: the caller holds the gates.';

-- Name: tell_statuses(outbox.status_change[], outbox.message_move[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.tell_statuses(p_changes outbox.status_change[], p_moves outbox.message_move[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
begin
  perform outbox.tell_taken(p_moves, p_now);
  insert into outbox.audit_event (
    org_id, entity_type, entity_id, action, details, actor, created_at)
  select m.org_id, 'OUTBOUND_MESSAGE', m.id::text, 'UPDATED',
    'Delivery status updated to: ' || c.status, null, p_now
  from pg_catalog.unnest(p_changes) with ordinality as c (update_id, attempt_id, message_id, status,
    rank, at, wamid, code, title, details, noted, state, reason, place)
  cross join lateral (
    select x.* from outbox.outbound_message x where x.id = c.message_id offset 0
  ) m
  where c.state = 'applied'
  order by c.place;
  insert into outbox.activity (org_id, dossier_id, type, metadata, created_at)
  select m.org_id, m.dossier_id, t.type,
    pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('messageId', m.id::text,
      'channel', m.channel, 'templateCode', m.template_code, 'status', m.status,
      'deliveryStatus', c.status, 'at', outbox.iso_time(c.at), 'errorCode', c.code,
      'error', c.title, 'details', c.details)), p_now
  from pg_catalog.unnest(p_changes) with ordinality as c (update_id, attempt_id, message_id, status,
    rank, at, wamid, code, title, details, noted, state, reason, place)
  cross join lateral (
    select x.* from outbox.outbound_message x where x.id = c.message_id offset 0
  ) m
  cross join (values (1, 'MESSAGE_STATUS_UPDATE'), (2, 'MESSAGE_FAILED')) as t (n, type)
  where c.state = 'applied' and m.dossier_id is not null and (t.n = 1 or c.rank = 4)
  order by c.place, t.n;
  perform outbox.publish_statuses(p_changes, p_now);
end
$$;

ALTER FUNCTION outbox.tell_statuses(p_changes outbox.status_change[], p_moves outbox.message_move[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION tell_statuses(p_changes outbox.status_change[], p_moves outbox.message_move[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.tell_statuses(p_changes outbox.status_change[], p_moves outbox.message_move[], p_now timestamp with time zone) IS 'Writes audit, activity and events of the statuses that were applied.';

-- Name: tell_taken(outbox.message_move[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.tell_taken(p_moves outbox.message_move[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_message outbox.outbound_message;
begin
  -- Nobody has told of these yet: their answers were lost, or are still on their way.
  for v_message in
    select m.* from pg_catalog.unnest(p_moves) x
    cross join lateral (
      select o.* from outbox.outbound_message o where o.id = x.message_id offset 0
    ) m
    where x.was in ('QUEUED', 'SENDING') and x.became in ('SENT', 'DELIVERED')
    order by m.id
  loop
    perform outbox.audit(v_message.org_id, 'OUTBOUND_MESSAGE', v_message.id::text, 'SENT',
      'Message sent successfully', null, p_now);
    perform outbox.note_activity(v_message, 'MESSAGE_SENT', '{}', p_now);
  end loop;
end
$$;

ALTER FUNCTION outbox.tell_taken(p_moves outbox.message_move[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION tell_taken(p_moves outbox.message_move[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.tell_taken(p_moves outbox.message_move[], p_now timestamp with time zone) IS 'Writes that messages were sent of which callbacks say so before any answer.';

-- Name: template_json(text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.template_json(p_org_id text, p_code text) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
declare
  v_json jsonb;
begin
  select pg_catalog.jsonb_build_object('code', t.code, 'name', t.name, 'language', t.language,
    'category', t.category, 'parameterFormat', t.parameter_format,
    'createdAt', outbox.iso_time(t.created_at), 'updatedAt', outbox.iso_time(t.updated_at))
  into v_json
  from outbox.template t where t.org_id = p_org_id and t.code = p_code;
  if v_json is null then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('template %s does not exist',
        pg_catalog.quote_nullable(pg_catalog.left(p_code, 140))),
      hint = 'put_template() makes one; list_templates() shows those that there are';
  end if;
  return v_json;
end
$$;

ALTER FUNCTION outbox.template_json(p_org_id text, p_code text) OWNER TO postgres;

-- Name: FUNCTION template_json(p_org_id text, p_code text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.template_json(p_org_id text, p_code text) IS 'A template as the API shows it. OH002.';

-- Name: template; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.template (
    org_id text NOT NULL,
    code text NOT NULL,
    name text NOT NULL,
    language text NOT NULL,
    category text NOT NULL,
    parameter_format text DEFAULT 'POSITIONAL'::text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT template_category_is_known CHECK ((category = ANY (ARRAY['MARKETING'::text, 'UTILITY'::text, 'AUTHENTICATION'::text]))),
    CONSTRAINT template_parameter_format_is_known CHECK ((parameter_format = ANY (ARRAY['POSITIONAL'::text, 'NAMED'::text])))
);

ALTER TABLE outbox.template OWNER TO postgres;

-- Name: TABLE template; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.template IS 'The templates of an org under codes of its own: what Meta calls each (name and language), its category, and whether its parameters have numbers or names.';

-- Name: templates_of(text, text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.templates_of(p_app_id text, p_waba_id text, p_name text, p_language text) RETURNS SETOF outbox.template
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  return query
  select distinct t.* from outbox.whatsapp_channel c
  join outbox.template t on t.org_id = c.org_id
  where c.app_id = p_app_id and c.waba_id = p_waba_id and t.name = p_name
    and t.language = p_language
  order by 1, 2;
end
$$;

ALTER FUNCTION outbox.templates_of(p_app_id text, p_waba_id text, p_name text, p_language text) OWNER TO postgres;

-- Name: FUNCTION templates_of(p_app_id text, p_waba_id text, p_name text, p_language text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.templates_of(p_app_id text, p_waba_id text, p_name text, p_language text) IS 'The codes that organisations of an account have for a template.';

-- Name: test_org_endpoint(text, uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.test_org_endpoint(p_org_id text, p_endpoint_id uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  return pg_catalog.jsonb_build_object(
    'eventId', outbox.send_test_event(p_endpoint_id) -> 'event_id');
end
$$;

ALTER FUNCTION outbox.test_org_endpoint(p_org_id text, p_endpoint_id uuid) OWNER TO postgres;

-- Name: FUNCTION test_org_endpoint(p_org_id text, p_endpoint_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.test_org_endpoint(p_org_id text, p_endpoint_id uuid) IS 'Sends an endpoint a test event, as send_test_event() does: {"eventId"}. OH002, OH004, OH006.';

-- Name: throttle_apps(outbox.result[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.throttle_apps(p_results outbox.result[], p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_endpoints uuid[];
  v_waits interval[];
  v_locked uuid[];
  v_longest integer := outbox.setting_int('retry_after.max_s');
begin
  select pg_catalog.array_agg(o.id), pg_catalog.array_agg(o.wait) into v_endpoints, v_waits
  from (
    select o.endpoint_id as id, pg_catalog.max(greatest(
      outbox.retry_after(r.retry_after, p_now, v_longest), f.min_delay_s * interval '1 s')) as wait
    from pg_catalog.unnest(p_results) r
    cross join lateral (
      select outbox.failure_rule_of('whatsapp', r.status, r.error_class, r.code,
        r.provider ->> 'subcode') as rule
      where r.outcome = 'failed' offset 0
    ) x
    cross join lateral (select (x.rule).*) f
    join outbox.whatsapp_channel w on w.endpoint_id = r.endpoint
    join outbox.whatsapp_channel o on o.endpoint_id <> w.endpoint_id
      and case f.scope when 'app' then o.app_id = w.app_id else o.waba_id = w.waba_id end
    where f.action = 'throttle' and f.scope in ('app', 'account')
    group by o.endpoint_id
  ) o;
  if v_endpoints is not null then
    -- Nobody is waited for: a number whose gate is held hears of it from WhatsApp itself.
    v_locked := outbox.try_lock_gates(v_endpoints);
    update outbox.gate g set not_before = greatest(g.not_before, p_now + o.wait)
    from unnest(v_endpoints, v_waits) as o (id, wait)
    where g.endpoint_id = o.id and o.id = any (v_locked);
    perform outbox.park(v_locked, p_now);
  end if;
end
$$;

ALTER FUNCTION outbox.throttle_apps(p_results outbox.result[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION throttle_apps(p_results outbox.result[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.throttle_apps(p_results outbox.result[], p_now timestamp with time zone) IS 'Holds back the other numbers of a Meta app, or of an account, whose calls are used up, as apply_results() did with the one that was told. locks: gates with SKIP LOCKED.';

-- Name: tick(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.tick() RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_now timestamptz := outbox.clock();
  v_kicked boolean := false;
  v_live integer;
  v_from timestamptz := outbox.ring_from(v_now);
  v_behind boolean;
begin
  perform outbox.upkeep(v_now);
  -- A longer worker.poll_interval_ms: the tick looks in one second of so many.
  if not outbox.setting_on('worker.enabled')
    or pg_catalog.floor(extract(epoch from v_now))::bigint
      % greatest(1, outbox.setting_int('worker.poll_interval_ms') / 1000) <> 0
    or not outbox.has_due(v_now)
  then
    return pg_catalog.jsonb_build_object('kicked', false);
  end if;
  select pg_catalog.count(*)
  into v_live
  from outbox.run r
  where r.ended_at is null and r.polled_at > v_now - interval '2 s'
    and r.polled_at <= v_now + interval '10 s';
  -- Work that has waited for a second although a run is alive wants one more.
  v_behind := exists (
    select from outbox.gate g
    where g.next_at >= v_from and g.next_at <= v_now - interval '1 s' and g.next_at < 'infinity'
  );
  if outbox.is_quiet(v_now) or (v_behind and v_live < outbox.setting_int('worker.max_runs')) then
    v_kicked := outbox.kick('tick');
  end if;
  return pg_catalog.jsonb_build_object('kicked', v_kicked, 'runs', v_live);
end
$$;

ALTER FUNCTION outbox.tick() OWNER TO postgres;

-- Name: FUNCTION tick(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.tick() IS 'What pg_cron does every second: sees to the upkeep, and kicks a run if work is due and too few are alive. Returns {"kicked", "runs"}.';

-- Name: time_span(timestamp with time zone, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.time_span(p_from timestamp with time zone, p_to timestamp with time zone) RETURNS uuid[]
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  if p_from >= p_to then
    perform outbox.invalid('from', 'does not lie before to', 'Expected a span of time');
  end if;
  return array[
    outbox.uuid_v7_floor(coalesce(greatest(p_from, '1970-01-01 00:00:00+00'),
      '1970-01-01 00:00:00+00')),
    outbox.uuid_v7_floor(coalesce(least(p_to, '9999-12-31 00:00:00+00'),
      '9999-12-31 00:00:00+00'))];
end
$$;

ALTER FUNCTION outbox.time_span(p_from timestamp with time zone, p_to timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION time_span(p_from timestamp with time zone, p_to timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.time_span(p_from timestamp with time zone, p_to timestamp with time zone) IS 'The lowest event id of a span of time, and the lowest behind it. OH001.';

-- Name: to_cursor(timestamp with time zone, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.to_cursor(p_at timestamp with time zone, p_id text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    AS $$
begin
  return pg_catalog.translate(
    pg_catalog.encode(
      pg_catalog.convert_to(
        pg_catalog.format('%s %s', (extract(epoch from p_at) * 1000000)::bigint, p_id), 'UTF8'),
      'base64'),
    E'+/=\n', '-_');
end
$$;

ALTER FUNCTION outbox.to_cursor(p_at timestamp with time zone, p_id text) OWNER TO postgres;

-- Name: FUNCTION to_cursor(p_at timestamp with time zone, p_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.to_cursor(p_at timestamp with time zone, p_id text) IS 'The place behind one row of a list that is ordered by (time, id), as opaque text.';

-- Name: touch_run(uuid, text, timestamp with time zone, boolean); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.touch_run(p_run uuid, p_kind text, p_now timestamp with time zone, p_ended boolean) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_run outbox.run;
  v_stop text;
  v_is_new boolean;
begin
  select * into v_run from outbox.run r where r.id = p_run;
  v_is_new := not found;
  if v_is_new then
    v_run := row(p_run, p_kind, p_now, p_now, null)::outbox.run;
  end if;
  v_stop := case
    when not outbox.setting_on('worker.enabled') then 'disabled'
    when outbox.is_crowded(v_run, p_now) then 'too_many_runs'
  end;
  if v_is_new then
    -- A run that is turned away leaves no row: the tick starts one a second, and those would keep
    -- each next one out.
    if v_stop is null then
      insert into outbox.run select v_run.* on conflict do nothing;
    end if;
    perform outbox.count_up('runs', array[p_kind, coalesce(v_stop, 'started')]);
    delete from outbox.run r where r.polled_at < p_now - interval '1 hour';
    delete from outbox.run_batch b where b.at < p_now - interval '1 hour';
  elsif p_ended or v_stop is not null or v_run.ended_at is not null
    or v_run.polled_at not between p_now - interval '100 ms' and p_now
  then
    -- SKIP LOCKED: two calls of one run may overlap, and neither waits for the other's note.
    update outbox.run r set
      polled_at = p_now,
      ended_at = case when p_ended or v_stop is not null then p_now end
    where r.id = (select l.id from outbox.run l where l.id = p_run for update skip locked);
  end if;
  return v_stop;
end
$$;

ALTER FUNCTION outbox.touch_run(p_run uuid, p_kind text, p_now timestamp with time zone, p_ended boolean) OWNER TO postgres;

-- Name: FUNCTION touch_run(p_run uuid, p_kind text, p_now timestamp with time zone, p_ended boolean); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.touch_run(p_run uuid, p_kind text, p_now timestamp with time zone, p_ended boolean) IS 'Notes that a run polls; returns why it should stop (too_many_runs, disabled) or null. Of two runs too many the younger one stops, and one that is told to stop counts no more.';

-- Name: touched_events(outbox.routing); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.touched_events(p_batch outbox.routing) RETURNS uuid[]
    LANGUAGE sql IMMUTABLE
    SET search_path TO ''
    AS $$
  select case
    when p_batch.cut_event is null then p_batch.events
    else p_batch.events || p_batch.cut_event
  end
$$;

ALTER FUNCTION outbox.touched_events(p_batch outbox.routing) OWNER TO postgres;

-- Name: FUNCTION touched_events(p_batch outbox.routing); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.touched_events(p_batch outbox.routing) IS 'The events that a batch makes deliveries of: those that it finishes, and the one that it leaves half done.';

-- Name: try_apply(bigint[], timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.try_apply(p_ids bigint[], p_now timestamp with time zone) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  begin
    perform outbox.apply_updates(p_ids, p_now);
  exception when query_canceled or others then
    perform outbox.put_off(p_ids, sqlerrm, sqlstate, p_now);
    return false;
  end;
  return true;
end
$$;

ALTER FUNCTION outbox.try_apply(p_ids bigint[], p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION try_apply(p_ids bigint[], p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.try_apply(p_ids bigint[], p_now timestamp with time zone) IS 'Applies stored updates; when that fails they stay stored, to be looked at again. True if it did.';

-- Name: try_lock_gates(uuid[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.try_lock_gates(p_endpoint_ids uuid[]) RETURNS uuid[]
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
begin
  return array(
    select g.endpoint_id
    from (
      select n.id
      from pg_catalog.unnest(p_endpoint_ids) e
      cross join lateral (
        select g.id from outbox.gate g where g.endpoint_id = e order by g.changed_at desc limit 1
      ) n
      order by n.id
    ) o
    cross join lateral (
      select g.endpoint_id from outbox.gate g where g.id = o.id order by g.changed_at desc limit 1
      for no key update skip locked
    ) g);
end
$$;

ALTER FUNCTION outbox.try_lock_gates(p_endpoint_ids uuid[]) OWNER TO postgres;

-- Name: FUNCTION try_lock_gates(p_endpoint_ids uuid[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.try_lock_gates(p_endpoint_ids uuid[]) IS 'Locks those gates of these endpoints that nobody holds, and returns their endpoints: it waits for nobody.';

-- Name: turn_ring(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.turn_ring(p_from timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  update outbox.ring r set from_at = p_from
  where r.ctid = (
    select o.ctid from outbox.ring o order by o.from_at desc limit 1 for no key update skip locked);
end
$$;

ALTER FUNCTION outbox.turn_ring(p_from timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION turn_ring(p_from timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.turn_ring(p_from timestamp with time zone) IS 'Notes where the ring begins, unless another call is doing so.';

-- Name: type_patterns(text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.type_patterns(p_type text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE STRICT
    SET search_path TO ''
    AS $$
declare
  v_parts text[] := pg_catalog.string_to_array(p_type, '.');
  v_patterns text[] := array['*'];
begin
  for v_n in 1 .. pg_catalog.cardinality(v_parts) - 1 loop
    v_patterns := v_patterns || (pg_catalog.array_to_string(v_parts[1:v_n], '.') || '.*');
  end loop;
  return v_patterns || p_type;
end
$$;

ALTER FUNCTION outbox.type_patterns(p_type text) OWNER TO postgres;

-- Name: FUNCTION type_patterns(p_type text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.type_patterns(p_type text) IS 'Every pattern that a type matches: a.b.c gives *, a.*, a.b.* and a.b.c.';

-- Name: undo_attempt(outbox.outbound_message, outbox.message_attempt, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.undo_attempt(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  if not exists (
    select from outbox.delivery d
    where d.event_id = p_attempt.event_id and d.endpoint_id = p_message.channel_id
      and d.attempt = p_attempt.claim and d.leased_until is null)
  then
    return;
  end if;
  delete from outbox.message_attempt a where a.id = p_attempt.id;
  if p_message.status = 'SENDING' then
    p_message.status := 'QUEUED';
    p_message.attempt_count := p_message.attempt_count - 1;
    perform outbox.save_message(p_message, p_now);
  end if;
end
$$;

ALTER FUNCTION outbox.undo_attempt(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION undo_attempt(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.undo_attempt(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_now timestamp with time zone) IS 'Takes back the attempt of a claim that was given back unsent. locks: the caller holds the message.';

-- Name: unrouted_late(outbox.router, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.unrouted_late(p_router outbox.router, p_limit integer) RETURNS SETOF uuid
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_sort TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  return query
  (
    select u.event_id from outbox.unrouted u
    where u.xid = any (p_router.open_xids) and u.xid > '0' and u.xid < p_router.seen_below
      and u.event_id <= p_router.watermark
    order by u.xid limit p_limit
  )
  union all
  (
    select u.event_id from outbox.unrouted u
    where u.xid >= p_router.seen_below and u.xid > '0' and u.event_id <= p_router.watermark
    order by u.xid limit p_limit
  )
  limit p_limit;
end
$$;

ALTER FUNCTION outbox.unrouted_late(p_router outbox.router, p_limit integer) OWNER TO postgres;

-- Name: FUNCTION unrouted_late(p_router outbox.router, p_limit integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.unrouted_late(p_router outbox.router, p_limit integer) IS 'Up to p_limit events at or below the watermark that were not visible when routing last read.';

-- Name: unwatch_table(regclass); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.unwatch_table(p_table regclass) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_trigger name;
  v_dropped integer := 0;
begin
  perform outbox.check_watched(p_table);
  for v_trigger in
    select t.tgname from pg_catalog.pg_trigger t
    where t.tgrelid = p_table and t.tgparentid = 0
      and t.tgfoid in ('outbox.publish_row()'::regprocedure, 'outbox.publish_rows()'::regprocedure)
  loop
    execute pg_catalog.format('drop trigger %I on %s', v_trigger, p_table);
    v_dropped := v_dropped + 1;
  end loop;
  return pg_catalog.jsonb_build_object('table', p_table::text, 'watched', v_dropped > 0);
end
$$;

ALTER FUNCTION outbox.unwatch_table(p_table regclass) OWNER TO postgres;

-- Name: FUNCTION unwatch_table(p_table regclass); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.unwatch_table(p_table regclass) IS 'Publishes the changes of a table no more: {"table", "watched": whether it was until now}. OH001.';

-- Name: update_channel(text, uuid, jsonb, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.update_channel(p_org_id text, p_channel_id uuid, p_change jsonb, p_actor text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
declare
  v_id uuid := outbox.lock_channel(p_org_id, p_channel_id);
begin
  perform outbox.check_channel_change(p_change);
  update outbox.whatsapp_channel c set
    messages_per_second =
      coalesce((p_change ->> 'messagesPerSecond')::float8, c.messages_per_second),
    graph_version = case
      when p_change ? 'graphVersion' then p_change ->> 'graphVersion'
      else c.graph_version
    end
  where c.endpoint_id = v_id;
  update outbox.endpoint e set
    description = coalesce(p_change ->> 'description', e.description),
    rate_per_second = p.rate_per_second, rate_burst = p.rate_burst,
    max_in_flight = p.max_in_flight,
    lane_spacing_ms =
      coalesce((p_change ->> 'pairSeconds')::float8 * 1000, e.lane_spacing_ms),
    version = e.version + 1, updated_at = outbox.clock()
  from outbox.whatsapp_channel c, lateral outbox.pace_of(c.messages_per_second) p
  where e.id = v_id and c.endpoint_id = v_id;
  if p_change ? 'accessToken' then
    perform outbox.set_channel_token(p_org_id, v_id, p_change ->> 'accessToken', p_actor);
  end if;
  if p_change ? 'isDefault' then
    perform outbox.set_default_channel(p_org_id, v_id, p_actor);
  end if;
  perform outbox.audit(p_org_id, 'CHANNEL', v_id::text, 'UPDATED',
    pg_catalog.format('Channel changed: %s', (
      select pg_catalog.string_agg(k, ', ' order by k)
      from pg_catalog.jsonb_object_keys(p_change) k)), p_actor, outbox.clock());
  return outbox.channel_json(v_id);
end
$$;

ALTER FUNCTION outbox.update_channel(p_org_id text, p_channel_id uuid, p_change jsonb, p_actor text) OWNER TO postgres;

-- Name: FUNCTION update_channel(p_org_id text, p_channel_id uuid, p_change jsonb, p_actor text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.update_channel(p_org_id text, p_channel_id uuid, p_change jsonb, p_actor text) IS 'Changes what p_change names of a channel (description, accessToken, messagesPerSecond, pairSeconds, graphVersion, isDefault) and nothing else, from the next claim on; returns it as channel_json() shows it. OH001, OH002.';

-- Name: update_org_endpoint(text, uuid, jsonb, integer); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.update_org_endpoint(p_org_id text, p_endpoint_id uuid, p_change jsonb, p_version integer DEFAULT NULL::integer) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO ''
    AS $$
begin
  perform outbox.refuse_channel(
    outbox.lock_org_endpoint(p_org_id, p_endpoint_id, p_version));
  perform outbox.change_endpoint(p_endpoint_id, p_change);
  perform outbox.change_event_types(p_endpoint_id, p_change);
  if p_change ? 'headers' then
    perform outbox.set_headers(p_endpoint_id, p_change -> 'headers');
  else
    update outbox.endpoint e
    set version = e.version + 1, updated_at = outbox.clock()
    where e.id = p_endpoint_id;
  end if;
  return outbox.get_org_endpoint(p_org_id, p_endpoint_id);
end
$$;

ALTER FUNCTION outbox.update_org_endpoint(p_org_id text, p_endpoint_id uuid, p_change jsonb, p_version integer) OWNER TO postgres;

-- Name: FUNCTION update_org_endpoint(p_org_id text, p_endpoint_id uuid, p_change jsonb, p_version integer); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.update_org_endpoint(p_org_id text, p_endpoint_id uuid, p_change jsonb, p_version integer) IS 'Changes what p_change names and nothing else; headers by name, null removes one. Returns the endpoint. OH001, OH002, OH008; OH004: it is a channel.';

-- Name: upkeep(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.upkeep(p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  -- Each step by itself: what goes wrong in one costs neither the others nor the kick. Replaying
  -- waits for gates and comes first, for the others only take gates that nobody holds.
  begin
    perform outbox.work_replay_jobs(p_now);
  exception when others then
    raise warning 'outbox.work_replay_jobs(): %', sqlerrm;
  end;
  begin
    perform outbox.wake_changed(p_now);
    perform outbox.wake_missed(p_now);
  exception when others then
    raise warning 'outbox.wake_changed(), outbox.wake_missed(): %', sqlerrm;
  end;
  begin
    perform outbox.apply_callbacks();
  exception when others then
    raise warning 'outbox.apply_callbacks(): %', sqlerrm;
  end;
  begin
    perform outbox.purge_deleted(1000);
    perform outbox.expire_deliveries(200);
  exception when others then
    raise warning 'outbox.purge_deleted(), outbox.expire_deliveries(): %', sqlerrm;
  end;
  begin
    if pg_catalog.floor(extract(epoch from p_now))::bigint % 10 = 0 then
      perform outbox.fold_counters();
    end if;
    perform pg_catalog.setval('outbox.last_tick',
      (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint);
  exception when others then
    raise warning 'outbox.fold_counters(): %', sqlerrm;
  end;
end
$$;

ALTER FUNCTION outbox.upkeep(p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION upkeep(p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.upkeep(p_now timestamp with time zone) IS 'What the tick does besides kicking: goes on with replay jobs, wakes what was changed, applies the callbacks that wait, cancels what deleted endpoints left, expires what has been open too long, adds counters up.';

-- Name: uuid_v7(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.uuid_v7(p_at timestamp with time zone) RETURNS uuid
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_us bigint := extract(epoch from p_at) * 1000000;
begin
  return pg_catalog.encode(
    pg_catalog.overlay(
      pg_catalog.uuid_send(pg_catalog.gen_random_uuid()),
      pg_catalog.int8send(((v_us / 1000) << 16) | (7 << 12) | ((v_us % 1000) * 4096 / 1000)),
      1, 8),
    'hex')::uuid;
end
$$;

ALTER FUNCTION outbox.uuid_v7(p_at timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION uuid_v7(p_at timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.uuid_v7(p_at timestamp with time zone) IS 'A new uuid v7 of the given time (microseconds; RFC 9562 method 3): strictly greater for a later microsecond.';

-- Name: uuid_v7_floor(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.uuid_v7_floor(p_at timestamp with time zone) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT
    SET search_path TO ''
    AS $$
  select (
    pg_catalog.lpad(
      pg_catalog.to_hex(pg_catalog.floor(extract(epoch from p_at) * 1000)::bigint), 12, '0')
    || '00000000000000000000')::uuid
$$;

ALTER FUNCTION outbox.uuid_v7_floor(p_at timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION uuid_v7_floor(p_at timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.uuid_v7_floor(p_at timestamp with time zone) IS 'The bound below every uuid v7 of that millisecond or later, and above every earlier one.';

-- Name: uuid_v7_time(uuid); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.uuid_v7_time(p_id uuid) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE STRICT
    SET search_path TO ''
    AS $$
  select pg_catalog.to_timestamp(
    ('x' || pg_catalog.translate(pg_catalog.left(p_id::text, 13), '-', ''))::bit(48)::bigint
    / 1000.0)
$$;

ALTER FUNCTION outbox.uuid_v7_time(p_id uuid) OWNER TO postgres;

-- Name: FUNCTION uuid_v7_time(p_id uuid); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.uuid_v7_time(p_id uuid) IS 'The time that a uuid v7 carries, to the millisecond.';

-- Name: version(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.version() RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    SET search_path TO ''
    AS $$
  select pg_catalog.jsonb_build_object('name', 'outhook', 'version', '0.1.0')
$$;

ALTER FUNCTION outbox.version() OWNER TO postgres;

-- Name: FUNCTION version(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.version() IS 'The installed version: {"name": "outhook", "version": text}.';

-- Name: waiting(); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.waiting() RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_from timestamptz := outbox.ring_from(outbox.clock());
  v_router outbox.router;
begin
  select * into v_router from outbox.router r order by r.turn desc limit 1;
  return pg_catalog.jsonb_build_object(
    'unrouted', (
      select pg_catalog.count(*) from (
        select u from outbox.unrouted_late(v_router, 10000) u
        union all
        select u.event_id from outbox.unrouted u where u.event_id > v_router.watermark
        limit 10000
      ) c
    ),
    'oldest_unrouted_at', outbox.uuid_v7_time((outbox.next_unrouted(v_router))[1]),
    'oldest_due_at', (
      select g.next_at from outbox.gate g
      where g.next_at >= v_from and g.next_at < 'infinity' order by g.next_at limit 1
    ));
end
$$;

ALTER FUNCTION outbox.waiting() OWNER TO postgres;

-- Name: FUNCTION waiting(); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.waiting() IS 'What waits, read from where routing and the ring begin, so that no dead row is walked: {"unrouted": up to 10,000, "oldest_unrouted_at", "oldest_due_at": of the first endpoint, which may lie ahead}.';

-- Name: waits_of(outbox.claimed); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.waits_of(p_claimed outbox.claimed) RETURNS SETOF outbox.claimed_message
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
begin
  -- A number's tokens are claimed up to its burst ahead of time; each is sent when its own token
  -- would have come in. left_over: how many the gate still had behind that one.
  return query
  select x.event_id, x.attempt,
    pg_catalog.ceil(greatest(0, e.rate_burst - 1 - x.left_over) / e.rate_per_second * 1000)::integer
  from (
    select c.event_id, c.attempt, c.endpoint_id,
      g.tokens + pg_catalog.count(*) over (
        partition by c.endpoint_id order by c.place desc
        rows between unbounded preceding and current row) - 1 as left_over
    from unnest(p_claimed.events, p_claimed.endpoints, p_claimed.attempts) with ordinality
      as c (event_id, endpoint_id, attempt, place)
    join outbox.whatsapp_channel w on w.endpoint_id = c.endpoint_id
    cross join lateral (
      select o.tokens from outbox.gate o
      where o.endpoint_id = c.endpoint_id order by o.changed_at desc limit 1
    ) g
  ) x
  join outbox.endpoint e on e.id = x.endpoint_id;
end
$$;

ALTER FUNCTION outbox.waits_of(p_claimed outbox.claimed) OWNER TO postgres;

-- Name: FUNCTION waits_of(p_claimed outbox.claimed); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.waits_of(p_claimed outbox.claimed) IS 'When each claimed message is due to leave, so that a number''s messages leave evenly however many were claimed at once.';

-- Name: wake_changed(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.wake_changed(p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  -- A change is looked at for 6 s: it may have committed late, and its gate may be locked now.
  update outbox.gate g set next_at = p_now, changed_at = pg_catalog.date_trunc('second', p_now)
  from (
    select g.id
    from outbox.endpoint e
    join outbox.gate g on g.endpoint_id = e.id
    where e.updated_at > p_now - interval '6 s' and e.state = 'enabled' and g.depth > 0
      and g.next_at > p_now and g.next_at < 'infinity'
      and (g.breaker = 'closed' or not e.breaker_enabled) and g.not_before <= p_now
      and outbox.first_lane_at(g.id, least(g.lanes_from, p_now)) <= p_now
    for no key update of g skip locked
  ) w
  where g.id = w.id;
end
$$;

ALTER FUNCTION outbox.wake_changed(p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION wake_changed(p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.wake_changed(p_now timestamp with time zone) IS 'Makes the gates due of endpoints that were changed, so that a resume or a new limit is in force within one tick. locks: gates with SKIP LOCKED.';

-- Name: wake_missed(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.wake_missed(p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_from timestamptz := outbox.ring_from(p_now);
  -- All of it once a minute, for it may walk the dead entries that ring_from() spares the others.
  v_since timestamptz := case
    when pg_catalog.floor(extract(epoch from p_now))::bigint % 60 = 0 then '-infinity'
    else v_from - interval '15 s'
  end;
begin
  update outbox.gate g set next_at = p_now, changed_at = pg_catalog.date_trunc('second', p_now)
  from (
    select o.ctid as gate_at from outbox.gate o
    where o.next_at >= v_since and o.next_at < v_from and o.next_at < 'infinity'
    for no key update skip locked
  ) o
  where g.ctid = o.gate_at;
end
$$;

ALTER FUNCTION outbox.wake_missed(p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION wake_missed(p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.wake_missed(p_now timestamp with time zone) IS 'Makes the gates due that lie before the beginning of the ring, for their change took long to commit or was made while the clock was set back. locks: gates with SKIP LOCKED.';

-- Name: watch_table(regclass, text, text, text, text, text[], text[], text[], text[], boolean); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.watch_table(p_table regclass, p_type text DEFAULT NULL::text, p_org_id text DEFAULT 'default'::text, p_org_column text DEFAULT NULL::text, p_partition_column text DEFAULT NULL::text, p_columns text[] DEFAULT NULL::text[], p_except text[] DEFAULT NULL::text[], p_changed text[] DEFAULT NULL::text[], p_operations text[] DEFAULT '{insert,update,delete}'::text[], p_per_statement boolean DEFAULT false) RETURNS jsonb
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_name text := (select c.relname from pg_catalog.pg_class c where c.oid = p_table);
  v_type text := coalesce(p_type, pg_catalog.lower(v_name) || '.{op}');
  v_key text[] := outbox.primary_key(p_table);
  v_watch jsonb;
  v_op text;
begin
  perform outbox.check_watched(p_table);
  perform outbox.check_type(pg_catalog.replace(v_type, '{op}', 'inserted'));
  perform outbox.check_org(p_org_id);
  perform outbox.check_columns(p_table, 'org_column', array[p_org_column])
  where p_org_column is not null;
  perform outbox.check_columns(p_table, 'partition_column', array[p_partition_column])
  where p_partition_column is not null;
  perform outbox.check_columns(p_table, 'columns', p_columns);
  perform outbox.check_columns(p_table, 'except', p_except);
  perform outbox.check_columns(p_table, 'changed', p_changed);
  if p_columns is not null and p_except is not null then
    perform outbox.invalid('except', 'is given beside columns', 'Give one of them');
  end if;
  if not coalesce(p_operations <@ '{insert,update,delete}' and p_operations <> '{}', false) then
    perform outbox.invalid('operations',
      pg_catalog.format('is %s', coalesce(p_operations::text, 'null')),
      'Expected some of insert, update and delete');
  end if;
  if p_per_statement and v_key = '{}' and 'update' = any (p_operations) then
    perform outbox.invalid('per_statement', 'is on for a table without primary key',
      'Rows before and after an update are matched by it: add one, or watch each row');
  end if;
  v_watch := pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object(
    'type', v_type, 'org_id', case when p_org_column is null then p_org_id end,
    'org_column', p_org_column, 'partition_column', p_partition_column,
    'columns', pg_catalog.to_jsonb(p_columns), 'except', pg_catalog.to_jsonb(p_except),
    'changed', pg_catalog.to_jsonb(p_changed), 'key', pg_catalog.to_jsonb(v_key)));
  perform outbox.unwatch_table(p_table);
  if p_per_statement then
    foreach v_op in array p_operations loop
      execute pg_catalog.format(
        'create trigger %I after %s on %s referencing %s for each statement '
        'execute function outbox.publish_rows(%L)',
        'outhook_' || v_op, v_op, p_table,
        case v_op
          when 'insert' then 'new table as new_rows'
          when 'delete' then 'old table as old_rows'
          else 'new table as new_rows old table as old_rows'
        end, v_watch);
    end loop;
  else
    execute pg_catalog.format(
      'create trigger outhook_row after %s on %s for each row '
      'execute function outbox.publish_row(%L)',
      pg_catalog.array_to_string(p_operations, ' or '), p_table, v_watch);
  end if;
  return v_watch || pg_catalog.jsonb_build_object('table', p_table::text,
    'operations', p_operations, 'per_statement', p_per_statement);
end
$$;

ALTER FUNCTION outbox.watch_table(p_table regclass, p_type text, p_org_id text, p_org_column text, p_partition_column text, p_columns text[], p_except text[], p_changed text[], p_operations text[], p_per_statement boolean) OWNER TO postgres;

-- Name: FUNCTION watch_table(p_table regclass, p_type text, p_org_id text, p_org_column text, p_partition_column text, p_columns text[], p_except text[], p_changed text[], p_operations text[], p_per_statement boolean); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.watch_table(p_table regclass, p_type text, p_org_id text, p_org_column text, p_partition_column text, p_columns text[], p_except text[], p_changed text[], p_operations text[], p_per_statement boolean) IS 'Publishes every change of the table''s rows from now on, in the transaction that makes it, or changes what is published. p_type may hold {op}: inserted, updated or deleted; p_org_column names the column with the organisation, p_partition_column the one with the partition key; p_columns or p_except choose what is published; an update counts only when a column of p_changed has changed. p_per_statement is for tables that are written in bulk. Returns what is in force. The owner of the table calls it. TRUNCATE is not seen. OH001.';

-- Name: watched_part(jsonb, jsonb); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.watched_part(p_row jsonb, p_watch jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO ''
    AS $$
begin
  if p_row is null then
    return null;
  elsif p_watch ? 'columns' then
    return (
      select pg_catalog.jsonb_object_agg(c, p_row -> c)
      from pg_catalog.jsonb_array_elements_text(p_watch -> 'columns') c);
  elsif p_watch ? 'except' then
    return p_row - array(select pg_catalog.jsonb_array_elements_text(p_watch -> 'except'));
  end if;
  return p_row;
end
$$;

ALTER FUNCTION outbox.watched_part(p_row jsonb, p_watch jsonb) OWNER TO postgres;

-- Name: FUNCTION watched_part(p_row jsonb, p_watch jsonb); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.watched_part(p_row jsonb, p_watch jsonb) IS 'The columns of a row that the watch publishes; null for no row.';

-- Name: why_not_account(text, text, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.why_not_account(p_app_id text, p_org_id text, p_waba_id text) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    AS $$
begin
  return (
    select case
      when pg_catalog.count(*) = 0 then 'unknown_account'
      when pg_catalog.bool_and(c.org_id <> p_org_id) then 'org_mismatch'
    end
    from outbox.whatsapp_channel c where c.waba_id = p_waba_id and c.app_id = p_app_id);
end
$$;

ALTER FUNCTION outbox.why_not_account(p_app_id text, p_org_id text, p_waba_id text) OWNER TO postgres;

-- Name: FUNCTION why_not_account(p_app_id text, p_org_id text, p_waba_id text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.why_not_account(p_app_id text, p_org_id text, p_waba_id text) IS 'Why an update of an account concerns nobody: unknown_account (none of its channels is the app''s), org_mismatch (none is the org''s that the caller named); null when it does.';

-- Name: why_not_send(outbox.outbound_message, uuid, uuid, timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.why_not_send(p_message outbox.outbound_message, p_event_id uuid, p_endpoint_id uuid, p_now timestamp with time zone) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_code text;
begin
  if p_message.id is null then
    return 'no message belongs to this event';
  end if;
  if p_message.status not in ('QUEUED', 'SENDING') and not (
    -- A replay of its dead letter is an operator's way to send it again.
    p_message.status = 'FAILED' and exists (
      select from outbox.delivery d
      where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id
        and d.replayed_at is not null))
  then
    return pg_catalog.format('the message is %s', p_message.status);
  end if;
  v_code := outbox.refusal_of(p_message, p_now);
  if v_code is null then
    return null;
  end if;
  if v_code = 'consent_required' then
    v_code := 'consent_revoked';
  end if;
  perform outbox.audit_refusal(p_message, v_code, null, p_now);
  if p_message.status <> 'FAILED' then
    perform outbox.fail_message(p_message, v_code, outbox.refusal_words(v_code), p_now);
  end if;
  return v_code;
end
$$;

ALTER FUNCTION outbox.why_not_send(p_message outbox.outbound_message, p_event_id uuid, p_endpoint_id uuid, p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION why_not_send(p_message outbox.outbound_message, p_event_id uuid, p_endpoint_id uuid, p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.why_not_send(p_message outbox.outbound_message, p_event_id uuid, p_endpoint_id uuid, p_now timestamp with time zone) IS 'Why a claimed message is not sent after all, null when it is; one that policy forbids is failed. locks: the caller holds the message.';

-- Name: wishes_of(outbox.whatsapp_update, uuid, text[], text[], boolean, text); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.wishes_of(p_update outbox.whatsapp_update, p_contact uuid, p_recipients text[], p_purposes text[], p_lifted boolean, p_source text) RETURNS outbox.wish[]
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
begin
  return array(
    select row(p_update.org_id, r, p, p_lifted, p_update.happened_at, p_source,
      pg_catalog.format('update %s', p_update.id), 'CONTACT', p_contact::text)::outbox.wish
    from pg_catalog.unnest(p_recipients) r, pg_catalog.unnest(p_purposes) p
    where r is not null and p_contact is not null);
end
$$;

ALTER FUNCTION outbox.wishes_of(p_update outbox.whatsapp_update, p_contact uuid, p_recipients text[], p_purposes text[], p_lifted boolean, p_source text) OWNER TO postgres;

-- Name: FUNCTION wishes_of(p_update outbox.whatsapp_update, p_contact uuid, p_recipients text[], p_purposes text[], p_lifted boolean, p_source text); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.wishes_of(p_update outbox.whatsapp_update, p_contact uuid, p_recipients text[], p_purposes text[], p_lifted boolean, p_source text) IS 'The wishes that an update of a person brings, with the update as their evidence.';

-- Name: with_late(outbox.routing, uuid[]); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.with_late(p_batch outbox.routing, p_late uuid[]) RETURNS outbox.routing
    LANGUAGE plpgsql STABLE
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_start constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
begin
  select pg_catalog.array_agg(l.event_id order by l.place) || p_batch.events,
    pg_catalog.array_agg(u.ctid order by l.place) || p_batch.rows_at,
    pg_catalog.array_agg(coalesce(u.routed_to, v_start) order by l.place) || p_batch.behind
  into p_batch.events, p_batch.rows_at, p_batch.behind
  from pg_catalog.unnest(p_late) with ordinality as l (event_id, place)
  cross join lateral (
    select u.ctid, u.routed_to from outbox.unrouted u where u.event_id = l.event_id offset 0
  ) u;
  return p_batch;
end
$$;

ALTER FUNCTION outbox.with_late(p_batch outbox.routing, p_late uuid[]) OWNER TO postgres;

-- Name: FUNCTION with_late(p_batch outbox.routing, p_late uuid[]); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.with_late(p_batch outbox.routing, p_late uuid[]) IS 'A batch with late events before its own.';

-- Name: with_messages(outbox.parcel, outbox.claimed); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.with_messages(p_parcel outbox.parcel, p_claimed outbox.claimed) RETURNS outbox.parcel
    LANGUAGE plpgsql
    SET search_path TO ''
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
declare
  v_messages jsonb;
  v_channels jsonb;
begin
  -- A run that was held up may send a little faster than it claims, and still within the limit.
  select pg_catalog.jsonb_object_agg(w.endpoint_id, pg_catalog.jsonb_build_object(
    'graph_url', outbox.setting_value('whatsapp.graph_url'),
    'graph_version',
      coalesce(w.graph_version, outbox.setting_value('whatsapp.graph_version') #>> '{}'),
    'phone_number_id', w.phone_number_id, 'spacing_ms', 1000 / (w.messages_per_second * 0.97),
    'access_token', s.decrypted_secret))
  into v_channels
  from (select distinct u.id from pg_catalog.unnest(p_claimed.endpoints) as u (id)) c
  join outbox.whatsapp_channel w on w.endpoint_id = c.id
  join vault.decrypted_secrets s on s.id = w.token_vault_id;
  if v_channels is null then
    return p_parcel;
  end if;
  select pg_catalog.jsonb_object_agg(x.event_id, pg_catalog.jsonb_build_object(
    'id', m.id::text, 'callback_data', outbox.callback_data(m.id, a.attempt_no),
    'to', m.to_recipient, 'wait_ms', x.wait_ms,
    'template', (
      select pg_catalog.jsonb_build_object('name', t.name, 'language', t.language,
        'parameter_format', t.parameter_format)
      from outbox.template t where t.org_id = m.org_id and t.code = m.template_code),
    'payload', m.payload_json))
  into v_messages
  from outbox.waits_of(p_claimed) x
  join outbox.message_attempt a on a.event_id = x.event_id and a.claim = x.attempt
  join outbox.outbound_message m on m.id = a.message_id;
  p_parcel.endpoints := (
    select pg_catalog.json_object_agg(e.key, case
      when v_channels ? e.key
      then (e.value::jsonb || pg_catalog.jsonb_build_object('channel', v_channels -> e.key))::json
      else e.value
    end)
    from pg_catalog.json_each(p_parcel.endpoints) e);
  p_parcel.events := (
    select pg_catalog.json_object_agg(e.key, case
      when v_messages ? e.key
      then (e.value::jsonb || pg_catalog.jsonb_build_object('message', v_messages -> e.key))::json
      else e.value
    end)
    from pg_catalog.json_each(p_parcel.events) e);
  return p_parcel;
end
$$;

ALTER FUNCTION outbox.with_messages(p_parcel outbox.parcel, p_claimed outbox.claimed) OWNER TO postgres;

-- Name: FUNCTION with_messages(p_parcel outbox.parcel, p_claimed outbox.claimed); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.with_messages(p_parcel outbox.parcel, p_claimed outbox.claimed) IS 'The parcel with each message (events[id].message: {"id", "callback_data", "to", "wait_ms", "template", "payload"}) and each channel (endpoints[id].channel: {"graph_url", "graph_version", "phone_number_id", "spacing_ms", "access_token"}).';

-- Name: work_replay_jobs(timestamp with time zone); Type: FUNCTION; Schema: outbox; Owner: postgres

CREATE FUNCTION outbox.work_replay_jobs(p_now timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO ''
    AS $$
declare
  v_steps outbox.replay_step[];
  v_step outbox.replay_step;
  v_put integer;
  v_all integer := 0;
begin
  if not exists (select from outbox.replay_job j where j.state = 'running') then
    return 0;
  end if;
  -- One tick at a time works on jobs, or two would come to the same letters.
  if not pg_catalog.pg_try_advisory_xact_lock('outbox.replay_job'::regclass::oid::bigint) then
    return 0;
  end if;
  v_steps := outbox.next_replays();
  perform outbox.lock_gates(array(select distinct s.endpoint_id from pg_catalog.unnest(v_steps) s));
  foreach v_step in array v_steps loop
    v_put := outbox.put_back(v_step.event_id, v_step.endpoint_id, v_step.job_id, p_now)::integer;
    update outbox.replay_job j
    set at_failed = v_step.failed_at, at_id = v_step.letter_id, replayed = j.replayed + v_put,
      skipped = j.skipped + 1 - v_put
    where j.id = v_step.job_id;
    v_all := v_all + v_put;
  end loop;
  perform outbox.keep_days(array(select s.event_id from pg_catalog.unnest(v_steps) s));
  perform outbox.park(array(select distinct s.endpoint_id from pg_catalog.unnest(v_steps) s),
    p_now);
  update outbox.replay_job j set state = 'done', finished_at = p_now
  where j.state = 'running' and j.id not in (select s.job_id from pg_catalog.unnest(v_steps) s);
  return v_all;
end
$$;

ALTER FUNCTION outbox.work_replay_jobs(p_now timestamp with time zone) OWNER TO postgres;

-- Name: FUNCTION work_replay_jobs(p_now timestamp with time zone); Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON FUNCTION outbox.work_replay_jobs(p_now timestamp with time zone) IS 'One step of every replay job: puts back what its rate allows in a second and notes how far it came, in one transaction, so that a crash repeats or loses none. Returns how many it put back. locks: gates by id.';

-- Name: activity; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.activity (
    id bigint NOT NULL,
    org_id text NOT NULL,
    dossier_id text NOT NULL,
    type text NOT NULL,
    metadata jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT activity_type_is_known CHECK ((type = ANY (ARRAY['MESSAGE_SENT'::text, 'MESSAGE_STATUS_UPDATE'::text, 'MESSAGE_FAILED'::text])))
);

ALTER TABLE outbox.activity OWNER TO postgres;

-- Name: TABLE activity; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.activity IS 'The timeline of a dossier: what became of its messages. Written in the transaction of the change, never changed.';

-- Name: activity_id_seq; Type: SEQUENCE; Schema: outbox; Owner: postgres

ALTER TABLE outbox.activity ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME outbox.activity_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: attempt_default; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.attempt_default (
    event_id uuid NOT NULL,
    endpoint_id uuid,
    attempt integer NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    outcome text NOT NULL,
    status integer,
    error_class text,
    error text,
    duration_ms integer,
    response text,
    response_lossy boolean,
    next_retry_at timestamp with time zone,
    CONSTRAINT attempt_kind_is_known CHECK ((kind = ANY (ARRAY['try'::text, 'close'::text]))),
    CONSTRAINT attempt_outcome_is_known CHECK ((outcome = ANY (ARRAY['delivered'::text, 'failed'::text, 'dead_letter'::text, 'cancelled'::text, 'expired'::text, 'filter_error'::text, 'no_subscriber'::text])))
);

ALTER TABLE outbox.attempt_default OWNER TO postgres;

-- Name: audit_event; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.audit_event (
    id bigint NOT NULL,
    org_id text NOT NULL,
    entity_type text NOT NULL,
    entity_id text NOT NULL,
    action text NOT NULL,
    details text NOT NULL,
    actor text,
    created_at timestamp with time zone NOT NULL
);

ALTER TABLE outbox.audit_event OWNER TO postgres;

-- Name: TABLE audit_event; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.audit_event IS 'Who did what, or what happened, to a message, a dossier or a channel. Written in the transaction of the change, never changed; it names people by the ids of the application only.';

-- Name: audit_event_id_seq; Type: SEQUENCE; Schema: outbox; Owner: postgres

ALTER TABLE outbox.audit_event ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME outbox.audit_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: callback_count; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.callback_count (
    shard integer NOT NULL,
    kind text NOT NULL,
    state text NOT NULL,
    reason text NOT NULL,
    n bigint NOT NULL
);

ALTER TABLE outbox.callback_count OWNER TO postgres;

-- Name: TABLE callback_count; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.callback_count IS 'How many updates came to each end, since the installation: the sum over shards, each of which is some sessions'' own so that they do not wait for one another. reason is empty where there is none.';

-- Name: channel_hold; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.channel_hold (
    channel_id uuid NOT NULL,
    cause text NOT NULL,
    held boolean NOT NULL,
    why text NOT NULL,
    decided_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone
);

ALTER TABLE outbox.channel_hold OWNER TO postgres;

-- Name: TABLE channel_hold; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.channel_hold IS 'The last word on a channel by cause: failure (a code of WhatsApp''s), account, quality. decided_at is Meta''s time; expires_at when Meta ends it by itself.';

-- Name: consent; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.consent (
    id bigint NOT NULL,
    org_id text NOT NULL,
    dossier_id text NOT NULL,
    channel text NOT NULL,
    purpose text NOT NULL,
    granted boolean NOT NULL,
    source text NOT NULL,
    evidence text,
    actor text,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT consent_purpose_is_known CHECK ((purpose = ANY (ARRAY['MARKETING'::text, 'UTILITY'::text])))
);

ALTER TABLE outbox.consent OWNER TO postgres;

-- Name: TABLE consent; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.consent IS 'Who agreed to what, and took it back: source is how (a form, a call), evidence where it can be found, actor who wrote it down. Append-only; the last row of a purpose counts.';

-- Name: consent_id_seq; Type: SEQUENCE; Schema: outbox; Owner: postgres

ALTER TABLE outbox.consent ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME outbox.consent_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: consumer_inbox; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.consumer_inbox (
    consumer text NOT NULL,
    event_id text NOT NULL,
    accepted_at timestamp with time zone NOT NULL
);

ALTER TABLE outbox.consumer_inbox OWNER TO postgres;

-- Name: TABLE consumer_inbox; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.consumer_inbox IS 'What each consumer has processed. Kept for inbox.retention_days: longer than anything is sent again.';

-- Name: conversation_window; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.conversation_window (
    channel_id uuid NOT NULL,
    recipient text NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

ALTER TABLE outbox.conversation_window OWNER TO postgres;

-- Name: TABLE conversation_window; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.conversation_window IS 'Until when a person may be sent what is no template: 24 hours from their last message to that number. recipient is E.164 with its +.';

-- Name: counter; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.counter (
    metric text NOT NULL,
    labels text[] NOT NULL,
    n bigint NOT NULL,
    total bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE outbox.counter OWNER TO postgres;

-- Name: TABLE counter; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.counter IS 'What was counted until the last fold_counters(), by metric and the values of its labels. n: how often; total: the sum of what was measured, in milliseconds. Of a histogram the last label is the number of the bucket, from 1.';

-- Name: counter_change; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.counter_change (
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    metric text NOT NULL,
    labels text[] NOT NULL,
    n bigint NOT NULL,
    total bigint DEFAULT 0 NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_cost_delay='0');

ALTER TABLE outbox.counter_change OWNER TO postgres;

-- Name: TABLE counter_change; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.counter_change IS 'What has been counted since, in the transactions that did it.';

-- Name: counters_from; Type: SEQUENCE; Schema: outbox; Owner: postgres

CREATE SEQUENCE outbox.counters_from
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

ALTER TABLE outbox.counters_from OWNER TO postgres;

-- Name: endpoint_secret; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.endpoint_secret (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    endpoint_id uuid NOT NULL,
    vault_id uuid NOT NULL,
    scheme text DEFAULT 'v1'::text NOT NULL,
    public_key text,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    CONSTRAINT endpoint_secret_scheme_is_known CHECK ((scheme = ANY (ARRAY['v1'::text, 'v1a'::text])))
);

ALTER TABLE outbox.endpoint_secret OWNER TO postgres;

-- Name: TABLE endpoint_secret; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.endpoint_secret IS 'The signing secrets of an endpoint, kept in Vault; all that have not expired sign.';

-- Name: endpoint_status; Type: VIEW; Schema: outbox; Owner: postgres

CREATE VIEW outbox.endpoint_status WITH (security_invoker='true') AS
 SELECT e.id,
    e.org_id,
    e.kind,
    e.url,
    e.description,
        CASE
            WHEN ((e.state = 'enabled'::text) AND (g.breaker <> 'closed'::text) AND e.breaker_enabled) THEN ('breaker '::text || g.breaker)
            ELSE e.state
        END AS status,
    e.state_reason AS reason,
    COALESCE(g.depth, (0)::bigint) AS open,
    COALESCE(g.in_flight, 0) AS in_flight,
    g.streak AS failures_running,
    g.first_failure_at AS failing_since,
        CASE
            WHEN (g.breaker = 'open'::text) THEN g.open_until
            ELSE NULL::timestamp with time zone
        END AS probe_at,
    NULLIF(g.next_at, 'infinity'::timestamp with time zone) AS next_at,
    NULLIF(g.not_before, '-infinity'::timestamp with time zone) AS not_before,
    e.created_at,
    e.updated_at
   FROM (outbox.endpoint e
     LEFT JOIN outbox.gate g ON ((g.endpoint_id = e.id)));

ALTER TABLE outbox.endpoint_status OWNER TO postgres;

-- Name: VIEW endpoint_status; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON VIEW outbox.endpoint_status IS 'Every endpoint with what its gate knows: status, why, how many deliveries are open and in flight, since when it fails, when it is served next. A deleted one shows what is still to be cancelled.';

-- Name: error_hint; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.error_hint (
    error_class text NOT NULL,
    hint text NOT NULL
);

ALTER TABLE outbox.error_hint OWNER TO postgres;

-- Name: TABLE error_hint; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.error_hint IS 'Every error_class that an attempt can have, with one line on what to do: join it to outbox.attempt.';

-- Name: event_catalogue; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.event_catalogue (
    org_id text NOT NULL,
    strict boolean DEFAULT false NOT NULL,
    version bigint DEFAULT 1 NOT NULL
);

ALTER TABLE outbox.event_catalogue OWNER TO postgres;

-- Name: TABLE event_catalogue; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.event_catalogue IS 'Whether an organisation publishes through the API only types of its catalogue, and the version of that catalogue, which grows with each change.';

-- Name: event_default; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.event_default (
    id uuid NOT NULL,
    org_id text NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    partition_key text,
    correlation_id text,
    idempotency_key text,
    traceparent text,
    endpoint_id uuid,
    deliver_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL
);

ALTER TABLE outbox.event_default OWNER TO postgres;

-- Name: gate_id_seq; Type: SEQUENCE; Schema: outbox; Owner: postgres

ALTER TABLE outbox.gate ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME outbox.gate_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: idempotency_key; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.idempotency_key (
    org_id text NOT NULL,
    key text NOT NULL,
    event_id uuid NOT NULL,
    content bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);

ALTER TABLE outbox.idempotency_key OWNER TO postgres;

-- Name: TABLE idempotency_key; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.idempotency_key IS 'Keys given to publish(): the same key with the same content (SHA-256 of type, body, partition key, endpoint, deliver_at) is the same event.';

-- Name: inbound_message_id_seq; Type: SEQUENCE; Schema: outbox; Owner: postgres

ALTER TABLE outbox.inbound_message ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME outbox.inbound_message_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: kicks_by_tick; Type: SEQUENCE; Schema: outbox; Owner: postgres

CREATE SEQUENCE outbox.kicks_by_tick
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

ALTER TABLE outbox.kicks_by_tick OWNER TO postgres;

-- Name: kicks_on_commit; Type: SEQUENCE; Schema: outbox; Owner: postgres

CREATE SEQUENCE outbox.kicks_on_commit
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

ALTER TABLE outbox.kicks_on_commit OWNER TO postgres;

-- Name: lane_id_seq; Type: SEQUENCE; Schema: outbox; Owner: postgres

ALTER TABLE outbox.lane ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME outbox.lane_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: last_kick; Type: SEQUENCE; Schema: outbox; Owner: postgres

CREATE SEQUENCE outbox.last_kick
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

ALTER TABLE outbox.last_kick OWNER TO postgres;

-- Name: last_tick; Type: SEQUENCE; Schema: outbox; Owner: postgres

CREATE SEQUENCE outbox.last_tick
    START WITH 0
    INCREMENT BY 1
    MINVALUE 0
    NO MAXVALUE
    CACHE 1;

ALTER TABLE outbox.last_tick OWNER TO postgres;

-- Name: message_attempt_id_seq; Type: SEQUENCE; Schema: outbox; Owner: postgres

ALTER TABLE outbox.message_attempt ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME outbox.message_attempt_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: outbound_attempt; Type: VIEW; Schema: outbox; Owner: postgres

CREATE VIEW outbox.outbound_attempt WITH (security_invoker='true') AS
 SELECT a.id,
    a.message_id AS outbound_message_id,
    a.attempt_no,
    a.status,
    a.error_code,
    a.error_message,
    a.provider_response,
    a.next_retry_at,
    a.created_at,
    a.updated_at
   FROM outbox.message_attempt a;

ALTER TABLE outbox.outbound_attempt OWNER TO postgres;

-- Name: VIEW outbound_attempt; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON VIEW outbox.outbound_attempt IS 'The tries of messages: TRYING, SUCCESS or FAILED, with when the next follows.';

-- Name: outbound_message_id_seq; Type: SEQUENCE; Schema: outbox; Owner: postgres

ALTER TABLE outbox.outbound_message ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME outbox.outbound_message_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: partition_check; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.partition_check (
    name text NOT NULL,
    clean_nights integer NOT NULL,
    checked_on date NOT NULL
);

ALTER TABLE outbox.partition_check OWNER TO postgres;

-- Name: TABLE partition_check; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.partition_check IS 'On how many nights running nothing open was found of an event partition; a replay starts the count anew.';

-- Name: unroutable; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.unroutable (
    event_id uuid NOT NULL,
    error text NOT NULL,
    set_aside_at timestamp with time zone NOT NULL,
    routed_to uuid
);

ALTER TABLE outbox.unroutable OWNER TO postgres;

-- Name: TABLE unroutable; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.unroutable IS 'Events that failed routing three times. route_again() gives one another chance, behind the last endpoint that was asked.';

-- Name: queue_health; Type: VIEW; Schema: outbox; Owner: postgres

CREATE VIEW outbox.queue_health WITH (security_invoker='true') AS
 SELECT ((w.waiting ->> 'unrouted'::text))::bigint AS unrouted,
    ((w.waiting ->> 'oldest_unrouted_at'::text))::timestamp with time zone AS oldest_unrouted_at,
    ( SELECT count(*) AS count
           FROM outbox.unroutable) AS unroutable,
    ((g.totals ->> 'open'::text))::numeric AS open,
    ((g.totals ->> 'in_flight'::text))::bigint AS in_flight,
    ((w.waiting ->> 'oldest_due_at'::text))::timestamp with time zone AS oldest_due_at,
    ( SELECT count(*) AS count
           FROM outbox.endpoint e
          WHERE (e.state = ANY (ARRAY['paused'::text, 'disabled'::text]))) AS endpoints_held,
    ((g.totals ->> 'breakers_open'::text))::bigint AS breakers_open,
    ( SELECT count(*) AS count
           FROM ( SELECT
                   FROM outbox.dead_letter x
                  WHERE ((x.replayed_at IS NULL) AND (x.discarded_at IS NULL))
                 LIMIT 10000) c) AS dead_letters,
    ( SELECT count(*) AS count
           FROM outbox.run r
          WHERE ((r.ended_at IS NULL) AND (r.polled_at > (now() - '00:00:10'::interval)))) AS runs,
    (( SELECT count(*) AS count
           FROM ( SELECT
                   FROM outbox.event_default
                 LIMIT 10000) c) + ( SELECT count(*) AS count
           FROM ( SELECT
                   FROM outbox.attempt_default
                 LIMIT 10000) c)) AS rows_in_default
   FROM (( SELECT outbox.waiting() AS waiting
         OFFSET 0) w
     CROSS JOIN ( SELECT outbox.gate_totals() AS totals
         OFFSET 0) g);

ALTER TABLE outbox.queue_health OWNER TO postgres;

-- Name: VIEW queue_health; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON VIEW outbox.queue_health IS 'The queue in one row: what waits, since when, what is held, and whether anybody works. Counts of unrouted, dead_letters and rows_in_default stop at 10,000.';

-- Name: unrouted; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.unrouted (
    event_id uuid NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    routed_to uuid,
    failures smallint DEFAULT 0 NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='2000', autovacuum_vacuum_cost_delay='0');

ALTER TABLE outbox.unrouted OWNER TO postgres;

-- Name: TABLE unrouted; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.unrouted IS 'Events that routing has not finished with. xid: their publisher''s transaction; routed_to: the last endpoint of a wide event that was asked whether it wants it.';

-- Name: relay_status; Type: VIEW; Schema: outbox; Owner: postgres

CREATE VIEW outbox.relay_status WITH (security_invoker='true') AS
 SELECT s.event_id AS id,
    s.endpoint_id,
    s.event_type,
    (COALESCE(v.body, x.original_message))::json AS payload,
    COALESCE(v.partition_key, x.partition_key) AS partition_key,
    COALESCE(v.correlation_id, x.correlation_id, (s.event_id)::text) AS correlation_id,
    s.status AS state,
    (COALESCE(f.failures, (0)::bigint))::integer AS retry_count,
    (COALESCE(((COALESCE(e.retry, outbox.retry_preset(e.kind)) ->> 'max_retries'::text))::integer, 5) + 1) AS max_retries,
    f.last_error,
    s.next_attempt_at AS next_retry_at,
    f.last_attempt_at,
    s.finished_at,
    s.created_at,
    s.open
   FROM (((((outbox.delivery_status s
     LEFT JOIN outbox.event v ON ((v.id = s.event_id)))
     LEFT JOIN outbox.dead_letter x ON (((v.id IS NULL) AND (x.event_id = s.event_id) AND (x.endpoint_id = s.endpoint_id))))
     LEFT JOIN outbox.endpoint e ON ((e.id = s.endpoint_id)))
     LEFT JOIN LATERAL ( SELECT max(a.attempt) AS ended_at
           FROM outbox.attempt a
          WHERE ((s.attempt > 0) AND (a.event_id = s.event_id) AND (NOT (a.endpoint_id IS DISTINCT FROM s.endpoint_id)) AND ((a.kind = 'close'::text) OR (a.outcome = 'delivered'::text)) AND ((s.finished_at IS NULL) OR (a.at < s.finished_at)))) l ON (true))
     LEFT JOIN LATERAL ( SELECT count(*) FILTER (WHERE (a.outcome = 'failed'::text)) AS failures,
            max(a.at) AS last_attempt_at,
            (array_agg(COALESCE(a.error, a.error_class) ORDER BY a.at DESC) FILTER (WHERE (a.outcome = 'failed'::text)))[1] AS last_error
           FROM outbox.attempt a
          WHERE ((s.attempt > 0) AND (a.event_id = s.event_id) AND (NOT (a.endpoint_id IS DISTINCT FROM s.endpoint_id)) AND (a.kind = 'try'::text) AND (a.attempt > COALESCE(l.ended_at, 0)))) f ON (true))
UNION ALL
 SELECT v.id,
    v.endpoint_id,
    v.type AS event_type,
    (v.body)::json AS payload,
    v.partition_key,
    COALESCE(v.correlation_id, (v.id)::text) AS correlation_id,
    'pending'::text AS state,
    0 AS retry_count,
    6 AS max_retries,
    NULL::text AS last_error,
    COALESCE(v.deliver_at, v.created_at) AS next_retry_at,
    NULL::timestamp with time zone AS last_attempt_at,
    NULL::timestamp with time zone AS finished_at,
    v.created_at,
    true AS open
   FROM (outbox.unrouted u
     JOIN outbox.event v ON ((v.id = u.event_id)));

ALTER TABLE outbox.relay_status OWNER TO postgres;

-- Name: VIEW relay_status; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON VIEW outbox.relay_status IS 'Each delivery with its event and what its tries came to; an unrouted event is one that is pending.';

-- Name: replay_job_id_seq; Type: SEQUENCE; Schema: outbox; Owner: postgres

ALTER TABLE outbox.replay_job ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME outbox.replay_job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: reply_word; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.reply_word (
    org_id text DEFAULT '*'::text NOT NULL,
    language text NOT NULL,
    word text NOT NULL,
    action text NOT NULL,
    CONSTRAINT reply_word_action_is_known CHECK ((action = ANY (ARRAY['STOP'::text, 'START'::text, 'NONE'::text]))),
    CONSTRAINT reply_word_language_is_a_code CHECK ((language ~ '^[a-z]{2,3}$'::text))
);

ALTER TABLE outbox.reply_word OWNER TO postgres;

-- Name: TABLE reply_word; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.reply_word IS 'What, as a whole message or the payload of a button, means that a person wants no more messages (STOP) or wants them again (START), as plain_word() writes it. Org * is for all; an org''s own row for a word stands above it, and NONE takes it out.';

-- Name: request_bucket; Type: TABLE; Schema: outbox; Owner: postgres

CREATE UNLOGGED TABLE outbox.request_bucket (
    org_id text NOT NULL,
    tokens double precision NOT NULL,
    filled_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE outbox.request_bucket OWNER TO postgres;

-- Name: TABLE request_bucket; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.request_bucket IS 'How many requests each org may still send, and when that was counted.';

-- Name: request_key; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.request_key (
    org_id text NOT NULL,
    key text NOT NULL,
    route text NOT NULL,
    content bytea NOT NULL,
    answer jsonb,
    created_at timestamp with time zone NOT NULL
);

ALTER TABLE outbox.request_key OWNER TO postgres;

-- Name: TABLE request_key; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.request_key IS 'Requests of the last idempotency.window_hours that carried an Idempotency-Key: a hash of what was asked, and what was answered, without secrets.';

-- Name: ring; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.ring (
    from_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
);

ALTER TABLE outbox.ring OWNER TO postgres;

-- Name: TABLE ring; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.ring IS 'One row, where the ring begins: no gate is due before from_at, save one whose change took longer than a second to commit, which the tick finds within another, or longer than 15 s or was made while the clock was set back, which it finds within a minute. No key that stays the same, or its check would walk the dead rows.';

-- Name: run_batch; Type: TABLE; Schema: outbox; Owner: postgres

CREATE UNLOGGED TABLE outbox.run_batch (
    run_id uuid NOT NULL,
    seq bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    events uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    endpoints uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    attempts integer[] DEFAULT '{}'::integer[] NOT NULL
);

ALTER TABLE outbox.run_batch OWNER TO postgres;

-- Name: TABLE run_batch; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.run_batch IS 'The last batches of each run: what a repeat of the same call gets back when the first answer was lost.';

-- Name: saga; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.saga (
    name text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT saga_name_is_a_word CHECK ((name ~ '^[A-Za-z0-9_-]{1,64}$'::text))
);

ALTER TABLE outbox.saga OWNER TO postgres;

-- Name: TABLE saga; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.saga IS 'The sagas that define_saga() made.';

-- Name: saga_key; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.saga_key (
    org_id text NOT NULL,
    key text NOT NULL,
    saga text NOT NULL,
    content bytea NOT NULL,
    result jsonb,
    created_at timestamp with time zone NOT NULL
);

ALTER TABLE outbox.saga_key OWNER TO postgres;

-- Name: TABLE saga_key; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.saga_key IS 'Idempotency keys of executed sagas, for idempotency.window_hours: content is the hash of name and context, result what the execution returned.';

-- Name: saga_outbox; Type: VIEW; Schema: outbox; Owner: postgres

CREATE VIEW outbox.saga_outbox WITH (security_invoker='true') AS
 SELECT r.id AS event_id,
    r.correlation_id AS saga_id,
    r.event_type,
    r.payload,
        CASE r.state
            WHEN 'processing'::text THEN 'CLAIMED'::text
            WHEN 'failed'::text THEN 'FAILED'::text
            ELSE 'PENDING'::text
        END AS status,
    r.retry_count,
    r.last_error,
    r.next_retry_at,
    r.created_at,
    r.endpoint_id
   FROM outbox.relay_status r
  WHERE (r.open AND (r.state = ANY (ARRAY['pending'::text, 'held'::text, 'processing'::text, 'failed'::text])))
UNION ALL
 SELECT r.id AS event_id,
    r.correlation_id AS saga_id,
    r.event_type,
    r.payload,
    'SENT'::text AS status,
    r.retry_count,
    r.last_error,
    NULL::timestamp with time zone AS next_retry_at,
    r.created_at,
    r.endpoint_id
   FROM outbox.relay_status r
  WHERE (r.state = ANY (ARRAY['delivered'::text, 'no_subscriber'::text]))
UNION ALL
 SELECT r.id AS event_id,
    r.correlation_id AS saga_id,
    r.event_type,
    r.payload,
    'DEAD_LETTER'::text AS status,
    r.retry_count,
    r.last_error,
    NULL::timestamp with time zone AS next_retry_at,
    r.created_at,
    r.endpoint_id
   FROM outbox.relay_status r
  WHERE (r.state = ANY (ARRAY['dead_letter'::text, 'expired'::text, 'filter_error'::text]))
UNION ALL
 SELECT r.id AS event_id,
    r.correlation_id AS saga_id,
    r.event_type,
    r.payload,
    'CANCELLED'::text AS status,
    r.retry_count,
    r.last_error,
    NULL::timestamp with time zone AS next_retry_at,
    r.created_at,
    r.endpoint_id
   FROM outbox.relay_status r
  WHERE (r.state = 'cancelled'::text);

ALTER TABLE outbox.saga_outbox OWNER TO postgres;

-- Name: VIEW saga_outbox; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON VIEW outbox.saga_outbox IS 'The outbox as the events of sagas: PENDING, CLAIMED, SENT (also to nobody), FAILED, DEAD_LETTER (and CANCELLED).';

-- Name: saga_step; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.saga_step (
    saga text NOT NULL,
    "position" integer NOT NULL,
    function text NOT NULL,
    event_type text NOT NULL
);

ALTER TABLE outbox.saga_step OWNER TO postgres;

-- Name: TABLE saga_step; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.saga_step IS 'The steps of a saga in their order: the function (schema and name, quoted as SQL needs it) and the type of the event that it leaves.';

-- Name: subscription; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.subscription (
    org_id text NOT NULL,
    pattern text NOT NULL,
    endpoint_id uuid NOT NULL,
    filter jsonpath,
    created_at timestamp with time zone NOT NULL
);

ALTER TABLE outbox.subscription OWNER TO postgres;

-- Name: TABLE subscription; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.subscription IS 'Which event types an endpoint wants: an exact type, a prefix such as order.*, or *. An event goes to subscriptions that are not younger than it. filter is a jsonpath over the payload: the event goes where it finds something or is true.';

-- Name: template_hold; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.template_hold (
    app_id text NOT NULL,
    waba_id text NOT NULL,
    name text NOT NULL,
    language text NOT NULL,
    held boolean NOT NULL,
    why text NOT NULL,
    decided_at timestamp with time zone NOT NULL
);

ALTER TABLE outbox.template_hold OWNER TO postgres;

-- Name: TABLE template_hold; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.template_hold IS 'The last word on a template of an account, by Meta''s name and language (with _), as an app heard it: the secret of one says nothing of the channels of another.';

-- Name: transaction_outbox; Type: VIEW; Schema: outbox; Owner: postgres

CREATE VIEW outbox.transaction_outbox WITH (security_invoker='true') AS
 SELECT r.id,
    r.event_type,
    r.payload,
    r.partition_key,
        CASE r.state
            WHEN 'held'::text THEN 'pending'::text
            ELSE r.state
        END AS status,
    r.correlation_id,
    r.retry_count,
    r.max_retries,
    r.last_error,
    r.next_retry_at,
    r.created_at,
    r.endpoint_id
   FROM outbox.relay_status r
  WHERE (r.open AND (r.state = ANY (ARRAY['pending'::text, 'held'::text, 'processing'::text, 'failed'::text])))
UNION ALL
 SELECT r.id,
    r.event_type,
    r.payload,
    r.partition_key,
    'processed'::text AS status,
    r.correlation_id,
    r.retry_count,
    r.max_retries,
    r.last_error,
    NULL::timestamp with time zone AS next_retry_at,
    r.created_at,
    r.endpoint_id
   FROM outbox.relay_status r
  WHERE (r.state = ANY (ARRAY['delivered'::text, 'no_subscriber'::text]))
UNION ALL
 SELECT r.id,
    r.event_type,
    r.payload,
    r.partition_key,
    'dlq'::text AS status,
    r.correlation_id,
    r.retry_count,
    r.max_retries,
    r.last_error,
    NULL::timestamp with time zone AS next_retry_at,
    r.created_at,
    r.endpoint_id
   FROM outbox.relay_status r
  WHERE (r.state = ANY (ARRAY['dead_letter'::text, 'expired'::text, 'filter_error'::text]))
UNION ALL
 SELECT r.id,
    r.event_type,
    r.payload,
    r.partition_key,
    'cancelled'::text AS status,
    r.correlation_id,
    r.retry_count,
    r.max_retries,
    r.last_error,
    NULL::timestamp with time zone AS next_retry_at,
    r.created_at,
    r.endpoint_id
   FROM outbox.relay_status r
  WHERE (r.state = 'cancelled'::text);

ALTER TABLE outbox.transaction_outbox OWNER TO postgres;

-- Name: VIEW transaction_outbox; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON VIEW outbox.transaction_outbox IS 'The outbox as what a relay to a broker works through: pending, processing, processed (also by nobody), failed, dlq (and cancelled).';

-- Name: webhook_outbox; Type: VIEW; Schema: outbox; Owner: postgres

CREATE VIEW outbox.webhook_outbox WITH (security_invoker='true') AS
 SELECT r.id,
    r.event_type,
    r.payload,
        CASE r.state
            WHEN 'held'::text THEN 'PENDING'::text
            ELSE upper(r.state)
        END AS status,
    r.next_retry_at,
    r.retry_count,
    r.last_error,
    r.last_attempt_at,
    NULL::timestamp with time zone AS delivered_at,
    r.created_at,
    r.endpoint_id
   FROM outbox.relay_status r
  WHERE (r.open AND (r.state = ANY (ARRAY['pending'::text, 'held'::text, 'processing'::text, 'failed'::text])))
UNION ALL
 SELECT r.id,
    r.event_type,
    r.payload,
    'DELIVERED'::text AS status,
    NULL::timestamp with time zone AS next_retry_at,
    r.retry_count,
    r.last_error,
    r.last_attempt_at,
        CASE
            WHEN (r.state = 'delivered'::text) THEN r.finished_at
            ELSE NULL::timestamp with time zone
        END AS delivered_at,
    r.created_at,
    r.endpoint_id
   FROM outbox.relay_status r
  WHERE (r.state = ANY (ARRAY['delivered'::text, 'no_subscriber'::text]))
UNION ALL
 SELECT r.id,
    r.event_type,
    r.payload,
    'DEAD_LETTER'::text AS status,
    NULL::timestamp with time zone AS next_retry_at,
    r.retry_count,
    r.last_error,
    r.last_attempt_at,
    NULL::timestamp with time zone AS delivered_at,
    r.created_at,
    r.endpoint_id
   FROM outbox.relay_status r
  WHERE (r.state = ANY (ARRAY['dead_letter'::text, 'expired'::text, 'filter_error'::text]))
UNION ALL
 SELECT r.id,
    r.event_type,
    r.payload,
    'CANCELLED'::text AS status,
    NULL::timestamp with time zone AS next_retry_at,
    r.retry_count,
    r.last_error,
    r.last_attempt_at,
    NULL::timestamp with time zone AS delivered_at,
    r.created_at,
    r.endpoint_id
   FROM outbox.relay_status r
  WHERE (r.state = 'cancelled'::text);

ALTER TABLE outbox.webhook_outbox OWNER TO postgres;

-- Name: VIEW webhook_outbox; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON VIEW outbox.webhook_outbox IS 'The outbox as one table of webhooks: PENDING, PROCESSING, DELIVERED (also to nobody), FAILED, DEAD_LETTER (and CANCELLED). An insert of (event_type, payload) publishes.';

-- Name: whatsapp_channel; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.whatsapp_channel (
    endpoint_id uuid NOT NULL,
    org_id text NOT NULL,
    phone_number_id text NOT NULL,
    waba_id text NOT NULL,
    app_id text NOT NULL,
    token_vault_id uuid NOT NULL,
    is_default boolean DEFAULT false NOT NULL,
    messages_per_second double precision NOT NULL,
    graph_version text,
    quality text,
    display_digits text,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT whatsapp_channel_number_id_is_a_number CHECK ((phone_number_id ~ '^[0-9]{1,32}$'::text)),
    CONSTRAINT whatsapp_channel_waba_is_a_number CHECK ((waba_id ~ '^[0-9]{1,32}$'::text))
);

ALTER TABLE outbox.whatsapp_channel OWNER TO postgres;

-- Name: TABLE whatsapp_channel; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.whatsapp_channel IS 'What a whatsapp endpoint has beside the endpoint: Meta''s ids of its number and account, the app, and the access token in Vault. Deliveries read it; a held channel is a paused endpoint. messages_per_second is WhatsApp''s limit, of which the endpoint''s rate uses most; graph_version is for this number alone, else the setting''s; display_digits is the number itself, as its callbacks show it.';

-- Name: whatsapp_contact; Type: TABLE; Schema: outbox; Owner: postgres

CREATE TABLE outbox.whatsapp_contact (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    org_id text NOT NULL,
    wa_id text,
    user_id text,
    parent_user_id text,
    name text,
    username text,
    first_seen_at timestamp with time zone NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    CONSTRAINT whatsapp_contact_has_an_id CHECK (((wa_id IS NOT NULL) OR (user_id IS NOT NULL)))
);

ALTER TABLE outbox.whatsapp_contact OWNER TO postgres;

-- Name: TABLE whatsapp_contact; Type: COMMENT; Schema: outbox; Owner: postgres

COMMENT ON TABLE outbox.whatsapp_contact IS 'Who has written to an organisation. Forgotten message.retention_days after they last did.';

-- Name: whatsapp_update_id_seq; Type: SEQUENCE; Schema: outbox; Owner: postgres

ALTER TABLE outbox.whatsapp_update ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME outbox.whatsapp_update_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: attempt_default; Type: TABLE ATTACH; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.attempt ATTACH PARTITION outbox.attempt_default DEFAULT;

-- Name: event_default; Type: TABLE ATTACH; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.event ATTACH PARTITION outbox.event_default DEFAULT;

-- Name: activity activity_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.activity
    ADD CONSTRAINT activity_pkey PRIMARY KEY (id);

-- Name: audit_event audit_event_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.audit_event
    ADD CONSTRAINT audit_event_pkey PRIMARY KEY (id);

-- Name: callback_count callback_count_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.callback_count
    ADD CONSTRAINT callback_count_pkey PRIMARY KEY (shard, kind, state, reason);

-- Name: channel_hold channel_hold_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.channel_hold
    ADD CONSTRAINT channel_hold_pkey PRIMARY KEY (channel_id, cause);

-- Name: consent consent_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.consent
    ADD CONSTRAINT consent_pkey PRIMARY KEY (id);

-- Name: consumer_inbox consumer_inbox_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.consumer_inbox
    ADD CONSTRAINT consumer_inbox_pkey PRIMARY KEY (consumer, event_id);

-- Name: conversation_window conversation_window_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.conversation_window
    ADD CONSTRAINT conversation_window_pkey PRIMARY KEY (channel_id, recipient);

-- Name: counter counter_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.counter
    ADD CONSTRAINT counter_pkey PRIMARY KEY (metric, labels);

-- Name: dead_letter dead_letter_of_delivery; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.dead_letter
    ADD CONSTRAINT dead_letter_of_delivery UNIQUE (event_id, endpoint_id);

-- Name: dead_letter dead_letter_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.dead_letter
    ADD CONSTRAINT dead_letter_pkey PRIMARY KEY (id);

-- Name: delivery delivery_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (event_id, endpoint_id);

-- Name: endpoint endpoint_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.endpoint
    ADD CONSTRAINT endpoint_pkey PRIMARY KEY (id);

-- Name: endpoint_secret endpoint_secret_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.endpoint_secret
    ADD CONSTRAINT endpoint_secret_pkey PRIMARY KEY (id);

-- Name: error_hint error_hint_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.error_hint
    ADD CONSTRAINT error_hint_pkey PRIMARY KEY (error_class);

-- Name: event_catalogue event_catalogue_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.event_catalogue
    ADD CONSTRAINT event_catalogue_pkey PRIMARY KEY (org_id);

-- Name: event event_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (id);

-- Name: event_default event_default_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.event_default
    ADD CONSTRAINT event_default_pkey PRIMARY KEY (id);

-- Name: event_type event_type_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.event_type
    ADD CONSTRAINT event_type_pkey PRIMARY KEY (org_id, type);

-- Name: failure_rule failure_rule_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.failure_rule
    ADD CONSTRAINT failure_rule_pkey PRIMARY KEY (kind, code);

-- Name: gate gate_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.gate
    ADD CONSTRAINT gate_pkey PRIMARY KEY (id, changed_at);

-- Name: idempotency_key idempotency_key_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (org_id, key);

-- Name: inbound_message inbound_message_once; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.inbound_message
    ADD CONSTRAINT inbound_message_once UNIQUE (phone_number_id, wamid);

-- Name: inbound_message inbound_message_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.inbound_message
    ADD CONSTRAINT inbound_message_pkey PRIMARY KEY (id);

-- Name: lane lane_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.lane
    ADD CONSTRAINT lane_pkey PRIMARY KEY (id, changed_at);

-- Name: message_attempt message_attempt_of_claim; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.message_attempt
    ADD CONSTRAINT message_attempt_of_claim UNIQUE (event_id, claim);

-- Name: message_attempt message_attempt_of_message; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.message_attempt
    ADD CONSTRAINT message_attempt_of_message UNIQUE (message_id, attempt_no);

-- Name: message_attempt message_attempt_of_wamid; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.message_attempt
    ADD CONSTRAINT message_attempt_of_wamid UNIQUE (phone_number_id, wamid);

-- Name: message_attempt message_attempt_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.message_attempt
    ADD CONSTRAINT message_attempt_pkey PRIMARY KEY (id);

-- Name: notice_rule notice_rule_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.notice_rule
    ADD CONSTRAINT notice_rule_pkey PRIMARY KEY (field, event);

-- Name: opt_out opt_out_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.opt_out
    ADD CONSTRAINT opt_out_pkey PRIMARY KEY (org_id, channel, recipient, purpose);

-- Name: outbound_message outbound_message_of_event; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.outbound_message
    ADD CONSTRAINT outbound_message_of_event UNIQUE (event_id);

-- Name: outbound_message outbound_message_of_key; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.outbound_message
    ADD CONSTRAINT outbound_message_of_key UNIQUE (org_id, idempotency_key);

-- Name: outbound_message outbound_message_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.outbound_message
    ADD CONSTRAINT outbound_message_pkey PRIMARY KEY (id);

-- Name: partition_check partition_check_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.partition_check
    ADD CONSTRAINT partition_check_pkey PRIMARY KEY (name);

-- Name: replay_job replay_job_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.replay_job
    ADD CONSTRAINT replay_job_pkey PRIMARY KEY (id);

-- Name: reply_word reply_word_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.reply_word
    ADD CONSTRAINT reply_word_pkey PRIMARY KEY (org_id, language, word);

-- Name: request_bucket request_bucket_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.request_bucket
    ADD CONSTRAINT request_bucket_pkey PRIMARY KEY (org_id);

-- Name: request_key request_key_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.request_key
    ADD CONSTRAINT request_key_pkey PRIMARY KEY (org_id, key);

-- Name: ring ring_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.ring
    ADD CONSTRAINT ring_pkey PRIMARY KEY (from_at);

-- Name: router router_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.router
    ADD CONSTRAINT router_pkey PRIMARY KEY (turn);

-- Name: run_batch run_batch_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.run_batch
    ADD CONSTRAINT run_batch_pkey PRIMARY KEY (run_id, seq);

-- Name: run run_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);

-- Name: saga_key saga_key_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.saga_key
    ADD CONSTRAINT saga_key_pkey PRIMARY KEY (org_id, key);

-- Name: saga saga_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.saga
    ADD CONSTRAINT saga_pkey PRIMARY KEY (name);

-- Name: saga_step saga_step_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.saga_step
    ADD CONSTRAINT saga_step_pkey PRIMARY KEY (saga, "position");

-- Name: setting setting_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.setting
    ADD CONSTRAINT setting_pkey PRIMARY KEY (name);

-- Name: subscription subscription_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.subscription
    ADD CONSTRAINT subscription_pkey PRIMARY KEY (org_id, pattern, endpoint_id);

-- Name: template_hold template_hold_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.template_hold
    ADD CONSTRAINT template_hold_pkey PRIMARY KEY (app_id, waba_id, name, language);

-- Name: template template_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.template
    ADD CONSTRAINT template_pkey PRIMARY KEY (org_id, code);

-- Name: unroutable unroutable_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.unroutable
    ADD CONSTRAINT unroutable_pkey PRIMARY KEY (event_id);

-- Name: unrouted unrouted_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.unrouted
    ADD CONSTRAINT unrouted_pkey PRIMARY KEY (event_id);

-- Name: whatsapp_app whatsapp_app_of_key; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.whatsapp_app
    ADD CONSTRAINT whatsapp_app_of_key UNIQUE (app_key);

-- Name: whatsapp_app whatsapp_app_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.whatsapp_app
    ADD CONSTRAINT whatsapp_app_pkey PRIMARY KEY (app_id);

-- Name: whatsapp_channel whatsapp_channel_of_number; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.whatsapp_channel
    ADD CONSTRAINT whatsapp_channel_of_number UNIQUE (phone_number_id);

-- Name: whatsapp_channel whatsapp_channel_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.whatsapp_channel
    ADD CONSTRAINT whatsapp_channel_pkey PRIMARY KEY (endpoint_id);

-- Name: whatsapp_contact whatsapp_contact_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.whatsapp_contact
    ADD CONSTRAINT whatsapp_contact_pkey PRIMARY KEY (id);

-- Name: whatsapp_update whatsapp_update_once; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.whatsapp_update
    ADD CONSTRAINT whatsapp_update_once UNIQUE (app_id, key);

-- Name: whatsapp_update whatsapp_update_pkey; Type: CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.whatsapp_update
    ADD CONSTRAINT whatsapp_update_pkey PRIMARY KEY (id);

-- Name: activity_dossier; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX activity_dossier ON outbox.activity USING btree (org_id, dossier_id, id);

-- Name: attempt_endpoint; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX attempt_endpoint ON ONLY outbox.attempt USING btree (endpoint_id, at);

-- Name: attempt_default_endpoint_id_at_idx; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX attempt_default_endpoint_id_at_idx ON outbox.attempt_default USING btree (endpoint_id, at);

-- Name: attempt_event; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX attempt_event ON ONLY outbox.attempt USING btree (event_id);

-- Name: attempt_default_event_id_idx; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX attempt_default_event_id_idx ON outbox.attempt_default USING btree (event_id);

-- Name: audit_event_entity; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX audit_event_entity ON outbox.audit_event USING btree (org_id, entity_type, entity_id, id);

-- Name: audit_event_org; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX audit_event_org ON outbox.audit_event USING btree (org_id, id);

-- Name: channel_hold_expires; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX channel_hold_expires ON outbox.channel_hold USING btree (expires_at) WHERE (held AND (expires_at IS NOT NULL));

-- Name: consent_dossier; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX consent_dossier ON outbox.consent USING btree (org_id, dossier_id, channel, purpose, id);

-- Name: consumer_inbox_age; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX consumer_inbox_age ON outbox.consumer_inbox USING btree (accepted_at);

-- Name: counter_change_at; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX counter_change_at ON outbox.counter_change USING btree (at);

-- Name: dead_letter_endpoint; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX dead_letter_endpoint ON outbox.dead_letter USING btree (endpoint_id, failed_at) WHERE (failed_at > '-infinity'::timestamp with time zone);

-- Name: dead_letter_failed; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX dead_letter_failed ON outbox.dead_letter USING btree (failed_at, id);

-- Name: dead_letter_org; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX dead_letter_org ON outbox.dead_letter USING btree (org_id, failed_at, id);

-- Name: dead_letter_waiting; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX dead_letter_waiting ON outbox.dead_letter USING btree (failed_at) WHERE ((replayed_at IS NULL) AND (discarded_at IS NULL));

-- Name: delivery_lane; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX delivery_lane ON outbox.delivery USING btree (lane_id, due_at, event_id) WHERE (lane_id > 0);

-- Name: endpoint_org; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX endpoint_org ON outbox.endpoint USING btree (org_id, created_at, id) WHERE (state <> 'deleted'::text);

-- Name: endpoint_secret_endpoint; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX endpoint_secret_endpoint ON outbox.endpoint_secret USING btree (endpoint_id, created_at DESC);

-- Name: endpoint_updated; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX endpoint_updated ON outbox.endpoint USING btree (updated_at);

-- Name: event_org; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX event_org ON ONLY outbox.event USING btree (org_id, id) WHERE (org_id > ''::text);

-- Name: event_default_org_id_id_idx; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX event_default_org_id_id_idx ON outbox.event_default USING btree (org_id, id) WHERE (org_id > ''::text);

-- Name: gate_due; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX gate_due ON outbox.gate USING btree (next_at) WHERE (next_at < 'infinity'::timestamp with time zone);

-- Name: gate_of_endpoint; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX gate_of_endpoint ON outbox.gate USING btree (endpoint_id, changed_at);

-- Name: idempotency_key_created; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX idempotency_key_created ON outbox.idempotency_key USING btree (created_at);

-- Name: inbound_message_contact; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX inbound_message_contact ON outbox.inbound_message USING btree (contact_id, id);

-- Name: inbound_message_kept; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX inbound_message_kept ON outbox.inbound_message USING btree (received_at) WHERE (erased_at IS NULL);

-- Name: inbound_message_org; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX inbound_message_org ON outbox.inbound_message USING btree (org_id, id);

-- Name: lane_due; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX lane_due ON outbox.lane USING btree (gate_id, next_at) WHERE (next_at < 'infinity'::timestamp with time zone);

-- Name: lane_halted; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX lane_halted ON outbox.lane USING btree (gate_id) WHERE halted;

-- Name: lane_of_gate; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX lane_of_gate ON outbox.lane USING btree (gate_id, ordered, key_hash, changed_at);

-- Name: outbound_message_dossier; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX outbound_message_dossier ON outbox.outbound_message USING btree (org_id, dossier_id, id) WHERE (dossier_id IS NOT NULL);

-- Name: outbound_message_kept; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX outbound_message_kept ON outbox.outbound_message USING btree (created_at) WHERE (erased_at IS NULL);

-- Name: outbound_message_org; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX outbound_message_org ON outbox.outbound_message USING btree (org_id, id);

-- Name: outbound_message_person; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX outbound_message_person ON outbox.outbound_message USING btree (org_id, wa_id) WHERE (wa_id IS NOT NULL);

-- Name: outbound_message_provider; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX outbound_message_provider ON outbox.outbound_message USING btree (provider_message_id) WHERE (provider_message_id IS NOT NULL);

-- Name: outbound_message_queued; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX outbound_message_queued ON outbox.outbound_message USING btree (created_at) WHERE (status = 'QUEUED'::text);

-- Name: outbound_message_sending; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX outbound_message_sending ON outbox.outbound_message USING btree (updated_at) WHERE (status = 'SENDING'::text);

-- Name: outbound_message_state; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX outbound_message_state ON outbox.outbound_message USING btree (org_id, status, id);

-- Name: reply_word_word; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX reply_word_word ON outbox.reply_word USING btree (word, org_id);

-- Name: request_key_created; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX request_key_created ON outbox.request_key USING btree (created_at);

-- Name: saga_key_age; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX saga_key_age ON outbox.saga_key USING btree (created_at);

-- Name: subscription_endpoint; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX subscription_endpoint ON outbox.subscription USING btree (endpoint_id);

-- Name: unrouted_xid; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX unrouted_xid ON outbox.unrouted USING btree (xid, event_id) WHERE (xid > '0'::xid8);

-- Name: whatsapp_channel_account; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX whatsapp_channel_account ON outbox.whatsapp_channel USING btree (waba_id);

-- Name: whatsapp_channel_default; Type: INDEX; Schema: outbox; Owner: postgres

CREATE UNIQUE INDEX whatsapp_channel_default ON outbox.whatsapp_channel USING btree (org_id) WHERE is_default;

-- Name: whatsapp_channel_org; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX whatsapp_channel_org ON outbox.whatsapp_channel USING btree (org_id, created_at);

-- Name: whatsapp_contact_age; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX whatsapp_contact_age ON outbox.whatsapp_contact USING btree (last_seen_at);

-- Name: whatsapp_contact_user_id; Type: INDEX; Schema: outbox; Owner: postgres

CREATE UNIQUE INDEX whatsapp_contact_user_id ON outbox.whatsapp_contact USING btree (org_id, user_id) WHERE (user_id IS NOT NULL);

-- Name: whatsapp_contact_wa_id; Type: INDEX; Schema: outbox; Owner: postgres

CREATE UNIQUE INDEX whatsapp_contact_wa_id ON outbox.whatsapp_contact USING btree (org_id, wa_id) WHERE (wa_id IS NOT NULL);

-- Name: whatsapp_update_age; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX whatsapp_update_age ON outbox.whatsapp_update USING btree (received_at);

-- Name: whatsapp_update_due; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX whatsapp_update_due ON outbox.whatsapp_update USING btree (look_at) WHERE (look_at IS NOT NULL);

-- Name: whatsapp_update_kept; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX whatsapp_update_kept ON outbox.whatsapp_update USING btree (phone_number_id, wamid) WHERE (look_at IS NOT NULL);

-- Name: whatsapp_update_message; Type: INDEX; Schema: outbox; Owner: postgres

CREATE INDEX whatsapp_update_message ON outbox.whatsapp_update USING btree (message_id, id) WHERE (message_id IS NOT NULL);

-- Name: attempt_default_endpoint_id_at_idx; Type: INDEX ATTACH; Schema: outbox; Owner: postgres

ALTER INDEX outbox.attempt_endpoint ATTACH PARTITION outbox.attempt_default_endpoint_id_at_idx;

-- Name: attempt_default_event_id_idx; Type: INDEX ATTACH; Schema: outbox; Owner: postgres

ALTER INDEX outbox.attempt_event ATTACH PARTITION outbox.attempt_default_event_id_idx;

-- Name: event_default_org_id_id_idx; Type: INDEX ATTACH; Schema: outbox; Owner: postgres

ALTER INDEX outbox.event_org ATTACH PARTITION outbox.event_default_org_id_id_idx;

-- Name: event_default_pkey; Type: INDEX ATTACH; Schema: outbox; Owner: postgres

ALTER INDEX outbox.event_pkey ATTACH PARTITION outbox.event_default_pkey;

-- Name: webhook_outbox publish; Type: TRIGGER; Schema: outbox; Owner: postgres

CREATE TRIGGER publish INSTEAD OF INSERT ON outbox.webhook_outbox FOR EACH ROW EXECUTE FUNCTION outbox.publish_inserted();

-- Name: setting setting_goes_with_others; Type: TRIGGER; Schema: outbox; Owner: postgres

CREATE TRIGGER setting_goes_with_others AFTER INSERT OR UPDATE ON outbox.setting FOR EACH ROW EXECUTE FUNCTION outbox.check_setting();

-- Name: setting setting_has_a_value; Type: TRIGGER; Schema: outbox; Owner: postgres

CREATE TRIGGER setting_has_a_value BEFORE INSERT OR UPDATE ON outbox.setting FOR EACH ROW EXECUTE FUNCTION outbox.check_setting();

-- Name: setting setting_is_changed_by_one; Type: TRIGGER; Schema: outbox; Owner: postgres

CREATE TRIGGER setting_is_changed_by_one BEFORE INSERT OR UPDATE ON outbox.setting FOR EACH STATEMENT EXECUTE FUNCTION outbox.lock_settings();

-- Name: saga_step saga_step_saga_fkey; Type: FK CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.saga_step
    ADD CONSTRAINT saga_step_saga_fkey FOREIGN KEY (saga) REFERENCES outbox.saga(name) ON DELETE CASCADE;

-- Name: whatsapp_channel whatsapp_channel_app_id_fkey; Type: FK CONSTRAINT; Schema: outbox; Owner: postgres

ALTER TABLE ONLY outbox.whatsapp_channel
    ADD CONSTRAINT whatsapp_channel_app_id_fkey FOREIGN KEY (app_id) REFERENCES outbox.whatsapp_app(app_id);

-- Name: activity; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.activity ENABLE ROW LEVEL SECURITY;

-- Name: attempt; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.attempt ENABLE ROW LEVEL SECURITY;

-- Name: attempt_default; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.attempt_default ENABLE ROW LEVEL SECURITY;

-- Name: audit_event; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.audit_event ENABLE ROW LEVEL SECURITY;

-- Name: callback_count; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.callback_count ENABLE ROW LEVEL SECURITY;

-- Name: channel_hold; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.channel_hold ENABLE ROW LEVEL SECURITY;

-- Name: consent; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.consent ENABLE ROW LEVEL SECURITY;

-- Name: consumer_inbox; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.consumer_inbox ENABLE ROW LEVEL SECURITY;

-- Name: conversation_window; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.conversation_window ENABLE ROW LEVEL SECURITY;

-- Name: counter; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.counter ENABLE ROW LEVEL SECURITY;

-- Name: counter_change; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.counter_change ENABLE ROW LEVEL SECURITY;

-- Name: dead_letter; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.dead_letter ENABLE ROW LEVEL SECURITY;

-- Name: delivery; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.delivery ENABLE ROW LEVEL SECURITY;

-- Name: endpoint; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.endpoint ENABLE ROW LEVEL SECURITY;

-- Name: endpoint_secret; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.endpoint_secret ENABLE ROW LEVEL SECURITY;

-- Name: error_hint; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.error_hint ENABLE ROW LEVEL SECURITY;

-- Name: event; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.event ENABLE ROW LEVEL SECURITY;

-- Name: event_catalogue; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.event_catalogue ENABLE ROW LEVEL SECURITY;

-- Name: event_default; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.event_default ENABLE ROW LEVEL SECURITY;

-- Name: event_type; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.event_type ENABLE ROW LEVEL SECURITY;

-- Name: failure_rule; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.failure_rule ENABLE ROW LEVEL SECURITY;

-- Name: gate; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.gate ENABLE ROW LEVEL SECURITY;

-- Name: idempotency_key; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.idempotency_key ENABLE ROW LEVEL SECURITY;

-- Name: inbound_message; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.inbound_message ENABLE ROW LEVEL SECURITY;

-- Name: lane; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.lane ENABLE ROW LEVEL SECURITY;

-- Name: message_attempt; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.message_attempt ENABLE ROW LEVEL SECURITY;

-- Name: notice_rule; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.notice_rule ENABLE ROW LEVEL SECURITY;

-- Name: opt_out; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.opt_out ENABLE ROW LEVEL SECURITY;

-- Name: outbound_message; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.outbound_message ENABLE ROW LEVEL SECURITY;

-- Name: partition_check; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.partition_check ENABLE ROW LEVEL SECURITY;

-- Name: replay_job; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.replay_job ENABLE ROW LEVEL SECURITY;

-- Name: reply_word; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.reply_word ENABLE ROW LEVEL SECURITY;

-- Name: request_bucket; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.request_bucket ENABLE ROW LEVEL SECURITY;

-- Name: request_key; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.request_key ENABLE ROW LEVEL SECURITY;

-- Name: ring; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.ring ENABLE ROW LEVEL SECURITY;

-- Name: router; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.router ENABLE ROW LEVEL SECURITY;

-- Name: run; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.run ENABLE ROW LEVEL SECURITY;

-- Name: run_batch; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.run_batch ENABLE ROW LEVEL SECURITY;

-- Name: saga; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.saga ENABLE ROW LEVEL SECURITY;

-- Name: saga_key; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.saga_key ENABLE ROW LEVEL SECURITY;

-- Name: saga_step; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.saga_step ENABLE ROW LEVEL SECURITY;

-- Name: setting; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.setting ENABLE ROW LEVEL SECURITY;

-- Name: subscription; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.subscription ENABLE ROW LEVEL SECURITY;

-- Name: template; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.template ENABLE ROW LEVEL SECURITY;

-- Name: template_hold; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.template_hold ENABLE ROW LEVEL SECURITY;

-- Name: unroutable; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.unroutable ENABLE ROW LEVEL SECURITY;

-- Name: unrouted; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.unrouted ENABLE ROW LEVEL SECURITY;

-- Name: whatsapp_app; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.whatsapp_app ENABLE ROW LEVEL SECURITY;

-- Name: whatsapp_channel; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.whatsapp_channel ENABLE ROW LEVEL SECURITY;

-- Name: whatsapp_contact; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.whatsapp_contact ENABLE ROW LEVEL SECURITY;

-- Name: whatsapp_update; Type: ROW SECURITY; Schema: outbox; Owner: postgres

ALTER TABLE outbox.whatsapp_update ENABLE ROW LEVEL SECURITY;

-- Name: SCHEMA outbox; Type: ACL; Schema: -; Owner: postgres

GRANT USAGE ON SCHEMA outbox TO service_role;

-- Name: FUNCTION accept_once(p_consumer text, p_event_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.accept_once(p_consumer text, p_event_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.accept_once(p_consumer text, p_event_id text) TO service_role;

-- Name: FUNCTION act_on_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_action text, p_reason text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.act_on_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_action text, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.act_on_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_action text, p_reason text) TO service_role;

-- Name: FUNCTION add_deliveries(p_pairs outbox.pair[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.add_deliveries(p_pairs outbox.pair[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION add_gate(p_endpoint_id uuid, p_ordering text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.add_gate(p_endpoint_id uuid, p_ordering text) FROM PUBLIC;

-- Name: FUNCTION add_pairs(p_batch outbox.routing, p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.add_pairs(p_batch outbox.routing, p_limit integer) FROM PUBLIC;

-- Name: FUNCTION add_partition(p_table text, p_day date); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.add_partition(p_table text, p_day date) FROM PUBLIC;

-- Name: FUNCTION add_partitions(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.add_partitions() FROM PUBLIC;

-- Name: FUNCTION add_secret(p_endpoint_id uuid, p_secret text, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.add_secret(p_endpoint_id uuid, p_secret text, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION adopt_message(p_callback_data text, p_wamid text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.adopt_message(p_callback_data text, p_wamid text) FROM PUBLIC;

-- Name: FUNCTION allowed_in_flight(p_max integer, p_last_timed_out boolean, p_ramp_from timestamp with time zone, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.allowed_in_flight(p_max integer, p_last_timed_out boolean, p_ramp_from timestamp with time zone, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION announce(p_type text, p_endpoints uuid[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.announce(p_type text, p_endpoints uuid[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION announce_dead(p_events uuid[], p_endpoints uuid[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.announce_dead(p_events uuid[], p_endpoints uuid[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION answer(p_applied integer, p_stale integer, p_routed integer, p_repeat boolean, p_stop text, p_claimed outbox.claimed, p_known jsonb, p_retries json, p_renewed json, p_route_error text, p_claim_error text, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.answer(p_applied integer, p_stale integer, p_routed integer, p_repeat boolean, p_stop text, p_claimed outbox.claimed, p_known jsonb, p_retries json, p_renewed json, p_route_error text, p_claim_error text, p_now timestamp with time zone) FROM PUBLIC;

-- Name: TABLE whatsapp_update; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.whatsapp_update TO service_role;

-- Name: FUNCTION answered_message(p_update outbox.whatsapp_update); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.answered_message(p_update outbox.whatsapp_update) FROM PUBLIC;

-- Name: TABLE whatsapp_app; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.whatsapp_app TO service_role;

-- Name: FUNCTION app_secrets(p_app outbox.whatsapp_app, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.app_secrets(p_app outbox.whatsapp_app, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION apply_callbacks(p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.apply_callbacks(p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.apply_callbacks(p_limit integer) TO service_role;

-- Name: FUNCTION apply_delivered(p_results outbox.result[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.apply_delivered(p_results outbox.result[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION apply_inbound(p_ids bigint[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.apply_inbound(p_ids bigint[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION apply_kept(p_results outbox.result[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.apply_kept(p_results outbox.result[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION apply_notices(p_ids bigint[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.apply_notices(p_ids bigint[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION apply_results(p_results outbox.result[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.apply_results(p_results outbox.result[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION apply_statuses(p_ids bigint[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.apply_statuses(p_ids bigint[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION apply_updates(p_ids bigint[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.apply_updates(p_ids bigint[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION attempt_bounds(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.attempt_bounds() FROM PUBLIC;

-- Name: FUNCTION audit(p_org_id text, p_entity_type text, p_entity_id text, p_action text, p_details text, p_actor text, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.audit(p_org_id text, p_entity_type text, p_entity_id text, p_action text, p_details text, p_actor text, p_now timestamp with time zone) FROM PUBLIC;

-- Name: TABLE outbound_message; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.outbound_message TO service_role;

-- Name: FUNCTION audit_refusal(p_message outbox.outbound_message, p_code text, p_actor text, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.audit_refusal(p_message outbox.outbound_message, p_code text, p_actor text, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION authority_problem(p_url text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.authority_problem(p_url text) FROM PUBLIC;

-- Name: FUNCTION batch(p_claimed outbox.claimed, p_known jsonb, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.batch(p_claimed outbox.claimed, p_known jsonb, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION begin_attempt(p_message outbox.outbound_message, p_phone_number_id text, p_event_id uuid, p_claim integer, p_count integer, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.begin_attempt(p_message outbox.outbound_message, p_phone_number_id text, p_event_id uuid, p_claim integer, p_count integer, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION begin_request(p_org_id text, p_route text, p_key text, p_request jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.begin_request(p_org_id text, p_route text, p_key text, p_request jsonb) FROM PUBLIC;

-- Name: FUNCTION begin_saga(p_name text, p_context jsonb, p_org_id text, p_idempotency_key text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.begin_saga(p_name text, p_context jsonb, p_org_id text, p_idempotency_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.begin_saga(p_name text, p_context jsonb, p_org_id text, p_idempotency_key text) TO service_role;

-- Name: FUNCTION broker_of_wire(p_broker jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.broker_of_wire(p_broker jsonb) FROM PUBLIC;

-- Name: FUNCTION broker_text(p_template text, p_type text, p_org_id text, p_key text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.broker_text(p_template text, p_type text, p_org_id text, p_key text) FROM PUBLIC;

-- Name: FUNCTION broker_to_wire(p_broker jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.broker_to_wire(p_broker jsonb) FROM PUBLIC;

-- Name: FUNCTION calculate_delay(p_policy jsonb, p_attempt integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.calculate_delay(p_policy jsonb, p_attempt integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.calculate_delay(p_policy jsonb, p_attempt integer) TO service_role;

-- Name: FUNCTION callback_answer(p_ids bigint[], p_given integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.callback_answer(p_ids bigint[], p_given integer) FROM PUBLIC;

-- Name: FUNCTION callback_apps(p_app_key text, p_phone_number_ids text[], p_waba_ids text[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.callback_apps(p_app_key text, p_phone_number_ids text[], p_waba_ids text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.callback_apps(p_app_key text, p_phone_number_ids text[], p_waba_ids text[]) TO service_role;

-- Name: FUNCTION callback_data(p_message_id bigint, p_attempt_no integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.callback_data(p_message_id bigint, p_attempt_no integer) FROM PUBLIC;

-- Name: FUNCTION callback_time(p_at jsonb, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.callback_time(p_at jsonb, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION calling_role(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.calling_role() FROM PUBLIC;

-- Name: FUNCTION cancel_delivery(p_event_id uuid, p_endpoint_id uuid, p_why text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.cancel_delivery(p_event_id uuid, p_endpoint_id uuid, p_why text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.cancel_delivery(p_event_id uuid, p_endpoint_id uuid, p_why text) TO service_role;

-- Name: FUNCTION cancel_message(p_org_id text, p_message_id text, p_actor text, p_why text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.cancel_message(p_org_id text, p_message_id text, p_actor text, p_why text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.cancel_message(p_org_id text, p_message_id text, p_actor text, p_why text) TO service_role;

-- Name: FUNCTION cause_of(p_code text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.cause_of(p_code text) FROM PUBLIC;

-- Name: FUNCTION chain_length(p_endpoint_id uuid, p_quantum integer, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.chain_length(p_endpoint_id uuid, p_quantum integer, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION change_catalogue(p_org_id text, p_strict boolean); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.change_catalogue(p_org_id text, p_strict boolean) FROM PUBLIC;

-- Name: FUNCTION change_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_granted boolean, p_channel text, p_source text, p_evidence text, p_actor text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.change_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_granted boolean, p_channel text, p_source text, p_evidence text, p_actor text) FROM PUBLIC;

-- Name: FUNCTION change_endpoint(p_endpoint_id uuid, p_change jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.change_endpoint(p_endpoint_id uuid, p_change jsonb) FROM PUBLIC;

-- Name: FUNCTION change_event_types(p_endpoint_id uuid, p_change jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.change_event_types(p_endpoint_id uuid, p_change jsonb) FROM PUBLIC;

-- Name: FUNCTION change_opt_out(p_org_id text, p_recipient text, p_purpose text, p_opted_out boolean, p_source text, p_evidence text, p_actor text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.change_opt_out(p_org_id text, p_recipient text, p_purpose text, p_opted_out boolean, p_source text, p_evidence text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.change_opt_out(p_org_id text, p_recipient text, p_purpose text, p_opted_out boolean, p_source text, p_evidence text, p_actor text) TO service_role;

-- Name: FUNCTION change_replay_job(p_org_id text, p_id text, p_state text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.change_replay_job(p_org_id text, p_id text, p_state text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.change_replay_job(p_org_id text, p_id text, p_state text) TO service_role;

-- Name: FUNCTION channel_json(p_channel_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.channel_json(p_channel_id uuid) FROM PUBLIC;

-- Name: FUNCTION channels_of(p_update outbox.whatsapp_update); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.channels_of(p_update outbox.whatsapp_update) FROM PUBLIC;

-- Name: TABLE event; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.event TO service_role;

-- Name: FUNCTION check_addressed(p_event outbox.event); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_addressed(p_event outbox.event) FROM PUBLIC;

-- Name: FUNCTION check_amqp_url(p_url text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_amqp_url(p_url text) FROM PUBLIC;

-- Name: FUNCTION check_broker_address(p_field text, p_address text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_broker_address(p_field text, p_address text) FROM PUBLIC;

-- Name: FUNCTION check_ca(p_ca jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_ca(p_ca jsonb) FROM PUBLIC;

-- Name: FUNCTION check_channel(p_org_id text, p_channel_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_channel(p_org_id text, p_channel_id uuid) FROM PUBLIC;

-- Name: FUNCTION check_channel_change(p_change jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_channel_change(p_change jsonb) FROM PUBLIC;

-- Name: FUNCTION check_choice(p_field text, p_value text, p_choices text[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_choice(p_field text, p_value text, p_choices text[]) FROM PUBLIC;

-- Name: FUNCTION check_columns(p_table regclass, p_field text, p_columns text[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_columns(p_table regclass, p_field text, p_columns text[]) FROM PUBLIC;

-- Name: FUNCTION check_credentials(p_kind text, p_broker jsonb, p_credentials jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_credentials(p_kind text, p_broker jsonb, p_credentials jsonb) FROM PUBLIC;

-- Name: FUNCTION check_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid) FROM PUBLIC;

-- Name: FUNCTION check_dossier(p_dossier_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_dossier(p_dossier_id text) FROM PUBLIC;

-- Name: FUNCTION check_retry(p_policy jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_retry(p_policy jsonb) FROM PUBLIC;

-- Name: FUNCTION setting_int(p_name text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.setting_int(p_name text) FROM PUBLIC;

-- Name: FUNCTION setting_on(p_name text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.setting_on(p_name text) FROM PUBLIC;

-- Name: TABLE endpoint; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.endpoint TO service_role;

-- Name: FUNCTION check_endpoint(p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_endpoint(p_endpoint_id uuid) FROM PUBLIC;

-- Name: FUNCTION check_endpoint_change(p_change jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_endpoint_change(p_change jsonb) FROM PUBLIC;

-- Name: FUNCTION check_event(p_event outbox.event); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_event(p_event outbox.event) FROM PUBLIC;

-- Name: FUNCTION check_filter(p_filter text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_filter(p_filter text) FROM PUBLIC;

-- Name: FUNCTION check_handler(p_function text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_handler(p_function text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.check_handler(p_function text) TO service_role;

-- Name: FUNCTION check_headers(p_headers jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_headers(p_headers jsonb) FROM PUBLIC;

-- Name: FUNCTION check_is_open(p_event_id uuid, p_endpoint_id uuid, p_remedy text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_is_open(p_event_id uuid, p_endpoint_id uuid, p_remedy text) FROM PUBLIC;

-- Name: FUNCTION check_json(p_body text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_json(p_body text) FROM PUBLIC;

-- Name: FUNCTION check_kafka(p_broker jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_kafka(p_broker jsonb) FROM PUBLIC;

-- Name: FUNCTION check_members(p_field text, p_value jsonb, p_members text[], p_kind text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_members(p_field text, p_value jsonb, p_members text[], p_kind text) FROM PUBLIC;

-- Name: FUNCTION check_message(p_message outbox.outbound_message); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_message(p_message outbox.outbound_message) FROM PUBLIC;

-- Name: FUNCTION check_message_id(p_org_id text, p_message_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_message_id(p_org_id text, p_message_id text) FROM PUBLIC;

-- Name: FUNCTION check_old_secrets(p_endpoint_id uuid, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_old_secrets(p_endpoint_id uuid, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION check_org(p_org_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_org(p_org_id text) FROM PUBLIC;

-- Name: FUNCTION check_overlap(p_overlap interval); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_overlap(p_overlap interval) FROM PUBLIC;

-- Name: FUNCTION check_page(p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_page(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION check_publisher(p_event outbox.event); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_publisher(p_event outbox.event) FROM PUBLIC;

-- Name: FUNCTION check_rabbitmq(p_broker jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_rabbitmq(p_broker jsonb) FROM PUBLIC;

-- Name: FUNCTION check_range(p_field text, p_value double precision, p_lowest double precision, p_highest double precision); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_range(p_field text, p_value double precision, p_lowest double precision, p_highest double precision) FROM PUBLIC;

-- Name: FUNCTION check_recipient(p_to text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_recipient(p_to text) FROM PUBLIC;

-- Name: FUNCTION check_secret(p_secret text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_secret(p_secret text) FROM PUBLIC;

-- Name: FUNCTION check_setting(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_setting() FROM PUBLIC;

-- Name: FUNCTION check_signing_key(p_secret text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_signing_key(p_secret text) FROM PUBLIC;

-- Name: FUNCTION check_signs(p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_signs(p_endpoint_id uuid) FROM PUBLIC;

-- Name: FUNCTION check_template(p_field text, p_template jsonb, p_names text[], p_characters text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_template(p_field text, p_template jsonb, p_names text[], p_characters text) FROM PUBLIC;

-- Name: FUNCTION check_type(p_type text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_type(p_type text) FROM PUBLIC;

-- Name: FUNCTION check_unordered(p_event outbox.event); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_unordered(p_event outbox.event) FROM PUBLIC;

-- Name: FUNCTION check_url(p_url text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_url(p_url text) FROM PUBLIC;

-- Name: FUNCTION check_watched(p_table regclass); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.check_watched(p_table regclass) FROM PUBLIC;

-- Name: FUNCTION claim(p_limit integer, p_touched uuid[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.claim(p_limit integer, p_touched uuid[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION claimed_before(p_run uuid, p_seq bigint, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.claimed_before(p_run uuid, p_seq bigint, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION cleanup(p_most integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.cleanup(p_most integer) FROM PUBLIC;

-- Name: FUNCTION clock(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.clock() FROM PUBLIC;

-- Name: TABLE delivery; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.delivery TO service_role;

-- Name: FUNCTION close_delivery(p_delivery outbox.delivery, p_outcome text, p_why text, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.close_delivery(p_delivery outbox.delivery, p_outcome text, p_why text, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION close_message(p_event_id uuid, p_outcome text, p_why text, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.close_message(p_event_id uuid, p_outcome text, p_why text, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION close_pairs(p_pairs outbox.pair[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.close_pairs(p_pairs outbox.pair[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION close_retries(p_moves outbox.message_move[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.close_retries(p_moves outbox.message_move[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION complete(p_results outbox.result[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.complete(p_results outbox.result[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION complete_message(p_result outbox.result, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.complete_message(p_result outbox.result, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION complete_messages(p_results outbox.result[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.complete_messages(p_results outbox.result[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION configure(p_functions_url text, p_worker_secret text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.configure(p_functions_url text, p_worker_secret text) FROM PUBLIC;

-- Name: FUNCTION consents_json(p_org_id text, p_dossier_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.consents_json(p_org_id text, p_dossier_id text) FROM PUBLIC;

-- Name: FUNCTION consume(p_consumer text, p_event_id text, p_function text, p_message text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.consume(p_consumer text, p_event_id text, p_function text, p_message text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.consume(p_consumer text, p_event_id text, p_function text, p_message text) TO service_role;

-- Name: FUNCTION contact_of(p_org_id text, p_wa_id text, p_user_id text, p_contact jsonb, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.contact_of(p_org_id text, p_wa_id text, p_user_id text, p_contact jsonb, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION count_ended(p_endpoint_id uuid, p_outcome text, p_n bigint); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.count_ended(p_endpoint_id uuid, p_outcome text, p_n bigint) FROM PUBLIC;

-- Name: FUNCTION count_failure(p_event uuid, p_error text, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.count_failure(p_event uuid, p_error text, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION count_message(p_status text, p_error_code text, p_n bigint); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.count_message(p_status text, p_error_code text, p_n bigint) FROM PUBLIC;

-- Name: FUNCTION count_messages(p_org_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.count_messages(p_org_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.count_messages(p_org_id text) TO service_role;

-- Name: FUNCTION count_moves(p_moves outbox.message_move[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.count_moves(p_moves outbox.message_move[]) FROM PUBLIC;

-- Name: FUNCTION count_up(p_metric text, p_labels text[], p_n bigint, p_total bigint); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.count_up(p_metric text, p_labels text[], p_n bigint, p_total bigint) FROM PUBLIC;

-- Name: FUNCTION count_updates(p_ids bigint[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.count_updates(p_ids bigint[]) FROM PUBLIC;

-- Name: FUNCTION counters(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.counters() FROM PUBLIC;

-- Name: FUNCTION counters_since(p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.counters_since(p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION create_broker_endpoint(p_kind text, p_broker jsonb, p_credentials jsonb, p_event_types text[], p_org_id text, p_description text, p_ordering text, p_payload text, p_headers jsonb, p_filter text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.create_broker_endpoint(p_kind text, p_broker jsonb, p_credentials jsonb, p_event_types text[], p_org_id text, p_description text, p_ordering text, p_payload text, p_headers jsonb, p_filter text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.create_broker_endpoint(p_kind text, p_broker jsonb, p_credentials jsonb, p_event_types text[], p_org_id text, p_description text, p_ordering text, p_payload text, p_headers jsonb, p_filter text) TO service_role;

-- Name: FUNCTION create_by_kind(p_org_id text, p_endpoint jsonb, p_event_types text[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.create_by_kind(p_org_id text, p_endpoint jsonb, p_event_types text[]) FROM PUBLIC;

-- Name: FUNCTION create_channel(p_org_id text, p_phone_number_id text, p_waba_id text, p_app_id text, p_access_token text, p_description text, p_messages_per_second double precision, p_pair_seconds double precision); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.create_channel(p_org_id text, p_phone_number_id text, p_waba_id text, p_app_id text, p_access_token text, p_description text, p_messages_per_second double precision, p_pair_seconds double precision) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.create_channel(p_org_id text, p_phone_number_id text, p_waba_id text, p_app_id text, p_access_token text, p_description text, p_messages_per_second double precision, p_pair_seconds double precision) TO service_role;

-- Name: FUNCTION create_endpoint(p_url text, p_event_types text[], p_org_id text, p_secret text, p_description text, p_headers jsonb, p_payload text, p_timeout_ms integer, p_ordering text, p_max_in_flight integer, p_quantum integer, p_retry jsonb, p_rate_per_second double precision, p_filter text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.create_endpoint(p_url text, p_event_types text[], p_org_id text, p_secret text, p_description text, p_headers jsonb, p_payload text, p_timeout_ms integer, p_ordering text, p_max_in_flight integer, p_quantum integer, p_retry jsonb, p_rate_per_second double precision, p_filter text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.create_endpoint(p_url text, p_event_types text[], p_org_id text, p_secret text, p_description text, p_headers jsonb, p_payload text, p_timeout_ms integer, p_ordering text, p_max_in_flight integer, p_quantum integer, p_retry jsonb, p_rate_per_second double precision, p_filter text) TO service_role;

-- Name: FUNCTION create_message(p_org_id text, p_to text, p_payload jsonb, p_template_code text, p_dossier_id text, p_idempotency_key text, p_channel text, p_channel_id uuid, p_actor text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.create_message(p_org_id text, p_to text, p_payload jsonb, p_template_code text, p_dossier_id text, p_idempotency_key text, p_channel text, p_channel_id uuid, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.create_message(p_org_id text, p_to text, p_payload jsonb, p_template_code text, p_dossier_id text, p_idempotency_key text, p_channel text, p_channel_id uuid, p_actor text) TO service_role;

-- Name: FUNCTION create_org_endpoint(p_org_id text, p_endpoint jsonb, p_key text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.create_org_endpoint(p_org_id text, p_endpoint jsonb, p_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.create_org_endpoint(p_org_id text, p_endpoint jsonb, p_key text) TO service_role;

-- Name: FUNCTION create_replay_job(p_org_id text, p_job jsonb, p_key text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.create_replay_job(p_org_id text, p_job jsonb, p_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.create_replay_job(p_org_id text, p_job jsonb, p_key text) TO service_role;

-- Name: FUNCTION create_slack_endpoint(p_url text, p_event_types text[], p_org_id text, p_description text, p_headers jsonb, p_filter text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.create_slack_endpoint(p_url text, p_event_types text[], p_org_id text, p_description text, p_headers jsonb, p_filter text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.create_slack_endpoint(p_url text, p_event_types text[], p_org_id text, p_description text, p_headers jsonb, p_filter text) TO service_role;

-- Name: FUNCTION current_traceparent(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.current_traceparent() FROM PUBLIC;

-- Name: FUNCTION cursor_to_key(p_cursor text, p_form text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.cursor_to_key(p_cursor text, p_form text) FROM PUBLIC;

-- Name: FUNCTION cut_batch(p_batch outbox.routing, p_late uuid[], p_most integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.cut_batch(p_batch outbox.routing, p_late uuid[], p_most integer) FROM PUBLIC;

-- Name: FUNCTION database_metrics(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.database_metrics() FROM PUBLIC;

-- Name: TABLE dead_letter; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.dead_letter TO service_role;

-- Name: FUNCTION dead_letter_json(p_letter outbox.dead_letter); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.dead_letter_json(p_letter outbox.dead_letter) FROM PUBLIC;

-- Name: FUNCTION define_saga(p_name text, p_steps jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.define_saga(p_name text, p_steps jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.define_saga(p_name text, p_steps jsonb) TO service_role;

-- Name: FUNCTION delay_after(p_policy jsonb, p_failure integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.delay_after(p_policy jsonb, p_failure integer) FROM PUBLIC;

-- Name: FUNCTION delete_channel(p_org_id text, p_channel_id uuid, p_actor text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.delete_channel(p_org_id text, p_channel_id uuid, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.delete_channel(p_org_id text, p_channel_id uuid, p_actor text) TO service_role;

-- Name: FUNCTION delete_endpoint(p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.delete_endpoint(p_endpoint_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.delete_endpoint(p_endpoint_id uuid) TO service_role;

-- Name: FUNCTION delete_event_type(p_org_id text, p_type text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.delete_event_type(p_org_id text, p_type text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.delete_event_type(p_org_id text, p_type text) TO service_role;

-- Name: FUNCTION delete_org_endpoint(p_org_id text, p_endpoint_id uuid, p_version integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.delete_org_endpoint(p_org_id text, p_endpoint_id uuid, p_version integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.delete_org_endpoint(p_org_id text, p_endpoint_id uuid, p_version integer) TO service_role;

-- Name: FUNCTION delete_template(p_org_id text, p_code text, p_actor text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.delete_template(p_org_id text, p_code text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.delete_template(p_org_id text, p_code text, p_actor text) TO service_role;

-- Name: FUNCTION delivery_ends(p_event_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.delivery_ends(p_event_id uuid) FROM PUBLIC;

-- Name: FUNCTION delivery_json(p_event_id uuid, p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.delivery_json(p_event_id uuid, p_endpoint_id uuid) FROM PUBLIC;

-- Name: FUNCTION disable_endpoint(p_endpoint_id uuid, p_reason text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.disable_endpoint(p_endpoint_id uuid, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.disable_endpoint(p_endpoint_id uuid, p_reason text) TO service_role;

-- Name: FUNCTION disable_itself(p_endpoint_ids uuid[], p_reason text, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.disable_itself(p_endpoint_ids uuid[], p_reason text, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION discard_dead_letter(p_event_id uuid, p_endpoint_id uuid, p_reason text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.discard_dead_letter(p_event_id uuid, p_endpoint_id uuid, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.discard_dead_letter(p_event_id uuid, p_endpoint_id uuid, p_reason text) TO service_role;

-- Name: FUNCTION discard_org_dead_letter(p_org_id text, p_id uuid, p_reason text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.discard_org_dead_letter(p_org_id text, p_id uuid, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.discard_org_dead_letter(p_org_id text, p_id uuid, p_reason text) TO service_role;

-- Name: FUNCTION dispatch(p_run uuid, p_seq bigint, p_results jsonb, p_limit integer, p_kind text, p_ended boolean, p_known jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.dispatch(p_run uuid, p_seq bigint, p_results jsonb, p_limit integer, p_kind text, p_ended boolean, p_known jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.dispatch(p_run uuid, p_seq bigint, p_results jsonb, p_limit integer, p_kind text, p_ended boolean, p_known jsonb) TO service_role;

-- Name: FUNCTION dlq_message(p_letter outbox.dead_letter, p_endpoint outbox.endpoint); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.dlq_message(p_letter outbox.dead_letter, p_endpoint outbox.endpoint) FROM PUBLIC;

-- Name: FUNCTION drop_expired_secrets(p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.drop_expired_secrets(p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION drop_partition(p_name text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.drop_partition(p_name text) FROM PUBLIC;

-- Name: FUNCTION drop_partitions(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.drop_partitions() FROM PUBLIC;

-- Name: FUNCTION drop_saga(p_name text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.drop_saga(p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.drop_saga(p_name text) TO service_role;

-- Name: FUNCTION dropped_events(p_claimed outbox.claimed); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.dropped_events(p_claimed outbox.claimed) FROM PUBLIC;

-- Name: FUNCTION due_gates(p_limit integer, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.due_gates(p_limit integer, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION end_request(p_org_id text, p_key text, p_answer jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.end_request(p_org_id text, p_key text, p_answer jsonb) FROM PUBLIC;

-- Name: FUNCTION end_saga(p_org_id text, p_idempotency_key text, p_result jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.end_saga(p_org_id text, p_idempotency_key text, p_result jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.end_saga(p_org_id text, p_idempotency_key text, p_result jsonb) TO service_role;

-- Name: FUNCTION end_told(p_message outbox.outbound_message, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.end_told(p_message outbox.outbound_message, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION endpoint_json(p_endpoint outbox.endpoint); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.endpoint_json(p_endpoint outbox.endpoint) FROM PUBLIC;

-- Name: FUNCTION endpoints_to_judge(p_results outbox.result[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.endpoints_to_judge(p_results outbox.result[]) FROM PUBLIC;

-- Name: FUNCTION engine_metrics(p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.engine_metrics(p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION erase_inbound(p_now timestamp with time zone, p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.erase_inbound(p_now timestamp with time zone, p_limit integer) FROM PUBLIC;

-- Name: FUNCTION erase_messages(p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.erase_messages(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION event_content(p_event outbox.event); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.event_content(p_event outbox.event) FROM PUBLIC;

-- Name: FUNCTION event_json(p_event outbox.event); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.event_json(p_event outbox.event) FROM PUBLIC;

-- Name: FUNCTION event_metrics(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.event_metrics() FROM PUBLIC;

-- Name: FUNCTION event_of_json(p_event jsonb, p_at timestamp with time zone, p_org_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.event_of_json(p_event jsonb, p_at timestamp with time zone, p_org_id text) FROM PUBLIC;

-- Name: FUNCTION event_type_json(p_type outbox.event_type); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.event_type_json(p_type outbox.event_type) FROM PUBLIC;

-- Name: FUNCTION execute_org_saga(p_org_id text, p_name text, p_context text, p_key text, p_traceparent text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.execute_org_saga(p_org_id text, p_name text, p_context text, p_key text, p_traceparent text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.execute_org_saga(p_org_id text, p_name text, p_context text, p_key text, p_traceparent text) TO service_role;

-- Name: FUNCTION execute_saga(p_name text, p_context jsonb, p_org_id text, p_idempotency_key text, p_traceparent text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.execute_saga(p_name text, p_context jsonb, p_org_id text, p_idempotency_key text, p_traceparent text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.execute_saga(p_name text, p_context jsonb, p_org_id text, p_idempotency_key text, p_traceparent text) TO service_role;

-- Name: FUNCTION expire_deliveries(p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.expire_deliveries(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION expire_delivery(p_delivery outbox.delivery, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.expire_delivery(p_delivery outbox.delivery, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION expire_org_secret(p_org_id text, p_endpoint_id uuid, p_secret_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.expire_org_secret(p_org_id text, p_endpoint_id uuid, p_secret_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.expire_org_secret(p_org_id text, p_endpoint_id uuid, p_secret_id uuid) TO service_role;

-- Name: FUNCTION expire_secret(p_secret_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.expire_secret(p_secret_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.expire_secret(p_secret_id uuid) TO service_role;

-- Name: TABLE attempt; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.attempt TO service_role;

-- Name: TABLE message_attempt; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.message_attempt TO service_role;

-- Name: FUNCTION fail_attempt(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_receipt outbox.attempt, p_result outbox.result, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.fail_attempt(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_receipt outbox.attempt, p_result outbox.result, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION fail_message(p_message outbox.outbound_message, p_code text, p_error text, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.fail_message(p_message outbox.outbound_message, p_code text, p_error text, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION fail_unsent(p_endpoint_id uuid, p_limit integer, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.fail_unsent(p_endpoint_id uuid, p_limit integer, p_now timestamp with time zone) FROM PUBLIC;

-- Name: TABLE failure_rule; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.failure_rule TO service_role;

-- Name: FUNCTION failure_rule_of(p_kind text, p_status integer, p_error_class text, p_code text, p_subcode text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.failure_rule_of(p_kind text, p_status integer, p_error_class text, p_code text, p_subcode text) FROM PUBLIC;

-- Name: FUNCTION filter_problem(p_filters jsonpath[], p_since timestamp with time zone[], p_body text, p_created_at timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.filter_problem(p_filters jsonpath[], p_since timestamp with time zone[], p_body text, p_created_at timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION find_attempt(p_org_id text, p_phone_number_id text, p_wamid text, p_callback_data text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.find_attempt(p_org_id text, p_phone_number_id text, p_wamid text, p_callback_data text) FROM PUBLIC;

-- Name: FUNCTION find_event(p_event_id uuid, p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.find_event(p_event_id uuid, p_endpoint_id uuid) FROM PUBLIC;

-- Name: FUNCTION first_lane_at(p_gate_id bigint, p_from timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.first_lane_at(p_gate_id bigint, p_from timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION first_lease_end(p_gate_id bigint); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.first_lease_end(p_gate_id bigint) FROM PUBLIC;

-- Name: FUNCTION first_retry_at(p_lane_id bigint); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.first_retry_at(p_lane_id bigint) FROM PUBLIC;

-- Name: FUNCTION fold_counters(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.fold_counters() FROM PUBLIC;

-- Name: FUNCTION forget_app_secrets(p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.forget_app_secrets(p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION forget_channel(p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.forget_channel(p_endpoint_id uuid) FROM PUBLIC;

-- Name: FUNCTION forget_endpoint(p_endpoint_id uuid, p_gate_id bigint); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.forget_endpoint(p_endpoint_id uuid, p_gate_id bigint) FROM PUBLIC;

-- Name: FUNCTION forget_requests(p_now timestamp with time zone, p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.forget_requests(p_now timestamp with time zone, p_limit integer) FROM PUBLIC;

-- Name: FUNCTION forget_updates(p_now timestamp with time zone, p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.forget_updates(p_now timestamp with time zone, p_limit integer) FROM PUBLIC;

-- Name: FUNCTION gate_metrics(p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.gate_metrics(p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION gate_totals(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.gate_totals() FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.gate_totals() TO service_role;

-- Name: FUNCTION get_channel(p_org_id text, p_channel_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_channel(p_org_id text, p_channel_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_channel(p_org_id text, p_channel_id uuid) TO service_role;

-- Name: FUNCTION get_dead_letter(p_org_id text, p_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_dead_letter(p_org_id text, p_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_dead_letter(p_org_id text, p_id uuid) TO service_role;

-- Name: FUNCTION get_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_delivery(p_org_id text, p_event_id uuid, p_endpoint_id uuid) TO service_role;

-- Name: FUNCTION get_event(p_org_id text, p_event_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_event(p_org_id text, p_event_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_event(p_org_id text, p_event_id uuid) TO service_role;

-- Name: FUNCTION get_event_type(p_org_id text, p_type text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_event_type(p_org_id text, p_type text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_event_type(p_org_id text, p_type text) TO service_role;

-- Name: FUNCTION get_health(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_health() FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_health() TO service_role;

-- Name: FUNCTION get_message(p_org_id text, p_message_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_message(p_org_id text, p_message_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_message(p_org_id text, p_message_id text) TO service_role;

-- Name: FUNCTION get_metrics(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_metrics() FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_metrics() TO service_role;

-- Name: FUNCTION get_org_endpoint(p_org_id text, p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_org_endpoint(p_org_id text, p_endpoint_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_org_endpoint(p_org_id text, p_endpoint_id uuid) TO service_role;

-- Name: FUNCTION get_org_secret(p_org_id text, p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_org_secret(p_org_id text, p_endpoint_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_org_secret(p_org_id text, p_endpoint_id uuid) TO service_role;

-- Name: FUNCTION get_org_stats(p_org_id text, p_endpoint_id uuid, p_hours integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_org_stats(p_org_id text, p_endpoint_id uuid, p_hours integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_org_stats(p_org_id text, p_endpoint_id uuid, p_hours integer) TO service_role;

-- Name: FUNCTION get_org_test(p_org_id text, p_endpoint_id uuid, p_event_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_org_test(p_org_id text, p_endpoint_id uuid, p_event_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_org_test(p_org_id text, p_endpoint_id uuid, p_event_id uuid) TO service_role;

-- Name: FUNCTION get_replay_job(p_org_id text, p_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_replay_job(p_org_id text, p_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_replay_job(p_org_id text, p_id text) TO service_role;

-- Name: FUNCTION get_retry_config(p_org_id text, p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_retry_config(p_org_id text, p_endpoint_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_retry_config(p_org_id text, p_endpoint_id uuid) TO service_role;

-- Name: FUNCTION get_whatsapp_app(p_app_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.get_whatsapp_app(p_app_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.get_whatsapp_app(p_app_id text) TO service_role;

-- Name: FUNCTION grant_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_source text, p_evidence text, p_actor text, p_channel text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.grant_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_source text, p_evidence text, p_actor text, p_channel text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.grant_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_source text, p_evidence text, p_actor text, p_channel text) TO service_role;

-- Name: FUNCTION had_pairs(p_event uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.had_pairs(p_event uuid) FROM PUBLIC;

-- Name: FUNCTION has_due(p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.has_due(p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION has_unrouted(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.has_unrouted() FROM PUBLIC;

-- Name: FUNCTION hash_key(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.hash_key() FROM PUBLIC;

-- Name: FUNCTION hash_person(p_recipient text, p_key text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.hash_person(p_recipient text, p_key text) FROM PUBLIC;

-- Name: FUNCTION header_problem(p_name text, p_value jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.header_problem(p_name text, p_value jsonb) FROM PUBLIC;

-- Name: FUNCTION heed_answers(p_results outbox.result[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.heed_answers(p_results outbox.result[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION heed_failures(p_changes outbox.status_change[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.heed_failures(p_changes outbox.status_change[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION heed_late_result(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_result outbox.result, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.heed_late_result(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_result outbox.result, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION hold_channel(p_channel_id uuid, p_cause text, p_held boolean, p_why text, p_at timestamp with time zone, p_expires_at timestamp with time zone, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.hold_channel(p_channel_id uuid, p_cause text, p_held boolean, p_why text, p_at timestamp with time zone, p_expires_at timestamp with time zone, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION hold_channels(p_endpoint_ids uuid[], p_results outbox.result[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.hold_channels(p_endpoint_ids uuid[], p_results outbox.result[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION hold_failing(p_failures outbox.status_change[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.hold_failing(p_failures outbox.status_change[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: TABLE notice_rule; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.notice_rule TO service_role;

-- Name: FUNCTION hold_template(p_update outbox.whatsapp_update, p_rule outbox.notice_rule, p_why text, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.hold_template(p_update outbox.whatsapp_update, p_rule outbox.notice_rule, p_why text, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION host_problem(p_host text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.host_problem(p_host text) FROM PUBLIC;

-- Name: FUNCTION inbound_text(p_data jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.inbound_text(p_data jsonb) FROM PUBLIC;

-- Name: FUNCTION insert_deliveries(p_pairs outbox.pair[], p_targets outbox.target[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.insert_deliveries(p_pairs outbox.pair[], p_targets outbox.target[]) FROM PUBLIC;

-- Name: FUNCTION inside_name_problem(p_name text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.inside_name_problem(p_name text) FROM PUBLIC;

-- Name: FUNCTION invalid(p_field text, p_problem text, p_remedy text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.invalid(p_field text, p_problem text, p_remedy text) FROM PUBLIC;

-- Name: FUNCTION ipv4_number(p_part text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.ipv4_number(p_part text) FROM PUBLIC;

-- Name: FUNCTION ipv4_of(p_host text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.ipv4_of(p_host text) FROM PUBLIC;

-- Name: FUNCTION ipv6_of(p_host text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.ipv6_of(p_host text) FROM PUBLIC;

-- Name: FUNCTION is_base_url(p_text text, p_form text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.is_base_url(p_text text, p_form text) FROM PUBLIC;

-- Name: TABLE run; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.run TO service_role;

-- Name: FUNCTION is_crowded(p_run outbox.run, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.is_crowded(p_run outbox.run, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION is_network(p_text text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.is_network(p_text text) FROM PUBLIC;

-- Name: FUNCTION is_open_on(p_day date); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.is_open_on(p_day date) FROM PUBLIC;

-- Name: FUNCTION is_port_range(p_text text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.is_port_range(p_text text) FROM PUBLIC;

-- Name: FUNCTION is_public(p_address inet); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.is_public(p_address inet) FROM PUBLIC;

-- Name: FUNCTION is_quiet(p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.is_quiet(p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION is_reachable(p_address inet); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.is_reachable(p_address inet) FROM PUBLIC;

-- Name: FUNCTION is_retryable(p_kind text, p_status integer, p_error_class text, p_code text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.is_retryable(p_kind text, p_status integer, p_error_class text, p_code text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.is_retryable(p_kind text, p_status integer, p_error_class text, p_code text) TO service_role;

-- Name: FUNCTION is_template_held(p_message outbox.outbound_message); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.is_template_held(p_message outbox.outbound_message) FROM PUBLIC;

-- Name: FUNCTION is_watched_change(p_new jsonb, p_old jsonb, p_watch jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.is_watched_change(p_new jsonb, p_old jsonb, p_watch jsonb) FROM PUBLIC;

-- Name: FUNCTION iso_time(p_at timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.iso_time(p_at timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION judge_statuses(p_ids bigint[], p_gates uuid[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.judge_statuses(p_ids bigint[], p_gates uuid[]) FROM PUBLIC;

-- Name: FUNCTION keep_days(p_event_ids uuid[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.keep_days(p_event_ids uuid[]) FROM PUBLIC;

-- Name: FUNCTION keep_in_vault(p_field text, p_secret text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.keep_in_vault(p_field text, p_secret text) FROM PUBLIC;

-- Name: FUNCTION keep_secret(p_name text, p_value text, p_description text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.keep_secret(p_name text, p_value text, p_description text) FROM PUBLIC;

-- Name: FUNCTION key_hash(p_ordering text, p_partition_key text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.key_hash(p_ordering text, p_partition_key text) FROM PUBLIC;

-- Name: FUNCTION key_to_cursor(p_key text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.key_to_cursor(p_key text) FROM PUBLIC;

-- Name: FUNCTION key_window(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.key_window() FROM PUBLIC;

-- Name: FUNCTION kick(p_why text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.kick(p_why text) FROM PUBLIC;

-- Name: FUNCTION kick_on_commit(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.kick_on_commit() FROM PUBLIC;

-- Name: FUNCTION last_attempt(p_event_id uuid, p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.last_attempt(p_event_id uuid, p_endpoint_id uuid) FROM PUBLIC;

-- Name: FUNCTION latency_bounds(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.latency_bounds() FROM PUBLIC;

-- Name: FUNCTION learn_numbers(p_ids bigint[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.learn_numbers(p_ids bigint[]) FROM PUBLIC;

-- Name: FUNCTION lift_expired_holds(p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.lift_expired_holds(p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION list_activity(p_org_id text, p_dossier_id text, p_cursor text, p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_activity(p_org_id text, p_dossier_id text, p_cursor text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_activity(p_org_id text, p_dossier_id text, p_cursor text, p_limit integer) TO service_role;

-- Name: FUNCTION list_attempts(p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_cursor text, p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_attempts(p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_cursor text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_attempts(p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_cursor text, p_limit integer) TO service_role;

-- Name: FUNCTION list_audit_events(p_org_id text, p_cursor text, p_limit integer, p_entity_type text, p_entity_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_audit_events(p_org_id text, p_cursor text, p_limit integer, p_entity_type text, p_entity_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_audit_events(p_org_id text, p_cursor text, p_limit integer, p_entity_type text, p_entity_id text) TO service_role;

-- Name: FUNCTION list_channels(p_org_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_channels(p_org_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_channels(p_org_id text) TO service_role;

-- Name: FUNCTION list_consents(p_org_id text, p_dossier_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_consents(p_org_id text, p_dossier_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_consents(p_org_id text, p_dossier_id text) TO service_role;

-- Name: FUNCTION list_dead_letters(p_org_id text, p_endpoint_id uuid, p_event_type text, p_state text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_dead_letters(p_org_id text, p_endpoint_id uuid, p_event_type text, p_state text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_dead_letters(p_org_id text, p_endpoint_id uuid, p_event_type text, p_state text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer) TO service_role;

-- Name: FUNCTION list_deliveries(p_org_id text, p_status text, p_endpoint_id uuid, p_event_type text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_deliveries(p_org_id text, p_status text, p_endpoint_id uuid, p_event_type text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_deliveries(p_org_id text, p_status text, p_endpoint_id uuid, p_event_type text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer) TO service_role;

-- Name: FUNCTION list_event_types(p_org_id text, p_cursor text, p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_event_types(p_org_id text, p_cursor text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_event_types(p_org_id text, p_cursor text, p_limit integer) TO service_role;

-- Name: FUNCTION list_events(p_org_id text, p_event_type text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_events(p_org_id text, p_event_type text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_events(p_org_id text, p_event_type text, p_from timestamp with time zone, p_to timestamp with time zone, p_cursor text, p_limit integer) TO service_role;

-- Name: FUNCTION list_messages(p_org_id text, p_cursor text, p_limit integer, p_dossier_id text, p_status text, p_channel text, p_from timestamp with time zone, p_to timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_messages(p_org_id text, p_cursor text, p_limit integer, p_dossier_id text, p_status text, p_channel text, p_from timestamp with time zone, p_to timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_messages(p_org_id text, p_cursor text, p_limit integer, p_dossier_id text, p_status text, p_channel text, p_from timestamp with time zone, p_to timestamp with time zone) TO service_role;

-- Name: FUNCTION list_opt_outs(p_org_id text, p_recipient text, p_cursor text, p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_opt_outs(p_org_id text, p_recipient text, p_cursor text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_opt_outs(p_org_id text, p_recipient text, p_cursor text, p_limit integer) TO service_role;

-- Name: FUNCTION list_org_endpoints(p_org_id text, p_cursor text, p_limit integer, p_state text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_org_endpoints(p_org_id text, p_cursor text, p_limit integer, p_state text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_org_endpoints(p_org_id text, p_cursor text, p_limit integer, p_state text) TO service_role;

-- Name: FUNCTION list_replay_jobs(p_org_id text, p_cursor text, p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_replay_jobs(p_org_id text, p_cursor text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_replay_jobs(p_org_id text, p_cursor text, p_limit integer) TO service_role;

-- Name: FUNCTION list_reply_words(p_org_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_reply_words(p_org_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_reply_words(p_org_id text) TO service_role;

-- Name: FUNCTION list_templates(p_org_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.list_templates(p_org_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.list_templates(p_org_id text) TO service_role;

-- Name: FUNCTION live_secrets(p_endpoint_id uuid, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.live_secrets(p_endpoint_id uuid, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION lock_channel(p_org_id text, p_channel_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.lock_channel(p_org_id text, p_channel_id uuid) FROM PUBLIC;

-- Name: FUNCTION lock_endpoint(p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.lock_endpoint(p_endpoint_id uuid) FROM PUBLIC;

-- Name: FUNCTION lock_gates(p_endpoint_ids uuid[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.lock_gates(p_endpoint_ids uuid[]) FROM PUBLIC;

-- Name: FUNCTION lock_message(p_org_id text, p_message_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.lock_message(p_org_id text, p_message_id text) FROM PUBLIC;

-- Name: FUNCTION lock_org_endpoint(p_org_id text, p_endpoint_id uuid, p_version integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.lock_org_endpoint(p_org_id text, p_endpoint_id uuid, p_version integer) FROM PUBLIC;

-- Name: FUNCTION lock_router(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.lock_router() FROM PUBLIC;

-- Name: FUNCTION lock_settings(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.lock_settings() FROM PUBLIC;

-- Name: FUNCTION lose_leases(p_endpoint_ids uuid[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.lose_leases(p_endpoint_ids uuid[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION lost(p_delivery outbox.delivery); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.lost(p_delivery outbox.delivery) FROM PUBLIC;

-- Name: FUNCTION mark_sent(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_wamid text, p_provider jsonb, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.mark_sent(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_wamid text, p_provider jsonb, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION may_be_out(p_attempt outbox.message_attempt); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.may_be_out(p_attempt outbox.message_attempt) FROM PUBLIC;

-- Name: FUNCTION may_become(p_from text, p_to text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.may_become(p_from text, p_to text) FROM PUBLIC;

-- Name: FUNCTION message_content(p_message outbox.outbound_message); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.message_content(p_message outbox.outbound_message) FROM PUBLIC;

-- Name: FUNCTION message_json(p_message outbox.outbound_message); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.message_json(p_message outbox.outbound_message) FROM PUBLIC;

-- Name: FUNCTION message_number(p_message_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.message_number(p_message_id text) FROM PUBLIC;

-- Name: FUNCTION message_of_key(p_message outbox.outbound_message); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.message_of_key(p_message outbox.outbound_message) FROM PUBLIC;

-- Name: FUNCTION move_messages(p_messages bigint[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.move_messages(p_messages bigint[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION new_event(p_at timestamp with time zone, p_type text, p_body text, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.new_event(p_at timestamp with time zone, p_type text, p_body text, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text) FROM PUBLIC;

-- Name: FUNCTION new_secret(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.new_secret() FROM PUBLIC;

-- Name: FUNCTION next_replays(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.next_replays() FROM PUBLIC;

-- Name: FUNCTION next_unrouted(p_router outbox.router); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.next_unrouted(p_router outbox.router) FROM PUBLIC;

-- Name: FUNCTION no_saga(p_name text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.no_saga(p_name text) FROM PUBLIC;

-- Name: FUNCTION note_activity(p_message outbox.outbound_message, p_type text, p_more jsonb, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.note_activity(p_message outbox.outbound_message, p_type text, p_more jsonb, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION note_portal_token(p_org_id text, p_key text, p_token jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.note_portal_token(p_org_id text, p_key text, p_token jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.note_portal_token(p_org_id text, p_key text, p_token jsonb) TO service_role;

-- Name: FUNCTION note_requests(p_requests jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.note_requests(p_requests jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.note_requests(p_requests jsonb) TO service_role;

-- Name: FUNCTION note_statuses(p_changes outbox.status_change[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.note_statuses(p_changes outbox.status_change[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION note_wishes(p_wishes outbox.wish[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.note_wishes(p_wishes outbox.wish[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION notice_end(p_data jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.notice_end(p_data jsonb) FROM PUBLIC;

-- Name: FUNCTION notice_reason(p_data jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.notice_reason(p_data jsonb) FROM PUBLIC;

-- Name: FUNCTION notice_rule_of(p_update outbox.whatsapp_update); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.notice_rule_of(p_update outbox.whatsapp_update) FROM PUBLIC;

-- Name: FUNCTION number_of(p_wa_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.number_of(p_wa_id text) FROM PUBLIC;

-- Name: FUNCTION open_delivery(p_event_id uuid, p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.open_delivery(p_event_id uuid, p_endpoint_id uuid) FROM PUBLIC;

-- Name: FUNCTION open_delivery_list(p_org_id text, p_status text, p_from uuid, p_below outbox.delivery_key); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.open_delivery_list(p_org_id text, p_status text, p_from uuid, p_below outbox.delivery_key) FROM PUBLIC;

-- Name: FUNCTION open_letter_list(p_org_id text, p_endpoint_id uuid, p_from timestamp with time zone, p_at timestamp with time zone, p_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.open_letter_list(p_org_id text, p_endpoint_id uuid, p_from timestamp with time zone, p_at timestamp with time zone, p_id uuid) FROM PUBLIC;

-- Name: FUNCTION open_window(p_channel_id uuid, p_recipient text, p_at timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.open_window(p_channel_id uuid, p_recipient text, p_at timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION opt_in_recipient(p_org_id text, p_recipient text, p_purpose text, p_channel text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.opt_in_recipient(p_org_id text, p_recipient text, p_purpose text, p_channel text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.opt_in_recipient(p_org_id text, p_recipient text, p_purpose text, p_channel text) TO service_role;

-- Name: TABLE opt_out; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.opt_out TO service_role;

-- Name: FUNCTION opt_out_json(p_opt_out outbox.opt_out); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.opt_out_json(p_opt_out outbox.opt_out) FROM PUBLIC;

-- Name: FUNCTION opt_out_recipient(p_org_id text, p_recipient text, p_source text, p_purpose text, p_channel text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.opt_out_recipient(p_org_id text, p_recipient text, p_source text, p_purpose text, p_channel text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.opt_out_recipient(p_org_id text, p_recipient text, p_source text, p_purpose text, p_channel text) TO service_role;

-- Name: FUNCTION org_dead_letter(p_org_id text, p_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.org_dead_letter(p_org_id text, p_id uuid) FROM PUBLIC;

-- Name: FUNCTION org_endpoint(p_org_id text, p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.org_endpoint(p_org_id text, p_endpoint_id uuid) FROM PUBLIC;

-- Name: FUNCTION pace_of(p_messages_per_second double precision); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.pace_of(p_messages_per_second double precision) FROM PUBLIC;

-- Name: FUNCTION park(p_endpoint_ids uuid[], p_now timestamp with time zone, p_served uuid[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.park(p_endpoint_ids uuid[], p_now timestamp with time zone, p_served uuid[]) FROM PUBLIC;

-- Name: FUNCTION partition_day(p_name text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.partition_day(p_name text) FROM PUBLIC;

-- Name: FUNCTION partition_name(p_table text, p_day date); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.partition_name(p_table text, p_day date) FROM PUBLIC;

-- Name: FUNCTION pause_endpoint(p_endpoint_id uuid, p_reason text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.pause_endpoint(p_endpoint_id uuid, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.pause_endpoint(p_endpoint_id uuid, p_reason text) TO service_role;

-- Name: FUNCTION pause_org_endpoint(p_org_id text, p_endpoint_id uuid, p_reason text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.pause_org_endpoint(p_org_id text, p_endpoint_id uuid, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.pause_org_endpoint(p_org_id text, p_endpoint_id uuid, p_reason text) TO service_role;

-- Name: FUNCTION person_key(p_recipient text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.person_key(p_recipient text) FROM PUBLIC;

-- Name: FUNCTION plain_word(p_text text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.plain_word(p_text text) FROM PUBLIC;

-- Name: FUNCTION port_allowed(p_port integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.port_allowed(p_port integer) FROM PUBLIC;

-- Name: FUNCTION port_ranges(p_ranges jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.port_ranges(p_ranges jsonb) FROM PUBLIC;

-- Name: FUNCTION preview_retry_config(p_policy jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.preview_retry_config(p_policy jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.preview_retry_config(p_policy jsonb) TO service_role;

-- Name: FUNCTION preview_schedule(p_policy jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.preview_schedule(p_policy jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.preview_schedule(p_policy jsonb) TO service_role;

-- Name: FUNCTION primary_key(p_table regclass); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.primary_key(p_table regclass) FROM PUBLIC;

-- Name: FUNCTION publish(p_type text, p_payload jsonb, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish(p_type text, p_payload jsonb, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.publish(p_type text, p_payload jsonb, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text) TO service_role;

-- Name: FUNCTION publish_array(p_events jsonb, p_org_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish_array(p_events jsonb, p_org_id text) FROM PUBLIC;

-- Name: FUNCTION publish_change(p_watch jsonb, p_schema text, p_table text, p_op text, p_new jsonb, p_old jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish_change(p_watch jsonb, p_schema text, p_table text, p_op text, p_new jsonb, p_old jsonb) FROM PUBLIC;

-- Name: FUNCTION publish_dead(p_events uuid[], p_endpoints uuid[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish_dead(p_events uuid[], p_endpoints uuid[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION publish_events(p_org_id text, p_events jsonb, p_catalogue text, p_key text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish_events(p_org_id text, p_events jsonb, p_catalogue text, p_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.publish_events(p_org_id text, p_events jsonb, p_catalogue text, p_key text) TO service_role;

-- Name: TABLE inbound_message; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.inbound_message TO service_role;

-- Name: FUNCTION publish_inbound(p_message outbox.inbound_message, p_update outbox.whatsapp_update, p_action text, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish_inbound(p_message outbox.inbound_message, p_update outbox.whatsapp_update, p_action text, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION publish_inserted(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish_inserted() FROM PUBLIC;

-- Name: FUNCTION publish_many(p_events jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish_many(p_events jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.publish_many(p_events jsonb) TO service_role;

-- Name: FUNCTION publish_message(p_message outbox.outbound_message, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish_message(p_message outbox.outbound_message, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION publish_plain(p_events jsonb, p_org_id text, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish_plain(p_events jsonb, p_org_id text, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION publish_raw(p_type text, p_body text, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish_raw(p_type text, p_body text, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.publish_raw(p_type text, p_body text, p_org_id text, p_partition_key text, p_correlation_id text, p_idempotency_key text, p_endpoint_id uuid, p_deliver_at timestamp with time zone, p_traceparent text) TO service_role;

-- Name: FUNCTION publish_row(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish_row() FROM PUBLIC;

-- Name: FUNCTION publish_rows(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish_rows() FROM PUBLIC;

-- Name: FUNCTION publish_statuses(p_changes outbox.status_change[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish_statuses(p_changes outbox.status_change[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION publish_updates(p_watch jsonb, p_schema text, p_table text, p_new jsonb[], p_old jsonb[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.publish_updates(p_watch jsonb, p_schema text, p_table text, p_new jsonb[], p_old jsonb[]) FROM PUBLIC;

-- Name: FUNCTION purge_deleted(p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.purge_deleted(p_limit integer) FROM PUBLIC;

-- Name: FUNCTION purge_endpoint(p_endpoint_id uuid, p_limit integer, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.purge_endpoint(p_endpoint_id uuid, p_limit integer, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION put_back(p_event_id uuid, p_endpoint_id uuid, p_job bigint, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.put_back(p_event_id uuid, p_endpoint_id uuid, p_job bigint, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION put_broker(p_endpoint_id uuid, p_broker jsonb, p_credentials jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.put_broker(p_endpoint_id uuid, p_broker jsonb, p_credentials jsonb) FROM PUBLIC;

-- Name: FUNCTION put_credentials(p_endpoint_id uuid, p_credentials jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.put_credentials(p_endpoint_id uuid, p_credentials jsonb) FROM PUBLIC;

-- Name: FUNCTION put_event(p_event outbox.event); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.put_event(p_event outbox.event) FROM PUBLIC;

-- Name: FUNCTION put_event_type(p_org_id text, p_type text, p_description text, p_schema json, p_create boolean, p_key text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.put_event_type(p_org_id text, p_type text, p_description text, p_schema json, p_create boolean, p_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.put_event_type(p_org_id text, p_type text, p_description text, p_schema json, p_create boolean, p_key text) TO service_role;

-- Name: FUNCTION put_headers(p_endpoint_id uuid, p_headers jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.put_headers(p_endpoint_id uuid, p_headers jsonb) FROM PUBLIC;

-- Name: FUNCTION put_message(p_message outbox.outbound_message, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.put_message(p_message outbox.outbound_message, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION put_news(p_type text, p_bodies text[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.put_news(p_type text, p_bodies text[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION put_off(p_ids bigint[], p_error text, p_state text, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.put_off(p_ids bigint[], p_error text, p_state text, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION put_reply_word(p_org_id text, p_language text, p_word text, p_action text, p_actor text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.put_reply_word(p_org_id text, p_language text, p_word text, p_action text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.put_reply_word(p_org_id text, p_language text, p_word text, p_action text, p_actor text) TO service_role;

-- Name: FUNCTION put_slack_url(p_endpoint_id uuid, p_url text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.put_slack_url(p_endpoint_id uuid, p_url text) FROM PUBLIC;

-- Name: FUNCTION put_template(p_org_id text, p_code text, p_name text, p_language text, p_category text, p_parameter_format text, p_actor text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.put_template(p_org_id text, p_code text, p_name text, p_language text, p_category text, p_parameter_format text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.put_template(p_org_id text, p_code text, p_name text, p_language text, p_category text, p_parameter_format text, p_actor text) TO service_role;

-- Name: FUNCTION put_whatsapp_app(p_app_id text, p_secret text, p_allow_unsigned boolean, p_overlap interval); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.put_whatsapp_app(p_app_id text, p_secret text, p_allow_unsigned boolean, p_overlap interval) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.put_whatsapp_app(p_app_id text, p_secret text, p_allow_unsigned boolean, p_overlap interval) TO service_role;

-- Name: FUNCTION queue_metrics(p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.queue_metrics(p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION read_catalogue(p_org_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.read_catalogue(p_org_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.read_catalogue(p_org_id text) TO service_role;

-- Name: FUNCTION read_cursor(p_cursor text, OUT p_at timestamp with time zone, OUT p_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.read_cursor(p_cursor text, OUT p_at timestamp with time zone, OUT p_id text) FROM PUBLIC;

-- Name: FUNCTION read_secret(p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.read_secret(p_endpoint_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.read_secret(p_endpoint_id uuid) TO service_role;

-- Name: FUNCTION read_unrouted(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.read_unrouted() FROM PUBLIC;

-- Name: FUNCTION receive_callbacks(p_app_id text, p_org_id text, p_updates jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.receive_callbacks(p_app_id text, p_org_id text, p_updates jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.receive_callbacks(p_app_id text, p_org_id text, p_updates jsonb) TO service_role;

-- Name: TABLE gate; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.gate TO service_role;

-- Name: TABLE lane; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.lane TO service_role;

-- Name: TABLE delivery_status; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.delivery_status TO service_role;

-- Name: FUNCTION recent_deliveries(p_org_id text, p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.recent_deliveries(p_org_id text, p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.recent_deliveries(p_org_id text, p_limit integer) TO service_role;

-- Name: FUNCTION recipients_of(p_org_id text, p_wa_id text, p_user_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.recipients_of(p_org_id text, p_wa_id text, p_user_id text) FROM PUBLIC;

-- Name: FUNCTION refusal_of(p_message outbox.outbound_message, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.refusal_of(p_message outbox.outbound_message, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION refusal_words(p_code text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.refusal_words(p_code text) FROM PUBLIC;

-- Name: FUNCTION refuse_channel(p_endpoint outbox.endpoint); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.refuse_channel(p_endpoint outbox.endpoint) FROM PUBLIC;

-- Name: FUNCTION refuse_members(p_endpoint jsonb, p_kind text, p_members text[], p_remedy text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.refuse_members(p_endpoint jsonb, p_kind text, p_members text[], p_remedy text) FROM PUBLIC;

-- Name: FUNCTION release_command(p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.release_command(p_endpoint_id uuid) FROM PUBLIC;

-- Name: FUNCTION renew_leases(p_renewals outbox.result[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.renew_leases(p_renewals outbox.result[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION replay(p_event_id uuid, p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.replay(p_event_id uuid, p_endpoint_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.replay(p_event_id uuid, p_endpoint_id uuid) TO service_role;

-- Name: FUNCTION replay_dead_letter(p_org_id text, p_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.replay_dead_letter(p_org_id text, p_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.replay_dead_letter(p_org_id text, p_id uuid) TO service_role;

-- Name: TABLE replay_job; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.replay_job TO service_role;

-- Name: FUNCTION replay_job_json(p_job outbox.replay_job); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.replay_job_json(p_job outbox.replay_job) FROM PUBLIC;

-- Name: FUNCTION replay_lane(p_gate_id bigint, p_job bigint); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.replay_lane(p_gate_id bigint, p_job bigint) FROM PUBLIC;

-- Name: FUNCTION replay_many(p_org_id text, p_endpoint_id uuid, p_event_type text, p_failed_from timestamp with time zone, p_failed_to timestamp with time zone, p_rate_per_second integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.replay_many(p_org_id text, p_endpoint_id uuid, p_event_type text, p_failed_from timestamp with time zone, p_failed_to timestamp with time zone, p_rate_per_second integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.replay_many(p_org_id text, p_endpoint_id uuid, p_event_type text, p_failed_from timestamp with time zone, p_failed_to timestamp with time zone, p_rate_per_second integer) TO service_role;

-- Name: FUNCTION reply_action(p_org_id text, p_data jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.reply_action(p_org_id text, p_data jsonb) FROM PUBLIC;

-- Name: FUNCTION report_dead_message(p_consumer text, p_topic text, p_dlq_topic text, p_message_id text, p_event_type text, p_correlation_id text, p_error text, p_retry_count integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.report_dead_message(p_consumer text, p_topic text, p_dlq_topic text, p_message_id text, p_event_type text, p_correlation_id text, p_error text, p_retry_count integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.report_dead_message(p_consumer text, p_topic text, p_dlq_topic text, p_message_id text, p_event_type text, p_correlation_id text, p_error text, p_retry_count integer) TO service_role;

-- Name: FUNCTION resend_message(p_org_id text, p_message_id text, p_actor text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.resend_message(p_org_id text, p_message_id text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.resend_message(p_org_id text, p_message_id text, p_actor text) TO service_role;

-- Name: FUNCTION reserved_headers(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.reserved_headers() FROM PUBLIC;

-- Name: FUNCTION resolve_dead_letters(p_events uuid[], p_endpoints uuid[], p_attempts integer[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.resolve_dead_letters(p_events uuid[], p_endpoints uuid[], p_attempts integer[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION rest_lane(p_lane_id bigint, p_for interval, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.rest_lane(p_lane_id bigint, p_for interval, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION resume_channel(p_org_id text, p_channel_id uuid, p_actor text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.resume_channel(p_org_id text, p_channel_id uuid, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.resume_channel(p_org_id text, p_channel_id uuid, p_actor text) TO service_role;

-- Name: FUNCTION resume_endpoint(p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.resume_endpoint(p_endpoint_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.resume_endpoint(p_endpoint_id uuid) TO service_role;

-- Name: FUNCTION resume_lane(p_endpoint_id uuid, p_partition_key text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.resume_lane(p_endpoint_id uuid, p_partition_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.resume_lane(p_endpoint_id uuid, p_partition_key text) TO service_role;

-- Name: FUNCTION resume_org_endpoint(p_org_id text, p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.resume_org_endpoint(p_org_id text, p_endpoint_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.resume_org_endpoint(p_org_id text, p_endpoint_id uuid) TO service_role;

-- Name: FUNCTION retries_at(p_endpoint_ids uuid[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.retries_at(p_endpoint_ids uuid[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION retry_after(p_header text, p_now timestamp with time zone, p_most_s integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.retry_after(p_header text, p_now timestamp with time zone, p_most_s integer) FROM PUBLIC;

-- Name: FUNCTION retry_config_json(p_endpoint outbox.endpoint); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.retry_config_json(p_endpoint outbox.endpoint) FROM PUBLIC;

-- Name: FUNCTION retry_now(p_event_id uuid, p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.retry_now(p_event_id uuid, p_endpoint_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.retry_now(p_event_id uuid, p_endpoint_id uuid) TO service_role;

-- Name: FUNCTION retry_of_wire(p_policy jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.retry_of_wire(p_policy jsonb) FROM PUBLIC;

-- Name: FUNCTION retry_preset(p_kind text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.retry_preset(p_kind text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.retry_preset(p_kind text) TO service_role;

-- Name: FUNCTION retry_to_wire(p_policy jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.retry_to_wire(p_policy jsonb) FROM PUBLIC;

-- Name: FUNCTION revoke_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_source text, p_evidence text, p_actor text, p_channel text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.revoke_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_source text, p_evidence text, p_actor text, p_channel text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.revoke_consent(p_org_id text, p_dossier_id text, p_purposes text[], p_source text, p_evidence text, p_actor text, p_channel text) TO service_role;

-- Name: FUNCTION ring_from(p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.ring_from(p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION rotate_org_secret(p_org_id text, p_endpoint_id uuid, p_secret text, p_overlap_seconds integer, p_key text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.rotate_org_secret(p_org_id text, p_endpoint_id uuid, p_secret text, p_overlap_seconds integer, p_key text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.rotate_org_secret(p_org_id text, p_endpoint_id uuid, p_secret text, p_overlap_seconds integer, p_key text) TO service_role;

-- Name: FUNCTION rotate_secret(p_endpoint_id uuid, p_secret text, p_overlap interval); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.rotate_secret(p_endpoint_id uuid, p_secret text, p_overlap interval) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.rotate_secret(p_endpoint_id uuid, p_secret text, p_overlap interval) TO service_role;

-- Name: FUNCTION route(p_batch outbox.routing, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.route(p_batch outbox.routing, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION route_again(p_event_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.route_again(p_event_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.route_again(p_event_id uuid) TO service_role;

-- Name: FUNCTION route_events(p_rows_at tid[], p_pairs outbox.pair[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.route_events(p_rows_at tid[], p_pairs outbox.pair[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION route_one_by_one(p_batch outbox.routing, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.route_one_by_one(p_batch outbox.routing, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION routing_state(p_event_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.routing_state(p_event_id uuid) FROM PUBLIC;

-- Name: FUNCTION run_settings(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.run_settings() FROM PUBLIC;

-- Name: FUNCTION run_step(p_saga text, p_place integer, p_function text, p_context jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.run_step(p_saga text, p_place integer, p_function text, p_context jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.run_step(p_saga text, p_place integer, p_function text, p_context jsonb) TO service_role;

-- Name: FUNCTION save_message(p_message outbox.outbound_message, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.save_message(p_message outbox.outbound_message, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION schedule_json(p_policy jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.schedule_json(p_policy jsonb) FROM PUBLIC;

-- Name: FUNCTION schedule_retry(p_event_id uuid, p_endpoint_id uuid, p_delay interval); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.schedule_retry(p_event_id uuid, p_endpoint_id uuid, p_delay interval) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.schedule_retry(p_event_id uuid, p_endpoint_id uuid, p_delay interval) TO service_role;

-- Name: FUNCTION send_test_event(p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.send_test_event(p_endpoint_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.send_test_event(p_endpoint_id uuid) TO service_role;

-- Name: FUNCTION set_broker(p_endpoint_id uuid, p_broker jsonb, p_credentials jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.set_broker(p_endpoint_id uuid, p_broker jsonb, p_credentials jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.set_broker(p_endpoint_id uuid, p_broker jsonb, p_credentials jsonb) TO service_role;

-- Name: FUNCTION set_catalogue(p_org_id text, p_strict boolean); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.set_catalogue(p_org_id text, p_strict boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.set_catalogue(p_org_id text, p_strict boolean) TO service_role;

-- Name: FUNCTION set_channel_token(p_org_id text, p_channel_id uuid, p_access_token text, p_actor text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.set_channel_token(p_org_id text, p_channel_id uuid, p_access_token text, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.set_channel_token(p_org_id text, p_channel_id uuid, p_access_token text, p_actor text) TO service_role;

-- Name: FUNCTION set_default_channel(p_org_id text, p_channel_id uuid, p_actor text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.set_default_channel(p_org_id text, p_channel_id uuid, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.set_default_channel(p_org_id text, p_channel_id uuid, p_actor text) TO service_role;

-- Name: FUNCTION set_endpoint_state(p_endpoint_id uuid, p_state text, p_reason text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.set_endpoint_state(p_endpoint_id uuid, p_state text, p_reason text) FROM PUBLIC;

-- Name: FUNCTION set_headers(p_endpoint_id uuid, p_headers jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.set_headers(p_endpoint_id uuid, p_headers jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.set_headers(p_endpoint_id uuid, p_headers jsonb) TO service_role;

-- Name: FUNCTION set_replay_job(p_id text, p_state text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.set_replay_job(p_id text, p_state text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.set_replay_job(p_id text, p_state text) TO service_role;

-- Name: FUNCTION set_retry_config(p_org_id text, p_endpoint_id uuid, p_policy jsonb, p_version integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.set_retry_config(p_org_id text, p_endpoint_id uuid, p_policy jsonb, p_version integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.set_retry_config(p_org_id text, p_endpoint_id uuid, p_policy jsonb, p_version integer) TO service_role;

-- Name: FUNCTION set_setting(p_name text, p_value jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.set_setting(p_name text, p_value jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.set_setting(p_name text, p_value jsonb) TO service_role;

-- Name: FUNCTION set_slack_url(p_endpoint_id uuid, p_url text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.set_slack_url(p_endpoint_id uuid, p_url text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.set_slack_url(p_endpoint_id uuid, p_url text) TO service_role;

-- Name: FUNCTION setting_conflict(p_name text, OUT problem text, OUT remedy text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.setting_conflict(p_name text, OUT problem text, OUT remedy text) FROM PUBLIC;

-- Name: TABLE setting; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.setting TO service_role;

-- Name: FUNCTION setting_problem(p_setting outbox.setting, p_value jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.setting_problem(p_setting outbox.setting, p_value jsonb) FROM PUBLIC;

-- Name: FUNCTION setting_value(p_name text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.setting_value(p_name text) FROM PUBLIC;

-- Name: FUNCTION settle_lost(p_delivery outbox.delivery, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.settle_lost(p_delivery outbox.delivery, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION settle_updates(p_ids bigint[], p_states text[], p_reasons text[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.settle_updates(p_ids bigint[], p_states text[], p_reasons text[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION shrink_routing(p_events uuid[], p_error text, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.shrink_routing(p_events uuid[], p_error text, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION slack_url_shown(p_url text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.slack_url_shown(p_url text) FROM PUBLIC;

-- Name: FUNCTION slow_down(p_failures outbox.status_change[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.slow_down(p_failures outbox.status_change[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION softened(p_rule outbox.failure_rule, p_provider jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.softened(p_rule outbox.failure_rule, p_provider jsonb) FROM PUBLIC;

-- Name: FUNCTION spellings(p_recipient text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.spellings(p_recipient text) FROM PUBLIC;

-- Name: FUNCTION step_function(p_function text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.step_function(p_function text) FROM PUBLIC;

-- Name: FUNCTION still_due(p_endpoint_ids uuid[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.still_due(p_endpoint_ids uuid[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION store_callbacks(p_app_id text, p_org_id text, p_updates jsonb, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.store_callbacks(p_app_id text, p_org_id text, p_updates jsonb, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION stored_credentials(p_vault_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.stored_credentials(p_vault_id uuid) FROM PUBLIC;

-- Name: FUNCTION stored_headers(p_vault_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.stored_headers(p_vault_id uuid) FROM PUBLIC;

-- Name: FUNCTION subscribe(p_endpoint_id uuid, p_event_types text[], p_filter text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.subscribe(p_endpoint_id uuid, p_event_types text[], p_filter text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.subscribe(p_endpoint_id uuid, p_event_types text[], p_filter text) TO service_role;

-- Name: FUNCTION take(p_endpoint_ids uuid[], p_limit integer, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.take(p_endpoint_ids uuid[], p_limit integer, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION take_inbound(p_update outbox.whatsapp_update, p_now timestamp with time zone, OUT reason text, OUT wishes outbox.wish[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.take_inbound(p_update outbox.whatsapp_update, p_now timestamp with time zone, OUT reason text, OUT wishes outbox.wish[]) FROM PUBLIC;

-- Name: FUNCTION take_key(p_event outbox.event); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.take_key(p_event outbox.event) FROM PUBLIC;

-- Name: FUNCTION take_messages(p_claimed outbox.claimed, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.take_messages(p_claimed outbox.claimed, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION take_notice(p_update outbox.whatsapp_update, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.take_notice(p_update outbox.whatsapp_update, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION take_preference(p_update outbox.whatsapp_update, p_now timestamp with time zone, OUT reason text, OUT wishes outbox.wish[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.take_preference(p_update outbox.whatsapp_update, p_now timestamp with time zone, OUT reason text, OUT wishes outbox.wish[]) FROM PUBLIC;

-- Name: FUNCTION take_requests(p_org_id text, p_count integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.take_requests(p_org_id text, p_count integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.take_requests(p_org_id text, p_count integer) TO service_role;

-- Name: FUNCTION targets(p_pairs outbox.pair[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.targets(p_pairs outbox.pair[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION tell_statuses(p_changes outbox.status_change[], p_moves outbox.message_move[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.tell_statuses(p_changes outbox.status_change[], p_moves outbox.message_move[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION tell_taken(p_moves outbox.message_move[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.tell_taken(p_moves outbox.message_move[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION template_json(p_org_id text, p_code text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.template_json(p_org_id text, p_code text) FROM PUBLIC;

-- Name: TABLE template; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.template TO service_role;

-- Name: FUNCTION templates_of(p_app_id text, p_waba_id text, p_name text, p_language text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.templates_of(p_app_id text, p_waba_id text, p_name text, p_language text) FROM PUBLIC;

-- Name: FUNCTION test_org_endpoint(p_org_id text, p_endpoint_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.test_org_endpoint(p_org_id text, p_endpoint_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.test_org_endpoint(p_org_id text, p_endpoint_id uuid) TO service_role;

-- Name: FUNCTION throttle_apps(p_results outbox.result[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.throttle_apps(p_results outbox.result[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION tick(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.tick() FROM PUBLIC;

-- Name: FUNCTION time_span(p_from timestamp with time zone, p_to timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.time_span(p_from timestamp with time zone, p_to timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION to_cursor(p_at timestamp with time zone, p_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.to_cursor(p_at timestamp with time zone, p_id text) FROM PUBLIC;

-- Name: FUNCTION touch_run(p_run uuid, p_kind text, p_now timestamp with time zone, p_ended boolean); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.touch_run(p_run uuid, p_kind text, p_now timestamp with time zone, p_ended boolean) FROM PUBLIC;

-- Name: FUNCTION touched_events(p_batch outbox.routing); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.touched_events(p_batch outbox.routing) FROM PUBLIC;

-- Name: FUNCTION try_apply(p_ids bigint[], p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.try_apply(p_ids bigint[], p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION try_lock_gates(p_endpoint_ids uuid[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.try_lock_gates(p_endpoint_ids uuid[]) FROM PUBLIC;

-- Name: FUNCTION turn_ring(p_from timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.turn_ring(p_from timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION type_patterns(p_type text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.type_patterns(p_type text) FROM PUBLIC;

-- Name: FUNCTION undo_attempt(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.undo_attempt(p_message outbox.outbound_message, p_attempt outbox.message_attempt, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION unrouted_late(p_router outbox.router, p_limit integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.unrouted_late(p_router outbox.router, p_limit integer) FROM PUBLIC;

-- Name: FUNCTION unwatch_table(p_table regclass); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.unwatch_table(p_table regclass) FROM PUBLIC;

-- Name: FUNCTION update_channel(p_org_id text, p_channel_id uuid, p_change jsonb, p_actor text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.update_channel(p_org_id text, p_channel_id uuid, p_change jsonb, p_actor text) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.update_channel(p_org_id text, p_channel_id uuid, p_change jsonb, p_actor text) TO service_role;

-- Name: FUNCTION update_org_endpoint(p_org_id text, p_endpoint_id uuid, p_change jsonb, p_version integer); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.update_org_endpoint(p_org_id text, p_endpoint_id uuid, p_change jsonb, p_version integer) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.update_org_endpoint(p_org_id text, p_endpoint_id uuid, p_change jsonb, p_version integer) TO service_role;

-- Name: FUNCTION upkeep(p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.upkeep(p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION uuid_v7(p_at timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.uuid_v7(p_at timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION uuid_v7_floor(p_at timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.uuid_v7_floor(p_at timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION uuid_v7_time(p_id uuid); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.uuid_v7_time(p_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.uuid_v7_time(p_id uuid) TO service_role;

-- Name: FUNCTION version(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.version() FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.version() TO service_role;

-- Name: FUNCTION waiting(); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.waiting() FROM PUBLIC;
GRANT ALL ON FUNCTION outbox.waiting() TO service_role;

-- Name: FUNCTION waits_of(p_claimed outbox.claimed); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.waits_of(p_claimed outbox.claimed) FROM PUBLIC;

-- Name: FUNCTION wake_changed(p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.wake_changed(p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION wake_missed(p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.wake_missed(p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION watch_table(p_table regclass, p_type text, p_org_id text, p_org_column text, p_partition_column text, p_columns text[], p_except text[], p_changed text[], p_operations text[], p_per_statement boolean); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.watch_table(p_table regclass, p_type text, p_org_id text, p_org_column text, p_partition_column text, p_columns text[], p_except text[], p_changed text[], p_operations text[], p_per_statement boolean) FROM PUBLIC;

-- Name: FUNCTION watched_part(p_row jsonb, p_watch jsonb); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.watched_part(p_row jsonb, p_watch jsonb) FROM PUBLIC;

-- Name: FUNCTION why_not_account(p_app_id text, p_org_id text, p_waba_id text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.why_not_account(p_app_id text, p_org_id text, p_waba_id text) FROM PUBLIC;

-- Name: FUNCTION why_not_send(p_message outbox.outbound_message, p_event_id uuid, p_endpoint_id uuid, p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.why_not_send(p_message outbox.outbound_message, p_event_id uuid, p_endpoint_id uuid, p_now timestamp with time zone) FROM PUBLIC;

-- Name: FUNCTION wishes_of(p_update outbox.whatsapp_update, p_contact uuid, p_recipients text[], p_purposes text[], p_lifted boolean, p_source text); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.wishes_of(p_update outbox.whatsapp_update, p_contact uuid, p_recipients text[], p_purposes text[], p_lifted boolean, p_source text) FROM PUBLIC;

-- Name: FUNCTION with_late(p_batch outbox.routing, p_late uuid[]); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.with_late(p_batch outbox.routing, p_late uuid[]) FROM PUBLIC;

-- Name: FUNCTION with_messages(p_parcel outbox.parcel, p_claimed outbox.claimed); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.with_messages(p_parcel outbox.parcel, p_claimed outbox.claimed) FROM PUBLIC;

-- Name: FUNCTION work_replay_jobs(p_now timestamp with time zone); Type: ACL; Schema: outbox; Owner: postgres

REVOKE ALL ON FUNCTION outbox.work_replay_jobs(p_now timestamp with time zone) FROM PUBLIC;

-- Name: TABLE activity; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.activity TO service_role;

-- Name: TABLE attempt_default; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.attempt_default TO service_role;

-- Name: TABLE audit_event; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.audit_event TO service_role;

-- Name: TABLE callback_count; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.callback_count TO service_role;

-- Name: TABLE channel_hold; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.channel_hold TO service_role;

-- Name: TABLE consent; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.consent TO service_role;

-- Name: TABLE consumer_inbox; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.consumer_inbox TO service_role;

-- Name: TABLE conversation_window; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.conversation_window TO service_role;

-- Name: TABLE endpoint_status; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.endpoint_status TO service_role;

-- Name: TABLE error_hint; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.error_hint TO service_role;

-- Name: TABLE event_default; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.event_default TO service_role;

-- Name: TABLE outbound_attempt; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.outbound_attempt TO service_role;

-- Name: TABLE unroutable; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.unroutable TO service_role;

-- Name: TABLE queue_health; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.queue_health TO service_role;

-- Name: TABLE unrouted; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.unrouted TO service_role;

-- Name: TABLE relay_status; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.relay_status TO service_role;

-- Name: TABLE reply_word; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.reply_word TO service_role;

-- Name: TABLE saga; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.saga TO service_role;

-- Name: TABLE saga_outbox; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.saga_outbox TO service_role;

-- Name: TABLE saga_step; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.saga_step TO service_role;

-- Name: TABLE subscription; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.subscription TO service_role;

-- Name: TABLE template_hold; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.template_hold TO service_role;

-- Name: TABLE transaction_outbox; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.transaction_outbox TO service_role;

-- Name: TABLE webhook_outbox; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT,INSERT ON TABLE outbox.webhook_outbox TO service_role;

-- Name: TABLE whatsapp_channel; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.whatsapp_channel TO service_role;

-- Name: TABLE whatsapp_contact; Type: ACL; Schema: outbox; Owner: postgres

GRANT SELECT ON TABLE outbox.whatsapp_contact TO service_role;
