import { z } from '../zod_openapi.ts'
import { pageOf, pageQuery, timeSchema } from './common.ts'
import { channelName, dossierIdSchema, numberIdSchema } from './messages.ts'

export const dossierParams = z.object({
  dossierId: dossierIdSchema.openapi({ param: { name: 'dossierId', in: 'path' } }),
})

/** The purposes of consent: MARKETING is separate, UTILITY is everything else. */
const purpose = z.enum(['MARKETING', 'UTILITY'])

/** Consent granted or withdrawn. */
export const newConsentSchema = z.strictObject({
  channel: channelName,
  purposes: z.array(purpose).min(1).max(2),
  granted: z.boolean().openapi({ description: 'False withdraws the consent.' }),
  source: z.string().min(1).max(200).openapi({
    description: 'How the consent was given or withdrawn.',
    example: 'web form',
  }),
  evidence: z.string().min(1).max(2000).optional().openapi({
    description: 'Where the evidence is stored.',
    example: 'form 2026-03, record 81',
  }),
}).openapi('NewConsent', {
  example: { channel: 'WHATSAPP', purposes: ['UTILITY'], granted: true, source: 'web form' },
})

const consent = z.object({
  dossierId: z.string(),
  channel: z.string(),
  purpose,
  granted: z.boolean(),
  source: z.string(),
  evidence: z.string().nullable(),
  actor: z.string().nullable(),
  at: timeSchema,
  inForce: z.boolean().openapi({
    description: 'Whether this is the latest entry for its purpose.',
  }),
})

export const consentsSchema = z.object({ data: z.array(consent) }).openapi('Consents')

const activity = z.object({
  id: numberIdSchema,
  dossierId: z.string(),
  type: z.string().openapi({ example: 'MESSAGE_SENT' }),
  metadata: z.record(z.string(), z.unknown()),
  at: timeSchema,
})

export const activityPageSchema = pageOf(activity).openapi('ActivityPage')

export const activityQuery = z.strictObject({
  ...pageQuery,
  type: z.enum(['MESSAGE_SENT', 'MESSAGE_STATUS_UPDATE', 'MESSAGE_FAILED']).optional(),
})
