import { expect } from '@std/expect'
import { awayTable, isAway, rowOf, type ServerError } from '../../consumer/away.ts'

const error = (
  severity: string,
  code: string,
  message = 'an error',
  routine = 'exec_stmt_raise',
): ServerError => ({ severity, code, message, routine })

/** What Postgres 17, PgBouncer and Supavisor send. */
const refusals: readonly ServerError[] = [
  error('FATAL', '08P01', 'server login has been failing'),
  error('FATAL', '08006', 'connection to the database not available'),
  error('ERROR', '25006', 'cannot execute INSERT in a read-only transaction'),
  error('FATAL', '28000', 'role "clerk" is not permitted to log in'),
  error('FATAL', '28P01', 'password authentication failed for user "clerk"'),
  error('FATAL', '3D000', 'database "shop" does not exist'),
  error('FATAL', '42501', 'permission denied for database "shop"'),
  error('FATAL', '53300', 'sorry, too many clients already'),
  error('ERROR', '53100', 'could not extend file'),
  error('FATAL', '55000', 'database "shop" is not currently accepting connections'),
  error('FATAL', '55000', 'cannot connect to invalid database "shop"'),
  error('FATAL', '57P01', 'terminating connection due to administrator command'),
  error('FATAL', '57P02', 'terminating connection because of crash of another server process'),
  error('FATAL', '57P03', 'the database system is starting up'),
  error('FATAL', '57P03', 'the database system is not accepting connections'),
  error('FATAL', '57P04', 'terminating connection due to conflict with recovery'),
  error('FATAL', '57P05', 'terminating connection due to idle-session timeout'),
  error('FATAL', '40001', 'terminating connection due to conflict with recovery'),
  error('ERROR', '58030', 'could not read block 0'),
  error('FATAL', 'XX000', 'Tenant or user not found'),
  error('PANIC', 'XX000', 'could not locate a valid checkpoint record'),
  error('ERROR', '54000', 'database is not accepting commands', 'GetNewTransactionId'),
  error('ERROR', '54000', 'database is not accepting commands', 'GetNewMultiXactId'),
  error('ERROR', '42501', 'permission denied for schema outbox'),
  error('ERROR', '3F000', 'schema "outbox" does not exist'),
  error('ERROR', '42501', 'permission denied for function take_events'),
]

/** What a message, or the handler that it is passed to, may cause. */
const ofMessages: readonly ServerError[] = [
  error('FATAL', '25P03', 'terminating connection due to idle-in-transaction timeout'),
  error('FATAL', '25P04', 'terminating connection due to transaction timeout'),
  error('ERROR', '28000', 'no such user'),
  error('ERROR', '3D000', 'database "shop" does not exist'),
  error('ERROR', '3F000', 'schema "shop" does not exist'),
  error('ERROR', '40001', 'could not serialize access'),
  error('ERROR', '40P01', 'deadlock detected'),
  error('ERROR', '42501', 'permission denied for table bill'),
  error('ERROR', '54000', 'index row size exceeds btree maximum', '_bt_check_third_page'),
  error('ERROR', '55000', 'currval of sequence "bill" is not yet defined in this session'),
  error('ERROR', '55P03', 'canceling statement due to lock timeout'),
  error('ERROR', '57014', 'canceling statement due to statement timeout'),
  error('ERROR', 'P0001', 'no such customer'),
  error('ERROR', 'XX000', 'cache lookup failed'),
]

Deno.test('a message waits for each error by which a server says that it cannot serve now', () => {
  for (const one of refusals) expect([one, rowOf(one).isAway]).toEqual([one, true])
  expect(isAway(new Error('no response within 100 ms'))).toBe(true)
})

Deno.test('a message fails by each error that it may cause itself', () => {
  for (const one of ofMessages) expect([one, rowOf(one).isAway]).toEqual([one, false])
})

Deno.test('each row of the table is that of one of these errors', () => {
  const rows = new Set([...refusals, ...ofMessages].map(rowOf))
  expect(awayTable.filter((row) => !rows.has(row))).toEqual([])
})
