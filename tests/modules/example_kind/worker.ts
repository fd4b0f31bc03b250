/** A worker with the sender of ntfy: `deno run -A tests/modules/example_kind/worker.ts`. */

import { main as deliver } from '../../../functions/deliver/worker.ts'
import { ntfySender } from './sender.ts'

export const main = (): Promise<never> => deliver(new Map([['ntfy', ntfySender]]))

if (import.meta.main) await main()
