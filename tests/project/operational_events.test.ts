/** Each operational event that the schema publishes has a row in the table of them, and is handled as it says. */

import { expect } from '@std/expect'
import { operationalEvents } from '../../functions/_shared/base/operational_events.ts'
import { slackText } from '../../functions/_shared/senders/slack/text.ts'
import { alertOfEvent } from '../../functions/ops-alerts/from_event.ts'
import { pagerDutyEvent } from '../../functions/ops-alerts/pagerduty.ts'
import { sampleEvent } from '../functions/samples.ts'
import { projectFiles, readProjectFile } from './_tracked.ts'

/** The types that the SQL names: no other text of it has this form. */
async function published(): Promise<string[]> {
  const types = new Set<string>()
  for (const path of await projectFiles()) {
    if (!/^sql\/(?!ops\/).*\.sql$/.test(path)) continue
    const text = (await readProjectFile(path) ?? '').replaceAll(/^ *--.*$/gm, '')
    for (const [, type = ''] of text.matchAll(/'(outhook\.[a-z_]+\.[a-z_]+)'/g)) types.add(type)
  }
  return [...types].sort()
}

/** What the expression of a rule names that does not count the events themselves. */
const measures: Record<string, string> = {
  OuthookDeadLetters: 'outhook_dead_letters_waiting',
  OuthookBreakerOpen: 'outhook_oldest_open_breaker_age_seconds',
  OuthookEndpointDisabled: 'outhook_endpoints{status="disabled"}',
  OuthookWhatsAppHeld: 'outhook_endpoints{kind="whatsapp", status="held"}',
  OuthookTemplateHeld: 'outhook_templates_held',
}

const data = { endpointId: 'e-1', orgId: 'org-1' }

Deno.test('each operational event of the schema has a row in the table, and no other one has', async () => {
  const types = await published()
  expect(types.length).toBeGreaterThan(11)
  expect(operationalEvents.map(({ type }) => type).sort()).toEqual(types)
})

Deno.test('the page on delivery has the same table', async () => {
  const page = await readProjectFile('docs/delivery.md') ?? ''
  const rows = [
    ...page.matchAll(/^\| `(outhook\.[a-z_.]+)` *\| (.*?) *\| (\w+) *\| (?:`(\w+)`)? *\|$/gm),
  ]
    .map(([, type, meaning, alert, rule]) => ({ type, meaning, alert, rule: rule ?? null }))
  expect(rows).toEqual([...operationalEvents])
})

for (const { type, alert, rule } of operationalEvents) {
  Deno.test(`${type} is handled as its row says`, async () => {
    // The general text begins with the type.
    expect(slackText(sampleEvent({ type, body: JSON.stringify(data) }))).not.toContain(`*${type}*`)

    const body = JSON.stringify({ id: 'v', eventType: type, createdAt: '2026-03-01', data })
    const told = alertOfEvent(body)
    if (alert === 'nothing') {
      expect(told).toBeNull()
    } else if (alert === 'resolve') {
      expect(told).toMatchObject({ action: 'resolve' })
    } else {
      expect(told).toMatchObject({ action: 'trigger', severity: alert })
      expect(told && pagerDutyEvent(told, 'key'))
        .toMatchObject({ event_action: 'trigger', payload: { severity: alert } })
    }

    const rules = await readProjectFile('sql/ops/alerts.yml') ?? ''
    if (rule !== null) {
      const [, text = ''] = rules.split(`- alert: ${rule}\n`)
      const [expr = ''] = text.match(/^ *expr: [\s\S]*?(?=^ *(?:for|labels):)/m) ?? []
      expect(expr).toContain(measures[rule] ?? `outhook_operational_events_total{type="${type}"}`)
    }
    // A problem that somebody has to correct is reported to those who use only Prometheus, too.
    if (['critical', 'error', 'warning'].includes(alert)) expect(rule).not.toBeNull()
  })
}

/** The events whose alert the next row ends: they are about a state. */
const ofStates = operationalEvents.filter((_, index) =>
  operationalEvents[index + 1]?.alert === 'resolve'
)

Deno.test('the alert about a state lasts as long as the state', async () => {
  expect(ofStates.map(({ type }) => type)).toContain('outhook.template.held')
  const rules = await readProjectFile('sql/ops/alerts.yml') ?? ''
  for (const { rule } of ofStates) {
    const [, text = ''] = rules.split(`- alert: ${rule}\n`)
    const [expr = ''] = text.match(/^ *expr: [\s\S]*?(?=^ *(?:for|labels):)/m) ?? []
    const gauges = [...expr.matchAll(/outhook_\w+/g)].filter(([name]) => !name.endsWith('_total'))
    expect([rule, gauges.length]).not.toEqual([rule, 0])
  }
})

Deno.test("a consumer's dead letter pages, with Prometheus and without it", async () => {
  const type = 'outhook.consumer.dead_lettered'
  const row = operationalEvents.find((event) => event.type === type)
  const [, rule = ''] = (await readProjectFile('sql/ops/alerts.yml') ?? '')
    .split(`- alert: ${row?.rule}\n`)
  expect(rule.split('- alert:')[0]).toContain('severity: page')
  const body = {
    id: 'v',
    eventType: type,
    createdAt: '2026-03-01',
    data: { consumer: 'ledger', error: 'no such account' },
  }
  const alert = alertOfEvent(JSON.stringify(body))
  expect(alert).toMatchObject({ action: 'trigger', severity: 'error', source: 'ledger' })
  expect(alert?.summary).toBe('Dead letter of the consumer ledger: no such account')
})
