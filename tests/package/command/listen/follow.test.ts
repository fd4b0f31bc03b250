import { expect } from '@std/expect'
import { ApiError, type Client } from '../../../../package/client/mod.ts'
import type { ListedEvent } from '../../../../package/command/listen/feed.ts'
import { follow, type Session, type Wanted } from '../../../../package/command/listen/follow.ts'
import type { FullEvent } from '../../../../package/command/listen/payloads.ts'
import type { Report } from '../../../../package/command/listen/report.ts'

const start = Date.parse('2026-01-01T00:00:00Z')

interface Listener {
  /** What the report was told, and the pauses. */
  said: string[]
  run(wanted?: Partial<Wanted>): Promise<void>
  add(id: string, more?: Partial<ListedEvent>): void
  /** Called at each pause, with the time in milliseconds since the start. */
  onWait(at: number): void
  /** Throws for a request, if a test sets it. */
  refuse(request: string): void
}

/** A listener on a list of this test. Time passes only while it waits. */
function listener(to: Session['to'] = null): Listener {
  const events: ListedEvent[] = []
  const said: string[] = []
  let now = start
  const say = (text: string) => (...parts: unknown[]): void =>
    void said.push([text, ...parts].join(' '))
  const report: Report = {
    ready: () => say('ready')(),
    event: ({ id }, sent) => say('event')(id, ...sent === null ? [] : [sent.kind]),
    down: (what) => say('down')(what),
    up: () => {},
    gap: say('gap'),
    later: (id) => say('later')(id),
  }
  const self: Listener = {
    said,
    onWait: () => {},
    refuse: () => {},
    add(id, more = {}): void {
      events.unshift({
        id,
        type: 'order.paid',
        partitionKey: null,
        correlationId: null,
        idempotencyKey: null,
        traceparent: null,
        endpointId: null,
        deliverAt: null,
        createdAt: new Date(now).toISOString(),
        ...more,
      })
    },
    async run(wanted = {}): Promise<void> {
      const listEvents = ({ query }: { query: { type?: string } }): Promise<unknown> => {
        self.refuse(`list ${query.type ?? ''}`.trim())
        const data = events.filter(({ type }) => type === (query.type ?? type))
        return Promise.resolve({ data, nextCursor: null })
      }
      const read = (_: Client, id: string): Promise<FullEvent> => {
        self.refuse(`read ${id}`)
        const event = events.find((one) => one.id === id)
        if (event === undefined) throw new Error(id)
        return Promise.resolve({ ...event, routing: 'done', body: '{}' })
      }
      const wait = (ms: number): Promise<void> => {
        now += ms
        self.onWait(now - start)
        return Promise.resolve()
      }
      await follow(
        {
          // SAFETY: follow() lists events with it, and nothing else.
          client: {
            listEvents: async (options: never) => await listEvents(options),
          } as unknown as Client,
          payloads: { fetch, read: async (client, id) => await read(client, id) },
          report,
          to,
          timing: { now: () => now, wait },
        },
        { type: [], since: 0, ...wanted },
        () => report.ready({ secret: null, forward: null, types: [] }),
      )
    },
  }
  return self
}

function refusal(status: number, code: string): ApiError {
  return new ApiError(status, { code, message: code } as never, null as never)
}

Deno.test('an event that is due later is shown as such, and handled when it is due', async () => {
  const one = listener()
  one.onWait = (at): void => {
    if (at !== 1_000) return
    one.add('1', { deliverAt: new Date(start + 5_000).toISOString() })
    one.add('2')
  }
  await one.run({ count: 2 })
  expect(one.said).toEqual(['ready', 'later 1', 'event 2', 'event 1'])
})

Deno.test('an event that is deleted meanwhile does not count', async () => {
  const one = listener()
  one.onWait = (at): void => {
    if (at === 1_000) { for (const id of ['1', '2', '3']) one.add(id) }
  }
  one.refuse = (request): void => {
    if (request === 'read 1') throw refusal(404, 'not_found')
  }
  await one.run({ count: 2 })
  expect(one.said).toEqual(['ready', 'event 2', 'event 3'])
})

Deno.test('listening waits while the API refuses for a time, and ends at a refusal that stays', async () => {
  const one = listener()
  let refusals = 0
  one.onWait = (at): void => {
    if (at === 1_000) one.add('1')
  }
  one.refuse = (): void => {
    if (one.said.includes('ready') && refusals++ < 3) throw refusal(429, 'rate_limited')
  }
  await one.run({ count: 1 })
  expect(one.said).toEqual(['ready', 'down api', 'down api', 'down api', 'event 1'])
  one.refuse = (): void => {
    throw refusal(401, 'unauthorized')
  }
  await expect(one.run()).rejects.toThrow()
})

Deno.test('payloads are read at most twenty a second, because publishers share the limit of the API', async () => {
  const one = listener()
  let reads = 0
  const counts: number[] = []
  one.onWait = (at): void => {
    if (at === 1_000) { for (let id = 100; id < 140; id++) one.add(String(id)) }
    else if (at > 1_000) counts.push(reads)
  }
  one.refuse = (request): void => {
    if (request.startsWith('read')) reads += 1
  }
  await one.run({ count: 40 })
  expect(counts).toEqual([10, 20, 30])
})

Deno.test('all types are listed for one type, unless the token may not', async () => {
  for (const isLimited of [false, true]) {
    const one = listener()
    const lists: string[] = []
    one.onWait = (at): void => {
      if (at === 1_000) one.add('1')
    }
    one.refuse = (request): void => {
      if (isLimited && request === 'list') throw refusal(403, 'forbidden')
      if (request.startsWith('list')) lists.push(request)
    }
    await one.run({ type: ['order.paid'], count: 1 })
    expect(new Set(lists)).toEqual(new Set([isLimited ? 'list order.paid' : 'list']))
  }
})
