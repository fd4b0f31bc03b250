/**
 * Each promise of README, and the tests that keep it. A promise is an item of its lists of
 * guarantees and limits.
 */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'

/** A test file below tests/, and a part of the name of a test (in SQL: of an assertion) in it. */
type Kept = [file: string, test: string]

const promises: Record<string, Kept[]> = {
  'An event is stored in the same transaction as your change. Both exist, or neither.': [
    ['e2e/delivery_publish.test.ts', 'publish() in a transaction arrives once it commits, and not'],
    ['e2e/delivery_publish.test.ts', 'publish() in a transaction that rolls back leaves nothing'],
    ['e2e/delivery_publish.test.ts', 'publish() in a savepoint that rolls back leaves nothing'],
  ],
  'Every subscribed endpoint gets every event at least once, always with the same `webhook-id`.': [
    ['e2e/delivery_lost.test.ts', 'killed after the answer, before the result, comes again'],
    ['e2e/delivery_lost.test.ts', 'an event whose kick is lost is delivered by the tick'],
    ['concurrency/publishers.test.ts', 'gives each of some thousand events one delivery'],
  ],
  'Every attempt is recorded: its time, its endpoint, the response and the duration.': [
    ['sql/engine/complete/outcomes.test.sql', 'its attempt says of which endpoint it is, and how'],
    ['sql/engine/complete/outcomes.test.sql', 'its attempt says why, and when the next try is'],
    ['sql/engine/complete/retries.test.sql', 'there are six attempts and a closing row'],
  ],
  'A failed attempt is retried on a schedule. If no retry is left, the delivery becomes a dead letter. It is stored with its body, so you can inspect and replay it. Nothing is dropped silently.':
    [
      ['sql/engine/complete/retries.test.sql', 'there are six attempts and a closing row'],
      ['sql/engine/complete/retries.test.sql', 'the dead letter holds the message, the error'],
      ['sql/operations/replay/dead_letter.test.sql', 'opens it again'],
      ['sql/operations/replay/dead_letter.test.sql', 'it is the same event to the byte'],
      ['concurrency/isolation.test.ts', 'dispatch() delivers to all others when'],
      ['e2e/isolation.test.ts', 'is sent three times and set aside, and the worker goes on'],
      [
        'sql/time/tick/one_bad_member.test.sql',
        'a job skips a dead letter that cannot be replayed',
      ],
    ],
  'Order is guaranteed where you request it: for each endpoint or for each partition key.': [
    ['e2e/delivery_worker.test.ts', 'the order that a killed worker was sending goes on after'],
    ['sql/engine/claim/ordered.test.sql', 'an endpoint in order gives out its first rows'],
    ['sql/engine/claim/ordered.test.sql', 'then it goes on with the failed row, in order'],
    ['sql/engine/states/order_kept.test.sql', 'for each key the last attempts follow the order'],
    ['concurrency/publishers.test.ts', 'one delivery, in order, beside late and failed publishers'],
    ['e2e/api_sagas.test.ts', 'whose events arrive in their order'],
    ['sql/engine/route/clock_set_back.test.sql', 'a key is claimed in this order'],
  ],
  'A slow or broken receiver does not delay other receivers.': [
    ['e2e/isolation.test.ts', 'One slow or broken receiver delays nobody else'],
    [
      'e2e/run_limits.test.ts',
      'an endpoint that hangs with all it may have in flight delays nobody',
    ],
    ['concurrency/every_error.test.ts', 'a worker delivers to all others while'],
  ],
  'Bodies arrive byte for byte as stored, signed by [Standard Webhooks](https://www.standardwebhooks.com).':
    [
      ['e2e/delivery_wire.test.ts', 'publish_raw() sends its bytes unchanged on every try'],
      ['e2e/delivery_wire.test.ts', 'a webhook carries exactly the headers that are promised'],
      ['sql/schema/session_settings.test.sql', 'a body; a deliver_at without a zone'],
    ],
  'Publishers wait for each other only if they use the same idempotency key.': [
    ['concurrency/idempotency.test.ts', 'waits for an open transaction with its key alone'],
    [
      'concurrency/idempotency.test.ts',
      'publishers without a common idempotency key wait for nobody',
    ],
  ],
  'A delivery that fails cannot fail your transaction.': [
    ['sql/engine/kick/never_fails.test.sql', 'the function is missing'],
    ['sql/engine/kick/never_fails.test.sql', 'the disk is full'],
    ['sql/engine/kick/never_fails.test.sql', 'publish() returns an id'],
    ['sql/engine/kick/never_fails.test.sql', 'the event is stored'],
  ],
  'Delivery exactly once, which is impossible over a network. If a response is lost, the event is redelivered with the same id. A receiver stores the ids of processed events and skips a repeat.':
    [
      ['e2e/delivery_lost.test.ts', 'killed after the answer, before the result, comes again'],
      ['concurrency/inbox.test.ts', 'accept_once()'],
    ],
  'Order that you did not request. Transactions that overlap have no order at all.': [
    ['concurrency/publishers.test.ts', 'beside late and failed publishers'],
  ],
  'Delivery to later subscribers. An event goes to the endpoints subscribed at the time of publishing.':
    [
      [
        'sql/engine/route/targets.test.sql',
        'an event does not go to a subscription that is younger',
      ],
      [
        'sql/engine/route/targets.test.sql',
        'an event goes to a subscription of the same moment',
      ],
    ],
}

/** The items of the two lists of README, each as one line. */
async function readPromises(): Promise<string[]> {
  const text = await Deno.readTextFile(join(projectRoot, 'README.md'))
  const lists = [
    ...text.matchAll(
      /^\*\*What (?:Outhook guarantees|it does not guarantee)\*\*\n\n((?:- .*\n(?: {2}.*\n)*)+)/gm,
    ),
  ]
  return lists.flatMap(([, list = '']) =>
    list.split(/^- /m).map((item) => item.replace(/\s+/g, ' ').trim()).filter((item) => item !== '')
  )
}

/** The names of the tests of a file; of a SQL file all its texts, which include those. */
function testNames(file: string, text: string): string[] {
  const named = file.endsWith('.sql')
    ? text.matchAll(/'((?:[^'\n]|'')*)'/g)
    : text.matchAll(/(?:Deno\.test|t\.step)\(\s*(?:'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`)/g)
  return [...named].map(([, ...names]) => names.find((name) => name !== undefined) ?? '')
}

Deno.test('README has two lists of promises', async () => {
  expect((await readPromises()).length).toBeGreaterThan(10)
})

Deno.test('each promise of README names its tests, and no test keeps a promise that README has not', async () => {
  expect((await readPromises()).sort()).toEqual(Object.keys(promises).sort())
})

for (const [promise, kept] of Object.entries(promises)) {
  Deno.test(`README: ${promise}`, async () => {
    expect(kept.length).toBeGreaterThan(0)
    for (const [file, test] of kept) {
      const text = await Deno.readTextFile(join(projectRoot, 'tests', file))
      const isThere = testNames(file, text).some((name) => name.includes(test))
      expect([file, test, isThere]).toEqual([file, test, true])
    }
  })
}
