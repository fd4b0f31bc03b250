/** Follows a trace with the model, step by step: whatever the database did must be what the rules say. */

import { checkClaims, checkRenewals, checkRepeat } from './claims.ts'
import { lose, reopen } from './lives.ts'
import { DAY, Model, type Pair } from './model.ts'
import { person } from './person.ts'
import { routeLeft } from './routing.ts'
import type { EndpointSpec } from './script.ts'
import type { OpenRow, Seen, Trace } from './trace.ts'

/** What is wrong with a trace, as sentences that begin with the number of the step; none when all is well. */
export function followTrace(endpoints: readonly EndpointSpec[], trace: Trace): string[] {
  const model = new Model(endpoints)
  for (const [n, seen] of trace.seen.entries()) {
    const found = followStep(model, seen)
    if (found.length > 0) return found.map((problem) => `step ${n} (${seen.step.op}): ${problem}`)
  }
  const { settled, rounds } = trace.ending
  return settled ? [] : [`the end: something is still open after ${rounds} rounds`]
}

function followStep(model: Model, seen: Seen): string[] {
  model.now = seen.at
  model.attempts = []
  model.news = []
  model.problems = [...seen.broken]
  const { op } = seen.step
  if (op === 'dispatch' || op === 'repeat') followCall(model, seen)
  else if (op === 'tick') followTick(model, seen)
  else if (op === 'cleanup') cleanUp(model)
  else person(model, seen)
  followNews(model, seen)
  compare(model, seen)
  return model.problems
}

/** What it removes is gone even if the clock is set back behind it. */
function cleanUp(model: Model): void {
  model.cleaned = true
  for (const [key, { at }] of model.keys) {
    if (at < model.now - DAY) model.keys.delete(key)
  }
}

function followCall(model: Model, seen: Seen): void {
  const { answer } = seen.did
  if (answer === undefined) return
  const given = seen.did.results ?? []
  const results = given.filter(({ outcome }) => outcome !== 'renew')
  model.expect(answer.error === null, `dispatch() had an error: ${JSON.stringify(answer.error)}`)
  if (answer.repeat) {
    checkRepeat(model, answer)
    return
  }
  model.expect((answer.stop === 'disabled') === !model.working, `stop is ${answer.stop}`)
  const applied = model.apply(results)
  model.expect(answer.applied === applied, `applied ${answer.applied} results of ${applied}`)
  model.expect(answer.stale === results.length - applied, `called ${answer.stale} results stale`)
  checkRenewals(model, given.filter(({ outcome }) => outcome === 'renew'), answer)
  if (answer.stop === null) routeLeft(model, seen)
  lose(model, seen)
  checkClaims(model, seen, answer)
}

function followTick(model: Model, seen: Seen): void {
  for (const { event, endpoint, outcome } of seen.attempts) {
    const pair = endpoint === null ? undefined : model.pair(event, endpoint)
    if (outcome !== 'cancelled' || pair === undefined) continue
    model.expect(pair.endpoint.status === 'deleted', `${pair.name} was cancelled by nobody`)
    model.expect(
      (pair.lease?.until ?? 0) <= model.now,
      `${pair.name} was cancelled while it is sent`,
    )
    model.close(pair, 'close', 'cancelled')
  }
  for (const [event, endpoint] of seen.open) {
    const pair = model.pair(event, endpoint)
    if (pair === undefined || pair.open) continue
    const wanted = model.jobs.some((job) => job.endpoint === endpoint)
    const dead = pair.ended === 'dead_letter' || pair.ended === 'expired'
    model.expect(wanted && dead, `${pair.name} was put back by no job`)
    reopen(model, pair)
  }
  expire(model, seen)
}

/** Ends what is still open 30 days after its event or its replay. */
function expire(model: Model, seen: Seen): void {
  lose(model, seen)
  const before = model.now - 30 * DAY
  for (const pair of model.pairs.values()) {
    if (!pair.open || (pair.lease?.until ?? 0) > model.now) continue
    // An id carries milliseconds, and its bound is their floor.
    const old = Math.floor(pair.event.at / 1000) < Math.floor(before / 1000) &&
      pair.replayedAt < before
    if (old) model.close(pair, 'close', 'expired')
  }
}

/** Takes in the events that the step made; only the system's own come without a publisher. */
function followNews(model: Model, seen: Seen): void {
  const published = seen.step.op === 'publish' ? seen.did.event : undefined
  const news = (seen.events ?? []).filter(({ id }) => id !== published)
  // When the last dead letter of an endpoint ends: tests/sql/engine/dead_letters_cleared.
  const types = news.map(({ type }) => type)
    .filter((type) => type !== 'outhook.dead_letters.cleared').sort()
  model.expect(
    news.every(({ org }) => org === 'outhook') && types.join() === model.news.sort().join(),
    `announced [${types.join()}] instead of [${model.news.join()}]`,
  )
  for (const event of news) {
    model.addEvent({ ...event, endpoint: null, deliverAt: 0 })
  }
}

/** Compares all that is there with all that the model knows. */
function compare(model: Model, seen: Seen): void {
  const attempts = seen.attempts.map((r) => {
    const pair = r.endpoint === null ? r.event : `${r.event} ${r.endpoint}`
    const retry = r.outcome === 'failed' ? ` ${r.retryAt}` : ''
    const ended = r.outcome === 'dead_letter' || r.outcome === 'expired' ? ` ${r.failures}` : ''
    return `${pair} ${r.attempt} ${r.kind} ${r.outcome}${retry}${ended}`
  })
  expectSame(model, 'attempts', attempts, model.attempts)
  expectSame(model, 'unrouted', seen.unrouted, [...model.unrouted])
  const open = [...model.pairs.values()].filter((pair) => pair.open).map(openRow)
  expectSame(model, 'open', seen.open.map((row) => row.join(' ')), open.map((row) => row.join(' ')))
  const gone = new Set(model.endpoints.keys())
  for (const [id, status, breaker, inFlight, depth, notBefore] of seen.gates) {
    const endpoint = model.endpoints.get(id)
    gone.delete(id)
    if (endpoint === undefined) continue
    const known = [
      endpoint.status,
      endpoint.breaker,
      model.inFlight(endpoint),
      model.openOf(endpoint).length,
    ]
    expectSame(model, `gate of ${id}`, [[status, breaker, inFlight, depth].join()], [known.join()])
    model.expect(notBefore >= endpoint.notBefore, `gate of ${id} forgot that it has to wait`)
  }
  for (const id of gone) {
    const endpoint = model.endpoints.get(id)
    if (endpoint === undefined) continue
    const done = endpoint.status === 'deleted' && model.openOf(endpoint).length === 0
    model.expect(done, `the gate of ${id} is gone`)
  }
}

function openRow(pair: Pair): OpenRow {
  return [pair.event.id, pair.endpoint.id, pair.attempt, pair.failed_attempts, pair.lease !== null]
}

function expectSame(model: Model, what: string, found: string[], known: string[]): void {
  const more = subtract(found, known)
  const less = subtract(known, found)
  if (more.length + less.length === 0) return
  model.problems.push(`${what}: found [${more.join('; ')}], expected [${less.join('; ')}]`)
}

/** What is in `these` and not in `those`, counting repetitions. */
function subtract(these: readonly string[], those: readonly string[]): string[] {
  const rest = [...those]
  return these.filter((item) => {
    const at = rest.indexOf(item)
    if (at >= 0) rest.splice(at, 1)
    return at < 0
  })
}
