import type { Output } from '../../../package/client/operation_types.ts'
import { count, span } from '../app/format.ts'
import { dueProblem, remedyOf } from './remedies.ts'

export type Overview = Output<'getOverview'>
type Health = Output<'getHealth'>

/** Something that is wrong, what to do about it, and where. */
export interface Finding {
  tone: 'bad' | 'warn'
  what: string
  todo: string
  to: string | null
}

/** What is wrong, the worst first; empty if all is well. */
export function findingsOf(health: Health | undefined, overview: Overview): Finding[] {
  const { endpoints, deadLetters } = overview
  const found: Finding[] = (health?.problems ?? []).map((problem) => ({
    tone: 'bad' as const,
    ...remedyOf(problem),
  }))
  found.push(...(health?.warnings ?? []).map((warning) => {
    const { todo, ...remedy } = remedyOf(warning)
    return { tone: 'warn' as const, ...remedy, todo: `Nothing is stopped yet. ${todo}` }
  }))
  if (endpoints.breakersOpen > 0) {
    found.push({
      tone: 'bad',
      what: `${count(endpoints.breakersOpen, 'endpoint')} failed several times in a row. ` +
        (endpoints.breakersOpen === 1
          ? 'Its breaker is open, and its deliveries are held.'
          : 'Their breakers are open, and their deliveries are held.'),
      todo: 'Look at the last attempt there. After the repair, the next probe closes the breaker.',
      to: '/endpoints?show=breaker_open',
    })
  }
  if (endpoints.disabled > 0) {
    found.push({
      tone: 'bad',
      what: `${count(endpoints.disabled, 'endpoint')} ${are(endpoints.disabled)} disabled, for ` +
        'example after the response 410.',
      todo: 'Resume those that should get deliveries again.',
      to: '/endpoints?show=disabled',
    })
  }
  if (endpoints.failing > endpoints.breakersOpen) {
    const among = endpoints.breakersOpen === 0 ? '' : ', those with an open breaker among them'
    found.push({
      tone: 'warn',
      what: `The last attempt failed at ${count(endpoints.failing, 'endpoint')}${among}.`,
      todo: 'Look at the response. The deliveries are retried, or have become dead letters.',
      to: '/endpoints?show=failing',
    })
  }
  if (deadLetters > 0) {
    const number = deadLetters >= 10_000
      ? '10,000 or more dead letters'
      : count(deadLetters, 'dead letter')
    found.push({
      tone: 'warn',
      what: `${number} ${deadLetters === 1 ? 'waits' : 'wait'} for a decision.`,
      todo: 'Repair the endpoint, then replay them; or discard them with a reason.',
      to: '/dead-letters',
    })
  }
  if (endpoints.paused > 0) {
    found.push({
      tone: 'warn',
      what: `${count(endpoints.paused, 'endpoint')} ${are(endpoints.paused)} paused.`,
      todo: endpoints.paused === 1
        ? 'Its deliveries are held until somebody resumes it.'
        : 'Their deliveries are held until somebody resumes them.',
      to: '/endpoints?show=paused',
    })
  }
  const late = overview.oldestDueAt === null
    ? 0
    : Date.parse(overview.time) - Date.parse(overview.oldestDueAt)
  const isSaid = health?.problems.some((problem) => problem.startsWith(dueProblem)) ?? false
  if (late > 60_000 && !isSaid) {
    found.push({
      tone: 'bad',
      what: `Deliveries have been due for ${span(late)}.`,
      todo: 'Check that the function deliver, or a worker, runs.',
      to: null,
    })
  }
  return found
}

function are(n: number): string {
  return n === 1 ? 'is' : 'are'
}
