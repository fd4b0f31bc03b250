import { z } from '../zod_openapi.ts'
import { timeSchema, uuidSchema } from './common.ts'

/** The secrets of an endpoint. */
export const endpointSecretSchema = z.object({
  secret: z.string().optional().openapi({
    description:
      'The newest shared secret, `whsec_…`. Absent in the repeat of a rotation, with the ' +
      'same Idempotency-Key, after the endpoint was deleted.',
  }),
  publicKey: z.string().nullable().openapi({
    description: 'The public part of the ed25519 key, `whpk_…`.',
  }),
  secrets: z.array(z.object({
    id: uuidSchema,
    scheme: z.enum(['v1', 'v1a']),
    publicKey: z.string().nullable(),
    createdAt: timeSchema,
    expiresAt: timeSchema.nullable().openapi({
      description: 'When a replaced secret stops signing.',
    }),
  })).openapi({ description: 'All secrets that sign now, newest first.' }),
}).openapi('EndpointSecret')

export const rotationSchema = z.strictObject({
  secret: z.string().min(1).max(200).optional().openapi({
    description: '`whsec_…`, or `whsk_…` for an ed25519 key; generated if absent.',
  }),
  overlapSeconds: z.int().min(0).max(2_592_000).default(86_400).openapi({
    description: 'How long the replaced secret also signs. With 0, no older secret of the same ' +
      'scheme signs any longer, also none of an earlier rotation.',
  }),
}).openapi('Rotation', { example: { overlapSeconds: 86_400 } })
