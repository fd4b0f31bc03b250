import { type Act, type Family, type Fault, pause } from '../fault.ts'
import type { Weather } from '../relay.ts'
import type { Relays } from '../world.ts'

/** A kind of weather on one way, for a while. */
function weather(way: keyof Relays, make: (act: Act) => Weather): Fault {
  return async (act) => {
    const relay = act.world.relays[way]
    relay.set(make(act))
    await pause(act.ms)
    relay.set({ kind: 'pass' })
  }
}

function cut(way: keyof Relays): Fault {
  return ({ world }) => Promise.resolve(world.relays[way].cut())
}

function onWay(way: keyof Relays): Family {
  return {
    [`${way} delayed`]: weather(way, ({ random }) => ({ kind: 'delay', ms: 5 + random.int(300) })),
    [`${way} slow`]: weather(way, ({ random }) => ({ kind: 'slow', rate: 4_000 << random.int(5) })),
    [`${way} in halves`]: weather(way, () => ({ kind: 'halve' })),
    [`${way} silent`]: weather(way, () => ({ kind: 'hold' })),
    [`${way} truncated`]: weather(way, () => ({ kind: 'truncate' })),
    [`${way} refused`]: weather(way, () => ({ kind: 'refuse' })),
    [`${way} cut`]: cut(way),
  }
}

/** What happens on the ways between workers or functions and the database, and between sender and receiver. */
export const networkFaults: Family = {
  ...onWay('database'),
  ...onWay('gateway'),
  ...onWay('receiver'),
}
