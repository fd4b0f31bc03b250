/** People who are joined, and their wishes, by several sessions at once. */

import { expect } from '@std/expect'
import { deadlocks, expectWaitsFor } from './_support/checks.ts'
import { type Call, cross, outcomeOf } from './_support/crossing_calls.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { Run } from './_support/dispatch.ts'
import { addChannels, addMessage, refused, take, taken } from './_support/messages.ts'
import { newSeed, Random } from './_support/random.ts'

let db: OutboxDatabase
let one: Session
let other: Session
let more: Session[]

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
  more = await Promise.all([db.open(), db.open()])
})
Deno.test.beforeEach(async () => {
  await db.reset()
  await addChannels(db.admin)
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

const number = '+541112867091'
const user = 'US.1'

function join(...identifiers: string[]): Call {
  return [
    `select outbox.save_person('default', $1::text[], outbox.clock()) is not null as joined`,
    [
      `{${identifiers.join(',')}}`,
    ],
  ]
}

function optOut(recipient: string): Call {
  return [
    `select outbox.change_opt_out('default', $1, 'ALL', true, 'test') -> 'isNew' as "isNew"`,
    [
      recipient,
    ],
  ]
}

/** Each person, with all identifiers and whether there is an opt-out. */
async function people(): Promise<unknown[]> {
  return [
    ...await db.admin`
      select (select string_agg(i.value, ' ' order by i.value) from outbox.person_identifier i
          where i.person_id = p.id) as names,
        exists (select from outbox.opt_out o where o.person_id = p.id and not o.lifted) as out
      from outbox.person p order by 1`,
  ]
}

Deno.test('save_person() joins two people once when two sessions join them in opposite orders', async () => {
  await db.admin.unsafe(...join(number))
  await db.admin.unsafe(...join(user))
  const before = await deadlocks(db.admin)
  expect(await cross(db, { one, other, first: join(number, user), second: join(user, number) }))
    .toEqual({ joined: true })
  expect(await people()).toEqual([{ names: `${number} ${user}`, out: false }])
  expect(await deadlocks(db.admin)).toBe(before)
})

Deno.test('save_person() creates one person when two sessions name the same new identifiers', async () => {
  const outcome = await cross(db, {
    one,
    other,
    first: join(number, user),
    second: join(user, number),
  })
  expect(outcome).toEqual({ joined: true })
  expect(await people()).toEqual([{ names: `${number} ${user}`, out: false }])
})

for (
  const [what, first, second] of [
    ['change_opt_out() of the joined person waits for a join', join(number, user), optOut(user)],
    ['change_opt_out() of the other person waits for a join', join(number, user), optOut(number)],
    [
      'save_person() waits for an opt-out of the one that is joined',
      optOut(user),
      join(number, user),
    ],
    [
      'save_person() waits for an opt-out of the one that stays',
      optOut(number),
      join(number, user),
    ],
  ] as const
) {
  Deno.test(`${what}, and the opt-out holds for both`, async () => {
    await db.admin.unsafe(...join(number))
    await db.admin.unsafe(...join(user))
    const outcome = await cross(db, { one, other, first, second })
    expect(typeof outcome).toBe('object')
    expect(await people()).toEqual([{ names: `${number} ${user}`, out: true }])
  })
}

Deno.test('part_person() waits for an opt-out, and both people keep it', async () => {
  await db.admin.unsafe(...join(number, user))
  await cross(db, {
    one,
    other,
    first: optOut(user),
    second: [`select outbox.part_person('default', array[$1]) is not null as parted`, [number]],
  })
  expect(await people()).toEqual([{ names: number, out: true }, { names: user, out: true }])
})

Deno.test('a join that waits for a part does not deadlock with a join that comes after it', async () => {
  const [three, four] = more
  if (three === undefined || four === undefined) throw new Error('four sessions are needed')
  const friend = 'US.9'
  await db.admin.unsafe(...join(friend))
  await db.admin.unsafe(...join(number, user))
  const before = await deadlocks(db.admin)
  await four.sql`begin`
  await four.sql`
    select from outbox.person p where p.id = outbox.find_person('default', ${friend}) for update`
  await one.sql`begin`
  await one.sql`select outbox.part_person('default', array[${number}])`
  // Waits for the person that is parted, then for the friend, and then needs the parted number.
  const waiting = outcomeOf(other, join(number, friend))
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  await expectWaitsFor(db.admin, other, four)
  const later = outcomeOf(three, join(number, user))
  await expectWaitsFor(db.admin, three, other)
  await four.sql`rollback`
  expect([await waiting, await later]).toEqual([{ joined: true }, { joined: true }])
  expect(await people()).toEqual([{ names: `${number} ${user} ${friend}`, out: false }])
  expect(await deadlocks(db.admin)).toBe(before)
})

Deno.test('dispatch() locks the people of all results before it changes one', async () => {
  const recipients = ['+12025550101', '+12025550102']
  for (const recipient of recipients) await db.admin.unsafe(...join(recipient))
  const messages = await Promise.all(recipients.map((to) => addMessage(db.admin, { to })))
  const run = new Run(one.sql)
  await run.call()
  const { deliveries } = await run.call([], 2)
  const [linked, optedOut] = messages.map(({ event }) =>
    deliveries.find((delivery) => delivery.event === event)
  )
  if (linked === undefined || optedOut === undefined) throw new Error('both must be claimed')
  const holds = (recipient?: string): Call => [
    `select from outbox.person p where p.id = outbox.find_person('default', $1) for update nowait`,
    [recipient ?? null],
  ]
  await other.sql`begin`
  await other.sql.unsafe(...holds(recipients[0]))
  const done = run.call([
    { ...taken(linked), provider: { user_id: user } },
    refused(optedOut, '131050'),
  ])
  await expectWaitsFor(db.admin, one, other)
  // The person with the higher id is held, while the one with the lower id is waited for.
  const [third] = more
  if (third === undefined) throw new Error('a third session is needed')
  expect(await outcomeOf(third, holds(recipients[1]))).toBe('55P03')
  await other.sql`commit`
  expect(await done).toMatchObject({ applied: 2, error: null })
  expect(await people()).toEqual([
    { names: `${recipients[0]} ${user}`, out: false },
    { names: recipients[1], out: true },
  ])
})

Deno.test('dispatch() waits for no join, and refuses the next message of the joined person', async () => {
  await db.admin.unsafe(...join(number))
  await db.admin.unsafe(...optOut(user))
  const run = new Run(other.sql)
  const [before] = await db.admin`select outbox.create_message('default', ${number}, ${
    db.admin.json({ parameters: [] })
  }, 'reminder') as answer`
  await one.sql`begin`
  await one.sql.unsafe(...join(number, user))
  await other.sql`set lock_timeout = '1ms'`
  const taken = await take(run)
  await other.sql`reset lock_timeout`
  await one.sql`commit`
  expect(taken.attempt).toBe(1)
  expect(before?.answer.outcome).toBe('created')
  const [after] = await db.admin`select outbox.create_message('default', ${number}, ${
    db.admin.json({ parameters: [] })
  }, 'reminder') as answer`
  expect(after?.answer.code).toBe('opted_out')
})

Deno.test('save_person() waits for no claim', async () => {
  await db.admin.unsafe(...join(number))
  await addMessage(db.admin, { to: number })
  await one.sql`begin`
  await take(new Run(one.sql))
  await other.sql`set lock_timeout = '1ms'`
  const [row] = await other.sql.unsafe(...join(number, user))
  await other.sql`reset lock_timeout`
  await one.sql`commit`
  expect(row).toEqual({ joined: true })
})

Deno.test('save_person() and change_opt_out() lose no wish and do not deadlock in any order', async () => {
  const seed = newSeed()
  const random = new Random(seed)
  const before = await deadlocks(db.admin)
  const names = Array.from({ length: 12 }, (_, n) => n % 2 === 0 ? `+1202555010${n}` : `US.${n}`)
  const links = names.slice(1).map((name, n): Call => join(names[n] ?? name, name))
  const wishes = [names[0], names[5], names[11]].map((name): Call => optOut(name ?? number))
  for (let round = 0; round < 5; round += 1) {
    await db.admin`delete from outbox.opt_out`
    await db.admin`delete from outbox.person_identifier`
    await db.admin`delete from outbox.person`
    await Promise.all([one, other, ...more].map(async ({ sql }) => {
      for (const [statement, values] of random.shuffled([...links, ...wishes])) {
        await sql.unsafe(statement, values)
      }
    }))
    expect({ seed, people: await people() }).toEqual({
      seed,
      people: [{ names: names.toSorted().join(' '), out: true }],
    })
  }
  expect(await deadlocks(db.admin)).toBe(before)
})

Deno.test('erase_people() passes over a person that another session holds, and erases it after that', async () => {
  await db.admin.unsafe(...optOut(number))
  await db.admin`update outbox.person set last_seen_at = '2020-01-01'`
  const erased = async (): Promise<unknown> =>
    (await db.admin`select erased_at is not null as erased from outbox.person`)[0]?.erased
  const erase = 'select outbox.erase_people(outbox.clock(), 10)'
  await one.sql`begin`
  await one.sql`select from outbox.person for update`
  await other.sql`set lock_timeout = '1ms'`
  await other.sql.unsafe(erase)
  await other.sql`reset lock_timeout`
  await one.sql`rollback`
  expect(await erased()).toBe(false)
  await other.sql.unsafe(erase)
  expect(await erased()).toBe(true)
  // The same of one that has no opt-out any more.
  await db.admin`delete from outbox.opt_out`
  await one.sql`begin`
  await one.sql`select from outbox.person for update`
  await other.sql`set lock_timeout = '1ms'`
  await other.sql.unsafe(erase)
  await other.sql`reset lock_timeout`
  await one.sql`rollback`
  expect(await people()).toHaveLength(1)
  await other.sql.unsafe(erase)
  expect(await people()).toHaveLength(0)
})
