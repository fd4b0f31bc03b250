import { join } from 'node:path'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

/** The folder of the layers of Debian roots and of their uses. */
export const debianFolder: string = join(projectRoot, '.outhook', 'debian')
