import type { Mutant } from '../mutant.ts'

export const endpointStatus: readonly Mutant[] = [
  {
    file: 'sql/endpoints/endpoint_status.sql',
    find: `when p_status = 'enabled' and e.status <> 'enabled' then v_now`,
    replace: `when p_status = 'enabled' then v_now`,
    tests: ['sql/endpoints/pause_endpoint/resumes.test.sql'],
    why: 'resume_endpoint() of an endpoint that is served throttles it.',
  },
  {
    file: 'sql/endpoints/endpoint_status.sql',
    find: `where e.id = any (p_endpoint_ids) and e.status = 'enabled'`,
    replace: 'where e.id = any (p_endpoint_ids)',
    tests: [
      'sql/endpoints/disable_endpoint/gone.test.sql',
      'sql/engine/states/endpoint.test.sql',
      'sql/operations/delete_endpoint/under_way.test.sql',
    ],
    why: 'A late 410 disables an endpoint that was paused or deleted.',
  },
  {
    file: 'sql/endpoints/endpoint_status.sql',
    find: `  perform outbox.announce('outhook.endpoint.disabled', array[p_endpoint_id]);
`,
    replace: '',
    tests: ['sql/endpoints/disable_endpoint/by_hand.test.sql'],
    why: 'Nobody is told that an endpoint was disabled.',
  },
  {
    file: 'sql/endpoints/endpoint_status.sql',
    find: `    perform outbox.announce('outhook.endpoint.disabled', v_disabled);
`,
    replace: `    null;
`,
    tests: ['sql/endpoints/disable_endpoint/gone.test.sql'],
    why: 'Nobody is told that an endpoint disabled itself.',
  },
  {
    file: 'sql/endpoints/endpoint_status.sql',
    find: `elsif v_breaker <> 'closed' and v_endpoint.breaker_enabled then`,
    replace: `elsif v_breaker <> 'closed' then`,
    tests: ['sql/engine/breaker/test_event.test.sql', 'sql/engine/breaker/off.test.sql'],
    why: 'A test event is refused for a breaker that is switched off.',
  },
  {
    file: 'sql/endpoints/endpoint_status.sql',
    find: 'set status = p_status, status_reason = p_reason, version = e.version + 1,',
    replace: 'set status = p_status, status_reason = p_reason, version = e.version,',
    tests: ['sql/engine/states/endpoint.test.sql', 'sql/endpoints/pause_endpoint/holds.test.sql'],
    why: 'Of two editors one does not see that the other paused the endpoint.',
  },
  {
    file: 'sql/messages/channel/hold_channel.sql',
    find: `  update outbox.channel_hold h set held = false, decided_at = new.updated_at
  where h.channel_id = new.id and h.held;
`,
    replace: '',
    tests: [
      'sql/messages/update_channel/changes.test.sql',
      'sql/messages/receive_callbacks/notices.test.sql',
    ],
    why: 'A channel that a person resumed is held again by a hold that they have seen.',
  },
]
