import type { Mutant } from '../mutant.ts'

export const routing: readonly Mutant[] = [
  {
    file: 'sql/endpoints/filter_condition.sql',
    find: '(@ != null && (@.type() != "boolean" || @ == true))',
    replace: '(@.type() != "boolean" || @ == true)',
    tests: ['sql/endpoints/filters/forms.test.sql'],
    why: 'A path that finds null lets the event through.',
  },
  {
    file: 'sql/engine/route/wanted.sql',
    find: `          from outbox.subscription s
          where s.org_id = k.org_id and s.pattern = q.pattern`,
    replace: `          from outbox.subscription s
          where s.pattern = q.pattern`,
    tests: ['sql/engine/route/targets.test.sql'],
    why: 'An event goes to the endpoints of another organisation.',
  },
  {
    file: 'sql/engine/route/wanted.sql',
    find: `case when c.status is null then '' when c.status = 'deleted' then v_deleted end`,
    replace: `case when c.status is null then '' end`,
    tests: ['sql/engine/route/changed_before_routing.test.sql'],
    why: 'An event goes to an endpoint that was deleted before the routing.',
  },
  {
    file: 'sql/engine/route/wanted.sql',
    find: 'where k.addressee = v_nobody\n',
    replace: '\n',
    tests: ['sql/engine/route/targets.test.sql'],
    why: 'An event for one endpoint goes to all that are subscribed.',
  },
  {
    file: 'sql/engine/route/wanted.sql',
    find: 'and s.created_at <= k.at',
    replace: 'and s.created_at < k.at',
    tests: ['sql/engine/route/targets.test.sql'],
    why: 'A subscription made with its first event does not receive it.',
  },
  {
    file: 'sql/engine/route/wanted.sql',
    find: '\n            and s.created_at <= k.at',
    replace: '',
    tests: ['sql/engine/route/targets.test.sql'],
    why: 'A new subscription receives events that were published before it.',
  },
  {
    file: 'sql/endpoints/subscription.sql',
    find: 'for v_n in 1 .. pg_catalog.cardinality(v_parts) - 1 loop',
    replace: 'for v_n in 1 .. pg_catalog.cardinality(v_parts) loop',
    tests: ['sql/engine/route/targets.test.sql', 'sql/schema/rights.test.sql'],
    why: 'order.* receives the type order itself.',
  },
  {
    file: 'sql/endpoints/subscription.sql',
    find: `
      and s.filter_text is distinct from p_filter);`,
    replace: `
      and false);`,
    tests: ['sql/endpoints/filters/changed.test.sql'],
    why: 'A new filter of a subscription is thrown away without a word.',
  },
  {
    file: 'sql/endpoints/filter_read.sql',
    find: 'elsif v_state.weight > v_most_weight then',
    replace: 'elsif v_state.weight > v_most_weight + 1 then',
    tests: ['sql/endpoints/filters/bounds.test.sql'],
    why: 'A filter may take minutes for one payload.',
  },
  {
    file: 'sql/engine/route/unrouted.sql',
    find: 'where u.xid >= p_router.seen_below and',
    replace: 'where u.xid > p_router.seen_below and',
    tests: ['concurrency/late_publisher.test.ts', 'sql/engine/route/late_rows.test.sql'],
    why: 'An event that commits late is never routed.',
  },
  {
    file: 'sql/engine/route/read_unrouted.sql',
    find: `    select x from pg_catalog.pg_snapshot_xip(v_snapshot) x
    union
    select pg_catalog.pg_current_xact_id_if_assigned());`,
    replace: '    select pg_catalog.pg_current_xact_id_if_assigned());',
    tests: ['concurrency/late_publisher.test.ts'],
    why: 'An event whose transaction was open at the last read is never routed.',
  },
  {
    file: 'sql/engine/route/unrouted.sql',
    find: `where u.xid >= p_router.seen_below and u.xid > '0' and u.event_id <= p_router.watermark`,
    replace: 'where false',
    tests: ['concurrency/late_publisher.test.ts', 'sql/engine/route/late_rows.test.sql'],
    why:
      'An event of a transaction that began after the last read and has an older id is never routed.',
  },
  {
    file: 'sql/engine/route/unrouted.sql',
    find: `v_unread.upto := coalesce(v_unread.events[pg_catalog.cardinality(v_unread.events)],
      p_router.watermark);`,
    replace: `v_unread.upto := coalesce(v_unread.events[1],
      p_router.watermark);`,
    tests: ['sql/engine/route/batches.test.sql', 'sql/engine/route/late_rows.test.sql'],
    why: 'The watermark lags, so that each read walks what was routed.',
  },
  {
    file: 'sql/engine/route/add_deliveries.sql',
    find: `t.due_from + p.place * interval '1 microsecond'`,
    replace: 't.due_from',
    tests: ['sql/engine/route/order.test.sql'],
    why: 'Deliveries of an ordered key of one batch have no order.',
  },
  {
    file: 'sql/engine/route/add_deliveries.sql',
    find: 'else greatest(t.due_from, p.deliver_at)',
    replace: 'else t.due_from',
    tests: ['sql/engine/delayed/due.test.sql'],
    why: 'A delayed event is sent at once.',
  },
  {
    file: 'sql/engine/route/add_deliveries.sql',
    find: 'when l.depth = 0 and not l.halted then',
    replace: 'when l.depth = 0 then',
    tests: ['sql/operations/resume_lane/cases.test.sql', 'sql/engine/states/order_kept.test.sql'],
    why: 'A key that stopped behind a dead letter goes on with the next event.',
  },
  {
    file: 'sql/engine/route/add_deliveries.sql',
    find: `tail_at = case when l.ordered then b.last_at else l.tail_at end,
`,
    replace: '',
    tests: ['sql/engine/route/order.test.sql', 'sql/engine/states/order_kept.test.sql'],
    why: 'A later batch of an ordered key goes before an earlier one when the clock was set back.',
  },
  {
    file: 'sql/engine/route/refused_event.sql',
    find: 'set failures = u.failures + 1',
    replace: 'set failures = u.failures + 3',
    tests: ['sql/engine/route/poison.test.sql'],
    why: 'An event is set aside at its first failure, which may have been a deadlock.',
  },
  {
    file: 'sql/engine/route/route.sql',
    find: '(d.routed_to is null or not outbox.had_subscribers(d.event_id))',
    replace: '(d.routed_to is null)',
    tests: ['sql/engine/route/wide_and_unwanted.test.sql'],
    why: 'A wide event whose last part nobody wants has no closing row at all.',
  },
  {
    file: 'sql/engine/route/route.sql',
    find: 'and (d.routed_to is null or not outbox.had_subscribers(d.event_id));',
    replace: ';',
    tests: ['sql/engine/route/wide_and_unwanted.test.sql'],
    why: 'A wide event that many received is closed as one without a subscriber.',
  },
  {
    file: 'sql/engine/route/routing_timeout.sql',
    find: 'v_batch := greatest(1, v_batch / 8);',
    replace: 'v_batch := v_batch;',
    tests: ['concurrency/slow_routing.test.ts', 'concurrency/poison.test.ts'],
    why: 'A slow filter stops routing for all.',
  },
  {
    file: 'sql/endpoints/subscription.sql',
    find: '  where e.created_at < p_at;',
    replace: '  where false;',
    tests: [
      'sql/engine/route/changed_before_routing.test.sql',
      'concurrency/subscriptions.test.ts',
    ],
    why: 'A change of the event types loses the events that are not routed yet.',
  },
  {
    file: 'sql/engine/route/wanted.sql',
    find: 'and s.ended_at > k.at and s.began_at <= k.at',
    replace: 'and s.ended_at >= k.at and s.began_at <= k.at',
    tests: ['sql/engine/route/changed_before_routing.test.sql'],
    why: 'An event of the time of a change goes by the subscription before it.',
  },
  {
    file: 'sql/engine/route/wanted.sql',
    find: 'and s.ended_at > k.at and s.began_at <= k.at',
    replace: 'and s.ended_at > k.at',
    tests: ['sql/engine/route/changed_before_routing.test.sql'],
    why: 'An ended subscription applies to events that are older than it.',
  },
  {
    file: 'sql/engine/route/wanted.sql',
    find: 'coalesce(pg_catalog.width_bucket(r.created_at, c.times), 0) as epoch',
    replace: '0 as epoch',
    tests: ['sql/engine/route/changed_before_routing.test.sql'],
    why: 'All events of a batch go by the subscriptions of its first event.',
  },
  {
    file: 'sql/endpoints/endpoint_status.sql',
    find: `if p_status = 'deleted' then
    perform outbox.end_subscriptions`,
    replace: `if false then
    perform outbox.end_subscriptions`,
    tests: ['sql/engine/route/changed_before_routing.test.sql'],
    why: 'An event that was published after a deletion is cancelled instead of not subscribed to.',
  },
  {
    file: 'sql/endpoints/subscription.sql',
    find: `  return greatest(outbox.clock(),
`,
    replace: `  return coalesce(outbox.clock(),
`,
    tests: ['sql/engine/route/changed_before_routing.test.sql'],
    why: 'After the clock was set back, a subscription ends before it begins.',
  },
  {
    file: 'sql/endpoints/subscription.sql',
    find: `s.endpoint_id = p_endpoint_id
  ) > v_most then
    raise exception`,
    replace: `s.endpoint_id = p_endpoint_id
  ) > v_most + 1 then
    raise exception`,
    tests: ['sql/engine/route/changed_before_routing.test.sql'],
    why: 'Routing reads more ended subscriptions of an endpoint than said.',
  },
  {
    file: 'sql/engine/route/ended.sql',
    find: 'where o.ended_at <= seen.oldest_at',
    replace: 'where true',
    tests: ['concurrency/subscriptions.test.ts'],
    why: 'An ended subscription goes before its events are routed.',
  },
  {
    file: 'sql/engine/route/ended.sql',
    find: `(o.open_below <= pg_catalog.pg_snapshot_xmin(seen.now)
        or`,
    replace: '(true or',
    tests: ['concurrency/subscriptions.test.ts'],
    why: 'An ended subscription goes while a publisher of its time is open.',
  },
  {
    file: 'sql/engine/route/ended.sql',
    find: 'set open_below = pg_catalog.pg_current_xact_id()',
    replace: 'set open_below = pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())',
    tests: ['concurrency/subscriptions.test.ts'],
    why: 'An ended subscription goes while a publisher with a larger transaction id is open.',
  },
  {
    file: 'sql/engine/route/ended.sql',
    find: `where u.org_id = o.org_id and u.org_id > ''
          and u.event_id <`,
    replace: `where false
          and u.event_id <`,
    tests: ['sql/engine/route/changed_before_routing.test.sql'],
    why: 'route_again() finds no subscription of the time of the event.',
  },
  {
    file: 'sql/engine/route/refused_event.sql',
    find: 'if not outbox.is_passing(sqlstate) or outbox.may_stay(sqlstate) then',
    replace: 'if not outbox.is_passing(sqlstate) then',
    tests: ['sql/engine/refusals/routing_for_a_while.test.sql'],
    why: 'An event whose trigger always reports a deadlock stays unrouted for ever.',
  },
  {
    file: 'sql/engine/route/route.sql',
    find: 'if not outbox.is_passing(sqlstate) or outbox.may_stay(sqlstate) then',
    replace: 'if not outbox.is_passing(sqlstate) then',
    tests: ['sql/engine/refusals/routing_for_a_while.test.sql'],
    why: 'A batch with an event whose trigger always reports a deadlock is never routed.',
  },
  {
    file: 'sql/engine/route/refused_event.sql',
    find: 'case when p_is_passing then 8 else 3 end',
    replace: 'case when p_is_passing then 3 else 3 end',
    tests: ['sql/engine/refusals/routing_for_a_while.test.sql'],
    why: 'After a deadlock in a trigger an event waits for a person.',
  },
  {
    file: 'sql/engine/route/turn.sql',
    find: 'or p_router.turn % 2 = 0 and outbox.has_new(p_router)',
    replace: 'or false',
    tests: ['sql/engine/route/flood.test.sql'],
    why: 'New events wait until all turns are over.',
  },
  {
    file: 'sql/engine/route/turn.sql',
    find: 'where s.work > p_most and s.n > 1);',
    replace: 'where false);',
    tests: ['sql/engine/route/turns.test.sql'],
    why: 'The filters of one organisation may take a whole call.',
  },
  {
    file: 'sql/engine/route/evaluate_filters.sql',
    find: 'if p_is_whole then',
    replace: 'if false then',
    tests: ['sql/engine/route/turns.test.sql'],
    why: 'A call that ends with the filters of one organisation leaves the events of all others.',
  },
  {
    file: 'sql/engine/route/backlog.sql',
    find: 'v_org text := p_after;',
    replace: `v_org text := '';`,
    tests: ['sql/engine/route/flood.test.sql'],
    why: 'The first of several organisations has all the turns.',
  },
  {
    file: 'sql/engine/route/turn.sql',
    find: 'where exists (select from outbox.backlog b where b.org_id = o.org_id));',
    replace: 'where false);',
    tests: ['sql/engine/route/flood.test.sql', 'sql/engine/route/turns.test.sql'],
    why: 'New events of an organisation are routed before those that wait for its turn.',
  },
  {
    file: 'sql/engine/route/turn.sql',
    find: `where u.period = p.period and u.org_id = o.org_id and u.org_id > '')));`,
    replace: 'where false)));',
    tests: ['sql/engine/route/flood.test.sql'],
    why: 'Events that wait for a turn are forgotten.',
  },
  {
    file: 'sql/engine/route/unrouted.sql',
    find: `if pg_catalog.cardinality(v_unread.events) >= p_router.batch then`,
    replace: 'if false then',
    tests: ['sql/engine/route/flood.test.sql'],
    why: 'An event waits for all events of another organisation that were published before it.',
  },
  {
    file: 'sql/engine/route/unrouted.sql',
    find: `if pg_catalog.cardinality(v_late) >= p_router.batch then`,
    replace: 'if false then',
    tests: ['sql/engine/route/flood.test.sql'],
    why: 'More late events than a batch are lost.',
  },
  {
    file: 'sql/engine/claim/due_gates.sql',
    find: `order by d.turn, d.next_at, d.id
    limit`,
    replace: `order by d.next_at, d.id
    limit`,
    tests: ['sql/engine/claim/crowd.test.sql'],
    why: 'An organisation with many endpoints takes the turns of the others.',
  },
]
