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
    find: 'where n.leased > 0 and n.leased_until <= p_now);',
    replace: 'where n.leased > 0 and n.leased_until < p_now);',
    tests: ['sql/engine/complete/lost_lease.test.sql'],
    why: 'A lost lease is noticed later than its gate is looked at.',
  },
  {
    file: 'sql/engine/result/lost_lease.sql',
    find: `'failed', null, 'lease_expired',`,
    replace: `'failed', null, 'timeout',`,
    tests: ['sql/engine/complete/lost_lease.test.sql'],
    why: 'A run that died counts against its endpoint.',
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
]
