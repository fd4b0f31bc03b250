import type { Mutant } from '../mutant.ts'

export const api: readonly Mutant[] = [
  {
    file: 'functions/api/routes/saga_log.ts',
    find: `scopes.has('deliveries:read') ? log : withoutDeliveries(log)`,
    replace: `scopes.has('sagas:read') ? log : withoutDeliveries(log)`,
    tests: ['functions/api/parts_by_scope.test.ts'],
    why: 'A token that may read no deliveries reads those of an execution.',
  },
  {
    file: 'functions/api/routes/inbound_messages.ts',
    find: `scopes.has('consents:read') ? messages : withoutSenders(messages)`,
    replace: `scopes.has('messages:read') ? messages : withoutSenders(messages)`,
    tests: ['functions/api/parts_by_scope.test.ts'],
    why: 'A token that may read no people reads all numbers of a sender.',
  },
  {
    file: 'functions/api/routes/route.ts',
    find: "collection = c.req.path.split('/').at(-1),",
    replace: 'collection = c.req.path,',
    tests: ['e2e/api_locations.test.ts'],
    why: 'A Location leads nowhere behind the gateway.',
  },
  {
    file: 'functions/api/routes/search.ts',
    find: 'messages || type !== messageType',
    replace: 'true',
    tests: ['functions/api/search.test.ts'],
    why: 'A search shows the events of messages to a token that may not read messages.',
  },
  {
    file: 'functions/api/routes/search.ts',
    find: 'auditEvents: visible.auditEvents ? found.auditEvents : [],',
    replace: 'auditEvents: found.auditEvents,',
    tests: ['functions/api/search.test.ts'],
    why: 'A search shows the audit trail to a token that may not read it.',
  },
  {
    file: 'functions/api/routes/search.ts',
    find: 'found.moreOf.some((list) => visible[list])',
    replace: 'found.moreOf.length > 0',
    tests: ['functions/api/search.test.ts'],
    why: 'A search tells a token how many deliveries there are that it may not see.',
  },
  {
    file: 'sql/api/search.sql',
    find:
      'where e.id = p_correlation_id::uuid and e.org_id = p_org_id and e.correlation_id is null;',
    replace: 'where e.id = p_correlation_id::uuid and e.org_id = p_org_id;',
    tests: ['sql/api/search_org/cases.test.sql'],
    why: 'An event is found by its id although another correlation id was sent.',
  },
  {
    file: 'sql/api/filter_trial.sql',
    find: 'if v_event.endpoint_id is not null\n      or not',
    replace: 'if not',
    tests: ['sql/api/try_filter/cases.test.sql'],
    why: 'A trial says that an event for one endpoint would be left out by a filter.',
  },
  {
    file: 'sql/api/filter_trial.sql',
    find: 'if v_work + v_own_work > v_most_work then',
    replace: 'if false then',
    tests: ['sql/api/try_filter/cases.test.sql'],
    why: 'A trial on large payloads takes seconds of the database.',
  },
  {
    file: 'sql/api/settings.sql',
    find: 'where s.by_org or p_all)',
    replace: 'where true)',
    tests: ['sql/api/list_org_settings/cases.test.sql'],
    why: 'A customer reads the settings of the project, such as its proxy.',
  },
  {
    file: 'functions/api/json_schema/cost.ts',
    find: '  for (const part of node.inPlace) cost += costOf(part, costs)',
    replace: '  for (const part of node.inPlace) costOf(part, costs)',
    tests: ['functions/api/schema_steps.test.ts'],
    why: 'A schema is saved that no payload can be checked against.',
  },
  {
    file: 'functions/api/publisher.ts',
    find: '  charge?.(Math.floor((steps.taken + steps.compiled) / stepsOfRequest))',
    replace: '  charge?.(0)',
    tests: ['functions/api/publisher.test.ts'],
    why: 'One organisation uses up the process that all share.',
  },
  {
    file: 'functions/api/publisher.ts',
    find: '      if (!isKnown) keep(orgId, result.catalogue, charge)\n',
    replace: '      keep(orgId, result.catalogue, charge)\n',
    tests: ['functions/api/publisher.test.ts'],
    why: 'Each refused publish compiles all schemas of its organisation again.',
  },
  {
    file: 'functions/api/publisher.ts',
    find: '    if (repeats.has(at)) continue\n',
    replace: '',
    tests: ['functions/api/publisher.test.ts'],
    why: 'A repeat is refused because the catalogue has changed.',
  },
  {
    file: 'functions/_shared/messages/callbacks/counts.ts',
    find: '    for (const { status, n } of reported) add(status, n)\n',
    replace: '',
    tests: ['functions/_shared/messages/callbacks/counts.test.ts'],
    why: 'Counts of callbacks are lost while the database does not respond.',
  },
  {
    file: 'functions/api/pattern/syntax.ts',
    find: `  if (rest.kind === 'choice') throw misplaced()`,
    replace: '',
    tests: ['functions/api/pattern.test.ts'],
    why: 'A condition at the start of one alternative decides about the others.',
  },
  {
    file: 'functions/api/middleware/limits.ts',
    find: `kind === 'key' ? null : room.enter(orgId)`,
    replace: 'null',
    tests: ['functions/api/request_limits.test.ts'],
    why: 'The slow bodies of one token fill the memory of the function for all.',
  },
  {
    file: 'functions/api/middleware/limits.ts',
    find: `kind === 'key' ? null : room.enter(orgId)`,
    replace: 'room.enter(orgId)',
    tests: ['functions/api/request_limits.test.ts'],
    why: 'The bodies of tokens cut those of the operator.',
  },
  {
    file: 'functions/_shared/http/body_room.ts',
    find: 'while (total > mostOfAll && cutOldest(largest()));',
    replace: '',
    tests: ['functions/_shared/http/body_room.test.ts'],
    why: 'Several organisations together fill the memory of the function.',
  },
  {
    file: 'functions/_shared/http/body_room.ts',
    find: 'held.bytes > (most?.bytes ?? -1)',
    replace: 'most === null',
    tests: ['functions/_shared/http/body_room.test.ts'],
    why: 'The first organisation loses its bodies when another one fills the memory.',
  },
  {
    file: 'functions/_shared/messages/callbacks/receive.ts',
    find: 'readBytes(request, max, bodyMs, place)',
    replace: 'readBytes(request, max, bodyMs)',
    tests: ['functions/_shared/messages/callbacks/receive.test.ts'],
    why: 'Anybody fills the memory of the function with slow callbacks.',
  },
  {
    file: 'functions/api/middleware/limits.ts',
    find: 'if (bytes > limits.headerBytes) {',
    replace: 'if (bytes > limits.headerBytes * 8) {',
    tests: ['functions/api/limits.test.ts'],
    why: 'Headers of 128 kB are taken.',
  },
  {
    file: 'functions/api/middleware/limits.ts',
    find: `        checkJsonText(bytes, limits.depth, !isEvents)
`,
    replace: '',
    tests: ['functions/api/limits.test.ts'],
    why: 'A body that is nested a million times is parsed.',
  },
  {
    file: 'functions/api/middleware/limits.ts',
    find: String.raw`/^\/api\/v1\/events(?:\/batch)?$/`,
    replace: String.raw`/\/events(\/|$)/`,
    tests: ['functions/api/request_limits.test.ts'],
    why: 'A saga with the name events takes a context of 4 MiB, and numbers of any length.',
  },
  {
    file: 'functions/api/middleware/limits.ts',
    find: `        checkMediaType(raw.headers.get('content-type'))
`,
    replace: '',
    tests: ['functions/api/limits.test.ts'],
    why: 'A form of another site is taken for a call.',
  },
  {
    file: 'functions/_shared/http/read_bytes.ts',
    find:
      `      if (whole.length + next.value.length > max) return await giveUp({ kind: 'too_large' })
`,
    replace: '',
    tests: ['functions/api/limits.test.ts', 'functions/_shared/messages/callbacks/receive.test.ts'],
    why: 'A body without a length fills the memory.',
  },
  {
    file: 'functions/api/middleware/rate_limit.ts',
    find: 'reservation.left <= 0 || reservation.until <= now()',
    replace: 'reservation.left <= 0',
    tests: ['functions/api/rate_limit.test.ts'],
    why: 'What an isolate took for an organisation is good for ever.',
  },
  {
    file: 'functions/api/middleware/rate_limit.ts',
    find: `    reservation.left--
`,
    replace: '',
    tests: ['functions/api/rate_limit.test.ts'],
    why: 'The rate limit never holds.',
  },
  {
    file: 'functions/api/middleware/rate_limit.ts',
    find: 'reservation.refusedUntil = granted === 0 ? now() + Math.max(retryAfterMs, 1) : 0',
    replace: 'reservation.refusedUntil = 0',
    tests: ['functions/api/rate_limit.test.ts'],
    why: 'An organisation over its limit makes the database answer each request.',
  },
  {
    file: 'functions/api/call_queue.ts',
    find: `while (queue.inFlight < queue.most) {`,
    replace: `for (;;) {`,
    tests: ['functions/api/call_queue.test.ts'],
    why: 'One organisation takes all connections of the database.',
  },
  {
    file: 'functions/api/call_queue.ts',
    find: `        queue.inFlight--
`,
    replace: ``,
    tests: ['functions/api/call_queue.test.ts'],
    why: 'An organisation waits for ever after its first calls.',
  },
  {
    file: 'functions/api/call_queue.ts',
    find: `        queue.inFlight--
        startWaiting(queue)
`,
    replace: `        queue.inFlight--
`,
    tests: ['functions/api/call_queue.test.ts'],
    why: 'A call that waits is never made.',
  },
  {
    file: 'functions/api/call_queue.ts',
    find: `if (hasBegun || now() - since < patienceMs) return false`,
    replace: `return false`,
    tests: ['functions/api/call_queue.test.ts'],
    why: 'A request is made minutes after its client has gone.',
  },
  {
    file: 'functions/api/call_queue.ts',
    find: `if (hasBegun || now() - since < patienceMs) return false`,
    replace: `if (now() - since < patienceMs) return false`,
    tests: ['functions/api/call_queue.test.ts'],
    why: 'A request is refused after a part of its work.',
  },
  {
    file: 'functions/api/call_queue.ts',
    find: `    if (next.refuseLate()) continue
`,
    replace: `    if (next.refuseLate()) return
`,
    tests: ['functions/api/call_queue.test.ts'],
    why: 'Requests in time wait for nothing after one that was refused.',
  },
  {
    file: 'functions/api/app.ts',
    find: `kind === 'key' ? 'key' : 'token'`,
    replace: `'any'`,
    tests: ['functions/api/call_queue.test.ts'],
    why: 'Tokens keep an operator from acting for the organisation.',
  },
  {
    file: 'functions/api/app.ts',
    find: `c.set('database', asActor(queued, actor))`,
    replace: `c.set('database', asActor(database, actor))`,
    tests: ['functions/api/call_queue.test.ts'],
    why: 'The limit of calls in flight holds for no route.',
  },
  {
    file: 'functions/api/app.ts',
    find: `c.set('database', asActor(queued, actor))`,
    replace: `c.set('database', queued)`,
    tests: ['functions/api/call_queue.test.ts'],
    why: 'The audit trail and its limit do not know who calls.',
  },
  {
    file: 'functions/api/sql_error.ts',
    find: `OH008: 'version_mismatch',`,
    replace: '',
    tests: ['functions/api/problem.test.ts', 'e2e/api_endpoints.test.ts'],
    why: 'An editor with an old version is told of an internal error.',
  },
  {
    file: 'functions/_shared/http/bearer.ts',
    find: '.includes(true)',
    replace: '.every((one) => one)',
    tests: ['functions/metrics/app.test.ts', 'functions/ops_alerts/app.test.ts'],
    why: 'During a rotation of two tokens neither is taken.',
  },
  {
    file: 'functions/_shared/http/bearer.ts',
    find: `if (given === undefined) return false
`,
    replace: `if (given === undefined) return true
`,
    tests: ['functions/metrics/app.test.ts'],
    why: 'Metrics are shown to whoever sends no token.',
  },
  {
    file: 'functions/api/routes/route.ts',
    find: 'middleware: [requireScope(scope), messageRule, tokenRules],',
    replace: 'middleware: [requireScope(scope), tokenRules],',
    tests: ['functions/api/message_rule.test.ts'],
    why: 'A portal token of a customer page sends a failed message again.',
  },
  {
    file: 'functions/api/routes/replay_jobs.ts',
    find: `...maySendMessages(c.get('principal')) ? {} : { exceptType: messageType },`,
    replace: '',
    tests: ['functions/api/message_rule.test.ts'],
    why: 'A portal token of a customer page sends failed messages again by a replay job.',
  },
  {
    file: 'functions/api/routes/endpoint_actions.ts',
    find: `c.get('charge')?.(1)
`,
    replace: '',
    tests: ['functions/api/endpoint_test.test.ts'],
    why:
      'A test event that waits 20 s makes 200 calls to the database for the price of one request.',
  },
  {
    file: 'functions/api/app.ts',
    find: `  root.use(responseHeaders)
  const app = root.basePath('/api/v1')
`,
    replace: `  const app = root.basePath('/api/v1')
  app.use(responseHeaders)
`,
    tests: ['functions/unknown_caller.test.ts'],
    why:
      'The response for a path outside of /api/v1 may be cached, and a browser guesses its type.',
  },
  {
    file: 'functions/api/rows_read.ts',
    find: `c.get('charge')?.(Math.floor(rows / rowsOfRequest))`,
    replace: `c.get('charge')?.(Math.floor(rows / 1_000_000))`,
    tests: ['functions/api/rows_read.test.ts'],
    why: 'A list that reads 20,000 rows costs as much as one that reads none.',
  },
  {
    file: 'sql/api/endpoint_create.sql',
    find: `
        and not outbox.was_rotated(v_id)
`,
    replace: `
`,
    tests: ['sql/api/api_endpoints/changes.test.sql'],
    why: 'Whoever has repeated a creation gets the secret that replaced a leaked one.',
  },
  {
    file: 'sql/api/endpoint_create.sql',
    find: `
        and (p_caller is null or v_result ->> 'createdBy' = p_caller)
`,
    replace: `
`,
    tests: ['sql/api/begin_request/other_caller.test.sql'],
    why: 'A token without secrets:read gets the secret of an endpoint by repeating its creation.',
  },
  {
    file: 'sql/api/token_share.sql',
    find: 'if v_in_flight > coalesce(p_before.max_in_flight, 0) then',
    replace: 'if v_in_flight > 0 then',
    tests: ['e2e/api_portal.test.ts'],
    why: 'A token cannot save an endpoint whose share a secret key has raised.',
  },
  {
    file: 'sql/api/endpoint_change.sql',
    find: `  if p_by_token then
    perform outbox.check_token_share(p_org_id, p_change, v_before);
  end if;
`,
    replace: '',
    tests: ['e2e/api_portal.test.ts'],
    why: 'A token gives its endpoints any share of the claims.',
  },
  {
    file: 'functions/api/middleware/object_facts.ts',
    find: 'return eventTypes.length === 0 ? [null] : eventTypes',
    replace: 'return eventTypes',
    tests: ['e2e/api_portal.test.ts'],
    why: 'A token that is limited to event types reads the secret of an endpoint that gets any.',
  },
  {
    file: 'functions/api/middleware/trace.ts',
    find: `const isTrusted = c.get('principal').kind === 'key'`,
    replace: 'const isTrusted = true',
    tests: ['functions/api/trace.test.ts'],
    why: 'A token decides by its flag what is recorded.',
  },
  {
    file: 'functions/api/filter_charge.ts',
    find: `c.get('charge')?.(Math.floor((filter?.length ?? 0) / charactersOfRequest))`,
    replace: '',
    tests: ['functions/api/charges.test.ts'],
    why: 'Filters are read for nothing.',
  },
  {
    file: 'functions/api/channel_check/graph.ts',
    find: `.text.replaceAll(token, '…'))`,
    replace: '.text)',
    tests: ['functions/api/channel_check/check.test.ts#no token that Meta repeats'],
    why: 'The check shows an access token in the words of Meta.',
  },
  {
    file: 'functions/api/channel_check/graph.ts',
    find: 'timeoutMs: Math.min(requestMs, leftMs),',
    replace: 'timeoutMs: requestMs,',
    tests: ['functions/api/channel_check/check.test.ts#time limit'],
    why: 'The check of a channel takes up to 8 s longer than its time limit.',
  },
  {
    file: 'functions/api/channel_check/webhook_subscription.ts',
    find: '  if (!known.success) return unreadable',
    replace: `  if (!known.success) return fault('no subscription', '')`,
    tests: ['functions/api/channel_check/check.test.ts#another form'],
    why: 'A response of another form counts as a missing subscription.',
  },
  {
    file: 'functions/api/channel_check/graph.ts',
    find: 'if (!target.ok) {',
    replace: 'if (!target.ok && access.graphUrl === null) {',
    tests: ['functions/api/channel_check/check.test.ts#egress forbids'],
    why: 'The check is sent to an address that egress forbids.',
  },
  {
    file: 'functions/api/channel_check/token.ts',
    find: 'String(token.app_id) !== appId',
    replace: 'token.app_id === null',
    tests: ['functions/api/channel_check/check.test.ts#each fault'],
    why: 'A token of another app passes the check, and no callback is accepted.',
  },
  {
    file: 'functions/api/channel_check/templates.ts',
    find: `paging?.next === undefined ? undefined : paging.cursors?.after`,
    replace: 'undefined',
    tests: ['functions/api/channel_check/check.test.ts#beyond the first page'],
    why: 'A template on the second page is reported as missing.',
  },
  {
    file: 'functions/api/channel_check/templates.ts',
    find: 'meta.category !== undefined && meta.category !== category',
    replace: 'meta.category === category && meta.name === null',
    tests: ['functions/api/channel_check/check.test.ts#each fault'],
    why: 'Nobody sees that Meta has made a template MARKETING, for which other consent is needed.',
  },
  {
    file: 'functions/api/channel_check/webhook_subscription.ts',
    find: '.find((one) => String(one.whatsapp_business_api_data.id) === appId)',
    replace: '[0]',
    tests: ['functions/api/channel_check/check.test.ts#each fault'],
    why: 'An account that is subscribed to another app passes the check.',
  },
  {
    file: 'sql/messages/channel/channel_access.sql',
    find: 'outbox.check_channel(p_org_id, p_channel_id)',
    replace:
      '(select c.endpoint_id from outbox.whatsapp_channel c where c.endpoint_id = p_channel_id)',
    tests: ['sql/messages/get_channel_access/facts.test.sql'],
    why: 'The check reads the token of a channel of another organisation.',
  },
  {
    file: 'sql/messages/channel/channel_access.sql',
    find: 'from outbox.template t where t.org_id = p_org_id), ',
    replace: 'from outbox.template t), ',
    tests: ['sql/messages/get_channel_access/facts.test.sql'],
    why: 'The check names templates of other organisations.',
  },
  {
    file: 'sql/api/search.sql',
    find: `coalesce(v_messages -> 'moreOf', '[]')`,
    replace: `'[]'`,
    tests: ['sql/messages/correlation_id/cases.test.sql'],
    why: 'A search with more messages than its limit says that there are no more.',
  },
  {
    file: 'sql/api/replay_jobs.sql',
    find: `'read', p_job.looked, 'sent', p_job.replayed`,
    replace: `'read', p_job.replayed, 'sent', p_job.looked`,
    tests: ['sql/api/create_backfill/jobs.test.sql'],
    why: 'A backfill says that it has sent what it has only read.',
  },
  {
    file: 'functions/api/auth/authenticate.ts',
    find: 'if (value === null || personForm.test(value)) return value',
    replace: 'if (value === null || value.length > 0) return value',
    tests: ['functions/api/authenticate.test.ts'],
    why: 'A person in the audit trail is a text of any length.',
  },
  {
    file: 'sql/foundation/audit.sql',
    find: "when outbox.caller_role() = 'service_role' then coalesce(",
    replace: 'when true then coalesce(',
    tests: ['sql/api/audit/actions.test.sql'],
    why: 'A user of the application is in the audit trail as whom a header names.',
  },
  {
    file: 'functions/api/database.ts',
    find: '{ ...trace, actor }',
    replace: '{ ...trace }',
    tests: ['e2e/api_audit.test.ts'],
    why: 'The audit trail says that a secret key did what a customer did.',
  },
  {
    file: 'sql/endpoints/secret.sql',
    find: "if v_result ->> 'secret' is not null then",
    replace: "if v_result ->> 'secret' is null then",
    tests: ['sql/api/audit/actions.test.sql'],
    why: 'A secret is shown and the audit trail does not have it.',
  },
  {
    file: 'sql/foundation/audit.sql',
    find: 'where o.data is not null and o.created_at < p_now',
    replace: 'where o.created_at < p_now',
    tests: ['sql/api/audit/actions.test.sql'],
    why: 'The cleanup deletes the evidence of an opt-out.',
  },
  {
    file: 'sql/operations/replay.sql',
    find:
      "perform outbox.make_due(p_event_id, p_endpoint_id, interval '0');\n      perform outbox.note_delivery(p_event_id, p_endpoint_id, 'REPLAYED', 'Delivery replayed');",
    replace: "perform outbox.make_due(p_event_id, p_endpoint_id, interval '0');",
    tests: ['sql/api/audit/actions.test.sql'],
    why: 'The replay of an open delivery is not in the audit trail.',
  },
  {
    file: 'sql/api/audit_events.sql',
    find: 'and (p_actor is null or v_row.actor is not distinct from p_actor)',
    replace: 'and (p_actor is null or v_row.actor is distinct from p_actor)',
    tests: ['sql/api/audit/list.test.sql'],
    why: 'A list of what one person did shows what others did.',
  },
  {
    file: 'sql/api/audit_events.sql',
    find: 'and v_row.created_at < coalesce(p_to, ',
    replace: 'and v_row.created_at <= coalesce(p_to, ',
    tests: ['sql/api/audit/list.test.sql'],
    why: 'A list up to a time has the rows of this time.',
  },
]
