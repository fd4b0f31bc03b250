import type { Sql } from 'postgres'
/** Any number: nothing else here takes advisory locks. */
const HOLD_LOCK = 271828

/** A statement of dispatch(), by what it does to which table. */
export interface Place {
  when: 'before' | 'after'
  what: 'insert' | 'update' | 'delete'
  table: string
}

/**
 * Makes every session that comes to this place wait until `holder` lets go: a trigger of the
 * statement asks for a lock that the holder has, without a timeout. Disposing of it lets go and removes the trigger.
 */
export async function holdAt(owner: Sql, holder: Sql, place: Place): Promise<AsyncDisposable> {
  const { when, what, table } = place
  await holder`select pg_advisory_lock(${HOLD_LOCK})`
  await owner`
    create function public.hold() returns trigger language plpgsql set lock_timeout = 0 as $$
    begin
      perform pg_advisory_xact_lock_shared(tg_argv[0]::bigint);
      return null;
    end $$`
  await owner.unsafe(
    `create trigger hold ${when} ${what} on outbox.${table} for each statement execute function public.hold('${HOLD_LOCK}')`,
  )
  return {
    [Symbol.asyncDispose]: async () => {
      await holder`select pg_advisory_unlock_all()`
      await owner.unsafe(`drop trigger hold on outbox.${table}`)
      await owner`drop function public.hold()`
    },
  }
}
