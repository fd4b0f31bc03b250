import * as z from 'zod'
import { keyed } from '../../base/keyed.ts'
import { checkMedia, media, messageId, place, text } from './parts.ts'

const parameter = z.union([
  text(1024),
  z.strictObject({
    type: z.literal('currency'),
    fallback: text(1024),
    code: z.string().regex(/^[A-Z]{3}$/, 'Must be three capital letters'),
    /** The amount times 1,000. */
    amount1000: z.int(),
  }),
  z.strictObject({ type: z.literal('date_time'), fallback: text(1024) }),
])

const parameterName = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'Must be a name like first_name')

const header = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: text(60), name: parameterName.optional() }),
  z.strictObject({ type: z.literal('image'), ...media }).superRefine(checkMedia),
  z.strictObject({ type: z.literal('video'), ...media }).superRefine(checkMedia),
  z.strictObject({ type: z.literal('document'), ...media, filename: text(240).optional() })
    .superRefine(checkMedia),
  z.strictObject({ type: z.literal('location'), ...place }),
])

/** The index of the template's button, from 0. */
const index = z.int().min(0).max(9)

const button = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('url'), index, text: text(2000) }),
  z.strictObject({ type: z.literal('quick_reply'), index, payload: text(256) }),
  z.strictObject({ type: z.literal('copy_code'), index, code: text(20) }),
  z.strictObject({ type: z.literal('flow'), index, token: text(256).optional() }),
])

/**
 * The parameters of a template: `parameters` is a list if they are positional and an object if they are
 * named; `replyTo` is the id of the message to quote.
 */
export const templatePayload = z.strictObject({
  header: header.optional(),
  parameters: z.union([z.array(parameter).max(100), keyed(parameterName, parameter)]).optional(),
  buttons: z.array(button).max(10).optional(),
  replyTo: messageId.optional(),
})

export type TemplatePayload = z.infer<typeof templatePayload>
export type TemplateParameter = z.infer<typeof parameter>
export type TemplateHeader = z.infer<typeof header>
export type TemplateButton = z.infer<typeof button>

/** How a template identifies its parameters. */
export type ParameterFormat = 'POSITIONAL' | 'NAMED'

/** The path and problem of a payload that does not match the template's format; null: it matches. */
export function formatProblem(
  { parameters, header }: TemplatePayload,
  format: ParameterFormat,
): { path: string; message: string } | null {
  const isList = Array.isArray(parameters)
  if (format === 'NAMED' && isList) {
    return { path: 'parameters', message: 'This template has named parameters: send an object' }
  }
  if (format === 'POSITIONAL' && parameters !== undefined && !isList) {
    return { path: 'parameters', message: 'This template has positional parameters: send a list' }
  }
  if (header?.type === 'text' && (header.name !== undefined) !== (format === 'NAMED')) {
    const message = format === 'NAMED'
      ? 'This template has named parameters: name the header parameter too'
      : 'This template has positional parameters: remove the name'
    return { path: 'header.name', message }
  }
  return null
}
