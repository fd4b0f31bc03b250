import { z } from '../zod_openapi.ts'
import { timeSchema } from './common.ts'
import { templateCodeSchema } from './messages.ts'

const settings = {
  name: z.string().regex(/^[a-z0-9_]{1,512}$/, 'is not the name of a template at Meta').openapi({
    description: 'The name of the template at Meta.',
    example: 'appointment_reminder',
  }),
  language: z.string().regex(/^[a-z]{2,3}(_[A-Z]{2,3}|_[A-Z][a-z]{3})?$/, {
    message: 'is not a language code such as fr or en_US',
  }).openapi({ example: 'fr' }),
  category: z.enum(['MARKETING', 'UTILITY', 'AUTHENTICATION']),
  parameterFormat: z.enum(['POSITIONAL', 'NAMED']),
}

/** The template of Meta for a code of the organisation. */
export const newTemplateSchema = z.strictObject({
  ...settings,
  parameterFormat: settings.parameterFormat.optional().openapi({
    description: 'The default is POSITIONAL.',
  }),
}).openapi('NewTemplate', {
  example: { name: 'appointment_reminder', language: 'fr', category: 'UTILITY' },
})

export const templateSchema = z.object({
  code: z.string(),
  ...settings,
  createdAt: timeSchema,
  updatedAt: timeSchema,
}).openapi('Template')

export const templatesSchema = z.object({ data: z.array(templateSchema) }).openapi('Templates')

export const templateParams = z.object({
  templateCode: templateCodeSchema.openapi({ param: { name: 'templateCode', in: 'path' } }),
})
