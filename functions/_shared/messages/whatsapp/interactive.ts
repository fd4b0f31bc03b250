import * as z from 'zod'
import { messageId, text } from './parts.ts'

const buttons = z.array(z.strictObject({ id: text(256), title: text(20) })).min(1).max(3)

const row = z.strictObject({ id: text(200), title: text(24), description: text(72).optional() })
const section = z.strictObject({ title: text(24).optional(), rows: z.array(row).min(1).max(10) })

const list = z.strictObject({
  /** The text of the button that opens the list. */
  button: text(20),
  sections: z.array(section).min(1).max(10),
}).superRefine(({ sections }, context) => {
  const rows = sections.flatMap(({ rows }) => rows)
  if (rows.length > 10) {
    context.addIssue({ code: 'custom', path: ['sections'], message: 'At most 10 rows in all' })
  }
  if (new Set(rows.map(({ id }) => id)).size < rows.length) {
    context.addIssue({ code: 'custom', path: ['sections'], message: 'Each row needs its own id' })
  }
  if (sections.length > 1 && sections.some(({ title }) => title === undefined)) {
    const message = 'Each section needs a title if there are several'
    context.addIssue({ code: 'custom', path: ['sections'], message })
  }
})

const fields = z.strictObject({
  type: z.literal('interactive'),
  /** A line of text above the body. */
  header: text(60).optional(),
  body: text(4096),
  footer: text(60).optional(),
  buttons: buttons.optional(),
  list: list.optional(),
  replyTo: messageId.optional(),
})

/** A message with buttons, or with a list. */
export const interactive = fields.superRefine(checkChoices)

function checkChoices(
  { body, buttons, list }: z.infer<typeof fields>,
  context: z.RefinementCtx,
): void {
  if ((buttons === undefined) === (list === undefined)) {
    const message = 'Send either buttons or list'
    context.addIssue({ code: 'custom', path: ['buttons'], message })
  }
  if (buttons === undefined) return
  if (body.length > 1024) {
    const message = 'At most 1024 characters above buttons'
    context.addIssue({ code: 'custom', path: ['body'], message })
  }
  if (!isUnique(buttons.map(({ id }) => id)) || !isUnique(buttons.map(({ title }) => title))) {
    const message = 'Each button needs its own id and title'
    context.addIssue({ code: 'custom', path: ['buttons'], message })
  }
}

function isUnique(values: string[]): boolean {
  return new Set(values).size === values.length
}
