/** An address of a name; `family` is 4 or 6. */
export type ResolvedAddress = { address: string; family: number }

/**
 * Resolves with all addresses of a name, A and AAAA; rejects without any. `org` is the organisation that the
 * connection is for; without it the name is the operator's.
 */
export type Resolve = (hostname: string, org?: string) => Promise<ResolvedAddress[]>

/**
 * How many names of one organisation are looked up at a time. A runtime has few threads for lookups: Deno has 32
 * for all work that blocks, and Node 64 of the 128 of a worker. A lookup takes milliseconds, so few are enough.
 */
export const mostLookupsOfOrg = 4

/** The lookups of one organisation: how many are running, and what starts each of the others. */
type Lane = { running: number; waiting: (() => void)[] }

/**
 * Makes one lookup of a name at a time, whose result all get that ask meanwhile, and at most `mostLookupsOfOrg` of
 * an organisation. The system's resolver cannot be cancelled: a name whose servers do not reply holds a thread for
 * up to a minute. So each retry, or each of many such names, would hold one more, until no name of any organisation
 * can be looked up.
 */
export function shareLookups(resolve: Resolve): Resolve {
  const inFlight = new Map<string, Promise<ResolvedAddress[]>>()
  const queued = new Map<string, Promise<ResolvedAddress[]>>()
  const lanes = new Map<string, Lane>()

  function start(hostname: string, org?: string): Promise<ResolvedAddress[]> {
    const lookup = resolve(hostname, org).finally(() => inFlight.delete(hostname))
    inFlight.set(hostname, lookup)
    return lookup
  }

  return function lookup(hostname, org): Promise<ResolvedAddress[]> {
    const known = inFlight.get(hostname)
    if (known !== undefined) return known
    if (org === undefined) return start(hostname)
    const name = `${org} ${hostname}`
    const waits = queued.get(name)
    if (waits !== undefined) return waits
    const lane = lanes.get(org) ?? { running: 0, waiting: [] }
    lanes.set(org, lane)
    if (lane.running < mostLookupsOfOrg) return run(hostname, org, lane)
    const later = new Promise<ResolvedAddress[]>((done) => {
      lane.waiting.push(() => {
        queued.delete(name)
        done(run(hostname, org, lane))
      })
    })
    queued.set(name, later)
    return later
  }

  function run(hostname: string, org: string, lane: Lane): Promise<ResolvedAddress[]> {
    lane.running++
    // Another organisation may look up the same name by now.
    return (inFlight.get(hostname) ?? start(hostname, org)).finally(() => {
      lane.running--
      const startNext = lane.waiting.shift()
      if (startNext !== undefined) startNext()
      else if (lane.running === 0) lanes.delete(org)
    })
  }
}
