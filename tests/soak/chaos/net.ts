/** The stand-in for pg_net's worker in a process of its own, which ends and starts again as the real one does. */

import { startNet } from '../../../supabase/local/net/mod.ts'
import { printRaw } from '../../../supabase/local/print.ts'

if (import.meta.main) {
  await startNet({ url: Deno.env.get('CHAOS_ADMIN_URL') ?? '', log: () => {} })
  printRaw('ready\n')
}
