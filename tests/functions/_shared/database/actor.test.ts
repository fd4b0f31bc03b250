import { expect } from '@std/expect'
import { connectFunctions } from '../../../../functions/_shared/database/functions.ts'

Deno.test('an actor is sent as ASCII without quotes, and one of any length as its first 200 characters', async () => {
  const seen: (string | null)[] = []
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, (request) => {
    seen.push(request.headers.get('x-outhook-actor'))
    return Response.json(null)
  })
  try {
    const call = connectFunctions({ url: `http://127.0.0.1:${server.addr.port}`, key: 'secret' })
    const actors = ['user:8f2c', 'portal:Zo\u00e9', 'a"b\\c', 'a\r\nx-org-id: b', 'a\ud800b']
    for (const actor of [...actors, 'x'.repeat(10_000), undefined]) {
      const reply = await call('get_health', {}, actor === undefined ? {} : { actor })
      expect(reply.ok).toBe(true)
    }
  } finally {
    await server.shutdown()
  }
  expect(seen).toEqual([
    ...['user:8f2c', 'portal:Zo%C3%A9', 'a%22b%5Cc', 'a%0D%0Ax-org-id:%20b', 'a%EF%BF%BDb'],
    ...['x'.repeat(200), null],
  ])
})
