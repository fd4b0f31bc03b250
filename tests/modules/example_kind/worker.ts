/** A worker with the sender of ntfy: `deno run -A tests/modules/example_kind/worker.ts`. */

import { main } from '../../../functions/deliver/worker.ts'
import { ntfySender } from './sender.ts'

if (import.meta.main) await main(new Map([['ntfy', ntfySender]]))
