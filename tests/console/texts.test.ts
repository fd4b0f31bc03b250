/** What the page does with texts and numbers, without a browser. */

import { expect } from '@std/expect'
import { changeWords } from '../../console/page/catalogue/change_words.ts'
import { isCut, searchProblem } from '../../console/page/events/search_text.ts'
import { attemptsPath } from '../../console/page/overview/attempts_path.ts'
import { aboutRuns, firstSteps, remedies, remedyOf } from '../../console/page/overview/remedies.ts'
import { fieldOf, isoOf } from '../../console/page/app/moment.ts'
import { changeSql } from '../../console/page/settings/change_sql.ts'
import { inOrder, messageItems } from '../../console/page/messages/history.ts'
import { count, pace, relative, share, span, visible } from '../../console/page/app/format.ts'
import { indent, memberText, tokenize } from '../../console/page/parts/json_text.ts'

const shown = (json: string): string =>
  indent(tokenize(json) ?? []).map(({ text }) => text).join('')

Deno.test('tokenize() keeps numbers, order and repeated keys as they are written', () => {
  expect(shown('{"b":12345678901234567890,"a":1.0e5,"b":[1,{}],"c":[],"d":null}')).toBe(
    `{
  "b": 12345678901234567890,
  "a": 1.0e5,
  "b": [
    1,
    {}
  ],
  "c": [],
  "d": null
}`,
  )
  expect(shown('"a \\" b"')).toBe('"a \\" b"')
  expect(tokenize('{"a": nope}')).toBe(null)
})

Deno.test('memberText() gives a member byte for byte', () => {
  const json =
    '{"id": "1", "deliveries": [{"payload": 1}], "payload" : {"n": 1.00, "s": "}"}, "z": 2}'
  expect(memberText(json, 'payload')).toBe('{"n": 1.00, "s": "}"}')
  expect(memberText(json, 'z')).toBe('2')
  expect(memberText('{"payload":[1,2]}', 'payload')).toBe('[1,2]')
  expect(memberText('{"a\\u0062":"x, y"}', 'ab')).toBe('"x, y"')
  expect(memberText(json, 'none')).toBe(null)
})

Deno.test('visible() writes control characters and those of direction as escapes', () => {
  expect(visible('a\u202eb\u0000c\u2066')).toBe('a\\u202eb\\u0000c\\u2066')
  expect(visible('a\u200bb\u061c\u0085\ufeff')).toBe('a\\u200bb\\u061c\\u0085\\ufeff')
  expect(visible('Grüße, 世界\n\t')).toBe('Grüße, 世界\n\t')
})

Deno.test('spans, shares and numbers are short and never too good', () => {
  expect([340, 1500, 65_000, 3_600_000, 90_000_000].map(span)).toEqual([
    '340 ms',
    '1.5 s',
    '1 min 5 s',
    '1 h',
    '1 d 1 h',
  ])
  expect(share(9999, 10_000)).toBe('99.9 %')
  expect(share(0, 0)).toBe('none')
  expect([count(1, 'event'), count(1200, 'delivery', 'deliveries')]).toEqual([
    '1 event',
    '1,200 deliveries',
  ])
  const now = Date.parse('2026-01-01T00:00:00Z')
  expect(relative('2026-01-01T00:00:20Z', now)).toBe('in 20 s')
  expect(relative('2025-12-31T23:57:00Z', now)).toBe('3 min ago')
})

Deno.test('the SQL that changes a setting has JSON as its value, and names the organisation of an own one', () => {
  expect(changeSql({ name: 'whatsapp.graph_version', value: 'v25.0', own: false }, 'shop'))
    .toBe(`select outbox.set_setting('whatsapp.graph_version', '"v25.0"');`)
  expect(changeSql({ name: 'a.b', value: 7, own: true }, "o'neil"))
    .toBe(`select outbox.set_org_setting('o''neil', 'a.b', '7');`)
})

Deno.test('the history of a person has the statuses of a message in their order, whole seconds or not', () => {
  const message = {
    ...{ id: '1', templateCode: 'reminder', payloadJson: {}, status: 'DELIVERED' },
    ...{ createdAt: '2026-01-01T10:00:00.100Z', sentAt: '2026-01-01T10:00:01.900Z' },
    ...{ deliveredAt: '2026-01-01T10:00:01.000Z', readAt: '2026-01-01T10:00:01.000Z' },
    ...{ updatedAt: '2026-01-01T10:00:02.000Z', errorMessage: null },
  }
  // SAFETY: these are the members that are read.
  const items = inOrder(messageItems([message as Parameters<typeof messageItems>[0][number]]))
  expect(items.map(({ title }) => title.replace('Message reminder: ', '')))
    .toEqual(['read', 'delivered', 'sent', 'created'])
})

Deno.test('changeWords() says what a change of an event type means for a receiver', () => {
  const change = {
    ...{ action: 'CHANGED' as const, description: false, schema: true, more: 0 },
    ...{ otherRules: false, added: [], removed: [], changed: [] },
  }
  expect(changeWords({ ...change, action: 'CREATED' })).toBe('Added to the catalogue')
  expect(changeWords({ ...change, action: 'DELETED' })).toBe('Deleted from the catalogue')
  expect(changeWords(change)).toBe('Changed: other rules of the schema')
  expect(changeWords({ ...change, added: ['a', 'b'], changed: ['c'], more: 1, description: true }))
    .toBe('Changed: added a, b; changed c; and 1 more member; the description')
  expect(changeWords({ ...change, added: ['note'], otherRules: true }))
    .toBe('Changed: added note; other rules of the schema')
})

Deno.test('searchProblem() says how an id, a key or an event type is written', () => {
  const long = 'a'.repeat(129)
  const problems = ['', 'type', 'correlation', 'idempotency'].map((kind) =>
    searchProblem(kind, long)
  )
  expect(problems).toEqual(
    ['An id or a key', 'An event type', 'A correlation id', 'An idempotency key']
      .map((name) => `${name} has up to 128 characters of ASCII, without spaces.`),
  )
  expect(searchProblem('type', 'order paid')).toContain('such as order.paid')
  expect(searchProblem('', 'order-7')).toBe(null)
})

Deno.test('a search that found as many events as it reads says that there are more', () => {
  const events = Array.from({ length: 100 })
  expect(isCut({ events, more: true })).toBe(true)
  expect(isCut({ events, more: false })).toBe(false)
  // More deliveries than it reads, of few events.
  expect(isCut({ events: events.slice(1), more: true })).toBe(false)
})

Deno.test('a number of attempts that was counted only since a time leads to those since then', () => {
  expect(attemptsPath('failed', 'hour', null)).toBe(
    '/events?view=attempts&outcome=failed&span=hour',
  )
  expect(attemptsPath('failed', 'hour', '2026-03-01T11:59:58.000Z')).toBe(
    '/events?view=attempts&outcome=failed&span=hour&since=2026-03-01T11%3A59%3A58.000Z',
  )
})

Deno.test('the problems and the sections of the runbook that the overview knows exist', async () => {
  const runbook = await Deno.readTextFile(new URL('../../sql/ops/RUNBOOK.md', import.meta.url))
  for (const section of [...aboutRuns, 'Nothing moves', 'Falling behind']) {
    expect(runbook).toContain(`\n## ${section}\n`)
  }
  const health = await Deno.readTextFile(
    new URL('../../sql/operations/queue_health.sql', import.meta.url),
  )
  for (const [begins] of remedies) expect(health).toContain(`'${begins}`)
})

async function sqlTexts(folder: URL): Promise<string[]> {
  const texts = []
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) texts.push(...await sqlTexts(new URL(`${name}/`, folder)))
    else if (name.endsWith('.sql')) texts.push(await Deno.readTextFile(new URL(name, folder)))
  }
  return texts
}

Deno.test('each section of the runbook that a problem names has a first step in the console', async () => {
  const runbook = await Deno.readTextFile(new URL('../../sql/ops/RUNBOOK.md', import.meta.url))
  for (const section of Object.keys(firstSteps)) expect(runbook).toContain(`\n## ${section}\n`)
  const named = new Set<string>()
  for (const text of await sqlTexts(new URL('../../sql/', import.meta.url))) {
    // A long text is written in pieces, and a name may be, too.
    for (const [, name = ''] of text.matchAll(/\(runbook: ([^)]+)\)/g)) {
      named.add(name.replace(/'\s*'/, ''))
    }
  }
  expect(named.size).toBeGreaterThan(10)
  for (const section of named) {
    expect([section, Object.hasOwn(firstSteps, section)]).toEqual([section, true])
  }
  expect(remedyOf('the tick does not run: no job (runbook: No tick)')).toEqual({
    what: 'The tick does not run: no job.',
    todo: 'Make pg_cron read its jobs again, and wait a minute: select outbox.reload_jobs(); ' +
      'The runbook has all steps under “No tick”: sql/ops/RUNBOOK.md.',
    to: '/runs',
  })
})

Deno.test('pace() has a number to read, whatever the span', () => {
  expect(pace(3, 86_400)).toBe('3 a day')
  expect(pace(72, 86_400)).toBe('3 an hour')
  expect(pace(1200, 3600)).toBe('0.33 a second')
  expect(pace(0, 3600)).toBe('0 a second')
})

Deno.test('a field for a time is a time of the API in the chosen zone, and back', () => {
  expect(isoOf('2026-03-01T12:30', 'UTC')).toBe('2026-03-01T12:30:00.000Z')
  expect(fieldOf('2026-03-01T12:30:00.000Z', 'UTC')).toBe('2026-03-01T12:30')
  const local = isoOf('2026-03-01T12:30', 'local')
  expect(local).toBe(new Date(2026, 2, 1, 12, 30).toISOString())
  expect(fieldOf(local, 'local')).toBe('2026-03-01T12:30')
  expect([isoOf('', 'UTC'), isoOf('', 'local'), isoOf('soon', 'UTC')]).toEqual([null, null, null])
  expect([fieldOf(null, 'UTC'), fieldOf('soon', 'local')]).toEqual(['', ''])
})
