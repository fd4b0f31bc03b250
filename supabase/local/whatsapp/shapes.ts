import { z } from 'zod'

// The body that the Cloud API accepts for `POST /<phone number id>/messages`, with its own names. It
// follows Meta's description and not our sender, so that the tests find a mistake in either.

const link = z.url({ protocol: /^https?$/ })
const media = z.strictObject({ id: z.string().regex(/^\d+$/).optional(), link: link.optional() })
  .refine(({ id, link }) => (id === undefined) !== (link === undefined), 'Either id or link')
const captioned = media.safeExtend({ caption: z.string().max(1024).optional() })
const document = captioned.safeExtend({ filename: z.string().optional() })
const location = z.strictObject({
  latitude: z.number(),
  longitude: z.number(),
  name: z.string().optional(),
  address: z.string().optional(),
})

/** A parameter's text must be one line without a long gap. */
const parameterText = z.string().min(1).refine((text) => !/[\n\t]| {5}/.test(text), 'One line')
const parameter_name = z.string().optional()
const parameter = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), parameter_name, text: parameterText }),
  z.strictObject({
    type: z.literal('currency'),
    parameter_name,
    currency: z.strictObject({
      fallback_value: parameterText,
      code: z.string().length(3),
      amount_1000: z.int(),
    }),
  }),
  z.strictObject({
    type: z.literal('date_time'),
    parameter_name,
    date_time: z.strictObject({ fallback_value: parameterText }),
  }),
  z.strictObject({ type: z.literal('image'), image: media }),
  z.strictObject({ type: z.literal('video'), video: media }),
  z.strictObject({ type: z.literal('document'), document }),
  z.strictObject({ type: z.literal('location'), location }),
])

const button = { type: z.literal('button'), index: z.string().regex(/^\d$/) }
const component = z.union([
  z.strictObject({ type: z.literal('header'), parameters: z.array(parameter).length(1) }),
  z.strictObject({
    type: z.literal('body'),
    parameters: z.array(parameter).min(1).refine(
      (all) => new Set(all.map((one) => 'parameter_name' in one)).size === 1,
      'Positional and named parameters do not mix',
    ),
  }),
  z.strictObject({
    ...button,
    sub_type: z.literal('url'),
    parameters: z.tuple([z.strictObject({ type: z.literal('text'), text: z.string().min(1) })]),
  }),
  z.strictObject({
    ...button,
    sub_type: z.literal('quick_reply'),
    parameters: z.tuple([
      z.strictObject({ type: z.literal('payload'), payload: z.string().min(1) }),
    ]),
  }),
  z.strictObject({
    ...button,
    sub_type: z.literal('copy_code'),
    parameters: z.tuple([
      z.strictObject({ type: z.literal('coupon_code'), coupon_code: z.string().min(1) }),
    ]),
  }),
  z.strictObject({
    ...button,
    sub_type: z.literal('flow'),
    parameters: z.tuple([
      z.strictObject({
        type: z.literal('action'),
        action: z.strictObject({ flow_token: z.string().optional() }),
      }),
    ]),
  }),
])

const interactiveParts = {
  header: z.strictObject({ type: z.literal('text'), text: z.string().min(1).max(60) }).optional(),
  footer: z.strictObject({ text: z.string().min(1).max(60) }).optional(),
}
const reply = z.strictObject({ id: z.string().min(1).max(256), title: z.string().min(1).max(20) })
const row = z.strictObject({
  id: z.string().min(1).max(200),
  title: z.string().min(1).max(24),
  description: z.string().max(72).optional(),
})
const interactive = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('button'),
    ...interactiveParts,
    body: z.strictObject({ text: z.string().min(1).max(1024) }),
    action: z.strictObject({
      buttons: z.array(z.strictObject({ type: z.literal('reply'), reply })).min(1).max(3),
    }),
  }),
  z.strictObject({
    type: z.literal('list'),
    ...interactiveParts,
    body: z.strictObject({ text: z.string().min(1).max(4096) }),
    action: z.strictObject({
      button: z.string().min(1).max(20),
      sections: z.array(
        z.strictObject({ title: z.string().max(24).optional(), rows: z.array(row).min(1).max(10) }),
      ).min(1).max(10),
    }),
  }),
])

const around = {
  messaging_product: z.literal('whatsapp'),
  recipient_type: z.literal('individual').optional(),
  to: z.string().regex(/^\+[1-9]\d{6,14}$/),
  context: z.strictObject({ message_id: z.string().min(1) }).optional(),
  biz_opaque_callback_data: z.string().max(512).optional(),
}

/** The body of a send. */
export const sendBody = z.discriminatedUnion('type', [
  z.strictObject({
    ...around,
    type: z.literal('text'),
    text: z.strictObject({
      body: z.string().min(1).max(4096),
      preview_url: z.boolean().optional(),
    }),
  }),
  z.strictObject({ ...around, type: z.literal('image'), image: captioned }),
  z.strictObject({ ...around, type: z.literal('video'), video: captioned }),
  z.strictObject({ ...around, type: z.literal('audio'), audio: media }),
  z.strictObject({ ...around, type: z.literal('document'), document }),
  z.strictObject({ ...around, type: z.literal('location'), location }),
  z.strictObject({ ...around, type: z.literal('interactive'), interactive }),
  z.strictObject({
    ...around,
    context: z.undefined().optional(),
    type: z.literal('reaction'),
    reaction: z.strictObject({ message_id: z.string().min(1), emoji: z.string() }),
  }),
  z.strictObject({
    ...around,
    type: z.literal('template'),
    template: z.strictObject({
      name: z.string().regex(/^[a-z0-9_]{1,512}$/),
      language: z.strictObject({
        code: z.string().regex(/^[a-z]{2,3}(_[A-Z]{2})?$/),
        policy: z.literal('deterministic').optional(),
      }),
      components: z.array(component).optional(),
    }),
  }),
])

export type SendBody = z.infer<typeof sendBody>
