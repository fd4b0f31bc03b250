import type { Mutant } from '../mutant.ts'

export const into: readonly Mutant[] = [
  {
    file: 'consumer/into/routes.ts',
    find: 'entries.get(org) ?? (',
    replace: '(',
    tests: ['consumer/into/routes.test.ts'],
    why: 'An organisation that was moved by hand gets its events in its old database.',
  },
  {
    file: 'consumer/into/routes.ts',
    find: '`${name}\\n${key}`',
    replace: '`${names.length}${name}\\n${key}`',
    tests: ['consumer/into/routes.test.ts'],
    why: 'A further database moves organisations between the others.',
  },
  {
    file: 'consumer/into/event.ts',
    find: 'json.id === id && ',
    replace: '',
    tests: ['consumer/into/event.test.ts'],
    why: 'A payload that looks like an envelope loses all but its data.',
  },
  {
    file: 'consumer/into/event.ts',
    find: 'key === null ? null : decoded(key)',
    replace: 'key',
    tests: ['consumer/into/event.test.ts'],
    why: 'Keys arrive percent-encoded.',
  },
  {
    file: 'consumer/into/batch.ts',
    find: 'at++)',
    replace: 'at)',
    tests: ['consumer/into/batch.test.ts'],
    why: 'All of a batch get the outcome of its first event.',
  },
  {
    file: 'consumer/into/batch.ts',
    find: "if (taken.kind !== 'unavailable') return taken\n",
    replace: 'return taken as never\n',
    tests: ['consumer/into/batch.test.ts'],
    why: 'A database that is away for a moment costs a batch.',
  },
  {
    file: 'consumer/into/databases.ts',
    find: 'other.name === name || other.url === own',
    replace: 'other.name === name',
    tests: ['consumer/into/databases.test.ts'],
    why: 'Two names of one database are taken for two.',
  },
  {
    file: 'sql/inbox/take_events.sql',
    find: 'i.event_id = any (v_new)',
    replace: 'i.event_id is null',
    tests: ['sql/inbox/take_events/cases.test.sql'],
    why: 'A refused event is known when it comes again from the dead letters.',
  },
  {
    file: 'sql/inbox/take_events.sql',
    find: `      v_new := pg_catalog.array_remove(v_new, v_event ->> 'id');
      perform outbox.take_event(`,
    replace: '      perform outbox.take_event(',
    tests: ['sql/inbox/take_events/cases.test.sql'],
    why: 'An event that comes twice in one batch is published twice.',
  },
  {
    file: 'sql/events/carried_event.sql',
    find: 'outbox.check_event(p_event)',
    replace: 'p_event.id',
    tests: ['sql/inbox/take_events/cases.test.sql'],
    why: 'An invalid event is stored.',
  },
  {
    file: 'functions/_shared/senders/broker/record.ts',
    find: '  headers[orgHeader] = headerValue(event.org_id)\n',
    replace: '',
    tests: ['functions/_shared/senders/broker/record.test.ts'],
    why: 'Nobody can tell to which database a message belongs.',
  },
  {
    file: 'consumer/into/routes.ts',
    find: '      own = value\n',
    replace: '',
    tests: ['consumer/into/routes.test.ts'],
    why: 'A database that is added takes organisations over whose endpoints are elsewhere.',
  },
]
