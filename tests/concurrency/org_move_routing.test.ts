/** The routing table of the docs: a publisher that follows an organisation to another project. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { moveOrg } from '../../package/command/move_org/move.ts'
import { docsBlock } from '../project/_docs.ts'
import {
  type Arrival,
  before,
  createEndpoint,
  deliver,
  moveInput,
  type Project,
  startProject,
} from './_support/org_move.ts'

let one: Project
let two: Project

Deno.test.beforeAll(async () => {
  one = await startProject('source')
  two = await startProject('target')
})
Deno.test.afterAll(async () => {
  await one?.[Symbol.asyncDispose]()
  await two?.[Symbol.asyncDispose]()
})

type PublishPaid = (
  projects: Map<string, unknown>,
  org: string,
  orderId: number,
) => Promise<string>

/** What the page uses of a supabase-js client; `beside` runs before each call. */
function clientOf({ sql }: Project, beside: () => void): unknown {
  const rpc = async (name: string, values: Record<string, unknown>): Promise<unknown> => {
    beside()
    const { p_type, p_payload, p_org_id, p_idempotency_key } = values as Record<string, string>
    try {
      const [row] = await sql<{ id: string }[]>`
        select outbox.publish(${p_type ?? ''}, ${sql.json(p_payload ?? null)}, ${p_org_id ?? ''},
          p_idempotency_key => ${p_idempotency_key ?? null}) as id`
      expect(name).toBe('publish')
      return { data: row?.id, error: null }
    } catch (error) {
      const { code, detail, hint, message } = error as Record<string, string>
      return { data: null, error: { code, details: detail, hint, message } }
    }
  }
  return {
    schema: (name: string) => {
      expect(name).toBe('outbox')
      return { rpc }
    },
  }
}

Deno.test('the routing table of the page follows an organisation, also while both projects refuse', async () => {
  const folder = await Deno.makeTempDir()
  try {
    for (const name of ['org-routing.ts', 'publish-order.ts']) {
      await Deno.writeTextFile(join(folder, name), docsBlock(name))
    }
    const { publishPaid }: { publishPaid: PublishPaid } = await import(
      pathToFileURL(join(folder, 'publish-order.ts')).href
    )
    await createEndpoint(one, 'org-1', ['order.*'])
    const names: string[] = []
    const projects = new Map([
      ['eu-1', clientOf(one, () => void names.push('eu-1'))],
      ['eu-2', clientOf(two, () => void names.push('eu-2'))],
    ])
    const ids = [await publishPaid(projects, 'org-1', 1)]
    let waiting: Promise<string> | null = null
    await moveOrg(moveInput('org-1', one, two, {
      from: 'eu-1',
      to: 'eu-2',
      source: before(one, 'leave_source', async () => {
        waiting = publishPaid(projects, 'org-1', 2)
        // While the organisation is nowhere, it asks both.
        while (names.length < 4) await delay(10)
      }),
    }))
    ids.push(await waiting ?? '', await publishPaid(projects, 'org-1', 3))
    expect(names.slice(0, 4)).toEqual(['eu-1', 'eu-1', 'eu-2', 'eu-1'])
    expect(names.at(-1)).toBe('eu-2')
    // A repeat after a lost response.
    expect(await publishPaid(projects, 'org-1', 2)).toBe(ids[1])
    const arrivals: Arrival[] = []
    await deliver(two, arrivals)
    expect(arrivals.map(({ event }) => event)).toEqual(ids)
  } finally {
    await Deno.remove(folder, { recursive: true })
  }
})
