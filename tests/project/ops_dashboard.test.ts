/** The dashboard as a file: its grid, and the series of the alerts. The incident test runs its queries. */

import { expect } from '@std/expect'
import { z } from 'zod'
import { readProjectFile } from './_tracked.ts'

const panel = z.object({
  id: z.number(),
  title: z.string(),
  gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
  targets: z.array(z.object({ expr: z.string() })).default([]),
})
const text = await readProjectFile('sql/ops/dashboard.json') ?? ''
const { panels } = z.object({ panels: z.array(panel) }).parse(JSON.parse(text))

Deno.test('each panel has its own id and its own place on the grid', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const overlaps: string[] = []
  for (const [index, { title, gridPos: a }] of panels.entries()) {
    expect({ title, fits: a.x >= 0 && a.x + a.w <= 24 }).toEqual({ title, fits: true })
    for (const { title: other, gridPos: b } of panels.slice(index + 1)) {
      if (a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h) {
        overlaps.push(`${title}, ${other}`)
      }
    }
  }
  expect(overlaps).toEqual([])
})

Deno.test('each series of an alert is on a panel', async () => {
  const alerts = await readProjectFile('sql/ops/alerts.yml') ?? ''
  const series = new Set(alerts.match(/outhook_[a-z_]+/g))
  expect(series.size).toBeGreaterThan(15)
  // The version is no measurement.
  series.delete('outhook_build_info')
  expect([...series].filter((name) => !new RegExp(`\\b${name}(?:_bucket)?\\b`).test(text))).toEqual(
    [],
  )
})

/** A counter, or the parts of a histogram, without a function that makes it an increase or a rate. */
function plotsRawCounter(query: string): boolean {
  return /outhook_\w+_(?:total|bucket|count|sum)\b/
    .test(query.replaceAll(/\b(?:rate|irate|increase)\([^[]*\[[^\]]*\]\)/g, ''))
}

Deno.test('no panel plots a raw counter', () => {
  expect(plotsRawCounter('sum by (code) (outhook_messages_total{status="failed"})')).toBe(true)
  expect(plotsRawCounter('rate(outhook_kicks_total[5m]) / outhook_runs_total')).toBe(true)
  expect(plotsRawCounter('sum(rate(outhook_attempts_total{outcome="failed"}[5m]))')).toBe(false)
  const raw = panels.flatMap(({ title, targets }) =>
    targets.filter(({ expr }) => plotsRawCounter(expr)).map(({ expr }) => `${title}: ${expr}`)
  )
  expect(raw).toEqual([])
  expect(panels.flatMap(({ targets }) => targets).length).toBeGreaterThan(50)
})
