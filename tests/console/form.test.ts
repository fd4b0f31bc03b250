/** The form of an endpoint checks as the API does. */

import { expect } from '@std/expect'
import { fieldsOf, unusedFields } from '../../console/page/endpoints/form_fields.ts'
import { breakerLimits, formChoices, formLimits } from '../../console/page/endpoints/form_limits.ts'
import { readForm } from '../../console/page/endpoints/form_schema.ts'
import {
  headerChangeOf,
  headerProblemOf,
  headerRowsOf,
  isOtherOrigin,
} from '../../console/page/endpoints/headers.ts'
import {
  fieldsOfStrategy,
  readRetry,
  retryFieldsOf,
  retryLimits,
} from '../../console/page/endpoints/retry_schema.ts'
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
  rateBurst: 10,
  quantum: 10,
  payload: 'envelope',
  onDeadLetter: 'continue',
  retry4xx: false,
  breaker: { enabled: true, threshold: 5, openMs: 30_000 },
}

// SAFETY: these are the members that the form reads.
const whole = endpoint as unknown as Parameters<typeof fieldsOf>[0]

/** Expects these bounds, and those of the items of a list; the API says more of each. */
function atLeast(limits: object): unknown {
  // SAFETY: only the bounds of a list have those of its items.
  const { items, ...bounds } = limits as { items?: Record<string, number> }
  return expect.objectContaining(
    items === undefined ? bounds : { ...bounds, items: expect.objectContaining(items) },
  )
}

Deno.test('its bounds are those of the API', async () => {
  const { components } = JSON.parse(await readProjectFile('functions/api/openapi.json') ?? '')
  const { properties } = components.schemas.EndpointChange
  for (const [name, limits] of Object.entries(formLimits)) {
    expect([name, properties[name]]).toEqual([name, atLeast(limits)])
  }
  for (const [name, limits] of Object.entries(breakerLimits)) {
    expect([name, properties.breaker.properties[name]])
      .toEqual([name, expect.objectContaining(limits)])
  }
  for (const [name, choices] of Object.entries(formChoices)) {
    expect([name, properties[name].enum]).toEqual([name, choices])
  }
  // The rest of a change is not for every kind, or has a form of its own.
  const shown = Object.keys(fieldsOf(whole)).map((name) => name.replace(/^breaker.*/, 'breaker'))
  expect(Object.keys(properties).filter((name) => !shown.includes(name)).sort())
    .toEqual(['broker', 'config', 'credentials', 'headers'])
})

Deno.test('the bounds and the members of a retry policy are those of the API', async () => {
  const { components } = JSON.parse(await readProjectFile('functions/api/openapi.json') ?? '')
  const common = ['maxDelay', 'maxRetries', 'jitter', 'strategy']
  const members = components.schemas.RetryPolicy.oneOf.map(
    (
      { properties }: { properties: Record<string, unknown> & { strategy: { enum: string[] } } },
    ) => {
      for (const [name, limits] of Object.entries(retryLimits)) {
        if (!(name in properties)) continue
        expect([name, properties[name]]).toEqual([name, atLeast(limits)])
      }
      const own = Object.keys(properties).filter((name) => !common.includes(name))
      return [properties.strategy.enum[0], own]
    },
  )
  expect(Object.fromEntries(members)).toEqual(fieldsOfStrategy)
})

Deno.test('a retry policy has the members of its strategy alone, and empty fields are omitted', () => {
  // SAFETY: the form reads the policy alone.
  const fields = retryFieldsOf(
    {
      policy: { strategy: 'schedule', delays: [1, 5], maxRetries: 5, jitter: true },
    } as unknown as Parameters<typeof retryFieldsOf>[0],
  )
  expect(readRetry(fields).policy)
    .toEqual({ strategy: 'schedule', delays: [1, 5], maxRetries: 5, jitter: true })
  expect(
    readRetry({
      ...fields,
      ...{ strategy: 'exponential', baseDelay: '0.5', maxRetries: '', jitter: 'false' },
    }).policy,
  ).toEqual({ strategy: 'exponential', baseDelay: 0.5, jitter: false })
  const wrong = readRetry({ ...fields, delays: '1, soon', maxDelay: '-1', maxRetries: '2.5' })
  expect(wrong.errors).toEqual({
    delays: 'Expected numbers from 0 to 604800',
    maxDelay: 'Expected a number from 0 to 604800',
    maxRetries: 'Expected a whole number from 0 to 50',
  })
  expect(readRetry({ ...fields, delays: ' ' }).errors)
    .toEqual({ delays: 'Expected 1 to 50 numbers' })
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
  expect(
    readForm({
      ...fields,
      ...{ payload: 'data', retry4xx: 'true', breakerEnabled: 'false', breakerOpenMs: '60000' },
    }, whole).change,
  ).toEqual({ payload: 'data', retry4xx: true, breaker: { enabled: false, openMs: 60_000 } })
})

Deno.test('a setting without an effect is not shown', () => {
  const of = (kind: string, ordering: 'none' | 'endpoint'): string[] => [
    ...unusedFields({ ...whole, kind, ordering }),
  ]
  expect([of('webhook', 'endpoint'), of('webhook', 'none'), of('slack', 'none')])
    .toEqual([[], ['onDeadLetter'], ['payload', 'onDeadLetter']])
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
    rateBurst: '0',
    quantum: '1001',
    payload: 'xml',
    onDeadLetter: 'stop',
    retry4xx: 'sometimes',
    breakerEnabled: '',
    breakerThreshold: '0',
    breakerOpenMs: '999',
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
