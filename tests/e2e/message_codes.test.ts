/**
 * Every answer that WhatsApp is known to give, through the sender and the rules of failure: what
 * becomes of the message, its number, its recipient, its account and its app.
 */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs, startOuthook } from '../_support/outhook.ts'
import { startWorker } from '../_support/worker_process.ts'
import type { GraphFault } from '../../supabase/local/whatsapp/errors.ts'
import { startGraph, type Turn } from '../../supabase/local/whatsapp/graph.ts'

/** What an answer leads to, in seconds where something waits. */
type Meaning = {
  message: 'FAILED' | 'QUEUED'
  /** Until the message's next try. */
  retry?: number
  channel?: 'held'
  number?: number
  account?: number
  app?: number
  optOut?: 'MARKETING' | 'ALL'
}

const fails: Meaning = { message: 'FAILED' }
const held: Meaning = { message: 'QUEUED', retry: 0, channel: 'held' }
const retried = (retry = 60): Meaning => ({ message: 'QUEUED', retry })
const slowed = (
  scope: 'number' | 'account' | 'app',
  seconds: number,
): Meaning => ({
  ...retried(Math.max(60, seconds)),
  number: seconds,
  ...scope === 'number' ? {} : { [scope]: seconds },
})

const minute = 60
const hour = 3600
const fault = (code: number, more: Partial<GraphFault> = {}): Turn => ({
  kind: 'refuse',
  fault: { code, ...more },
})
const faults = (status: number, ...codes: number[]): Turn[] =>
  codes.map((code) => fault(code, { status }))
const usage = (minutes: number): string[] => [
  'x-business-use-case-usage: ' + JSON.stringify({
    '9': [{ type: 'messaging', call_count: 100, estimated_time_to_regain_access: minutes }],
  }),
]
const groups = [131020, 131041, 131059, 131201, 131207, 131209, 131215]

/** The codes of Meta's table, with the status that each is known to come with. */
const table: [Meaning, Turn[]][] = [
  // The specification's five: never retried.
  [fails, faults(400, 131047, 133006)],
  [fails, faults(500, 133000)],
  [fails, [fault(133004, { status: 503 })]],
  [{ ...fails, channel: 'held' }, faults(403, 131031)],
  // The message is wrong, or its recipient.
  [fails, faults(400, 100, 130472, 131008, 131009, 131021, 131026, 131030, 131049, 131051)],
  [fails, faults(400, 131001, 131002, 131006, 131014, 131043, 131052, 131055, 131058, 131060)],
  [fails, faults(400, 131062, 131063, 130501, 133005, 133008, 133009, 136025, 137000, 135000)],
  [fails, faults(400, 132000, 132005, 132007, 132008, 132012, 132015, 132016, 132018, 132068)],
  [fails, faults(400, 134100, ...groups)],
  [fails, [fault(132001, { status: 404 }), fault(130497, { status: 403 })]],
  [{ ...fails, optOut: 'ALL' }, faults(400, 130403)],
  [{ ...fails, optOut: 'MARKETING' }, faults(400, 131050)],
  // The account or its token is at fault, and no message.
  [held, faults(401, 0, 104, 190)],
  [held, faults(403, 10, 131005, 200, 250, 299, 368)],
  [held, faults(400, 33, 131037, 131042, 131064, 133010, 134011, 134102)],
  [held, faults(500, 3, 131045)],
  [held, [fault(100, { status: 400, subcode: 33 })]],
  // It passes.
  [retried(), [...faults(400, 1), ...faults(503, 2), ...faults(500, 131000, 131016)]],
  [retried(5 * minute), faults(400, 131053, 133015)],
  [retried(10 * minute), faults(400, 134101)],
  [retried(hour), faults(400, 132069)],
  [retried(), faults(400, 999_999)],
  [retried(), [502, 500, 404, 408, 302].map((status): Turn => ({ kind: 'gateway', status }))],
  // Too fast: a recipient, whose lane waits for the retry by itself; a number; an account; an app.
  [retried(), [...faults(400, 131056), ...faults(403, 131056), ...faults(429, 131056)]],
  [slowed('number', 10), [...faults(400, 130429), ...faults(429, 130429)]],
  [slowed('number', 10), [{ kind: 'gateway', status: 429 }]],
  [slowed('number', 120), [fault(130429, { headers: ['retry-after: 120'] })]],
  [slowed('number', minute), [...faults(500, 131057), ...faults(400, 131208)]],
  [slowed('number', 5 * minute), faults(400, 2_494_100)],
  [slowed('number', hour), faults(400, 131048, 133016)],
  [slowed('account', 15 * minute), faults(400, 80007, 80008)],
  [slowed('account', 20 * minute), [fault(80007, { headers: usage(20) })]],
  [slowed('app', 15 * minute), faults(400, 4, 17, 32, 341, 613)],
  [slowed('app', 30 * minute), [fault(4, { headers: usage(30) })]],
  // Meta's own word counts, save for the five.
  [retried(), [fault(100, { isTransient: true }), fault(190, { isTransient: true, status: 401 })]],
  [retried(), [fault(131026, { isTransient: true })]],
  [fails, [fault(131047, { isTransient: true }), fault(133004, { isTransient: true })]],
]

/** One call of the test, and what it must lead to. */
type Case = { name: string; turn: Turn; meaning: Meaning }

function nameOf(turn: Turn): string {
  if (turn.kind === 'gateway') return `a page with ${turn.status}`
  if (turn.kind !== 'refuse') throw new Error(`no case is ${turn.kind}`)
  const { code, subcode, status = 400, isTransient, headers } = turn.fault
  return [
    subcode === undefined ? code : `${code}.${subcode}`,
    `(${status})`,
    ...isTransient ? ['transient'] : [],
    ...headers === undefined ? [] : [headers[0]?.split(':')[0]],
  ].join(' ')
}

const cases: Case[] = table.flatMap(([meaning, turns]) =>
  turns.map((turn) => ({ name: nameOf(turn), turn, meaning }))
)

function inOrder(meaning: Record<string, unknown> = {}): string {
  return JSON.stringify(meaning, Object.keys(meaning).sort())
}

/** Without what is absent. */
function present(meaning: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(meaning).filter(([, value]) => value !== null))
}

Deno.test('each answer of WhatsApp leads to what its rule says', async () => {
  const outhook = await startOuthook({ functions: [] })
  const numberOf = (n: number): string => String(100_000 + n)
  const graph = startGraph({
    numbers: Object.fromEntries(cases.map((_, n) => [numberOf(n), { token: 'token' }])),
    turn: (_body, number) => cases[Number(number) - 100_000]?.turn ?? { kind: 'take' },
  })
  try {
    const { sql } = outhook
    // Each case has a number of its own, one more under its app, and one more of its account.
    await sql`
      select outbox.set_setting('whatsapp.graph_url', to_jsonb(${graph.url}::text)),
        outbox.put_template('org-a', 'hello', 'hello', 'fr', 'MARKETING')`
    await sql`
      select outbox.put_whatsapp_app(a || n::text, 'secret')
      from generate_series(0, ${cases.length - 1}) n, unnest('{7,8}'::text[]) a`
    await sql`
      select outbox.create_channel('org-a', (s.first + n)::text, s.account || n, s.app || n, 'token')
      from generate_series(0, ${cases.length - 1}) n,
        (values (100000, '1', '7'), (200000, '2', '7'), (300000, '1', '8')) s (first, account, app)`
    await sql`
      select outbox.create_message('org-a', '+1202555' || (1000 + n), '{}', 'hello',
        p_channel_id => w.endpoint_id, p_idempotency_key => n::text)
      from generate_series(0, ${cases.length - 1}) n
      join outbox.whatsapp_channel w on w.phone_number_id = (100000 + n)::text`
    const worker = startWorker(outhook.stack.adminDbUrl)
    const isDone = async (): Promise<boolean> => {
      const [row] = await sql`
        select count(*)::int as left from outbox.outbound_message m
        where not exists (
          select from outbox.message_attempt a where a.message_id = m.id and a.status = 'FAILED')`
      return row?.left === 0
    }
    expect(await waitUntil(isDone, { timeoutMs: patienceMs, everyMs: 100 })).toBe(true)
    worker.kill('SIGTERM')
    await worker.ended
    const rows = await sql`
      select m.idempotency_key::int as n, m.status as message, a.error_code,
        extract(epoch from a.next_retry_at - a.updated_at)::int as retry,
        case when e.status = 'paused' then 'held' end as channel,
        (select extract(epoch from g.not_before - a.updated_at)::int from outbox.gate g
          where g.endpoint_id = w.endpoint_id and isfinite(g.not_before)) as number,
        (select extract(epoch from g.not_before - a.updated_at)::int
          from outbox.whatsapp_channel o join outbox.gate g using (endpoint_id)
          where o.app_id = w.app_id and o.endpoint_id <> w.endpoint_id
            and isfinite(g.not_before)) as app,
        (select extract(epoch from g.not_before - a.updated_at)::int
          from outbox.whatsapp_channel o join outbox.gate g using (endpoint_id)
          where o.waba_id = w.waba_id and o.endpoint_id <> w.endpoint_id
            and isfinite(g.not_before)) as account,
        (select o.purpose from outbox.opt_out o
          where o.person_id = outbox.find_person(m.org_id, m.to_recipient)) as "optOut"
      from outbox.outbound_message m
      join outbox.message_attempt a on a.message_id = m.id
      join outbox.endpoint e on e.id = m.channel_id
      join outbox.whatsapp_channel w on w.endpoint_id = m.channel_id
      order by 1`
    const found = rows.map(({ n: _n, error_code: _code, ...row }) => present(row))
    const wrong = cases.flatMap(({ name, meaning }, n) =>
      inOrder(found[n]) === inOrder(meaning)
        ? []
        : [`${name}: ${inOrder(found[n])}, not ${inOrder(meaning)}`]
    )
    expect(wrong).toEqual([])
  } finally {
    await graph.close()
    await outhook.stop()
  }
})
