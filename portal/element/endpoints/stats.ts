import type { UseQueryResult } from '@tanstack/preact-query'
import type { Output } from '../../../package/client/operation_types.ts'
import { usePortal } from '../app/context.ts'
import { everyMs, useRead } from '../app/data.ts'

/** The health of an endpoint, read once for all that show it. */
export function useStats(
  endpointId: string,
  enabled = true,
): UseQueryResult<Output<'getEndpointStats'>> {
  const { client } = usePortal()
  return useRead(
    ['stats', endpointId],
    (signal) => client.getEndpointStats({ path: { endpointId }, signal }),
    { every: everyMs.slow, enabled },
  )
}
