/** Each operational event that the schema publishes is known to Slack, to ops-alerts and to the pages. */

import { expect } from '@std/expect'
import { alertOfEvent } from '../../functions/ops-alerts/from_event.ts'
import { slackText } from '../../functions/_shared/senders/slack/text.ts'
import { sampleEvent } from '../functions/samples.ts'
import { projectFiles, readProjectFile } from './_tracked.ts'

/** Reports no problem, so that nobody is called. */
const noAlert = ['outhook.whatsapp.notice']

/** The types that the SQL passes to put_news() and announce(). */
async function published(): Promise<string[]> {
  const types = new Set<string>()
  for (const path of await projectFiles()) {
    if (!/^sql\/.*\.sql$/.test(path)) continue
    const text = await readProjectFile(path) ?? ''
    for (
      const [call] of text.matchAll(
        /outbox\.(?:put_news|announce)\([^;]*?\b(?:array|v_\w+|p_now)\b/g,
      )
    ) {
      for (const [, type = ''] of call.matchAll(/'(outhook\.[a-z_]+\.[a-z_]+)'/g)) types.add(type)
    }
  }
  return [...types].sort()
}

Deno.test('Slack, ops-alerts and the page on delivery know each operational event', async () => {
  const types = await published()
  expect(types.length).toBeGreaterThan(11)
  const page = await readProjectFile('docs/delivery.md') ?? ''
  const data = { endpointId: 'e-1', orgId: 'org-1' }
  for (const type of types) {
    const body = JSON.stringify({ id: 'v', eventType: type, createdAt: '2026-03-01', data })
    expect({ type, inPage: page.includes(`\`${type}\``) }).toEqual({ type, inPage: true })
    // The general text begins with the type.
    const text = slackText(sampleEvent({ type, body: JSON.stringify(data) }))
    expect({ type, ownText: !text.startsWith(`*${type}*`) }).toEqual({ type, ownText: true })
    expect({ type, alert: alertOfEvent(body) !== null })
      .toEqual({ type, alert: !noAlert.includes(type) })
  }
})
