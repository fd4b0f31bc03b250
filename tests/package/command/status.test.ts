import { expect } from '@std/expect'
import { showStatus, statusOf } from '../../../package/command/status/status.ts'
import type { Facts } from '../../../package/command/remote/facts.ts'

const facts: Facts = {
  at: '2026-01-01T00:00:00.000Z',
  postgres: '17.2',
  version: '1.1.0',
  modules: ['core', 'api', 'inbox'],
  module_versions: { core: '1.1.0', api: '1.0.0', inbox: '1.1.0' },
  contracts: { oldest: 1, newest: 2 },
  configured: { functions_url: null, stored: 0, readable: 0 },
  jobs: [],
  last_tick_at: null,
  responses: [],
  runs: {},
  queue: {},
  problems: [],
  test: null,
}

Deno.test('status names the version of a module that an upgrade has left behind', () => {
  const text = showStatus(statusOf('https://shop.test', facts, null))
  expect(text).toMatch(/^modules +core, api \(1\.0\.0\), inbox$/m)
})

Deno.test('status reads a database that does not record the versions of its modules', () => {
  const { module_versions: _, ...older } = facts
  const text = showStatus(statusOf('https://shop.test', older, null))
  expect(text).toMatch(/^modules +core, api, inbox$/m)
})
