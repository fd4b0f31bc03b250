import type { Mutant } from '../mutant.ts'

export const refusals: readonly Mutant[] = [
  {
    file: 'sql/foundation/passing_error.sql',
    find: `'^(40|53|57)'`,
    replace: `'^(40|53)'`,
    tests: ['sql/engine/refusals/results.test.sql'],
    why: 'A cancelled statement counts against each delivery of its call.',
  },
  {
    file: 'sql/foundation/passing_error.sql',
    find: `p_sqlstate in ('25006', '55006', '55P03')`,
    replace: `p_sqlstate in ('25006', '55006')`,
    tests: ['sql/engine/refusals/results.test.sql'],
    why: 'A lock timeout sets deliveries aside.',
  },
  {
    file: 'sql/engine/queue/refusal.sql',
    find: `least(interval '5 minutes', interval '10 s' * 2 ^ least(r.failures, 6))`,
    replace: `interval '10 s' * 2 ^ least(r.failures, 6)`,
    tests: ['sql/engine/refusals/endpoints.test.sql'],
    why: 'An endpoint that can be claimed from again waits for more than ten minutes.',
  },
  {
    file: 'sql/engine/queue/refusal.sql',
    find: `      select from outbox.delivery d
      where d.event_id = p.event_id and d.endpoint_id = p.endpoint_id offset 0)));`,
    replace: '      select where false)));',
    tests: ['sql/engine/refusals/results.test.sql'],
    why: 'Refusals of one delivery are forgotten after each, so that it is sent without end.',
  },
  {
    file: 'sql/engine/result/complete.sql',
    find: 'if exists (select from outbox.refusal) then',
    replace: 'if false then',
    tests: ['sql/engine/refusals/results.test.sql'],
    why: 'What was noted of a delivery stays when it has ended.',
  },
  {
    file: 'sql/engine/result/refused_result.sql',
    find: 'outbox.complete_apart(p_results[v_half + 1:], p_now)',
    replace: 'outbox.complete_apart(p_results[v_half + 2:], p_now)',
    tests: ['sql/engine/refusals/results.test.sql'],
    why: 'Beside a refused result another one is lost.',
  },
  {
    file: 'sql/engine/result/refused_result.sql',
    find: `    and d.attempt = p_result.attempt and d.leased_until is not null;`,
    replace: `    and d.leased_until is not null;`,
    tests: ['sql/engine/refusals/results.test.sql'],
    why: 'A refused result of an older claim ends the lease of the present one.',
  },
  {
    file: 'sql/engine/result/refused_result.sql',
    find: 'if v_failures < v_most then',
    replace: 'if v_failures <= v_most then',
    tests: ['sql/engine/refusals/results.test.sql'],
    why: 'A delivery is sent once more than said before it is set aside.',
  },
  {
    file: 'sql/engine/result/refused_result.sql',
    find: 'outbox.retry_preset(e.kind)), p_failures),',
    replace: 'outbox.retry_preset(e.kind)), 1),',
    tests: ['sql/engine/refusals/results.test.sql'],
    why: 'The wait after a refusal does not grow.',
  },
  {
    file: 'sql/engine/result/refused_result.sql',
    find: '    halted = l.halted or v_halts,',
    replace: '    halted = l.halted,',
    tests: ['sql/engine/refusals/ordered.test.sql'],
    why: 'A key that must stop behind what failed goes on.',
  },
  {
    file: 'sql/engine/result/refused_result.sql',
    find: `  update outbox.lane l set depth = l.depth + 1 where l.id = v_aside.id;
`,
    replace: '',
    tests: ['sql/engine/refusals/ordered.test.sql'],
    why: 'Deliveries that are set aside are missing from the counters.',
  },
  {
    file: 'sql/engine/result/refused_result.sql',
    find: 'perform outbox.rest_lane(v_lane.id, p_again_at - p_now, p_now);',
    replace: 'null;',
    tests: ['sql/engine/refusals/ordered.test.sql'],
    why: 'A key whose result was refused is sent again at once.',
  },
  {
    file: 'sql/engine/result/refused_result.sql',
    find: `  v_result.attempt := (p_result ->> 'attempt')::integer;
`,
    replace: '',
    tests: ['concurrency/set_aside.test.ts#a result that cannot be read'],
    why: 'A delivery whose result cannot be read is sent again each time its lease ends.',
  },
  {
    file: 'sql/engine/result/lost_lease.sql',
    find: `r.step <> 'expiry' and r.again_at > p_now));`,
    replace: `r.step <> 'expiry'));`,
    tests: ['concurrency/set_aside.test.ts', 'concurrency/isolation.test.ts'],
    why: 'A refusal of the past keeps a lease from ever ending.',
  },
  {
    file: 'sql/operations/manual.sql',
    find: `  delete from outbox.refusal r
  where r.endpoint_id = p_endpoint_id and r.event_id = p_event_id;
`,
    replace: '',
    tests: ['sql/engine/refusals/results.test.sql'],
    why: 'A delivery that a person retries is set aside at its next refusal.',
  },
  {
    file: 'sql/engine/route/refused_event.sql',
    find: 'where u.event_id = p_event and u.failures >= outbox.most_failures(false) - 1)',
    replace: 'where u.event_id = p_event)',
    tests: ['sql/engine/refusals/routing.test.sql'],
    why: 'A delivery that the database refuses once is set aside.',
  },
  {
    file: 'sql/engine/route/refused_event.sql',
    find: `outbox.create_again_at(v_done.sqlstates[v_place], 1, p_now), p_now);`,
    replace: `p_now, p_now);`,
    tests: ['sql/engine/refusals/routing.test.sql'],
    why: 'A delivery that could not be made does not show as set aside.',
  },
  {
    file: 'sql/engine/claim/due_gates.sql',
    find: 'where w.before < p_limit and not w.refused',
    replace: 'where w.before < p_limit',
    tests: ['sql/engine/refusals/endpoints.test.sql'],
    why: 'An endpoint from which nothing can be claimed spoils each claim.',
  },
  {
    file: 'sql/engine/claim/due_gates.sql',
    find: 'limit greatest(p_limit, 100) + v_refused',
    replace: 'limit greatest(p_limit, 100)',
    tests: ['sql/engine/refusals/endpoints.test.sql'],
    why: 'A hundred endpoints that are refused keep all others from their turn.',
  },
  {
    file: 'sql/engine/claim/claim.sql',
    find: 'perform outbox.admit_endpoints(p_endpoint_ids);',
    replace: 'null;',
    tests: ['sql/engine/refusals/endpoints.test.sql'],
    why: 'A refusal of long ago makes the next one cost five minutes.',
  },
  {
    file: 'sql/engine/claim/claim.sql',
    find: `  return outbox.serve_apart(v_endpoints, p_limit, p_now);`,
    replace: `  return null;`,
    tests: [
      'concurrency/isolation.test.ts#dispatch() delivers to all others when update of lane fails',
    ],
    why: 'One endpoint from which nothing can be claimed stops all others.',
  },
  {
    file: 'sql/foundation/passing_error.sql',
    find: `    and coalesce(pg_catalog.current_setting('outbox.refuses_rows', true), '') = 'on')`,
    replace: ')',
    tests: ['sql/engine/refusals/results.test.sql', 'concurrency/set_aside.test.ts'],
    why: 'One deadlock costs a delivery its result.',
  },
  {
    file: 'sql/foundation/passing_error.sql',
    find: `    outbox.may_stay(p_sqlstate) and not outbox.is_timeout(p_sqlstate)
`,
    replace: `    true
`,
    tests: ['sql/engine/refusals/results.test.sql'],
    why: 'A full disk, and the statement timeout, count against each delivery of a call.',
  },
  {
    file: 'sql/foundation/passing_error.sql',
    find: `outbox.may_stay(p_sqlstate) and not outbox.is_timeout(p_sqlstate)`,
    replace: `outbox.may_stay(p_sqlstate)`,
    tests: ['sql/engine/refusals/results.test.sql'],
    why: 'A call goes on without a time limit after its statement timed out.',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: `outbox.set_refusing(coalesce(p_contract -> 'refuse' = 'true', false))`,
    replace: `outbox.set_refusing(false)`,
    tests: [
      'concurrency/stalls.test.ts#delete of delivery fails each time',
      'concurrency/short_waits.test.ts',
    ],
    why: 'A result that deadlocks each time is reported for ever.',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: `  perform outbox.set_refusing(true);
`,
    replace: '',
    tests: ['concurrency/stalls.test.ts#update of run_batch fails each time'],
    why: 'One endpoint whose claim deadlocks each time keeps all others from being claimed.',
  },
  {
    file: 'sql/engine/result/refused_result.sql',
    find: `  exception when query_canceled or others then
    -- No run repeats`,
    replace: `  exception when others then
    -- No run repeats`,
    tests: ['concurrency/stalls.test.ts#delete of delivery fails each time with 57014'],
    why: 'A trigger that cancels the statement of one result stops all others.',
  },
  {
    file: 'sql/engine/route/route.sql',
    find: `    if outbox.is_timeout(sqlstate) then
      v_late := true;`,
    replace: `    if sqlstate = '57014' then
      v_late := true;`,
    tests: ['sql/engine/refusals/routing_for_a_while.test.sql'],
    why: 'A trigger that cancels the routing to one endpoint costs the others the event.',
  },
  {
    file: 'sql/engine/route/refused_delivery.sql',
    find: `outbox.may_stay(p_sqlstate) and p_failures < 6`,
    replace: `p_failures < 6`,
    tests: ['sql/engine/refusals/routing.test.sql'],
    why: 'A delivery that a constraint refuses does not show as set aside.',
  },
  {
    file: 'sql/engine/route/refused_delivery.sql',
    find: `interval '1 minute' * 2 ^ (p_failures - 1)`,
    replace: `interval '1 minute'`,
    tests: ['sql/engine/refusals/routing_for_a_while.test.sql'],
    why: 'A delivery that cannot be created for five minutes is given up.',
  },
  {
    file: 'sql/engine/route/refused_delivery.sql',
    find: `p_refusal.failures + 1, p_now), p_now);`,
    replace: `p_refusal.failures, p_now), p_now);`,
    tests: ['sql/engine/refusals/routing_for_a_while.test.sql'],
    why: 'The wait for a refused delivery is not the one that the docs name.',
  },
  {
    file: 'sql/engine/route/refused_delivery.sql',
    find: `taken for an error of this delivery.
  if outbox.is_passing(sqlstate) and not outbox.may_stay(sqlstate) then`,
    replace: `taken for an error of this delivery.
  if false then`,
    tests: ['sql/engine/refusals/routing_for_a_while.test.sql'],
    why: 'A full disk sets deliveries aside.',
  },
  {
    file: 'functions/deliver/redispatch.ts',
    find: 'if (stalls >= stallsBeforeRefusing) repeat.refuse = true',
    replace: '',
    tests: ['functions/deliver/redispatch.test.ts'],
    why: 'A call that one row makes fail is repeated for ever.',
  },
  {
    file: 'functions/deliver/redispatch.ts',
    find: 'const stallsBeforeRefusing = 3',
    replace: 'const stallsBeforeRefusing = 1',
    tests: ['functions/deliver/redispatch.test.ts'],
    why: 'One deadlock costs a delivery its result.',
  },
  {
    file: 'sql/foundation/change_rows.sql',
    find: 'v_rows[v_half + 1:]',
    replace: 'v_rows[v_half + 2:]',
    tests: ['sql/time/cleanup/one_bad_row.test.sql'],
    why: 'Beside a row that cannot be deleted, another one stays.',
  },
  {
    file: 'sql/foundation/upkeep_refusal.sql',
    find: 'outbox.is_passing(p_sqlstate) and not outbox.may_stay(p_sqlstate)',
    replace: 'outbox.is_passing(p_sqlstate)',
    tests: ['sql/time/tick/one_bad_member.test.sql', 'sql/time/cleanup/one_bad_row.test.sql'],
    why: 'An object that fails with a deadlock each time stops all others.',
  },
  {
    file: 'sql/operations/purge.sql',
    find: 'p_rows[v_half + 1:]',
    replace: 'p_rows[v_half + 2:]',
    tests: ['sql/time/tick/one_bad_member.test.sql'],
    why: 'Beside a delivery that cannot be deleted, another one stays.',
  },
  {
    file: 'sql/operations/replay_job.sql',
    find: '    and outbox.may_stay(sqlstate)\n    then null else 0',
    replace: '    and false\n    then null else 0',
    tests: ['sql/time/tick/one_bad_member.test.sql'],
    why: 'A deadlock takes a dead letter out of its replay job.',
  },
  {
    file: 'sql/foundation/counter.sql',
    find: '      perform outbox.move_back(v_counter.rows, p_now);\n',
    replace: '',
    tests: ['sql/time/tick/one_bad_member.test.sql'],
    why: 'The rows of a counter that cannot be changed become so many that no counter is.',
  },
  {
    file: 'sql/engine/run/run.sql',
    find: '    perform outbox.forget_runs(p_now);',
    replace: "    delete from outbox.run r where r.polled_at < p_now - interval '1 hour';",
    tests: ['sql/engine/refusals/old_runs.test.sql'],
    why: 'An old run that cannot be deleted stops each new run.',
  },
]
