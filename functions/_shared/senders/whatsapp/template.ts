import type {
  TemplateButton,
  TemplateHeader,
  TemplateParameter,
  TemplatePayload,
} from '../../messages/whatsapp/template_payload.ts'
import { defined, mediaObject } from './media.ts'
import type { OutgoingMessage } from '../message.ts'

type Template = NonNullable<OutgoingMessage['template']>
type Json = Record<string, unknown>

/** The Graph API's object for a template message. */
export function templateContent(template: Template, payload: TemplatePayload): Json {
  const { header, parameters, buttons = [] } = payload
  const components: Json[] = []
  if (header !== undefined) components.push({ type: 'header', parameters: [headerObject(header)] })
  const body = parameters === undefined ? [] : bodyParameters(parameters)
  if (body.length > 0) components.push({ type: 'body', parameters: body })
  components.push(...buttons.map(buttonObject))
  return {
    type: 'template',
    template: {
      name: template.name,
      language: { code: template.language },
      ...(components.length === 0 ? {} : { components }),
    },
  }
}

function headerObject(header: TemplateHeader): Json {
  const { type } = header
  switch (header.type) {
    case 'text':
      return { type, ...named(header.name), text: oneLine(header.text) }
    case 'location': {
      const { latitude, longitude, name, address } = header
      return { type, location: { latitude, longitude, ...defined({ name, address }) } }
    }
    default:
      return { type, [type]: mediaObject(header) }
  }
}

function bodyParameters(parameters: NonNullable<TemplatePayload['parameters']>): Json[] {
  if (Array.isArray(parameters)) return parameters.map((value) => parameterObject(value))
  return Object.entries(parameters).map(([name, value]) => parameterObject(value, name))
}

function parameterObject(value: TemplateParameter, name?: string): Json {
  if (typeof value === 'string') return { type: 'text', ...named(name), text: oneLine(value) }
  const fallback = { fallback_value: oneLine(value.fallback) }
  if (value.type === 'date_time') {
    return { type: value.type, ...named(name), date_time: fallback }
  }
  const currency = { ...fallback, code: value.code, amount_1000: value.amount1000 }
  return { type: value.type, ...named(name), currency }
}

function buttonObject(button: TemplateButton): Json {
  const place = { type: 'button', sub_type: button.type, index: String(button.index) }
  return { ...place, parameters: [buttonParameter(button)] }
}

function buttonParameter(button: TemplateButton): Json {
  switch (button.type) {
    case 'url':
      return { type: 'text', text: button.text }
    case 'quick_reply':
      return { type: 'payload', payload: button.payload }
    case 'copy_code':
      return { type: 'coupon_code', coupon_code: button.code }
    case 'flow':
      return { type: 'action', action: defined({ flow_token: button.token }) }
  }
}

function named(name: string | undefined): { parameter_name?: string } {
  return name === undefined ? {} : { parameter_name: name }
}

/** Meta refuses a parameter with a line break, a tab or more than four consecutive spaces. */
function oneLine(text: string): string {
  // Each run of white space is looked at once.
  return text.replace(/\s+/g, (run) => /[\r\n\t]/.test(run) ? ' ' : run)
    .replace(/ {5,}/g, '    ')
}
