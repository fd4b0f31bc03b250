import { createHmac } from 'node:crypto'
import { expect } from '@std/expect'
import { parseKickSecrets, verifyKick } from '../../../functions/deliver/kick.ts'

const now = 1_767_225_600

function kick(secret: string, time: number): string {
  return `t=${time},v1=${createHmac('sha256', secret).update(String(time)).digest('hex')}`
}

Deno.test('verifyKick() accepts a kick signed with either secret within the window', () => {
  const secrets = parseKickSecrets('new-secret, old-secret')
  for (const time of [now, now - 300, now + 300]) {
    expect(verifyKick(kick('new-secret', time), secrets, now)).toBe(true)
    expect(verifyKick(kick('old-secret', time), secrets, now)).toBe(true)
  }
})

Deno.test('verifyKick() refuses a missing, malformed or old kick, and another secret', () => {
  const secrets = ['new-secret']
  const good = kick('new-secret', now)
  const refused = [
    undefined,
    '',
    't=,v1=',
    kick('other', now),
    kick('new-secret', now - 301),
    kick('new-secret', now + 301),
    good.replace(`t=${now}`, `t=${now + 1}`),
    good.replace('v1=', 'v2='),
    good.slice(0, -2),
    `${good}00`,
    good.toUpperCase(),
    ` ${good}`,
  ]
  for (const header of refused) {
    expect([header, verifyKick(header, secrets, now)]).toEqual([header, false])
  }
})

Deno.test('parseKickSecrets() returns no secret for an empty text', () => {
  expect(parseKickSecrets('')).toEqual([])
  expect(parseKickSecrets(' , ')).toEqual([])
})
