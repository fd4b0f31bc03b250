import { expect } from '@std/expect'
import { readText } from '../../../../functions/_shared/http/read_text.ts'

function request(body: BodyInit): Request {
  return new Request('http://localhost/', { method: 'POST', body })
}

async function refusal(body: BodyInit, ms?: number): Promise<unknown[]> {
  const answer = await readText(request(body), 10, ms === undefined ? {} : { ms })
  return answer instanceof Response ? [answer.status, (await answer.json()).code] : [answer]
}

Deno.test('readText() returns the text of a body', async () => {
  expect(await readText(request('ünfit'), 10)).toBe('ünfit')
  expect(await readText(request('x'.repeat(10)), 10)).toBe('x'.repeat(10))
  expect(await readText(new Request('http://localhost/', { method: 'POST' }), 10)).toBe('')
})

Deno.test('readText() returns the error response to a body that is too large', async () => {
  expect(await refusal('x'.repeat(11))).toEqual([413, 'too_large'])
})

Deno.test('readText() returns the error response to an incomplete body', async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error('reset')),
  })
  expect(await refusal(broken)).toEqual([400, 'invalid_argument'])
})

Deno.test('readText() returns the error response to a body that is too late', async () => {
  expect(await refusal(new ReadableStream<Uint8Array>(), 1)).toEqual([408, 'request_timeout'])
})
