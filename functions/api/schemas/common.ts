import { z } from '@hono/zod-openapi'

export const uuidSchema = z.uuid()

/** Times in UTC with milliseconds. */
export const timeSchema = z.string().openapi({
  format: 'date-time',
  example: '2026-11-28T03:25:45.123Z',
})

export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(100).default(50).openapi({
    param: { description: 'The most items to return.' },
  }),
  cursor: z.string().min(1).max(200).optional().openapi({
    param: { description: '`nextCursor` of the previous page.' },
  }),
}

export const timeQuery = {
  from: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Events at or after this time.' },
  }),
  to: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Events before this time.' },
  }),
}

export function pageOf<Item extends z.ZodType>(item: Item): z.ZodObject<{
  data: z.ZodArray<Item>
  nextCursor: z.ZodNullable<z.ZodString>
}> {
  return z.object({
    data: z.array(item),
    nextCursor: z.string().nullable().openapi({ description: 'null on the last page.' }),
  })
}

/** `If-Match`: the `ETag` of the version that the client has read. */
export const ifMatchHeader = z.object({
  'if-match': z.string().regex(/^(W\/)?"[0-9]{1,9}"$|^\*$/, 'is not the ETag of a response')
    .optional().openapi({
      param: {
        description:
          'The ETag that was read: the change is refused (412) if there is a newer version.',
      },
      example: '"7"',
    }),
})

/** `Idempotency-Key`: a repeat with the same key changes nothing and gets the same response. */
export const idempotencyKeyHeader = z.object({
  'idempotency-key': z.string().regex(/^[\x21-\x7e]{1,128}$/, 'is not 1 to 128 visible characters')
    .optional().openapi({
      param: {
        description:
          'Makes the request safe to repeat for 24 h, unless the operator has set another time. ' +
          'A different body with the same key is refused.',
      },
      example: '0d3d6bd1-4b5e-4e3c-b1c3-6b9d2a1f0c7e',
    }),
})

/** The version in an `If-Match` header; null without one and for `*`. */
export function versionOf(ifMatch: string | undefined): number | null {
  const [digits] = /[0-9]+/.exec(ifMatch ?? '') ?? []
  return digits === undefined ? null : Number(digits)
}

export function etagOf(version: number): string {
  return `"${version}"`
}

/** An exact event type; patterns such as `order.*` are only for subscriptions. */
export const eventTypeName = z.string().min(1).max(128).regex(
  /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/,
  'is not words of letters, digits, _ and -, separated by dots',
).openapi({ example: 'order.paid' })
