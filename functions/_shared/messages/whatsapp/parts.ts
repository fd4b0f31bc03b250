import * as z from 'zod'

// Parts of payloads, with WhatsApp's limits.

export function text(max: number): z.ZodString {
  return z.string().min(1).max(max).regex(/\S/, 'Must not be blank')
}

/** A message id of WhatsApp; its format is not documented. */
export const messageId = z.string().min(1).max(512)

const link = z.string().max(2048).refine(isPublicLink, {
  message: 'Must be an https:// URL without credentials',
})

const mediaId = z.string().regex(/^[0-9]{1,32}$/, 'Must be the digits of a media id')

/** Media by the id of an upload, or by a link that Meta fetches. */
export const media = { id: mediaId.optional(), link: link.optional() }

/** Adds an issue unless there is exactly one of `link` and `id`. */
export function checkMedia(
  { id, link }: { id?: string | undefined; link?: string | undefined },
  context: z.RefinementCtx,
): void {
  if ((id === undefined) === (link === undefined)) {
    context.addIssue({ code: 'custom', path: ['link'], message: 'Send either link or id' })
  }
}

export const place = {
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  name: text(1000).optional(),
  address: text(1000).optional(),
}

function isPublicLink(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return protocol === 'https:' && username === '' && password === ''
}
