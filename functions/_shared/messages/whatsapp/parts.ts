import { z } from 'zod'

// The pieces that payloads are made of. The limits are WhatsApp's.

/** Text of 1 to `max` characters that is not blank. */
export function text(max: number): z.ZodString {
  return z.string().min(1).max(max).regex(/\S/, 'Must not be blank')
}

/** An id that WhatsApp gave to a message: no more is known of its form. */
export const messageId = z.string().min(1).max(512)

const link = z.string().max(2048).refine(isPublicLink, {
  message: 'Must be an https:// URL without credentials',
})

const mediaId = z.string().regex(/^[0-9]{1,32}$/, 'Must be the digits of a media id')

/** Media by the id of an upload, or by a link that Meta fetches. */
export const media = { id: mediaId.optional(), link: link.optional() }

/** Says what is wrong with media, or nothing. */
export function checkMedia(
  { id, link }: { id?: string | undefined; link?: string | undefined },
  context: z.RefinementCtx,
): void {
  if ((id === undefined) === (link === undefined)) {
    context.addIssue({ code: 'custom', path: ['link'], message: 'Give either link or id' })
  }
}

/** A place on the map. */
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
