import { expect } from '@std/expect'
import { replyOf } from '../../../../../functions/_shared/senders/rabbitmq/reply.ts'

Deno.test('replyOf() names what RabbitMQ closed with, by its code or by the words of the client', () => {
  const rows: [error: unknown, reply: string | null][] = [
    [Object.assign(new Error('closed'), { code: 404 }), 'NOT_FOUND'],
    [Object.assign(new Error('closed'), { code: 999 }), null],
    [
      new Error('Handshake terminated by server: 403 (ACCESS-REFUSED) with "Login"'),
      'ACCESS_REFUSED',
    ],
    [new Error('Expected ConnectionOpenOk; got <ConnectionClose channel:0>'), 'NOT_ALLOWED'],
    [new Error('Socket closed abruptly during opening handshake'), null],
    [new Error('port 404 refused'), null],
    ['403 (ACCESS-REFUSED)', null],
    [null, null],
  ]
  for (const [error, reply] of rows) expect([error, replyOf(error)]).toEqual([error, reply])
})
