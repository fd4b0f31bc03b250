/** The dashboard has the form that Grafana's own types require: each name of a member and each value of a choice. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { z } from 'zod'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { readProjectFile } from './_tracked.ts'

const file = z.looseObject({ panels: z.array(z.looseObject({ type: z.string() })) })
const dashboard = await readProjectFile('sql/ops/dashboard.json') ?? ''

/** What the compiler says of a dashboard as a literal of Grafana's types; empty if it has no objection. */
async function objections(json: string): Promise<string> {
  const { panels, ...head } = file.parse(JSON.parse(json))
  const types = new URL('_grafana.ts', import.meta.url)
  const program = [
    `import type { Head, Panels } from '${types}'`,
    `export const head: Head = ${JSON.stringify(head)}`,
    ...panels.map((panel, index) =>
      `export const panel${index}: Panels['${panel.type}'] = ${JSON.stringify(panel)}`
    ),
  ].join('\n')
  const folder = await Deno.makeTempDir()
  try {
    const path = join(folder, 'dashboard.ts')
    await Deno.writeTextFile(path, program)
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ['check', '--config', join(projectRoot, 'deno.json'), path],
      env: { NO_COLOR: '1' },
    }).output()
    return code === 0 ? '' : new TextDecoder().decode(stderr)
  } finally {
    await Deno.remove(folder, { recursive: true })
  }
}

Deno.test("Grafana's types accept the dashboard", async () => {
  expect(await objections(dashboard)).toBe('')
})

Deno.test("Grafana's types refuse another name of a member, and another value of a choice", async () => {
  const wrong = dashboard
    .replace('"graphMode": "area"', '"graphMod": "area"')
    .replace('"showPoints": "never"', '"showPoints": "nevr"')
    .replace('"schemaVersion": 39', '"schemaVersion": "39"')
  const text = await objections(wrong)
  expect(text).toContain('graphMod')
  expect(text).toContain('"nevr"')
  expect(text).toContain("Type 'string' is not assignable to type 'number'")
})
