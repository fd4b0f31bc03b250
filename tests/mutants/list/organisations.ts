import type { Mutant } from '../mutant.ts'

export const organisations: readonly Mutant[] = [
  {
    file: 'sql/messages/send/channel_failure.sql',
    find: `case f.scope when 'app' then o.app_id = w.app_id else o.waba_id = w.waba_id end`,
    replace: 'o.app_id = w.app_id',
    tests: ['sql/organisations/shared.test.sql'],
    why: 'A throttle of one account slows every number of the app.',
  },
  {
    file: 'sql/messages/callback/callback_failure.sql',
    find: `or (v_row.scope = 'account' and w.waba_id = v_row.waba_id)`,
    replace: `or (v_row.scope = 'account' and w.app_id = v_row.app_id)`,
    tests: ['sql/organisations/shared.test.sql'],
    why: 'A throttle of one account, told by a callback, slows every number of the app.',
  },
  {
    file: 'sql/messages/callback/inbound_message.sql',
    find: 'where m.id = v_attempt.message_id and m.org_id = p_update.org_id)',
    replace: 'where m.id = v_attempt.message_id)',
    tests: ['sql/organisations/shared.test.sql'],
    why: 'An inbound message answers a message of another organisation.',
  },
  {
    file: 'sql/messages/callback/inbound_message.sql',
    find: ' and m.org_id = excluded.org_id',
    replace: '',
    tests: ['sql/organisations/shared.test.sql'],
    why: `A number's new organisation changes an inbound message of the one before.`,
  },
  {
    file: 'sql/messages/person/join_people.sql',
    find: '  where i.org_id = p_org_id and i.value = p_value;',
    replace: '  where i.value = p_value;',
    tests: ['sql/organisations/shared.test.sql'],
    why: 'Two organisations share a person.',
  },
  {
    file: 'sql/messages/send/channel_failure.sql',
    find: `and f.scope in ('app', 'account')`,
    replace: '',
    tests: ['sql/organisations/shared.test.sql'],
    why: `One number's throttle slows the whole account.`,
  },
  {
    file: 'sql/messages/send/channel_failure.sql',
    find: `where r.endpoint = v_id and r.outcome = 'failed'`,
    replace: `where r.outcome = 'failed'`,
    tests: ['sql/organisations/shared.test.sql'],
    why: `One channel's failure holds another.`,
  },
  {
    file: 'sql/endpoints/endpoint.sql',
    find: '(old.id, old.org_id, old.kind) is distinct from (new.id, new.org_id, new.kind)',
    replace: '(old.id, old.kind) is distinct from (new.id, new.kind)',
    tests: ['sql/endpoints/create_endpoint/kept.test.sql'],
    why: 'An endpoint with another organisation gets the events of the first one.',
  },
  {
    file: 'sql/api/secrets.sql',
    find: `  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform from outbox.endpoint_secret s`,
    replace: '  perform from outbox.endpoint_secret s',
    tests: ['sql/api/api_endpoints/orgs.test.sql'],
    why: 'The error for an endpoint of another organisation tells whether it has a secret.',
  },
]
