/** The edge function `deliver` with the sender of ntfy. supabase/config.toml names it as entrypoint. */

import { serveRuns } from '../../../functions/deliver/serve.ts'
import { ntfySender } from './sender.ts'

await serveRuns(new Map([['ntfy', ntfySender]]))
