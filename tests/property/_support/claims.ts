import type { Endpoint, Model, Pair } from './model.ts'
import type { Answer, Claim, Result, Seen } from './trace.ts'

/** The timeout of 15 s and 5 s. */
const LEASE_MS = 20_000
/** After how many lost leases in a row a delivery is sent alone. */
const ALONE = 2

/** Fails what a run was given and may not have, then gives it to the run. */
export function checkClaims(model: Model, seen: Seen, answer: Answer): void {
  const room = seen.step.op === 'dispatch' ? seen.step.room : Infinity
  const claims = answer.deliveries
  model.expect(claims.length <= room, `claimed ${claims.length} with room for ${room}`)
  model.expect(claims.length === 0 || model.working, 'claimed although the worker is off')
  const taken: { claim: Claim; pair: Pair }[] = []
  for (const claim of claims) {
    const pair = model.pair(claim.event, claim.endpoint)
    model.expect(
      pair !== undefined,
      `claimed ${claim.event}, which is not routed to ${claim.endpoint}`,
    )
    if (pair !== undefined) taken.push({ claim, pair })
  }
  checkIsolation(model, seen, taken.map(({ pair }) => pair))
  for (const { claim, pair } of taken) checkClaim(model, claim, pair)
  for (const lane of new Set(taken.map(({ pair }) => pair.lane))) {
    if (lane === null) continue
    const own = taken.filter(({ pair }) => pair.lane === lane).map(({ pair }) => pair)
    const waiting = lane.queue.filter((pair) => pair.open && pair.lane === lane)
    model.expect(!lane.halted, 'claimed from a lane that is halted')
    model.expect(
      waiting.every((pair) => pair.lease === null),
      'claimed from a lane that is being sent',
    )
    model.expect(own.every((pair, n) => pair === waiting[n]), 'claimed out of order')
    model.expect((own[0]?.due ?? 0) <= model.now, `claimed ${own[0]?.name} before its retry`)
  }
  for (const endpoint of new Set(taken.map(({ pair }) => pair.endpoint))) {
    checkEndpoint(model, endpoint, taken.filter(({ pair }) => pair.endpoint === endpoint))
  }
  // With an isolated delivery, a run may get nothing although something is due.
  const isolates = [...model.pairs.values()].some((pair) => pair.open && pair.lost >= ALONE)
  const isEmpty = room === 100 && answer.stop === null && claims.length === 0
  if (seen.step.op === 'dispatch' && isEmpty && !isolates) {
    const due = seen.gates.filter((gate) => gate[6]).map((gate) => gate[0])
    model.expect(due.length === 0, `nothing to claim, and yet due: ${due.join()}`)
  }
}

/** Fails a delivery that has lost two leases and is not sent alone. */
function checkIsolation(model: Model, { step, did }: Seen, taken: readonly Pair[]): void {
  if (step.op !== 'dispatch') return
  const held = model.alone.get(step.run)
  const lease = held?.pair.attempt === held?.attempt ? held?.pair.lease : null
  if (held !== undefined && held.pair.open && (lease?.until ?? 0) > model.now) {
    model.expect(taken.length === 0, `claimed beside ${held.pair.name}, which is sent alone`)
  }
  for (const pair of taken) {
    if (pair.lost < ALONE) continue
    model.expect(taken.length === 1, `${pair.name} was claimed with ${taken.length - 1} others`)
    model.expect(did.held === 0, `${pair.name} was claimed by a run that holds ${did.held}`)
    model.alone.set(step.run, { pair, attempt: pair.attempt + 1 })
  }
}

function checkClaim(model: Model, claim: Claim, pair: Pair): void {
  const { spec: { maxRetries } } = pair.endpoint
  model.expect(pair.open, `${pair.name} was claimed although it has ended`)
  model.expect(pair.lease === null, `${pair.name} was claimed while another run has it`)
  model.expect(
    claim.attempt === pair.attempt + 1,
    `${pair.name} has attempt ${claim.attempt} after ${pair.attempt}`,
  )
  const failed = pair.failed_attempts + pair.lost + pair.lostBefore
  model.expect(
    claim.failed_attempts === failed,
    `${pair.name} has ${claim.failed_attempts} failed attempts, not ${failed}`,
  )
  model.expect(
    pair.failed_attempts <= maxRetries + pair.holds,
    `${pair.name} goes beyond its retries`,
  )
  model.expect(claim.ordered === (pair.lane !== null), `${pair.name} is in the wrong kind of lane`)
  model.expect(
    pair.lane !== null || pair.due <= model.now,
    `${pair.name} was claimed before it is due`,
  )
}

function checkEndpoint(
  model: Model,
  endpoint: Endpoint,
  taken: { claim: Claim; pair: Pair }[],
): void {
  const { id, spec } = endpoint
  const requests = new Set(taken.map(({ pair }) => pair.lane ?? pair)).size
  const before = model.inFlight(endpoint)
  model.expect(endpoint.status === 'enabled', `claimed for ${id}, which is ${endpoint.status}`)
  model.expect(endpoint.notBefore <= model.now, `claimed for ${id}, which asked to wait`)
  if (endpoint.breaker !== 'closed') {
    const probes = endpoint.breaker === 'open' && endpoint.openUntil <= model.now &&
      taken.length === 1
    model.expect(probes, `claimed ${taken.length} for ${id}, whose breaker is ${endpoint.breaker}`)
    const [probe] = taken
    if (probe !== undefined) endpoint.probe = { pair: probe.pair, attempt: probe.claim.attempt }
    endpoint.breaker = 'half_open'
  } else {
    const most = endpoint.timedOut ? 1 : spec.maxInFlight
    model.expect(
      before + requests <= most,
      `${id} has ${before + requests} in flight, at most ${most}`,
    )
  }
  if (spec.rate !== null) {
    const grown = Math.max(0, (model.now - endpoint.tokensAt) / 1e6) * spec.rate
    endpoint.tokens = Math.min(2, endpoint.tokens + grown) - taken.length
    endpoint.tokensAt = model.now
    model.expect(endpoint.tokens >= -1e-6, `${id} is served beyond its rate`)
  }
  for (const { claim, pair } of taken) {
    pair.attempt = claim.attempt
    pair.lease = { until: model.now + claim.lease_ms * 1000 }
    model.expect(claim.lease_ms === LEASE_MS, `${pair.name} is leased for ${claim.lease_ms} ms`)
  }
}

/** Renews each ordered lane of an enabled endpoint that is named by a claim whose lease has not ended. */
export function checkRenewals(model: Model, asked: readonly Result[], answer: Answer): void {
  const named = new Set(
    asked.map(({ event, endpoint, attempt }) => {
      const pair = model.pair(event, endpoint)
      const stands = pair?.lease && pair.lease.until > model.now && pair.attempt === attempt
      return stands && pair.lane !== null && pair.endpoint.status === 'enabled' ? pair : null
    }).filter((pair) => pair !== null),
  )
  const names = [...named].map(({ event, endpoint }) => `${event.id} ${endpoint.id}`).sort()
  const renewed = (answer.renewed ?? []).map(({ event, endpoint }) => `${event} ${endpoint}`).sort()
  model.expect(names.join() === renewed.join(), `renewed [${renewed}] instead of [${names}]`)
  for (const lane of new Set([...named].map(({ lane }) => lane))) {
    for (const { lease } of lane?.queue ?? []) {
      if (lease) lease.until = Math.max(lease.until, model.now + LEASE_MS * 1000)
    }
  }
}

/** The same call again gives nothing that the first did not, and only what is still leased. */
export function checkRepeat(model: Model, answer: Answer): void {
  model.expect(answer.applied + answer.stale + answer.routed === 0, 'a repeat did something')
  for (const claim of answer.deliveries) {
    const pair = model.pair(claim.event, claim.endpoint)
    const stands = pair?.open === true && pair.attempt === claim.attempt &&
      (pair.lease?.until ?? 0) > model.now
    model.expect(stands, `a repeat gave ${claim.event}, whose lease does not stand`)
  }
}
