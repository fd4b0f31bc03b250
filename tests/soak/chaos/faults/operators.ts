import type { Random } from '../../../concurrency/_support/random.ts'
import { type Act, type Family, pause } from '../fault.ts'
import type { Arrival, Target } from '../ledger.ts'
import { types } from '../publishers.ts'
import { isGood } from '../checks/loss.ts'
import type { World } from '../world.ts'

/** What operators and customers change while it runs. */
export const operatorFaults: Family = {
  async 'endpoint edited'({ world, random }): Promise<void> {
    const { id } = anyOf(world, random)
    const change = {
      maxInFlight: 1 + random.int(50),
      quantum: 1 + random.int(30),
      headers: { 'x-edited': String(random.int(1_000)) },
    }
    await edit(world, id, change)
  },

  async 'endpoint paused'({ world, random, ms }): Promise<void> {
    const { id } = anyOf(world, random)
    await world.server.tell((sql) => sql`select outbox.pause_endpoint(${id}, 'chaos')`)
    await pause(ms)
    await world.server.surely('a resume', (sql) => sql`select outbox.resume_endpoint(${id})`)
  },

  async 'rate limited'({ world, random, ms }): Promise<void> {
    const { id } = anyOf(world, random)
    await edit(world, id, { ratePerSecond: 1 + random.int(20) })
    await pause(ms)
    await world.server.surely('a rate', (sql) =>
      sql`
      select outbox.update_org_endpoint('default', ${id}, '{"ratePerSecond": null}')`)
  },

  async 'secret rotated'({ world, random }): Promise<void> {
    const { id } = anyOf(world, random)
    await world.server.tell((sql) =>
      sql`
      select outbox.rotate_secret(${id}, p_overlap => interval '1 second')`
    )
  },

  async 'subscription edited'({ world, random }): Promise<void> {
    const target = named(world, 'choosy')
    const wanted = types.filter(() => random.int(2) === 0)
    const chosen = wanted.length === 0 ? [types[0]] : wanted
    const wish = { types: chosen, began: Date.now(), ended: Infinity, certain: false }
    // Before the call, so that what overlaps it is known to.
    target.wishes.push(wish)
    const done = await edit(world, target.id, { eventTypes: chosen })
    wish.ended = Date.now()
    wish.certain = done
  },

  async 'delivery replayed'({ world, random }): Promise<void> {
    const arrival = anyArrival(world, random)
    if (arrival === undefined) return
    await replay(world, arrival)
  },

  async 'dead letters replayed'({ world, random }): Promise<void> {
    const refused = world.ledger.arrivals.filter(({ endpoint, status }) =>
      endpoint === 'picky' && status !== null && !isGood(status)
    ).slice(-3)
    for (const arrival of random.shuffled(refused)) await replay(world, arrival)
  },

  async 'retried now'({ world, random }): Promise<void> {
    const { id } = anyOf(world, random)
    await world.server.tell((sql) =>
      sql`
      select outbox.retry_now(event_id, endpoint_id)
      from (select * from outbox.delivery_status
        where open and status = 'retrying' and endpoint_id = ${id} limit 3) d`
    )
  },
}

async function replay({ ledger, server }: Act['world'], arrival: Arrival): Promise<void> {
  const { endpoint, id } = arrival
  const target = ledger.targets.find(({ name }) => name === endpoint)
  // Before the call, because its response may be lost.
  ledger.replays.push({ endpoint, id, at: Date.now() })
  await server.tell((sql) => sql`select outbox.replay(${id}, ${target?.id ?? null})`)
}

async function edit(
  { server }: World,
  id: string,
  change: Record<string, unknown>,
): Promise<boolean> {
  return await server.tell((sql) =>
    sql`
    select outbox.update_org_endpoint('default', ${id}, ${JSON.stringify(change)}::text::jsonb)`
  )
}

function anyArrival({ ledger }: World, random: Random): Arrival | undefined {
  const recent = ledger.arrivals.slice(-500)
  return recent[random.int(recent.length)]
}

function anyOf({ ledger: { targets } }: World, random: Random): Target {
  const target = targets[random.int(targets.length)]
  if (target === undefined) throw new Error('there is no endpoint')
  return target
}

function named({ ledger: { targets } }: World, name: string): Target {
  const target = targets.find((one) => one.name === name)
  if (target === undefined) throw new Error(`there is no endpoint ${name}`)
  return target
}
