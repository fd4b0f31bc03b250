/** The noisy organisation of tests/bench/noisy.ts does everything that an organisation may write. */

import { expect } from '@std/expect'
import openapi from '../../functions/api/openapi.json' with { type: 'json' }
import { type Calls, routeOf } from '../bench/noisy/calls.ts'
import { loopNames } from '../bench/noisy/options.ts'
import { parts } from '../bench/noisy/parts.ts'
import { allSteps } from '../bench/noisy/steps.ts'

/** What it leaves out, and why. */
const leftOut: Record<string, string> = {
  'POST /webhooks/whatsapp/inbound': 'Meta calls it',
  'POST /channels': 'only a secret key may, and the bench creates the channel',
  'DELETE /channels/{id}': 'its messages would fail, and no other could be sent',
  'PUT /whatsapp-apps/{id}': 'only a secret key may',
  'POST /channels/{id}/check': 'it calls Meta about ten times, and counts as three more requests',
  'POST /people/part': 'only people whom a callback has joined can be parted',
}

/** Each write of the API, such as `POST /endpoints/{id}/pause`; a type counts as a name. */
function writes(): string[] {
  return Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.keys(methods).filter((method) => /^(post|put|patch|delete)$/.test(method)).map(
      (method) => `${method.toUpperCase()} ${written(path)}`,
    )
  )
}

function written(path: string): string {
  return path.replace('/api/v1', '').replaceAll(/\{\w+\}/g, '{id}')
}

/** A route of the noise whose name has no digit. */
const named: Record<string, string> = {
  '/event-types/noise.big': '/event-types/{id}',
  '/event-types/noise.other': '/event-types/{id}',
  '/sagas/place_order': '/sagas/{id}',
}

Deno.test('each write of the API is in a loop of the noise, or left out with a reason', async () => {
  const sent = new Set<string>()
  const calls: Calls = {
    call: (method, path) => {
      const route = routeOf(path)
      sent.add(`${method} ${named[route] ?? route}`)
      const body = { id: 'id-1', secrets: [{ id: 's-2' }, { id: 's-1' }] }
      return Promise.resolve({ isDone: true, status: 200, body })
    },
    ids: () => Promise.resolve(Array.from({ length: 6 }, (_, n) => `id-${n}`)),
    answers: {},
  }
  const steps = allSteps(calls, ['$.a'])
  expect(Object.keys(steps).sort()).toEqual([...loopNames].sort())
  for (const name of loopNames) for (let n = 0; n < 10; n++) await steps[name]()
  const made = [...sent].filter((route) => !route.startsWith('GET '))
  expect([...made, ...Object.keys(leftOut)].sort()).toEqual(writes().sort())
})

Deno.test('the measurement of all noise has each loop', () => {
  const [all] = parts
  expect(loopNames.filter((name) => !all?.loops.includes(name))).toEqual([])
})
