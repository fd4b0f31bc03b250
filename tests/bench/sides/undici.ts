/** A ceiling: the peers' sender with no database, over events that it makes up. */

import { createSender } from './_sender.ts'
import { serveCeiling } from './_ceiling.ts'

await serveCeiling(({ origin, secret, tuning }) =>
  createSender(origin, secret, tuning.concurrency ?? 128)
)
