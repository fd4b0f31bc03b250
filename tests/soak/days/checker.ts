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
/**
 * Postgres keeps the pages of an index for its next rows, so the indexes of `lane` stay as large as the most lanes at
 * once made them. Each of these may have this many bytes: 100 for its entries, and those of the versions that were
 * written before a vacuum. Eight backlogs of 4,550 lanes, one after the other, left 400.
 */
const LANE_BYTES = 1_000
/**
 * The heap of `delivery` is empty or not at night, as the last vacuum could or could not cut it off. So it may have the
 * pages of what is published at once: at most this share of a day in a step of five minutes at noon, of 250 bytes each.
 */
const STEP_SHARE = 1 / 150
const DELIVERY_BYTES = 250
/** A row that is stored for longer than the run, with its index entries, may have this many bytes. */
const ROW_BYTES = 2_000
/** So that a table of a few rows is not judged by their number. */
const ROW_SLACK = 100
/** Dead rows: this share of a day's deliveries, and as many as autovacuum always leaves. */
const DEAD_SHARE = 0.5
const DEAD_SLACK = 15_000

/** Each broken promise in words; none if all hold. `perDay`: the deliveries of one day. */
export function checkDays(days: readonly DayFigures[], perDay: number): string[] {
  return [...days.flatMap((day) => checkDay(day, perDay)), ...checkGrowth(days, perDay)]
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
function checkGrowth(days: readonly DayFigures[], perDay: number): string[] {
  const full = days.find(({ day }) => day === FULL_DAY)
  if (full === undefined) return [`there is no day ${FULL_DAY}`]
  const last = Math.max(...days.map(({ day }) => day))
  return [
    ...checkLanes(days),
    ...Object.entries(full.tables).flatMap(([name, { stored_days }]) => {
      const sizes = days.flatMap(({ day, tables: { [name]: size } }) =>
        size === undefined ? [] : [{ day, ...size }]
      )
      return stored_days !== null && stored_days >= last ? checkStored(name, sizes) : [
        ...name === 'delivery' ? checkQueue(sizes, perDay) : checkFlat(name, sizes, 'heap'),
        ...checkFlat(name, sizes, 'indexes'),
        ...checkPartitions(name, sizes),
      ]
    }),
  ]
}

function checkLanes(days: readonly DayFigures[]): string[] {
  const most = Math.max(...days.map(({ most_lanes }) => most_lanes))
  return days.flatMap(({ day, tables }) => {
    const bytes = tables.lane?.indexes ?? 0
    return bytes > most * LANE_BYTES + SLACK
      ? [`the indexes of lane have ${bytes} bytes on day ${day}, for at most ${most} lanes at once`]
      : []
  })
}

type DaySize = TableSize & { day: number }

function largest(sizes: readonly DaySize[], of: (size: DaySize) => number): number {
  return Math.max(...sizes.map(of))
}

function split(sizes: readonly DaySize[]): { until: DaySize[]; from: DaySize[]; later: DaySize[] } {
  return {
    until: sizes.filter(({ day }) => day <= FULL_DAY),
    from: sizes.filter(({ day }) => day >= FULL_DAY),
    later: sizes.filter(({ day }) => day > FULL_DAY),
  }
}

function checkFlat(name: string, sizes: readonly DaySize[], part: 'heap' | 'indexes'): string[] {
  const { until, from, later } = split(sizes)
  const before = largest(until, ({ [part]: bytes }) => bytes)
  const most = largest(later, ({ [part]: bytes }) => bytes)
  if (most > before * GROWTH + SLACK) {
    return [`the ${part} of ${name} grew from ${before} to ${most} bytes`]
  }
  const [first = 0] = from.map(({ [part]: bytes }) => bytes)
  return isSteady(from.map(({ [part]: bytes }) => bytes)) && most > first * STEADY + SLACK
    ? [`the ${part} of ${name} grew each day, from ${first} to ${most} bytes`]
    : []
}

function checkQueue(sizes: readonly DaySize[], perDay: number): string[] {
  const most = perDay * STEP_SHARE * DELIVERY_BYTES + SLACK
  return sizes.flatMap(({ day, heap }) =>
    heap > most ? [`the heap of delivery has ${heap} bytes on day ${day}`] : []
  )
}

/** None of its rows is deleted during the run: it has as many more each day, and bytes in proportion to them. */
function checkStored(name: string, sizes: readonly DaySize[]): string[] {
  const perDay = largest(split(sizes).until, ({ rows, day }) => rows / day)
  return sizes.flatMap(({ day, rows, heap, indexes }) => {
    if (rows > perDay * day * GROWTH + ROW_SLACK) {
      return [
        `${name} has ${rows} rows on day ${day}, and had at most ${
          Math.round(perDay)
        } for each day before`,
      ]
    }
    return heap + indexes > rows * ROW_BYTES + SLACK
      ? [`${name} has ${heap + indexes} bytes for ${rows} rows on day ${day}`]
      : []
  })
}

function isSteady(sizes: readonly number[]): boolean {
  return sizes.length > 2 && sizes.every((size, n) => n === 0 || size > (sizes[n - 1] ?? 0))
}

/** A retry that is open at midnight keeps its day for one more night. */
function checkPartitions(name: string, sizes: readonly DaySize[]): string[] {
  const counts = split(sizes).later.map(({ partitions }) => partitions)
  const [least, most] = [Math.min(...counts), Math.max(...counts)]
  return most - least > 1 ? [`${name} had ${least} to ${most} partitions`] : []
}
