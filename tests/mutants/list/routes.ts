import type { Mutant } from '../mutant.ts'

/** What the routes of the API call: actions on deliveries, endpoints, brokers, channels and templates. */
export const routes: readonly Mutant[] = [
  {
    file: 'sql/api/delivery_actions.sql',
    find: '  perform outbox.check_delivery(p_org_id, p_event_id, p_endpoint_id);\n',
    replace: '',
    tests: ['sql/api/act_on_delivery/actions.test.sql'],
    why: 'An organisation retries, replays and cancels the deliveries of another one.',
  },
  {
    file: 'sql/api/delivery_actions.sql',
    find: 'outbox.cancel_delivery(p_event_id, p_endpoint_id, p_reason);',
    replace: 'outbox.cancel_delivery(p_event_id, p_endpoint_id);',
    tests: ['sql/api/act_on_delivery/actions.test.sql'],
    why: 'A cancelled delivery does not have the reason that the caller gave.',
  },
  {
    file: 'sql/api/delivery_actions.sql',
    find:
      `    where r.endpoint_id = p_endpoint_id and r.event_id = p_event_id and r.step = 'routing'
`,
    replace: `    where r.endpoint_id = p_endpoint_id and r.event_id = p_event_id and false
`,
    tests: ['sql/api/act_on_delivery/refused.test.sql'],
    why: 'A delivery that the database refused to create cannot be cancelled by the API.',
  },
  {
    file: 'sql/api/endpoint_status.sql',
    find: `  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform outbox.pause_endpoint(p_endpoint_id, p_reason);`,
    replace: '  perform outbox.pause_endpoint(p_endpoint_id);',
    tests: ['sql/api/api_endpoints/kinds.test.sql'],
    why: 'An endpoint that somebody pauses by the API does not have the reason.',
  },
  {
    file: 'sql/api/endpoint_status.sql',
    find: `  perform outbox.refuse_managed(
    outbox.lock_org_endpoint(p_org_id, p_endpoint_id, p_version));`,
    replace: '  perform outbox.lock_org_endpoint(p_org_id, p_endpoint_id, p_version);',
    tests: ['sql/api/api_endpoints/kinds.test.sql'],
    why: 'A channel is deleted as an endpoint, and keeps its number and its place as the default.',
  },
  {
    file: 'sql/api/retry_config.sql',
    find: `        when 'max_delay' then 'maxDelay'
`,
    replace: '',
    tests: ['sql/api/api_endpoints/changes.test.sql'],
    why: 'The API shows the longest delay of a policy by a name that it does not take.',
  },
  {
    file: 'sql/api/retry_config.sql',
    find: '  perform outbox.check_retry(v_policy);\n  update',
    replace: '  update',
    tests: ['sql/api/api_endpoints/kinds.test.sql'],
    why: 'A policy is stored by which the database cannot compute a delay.',
    equivalent:
      'The schedule in the result is that of the new policy, and preview_schedule() checks it too.',
  },
  {
    file: 'sql/api/retry_config.sql',
    find: '  set retry = v_policy, version = e.version + 1, updated_at = outbox.clock()',
    replace: '  set retry = v_policy, updated_at = outbox.clock()',
    tests: ['sql/api/api_endpoints/kinds.test.sql'],
    why: 'An editor changes an endpoint whose policy another one has changed since.',
  },
  {
    file: 'sql/brokers/endpoint_routes.sql',
    find: `        when 'routingKey' then 'routing_key' when 'dlqExchange' then 'dlq_exchange'
`,
    replace: `        when 'routingKey' then 'routing_key'
`,
    tests: ['sql/api/api_endpoints/kinds.test.sql'],
    why: 'An endpoint with an exchange for dead letters cannot be made by the API.',
  },
  {
    file: 'sql/brokers/endpoint_routes.sql',
    find: `  update outbox.endpoint e set retry = v_retry where e.id = (v_new ->> 'id')::uuid;
`,
    replace: '',
    tests: ['sql/api/api_endpoints/kinds.test.sql'],
    why: 'The retry policy of a new broker endpoint is ignored.',
  },
  {
    file: 'sql/brokers/endpoint_routes.sql',
    find: `      'broker', outbox.broker_to_wire(p_endpoint.config), 'config', null)`,
    replace: `      'broker', outbox.broker_to_wire(p_endpoint.config))`,
    tests: ['sql/api/api_endpoints/kinds.test.sql'],
    why: 'The settings of a broker are shown twice, once by the names of SQL.',
  },
  {
    file: 'sql/messages/channel/channel_routes.sql',
    find: '  update outbox.whatsapp_channel c set is_default = false where c.endpoint_id = v_id;\n',
    replace: '',
    tests: ['sql/messages/update_channel/changes.test.sql'],
    why: 'After its default channel was deleted, an organisation has none until the purge.',
  },
  {
    file: 'sql/messages/channel/channel_routes.sql',
    find: `  if v_before ->> 'status' <> 'enabled' then`,
    replace: '  if true then',
    tests: ['sql/messages/audit/lines.test.sql', 'sql/messages/update_channel/changes.test.sql'],
    why: 'The audit trail has a resumption of a channel that was not held.',
  },
  {
    file: 'sql/messages/channel/channel_routes.sql',
    find: `(p_change ->> 'pairSeconds')::float8, 0, 3600);`,
    replace: `(p_change ->> 'pairSeconds')::float8, 0, 36000);`,
    tests: ['sql/messages/update_channel/changes.test.sql'],
    why: 'Two messages to one recipient may be ten hours apart.',
  },
  {
    file: 'sql/messages/message/template.sql',
    find: `    parameter_format = excluded.parameter_format, updated_at = excluded.updated_at;`,
    replace: '    updated_at = excluded.updated_at;',
    tests: ['sql/messages/template/changes.test.sql'],
    why: 'A template whose parameters get names sends them by number.',
  },
  {
    file: 'sql/messages/message/template.sql',
    find: '  delete from outbox.template t where t.org_id = p_org_id and t.code = p_code;',
    replace: '  delete from outbox.template t where t.code = p_code;',
    tests: ['sql/organisations/walk.test.sql', 'sql/messages/template/changes.test.sql'],
    why: 'An organisation deletes the template of the same code of every other one.',
  },
  {
    file: 'sql/messages/message/template.sql',
    find: `'^[a-z]{2,3}(_[A-Z]{2,3}|_[A-Z][a-z]{3})?$'`,
    replace: `'^[a-z]{2,3}(_[A-Z]{2,3})?$'`,
    tests: ['sql/messages/template/changes.test.sql'],
    why: 'A template in a language with a script, such as zh_Hant, is refused.',
  },
]
