import * as z from 'zod/mini'
import { formLimits } from './form_limits.ts'

/** What the rules say of a value that breaks one. */
interface Words {
  url: string
  type: string
  tooManyTypes: string
  tooLong(maximum: number): string
}

/** What the URL, the description, the types and the filter of an endpoint must be, as the API takes them. */
export interface EndpointRules {
  url: z.ZodMiniType<string, string>
  description: z.ZodMiniType<string, string>
  types: z.ZodMiniType<string[], string[]>
  filter: z.ZodMiniType<string, string>
}

const typePattern = /^(?:\*|[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*(?:\.\*)?)$/

/** The rules of the forms of the console and of the portal. The API has the last word, for example about a host. */
export function endpointRules({ url, type, tooManyTypes, tooLong }: Words): EndpointRules {
  const text = (maximum: number): z.ZodMiniType<string, string> =>
    z.string().check(z.maxLength(maximum, tooLong(maximum)))
  const { maxItems, items } = formLimits.eventTypes
  return {
    url: z.string().check(
      z.regex(/^https?:\/\/[^\s/]\S*$/, url),
      z.maxLength(formLimits.url.maxLength, tooLong(formLimits.url.maxLength)),
    ),
    description: text(formLimits.description.maxLength),
    types: z.array(
      z.string().check(z.regex(typePattern, type), z.maxLength(items.maxLength, type)),
    ).check(z.maxLength(maxItems, tooManyTypes)),
    filter: text(formLimits.filter.maxLength),
  }
}
