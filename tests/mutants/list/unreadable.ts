import type { Mutant } from '../mutant.ts'

export const unreadable: readonly Mutant[] = [
  {
    file: 'sql/endpoints/secret.sql',
    find: 'if v_missing > 0 then',
    replace: 'if false then',
    tests: ['sql/endpoints/unreadable/held.test.sql'],
    why: 'A request goes out without a signature.',
  },
  {
    file: 'sql/endpoints/unreadable.sql',
    find: `where e.id = p_endpoint_id and e.status = 'enabled'`,
    replace: 'where e.id = p_endpoint_id',
    tests: ['sql/endpoints/unreadable/held.test.sql'],
    why: 'The reason of a pause by hand is overwritten, and a rotation resumes the endpoint.',
  },
  {
    file: 'sql/endpoints/unreadable.sql',
    find: `  perform outbox.announce('outhook.endpoint.held', array[p_endpoint_id]);
`,
    replace: '',
    tests: ['sql/endpoints/unreadable/held.test.sql'],
    why: 'Nobody is told that an endpoint is held.',
  },
  {
    file: 'sql/endpoints/unreadable.sql',
    find: ` and e.status_reason like 'unreadable: %')
  then
    return;`,
    replace: `)
  then
    return;`,
    tests: ['sql/endpoints/unreadable/held.test.sql'],
    why: 'A rotation resumes what a person has paused.',
  },
  {
    file: 'sql/endpoints/unreadable.sql',
    find: '  if v_why is not null then',
    replace: '  if false then',
    tests: ['sql/endpoints/unreadable/held.test.sql'],
    why: 'An endpoint is served again while its headers still cannot be read.',
  },
  {
    file: 'sql/endpoints/unreadable.sql',
    find: `    perform outbox.announce('outhook.endpoint.released', array[p_endpoint_id]);
`,
    replace: '',
    tests: ['sql/endpoints/unreadable/held.test.sql'],
    why: 'Nobody is told that an endpoint is served again.',
  },
  {
    file: 'sql/endpoints/unreadable.sql',
    find: '    and outbox.try_read(s.vault_id) is null;',
    replace: '    and false;',
    tests: ['concurrency/unreadable.test.ts#a replaced secret'],
    why: 'A replaced secret that cannot be decrypted holds its endpoint.',
  },
  {
    file: 'sql/endpoints/unreadable.sql',
    find: '    and outbox.try_read(s.vault_id) is null;',
    replace: ';',
    tests: ['sql/endpoints/unreadable/held.test.sql'],
    why: 'A rotation ends at once for all endpoints that are claimed beside an unreadable one.',
  },
  {
    file: 'sql/endpoints/unreadable.sql',
    find: `    union all
    select m.vault_id, m.what, m.remedy from outbox.more_secrets(p_endpoint_id) m
`,
    replace: '',
    tests: ['concurrency/message_isolation.test.ts#a channel whose token cannot be read'],
    why: 'The hold of a channel does not say what to do.',
  },
  {
    file: 'sql/endpoints/vault.sql',
    find: 'if outbox.fails_call(sqlstate) then',
    replace: 'if outbox.is_passing(sqlstate) then',
    tests: ['concurrency/unreadable.test.ts#fails with 40P01 each time'],
    why: 'A secret that fails with a deadlock each time cannot be replaced.',
  },
  {
    file: 'sql/endpoints/secret_rotation.sql',
    find: '  perform outbox.refuse_unreadable(p_endpoint_id);',
    replace: '',
    tests: ['concurrency/unreadable.test.ts#fails with 40P01 each time'],
    why: 'A secret that fails with a deadlock each time cannot be rotated.',
  },
  {
    file: 'sql/endpoints/unreadable.sql',
    find: 'if v_hold is not null then',
    replace: 'if false then',
    tests: ['sql/messages/unreadable/channel.test.sql'],
    why: 'A new token sends from a channel that WhatsApp has blocked meanwhile.',
  },
  {
    file: 'sql/engine/claim/batch.sql',
    find: `  if not v_held then
    perform outbox.refuse_endpoint`,
    replace: `  if false then
    perform outbox.refuse_endpoint`,
    tests: [
      'concurrency/unreadable.test.ts#an unreadable secret holds its endpoint even while its row',
    ],
    why: 'Each call claims in vain from an endpoint that somebody is changing.',
  },
  {
    file: 'sql/engine/claim/batch.sql',
    find: `if not v_held then`,
    replace: `if true then`,
    tests: ['sql/endpoints/unreadable/held.test.sql'],
    why: 'An endpoint waits on after its secret was set again.',
  },
]
