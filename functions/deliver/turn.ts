import { addressRules } from '../_shared/connect/address.ts'
import type { ClaimKey, Delivery, DispatchAnswer, Result } from '../_shared/contract/contract.ts'
import { type ActiveRun, type RunDeps, wakeIfDue } from './active_run.ts'
import { type Batch, release } from './attempt.ts'
import { chainsOf, sendChain } from './chains.ts'
import { isGentle, isHandFull, mayNotBegin } from './due.ts'
import { withSettings } from './options.ts'
import { divide } from './divide.ts'
import { fillIn, learn, stillKnown } from './known.ts'
import { type Answered, dispatchUntilAnswered } from './redispatch.ts'

/** A database that answers nothing is given this long beyond the leases in hand. */
const patienceMs = 10_000

/**
 * One dispatch: it reports the results and begins to send the claimed deliveries, up to `room`. If the
 * call is given up, or its response cannot be read, the run ends and `state.end` says why. The parts of
 * a refused call are reported first, by calls that claim nothing.
 */
export async function turn(run: ActiveRun, room: number, ended: boolean): Promise<void> {
  const { deps, options, state, summary } = run
  const renewals = run.renewals.take()
  const part = state.parts.shift()
  const results = part ?? state.results
  const limit = part === undefined ? room : 0
  if (part === undefined) state.results = []
  state.renewalAt = Infinity
  state.known = stillKnown(state.known, deps.clock.now())
  const known = state.known
  const call = {
    run: summary.run,
    seq: ++state.seq,
    results: [...results, ...renewals.renewals],
    limit,
    kind: options.kind,
    ended,
    known: known.revisions,
  }
  state.inFlight.push(call.seq)
  state.offered += limit
  const answered = await dispatchUntilAnswered(deps, call, {
    trouble: run.trouble,
    giveUpAt: (from) => giveUpAt(run, from, call.results.length > 0),
    asksOn: options.kind === 'worker',
  })
  state.inFlight.splice(state.inFlight.indexOf(call.seq), 1)
  state.offered -= limit
  summary.dispatches++
  if (answered === null || 'refusal' in answered) {
    renewals.settle(null, 0)
    state.end = answered === null ? 'database' : 'contract'
    deps.begun?.(answered?.refusal ?? null)
    return
  }
  deps.begun?.(null)
  if ('unreadable' in answered) {
    renewals.settle(null, 0)
    giveBack(run, answered.unreadable)
    return
  }
  if ('refused' in answered) {
    renewals.settle(null, 0)
    state.parts.unshift(...divide(call.results, answered.refused, deps.log))
    return
  }
  renewals.settle(answered.answer.renewed ?? null, answered.calledAt)
  take(run, answered, limit)
  state.known = learn(state.known, answered.answer)
  send(run, { ...answered, answer: fillIn(answered.answer, known) })
}

/** Releases deliveries of a response that cannot be read, without counting an attempt; the run ends. */
function giveBack({ deps, state, summary }: ActiveRun, claimed: readonly ClaimKey[]): void {
  state.end = 'unreadable'
  if (state.results.length === 0) state.oldestResultAt = deps.clock.now()
  state.results.push(...claimed.map(release))
  summary.released += claimed.length
}

/**
 * Keeps results as long as the platform lets the run live: a late result still counts until another run
 * claims the delivery.
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

/** Notes what an answer says of the run. */
function take(run: ActiveRun, { answer, calledAt }: Answered, limit: number): void {
  const { deps, state, summary } = run
  const { deliveries, settings, error } = answer
  const now = deps.clock.now()
  run.options = withSettings(run.initial, settings)
  summary.stale += answer.stale
  state.answeredAt = now
  state.wasFull = limit > 0 && deliveries.length >= limit
  // Asking takes 0.2 ms.
  if (run.options.maxCpuMs !== null) state.cpuMs = (deps.cpuMs() ?? 0) - run.cpuAtStart
  state.claimed += deliveries.length
  if (deliveries.length > 0 || answer.routed > 0) state.workedAt = now
  if (answer.retries) deps.follow(answer.retries)
  if (answer.stop !== null && isGentle(state.end)) state.end = `stop:${answer.stop}`
  if (error !== null) {
    const text = [error.results, error.route, error.claim].filter(Boolean).join('; ')
    deps.log('warn', 'dispatch reports an error', { run: summary.run, error: text })
  }
  const problem = answer.problem ?? null
  if (problem !== null && state.problem === null) {
    deps.log('error', 'the database reports a problem', { run: summary.run, error: problem })
  }
  state.problem = problem
  for (const { lease_ms } of [...deliveries, ...answer.renewed ?? []]) {
    state.leasedUntil = Math.max(state.leasedUntil, calledAt + lease_ms)
  }
}

/** Begins to send what an answer brought; each result is noted as it comes. */
function send(run: ActiveRun, { answer, calledAt }: Answered): void {
  const { deps, options, hand, state, window } = run
  const batch = batchOf(answer, calledAt, deps)
  const putDown = hand.take(answer.deliveries.length)
  const chainDeps = {
    ...deps,
    leaseMarginMs: options.leaseMarginMs,
    renewMarginMs: options.renewMarginMs,
    isHalted: () => isHalted(run),
    renew: (delivery: Delivery) =>
      isHandFull(state, options) ? Promise.resolve(null) : run.renewals.ask(delivery),
    note: (result: Result, delivery: Delivery) => {
      putDown()
      state.begun--
      window.answered()
      note(run, result, delivery)
    },
  }
  void begin(run, chainsOf(answer.deliveries), (chain) => {
    state.begun += chain.length
    void sendChain(chainDeps, chain, batch)
  })
}

/**
 * Begins some chains at a time. All at once would keep the event loop for 20 ms, so that no answer
 * is taken in meanwhile; and a thousand requests would then be under way where quick endpoints need
 * fifty.
 */
async function begin(
  run: ActiveRun,
  chains: Delivery[][],
  beginChain: (chain: Delivery[]) => void,
): Promise<void> {
  const { deps, options, window } = run
  let step = options.windowStep
  for (let at = 0; at < chains.length; at += step) {
    // What is halted is released, which takes no time.
    const hasRoom = isHalted(run) || await window.room()
    step = hasRoom ? options.windowStep : step * 2
    if (at > 0) await deps.yieldTurn()
    chains.slice(at, at + step).forEach(beginChain)
  }
}

/** Whether nothing more is begun. */
export function isHalted({ deps, options, state }: ActiveRun): boolean {
  return deps.stop.aborted || mayNotBegin(state, options, deps.clock.now())
}

function note(run: ActiveRun, result: Result, delivery: Delivery): void {
  const { deps, state, summary } = run
  if (state.results.length === 0) state.oldestResultAt = deps.clock.now()
  state.results.push(result)
  summary[result.outcome]++
  deps.observe(result, delivery)
  wakeIfDue(run)
}

function batchOf(answer: DispatchAnswer, calledAt: number, deps: RunDeps): Batch {
  const { settings } = answer
  return {
    answer,
    calledAt,
    deps: {
      transport: deps.transport,
      keys: deps.keys,
      settings,
      policy: deps.policyOf(addressRules(settings)),
      wallNow: deps.clock.wallNow,
    },
  }
}
