import { expect } from '@std/expect'
import { e164, identifier } from '../../../../../functions/_shared/messages/whatsapp/phone.ts'

Deno.test('e164() normalises a number with a country code', () => {
  const rows: [string, string][] = [
    ['+12025550111', '+12025550111'],
    ['+1 (202) 555-0111', '+12025550111'],
    ['+33 1 99 00 01 23', '+33199000123'],
    ['+49 30 23125 123', '+493023125123'],
    // Brazil and Mexico: WhatsApp itself rewrites these, so they stay as they are.
    ['+55 11 99999 0000', '+5511999990000'],
  ]
  for (const [text, number] of rows) expect([text, e164(text)]).toEqual([text, number])
})

Deno.test('e164() refuses what WhatsApp would send elsewhere or nowhere', () => {
  const rows = [
    '',
    '+',
    '2025550111',
    '0012025550111',
    '+1202555',
    '+120255501111111',
    '+1 202 555 0111 ext. 5',
    'call +12025550111',
    '+1202555011a',
    '++12025550111',
    'US.13491208655302741918',
    '+99912345678',
  ]
  for (const text of rows) expect([text, e164(text)]).toEqual([text, null])
})

Deno.test('identifier() takes a number, a wa_id or a user id of WhatsApp, and nothing else', () => {
  const rows: [string, string | null][] = [
    ['+1 (202) 555-0111', '+12025550111'],
    ['12025550111', '12025550111'],
    ['US.13491208655302741918', 'US.13491208655302741918'],
    ['US.ENT.1', 'US.ENT.1'],
    ['us.1', null],
    ['US.', null],
    ['0202555', null],
    ['+1', null],
    ['', null],
  ]
  for (const [text, found] of rows) expect([text, identifier(text)]).toEqual([text, found])
})
