/** The figures that matter most, each with the winner: what a quick run is for. */

import type { Results } from './results.ts'
import { format, toTextTable } from './table.ts'
import { noQueue } from './winner.ts'

/** One figure of Outhook beside the best one of the other queues, or beside another one of its own. */
interface Headline {
  what: string
  question: string
  column: string
  at?: string
  /** Whether the larger figure is the better one. */
  isMore: boolean
  digits: number
  /** Whom it is compared with: the queues, the plain table too, or Outhook at this size. */
  with: 'queues' | 'all' | { ownAt: string } | { ownSeries: string }
}

const headlines: readonly Headline[] = [
  {
    ...{ what: 'deliveries a second, 10 endpoints', question: 'throughput', column: 'perSecond' },
    ...{ isMore: true, digits: 0, with: 'queues' },
  },
  {
    ...{ what: 'the same, with a plain table', question: 'throughput', column: 'perSecond' },
    ...{ isMore: true, digits: 0, with: 'all' },
  },
  {
    ...{ what: '1,000 endpoints', question: 'endpoints', column: 'perSecond', at: '1k' },
    ...{ isMore: true, digits: 0, with: 'queues' },
  },
  {
    ...{ what: '1,000 endpoints, to 10', question: 'endpoints', column: 'perSecond', at: '1k' },
    ...{ isMore: true, digits: 0, with: { ownAt: '10' } },
  },
  {
    ...{ what: '8 workers on the same cores', question: 'workers', column: 'perSecond', at: '8' },
    ...{ isMore: true, digits: 0, with: 'queues' },
  },
  {
    ...{ what: '8 workers, to 1', question: 'workers', column: 'perSecond', at: '8' },
    ...{ isMore: true, digits: 0, with: { ownAt: '1' } },
  },
  {
    ...{ what: '1,000 waiting for 1,000 endpoints', question: 'waiting', column: 'perSecond' },
    ...{ at: '1k', isMore: true, digits: 0, with: 'queues' },
  },
  {
    ...{ what: '50,000 waiting for 1,000 endpoints', question: 'waiting', column: 'perSecond' },
    ...{ at: '50k', isMore: true, digits: 0, with: 'queues' },
  },
  {
    ...{ what: 'ms from commit to arrival at 10/s, p50', question: 'latency', column: 'p50' },
    ...{ at: '10/s', isMore: false, digits: 1, with: 'all' },
  },
  {
    ...{ what: 'ms from commit to arrival at 50 %, p50', question: 'latency', column: 'p50' },
    ...{ at: '50 %', isMore: false, digits: 1, with: 'all' },
  },
  {
    ...{ what: 'ms from commit to arrival at 50 %, p95', question: 'latency', column: 'p95' },
    ...{ at: '50 %', isMore: false, digits: 1, with: 'all' },
  },
  {
    ...{ what: 'ms from an event to the last of 1,000 endpoints', question: 'fanout' },
    ...{ column: 'lastMs', at: '1k', isMore: false, digits: 0, with: 'queues' },
  },
  {
    ...{ what: 'ms to publish by a separate statement', question: 'publish', column: 'added' },
    ...{ isMore: false, digits: 3, with: 'all' },
  },
  {
    ...{ what: "ms to publish in the row's statement", question: 'publish', column: 'addedInOne' },
    ...{ isMore: false, digits: 3, with: 'all' },
  },
  {
    ...{ what: 'ms, p99 with an endpoint that hangs', question: 'fairness', column: 'p99' },
    ...{ isMore: false, digits: 1, with: { ownSeries: 'outhook without it' } },
  },
]

interface Figure {
  series: string
  value: number
}

/** A headline with its figures. `ratio` is above 1 if Outhook is ahead. */
export interface Verdict {
  what: string
  ours: Figure
  other: Figure
  ratio: number
  /** The series with the better figure; null if Outhook is compared with itself. */
  winner: string | null
}

/** Each headline whose figures were measured. */
export function headlinesOf({ answers }: Pick<Results, 'answers'>): Verdict[] {
  return headlines.flatMap((headline) => {
    const { what, question, column, at, isMore } = headline
    const rows = answers.find(({ name }) => name === question)?.rows ?? []
    const best = (
      size: string | undefined,
      isMeant: (series: string) => boolean,
    ): Figure | null => {
      const figures = rows.flatMap(({ series, at, values }) => {
        const value = values[column]
        if (at !== size || value === null || value === undefined || !isMeant(series)) return []
        return Number.isFinite(value) ? [{ series, value }] : []
      })
      return figures.sort((a, b) => isMore ? b.value - a.value : a.value - b.value)[0] ?? null
    }
    const ours = best(at, (series) => isOurs(series) && !isBaseline(headline, series))
    const other = otherOf(headline, ours, best)
    if (ours === null || other === null) return []
    const ratio = isMore ? ours.value / other.value : other.value / ours.value
    const isRace = headline.with === 'queues' || headline.with === 'all'
    return [{
      what,
      ours,
      other,
      ratio,
      winner: isRace ? (ratio >= 1 ? ours : other).series : null,
    }]
  })
}

function otherOf(
  { with: rival, at }: Headline,
  ours: Figure | null,
  best: (size: string | undefined, isMeant: (series: string) => boolean) => Figure | null,
): Figure | null {
  if (typeof rival === 'object') {
    if ('ownAt' in rival) return best(rival.ownAt, (series) => series === ours?.series)
    return best(at, (series) => series === rival.ownSeries)
  }
  return best(
    at,
    (series) =>
      !isOurs(series) && !noQueue.test(series) && (rival === 'all' || !series.startsWith('naive')),
  )
}

function isOurs(series: string): boolean {
  return series.startsWith('outhook')
}

function isBaseline({ with: rival }: Headline, series: string): boolean {
  return typeof rival === 'object' && 'ownSeries' in rival && series === rival.ownSeries
}

/** The headlines as a table in Markdown. */
export function toHeadlines(results: Pick<Results, 'answers'>): string {
  const digitsOf = new Map(headlines.map(({ what, digits }) => [what, digits]))
  return toTextTable([
    ['', 'Outhook', 'the other', 'ratio', 'winner'],
    ...headlinesOf(results).map(({ what, ours, other, ratio, winner }) => {
      const text = ({ series, value }: Figure): string =>
        `${format(value, digitsOf.get(what) ?? 0)} (${series})`
      return [what, text(ours), text(other), format(ratio, 2), winner ?? '']
    }),
  ])
}
