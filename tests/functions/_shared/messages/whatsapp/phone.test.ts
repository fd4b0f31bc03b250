import { expect } from '@std/expect'
import { e164 } from '../../../../../functions/_shared/messages/whatsapp/phone.ts'

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
