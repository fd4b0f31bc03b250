import { expect } from '@std/expect'
import { alertOfEvent } from '../../../functions/ops-alerts/from_event.ts'

const org = { orgId: 'org-1' }
const endpoint = { ...org, endpointId: 'e-1', url: 'https://a.example', reason: 'gone' }
const template = { ...org, templateCode: 'code', reason: 'Paused' }
const channel = { ...endpoint, url: '' }
const dead = { endpointId: 'e-1', ...org, eventType: 'order.paid', error: 'no' }

const rows: [type: string, data: unknown, action: string, key: string, source: string][] = [
  ['delivery.dead_lettered', dead, 'trigger', 'dead-letter:e-1', 'e-1'],
  ['dead_letters.cleared', endpoint, 'resolve', 'dead-letter:e-1', 'e-1'],
  ['breaker.opened', endpoint, 'trigger', 'breaker:e-1', 'e-1'],
  ['breaker.closed', endpoint, 'resolve', 'breaker:e-1', 'e-1'],
  ['endpoint.disabled', endpoint, 'trigger', 'endpoint:e-1', 'e-1'],
  ['endpoint.held', endpoint, 'trigger', 'secrets:e-1', 'e-1'],
  ['endpoint.released', endpoint, 'resolve', 'secrets:e-1', 'e-1'],
  ['channel.held', channel, 'trigger', 'channel:e-1', 'e-1'],
  ['channel.resumed', channel, 'resolve', 'channel:e-1', 'e-1'],
  ['template.held', template, 'trigger', 'template:org-1/code', 'org-1/code'],
  ['template.resumed', template, 'resolve', 'template:org-1/code', 'org-1/code'],
  ['consumer.dead_lettered', { consumer: 'billing' }, 'trigger', 'consumer:billing', 'billing'],
  ['database.changed', { project: 'shop' }, 'trigger', 'database:shop', 'shop'],
  ['module.opened', {}, 'trigger', 'module:outhook', 'outhook'],
]

function bodyOf(eventType: string, data: unknown): string {
  return JSON.stringify({ id: 'v-1', eventType, createdAt: '2026-03-01T12:00:00.000Z', data })
}

for (const [type, data, action, key, source] of rows) {
  Deno.test(`alertOfEvent() makes an alert of outhook.${type}`, () => {
    expect(alertOfEvent(bodyOf(`outhook.${type}`, data)))
      .toMatchObject({
        action,
        key: `outhook:${key}`,
        source,
        summary: expect.stringMatching(/\w/),
      })
  })
}

Deno.test('alertOfEvent() makes no alert of a notice, nor of an event of the application', () => {
  expect(alertOfEvent(bodyOf('outhook.whatsapp.notice', channel))).toBeNull()
  expect(alertOfEvent(bodyOf('order.opened', {}))).toBeNull()
})
