/** The panels of sql/ops/dashboard.json with their queries. */

import { join } from 'node:path'
import { z } from 'zod'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

const panel = z.object({
  title: z.string(),
  type: z.string(),
  targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).default([]),
  fieldConfig: z.object({ defaults: z.object({ unit: z.string() }) }).optional(),
})
const dashboard = z.object({
  panels: z.array(panel),
  annotations: z.object({ list: z.array(z.object({ expr: z.string() })) }),
})

export type Panel = z.infer<typeof panel>

/** The panels in the order in which they are shown, rows' titles left out. */
export async function readPanels(): Promise<Panel[]> {
  const text = await Deno.readTextFile(join(projectRoot, 'sql/ops/dashboard.json'))
  return dashboard.parse(JSON.parse(text)).panels.filter(({ type }) => type !== 'row')
}

/** A query with Grafana's variables filled in, in seconds. */
export function fillIn(expr: string, rate: number, range: number): string {
  return expr.replaceAll('$__rate_interval', `${rate}s`).replaceAll('$__range', `${range}s`)
}
