/** What a person or an application does to the model: each step with the refusals that it must meet. */

import { lose, reopen } from './lives.ts'
import { DAY, type Endpoint, type Model, type Pair, SECOND } from './model.ts'
import { subscribes } from './routing.ts'
import type { PublishStep } from './script.ts'
import type { Seen } from './trace.ts'

/** Follows any step that is not a run's or the clock's. */
export function person(model: Model, seen: Seen): void {
  const { step, did } = seen
  switch (step.op) {
    case 'publish':
      return publish(model, step, seen)
    case 'pause':
    case 'resume':
    case 'disable':
    case 'delete':
      return setStatus(model, step.op, endpointOf(model, step.endpoint), seen)
    case 'resume_lane': {
      const endpoint = endpointOf(model, step.endpoint)
      const lane = model.laneOf(endpoint, step.key)
      const refusal = endpoint.status === 'deleted'
        ? 'OH002'
        : lane?.halted === true
        ? undefined
        : 'OH004'
      if (expectRefusal(model, seen, refusal)) return
      if (lane !== null) lane.halted = false
      return
    }
    case 'replay_many':
      model.jobs.push({ endpoint: endpointOf(model, step.endpoint).id, at: model.now })
      return
    case 'worker':
      model.working = step.on
      return
    case 'batch':
      model.cutBatches = true
      return
  }
  const pair = did.pair === undefined
    ? undefined
    : model.pair(did.pair.event_id, did.pair.endpoint_id)
  if (pair === undefined) return
  if (step.op === 'replay') replay(model, pair, seen)
  else if (step.op === 'retry_now') retryNow(model, pair, seen)
  else if (step.op === 'cancel') cancel(model, pair, seen)
}

function endpointOf(model: Model, n: number): Endpoint {
  const endpoint = [...model.endpoints.values()][n]
  if (endpoint === undefined) throw new Error(`the script has no endpoint ${n}`)
  return endpoint
}

/** Whether the step was refused; it must have been with this SQLSTATE, or not at all. */
function expectRefusal(model: Model, { did }: Seen, refusal: string | undefined): boolean {
  model.expect(did.refused === refusal, `refused with ${did.refused} instead of ${refusal}`)
  return did.refused !== undefined
}

function setStatus(model: Model, op: string, endpoint: Endpoint, seen: Seen): void {
  if (expectRefusal(model, seen, endpoint.status === 'deleted' ? 'OH002' : undefined)) return
  if (op === 'pause') endpoint.status = 'paused'
  else if (op === 'resume') {
    if (endpoint.status !== 'enabled') endpoint.resumedAt = model.now
    endpoint.status = 'enabled'
  } else if (op === 'delete') {
    endpoint.status = 'deleted'
    endpoint.deletedAt = model.now
  } else {
    endpoint.status = 'disabled'
    model.announce('outhook.endpoint.disabled', endpoint.spec.org)
  }
}

function publish(model: Model, step: PublishStep, seen: Seen): void {
  const endpoint = step.endpoint === null ? null : endpointOf(model, step.endpoint)
  const deliverAt = step.delay === null ? null : model.now + step.delay * SECOND
  const content = JSON.stringify([step.type, step.key, step.endpoint, deliverAt])
  // Later than the clock, if the clock was set back.
  const at = seen.events?.find(({ id }) => id === seen.did.event)?.at ?? model.now
  const held = step.idem === null ? undefined : model.keys.get(step.idem)
  // An event that was refused has no time here: it is up to a minute later than the clock.
  const isOther = seen.did.refused !== undefined && seen.did.refused !== 'OH003'
  const until = isOther ? at + 60 * SECOND : at
  const taken = held !== undefined && held.at > until - DAY ? held : undefined
  const unknown = endpoint !== null &&
    (endpoint.status === 'deleted' || endpoint.spec.org !== 'default')
  // The key comes first, so that a repeat gets its event whatever has changed since.
  const refusal = taken !== undefined
    ? taken.content === content ? undefined : 'OH003'
    : unknown
    ? 'OH002'
    : deliverAt !== null && isOrderedFor(model, step.type, endpoint)
    ? 'OH001'
    : undefined
  if (expectRefusal(model, seen, refusal)) return
  const id = seen.did.event ?? ''
  if (taken !== undefined) {
    model.expect(id === taken.id, `the key ${step.idem} made another event`)
    return
  }
  model.expect(!model.events.has(id), `published ${id} again`)
  if (step.idem !== null) model.keys.set(step.idem, { id, content, at })
  const { type, key } = step
  const rest = { endpoint: endpoint?.id ?? null, deliverAt: deliverAt ?? 0, at }
  model.addEvent({ id, org: 'default', type, key, ...rest })
}

/** Whether an event would go to an endpoint with an order, which a later delivery would hold up. */
function isOrderedFor(model: Model, type: string, addressed: Endpoint | null): boolean {
  const targets = addressed === null
    ? [...model.endpoints.values()].filter((one) => subscribes(one, 'default', type))
    : [addressed]
  return targets.some(({ spec }) => spec.ordering !== 'none')
}

function isBeingSent(model: Model, pair: Pair): boolean {
  return pair.open && pair.lease !== null && pair.lease.until > model.now
}

/**
 * Makes an open delivery due now, and with it the lane that waits in front of it. One that is due stays
 * so: the clock may be set back later.
 */
function makeDue(model: Model, pair: Pair): void {
  for (const other of pair.lane?.queue ?? [pair]) {
    if (other.open) other.due = Math.min(other.due, model.now)
  }
}

function replay(model: Model, pair: Pair, seen: Seen): void {
  // History is kept for some days only: then nothing may be known of a delivery any more.
  const forgotten = model.cleaned && !pair.open && seen.did.refused === 'OH002'
  const refusal = pair.endpoint.status === 'deleted' || forgotten
    ? 'OH002'
    : isBeingSent(model, pair)
    ? 'OH004'
    : undefined
  if (expectRefusal(model, seen, refusal)) return
  lose(model, seen)
  model.expect(seen.did.replaced === pair.open, `replaced is ${seen.did.replaced}`)
  if (!pair.open) return reopen(model, pair)
  Object.assign(pair, {
    failed_attempts: 0,
    lost: 0,
    lostBefore: 0,
    holds: 0,
    replayedAt: model.now,
  })
  makeDue(model, pair)
}

/** What refuses a deed on an open delivery; of a deleted endpoint none is open any more. */
function notOpenOrSent(model: Model, pair: Pair): string | undefined {
  if (pair.endpoint.status === 'deleted') return 'OH002'
  return isBeingSent(model, pair) ? 'OH004' : undefined
}

function retryNow(model: Model, pair: Pair, seen: Seen): void {
  if (expectRefusal(model, seen, notOpenOrSent(model, pair))) return
  lose(model, seen)
  makeDue(model, pair)
}

function cancel(model: Model, pair: Pair, seen: Seen): void {
  const dies = pair.lease !== null && model.diesIfLost(pair)
  if (expectRefusal(model, seen, notOpenOrSent(model, pair) ?? (dies ? 'OH002' : undefined))) return
  lose(model, seen)
  model.close(pair, 'close', 'cancelled')
}
