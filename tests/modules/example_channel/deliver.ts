/** The edge function `deliver` with the sender of SMS. supabase/config.toml names it as entrypoint. */

import { serveRuns } from '../../../functions/deliver/serve.ts'
import { smsSender } from './sender.ts'

await serveRuns(new Map([['sms', smsSender]]))
