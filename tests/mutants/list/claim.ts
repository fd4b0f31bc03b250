import type { Mutant } from '../mutant.ts'

export const claim: readonly Mutant[] = [
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: `* interval '1 ms' + interval '5 s' as lease`,
    replace: `* interval '1 ms' as lease`,
    tests: ['sql/engine/claim/lease.test.sql'],
    why: 'A lease ends while its request may still be answered, so that it is sent twice.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: `        and (not l.ordered or l.leased = 0)
`,
    replace: '',
    tests: [
      'sql/engine/claim/ordered.test.sql',
      'sql/engine/regressions/ordered_lane_in_flight_is_not_due.test.sql',
    ],
    why: 'Two runs send the deliveries of one key at a time.',
    equivalent:
      'A lane of which something is leased is due again only when that lease ends, and record_lost_leases() takes the lease away before lease_deliveries() looks: the condition is a second guard.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: 'else least(a.allowed - g.in_flight,',
    replace: 'else least(a.allowed,',
    tests: ['sql/engine/claim/in_flight.test.sql'],
    why: 'An endpoint gets more requests at a time than it may have.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: `      attempt = d.attempt + 1,
      leased_until`,
    replace: `      attempt = d.attempt,
      leased_until`,
    tests: ['sql/engine/claim/lease.test.sql', 'sql/engine/complete/stale.test.sql'],
    why: 'A late result of one attempt is taken for that of the next.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: `where e.status = 'enabled' and g.not_before <= p_now`,
    replace: 'where g.not_before <= p_now',
    tests: ['sql/endpoints/pause_endpoint/holds.test.sql'],
    why: 'A paused endpoint is served.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: `where e.status = 'enabled' and g.not_before <= p_now`,
    replace: `where e.status = 'enabled'`,
    tests: ['sql/engine/retry_after/whole_endpoint.test.sql'],
    why: 'An endpoint is served before the time that its Retry-After names.',
    equivalent:
      'park() follows whatever puts off a gate, in the same transaction, and takes it out of the ring until not_before: the condition is a second guard.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: '(r.batch_bytes <= v_max_bytes or r.batch_no = 1) as picked',
    replace: '(r.batch_bytes <= v_max_bytes) as picked',
    tests: ['sql/engine/claim/bytes.test.sql'],
    why: 'A body over the bound of a batch is never sent.',
    equivalent:
      'No body is larger than 1 MiB (the bound of publish.max_body_bytes), so the first of a batch is never over its 4 MiB.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: 'v_max_bytes bigint := 4 * 1024',
    replace: 'v_max_bytes bigint := 8 * 1024',
    tests: ['sql/engine/claim/bytes.test.sql'],
    why: 'A batch has twice the bytes that a run is made for.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: 'v_gate_bytes := v_max_bytes / 4;',
    replace: 'v_gate_bytes := v_max_bytes;',
    tests: ['sql/engine/claim/shared_bytes.test.sql'],
    why: 'The large bodies of one endpoint fill a claim while another organisation waits.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: '(s.gate_bytes <= v_gate_bytes or s.token_no = 1)',
    replace: 's.gate_bytes <= v_gate_bytes',
    tests: ['sql/engine/claim/shared_bytes.test.sql'],
    why:
      'A body that is larger than the share of an endpoint waits as long as organisations wait for each other.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: 'greatest(1, 500 / greatest(1,',
    replace: 'greatest(1, 5000 / greatest(1,',
    tests: ['sql/engine/claim/slow_lane.test.sql'],
    why: 'A run is given so much of a slow lane that its hand is full for minutes.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: `and t.kind = 'attempt'
      order by t.at desc limit 5`,
    replace: `and t.kind = 'attempt'
      order by t.at limit 5`,
    tests: ['sql/engine/claim/slow_lane.test.sql'],
    why: 'A lane is measured by the oldest attempts of the hour, not the newest.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: `when b.probing then 1
`,
    replace: `when b.probing then 2
`,
    tests: ['sql/engine/breaker/one_probe.test.sql'],
    why: 'An open breaker lets two probes through.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: `        and d.leased_until is null
        -- A scalar`,
    replace: `        -- A scalar`,
    tests: ['sql/engine/claim/in_flight.test.sql', 'sql/engine/claim/lease.test.sql'],
    why: 'A delivery that a run holds is given to another one.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: `        and d.due_at <= case when t.ordered then 'infinity' else p_now end
        and d.leased`,
    replace: '        and d.leased',
    tests: ['sql/engine/claim/later.test.sql', 'sql/engine/delayed/due.test.sql'],
    why: 'A delivery is sent before its time.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: `limit t.lane_limit + 1
`,
    replace: `limit t.lane_limit
`,
    tests: ['sql/engine/claim/round_robin.test.sql', 'sql/engine/claim/in_flight.test.sql'],
    why: 'A lane that has more to give sleeps until a lease ends.',
  },
  {
    file: 'sql/engine/queue/park.sql',
    find: `
          - p.taken
`,
    replace: `
          - 0
`,
    tests: ['sql/engine/rate/bucket.test.sql'],
    why: 'What is sent costs no token, so that the rate never holds.',
  },
  {
    file: 'sql/engine/claim/due_gates.sql',
    find: 'array_agg(l.endpoint_id order by l.turn, l.next_at, l.id)',
    replace: 'array_agg(l.endpoint_id order by l.id)',
    tests: ['sql/engine/claim/round_robin.test.sql', 'sql/engine/ring/begins.test.sql'],
    why: 'The gate with the lowest number is always served first.',
  },
  {
    file: 'sql/engine/claim/claim.sql',
    find: 'perform outbox.park(v_endpoints, p_now, v_claimed);',
    replace: 'perform outbox.park(v_endpoints, p_now);',
    tests: ['sql/engine/claim/in_flight.test.sql'],
    why:
      'What was claimed is not counted, so that an endpoint gets more requests than it may have.',
  },
  {
    file: 'sql/engine/queue/park.sql',
    find: 'when p_last_timed_out then 1',
    replace: 'when p_last_timed_out then p_max',
    tests: ['sql/engine/claim/timed_out.test.sql'],
    why: 'An endpoint that hangs holds all of its slots.',
  },
  {
    file: 'sql/engine/queue/park.sql',
    find: 'pg_catalog.ceil(greatest(1,',
    replace: 'pg_catalog.ceil(greatest(0,',
    tests: [
      'sql/engine/ramp/slow_receiver.test.sql',
      'sql/endpoints/pause_endpoint/resumes.test.sql',
    ],
    why: 'An endpoint that was just resumed gets nothing at first.',
  },
  {
    file: 'sql/engine/queue/park.sql',
    find: 'pg_catalog.ceil((1 - p_tokens)',
    replace: 'pg_catalog.floor((1 - p_tokens)',
    tests: ['sql/engine/rate/bucket.test.sql', 'sql/engine/rate/changed.test.sql'],
    why: 'A gate is looked at a microsecond before it has a token, in vain.',
  },
  {
    file: 'sql/engine/queue/park.sql',
    find: 'select greatest(o.not_before, rate.next_token_at, case',
    replace: 'select greatest(rate.next_token_at, case',
    tests: ['sql/engine/park/not_due_in_vain.test.sql'],
    why: 'An endpoint that asked for time stays at the front of the ring, due in vain.',
  },
  {
    file: 'sql/engine/queue/park.sql',
    find: 'then greatest(o.open_until, first_lane.claim_at)',
    replace: 'then first_lane.claim_at',
    tests: ['sql/engine/park/not_due_in_vain.test.sql'],
    why: 'A gate with an open breaker stays at the front of the ring, due in vain.',
  },
  {
    file: 'sql/engine/queue/park.sql',
    find: 'when o.next_at <= p_now and p.taken = 0 then o.next_at',
    replace: 'when o.next_at <= p_now then o.next_at',
    tests: ['sql/engine/claim/round_robin.test.sql'],
    why: 'An endpoint that was served keeps its place at the front of the ring.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: 'when b.alone and l.next_at',
    replace: 'when l.next_at',
    tests: ['sql/engine/claim/row_versions.test.sql'],
    why: 'For a second, one lane of an endpoint has all of its turns.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: 'limit greatest(r.room, 2)',
    replace: 'limit r.room',
    tests: ['sql/engine/claim/row_versions.test.sql'],
    why: 'A lane is taken for the only one of its endpoint, and has all of its turns.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: 'v_secrets uuid[] := outbox.signing_secrets(p_endpoint_ids, p_now);',
    replace: `v_secrets uuid[] := '{}';`,
    tests: ['sql/engine/complete/rotated_secret.test.sql'],
    why: 'A claim does not store which secret signs, so a result during a rotation changes none.',
  },
  {
    file: 'sql/engine/claim/due_gates.sql',
    find: 'and g.org_id <> all (p_full)',
    replace: '',
    tests: ['sql/engine/claim/full_orgs.test.sql'],
    why: 'An organisation whose requests hang fills the run.',
  },
  {
    file: 'sql/engine/claim/due_gates.sql',
    find: `when p_full = '{}' and not v_is_partial`,
    replace: 'when not v_is_partial',
    tests: ['sql/engine/claim/full_orgs.test.sql'],
    why:
      'The gates of an organisation that was left out are behind the start of the ring for a minute.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: `        / g.of_org)::integer as share`,
    replace: `        / (select pg_catalog.count(*) from gates))::integer as share`,
    tests: ['sql/engine/claim/org_share.test.sql'],
    why: 'An organisation with a thousand endpoints has nearly all of each claim.',
  },
  {
    file: 'sql/engine/claim/due_gates.sql',
    find: 'if outbox.is_shared(outbox.current_router(), p_now) then',
    replace: 'if false then',
    tests: ['sql/engine/claim/org_share.test.sql'],
    why: 'An event waits for the large claims of an organisation that floods the queue.',
  },
  {
    file: 'sql/engine/claim/due_gates.sql',
    find: `when p_full = '{}' and not v_is_partial`,
    replace: `when p_full = '{}'`,
    tests: ['sql/engine/dispatch/kinds_crowd.test.sql'],
    why:
      'The gates of kinds that one run cannot send are behind the start of the ring for a minute.',
  },
  {
    file: 'sql/engine/claim/due_gates.sql',
    find: `      and (not v_is_partial or (
        select e.kind from outbox.endpoint e where e.id = g.endpoint_id) <> all (v_unsent))
`,
    replace: '',
    tests: ['sql/engine/dispatch/kinds_crowd.test.sql', 'sql/engine/dispatch/kinds.test.sql'],
    why: 'A run gets deliveries of kinds that it cannot send, or none behind 5,000 gates of them.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: 'then least(l.depth, l.room_of_lane, greatest(l.rows_left, 0))::integer',
    replace: 'then least(l.depth, l.room_of_lane)::integer',
    tests: ['sql/engine/claim/org_share.test.sql'],
    why: 'Many keys of one organisation keep another one out of a claim.',
  },
  {
    file: 'sql/engine/claim/claim.sql',
    find: 'v_room := least(v_left, v_of_org - coalesce((v_taken ->> v_org)::integer, 0));',
    replace: 'v_room := v_left;',
    tests: ['sql/engine/claim/org_share.test.sql'],
    why: 'Beside a refused delivery, an organisation has more than its share of a claim.',
  },
  {
    file: 'sql/engine/claim/lease_deliveries.sql',
    find: 'when v_of_org < p_limit then v_of_org -',
    replace: 'when false then v_of_org -',
    tests: ['sql/engine/claim/org_share.test.sql'],
    why: 'A large quantum, or many keys, give an organisation more than its share of a claim.',
  },
  {
    file: 'sql/engine/claim/due_gates.sql',
    find: 'd.depth, e.quantum, v_of_org, greatest(',
    replace: 'd.depth, e.quantum, greatest(',
    tests: ['sql/engine/claim/org_share.test.sql'],
    why: 'One endpoint with a large quantum keeps all other organisations out of a claim.',
  },
  {
    file: 'sql/engine/claim/claim.sql',
    find: '      and coalesce(pg_catalog.cardinality(p_claimed.events), 0) >= v_of_org\n',
    replace: '      and false\n',
    tests: ['sql/engine/claim/org_share.test.sql'],
    why: 'A worker pauses after each small claim of two organisations, and delivers half as much.',
  },
  {
    file: 'sql/engine/claim/claim.sql',
    find: '  return v_of_org < p_limit\n',
    replace: '  return true\n',
    tests: ['sql/engine/claim/org_share.test.sql'],
    why: 'A run asks at once for more than it has slots for.',
  },
  {
    file: 'sql/engine/claim/claim.sql',
    find: '    or p_routed > 0 and exists (select from outbox.waiting_part);',
    replace: '    or exists (select from outbox.waiting_part);',
    tests: ['sql/engine/claim/org_share.test.sql'],
    why: 'Runs call all the time while another one holds the router.',
  },
  {
    file: 'sql/engine/claim/claim.sql',
    find: '    or p_routed > 0 and exists (select from outbox.waiting_part);',
    replace: '    or false;',
    tests: ['sql/engine/claim/org_share.test.sql'],
    why: 'A worker pauses after each small turn of routing, and routes half as much.',
  },
  {
    file: 'functions/deliver/turn.ts',
    find: 'state.wasCut = response.more === true',
    replace: 'state.wasCut = false',
    tests: ['functions/deliver/run_pace.test.ts'],
    why: 'A worker pauses after each small claim of two organisations, and delivers half as much.',
  },
]
