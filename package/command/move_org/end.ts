import type { MoveSides, Page } from './copy.ts'
import { MoveError } from './database.ts'

/** A page of open deliveries, as the SQL function open_pairs returns it. */
interface OpenPairs {
  /** How many events it has. */
  n: number
  upto: string | null
  pairs: { event: string; endpoints: string[] }[]
}

/**
 * Ends the open deliveries of the source, after the switch, and returns how many. What the target has not
 * received is added there first.
 */
export async function endInSource(sides: MoveSides): Promise<number> {
  let ended = 0
  while (true) {
    const more = await endOnce(sides)
    if (more === null) return ended
    if (more === 0) {
      throw new MoveError(
        'The source has open deliveries that cannot be ended',
        'unended',
        'outbox.delivery has them. Run the same command again when they are gone',
      )
    }
    // Something may have come before the place where this pass has been.
    ended += more
  }
}

/** Goes once through the open deliveries; null if there are none. */
async function endOnce({ org, source, target, run }: MoveSides): Promise<number | null> {
  const turn = { org, run }
  let ended: number | null = null
  let after = ''
  while (true) {
    const { n, upto, pairs } = await source.call<OpenPairs>('open_pairs', { org_id: org, after })
    if (n === 0 || upto === null) return ended
    const unknown = await target.call<string[]>('unknown_events', { org_id: org, pairs }, turn)
    if (unknown.length > 0) {
      const late = await source.call<Page>('read_move_page', {
        org_id: org,
        part: 'event',
        after,
        upto,
        whole: true,
        with_items: true,
      })
      await target.call('add_late_events', { org_id: org, items: late.items ?? '[]' }, turn)
    }
    ended = (ended ?? 0) +
      await source.call<number>('end_moved_events', { org_id: org, pairs }, turn)
    after = upto
  }
}
