import { z } from 'zod'

/** What the Graph API is asked with, and what Outhook has stored of the channel. */
export const channelAccessSchema = z.object({
  channelId: z.string(),
  graphUrl: z.string(),
  graphVersion: z.string(),
  phoneNumberId: z.string(),
  wabaId: z.string(),
  appId: z.string(),
  appKey: z.string(),
  /** Null: Vault cannot read it. */
  accessToken: z.string().nullable(),
  templates: z.array(z.object({
    code: z.string(),
    name: z.string(),
    language: z.string(),
    category: z.string(),
    parameterFormat: z.string(),
  })),
  egress: z.object({
    allow_http: z.boolean(),
    allow_cidrs: z.array(z.string()),
    allow_ports: z.array(z.string()),
    deny_ports: z.array(z.string()),
    proxy_url: z.string(),
  }),
})

export type ChannelAccess = z.infer<typeof channelAccessSchema>
