import { z } from '@hono/zod-openapi'

export const uuidSchema = z.uuid()

/** Moments as the API writes them: UTC with milliseconds. */
export const timeSchema = z.string().openapi({
  format: 'date-time',
  example: '2026-11-28T03:25:45.123Z',
})

/** Parameters of every list. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(100).default(50).openapi({
    param: { description: 'How many to return at most.' },
  }),
  cursor: z.string().min(1).max(200).optional().openapi({
    param: { description: '`nextCursor` of the page before.' },
  }),
}

/** Bounds of the time of an event. */
export const timeQuery = {
  from: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Events of this moment and later.' },
  }),
  to: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Events before this moment.' },
  }),
}

/** A page of a list. */
export function pageOf<Item extends z.ZodType>(item: Item): z.ZodObject<{
  data: z.ZodArray<Item>
  nextCursor: z.ZodNullable<z.ZodString>
}> {
  return z.object({
    data: z.array(item),
    nextCursor: z.string().nullable().openapi({ description: 'Null on the last page.' }),
  })
}

/** `If-Match`: the `ETag` that the change is meant for. */
export const ifMatchHeader = z.object({
  'if-match': z.string().regex(/^(W\/)?"[0-9]{1,9}"$|^\*$/, 'is not the ETag of an answer')
    .optional().openapi({
      param: {
        description:
          'The ETag of what was read: the change is refused (412) if another came first.',
      },
      example: '"7"',
    }),
})

/** `Idempotency-Key`: a repeat with the same key changes nothing and is answered the same. */
export const idempotencyKeyHeader = z.object({
  'idempotency-key': z.string().regex(/^[\x21-\x7e]{1,128}$/, 'is not 1 to 128 visible characters')
    .optional().openapi({
      param: {
        description:
          'Makes the request safe to repeat for 24 h, or what the operator has set. With the same ' +
          'key another body is refused.',
      },
      example: '0d3d6bd1-4b5e-4e3c-b1c3-6b9d2a1f0c7e',
    }),
})

/** The version that an `If-Match` header names; null for none and for `*`. */
export function versionOf(ifMatch: string | undefined): number | null {
  const [digits] = /[0-9]+/.exec(ifMatch ?? '') ?? []
  return digits === undefined ? null : Number(digits)
}

/** The ETag of a version. */
export function etagOf(version: number): string {
  return `"${version}"`
}

/** An exact type of events; a pattern such as `order.*` is for subscriptions alone. */
export const eventTypeName = z.string().min(1).max(128).regex(
  /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/,
  'is not words of letters, digits, _ and - with dots between them',
).openapi({ example: 'order.paid' })
