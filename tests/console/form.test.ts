/** The form of an endpoint checks as the API does. */

import { expect } from '@std/expect'
import { formLimits } from '../../console/page/endpoints/form_limits.ts'
import { fieldsOf, readForm } from '../../console/page/endpoints/form_schema.ts'
import {
  headerChangeOf,
  headerProblemOf,
  headerRowsOf,
  isOtherOrigin,
} from '../../console/page/endpoints/headers.ts'
import { errorHints } from '../../console/page/events/explain.ts'
import { readProjectFile } from '../project/_tracked.ts'

const endpoint = {
  url: 'https://example.com/webhooks',
  description: '',
  eventTypes: ['order.*'],
  filter: null,
  timeoutMs: 15_000,
  maxInFlight: 10,
  ratePerSecond: null,
}

// SAFETY: these are the members that the form reads.
const whole = endpoint as unknown as Parameters<typeof fieldsOf>[0]

Deno.test('its bounds are those of the API', async () => {
  const { components } = JSON.parse(await readProjectFile('functions/api/openapi.json') ?? '')
  const { properties } = components.schemas.EndpointChange
  for (const [name, limits] of Object.entries(formLimits)) {
    expect([name, properties[name]]).toEqual([name, expect.objectContaining(limits)])
  }
})

Deno.test('only what was changed is sent', () => {
  const fields = fieldsOf(whole)
  expect(readForm(fields, whole).change).toEqual({})
  const changed = {
    ...fields,
    eventTypes: 'order.paid, invoice.*',
    filter: '$.a > 1',
    ratePerSecond: '2.5',
  }
  expect(readForm(changed, whole).change).toEqual({
    eventTypes: ['order.paid', 'invoice.*'],
    filter: '$.a > 1',
    ratePerSecond: 2.5,
  })
  expect(readForm({ ...fields, ratePerSecond: '' }, { ...whole, ratePerSecond: 3 }).change)
    .toEqual({ ratePerSecond: null })
})

Deno.test('each wrong field has an error that says what is expected', () => {
  const wrong = {
    url: 'ftp://x',
    description: 'x'.repeat(1001),
    eventTypes: 'order.',
    filter: 'x'.repeat(1001),
    timeoutMs: '499',
    maxInFlight: '1.5',
    ratePerSecond: 'fast',
  }
  const { errors } = readForm(wrong, whole)
  expect(Object.keys(errors ?? {}).sort()).toEqual(Object.keys(wrong).sort())
  expect(errors?.timeoutMs).toBe('Expected a whole number from 500 to 60000')
})

Deno.test('custom headers: a stored value is kept unless it is replaced or removed, and names have no case', () => {
  const kept = headerRowsOf(['X-Tenant', 'x-key'])
  expect(headerChangeOf(kept, ['X-Tenant', 'x-key'])).toBe(undefined)
  expect(headerChangeOf([{ name: ' X-Key ', value: 'new' }], ['X-Tenant', 'x-key']))
    .toEqual({ 'X-Key': 'new', 'X-Tenant': null })
  expect([
    headerProblemOf(kept),
    headerProblemOf([...kept, { name: 'X-KEY', value: 'a' }]),
    headerProblemOf([{ name: ' ', value: 'a' }]),
  ]).toEqual([null, 'twice', 'nameless'])
})

Deno.test('another scheme, host or port is another host, and another path is not', () => {
  const at = 'https://example.com/a'
  const urls = ['https://example.com:443/b?c', 'http://example.com/a', 'https://example.com:8443/a']
  expect([...urls, 'https://example.org/a', 'no URL'].map((url) => isOtherOrigin(url, at)))
    .toEqual([false, true, true, true, false])
})

Deno.test('the hints for error classes are those of the database', async () => {
  const sql = await readProjectFile('sql/engine/result/error_hint.sql') ?? ''
  const rows = [...sql.matchAll(/\('(\w+)',((?:\s*'[^']*')+)\)/g)].map(([, name, text = '']) => [
    name,
    [...text.matchAll(/'([^']*)'/g)].map(([, part]) => part).join(''),
  ])
  expect(errorHints).toEqual(Object.fromEntries(rows))
})
