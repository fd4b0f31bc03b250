import { expect } from '@std/expect'
import type { z } from 'zod'
import { freePayload } from '../../../../../functions/_shared/messages/whatsapp/payload.ts'
import {
  formatProblem,
  templatePayload,
} from '../../../../../functions/_shared/messages/whatsapp/template_payload.ts'

/** Where the first fault of a value is; null: it has none. */
function faultOf(schema: z.ZodType, value: unknown): string | null {
  const read = schema.safeParse(value)
  return read.success ? null : read.error.issues[0]?.path.join('.') ?? ''
}

const reply = (n: number): Record<string, string> => ({ id: `r${n}`, title: `Reply ${n}` })
const rows = (count: number): Record<string, string>[] =>
  Array.from({ length: count }, (_, n) => ({ id: `row${n}`, title: `Row ${n}` }))

Deno.test('freePayload names the field that WhatsApp would refuse', () => {
  const table: [unknown, string | null][] = [
    [{ type: 'text', text: 'x'.repeat(4096) }, null],
    [{ type: 'text', text: 'x'.repeat(4097) }, 'text'],
    [{ type: 'text', text: ' \n' }, 'text'],
    [{ type: 'text' }, 'text'],
    [{ type: 'text', text: 'a', colour: 'red' }, ''],
    [{ type: 'voice', id: '1' }, 'type'],
    [{}, 'type'],
    [null, ''],
    [{ type: 'image', id: '123' }, null],
    [{ type: 'image', link: 'https://example.com/a.jpg', caption: 'Hello' }, null],
    [{ type: 'image', id: '123', link: 'https://example.com/a.jpg' }, 'link'],
    [{ type: 'image' }, 'link'],
    [{ type: 'image', link: 'http://example.com/a.jpg' }, 'link'],
    [{ type: 'image', link: 'https://user:pass@example.com/a.jpg' }, 'link'],
    [{ type: 'image', link: 'a.jpg' }, 'link'],
    [{ type: 'image', id: '../me' }, 'id'],
    [{ type: 'audio', id: '1', caption: 'no captions here' }, ''],
    [{ type: 'document', id: '1', filename: 'x'.repeat(241) }, 'filename'],
    [{ type: 'location', latitude: 48.2, longitude: 16.3 }, null],
    [{ type: 'location', latitude: 91, longitude: 16.3 }, 'latitude'],
    [{ type: 'location', latitude: 48.2, longitude: Infinity }, 'longitude'],
    [{ type: 'reaction', messageId: 'wamid.A', emoji: '' }, null],
    [{ type: 'reaction', emoji: '👍' }, 'messageId'],
    [{ type: 'interactive', body: 'Which?', buttons: [1, 2, 3].map(reply) }, null],
    [{ type: 'interactive', body: 'Which?', buttons: [1, 2, 3, 4].map(reply) }, 'buttons'],
    [{ type: 'interactive', body: 'Which?', buttons: [reply(1), reply(1)] }, 'buttons'],
    [{ type: 'interactive', body: 'x'.repeat(1025), buttons: [reply(1)] }, 'body'],
    [{ type: 'interactive', body: 'Which?' }, 'buttons'],
    [
      {
        type: 'interactive',
        body: 'Which?',
        list: { button: 'Open', sections: [{ rows: rows(10) }] },
      },
      null,
    ],
    [
      {
        type: 'interactive',
        body: 'Which?',
        list: {
          button: 'Open',
          sections: [{ title: 'A', rows: rows(6) }, { title: 'B', rows: rows(5) }],
        },
      },
      'list.sections',
    ],
    [
      {
        type: 'interactive',
        body: 'Which?',
        list: { button: 'Open', sections: [{ rows: rows(1) }, { rows: rows(1) }] },
      },
      'list.sections',
    ],
  ]
  for (const [value, path] of table) {
    expect([value, faultOf(freePayload, value)]).toEqual([value, path])
  }
})

Deno.test('templatePayload names the field that WhatsApp would refuse', () => {
  const table: [unknown, string | null][] = [
    [{}, null],
    [{ parameters: ['Anna', '3 March'] }, null],
    [{ parameters: { first_name: 'Anna' } }, null],
    [{ parameters: [''] }, 'parameters.0'],
    [{ parameters: { 'First name': 'Anna' } }, 'parameters'],
    [{ header: { type: 'document', link: 'https://example.com/a.pdf', filename: 'a.pdf' } }, null],
    [{ header: { type: 'image' } }, 'header.link'],
    [{ header: { type: 'text', text: 'x'.repeat(61) } }, 'header.text'],
    [{ buttons: [{ type: 'url', index: 0, text: 'abc' }] }, null],
    [{ buttons: [{ type: 'url', index: 10, text: 'abc' }] }, 'buttons.0.index'],
    [{ buttons: [{ type: 'phone', index: 0 }] }, 'buttons.0.type'],
    [{ text: 'Hello' }, ''],
  ]
  for (const [value, path] of table) {
    expect([value, faultOf(templatePayload, value)]).toEqual([value, path])
  }
})

Deno.test('formatProblem() distinguishes positional from named parameters', () => {
  const list = templatePayload.parse({ parameters: ['Anna'] })
  const names = templatePayload.parse({ parameters: { name: 'Anna' } })
  const header = templatePayload.parse({ header: { type: 'text', text: 'Hi', name: 'greeting' } })
  expect(formatProblem(list, 'POSITIONAL')).toBeNull()
  expect(formatProblem(names, 'NAMED')).toBeNull()
  expect(formatProblem({}, 'NAMED')).toBeNull()
  expect(formatProblem(header, 'NAMED')).toBeNull()
  expect(formatProblem(list, 'NAMED')?.path).toBe('parameters')
  expect(formatProblem(names, 'POSITIONAL')?.path).toBe('parameters')
  expect(formatProblem(header, 'POSITIONAL')?.path).toBe('header.name')
})
