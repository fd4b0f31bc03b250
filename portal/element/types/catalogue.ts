import type { UseQueryResult } from '@tanstack/preact-query'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { everyMs, useRead } from '../app/data.ts'

export type EventType = Output<'getEventType'>

/** Read at most, so that a catalogue of any size does not stop the page. */
const most = 1000

/** The catalogue by name; empty without the right to read it. */
export function useEventTypes(): UseQueryResult<EventType[]> {
  const { can, client } = usePortal()
  return useRead(['event-types'], async (signal) => {
    const types: EventType[] = []
    for await (const one of client.each.listEventTypes({ query: { limit: 100 }, signal })) {
      types.push(one)
      if (types.length === most) break
    }
    return types.sort((a, b) => a.type < b.type ? -1 : 1)
  }, { every: everyMs.slow, enabled: can('event-types:read') })
}
