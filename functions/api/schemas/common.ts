import { z } from '../zod_openapi.ts'

export const uuidSchema = z.uuid()

/** Times in the API: UTC with milliseconds. */
export const timeSchema = z.string().openapi({
  format: 'date-time',
  example: '2026-11-28T03:25:45.123Z',
})

/** Parameters of every list. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(100).default(50).openapi({
    param: { description: 'The maximum number of items on the page.' },
  }),
  cursor: z.string().min(1).max(200).optional().openapi({
    param: { description: '`nextCursor` of the previous page.' },
  }),
}

/** Bounds of the time of an event. */
export const timeQuery = {
  from: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Only events at this time or later.' },
  }),
  to: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Only events before this time.' },
  }),
}

/** An id of the caller for what belongs together. */
export const correlationIdSchema = z.string().regex(
  /^[\x21-\x7e]{1,128}$/,
  'is not 1 to 128 visible characters',
)

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

/** `If-Match`: the `ETag` of the version to change. */
export const ifMatchHeader = z.object({
  'if-match': z.string().regex(/^(W\/)?"[0-9]{1,9}"$|^\*$/, 'is not the ETag of a response')
    .optional().openapi({
      param: {
        description:
          'The ETag of the version that you read. If it has changed since, the response is 412.',
      },
      example: '"7"',
    }),
})

/** `Idempotency-Key`: a repeat with the same key changes nothing and has the same response. */
export const idempotencyKeyHeader = z.object({
  'idempotency-key': z.string().regex(/^[\x21-\x7e]{1,128}$/, 'is not 1 to 128 visible characters')
    .optional().openapi({
      param: {
        description:
          'Makes the request safe to repeat for 24 h, or for the time in the settings. A repeat ' +
          'with a different body is refused.',
      },
      example: '0d3d6bd1-4b5e-4e3c-b1c3-6b9d2a1f0c7e',
    }),
})

/** The version in an `If-Match` header; null if there is no header, or for `*`. */
export function versionOf(ifMatch: string | undefined): number | null {
  const [digits] = /[0-9]+/.exec(ifMatch ?? '') ?? []
  return digits === undefined ? null : Number(digits)
}

/** The ETag of a version. */
export function etagOf(version: number): string {
  return `"${version}"`
}

/** An exact event type. Patterns such as `order.*` are only for subscriptions. */
export const eventTypeName = z.string().min(1).max(128).regex(
  /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/,
  'is not words of letters, digits, _ and - with dots between them',
).openapi({ example: 'order.paid' })
