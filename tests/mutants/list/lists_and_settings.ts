import type { Mutant } from '../mutant.ts'

export const listsAndSettings: readonly Mutant[] = [
  {
    file: 'sql/operations/open_delivery.sql',
    find: `    when e.status = 'deleted' then 'cancelled'
`,
    replace: '',
    tests: ['sql/operations/delete_endpoint/at_once.test.sql'],
    why: 'What a deleted endpoint has left shows as pending.',
  },
  {
    file: 'sql/operations/delivery_status.sql',
    find: `      and (b.attempt, b.at) > (a.attempt, a.at))
union all
-- Deliveries whose event is no longer stored, but`,
    replace: `      and b.attempt > a.attempt)
union all
-- Deliveries whose event is no longer stored, but`,
    tests: ['sql/engine/regressions/delivery_status_of_a_cancelled_replay.test.sql'],
    why: 'A replay that was cancelled shows two ends.',
  },
  {
    file: 'sql/operations/open_delivery.sql',
    find: `(g.breaker <> 'closed' and e.breaker_enabled) or l.halted
`,
    replace: `(g.breaker <> 'closed' and e.breaker_enabled)
`,
    tests: [
      'sql/operations/views/columns.test.sql',
      'sql/operations/views/history.test.sql',
      'sql/operations/resume_lane/cases.test.sql',
      'sql/engine/states/order_kept.test.sql',
    ],
    why: 'What waits behind a dead letter shows as pending.',
  },
  {
    file: 'sql/operations/endpoint_status.sql',
    find: `when g.tokens_at > 'epoch' and g.tokens < 1
`,
    replace: `when g.tokens < 1
`,
    tests: ['sql/engine/rate/changed.test.sql', 'sql/operations/views/columns.test.sql'],
    why: 'An endpoint whose rate nothing has used shows a wait.',
  },
  {
    file: 'sql/api/requests.sql',
    find:
      'if v_stored.route <> p_route or v_stored.content <> outbox.request_content(p_request) then',
    replace: 'if v_stored.content <> outbox.request_content(p_request) then',
    tests: ['sql/api/begin_request/keys.test.sql'],
    why: 'A key that was used at another route gives its answer.',
  },
  {
    file: 'sql/api/requests.sql',
    find: 'where k.org_id = p_org_id and k.key = p_key and k.created_at >',
    replace: 'where k.key = p_key and k.created_at >',
    tests: ['sql/api/begin_request/of_one_organisation.test.sql'],
    why: 'A key of one organisation gives the answer of another.',
  },
  {
    file: 'sql/api/endpoint_create.sql',
    find: `select from outbox.endpoint e where e.id = v_id and e.status <> 'deleted')`,
    replace: `select from outbox.endpoint e where e.id = v_id)`,
    tests: ['sql/api/begin_request/after_deletion.test.sql'],
    why: 'The repeat of a creation fails after the endpoint was deleted.',
  },
  {
    file: 'sql/api/events.sql',
    find: `    if v_result is not null then
      return v_result;
    end if;
    v_before`,
    replace: '    v_before',
    tests: ['sql/api/publish_events/catalogue.test.sql'],
    why: 'The repeat of a batch is checked against the catalogue of now.',
  },
  {
    file: 'sql/api/events.sql',
    find: '        and k.created_at > v_after));',
    replace: '        and false));',
    tests: ['sql/api/publish_events/catalogue.test.sql'],
    why: 'The repeat of an event is checked against the catalogue of now.',
  },
  {
    file: 'sql/api/requests.sql',
    find: 'least(v_burst, b.tokens',
    replace: '(b.tokens',
    tests: ['sql/api/take_requests/bucket.test.sql'],
    why: 'An organisation that was silent for a day may send a million at once.',
  },
  {
    file: 'sql/api/requests.sql',
    find: 'v_granted := least(p_count, pg_catalog.floor(v_tokens));',
    replace: 'v_granted := least(p_count, pg_catalog.ceil(v_tokens));',
    tests: ['sql/api/take_requests/bucket.test.sql'],
    why: 'A part of a request is granted as a whole one.',
  },
  {
    file: 'sql/endpoints/org_endpoint.sql',
    find: `where e.id = p_endpoint_id and e.org_id = p_org_id and e.status <> 'deleted';`,
    replace: `where e.id = p_endpoint_id and e.status <> 'deleted';`,
    tests: ['sql/api/api_endpoints/orgs.test.sql'],
    why: 'An endpoint of another organisation is shown and changed.',
  },
  {
    file: 'sql/foundation/wire.sql',
    find: `perform outbox.check_range('limit', p_limit, 1, 100);`,
    replace: `perform outbox.check_range('limit', p_limit, 1, 100000);`,
    tests: ['sql/api/api_endpoints/of_one_organisation.test.sql'],
    why: 'A page of 100,000 is made.',
  },
  {
    file: 'sql/api/dead_letters.sql',
    find: 'where x.id = p_id and x.org_id = p_org_id;',
    replace: 'where x.id = p_id;',
    tests: ['sql/api/list_dead_letters/pages.test.sql', 'e2e/api_isolation.test.ts'],
    why: 'A dead letter of another organisation is shown.',
  },
  {
    file: 'sql/api/dead_letters.sql',
    find: `and x.failed_at > '-infinity' and x.org_id = p_org_id
`,
    replace: `and x.failed_at > '-infinity'
`,
    tests: ['sql/api/list_dead_letters/pages.test.sql', 'e2e/api_isolation.test.ts'],
    why: 'The list for an endpoint of another organisation is shown.',
  },
  {
    file: 'sql/api/dead_letters.sql',
    find: `    order by x.failed_at desc, x.id desc;
  else`,
    replace: `    order by x.failed_at desc, x.id;
  else`,
    tests: ['sql/api/list_dead_letters/pages.test.sql'],
    why: 'Of dead letters of one moment a page leaves some out.',
  },
  {
    file: 'sql/api/dead_letters.sql',
    find: '= coalesce(pg_catalog.left(p_error, 200), pg_catalog.left(v_letter.error, 200))',
    replace: '= pg_catalog.left(v_letter.error, 200)',
    tests: ['sql/api/list_dead_letters/pages.test.sql'],
    why: 'The list of a group shows dead letters with other errors.',
  },
  {
    file: 'sql/api/deliveries.sql',
    find: 'select from outbox.endpoint e where e.id = v_at.endpoint_id and e.org_id = p_org_id);',
    replace: 'select from outbox.endpoint e where e.id = v_at.endpoint_id);',
    tests: ['sql/api/api_endpoints/of_one_organisation.test.sql'],
    why: `The list of what is open shows everybody's.`,
  },
  {
    file: 'sql/api/deliveries.sql',
    find: `      v_last := row(outbox.place_between(v_last.event_id, v_at.event_id), null, null);
`,
    replace: '',
    tests: ['sql/api/list_deliveries/pages.test.sql'],
    why: 'A cursor has the ids of a delivery of another organisation.',
  },
  {
    file: 'sql/api/deliveries.sql',
    find: 'if v_budget <= 0 and v_at.event_id < v_last.event_id then',
    replace: 'if v_budget <= 0 then',
    tests: ['sql/api/list_deliveries/pages.test.sql'],
    why: 'A page that ends among the deliveries of one event has a cursor that skips the rest.',
  },
  {
    file: 'sql/api/delivery.sql',
    find: `where e.id = p_endpoint_id and e.org_id = p_org_id
`,
    replace: `where e.id = p_endpoint_id
`,
    tests: ['sql/api/act_on_delivery/actions.test.sql', 'e2e/api_isolation.test.ts'],
    why: 'A delivery of another organisation is shown.',
  },
  {
    file: 'sql/api/endpoint_change.sql',
    find: 'if v_endpoint.version <> p_version then',
    replace: 'if v_endpoint.version < p_version then',
    tests: ['sql/api/api_endpoints/changes.test.sql'],
    why: 'Of two editors the later wins without a word.',
  },
  {
    file: 'sql/api/endpoint_change.sql',
    find: '    where s.endpoint_id = p_endpoint_id and s.pattern <> all (v_types)), v_at);',
    replace: '    where false), v_at);',
    tests: ['sql/api/api_endpoints/changes.test.sql'],
    why: 'An event type that is taken away still comes.',
  },
  {
    file: 'sql/api/secrets.sql',
    find: '  where s.id = p_secret_id and s.endpoint_id = p_endpoint_id;',
    replace: '  where s.id = p_secret_id;',
    tests: ['sql/api/api_endpoints/of_one_organisation.test.sql'],
    why: 'One organisation ends the secret of another.',
  },
  {
    file: 'sql/operations/queue_metrics.sql',
    find: `    where e.status <> 'deleted'
  )`,
    replace: `    where true
  )`,
    tests: ['sql/operations/metrics/get_metrics.test.sql'],
    why: 'Deleted endpoints are counted.',
  },
  {
    file: 'sql/operations/queue_metrics.sql',
    find: `        and g.depth > g.in_flight and e.status = 'enabled'
`,
    replace: `        and g.depth > g.in_flight
`,
    tests: ['sql/operations/metrics/paused_and_folded.test.sql'],
    why: 'A paused endpoint makes the alert for a backlog ring.',
  },
  {
    file: 'sql/foundation/counter.sql',
    find: 'set n = c.n + excluded.n, total',
    replace: 'set n = excluded.n, total',
    tests: ['sql/operations/metrics/paused_and_folded.test.sql'],
    why: 'Counters go back to what the last ten seconds brought.',
  },
  {
    file: 'sql/foundation/setting_check.sql',
    find: 'not between p_setting.lowest and p_setting.highest then',
    replace: '< p_setting.lowest then',
    tests: [
      'sql/foundation/settings_bounds/bounds.test.sql',
      'sql/foundation/set_setting/cases.test.sql',
    ],
    why: 'A setting may be larger than its bound.',
  },
  {
    file: 'sql/inbox/inbox.sql',
    find: `('event.retention_days', 'inbox.retention_days', -1,`,
    replace: `('event.retention_days', 'inbox.retention_days', 0,`,
    tests: ['sql/foundation/settings_bounds/conflicts.test.sql'],
    why: 'A consumer forgets an event on the day of its last try.',
  },
  {
    file: 'sql/foundation/setting_check.sql',
    find: 'where p_name in (r.less, r.more) and v.less > v.more',
    replace: 'where p_name = r.less and v.less > v.more',
    tests: ['sql/foundation/settings_bounds/conflicts.test.sql'],
    why: 'Of two settings that depend on each other one may be moved past the other.',
  },
  {
    file: 'sql/api/deliveries.sql',
    find: '    exit when v_budget <= 0 and v_is_own;\n',
    replace: '',
    tests: ['sql/api/list_deliveries/pages.test.sql'],
    why: 'One event with a thousand endpoints makes a page as long as it likes.',
  },
  {
    file: 'sql/api/deliveries.sql',
    find: `'rows', v_most - v_budget + coalesce(v_own, 0), 'nextCursor'`,
    replace: `'rows', 0, 'nextCursor'`,
    tests: ['sql/api/list_deliveries/pages.test.sql'],
    why: 'A page that ends at its bound is free.',
  },
  {
    file: 'sql/operations/relay_status.sql',
    find: `      when o.has_failed then 'failed'
`,
    replace: `      when o.status = 'retrying' then 'failed'
`,
    tests: ['sql/operations/views/stated.test.sql'],
    why: 'Behind an open breaker, what has failed shows as pending.',
  },
  {
    file: 'sql/operations/delivery_status.sql',
    find: '(v.id is not null or x.event_id < outbox.stored_from()));',
    replace: '(v.id is not null or x.event_id < outbox.stored_from())) and v.id is not null;',
    tests: ['sql/operations/views/stated.test.sql', 'sql/operations/views/naive_recount.test.sql'],
    why: 'A dead letter disappears from the views with the day of its event.',
  },
  {
    file: 'sql/operations/delivery_status.sql',
    find:
      `    -- Neither open nor delivered, and another failure would have begun a new dead letter.
    -- Task dlq:replay has only claimed one at_broker.
    when x.replayed_at is not null and not x.at_broker then 'cancelled'
`,
    replace: '',
    tests: ['sql/operations/views/stated.test.sql'],
    why: 'A cancelled replay shows as a dead letter that waits.',
  },
  {
    file: 'sql/operations/publish_inserted.sql',
    find: 'case when v_at > outbox.clock() then v_at end);',
    replace: 'null);',
    tests: ['sql/operations/publish_inserted/columns.test.sql'],
    why: 'A row that is inserted for later is sent at once.',
  },
  {
    file: 'sql/operations/publish_inserted.sql',
    find: `    p_endpoint_id => (v_row ->> 'endpoint_id')::uuid,
`,
    replace: '',
    tests: ['sql/operations/publish_inserted/columns.test.sql'],
    why: 'A row that is inserted for one endpoint goes to all.',
  },
  {
    file: 'sql/operations/publish_inserted.sql',
    find: '  perform outbox.check_inserted(tg_table_name, v_row);\n',
    replace: '',
    tests: ['sql/operations/publish_inserted/columns.test.sql'],
    why: 'A column that cannot be inserted is ignored.',
  },
  {
    file: 'sql/api/deliveries.sql',
    find: `  select x.endpoint_id from outbox.dead_letter x where x.event_id = p_event_id
`,
    replace: `  select x.endpoint_id from outbox.dead_letter x where false
`,
    tests: ['sql/api/get_event/deliveries.test.sql'],
    why: 'The dead letters of an event disappear from it with their attempts.',
  },
  {
    file: 'sql/api/event_type_changes.sql',
    find: '    offset v_kept limit 1);',
    replace: '    offset 10 limit 1);',
    tests: ['sql/api/list_event_type_changes/changes.test.sql'],
    why: 'Most of the history of an event type is deleted at its next change.',
  },
  {
    file: 'sql/api/event_type_changes.sql',
    find: '    where c.id <= v_last and c.id = any (array(',
    replace: '    where c.id = any (array(',
    tests: ['sql/api/list_event_type_changes/bound.test.sql'],
    why: 'An organisation loses ten times as many changes as are recorded.',
  },
  {
    file: 'sql/api/event_type_changes.sql',
    find: '    offset v_kept_by_org limit 1;',
    replace: '    offset greatest(0, v_kept_by_org - v_changes / 2) limit 1;',
    tests: ['sql/api/list_event_type_changes/bound.test.sql'],
    why: 'An event type that changes often takes the history of the others away.',
  },
  {
    file: 'sql/api/event_type_changes.sql',
    find: '      where c.org_id = p_org_id and c.type >= p_event_type and c.type <= p_event_type\n',
    replace: '      where c.org_id = p_org_id and c.type >= p_event_type\n',
    tests: ['sql/limits/pages.test.sql', 'sql/api/list_event_type_changes/changes.test.sql'],
    why: 'The history of an event type has that of other types.',
  },
  {
    file: 'sql/api/dead_letter_groups.sql',
    find: '    where not t.is_more\n',
    replace: '',
    tests: ['sql/api/group_dead_letters/groups.test.sql'],
    why: 'The groups count more dead letters than they say.',
  },
  {
    file: 'sql/api/dead_letter_groups.sql',
    find: 'where e.id = p_endpoint_id and e.org_id = p_org_id and',
    replace: 'where e.id = p_endpoint_id and',
    tests: ['sql/api/group_dead_letters/groups.test.sql'],
    why: 'An organisation reads the errors of the endpoint of another one.',
  },
  {
    file: 'sql/api/event_type_changes.sql',
    find: "(pg_catalog.count(*) = 0 or pg_catalog.bool_or(d.name = ''))",
    replace: 'pg_catalog.count(*) = 0',
    tests: ['sql/api/list_event_type_changes/changes.test.sql'],
    why: 'A new member hides that the schema forbids others since then.',
  },
  {
    file: 'sql/api/audit_events.sql',
    find: '        when p_audit_action is not null then v_row.action <> p_audit_action\n',
    replace: '',
    tests: ['sql/api/plans/console_lists.test.sql'],
    why: 'The audit trail of an action reads the rows of all others.',
  },
  {
    file: 'sql/api/org_attempts.sql',
    find: '          fetch first (v_each) rows with ties\n',
    replace: '          limit v_each\n',
    tests: ['sql/api/list_org_attempts/pages.test.sql'],
    why: 'A page ends among attempts of the same time, and the next one leaves the others out.',
  },
  {
    file: 'sql/api/org_attempts.sql',
    find: "    where p.at >= coalesce(v_since, '-infinity')\n",
    replace: '',
    tests: ['sql/api/list_org_attempts/bounds.test.sql'],
    why: 'A page shows attempts that are older than some that it has not read.',
  },
  {
    file: 'sql/api/org_attempts.sql',
    find: '        limit v_each + v_most_tied\n',
    replace: '',
    tests: ['sql/api/list_org_attempts/bounds.test.sql'],
    why: 'A page reads the whole backlog that was cancelled at one time.',
  },
  {
    file: 'sql/api/due_retries.sql',
    find:
      'select r.leased_until is null and (r.failed_attempts > 0 or r.lost_leases > 0) as retries',
    replace: 'select r.leased_until is null as retries',
    tests: ['sql/api/get_org_overview/cheap.test.sql'],
    why: 'A first attempt that waits counts as a retry.',
  },
  {
    file: 'sql/api/deliveries.sql',
    find: 'case when v_open <= 2500 then v_open end',
    replace: 'null::integer',
    tests: ['sql/api/list_deliveries/beside_a_backlog.test.sql'],
    why: 'The few deliveries of an organisation come behind the backlog of another one.',
  },
  {
    file: 'sql/api/due_retries.sql',
    find: 'order by d.due_at, d.event_id limit e.quantum',
    replace: 'order by d.due_at, d.event_id limit 1',
    tests: ['sql/api/get_org_overview/lists.test.sql'],
    why: 'Of the deliveries of an ordered lane that are retried, only the first one counts.',
  },
  {
    file: 'sql/api/endpoints.sql',
    find: "p_health is null or p_endpoint.status in ('paused', 'disabled')",
    replace: "p_health is null or p_endpoint.status = 'paused'",
    tests: ['sql/api/get_org_overview/lists.test.sql'],
    why: 'The list of held endpoints leaves out those that were disabled.',
  },
  {
    file: 'sql/api/all_organisations.sql',
    find: "if v_one ->> 'status' = coalesce(p_status, v_one ->> 'status') then",
    replace: 'if true then',
    tests: ['sql/api/all_organisations/cases.test.sql'],
    why: 'Who asks for open dead letters gets those that are done with.',
  },
  {
    file: 'sql/api/all_organisations.sql',
    find: `
    (select x.org_id from outbox.dead_letter x where x.event_id = p_event_id limit 1)`,
    replace: `
    null`,
    tests: ['sql/api/all_organisations/cases.test.sql'],
    why: 'An event whose dead letter waits is not found after its own retention.',
  },
]
