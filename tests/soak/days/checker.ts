/** What must hold for the figures of the simulated days. Knows nothing of how they came about. */

import type { DayFigures, TableSize } from './figures.ts'

/** Sizes are full from this day on: a week of events, and eight days of attempts. */
export const FULL_DAY = 8
/** A table may grow by this factor after that day, as days and the times of vacuums differ. */
const GROWTH = 1.25
/** It may not grow on each of those days: slow growth shows within the two weeks only by its steadiness. */
const STEADY = 1.05
/** And by this much, so that tables of a few pages are not judged. */
const SLACK = 512 * 1024
/** Its rows are stored for 30 days at least (`audit.retention_days`), so it grows in proportion to the days. */
const STORED_LONGER = 'audit_event'
/** Dead rows: this share of a day's deliveries, and as many as autovacuum always leaves. */
const DEAD_SHARE = 0.5
const DEAD_SLACK = 15_000

/** Each broken promise in words; none if all hold. `perDay`: the deliveries of one day. */
export function checkDays(days: readonly DayFigures[], perDay: number): string[] {
  return [...days.flatMap((day) => checkDay(day, perDay)), ...checkGrowth(days)]
}

function checkDay(figures: DayFigures, perDay: number): string[] {
  const { behind, retries, ledger, tables } = figures
  const found: string[] = [...figures.problems, ...figures.miscounted, ...behind.refused]
  if (behind.unrouted > 0) found.push(`${behind.unrouted} events are not routed`)
  if (behind.overdue_s > 60) found.push(`an endpoint has been due for ${behind.overdue_s} s`)
  if (behind.cleanup.length > 0) found.push(`the cleanup is behind: ${behind.cleanup.join(', ')}`)
  found.push(...behind.partitions)
  if (behind.days_ahead < 7) found.push(`partitions exist for ${behind.days_ahead} days only`)
  if (behind.in_default > 0) found.push(`${behind.in_default} rows are in default partitions`)
  if (behind.unfolded > 20_000) found.push(`${behind.unfolded} counts are not added up`)
  if (retries.checked === 0) found.push('no retry was checked')
  for (const kind of ['off', 'early', 'late', 'unplanned'] as const) {
    if (retries[kind] > 0) found.push(`${retries[kind]} of ${retries.checked} retries are ${kind}`)
  }
  const missing = ledger.due - ledger.accepted - ledger.dead - ledger.discarded - ledger.open
  if (missing !== 0) found.push(`${missing} deliveries are missing`)
  if (figures.counted !== ledger.accepted) {
    found.push(`${figures.counted} are counted as delivered, and ${ledger.accepted} were`)
  }
  const most = perDay * DEAD_SHARE + DEAD_SLACK
  for (const [name, { dead }] of Object.entries(tables)) {
    if (dead > most) found.push(`${name} has ${dead} dead rows`)
  }
  return found.map((text) => `day ${figures.day}: ${text}`)
}

/** Compares each later day with the largest size until the first full one: tables of the queue vary each day. */
function checkGrowth(days: readonly DayFigures[]): string[] {
  const full = days.find(({ day }) => day === FULL_DAY)
  if (full === undefined) return [`there is no day ${FULL_DAY}`]
  const until = days.filter(({ day }) => day <= FULL_DAY)
  const later = days.filter(({ day }) => day > FULL_DAY)
  const last = Math.max(...days.map(({ day }) => day))
  const found: string[] = []
  for (const [name, size] of Object.entries(full.tables)) {
    for (const part of ['heap', 'indexes'] as const) {
      const sizes = later.map(({ tables }) => tables[name]?.[part] ?? 0)
      const most = Math.max(...sizes)
      const before = Math.max(...until.map(({ tables }) => tables[name]?.[part] ?? 0))
      const inProportion = name === STORED_LONGER ? last / FULL_DAY : 1
      if (most > before * inProportion * GROWTH + SLACK) {
        found.push(`the ${part} of ${name} grew from ${before} to ${most} bytes`)
      } else if (
        inProportion === 1 && isSteady([size[part], ...sizes]) && most > size[part] * STEADY + SLACK
      ) {
        found.push(`the ${part} of ${name} grew each day, from ${size[part]} to ${most} bytes`)
      }
    }
    found.push(...checkPartitions(name, later.map(({ tables }) => tables[name])))
  }
  return found
}

function isSteady(sizes: readonly number[]): boolean {
  return sizes.length > 2 && sizes.every((size, n) => n === 0 || size > (sizes[n - 1] ?? 0))
}

/** A retry that is open at midnight keeps its day for one more night. */
function checkPartitions(name: string, later: readonly (TableSize | undefined)[]): string[] {
  const counts = later.map((size) => size?.partitions ?? 0)
  const [least, most] = [Math.min(...counts), Math.max(...counts)]
  return most - least > 1 ? [`${name} had ${least} to ${most} partitions`] : []
}
