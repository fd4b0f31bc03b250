import { z } from 'zod'
import type { EventRow } from '../../contract/contract.ts'

/** Of outbox.dlq_message(), what its way depends on. */
const letterSchema = z.object({ original_topic: z.string(), event_type: z.string() })

/** A topic or routing key of a template, as outbox.fill_broker_template() makes it. */
export function expand(template: string, { type, org_id, partition_key }: EventRow): string {
  // The key last: it may hold what looks like a placeholder.
  return template.replaceAll('{type}', () => type).replaceAll('{org}', () => org_id)
    .replaceAll('{key}', () => partition_key ?? '')
}

/**
 * The topic or routing key for a dead letter: `{topic}` or `{routing_key}` is where the event was
 * going. Null where the letter says nothing of it.
 */
export function expandForLetter(template: string, event: EventRow): string | null {
  const letter = letterSchema.safeParse(JSON.parse(event.body))
  if (!letter.success) return null
  const { original_topic, event_type } = letter.data
  return expand(template, { ...event, type: event_type, partition_key: null })
    .replaceAll(/\{(?:topic|routing_key)\}/g, () => original_topic)
}
