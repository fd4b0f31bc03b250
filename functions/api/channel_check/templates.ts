import { z } from 'zod'
import type { ChannelAccess } from './access.ts'
import { fault, type Finding, sound, unanswered, unreadable, warn } from './finding.ts'
import type { ReadGraph } from './graph.ts'

const page = z.object({
  data: z.array(z.object({
    name: z.string(),
    language: z.string(),
    status: z.string(),
    category: z.string().optional(),
    parameter_format: z.string().optional(),
  })),
  paging: z.object({
    cursors: z.object({ after: z.string().optional() }).optional(),
    next: z.string().optional(),
  }).optional(),
})

type MetaTemplate = z.infer<typeof page>['data'][number]
type OwnTemplate = ChannelAccess['templates'][number]

const pageSize = 250
/** An account has at most 6,000 templates, so this many pages show all of nearly every account. */
const mostPages = 8

const wrongId =
  "Compare wabaId with the id of the account in Meta's business settings, and give the " +
  'system user of the token this account'

/** Whether each template of the organisation is approved at Meta, and the same as there. */
export async function checkTemplates(
  read: ReadGraph,
  { wabaId, templates }: ChannelAccess,
): Promise<Finding> {
  const found = new Map<string, MetaTemplate>()
  let after: string | undefined = ''
  for (let n = 0; after !== undefined; n++) {
    if (n === mostPages) {
      return {
        result: 'unknown',
        code: null,
        detail: `The account has more than ${mostPages * pageSize} templates`,
        remedy: 'Compare them with `GET /templates` in WhatsApp Manager',
      }
    }
    const cursor: string = after === '' ? '' : `&after=${encodeURIComponent(after)}`
    const reply = await read(
      `${encodeURIComponent(wabaId)}/message_templates` +
        `?fields=name,language,status,category,parameter_format&limit=${pageSize}${cursor}`,
    )
    if (!reply.ok) return unanswered(reply, wrongId)
    const known = page.safeParse(reply.json)
    if (!known.success) return unreadable
    for (const one of known.data.data) found.set(`${one.name} ${one.language}`, one)
    const { paging } = known.data
    after = paging?.next === undefined ? undefined : paging.cursors?.after
  }
  return judge(templates, found)
}

function judge(
  templates: readonly OwnTemplate[],
  found: ReadonlyMap<string, MetaTemplate>,
): Finding {
  if (templates.length === 0) {
    return warn(
      'The organisation has no template: it can write only to people who wrote in the last 24 hours',
      'Assign one with `PUT /templates/{templateCode}`',
    )
  }
  const missing: string[] = []
  const differing: string[] = []
  const stopped: string[] = []
  for (const { code, name, language, category, parameterFormat } of templates) {
    const meta = found.get(`${name} ${language}`)
    if (meta === undefined) missing.push(code)
    else if (meta.status !== 'APPROVED') stopped.push(`${code} (${meta.status})`)
    else if (meta.category !== undefined && meta.category !== category) {
      differing.push(`${code} (its category is ${meta.category})`)
    } else if (meta.parameter_format !== undefined && meta.parameter_format !== parameterFormat) {
      differing.push(`${code} (its parameters are ${meta.parameter_format})`)
    }
  }
  if (missing.length > 0) {
    return fault(
      `Not in the account: ${listed(missing)}`,
      'Correct name and language with `PUT /templates/{templateCode}`, or create them at Meta',
    )
  }
  if (stopped.length > 0) {
    return fault(`Not approved: ${listed(stopped)}`, 'Edit them in WhatsApp Manager')
  }
  if (differing.length > 0) {
    return fault(
      `Different at Meta: ${listed(differing)}`,
      'Correct them with `PUT /templates/{templateCode}`: the category decides which consent is needed',
    )
  }
  return sound('Every template of the organisation is approved')
}

/** At most ten of them. */
function listed(names: readonly string[]): string {
  const more = names.length > 10 ? `, and ${names.length - 10} more` : ''
  return names.slice(0, 10).join(', ') + more
}
