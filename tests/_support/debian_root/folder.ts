import { join } from 'node:path'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

/** Where layers of Debian roots and their uses lie. */
export const debianFolder: string = join(projectRoot, '.outhook', 'debian')
