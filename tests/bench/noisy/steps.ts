/** All loops of the noisy organisation. tests/project/noise_writes.test.ts compares them with the API's writes. */

import type { Calls, Steps } from './calls.ts'
import { deliverySteps } from './delivery_steps.ts'
import { endpointSteps } from './endpoint_steps.ts'
import { eventSteps } from './event_steps.ts'
import { messageSteps } from './message_steps.ts'
import type { LoopName } from './options.ts'

/** One step of each loop. `filters`: those of the endpoints. */
export function allSteps(
  calls: Calls,
  filters: readonly string[],
): Steps<Exclude<LoopName, 'spin'>> {
  return {
    ...eventSteps(calls),
    ...endpointSteps(calls, filters),
    ...deliverySteps(calls),
    ...messageSteps(calls),
  }
}
