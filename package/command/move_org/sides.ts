import type { MoveSides } from './copy.ts'

/** One side, as the SQL function move_status returns it. */
export interface SideStatus {
  move_id: string | null
  role: 'source' | 'target' | null
  status: 'copying' | 'closed' | 'moved' | 'finished' | 'receiving' | 'live' | 'undone' | null
  /** The name and the database_id of the other side; null without a move. */
  other: string | null
  other_database: string | null
  database: string
  /** Tells also running servers apart that are copies of each other. */
  server: string
  /** What would be mixed with what arrives; null: nothing. */
  occupied_by: string | null
  /** Whether there is anything of the organisation, or a move. */
  is_known: boolean
  version: string
  key_hash: string
  parts: string[]
  blockers: string[]
  totals: Totals
}

/** How much an organisation has. */
export interface Totals {
  endpoints: number
  open: number
  dead_letters: number
}

/** Both sides of a move. */
export interface Sides {
  source: SideStatus
  target: SideStatus
}

/** The names that publishers know the projects by. */
export interface Names {
  org: string
  from: string
  to: string
}

/** Reads both sides. Rejects with a MoveError. */
export async function readSides({ org, source, target }: MoveSides): Promise<Sides> {
  return {
    source: await source.call<SideStatus>('move_status', { org_id: org }),
    target: await target.call<SideStatus>('move_status', { org_id: org }),
  }
}

/** Whether the source takes part in a move that has not ended. */
export function isLeaving({ role, status }: SideStatus): boolean {
  return role === 'source' && status !== 'finished'
}

/** Why these two databases and names are not those of the move; empty if they are, or if none has begun. */
export function wrongSides({ source, target }: Sides, { from, to }: Names): string[] {
  const isSame = source.role === 'source' && source.move_id === target.move_id
  return [
    ...source.server === target.server
      ? ['OUTHOOK_FROM_DB_URL and OUTHOOK_TO_DB_URL are the same database']
      : [],
    ...isLeaving(source) ? wrongOther(source, target, ['--to', to, 'OUTHOOK_TO_DB_URL']) : [],
    ...isSame || target.status === 'receiving'
      ? wrongOther(target, source, ['--from', from, 'OUTHOOK_FROM_DB_URL'])
      : [],
    // The first page comes after both databases know the move.
    ...target.status === 'receiving' && source.move_id !== target.move_id && hasReceived(target)
      ? ['OUTHOOK_FROM_DB_URL is not the database from which the target receives the organisation']
      : [],
  ]
}

function hasReceived({ totals: { endpoints, open, dead_letters } }: SideStatus): boolean {
  return endpoints + open + dead_letters > 0
}

function wrongOther(
  side: SideStatus,
  other: SideStatus,
  [option, name, variable]: [option: string, name: string, variable: string],
): string[] {
  return [
    ...side.other === name
      ? []
      : [`The move was begun with ${option} ${side.other}, not ${name}: give the same name`],
    ...side.other_database === null || side.other_database === other.database
      ? []
      : [`The move was begun with another database than that of ${variable}`],
  ]
}

/** Why the organisation cannot move between these sides; empty if it can, or if its move has begun. */
export function whyNot(sides: Sides, names: Names): string[] {
  const { source, target } = sides
  const reasons = wrongSides(sides, names)
  if (source.version !== target.version) {
    reasons.push(
      `The source has Outhook ${source.version} and the target ${target.version}: upgrade one`,
    )
  }
  if (source.key_hash !== target.key_hash) {
    reasons.push('The two servers hash partition keys differently')
  }
  if (source.parts.join() !== target.parts.join()) {
    reasons.push('The two databases have different modules')
  }
  if (!source.is_known) {
    reasons.push(`The source has nothing of ${names.org}: check the name, --from and --to`)
  }
  if (!isLeaving(source)) {
    reasons.push(...source.blockers)
    if (
      target.status !== 'receiving' && target.occupied_by !== null && source.status !== 'finished'
    ) {
      reasons.push(`The target has something of ${names.org} already: ${target.occupied_by}`)
    }
  } else if (target.status === 'undone' && target.move_id === source.move_id) {
    reasons.push('The move was being undone: run the command with --undo first')
  }
  // The target knows the move before the source.
  if (isLeaving(source) && reasons.length === 0 && source.move_id !== target.move_id) {
    reasons.push(
      'OUTHOOK_TO_DB_URL is not the database to which the organisation moves, or has forgotten it: ' +
        'give that database, or take the move back with --undo',
    )
  }
  return reasons
}
