/** Bodies of callbacks in the shapes that WhatsApp uses, made up from end to end, and what becomes of each. */

import type { Update } from '../../../../../functions/_shared/messages/callbacks/update.ts'

export type Shape = {
  name: string
  /** The body, or its text where JSON.stringify would not write it so. */
  body: unknown
  /** Members of its updates, in order; those that are not named are null. */
  updates: Partial<Update>[]
}

export const waba = '200000000000001'
export const phone = '100000000000001'
export const metadata = { display_phone_number: '12025550100', phone_number_id: phone }
const person = '12025550111'
const userId = 'US.1000000001'
const priced = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' }

/** The envelope of one change. */
export function envelope(value: unknown, field: string | undefined = 'messages'): unknown {
  const change = field === undefined ? { value } : { field, value }
  return { object: 'whatsapp_business_account', entry: [{ id: waba, changes: [change] }] }
}

function ofNumber(value: Record<string, unknown>): unknown {
  return envelope({ messaging_product: 'whatsapp', metadata, ...value })
}

function statuses(...all: unknown[]): unknown {
  return ofNumber({ statuses: all })
}

function message(over: Record<string, unknown>, contact: unknown = contactOfPerson): unknown {
  const base = { from: person, id: 'wamid.IN01', timestamp: '1790000100' }
  return ofNumber({ contacts: [contact], messages: [{ ...base, ...over }] })
}

const contactOfPerson = { profile: { name: 'Zoé' }, wa_id: person }
const place = {
  field: 'messages',
  waba_id: waba,
  phone_number_id: phone,
  display: '12025550100',
}
const status = { ...place, kind: 'status', wamid: 'wamid.TEST01', wa_id: person } as const
const inbound = {
  ...place,
  kind: 'message',
  wamid: 'wamid.IN01',
  wa_id: person,
  at: 1790000100,
} as const

/** Statuses of our own messages. */
export const statusShapes: Shape[] = [
  {
    name: 'sent, with a conversation',
    body: statuses({
      id: 'wamid.TEST01',
      status: 'sent',
      timestamp: '1790000000',
      recipient_id: person,
      conversation: {
        id: 'c0ffee01',
        expiration_timestamp: '1790086400',
        origin: { type: 'utility' },
      },
      pricing: priced,
    }),
    updates: [{ ...status, status: 'sent', at: 1790000000 }],
  },
  {
    name: 'sent, with what the send gave along',
    body: statuses({
      id: 'wamid.TEST01',
      status: 'sent',
      timestamp: '1790000000',
      recipient_id: person,
      biz_opaque_callback_data: 'ob1:0b54:1',
      pricing: priced,
    }),
    updates: [{ ...status, status: 'sent', at: 1790000000, callback_data: 'ob1:0b54:1' }],
  },
  {
    name: 'delivered',
    body: statuses({
      id: 'wamid.TEST01',
      status: 'delivered',
      timestamp: '1790000004',
      recipient_id: person,
      pricing: priced,
    }),
    updates: [{ ...status, status: 'delivered', at: 1790000004 }],
  },
  {
    name: 'read, with the time as a number',
    body: statuses({
      id: 'wamid.TEST01',
      status: 'read',
      timestamp: 1790000004,
      recipient_id: person,
    }),
    updates: [{ ...status, status: 'read', at: 1790000004 }],
  },
  {
    name: 'failed with all that is known of it',
    body: statuses({
      id: 'wamid.TEST01',
      status: 'failed',
      timestamp: '1790000009',
      recipient_id: person,
      errors: [{
        code: 131049,
        title: 'This message was not delivered to maintain healthy ecosystem engagement.',
        message: 'This message was not delivered to maintain healthy ecosystem engagement.',
        error_data: { details: 'In order to maintain a healthy ecosystem engagement' },
        href: '/documentation/business-messaging/whatsapp/support/error-codes',
      }],
    }),
    updates: [{ ...status, status: 'failed', at: 1790000009 }],
  },
  {
    name: 'failed with a code and a title alone',
    body: statuses({
      id: 'wamid.TEST01',
      status: 'failed',
      timestamp: '1790000009',
      recipient_id: person,
      errors: [{ code: 131014, title: 'Request for url failed with error: 404' }],
    }),
    updates: [{ ...status, status: 'failed', at: 1790000009 }],
  },
  {
    name: 'failed without a word about why',
    body: statuses({
      id: 'wamid.TEST01',
      status: 'failed',
      timestamp: '1790000009',
      recipient_id: person,
    }),
    updates: [{ ...status, status: 'failed', at: 1790000009 }],
  },
  {
    name: 'delivered to somebody whose number is hidden',
    body: ofNumber({
      contacts: [{ profile: { name: 'T' }, user_id: userId }],
      statuses: [{
        id: 'wamid.TEST01',
        status: 'delivered',
        timestamp: '1790000004',
        recipient_user_id: userId,
      }],
    }),
    updates: [{ ...status, status: 'delivered', at: 1790000004, wa_id: null, user_id: userId }],
  },
  {
    name: 'played',
    body: statuses({
      id: 'wamid.TEST01',
      status: 'played',
      timestamp: '1790000004',
      recipient_id: person,
    }),
    updates: [{ ...status, status: 'played', at: 1790000004 }],
  },
  {
    name: 'a status that nobody knows, and members that nobody knows',
    body: statuses({
      id: 'wamid.TEST01',
      status: 'deleted',
      timestamp: '1790000004',
      recipient_id: person,
      recipient_logical_id: '7',
      later: { more: [1] },
    }),
    updates: [{ ...status, status: 'deleted', at: 1790000004 }],
  },
  {
    name: 'read by one of a group',
    body: statuses({
      id: 'wamid.TEST01',
      status: 'read',
      timestamp: '1790000004',
      recipient_type: 'group',
      recipient_id: 'Y2FmZQ',
      recipient_participant_id: person,
    }),
    updates: [{ ...status, status: 'read', at: 1790000004 }],
  },
  {
    name: "spec 2's own body, without object and field",
    body: {
      entry: [{
        changes: [{ value: { metadata, statuses: [{ id: 'wamid.TEST01', status: 'sent' }] } }],
      }],
    },
    updates: [{ ...status, waba_id: null, status: 'sent', wa_id: null }],
  },
  {
    name: 'a batch of two accounts, three changes, statuses and a message',
    body: {
      object: 'whatsapp_business_account',
      entry: [
        {
          id: waba,
          time: 1790000001,
          changes: [
            {
              field: 'messages',
              value: {
                metadata,
                statuses: [
                  { id: 'wamid.A1', status: 'sent', timestamp: '1' },
                  { id: 'wamid.A2', status: 'sent', timestamp: '2' },
                  { id: 'wamid.A1', status: 'delivered', timestamp: '3' },
                ],
              },
            },
            {
              field: 'messages',
              value: {
                metadata: { phone_number_id: '100000000000002' },
                statuses: [
                  { id: 'wamid.B1', status: 'read', timestamp: '4' },
                  { id: 'wamid.B2', status: 'read', timestamp: '5' },
                ],
                messages: [{ from: person, id: 'wamid.IN05', timestamp: '6', type: 'text' }],
              },
            },
          ],
        },
        {
          id: '200000000000002',
          changes: [{
            field: 'messages',
            value: {
              metadata: { phone_number_id: '100000000000003' },
              statuses: [{ id: 'wamid.C1', status: 'sent', timestamp: '7' }],
            },
          }],
        },
      ],
    },
    updates: [
      { ...status, wa_id: null, wamid: 'wamid.A1', status: 'sent', at: 1 },
      { ...status, wa_id: null, wamid: 'wamid.A2', status: 'sent', at: 2 },
      { ...status, wa_id: null, wamid: 'wamid.A1', status: 'delivered', at: 3 },
      ...['wamid.B1', 'wamid.B2'].map((wamid, index) => ({
        ...status,
        wa_id: null,
        wamid,
        phone_number_id: '100000000000002',
        display: null,
        status: 'read',
        at: 4 + index,
      })),
      {
        ...inbound,
        wamid: 'wamid.IN05',
        phone_number_id: '100000000000002',
        display: null,
        status: 'text',
        at: 6,
      },
      {
        ...status,
        wa_id: null,
        wamid: 'wamid.C1',
        waba_id: '200000000000002',
        phone_number_id: '100000000000003',
        display: null,
        status: 'sent',
        at: 7,
      },
    ],
  },
]

/** Messages of people, and what they prefer. */
export const messageShapes: Shape[] = [
  {
    name: 'a text',
    body: message({ type: 'text', text: { body: 'STOP' } }),
    updates: [{
      ...inbound,
      status: 'text',
      data: {
        from: person,
        id: 'wamid.IN01',
        timestamp: '1790000100',
        type: 'text',
        text: { body: 'STOP' },
        contact: contactOfPerson,
      },
    }],
  },
  {
    name: 'a quick reply to a template',
    body: message({
      context: { from: '12025550100', id: 'wamid.TEST01' },
      type: 'button',
      button: { payload: 'STOP', text: 'Se désabonner' },
    }),
    updates: [{ ...inbound, status: 'button' }],
  },
  {
    name: 'an answer by a button, a list and a flow',
    body: ofNumber({
      contacts: [contactOfPerson],
      messages: [
        { type: 'button_reply', button_reply: { id: 'yes', title: 'Oui' } },
        { type: 'list_reply', list_reply: { id: '1', title: 'A', description: 'B' } },
        {
          type: 'nfm_reply',
          nfm_reply: { name: 'flow', body: 'Sent', response_json: '{"flow_token":"x"}' },
        },
      ].map((interactive, index) => ({
        from: person,
        id: `wamid.IN1${index}`,
        timestamp: '1790000100',
        type: 'interactive',
        interactive,
      })),
    }),
    updates: [0, 1, 2].map((index) => ({
      ...inbound,
      wamid: `wamid.IN1${index}`,
      status: 'interactive',
    })),
  },
  {
    name: 'an image',
    body: message({
      type: 'image',
      image: { id: '300000000000001', mime_type: 'image/jpeg', sha256: 'x', caption: 'c' },
    }),
    updates: [{ ...inbound, status: 'image' }],
  },
  {
    name: 'a reaction that is taken back',
    body: message({ type: 'reaction', reaction: { message_id: 'wamid.TEST01' } }),
    updates: [{ ...inbound, status: 'reaction' }],
  },
  {
    name: 'a message that cannot be shown',
    body: message({
      type: 'unsupported',
      unsupported: { type: 'unknown' },
      errors: [{ code: 131060, title: 'This message is unavailable.' }],
    }),
    updates: [{ ...inbound, status: 'unsupported' }],
  },
  {
    name: 'a message of somebody whose number is hidden',
    body: ofNumber({
      contacts: [{
        profile: { name: 'T', username: 't' },
        user_id: userId,
        parent_user_id: 'US.ENT.9',
      }],
      messages: [{
        from_user_id: userId,
        id: 'wamid.IN01',
        timestamp: '1790000100',
        type: 'text',
        text: { body: 'hi' },
      }],
    }),
    updates: [{ ...inbound, status: 'text', wa_id: null, user_id: userId }],
  },
  {
    name: 'a message whose number stands with its contact alone',
    body: ofNumber({
      contacts: [{ wa_id: '1', user_id: 'US.9' }, { wa_id: person, user_id: userId }],
      messages: [{
        from_user_id: userId,
        id: 'wamid.IN01',
        timestamp: '1790000100',
        type: 'text',
      }],
    }),
    updates: [{ ...inbound, status: 'text', user_id: userId }],
  },
  {
    name: 'word of a changed number, without contacts',
    body: ofNumber({
      messages: [{
        from: person,
        id: 'wamid.IN01',
        timestamp: '1790000100',
        type: 'system',
        system: { body: 'User A changed', wa_id: '12025550199', type: 'user_changed_number' },
      }],
    }),
    updates: [{ ...inbound, status: 'system' }],
  },
  {
    name: 'a message that was edited, and one that was taken back',
    body: ofNumber({
      contacts: [contactOfPerson],
      messages: [
        {
          from: person,
          id: 'wamid.IN01',
          timestamp: '1790000100',
          type: 'edit',
          edit: { original_message_id: 'wamid.IN00', message: { type: 'text' } },
        },
        {
          from: person,
          id: 'wamid.IN02',
          timestamp: '1790000100',
          type: 'revoke',
          revoke: { original_message_id: 'wamid.IN00' },
        },
      ],
    }),
    updates: [
      { ...inbound, status: 'edit' },
      { ...inbound, status: 'revoke', wamid: 'wamid.IN02' },
    ],
  },
  {
    name: 'a wish for no more marketing',
    body: envelope({
      messaging_product: 'whatsapp',
      metadata,
      contacts: [contactOfPerson],
      user_preferences: [{
        wa_id: person,
        detail: 'User requested to stop marketing messages',
        category: 'marketing_messages',
        value: 'stop',
        timestamp: 1790000200,
      }],
    }, 'user_preferences'),
    updates: [{
      ...place,
      kind: 'preference',
      field: 'user_preferences',
      wa_id: person,
      status: 'stop',
      at: 1790000200,
    }],
  },
]

/** What is about an account, a number or a template, and what is about nothing of ours. */
export const accountShapes: Shape[] = [
  {
    name: 'a paused template, the members in another order',
    body: {
      entry: [{
        id: waba,
        time: 1790000300,
        changes: [{
          value: {
            event: 'PAUSED',
            message_template_id: 4000000000000001,
            message_template_name: 'appointment_reminder',
            message_template_language: 'en-US',
            reason: 'NONE',
            other_info: { title: 'FIRST_PAUSE', description: '…' },
          },
          field: 'message_template_status_update',
        }],
      }],
      object: 'whatsapp_business_account',
    },
    updates: [{
      kind: 'template',
      field: 'message_template_status_update',
      waba_id: waba,
      status: 'PAUSED',
      at: 1790000300,
    }],
  },
  {
    name: 'a template with an id beyond what a double holds',
    body: `{"object":"whatsapp_business_account","entry":[{"id":"${waba}","changes":[{"field":` +
      '"message_template_quality_update","value":{"message_template_id":9007199254740993}}]}]}',
    updates: [{
      kind: 'template',
      field: 'message_template_quality_update',
      waba_id: waba,
      data: { message_template_id: '9007199254740993' },
    }],
  },
  {
    name: 'a restricted account',
    body: envelope({
      event: 'ACCOUNT_RESTRICTION',
      restriction_info: [{
        restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING',
        expiration: 1790600000,
      }],
    }, 'account_update'),
    updates: [{
      kind: 'account',
      field: 'account_update',
      waba_id: waba,
      status: 'ACCOUNT_RESTRICTION',
    }],
  },
  {
    name: 'the throughput of a number, by its display name',
    body: envelope({
      display_phone_number: '+1 202-555-0100',
      event: 'THROUGHPUT_UPGRADE',
      current_limit: 'TIER_UNLIMITED',
    }, 'phone_number_quality_update'),
    updates: [{
      kind: 'quality',
      field: 'phone_number_quality_update',
      waba_id: waba,
      display: '12025550100',
      status: 'THROUGHPUT_UPGRADE',
    }],
  },
  {
    name: "a call's status is none of a message",
    body: envelope({
      metadata,
      statuses: [{ id: 'wacid.TEST', status: 'RINGING', timestamp: '1', type: 'call' }],
    }, 'calls'),
    updates: [{ ...place, kind: 'other', field: 'calls' }],
  },
  {
    name: 'an error of the whole change',
    body: ofNumber({ errors: [{ code: 0, title: 'We were unable to authenticate the app user' }] }),
    updates: [{
      ...place,
      kind: 'other',
      data: { code: 0, title: 'We were unable to authenticate the app user' },
    }],
  },
  {
    name: 'echoes of what was sent by hand',
    body: envelope({
      metadata,
      message_echoes: [{ from: '12025550100', to: person, id: 'wamid.ECHO', type: 'text' }],
    }, 'smb_message_echoes'),
    updates: [{ ...place, kind: 'other', field: 'smb_message_echoes' }],
  },
  {
    name: 'a field of the future',
    body: envelope({ metadata, anything: true }, 'fortune_telling'),
    updates: [{ ...place, kind: 'other', field: 'fortune_telling' }],
  },
]

/** What is not as it should be: each bad element costs itself alone. */
export const brokenShapes: Shape[] = [
  {
    name: 'one status without an id among two',
    body: statuses(
      { id: 'wamid.TEST01', status: 'sent', timestamp: '1' },
      { status: 'sent', timestamp: '1' },
      { id: 'wamid.TEST02', status: 'sent', timestamp: '1' },
    ),
    updates: [
      { ...status, wa_id: null, status: 'sent', at: 1 },
      {
        ...status,
        wa_id: null,
        wamid: null,
        status: 'sent',
        at: 1,
        problem: 'the status has no id',
      },
      { ...status, wa_id: null, wamid: 'wamid.TEST02', status: 'sent', at: 1 },
    ],
  },
  {
    name: 'statuses that are no objects, and one whose members have other types',
    body: statuses(
      null,
      'sent',
      [1],
      { id: 7, status: { a: 1 }, timestamp: 'soon', errors: 'many' },
    ),
    updates: [
      ...[null, 'sent', [1]].map((value) => ({
        ...place,
        kind: 'status' as const,
        problem: 'the status is not an object',
        data: { value },
      })),
      { ...place, kind: 'status', problem: 'the status has no id' },
    ],
  },
  {
    name: 'a status without a number to be of',
    body: envelope({ statuses: [{ id: 'wamid.TEST01', status: 'sent' }] }),
    updates: [{
      ...status,
      phone_number_id: null,
      display: null,
      wa_id: null,
      status: 'sent',
      problem: 'metadata.phone_number_id is missing',
    }],
  },
  {
    name: 'an id longer than any index takes',
    body: statuses({ id: `wamid.${'A'.repeat(600)}`, status: 'sent' }),
    updates: [{ ...place, kind: 'status', status: 'sent', problem: 'the status has no id' }],
  },
  {
    name: 'a message without an id, and a preference of nobody',
    body: {
      entry: [{
        id: waba,
        changes: [
          { field: 'messages', value: { metadata, messages: [{ from: person }] } },
          {
            field: 'user_preferences',
            value: { metadata, user_preferences: [{ value: 'stop' }] },
          },
        ],
      }],
    },
    updates: [
      { ...place, kind: 'message', wa_id: person, problem: 'the message has no id' },
      {
        ...place,
        kind: 'preference',
        field: 'user_preferences',
        status: 'stop',
        problem: 'the preference names nobody',
      },
    ],
  },
  {
    name: 'NUL, half a character and a whole one',
    body: `{"entry":[{"id":"${waba}","changes":[{"field":"messages","value":{"metadata":` +
      `{"phone_number_id":"${phone}"},"messages":[{"id":"wamid.IN01","from":"${person}",` +
      '"text":{"body":"a\\u0000b\\ud800c\\ud83d\\ude00"}}]}}]}]}',
    updates: [{
      ...inbound,
      at: null,
      display: null,
      data: {
        id: 'wamid.IN01',
        from: person,
        text: { body: 'a\u{fffd}b\u{fffd}c😀', lossy: true },
        lossy: true,
      },
    }],
  },
  {
    name: 'an entry, a change and a value that are none',
    body: {
      object: 'whatsapp_business_account',
      entry: [7, { id: waba }, { id: waba, changes: [null, { field: 'messages', value: [] }] }],
    },
    updates: [
      { kind: 'other', problem: 'the entry has no changes', data: { value: 7 } },
      { kind: 'other', waba_id: waba, problem: 'the entry has no changes' },
      {
        kind: 'other',
        waba_id: waba,
        problem: 'the change has no value',
        data: { value: null },
      },
      { kind: 'other', waba_id: waba, problem: 'the change has no value' },
    ],
  },
  {
    name: 'a change of messages with none, and one of preferences with none',
    body: {
      entry: [{
        changes: [
          { field: 'messages', value: { metadata, messages: [] } },
          { field: 'user_preferences', value: { metadata } },
        ],
      }],
    },
    updates: [
      {
        ...place,
        kind: 'other',
        waba_id: null,
        problem: 'the change has neither statuses nor messages',
      },
      {
        ...place,
        kind: 'preference',
        field: 'user_preferences',
        waba_id: null,
        problem: 'the change has no user_preferences',
      },
    ],
  },
  {
    name: "another product's callback",
    body: { object: 'page', entry: [{ id: '1', messaging: [] }] },
    updates: [{ kind: 'other', problem: 'the object is not whatsapp_business_account' }],
  },
  {
    name: 'an object with nothing in it',
    body: {},
    updates: [{ kind: 'other', problem: 'the body has no entry', data: {} }],
  },
  {
    name: 'names that mean something to JavaScript',
    body:
      `{"entry":[{"id":"${waba}","__proto__":{"changes":[]},"changes":[{"field":"constructor",` +
      '"value":{"__proto__":{"event":"X"},"a":"\\u0000"}}]}]}',
    updates: [{ kind: 'other', field: 'constructor', waba_id: waba }],
  },
]

export const shapes: Shape[] = [
  ...statusShapes,
  ...messageShapes,
  ...accountShapes,
  ...brokenShapes,
]
