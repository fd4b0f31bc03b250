import type { Mutant } from '../mutant.ts'

/** Locks of an endpoint or a channel that is changed, each of which a deletion or another editor may hold. */
export const locksOfEndpoints: readonly Mutant[] = [
  {
    file: 'sql/endpoints/subscription.sql',
    find: '  v_endpoint := outbox.lock_endpoint(p_endpoint_id);',
    replace: '  v_endpoint := outbox.check_endpoint(p_endpoint_id);',
    tests: ['concurrency/deleted.test.ts#outbox.subscribe($1'],
    why: 'A deleted endpoint gets subscriptions.',
  },
  {
    file: 'sql/endpoints/endpoint_status.sql',
    find: 'v_before constant outbox.endpoint := outbox.lock_endpoint(p_endpoint_id);',
    replace: 'v_before constant outbox.endpoint := outbox.check_endpoint(p_endpoint_id);',
    tests: ['concurrency/deleted.test.ts#outbox.disable_endpoint($1)'],
    why: 'An endpoint that is being deleted is enabled, paused or disabled after that.',
  },
  {
    file: 'sql/endpoints/secret_rotation.sql',
    find: '  perform outbox.lock_endpoint(p_endpoint_id);',
    replace: '  perform outbox.check_endpoint(p_endpoint_id);',
    tests: ['concurrency/deleted.test.ts#outbox.rotate_secret($1)'],
    why: 'Two rotations at once replace the same secret, or a deleted endpoint gets one.',
  },
  {
    file: 'sql/endpoints/secret_rotation.sql',
    find: '  perform outbox.lock_endpoint(s.endpoint_id)',
    replace: '  perform outbox.check_endpoint(s.endpoint_id)',
    tests: ['concurrency/deleted.test.ts#outbox.expire_secret((select s.id'],
    why: 'A secret is expired while its endpoint is being deleted or gets another one.',
  },
  {
    file: 'sql/endpoints/headers.sql',
    find: '  perform outbox.lock_endpoint(p_endpoint_id);',
    replace: '  perform outbox.check_endpoint(p_endpoint_id);',
    tests: ['concurrency/deleted.test.ts#outbox.set_headers($1'],
    why: 'Of two changes of the headers one is lost.',
    equivalent:
      'The update that follows locks the row too, before the headers are read, and remaining_headers() finds no deleted endpoint.',
  },
  {
    file: 'sql/brokers/broker.sql',
    find: '  v_before outbox.endpoint := outbox.lock_endpoint(p_endpoint_id);',
    replace: '  v_before outbox.endpoint := outbox.check_endpoint(p_endpoint_id);',
    tests: ['concurrency/deleted.test.ts#outbox.set_broker($1'],
    why: 'Of two changes of the settings of a broker one is lost.',
  },
  {
    file: 'sql/brokers/slack.sql',
    find: '  v_before outbox.endpoint := outbox.lock_endpoint(p_endpoint_id);',
    replace: '  v_before outbox.endpoint := outbox.check_endpoint(p_endpoint_id);',
    tests: ['concurrency/deleted.test.ts#outbox.set_slack_url($1'],
    why: 'A deleted endpoint gets a new URL, whose secret stays in Vault.',
  },
  {
    file: 'sql/api/endpoint_change.sql',
    find: '  v_before := outbox.lock_org_endpoint(p_org_id, p_endpoint_id, p_version);',
    replace: '  v_before := outbox.org_endpoint(p_org_id, p_endpoint_id);',
    tests: [
      'concurrency/editors.test.ts#update_org_endpoint() at a version that another editor is changing',
    ],
    why: 'Of two editors who read one version, both win.',
  },
  {
    file: 'sql/api/endpoint_status.sql',
    find: '    outbox.lock_org_endpoint(p_org_id, p_endpoint_id, p_version));',
    replace: '    outbox.org_endpoint(p_org_id, p_endpoint_id));',
    tests: [
      'concurrency/editors.test.ts#delete_org_endpoint() at a version that another editor is changing',
    ],
    why: 'An endpoint is deleted that an editor has changed since the caller read it.',
  },
  {
    file: 'sql/api/retry_config.sql',
    find: '  perform outbox.lock_org_endpoint(p_org_id, p_endpoint_id, p_version);',
    replace: '  perform outbox.org_endpoint(p_org_id, p_endpoint_id);',
    tests: [
      'concurrency/editors.test.ts#set_retry_config() at a version that another editor is changing',
    ],
    why: 'Of two editors who read one version, both win.',
  },
  {
    file: 'sql/messages/channel/channel.sql',
    find: '  perform outbox.lock_endpoint(v_id);',
    replace: '  null;',
    tests: ["concurrency/deleted.test.ts#outbox.update_channel('default', $1"],
    why: 'A channel that is being deleted is changed after that.',
  },
  {
    file: 'sql/messages/channel/channel.sql',
    find: '  v_id uuid := outbox.lock_channel(p_org_id, p_channel_id);',
    replace: '  v_id uuid := outbox.check_channel(p_org_id, p_channel_id);',
    tests: ["concurrency/deleted.test.ts#outbox.set_default_channel('default', $1)"],
    why: 'A deleted channel becomes the default, and an organisation sends no messages.',
  },
  {
    file: 'sql/messages/channel/channel_token.sql',
    find: '  v_id uuid := outbox.lock_channel(p_org_id, p_channel_id);',
    replace: '  v_id uuid := outbox.check_channel(p_org_id, p_channel_id);',
    tests: ["concurrency/deleted.test.ts#outbox.set_channel_token('default', $1"],
    why: 'A deleted channel gets a token, which stays in Vault.',
  },
  {
    file: 'sql/messages/channel/channel_routes.sql',
    find: `  v_id uuid := outbox.lock_channel(p_org_id, p_channel_id);
begin`,
    replace: `  v_id uuid := outbox.check_channel(p_org_id, p_channel_id);
begin`,
    tests: ["concurrency/deleted.test.ts#outbox.update_channel('default', $1"],
    why: 'A channel that is being deleted is changed after that.',
  },
  {
    file: 'sql/messages/channel/channel_routes.sql',
    find: `  v_id uuid := outbox.lock_channel(p_org_id, p_channel_id);
  v_before`,
    replace: `  v_id uuid := outbox.check_channel(p_org_id, p_channel_id);
  v_before`,
    tests: ["concurrency/deleted.test.ts#outbox.resume_channel('default', $1)"],
    why: 'A channel that is being deleted is resumed after that.',
  },
]
