import { expect } from '@std/expect'
import type { OutgoingMessage } from '../../../../../functions/_shared/senders/message.ts'
import { graphRequest } from '../../../../../functions/_shared/senders/whatsapp/request.ts'
import { templateContent } from '../../../../../functions/_shared/senders/whatsapp/template.ts'
import { sendBody } from '../../../../../supabase/local/whatsapp/shapes.ts'
import { sampleMessage, sampleTemplate } from '../../../samples.ts'

/** The content of a message as the Graph API gets it, once the fake would take it. */
function contentOf(over: Partial<OutgoingMessage>): Record<string, unknown> {
  const request = graphRequest(sampleMessage(over))
  if (!request.ok) throw new Error(request.problem)
  sendBody.parse(JSON.parse(JSON.stringify(request.body)))
  const { messaging_product, recipient_type, to, biz_opaque_callback_data, ...content } =
    request.body
  expect({ messaging_product, recipient_type, to, biz_opaque_callback_data }).toEqual({
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: '+12025550111',
    biz_opaque_callback_data: 'ob1:7:1',
  })
  return content
}

const link = 'https://example.com/a'

Deno.test('graphRequest() builds each kind of content', () => {
  const table: [unknown, unknown][] = [
    [{ type: 'text', text: 'Hello\nyou' }, {
      type: 'text',
      text: { preview_url: false, body: 'Hello\nyou' },
    }],
    [{ type: 'text', text: link, previewUrl: true, replyTo: 'wamid.A' }, {
      type: 'text',
      text: { preview_url: true, body: link },
      context: { message_id: 'wamid.A' },
    }],
    [{ type: 'image', id: '12', caption: 'A' }, {
      type: 'image',
      image: { id: '12', caption: 'A' },
    }],
    [{ type: 'video', link }, { type: 'video', video: { link } }],
    [{ type: 'audio', id: '12' }, { type: 'audio', audio: { id: '12' } }],
    [{ type: 'document', link, filename: 'a.pdf', replyTo: 'wamid.A' }, {
      type: 'document',
      document: { link, filename: 'a.pdf' },
      context: { message_id: 'wamid.A' },
    }],
    [{ type: 'location', latitude: 48.2, longitude: 16.3, name: 'Here' }, {
      type: 'location',
      location: { latitude: 48.2, longitude: 16.3, name: 'Here' },
    }],
    [{ type: 'reaction', messageId: 'wamid.A', emoji: '👍' }, {
      type: 'reaction',
      reaction: { message_id: 'wamid.A', emoji: '👍' },
    }],
    [
      {
        type: 'interactive',
        header: 'Top',
        body: 'Which?',
        footer: 'End',
        buttons: [{ id: 'y', title: 'Yes' }],
      },
      {
        type: 'interactive',
        interactive: {
          type: 'button',
          header: { type: 'text', text: 'Top' },
          body: { text: 'Which?' },
          footer: { text: 'End' },
          action: { buttons: [{ type: 'reply', reply: { id: 'y', title: 'Yes' } }] },
        },
      },
    ],
    [
      {
        type: 'interactive',
        body: 'Which?',
        list: { button: 'Open', sections: [{ rows: [{ id: 'a', title: 'A', description: 'a' }] }] },
      },
      {
        type: 'interactive',
        interactive: {
          type: 'list',
          body: { text: 'Which?' },
          action: {
            button: 'Open',
            sections: [{ rows: [{ id: 'a', title: 'A', description: 'a' }] }],
          },
        },
      },
    ],
  ]
  for (const [payload, content] of table) {
    expect(contentOf({ payload, template: null })).toEqual(content)
  }
})

Deno.test('graphRequest() fills a template whose parameters are positional', () => {
  const payload = {
    header: { type: 'document', link, filename: 'a.pdf' },
    parameters: [
      'Anna',
      { type: 'currency', fallback: '10,00 €', code: 'EUR', amount1000: 10_000 },
      { type: 'date_time', fallback: '3 mars 2027' },
    ],
    buttons: [
      { type: 'url', index: 0, text: 'abc' },
      { type: 'quick_reply', index: 1, payload: 'STOP' },
      { type: 'copy_code', index: 2, code: 'SAVE10' },
      { type: 'flow', index: 3, token: 't' },
    ],
    replyTo: 'wamid.A',
  }
  const button = (index: string, sub_type: string, parameter: unknown): unknown => ({
    type: 'button',
    sub_type,
    index,
    parameters: [parameter],
  })
  expect(contentOf({ payload, template: sampleTemplate() })).toEqual({
    type: 'template',
    template: {
      name: 'appointment_reminder',
      language: { code: 'fr' },
      components: [
        {
          type: 'header',
          parameters: [{ type: 'document', document: { link, filename: 'a.pdf' } }],
        },
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'Anna' },
            {
              type: 'currency',
              currency: { fallback_value: '10,00 €', code: 'EUR', amount_1000: 10_000 },
            },
            { type: 'date_time', date_time: { fallback_value: '3 mars 2027' } },
          ],
        },
        button('0', 'url', { type: 'text', text: 'abc' }),
        button('1', 'quick_reply', { type: 'payload', payload: 'STOP' }),
        button('2', 'copy_code', { type: 'coupon_code', coupon_code: 'SAVE10' }),
        button('3', 'flow', { type: 'action', action: { flow_token: 't' } }),
      ],
    },
    context: { message_id: 'wamid.A' },
  })
})

Deno.test('graphRequest() names the parameters of a template with named ones', () => {
  const template = sampleTemplate({ parameter_format: 'NAMED' })
  const payload = {
    header: { type: 'text', text: 'Hi', name: 'greeting' },
    parameters: { first_name: 'Anna' },
  }
  expect(contentOf({ payload, template })).toMatchObject({
    template: {
      components: [
        { type: 'header', parameters: [{ type: 'text', parameter_name: 'greeting', text: 'Hi' }] },
        {
          type: 'body',
          parameters: [{ type: 'text', parameter_name: 'first_name', text: 'Anna' }],
        },
      ],
    },
  })
})

Deno.test('graphRequest() leaves the components out where nothing is to be filled in', () => {
  for (const payload of [{}, { parameters: [] }]) {
    expect(contentOf({ payload, template: sampleTemplate() })).toEqual({
      type: 'template',
      template: { name: 'appointment_reminder', language: { code: 'fr' } },
    })
  }
})

Deno.test('graphRequest() removes line breaks from parameters, as Meta requires', () => {
  const payload = { parameters: ['12 High Street \n\t Vienna      Austria'] }
  expect(contentOf({ payload, template: sampleTemplate() })).toMatchObject({
    template: {
      components: [{ parameters: [{ text: '12 High Street Vienna    Austria' }] }],
    },
  })
})

Deno.test('templateContent() takes time in proportion to the white space in a parameter', () => {
  // With a search that starts again at each space this would be 10^12 steps.
  const spaces = ' '.repeat(1_000_000)
  const parameters = [`a${spaces}b`, `a${spaces}\nb`, '\n a \t']
  expect(templateContent(sampleTemplate(), { parameters })).toMatchObject({
    template: {
      components: [{ parameters: [{ text: 'a    b' }, { text: 'a b' }, { text: ' a ' }] }],
    },
  })
})

Deno.test('graphRequest() names the invalid field, not its value', () => {
  const table: [Partial<OutgoingMessage>, string][] = [
    [{ template: null, payload: { type: 'text', text: '' } }, 'text: '],
    [{ template: null, payload: 'Secret' }, ': '],
    [{ payload: { parameters: { a: 'Secret' } } }, 'parameters: This template has positional'],
    [{ payload: { header: { type: 'image', link: 'Secret' } } }, 'header.link: '],
  ]
  for (const [over, problem] of table) {
    const request = graphRequest(sampleMessage({ template: sampleTemplate(), ...over }))
    expect(request).toEqual({ ok: false, problem: expect.stringContaining(problem) })
    expect(JSON.stringify(request)).not.toContain('Secret')
  }
})
