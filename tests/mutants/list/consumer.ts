import type { Mutant } from '../mutant.ts'

export const consumer: readonly Mutant[] = [
  {
    file: 'consumer/schedule.ts',
    find: '2 ** (attempt - 1)',
    replace: '2 ** attempt',
    tests: ['consumer/schedule.test.ts'],
    why: 'Each wait is twice as long as said.',
  },
  {
    file: 'consumer/schedule.ts',
    find: 'mostAttempts = 6',
    replace: 'mostAttempts = 5',
    tests: ['consumer/process.test.ts'],
    why: 'A message is given up one try early.',
  },
  {
    file: 'consumer/http_handler.ts',
    find: '[408, 425, 429].includes(status)',
    replace: '[408, 425].includes(status)',
    tests: ['consumer/http_handler.test.ts'],
    why: 'A handler that asks to wait loses the message.',
  },
  {
    file: 'consumer/http_handler.ts',
    find: `redirect: 'manual',`,
    replace: `redirect: 'follow',`,
    tests: ['consumer/http_handler.test.ts'],
    why: 'A message follows a redirect to another host.',
  },
  {
    file: 'consumer/process.ts',
    find: '!await publishUntilDone(dead, deps, stop) || !await reportOnce(dead, deps, stop)',
    replace: '!await reportOnce(dead, deps, stop) || !await publishUntilDone(dead, deps, stop)',
    tests: ['consumer/process.test.ts'],
    why: 'An event tells of a dead letter that does not exist.',
  },
  {
    file: 'consumer/process.ts',
    find: 'if (handled.isFinal || attempt >= mostAttempts) {',
    replace: 'if (attempt >= mostAttempts) {',
    tests: ['consumer/process.test.ts'],
    why: 'What can never succeed holds up its partition for a minute.',
  },
  {
    file: 'consumer/process.ts',
    find: `      await sleep(clock, awayPauseMs, stop)
      continue
`,
    replace: `      await sleep(clock, awayPauseMs, stop)
      attempt++
      continue
`,
    tests: ['consumer/process.test.ts'],
    why: 'A database that is away for a while costs messages.',
  },
  {
    file: 'consumer/inbox.ts',
    find: '/^(08|25006|53|57P|58)/',
    replace: '/^(08|53|57P|58)/',
    tests: ['consumer/inbox.test.ts'],
    why: 'Each message becomes a dead letter while the database is read-only.',
  },
  {
    file: 'consumer/process.ts',
    find: "if (reported.kind === 'failed') refusals++",
    replace: '',
    tests: ['consumer/process.test.ts'],
    why: 'A report that the database refuses stops the partition.',
  },
  {
    file: 'consumer/kafka/replay.ts',
    find: 'if (code === null) throw error',
    replace: 'throw error',
    tests: ['consumer/one_bad_letter.test.ts'],
    why: 'A letter that Kafka refuses ends each replay.',
  },
  {
    file: 'consumer/rabbitmq/replay.ts',
    find: `      publish = await openPublisher(connection)
`,
    replace: '',
    tests: ['consumer/one_bad_letter.test.ts'],
    why: 'After a letter whose exchange is gone, no other is replayed.',
  },
]
