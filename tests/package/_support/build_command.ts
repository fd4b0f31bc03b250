/**
 * Builds the command of the project that this file belongs to, into the folder of the argument. A test
 * runs the copy of this file in a sample of the next version.
 */

import { join } from 'node:path'
import { buildCommand } from '../../../package/build/command.ts'
import { buildFunctions } from '../../../package/build/functions.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

const [out = join(projectRoot, 'dist')] = Deno.args
await buildFunctions(projectRoot, out)
await buildCommand(projectRoot, out)
