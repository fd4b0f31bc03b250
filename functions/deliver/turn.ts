import { addressRules } from '../_shared/connect/address.ts'
import type { ClaimKey, Delivery, DispatchResponse, Result } from '../_shared/contract/contract.ts'
import { type ActiveRun, type RunDeps, wakeIfDue } from './active_run.ts'
import { type Batch, release } from './attempt.ts'
import { chainsOf, sendChain } from './chains.ts'
import { claimShare, countHeld } from './org_share.ts'
import { isNearlyFull, mustNotSend, sendsTheRest } from './due.ts'
import { withSettings } from './options.ts'
import { divide } from './divide.ts'
import { contractRefused, projectRefused } from './refusal.ts'
import { addCached, unlessExpired, withEndpoints } from './endpoint_cache.ts'
import { dispatchWithRetries, type TimedResponse } from './redispatch.ts'

/** The least time to repeat a call to a database that does not respond; longer while leases are open. */
const patienceMs = 10_000

/**
 * One dispatch: it reports the results, claims at most `room` deliveries and starts to send them. If
 * the retries of the call end, or its response cannot be read, the run ends with that reason. The parts
 * of a refused call are reported first, each by a call that claims nothing.
 */
export async function turn(run: ActiveRun, room: number, ended: boolean): Promise<void> {
  const { deps, options, state, summary } = run
  const renewals = run.renewals.take()
  const part = state.parts.shift()
  const results = part ?? state.results
  const share = claimShare(state, room, options.maxOutstanding)
  const limit = part === undefined ? share.limit : 0
  if (part === undefined) state.results = []
  const wasWoken = part === undefined && state.isWoken
  if (wasWoken) state.isWoken = false
  state.renewalAt = Infinity
  state.known = unlessExpired(state.known, deps.clock.now())
  const known = state.known
  const call = {
    run: summary.run,
    seq: ++state.seq,
    results: [...results, ...renewals.renewals],
    limit,
    kind: options.kind,
    ended,
    known: known.revisions,
    // The results of another call in flight may not be recorded yet.
    held: state.outstanding + state.offered + state.inFlight.length,
    kinds: availableKinds(deps.senders),
    ...(state.seq === 1 && deps.kick ? { kick: deps.kick } : {}),
    ...(share.full.length > 0 ? { full: share.full } : {}),
    ...(deps.waker?.isListening === true ? { listens: true } : {}),
    ...(deps.describe === undefined ? {} : { worker: deps.describe(state.outstanding) }),
  }
  state.inFlight.push(call.seq)
  state.offered += limit
  const received = await dispatchWithRetries(deps, call, {
    faultLog: run.faultLog,
    giveUpAt: (from) => giveUpAt(run, from, call.results.length > 0),
    retriesPermanent: options.kind === 'worker',
  })
  state.inFlight.splice(state.inFlight.indexOf(call.seq), 1)
  state.offered -= limit
  summary.dispatches++
  if (received === null || 'refusal' in received) {
    renewals.settle(null, 0)
    state.end = received === null ? 'database' : 'contract'
    deps.dispatched?.(received === null ? null : contractRefused(received.refusal))
    return
  }
  deps.dispatched?.('response' in received ? projectRefused(received.response) : null)
  if ('unreadable' in received) {
    renewals.settle(null, 0)
    releaseUnreadable(run, received.unreadable)
    return
  }
  if ('refused' in received) {
    renewals.settle(null, 0)
    state.parts.unshift(...divide(call.results, received.refused, deps.log))
    return
  }
  renewals.settle(received.response.renewed ?? null, received.calledAt)
  recordResponse(run, received, limit)
  if (wasWoken) {
    state.wokenInVainAt = state.workedAt === state.respondedAt ? -Infinity : state.respondedAt
  }
  state.known = withEndpoints(state.known, received.response)
  send(run, { ...received, response: addCached(received.response, known) })
}

function availableKinds(senders: RunDeps['senders']): string[] {
  return [...senders].filter(([, sender]) => sender.isAvailable?.() ?? true).map(([kind]) => kind)
}

/** Releases the deliveries of a response that cannot be read, without counting an attempt. */
function releaseUnreadable(
  { deps, state, summary }: ActiveRun,
  claimed: readonly ClaimKey[],
): void {
  state.end = 'unreadable'
  if (state.results.length === 0) state.oldestResultAt = deps.clock.now()
  state.results.push(...claimed.map(release))
  summary.released += claimed.length
}

/**
 * When to stop retrying. An edge run stores results as long as the platform allows, because a late
 * result counts until another run claims the delivery.
 */
function giveUpAt(
  { deps, options, state }: ActiveRun,
  firstCallAt: number,
  hasResults: boolean,
): number {
  if (options.kind === 'worker' && !deps.stop.aborted) return Infinity
  const patient = Math.max(state.leasedUntil, firstCallAt + patienceMs)
  if (!hasResults || options.lifeMs === null || deps.stop.aborted) return patient
  return Math.max(patient, state.startedAt + options.lifeMs)
}

function recordResponse(
  run: ActiveRun,
  { response, calledAt }: TimedResponse,
  limit: number,
): void {
  const { deps, state, summary } = run
  const { deliveries, settings, error } = response
  const now = deps.clock.now()
  run.options = withSettings(run.initial, settings)
  // After the first response, so that a dispatch gets its connection before the listener.
  if (settings.notify === true) deps.waker?.start()
  summary.stale += response.stale
  state.firstResponseAt = Math.min(state.firstResponseAt, now)
  state.respondedAt = now
  state.callMs = now - calledAt
  state.fastestMs = Math.min(state.fastestMs, state.callMs)
  state.wasFull = limit > 0 && deliveries.length >= limit
  state.wasCut = response.more === true
  // cpuMs() takes 0.2 ms.
  if (run.options.maxCpuMs !== null) state.cpuMs = (deps.cpuMs() ?? 0) - run.cpuAtStart
  state.claimed += deliveries.length
  if (deliveries.length > 0 || response.routed > 0) state.workedAt = now
  if (response.retries) deps.follow(response.retries)
  if (response.stop !== null && sendsTheRest(state.end)) state.end = `stop:${response.stop}`
  if (error !== null) {
    const text = [error.results, error.route, error.claim].filter(Boolean).join('; ')
    deps.log('warn', 'dispatch reports an error', { run: summary.run, error: text })
  }
  const problem = response.problem ?? null
  if (problem !== null && state.problem === null) {
    deps.log('error', 'the database reports a problem', { run: summary.run, error: problem })
  }
  state.problem = problem
  if (deps.said !== undefined) deps.said.problem = problem
  for (const { lease_ms } of [...deliveries, ...response.renewed ?? []]) {
    state.leasedUntil = Math.max(state.leasedUntil, calledAt + lease_ms)
  }
}

/** Starts to send the deliveries of a response; each result is recorded when it comes. */
function send(run: ActiveRun, { response, calledAt }: TimedResponse): void {
  const { deps, options, outstanding, state, window } = run
  const batch = batchOf(response, calledAt, deps)
  const removeOne = outstanding.add(response.deliveries.length)
  const orgOf = ({ event }: Delivery): string => response.events[event]?.org_id ?? ''
  for (const delivery of response.deliveries) countHeld(state.heldBy, orgOf(delivery), 1)
  const chainDeps = {
    ...deps,
    leaseMarginMs: options.leaseMarginMs,
    renewMarginMs: options.renewMarginMs,
    isHalted: () => isHalted(run),
    renew: (delivery: Delivery) =>
      isNearlyFull(state, options) ? Promise.resolve(null) : run.renewals.request(delivery),
    note: (result: Result, delivery: Delivery) => {
      removeOne()
      countHeld(state.heldBy, orgOf(delivery), -1)
      state.started--
      window.resultCame()
      record(run, result, delivery)
    },
  }
  const sizeOf = ([first]: Delivery[]): number =>
    first === undefined ? 0 : response.events[first.event]?.body.length ?? 0
  void startChains(run, chainsOf(response.deliveries), sizeOf, (chain) => {
    state.started += chain.length
    void sendChain(chainDeps, chain, batch)
  })
}

/**
 * Starts a few chains at a time. All at once would block the event loop for 20 ms, and a thousand
 * requests would be in flight where fifty are enough for fast endpoints. Large bodies end a step early: to sign
 * and to write 200 KB takes 1 ms, and the deliveries of other organisations wait meanwhile.
 */
async function startChains(
  run: ActiveRun,
  chains: Delivery[][],
  sizeOf: (chain: Delivery[]) => number,
  startChain: (chain: Delivery[]) => void,
): Promise<void> {
  const { deps, options, window } = run
  let step = options.windowStep
  for (let at = 0; at < chains.length;) {
    // A halted run releases deliveries, which takes no time.
    const hasRoom = isHalted(run) || await window.room()
    step = hasRoom ? options.windowStep : step * 2
    if (at > 0) await deps.yieldTurn()
    const count = fittingIn(options.stepSize, chains.slice(at, at + step).map(sizeOf))
    chains.slice(at, at + count).forEach(startChain)
    at += count
  }
}

/** How many of these sizes come before their sum reaches `most`, with the one that reaches it. */
export function fittingIn(most: number, sizes: readonly number[]): number {
  let sum = 0
  const last = sizes.findIndex((size) => (sum += size) >= most)
  return last < 0 ? sizes.length : last + 1
}

/** Whether nothing more is sent. */
export function isHalted({ deps, options, state }: ActiveRun): boolean {
  return deps.stop.aborted || mustNotSend(state, options, deps.clock.now())
}

function record(run: ActiveRun, result: Result, delivery: Delivery): void {
  const { deps, state, summary } = run
  if (state.results.length === 0) state.oldestResultAt = deps.clock.now()
  state.results.push(result)
  summary[result.outcome]++
  deps.observe(result, delivery)
  wakeIfDue(run)
}

function batchOf(response: DispatchResponse, calledAt: number, deps: RunDeps): Batch {
  const { settings } = response
  const { clock } = deps
  // Receivers refuse a signature that is minutes old, and the clock of a worker may be wrong. So the
  // time of the database counts, plus the time since the response.
  const offset = response.now_ms === undefined ? null : response.now_ms - clock.now()
  return {
    response,
    calledAt,
    deps: {
      transport: deps.transport,
      keys: deps.keys,
      settings,
      policy: deps.policyOf(addressRules(settings)),
      wallNow: offset === null ? clock.wallNow : () => offset + clock.now(),
    },
  }
}
