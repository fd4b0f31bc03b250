import type { Output } from '../../../package/client/operation_types.ts'

type Attempt = Output<'listAttempts'>['data'][number]
type Delivery = Output<'getDelivery'>

/** What the timeline shows of the past: attempts, and replays, of which no time is stored. */
export type TimelineRow = { kind: 'attempt'; attempt: Attempt } | { kind: 'replay'; key: string }

const open: readonly Delivery['status'][] = ['pending', 'processing', 'retrying', 'held']

/**
 * The attempts in the order of time. After its end only a replay opens a delivery again, so one is
 * between an end and what follows.
 */
export function timelineRows(
  attempts: readonly Attempt[],
  status: Delivery['status'],
): TimelineRow[] {
  const inOrder = [...attempts].sort((a, b) =>
    a.attempt - b.attempt || a.at.localeCompare(b.at) || a.kind.localeCompare(b.kind)
  )
  const rows: TimelineRow[] = []
  let hasEnded = false
  for (const attempt of inOrder) {
    if (hasEnded) rows.push({ kind: 'replay', key: `replay ${attempt.attempt} ${attempt.at}` })
    rows.push({ kind: 'attempt', attempt })
    hasEnded = attempt.kind === 'close' || attempt.outcome === 'delivered'
  }
  if (hasEnded && open.includes(status)) rows.push({ kind: 'replay', key: 'replay' })
  return rows
}
