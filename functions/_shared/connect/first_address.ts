import { runtime } from '../runtime/current.ts'
import type { TcpConn } from '../runtime/runtime.ts'
import type { ResolvedAddress } from './share_lookups.ts'

/** How long one address is tried alone before the next one is tried too (RFC 8305 section 5). */
const staggerMs = 250

/**
 * Opens a TCP connection to the first of the addresses that accepts one. It tries them in order, the next one
 * when the one before has failed or takes long. Aborting closes all of them. Rejects with the last error.
 */
export function connectFirst(
  addresses: readonly ResolvedAddress[],
  port: number,
  signal: AbortSignal,
): Promise<TcpConn> {
  return new Promise((resolve, reject) => {
    let tried = 0
    let failed = 0
    let isSettled = false
    let timer: ReturnType<typeof setTimeout> | undefined
    signal.addEventListener('abort', () => fail(signal.reason), { once: true })
    if (signal.aborted) fail(signal.reason)
    if (addresses.length === 0) {
      fail(Object.assign(new Error('The host name has no address'), { code: 'ENOTFOUND' }))
    }
    tryNext()

    function tryNext(): void {
      clearTimeout(timer)
      const next = addresses[tried++]
      if (next === undefined || isSettled) return
      runtime.connectTcp({ hostname: next.address, port }).then(win, lose)
      if (tried < addresses.length) timer = setTimeout(tryNext, staggerMs)
    }

    function win(conn: TcpConn): void {
      if (isSettled) return conn.close()
      isSettled = true
      clearTimeout(timer)
      resolve(conn)
    }

    function lose(error: unknown): void {
      if (++failed === addresses.length) fail(error)
      else if (failed === tried) tryNext()
    }

    function fail(error: unknown): void {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      reject(error)
    }
  })
}
