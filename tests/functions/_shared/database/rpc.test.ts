import { expect } from '@std/expect'
import type { DispatchCall } from '../../../../functions/_shared/contract/contract.ts'
import { connectRpc } from '../../../../functions/_shared/database/rpc.ts'

const call: DispatchCall = {
  run: '00000000-0000-4000-8000-000000000001',
  seq: 1,
  results: [],
  limit: 10,
  kind: 'worker',
  ended: false,
  known: {},
  held: 0,
}

async function withGateway(
  respond: (request: Request) => Response,
  check: (url: string) => Promise<void>,
): Promise<void> {
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, respond)
  try {
    await check(`http://127.0.0.1:${server.addr.port}`)
  } finally {
    await server.shutdown()
  }
}

for (const body of ['<html>busy</html>', '']) {
  Deno.test(`a response 200 with the body "${body}" is temporary, because the call may be committed`, async () => {
    await withGateway(() => new Response(body), async (url) => {
      const database = connectRpc({ url, key: 'secret' })
      const origin = new URL(url).origin
      expect(await database.dispatch(call)).toMatchObject({
        ok: false,
        fault: {
          kind: 'temporary',
          code: '',
          message: `Cannot call outbox.dispatch at ${origin}: 200, but the response is not JSON`,
        },
      })
    })
  })
}

Deno.test('a redirect is not followed, because the other origin would get the key', async () => {
  const keys: (string | null)[] = []
  await withGateway((request) => {
    keys.push(request.headers.get('apikey'))
    return new Response('{}')
  }, async (other) => {
    await withGateway(() => Response.redirect(`${other}/`, 307), async (url) => {
      const database = connectRpc({ url, key: 'secret' })
      expect(await database.dispatch(call)).toMatchObject({
        ok: false,
        fault: { kind: 'temporary' },
      })
    })
  })
  expect(keys).toEqual([])
})
