import type { FreePayload } from '../../messages/whatsapp/payload.ts'
import { defined, mediaObject } from './media.ts'

type Interactive = Extract<FreePayload, { type: 'interactive' }>

/** The Graph API's object for a message without a template. */
export function freeContent(payload: FreePayload): Record<string, unknown> {
  const { type } = payload
  switch (payload.type) {
    case 'text':
      return { type, text: { preview_url: payload.previewUrl ?? false, body: payload.text } }
    case 'image':
    case 'video':
    case 'audio':
    case 'document':
      return { type, [type]: mediaObject(payload) }
    case 'interactive':
      return { type, interactive: interactiveObject(payload) }
    case 'location': {
      const { latitude, longitude, name, address } = payload
      return { type, location: { latitude, longitude, ...defined({ name, address }) } }
    }
    case 'reaction':
      return { type, reaction: { message_id: payload.messageId, emoji: payload.emoji } }
  }
}

function interactiveObject(payload: Interactive): Record<string, unknown> {
  const { header, body, footer, buttons, list } = payload
  const around = {
    ...(header === undefined ? {} : { header: { type: 'text', text: header } }),
    body: { text: body },
    ...(footer === undefined ? {} : { footer: { text: footer } }),
  }
  if (buttons !== undefined) {
    const replies = buttons.map(({ id, title }) => ({ type: 'reply', reply: { id, title } }))
    return { type: 'button', ...around, action: { buttons: replies } }
  }
  return { type: 'list', ...around, action: { button: list?.button, sections: list?.sections } }
}
