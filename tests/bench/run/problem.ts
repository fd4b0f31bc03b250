/** What went wrong, as the results may say it: short, and without the paths of this machine. */

import { messageOf } from '../../../supabase/local/errors.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

const LONGEST = 400

/** The words of whatever was thrown. */
export function problemOf(error: unknown): string {
  return messageOf(error).replaceAll(projectRoot, '').replaceAll(/\s+/g, ' ').slice(0, LONGEST)
}
