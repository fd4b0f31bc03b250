/** The worker as a program, which `outhook worker` starts. */

import process from 'node:process'
import { main } from '../../functions/deliver/worker.ts'

// A parent that cannot be replaced by this process keeps a channel open. Without it, nobody passes signals on.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))

await main()
