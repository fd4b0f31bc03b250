import * as z from 'zod'
import type { EventRow } from '../../contract/contract.ts'

/** The members of outbox.dlq_message() that the target depends on. */
const letterSchema = z.object({ original_topic: z.string(), event_type: z.string() })

/** Expands a template for a topic or routing key, as outbox.fill_broker_template() does. */
export function expand(template: string, { type, org_id, partition_key }: EventRow): string {
  // The key comes last, because it may contain text like a placeholder.
  return template.replaceAll('{type}', () => type).replaceAll('{org}', () => org_id)
    .replaceAll('{key}', () => partition_key ?? '')
}

/**
 * The topic or routing key for a dead letter: `{topic}` or `{routing_key}` is the original target. null
 * if the letter does not have it.
 */
export function expandForLetter(template: string, event: EventRow): string | null {
  const letter = letterSchema.safeParse(JSON.parse(event.body))
  if (!letter.success) return null
  const { original_topic, event_type } = letter.data
  return expand(template, { ...event, type: event_type, partition_key: null })
    .replaceAll(/\{(?:topic|routing_key)\}/g, () => original_topic)
}
