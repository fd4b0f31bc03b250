import type { Mutant } from '../mutant.ts'

export const routing: readonly Mutant[] = [
  {
    file: 'sql/61_wanted.sql',
    find: `    continue when p_question.since[v_n] > p_created_at;
`,
    replace: '',
    tests: ['sql/filters/since.test.sql'],
    why: 'A filtered subscription that is younger than an event receives it.',
  },
  {
    file: 'sql/15_filter_condition.sql',
    find: '(@ != null && (@.type() != "boolean" || @ == true))',
    replace: '(@.type() != "boolean" || @ == true)',
    tests: ['sql/filters/forms.test.sql'],
    why: 'A path that finds null lets the event through.',
  },
  {
    file: 'sql/61_wanted.sql',
    find: 'where s.org_id = k.org_id and s.pattern = q.pattern offset 0',
    replace: 'where s.pattern = q.pattern offset 0',
    tests: ['sql/route/targets.test.sql'],
    why: 'An event goes to the endpoints of another organisation.',
  },
  {
    file: 'sql/61_wanted.sql',
    find: `p.state <> 'deleted' offset 0`,
    replace: 'true offset 0',
    tests: ['sql/delete_endpoint/routing.test.sql'],
    why: 'An event goes to a deleted endpoint.',
  },
  {
    file: 'sql/61_wanted.sql',
    find: 'where k.addressee = v_nobody and s.endpoint_id > k.behind',
    replace: 'where s.endpoint_id > k.behind',
    tests: ['sql/route/targets.test.sql'],
    why: 'An event for one endpoint goes to all that are subscribed.',
  },
  {
    file: 'sql/61_wanted.sql',
    find: 'when c.since <= c.created_at then null',
    replace: 'when c.since < c.created_at then null',
    tests: ['sql/route/targets.test.sql'],
    why: 'A subscription made with its first event does not receive it.',
  },
  {
    file: 'sql/61_wanted.sql',
    find: 'when c.since <= c.created_at then null',
    replace: 'when c.since is not null then null',
    tests: ['sql/route/targets.test.sql'],
    why: 'A new subscription receives events that were published before it.',
  },
  {
    file: 'sql/15_subscription.sql',
    find: 'for v_n in 1 .. pg_catalog.cardinality(v_parts) - 1 loop',
    replace: 'for v_n in 1 .. pg_catalog.cardinality(v_parts) loop',
    tests: ['sql/route/targets.test.sql', 'sql/schema/rights.test.sql'],
    why: 'order.* receives the type order itself.',
  },
  {
    file: 'sql/15_subscription.sql',
    find: `do update set
    filter = excluded.filter, filter_text = excluded.filter_text,
    filter_weight = excluded.filter_weight;`,
    replace: 'do nothing;',
    tests: ['sql/filters/changed.test.sql'],
    why: 'A new filter of a subscription is thrown away without a word.',
  },
  {
    file: 'sql/15_filter_read.sql',
    find: 'elsif v_state.weight > v_most_weight then',
    replace: 'elsif v_state.weight > v_most_weight + 1 then',
    tests: ['sql/filters/bounds.test.sql'],
    why: 'A filter may take minutes for one payload.',
  },
  {
    file: 'sql/60_unrouted.sql',
    find: 'where u.xid >= p_router.seen_below and',
    replace: 'where u.xid > p_router.seen_below and',
    tests: ['concurrency/late_publisher.test.ts', 'sql/route/late_rows.test.sql'],
    why: 'An event that commits late is never routed.',
  },
  {
    file: 'sql/60_unrouted.sql',
    find: `      select x from pg_catalog.pg_snapshot_xip(v_snapshot) x
      union
      select pg_catalog.pg_current_xact_id_if_assigned());`,
    replace: '      select pg_catalog.pg_current_xact_id_if_assigned());',
    tests: ['concurrency/late_publisher.test.ts'],
    why: 'An event whose transaction was open at the last read is never routed.',
  },
  {
    file: 'sql/60_unrouted.sql',
    find: `order by u.xid limit p_limit
  )
  union all
  (
    select u.event_id from outbox.unrouted u
    where u.xid >= p_router.seen_below and u.xid > '0' and u.event_id <= p_router.watermark
    order by u.xid limit p_limit
  )`,
    replace: `order by u.xid limit p_limit
  )`,
    tests: ['concurrency/late_publisher.test.ts', 'sql/route/late_rows.test.sql'],
    why:
      'An event of a transaction that began after the last read and has an older id is never routed.',
  },
  {
    file: 'sql/60_unrouted.sql',
    find: `v_batch.watermark := coalesce(v_batch.events[pg_catalog.cardinality(v_batch.events)],
      v_router.watermark);`,
    replace: `v_batch.watermark := coalesce(v_batch.events[1],
      v_router.watermark);`,
    tests: ['sql/route/batches.test.sql', 'sql/route/late_rows.test.sql'],
    why: 'The watermark lags, so that each read walks what was routed.',
  },
  {
    file: 'sql/62_add_deliveries.sql',
    find: `t.due_from + p.place * interval '1 microsecond'`,
    replace: 't.due_from',
    tests: ['sql/route/order.test.sql'],
    why: 'Deliveries of an ordered key of one batch have no order.',
  },
  {
    file: 'sql/62_add_deliveries.sql',
    find: 'else greatest(t.due_from, p.deliver_at)',
    replace: 'else t.due_from',
    tests: ['sql/delayed/due.test.sql'],
    why: 'A delayed event is sent at once.',
  },
  {
    file: 'sql/62_add_deliveries.sql',
    find: 'when l.depth = 0 and not l.halted then',
    replace: 'when l.depth = 0 then',
    tests: ['sql/resume_lane/cases.test.sql', 'sql/states/order_kept.test.sql'],
    why: 'A key that stopped behind a dead letter goes on with the next event.',
  },
  {
    file: 'sql/62_add_deliveries.sql',
    find: `tail_at = case when l.ordered then b.last_at else l.tail_at end,
`,
    replace: '',
    tests: ['sql/route/order.test.sql', 'sql/states/order_kept.test.sql'],
    why: 'A later batch of an ordered key goes before an earlier one when the clock was set back.',
  },
  {
    file: 'sql/63_route.sql',
    find: 'set failures = u.failures + 1',
    replace: 'set failures = u.failures + 3',
    tests: ['sql/route/poison.test.sql'],
    why: 'An event is set aside at its first failure, which may have been a deadlock.',
  },
  {
    file: 'sql/63_route.sql',
    find: '(d.routed_to is null or not outbox.had_pairs(d.event_id))',
    replace: '(d.routed_to is null)',
    tests: ['sql/route/wide_and_unwanted.test.sql'],
    why: 'A wide event whose last part nobody wants has no receipt at all.',
  },
  {
    file: 'sql/63_route.sql',
    find: 'and (d.routed_to is null or not outbox.had_pairs(d.event_id));',
    replace: ';',
    tests: ['sql/route/wide_and_unwanted.test.sql'],
    why: 'A wide event that many received is closed as one without a subscriber.',
  },
  {
    file: 'sql/63_route.sql',
    find: 'v_batch := greatest(1, v_batch / 8);',
    replace: 'v_batch := v_batch;',
    tests: ['concurrency/slow_routing.test.ts', 'concurrency/poison.test.ts'],
    why: 'A slow filter stops routing for all.',
  },
]
