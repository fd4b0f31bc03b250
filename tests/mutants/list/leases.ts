import type { Mutant } from '../mutant.ts'

export const leases: readonly Mutant[] = [
  {
    file: 'sql/engine/result/lost_lease.sql',
    find: 'if p_delivery.leased_until is not null then',
    replace: 'if false then',
    tests: [
      'sql/engine/regressions/retry_of_a_lost_last_try.test.sql',
      'sql/operations/schedule_retry/cases.test.sql',
    ],
    why: 'A retry by hand makes a lost attempt vanish.',
  },
  {
    file: 'sql/engine/result/lost_lease.sql',
    find: `where (d.held).leased_until <= p_now
`,
    replace: `where (d.held).leased_until is not null
`,
    tests: ['sql/engine/complete/lost_lease.test.sql'],
    why: `A lease that stands is taken for lost with its neighbour's.`,
  },
  {
    file: 'sql/engine/result/lost_lease.sql',
    find: 'where g.in_flight > 0 and n.leased > 0 and n.leased_until <= p_now',
    replace: 'where g.in_flight > 0 and n.leased > 0 and n.leased_until < p_now',
    tests: ['sql/engine/complete/lost_lease.test.sql'],
    why: 'A lost lease is noticed later than its gate is looked at.',
  },
  {
    file: 'sql/engine/result/lost_lease.sql',
    find: 'where g.in_flight > 0 and n.leased > 0',
    replace: 'where g.in_flight > 1 and n.leased > 0',
    tests: ['sql/engine/complete/lost_lease.test.sql'],
    why: 'The lost lease of an endpoint with one request in flight is never noticed.',
  },
  {
    file: 'sql/engine/result/lost_lease.sql',
    find: `'failed', null, 'lease_expired',`,
    replace: `'failed', null, 'timeout',`,
    tests: ['sql/engine/complete/lost_lease.test.sql'],
    why: 'A run that died counts against its endpoint.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'b.lost or s.untried or (f.rule).action',
    replace: 's.untried or (f.rule).action',
    tests: ['sql/engine/complete/lost_lease.test.sql'],
    why: 'A lost lease uses up a retry.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'd.lost_leases + 1 >= v_most_lost',
    replace: 'd.lost_leases >= v_most_lost',
    tests: ['sql/engine/complete/lost_lease.test.sql'],
    why: 'A delivery may lose one lease more than the setting says.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `when r.outcome = 'failed' then 0
        else d.lost_leases`,
    replace: 'else d.lost_leases',
    tests: ['sql/engine/claim/isolated.test.sql'],
    why: 'A result does not end the isolation.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'when b.ordered then greatest(l.not_before, b.retry_at, b.rested_at)',
    replace: 'when b.ordered then greatest(coalesce(b.retry_at, l.not_before), b.rested_at)',
    tests: ['sql/engine/complete/ordered_retry.test.sql'],
    why: 'A lost lease shortens the wait for the retry before it.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'isolated = l.isolated or (b.ordered and b.isolated),',
    replace: 'isolated = l.isolated,',
    tests: ['sql/engine/claim/isolated.test.sql'],
    why: 'An ordered delivery takes others with it each time.',
  },
  {
    file: 'sql/engine/result/lost_lease.sql',
    find: `    perform outbox.isolate(v_lost, p_now);
`,
    replace: '',
    tests: ['sql/engine/claim/isolated.test.sql'],
    why: 'A delivery that ends its run takes others with it each time.',
  },
  {
    file: 'sql/time/expire.sql',
    find: `              and r.again_at > p_now)
          and e.org_id`,
    replace: `              and false)
          and e.org_id`,
    tests: ['sql/time/cleanup/stuck.test.sql'],
    why: 'Deliveries that cannot expire keep later ones from expiring.',
  },
  {
    file: 'sql/engine/claim/isolated.sql',
    find: 'd.leased_until > p_now',
    replace: 'false',
    tests: ['sql/engine/claim/isolated.test.sql'],
    why: 'A run that holds an isolated delivery gets others.',
  },
  {
    file: 'sql/engine/claim/isolated.sql',
    find: `  if p_held > 0 then
    if outbox.drains(p_run, p_now) then
      return null;
    end if;
  elsif`,
    replace: `  if outbox.drains(p_run, p_now) and p_held > 0 then
    return null;
  elsif`,
    tests: ['sql/engine/claim/isolated.test.sql'],
    why: 'A busy run gets an isolated delivery.',
  },
  {
    file: 'sql/engine/claim/isolated.sql',
    find: 'not outbox.has_isolated(p_now - interval',
    replace: 'true or not outbox.has_isolated(p_now - interval',
    tests: ['sql/engine/claim/isolated.test.sql'],
    why: 'While all runs are busy, an isolated delivery waits for ever.',
  },
  {
    file: 'sql/engine/claim/isolated.sql',
    find: `i.drains_from > p_now - interval '2 minutes' or`,
    replace: 'false or',
    tests: ['sql/engine/claim/isolated.test.sql'],
    why: 'All runs drain at once, and nothing else is delivered.',
  },
  {
    file: 'sql/engine/claim/isolated.sql',
    find: `  perform outbox.rejoin_due(p_now);
`,
    replace: '',
    tests: ['sql/engine/claim/isolated.test.sql'],
    why: 'The retry of a delivery that is no longer isolated waits for an empty run.',
  },
  {
    file: 'sql/engine/claim/isolated.sql',
    find: `i.claimed_at > p_now - interval '5 s');
end
$$;
comment on function outbox.is_isolated_turn`,
    replace: `i.claimed_at > p_now);
end
$$;
comment on function outbox.is_isolated_turn`,
    tests: ['sql/engine/claim/isolated.test.sql'],
    why: 'Isolated deliveries delay all others.',
  },
  {
    file: 'sql/engine/run/dispatch.sql',
    find: `    or exists (
      select from outbox.gate g where g.isolated_at <= p_now and g.isolated_at < 'infinity'
    )
`,
    replace: '',
    tests: ['sql/engine/claim/isolated.test.sql'],
    why: 'No run is started for an isolated delivery.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: 'when b.away and not e.breaker_enabled then',
    replace: 'when b.away and e.breaker_enabled then',
    tests: ['sql/engine/breaker/off_and_away.test.sql'],
    why: 'Without a breaker, a server that is away is asked every second.',
  },
  {
    file: 'sql/engine/result/apply_results.sql',
    find: `(j.waits or coalesce(j.error_class in ('timeout', 'connect'), false))`,
    replace: `coalesce(j.error_class = 'timeout', false)`,
    tests: ['sql/engine/breaker/off_and_away.test.sql'],
    why: 'All deliveries ask at once whether a server is back.',
  },
  {
    file: 'sql/engine/result/renew_lease.sql',
    find: 'l.leased_until > greatest(p_now, outbox.clock())',
    replace: 'l.leased_until is not null',
    tests: ['sql/engine/renew_leases/cases.test.sql'],
    why: 'A run gets a lease back that ended, and sends beside the next run.',
  },
  {
    file: 'sql/engine/result/renew_lease.sql',
    find: `where l.ordered and e.status = 'enabled'`,
    replace: 'where l.ordered',
    tests: ['sql/engine/renew_leases/cases.test.sql'],
    why: 'A run sends on for minutes to an endpoint that was paused.',
  },
  {
    file: 'sql/engine/result/renew_lease.sql',
    find: `        and o.leased_until is not null offset 0
`,
    replace: `        offset 0
`,
    tests: ['sql/engine/renew_leases/given_back.test.sql'],
    why: 'A delivery that was given back renews the lease of its lane.',
  },
  {
    file: 'sql/engine/claim/isolated.sql',
    find: ' > 0 or outbox.postpone_isolated(v_endpoint, p_now))',
    replace: ' > 0)',
    tests: ['sql/engine/claim/isolated_retry.test.sql'],
    why: 'A busy run gets nothing for a minute, for an isolated delivery that waits for its retry.',
  },
]
