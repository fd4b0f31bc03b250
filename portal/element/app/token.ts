import { TokenError } from './failure.ts'

/** Why a token is asked for. */
export type TokenReason = 'first' | 'expiring' | 'refused'

/** Returns a portal token; the app around the element asks its own server for one. */
export type TokenSource = (asked: { reason: TokenReason }) => string | Promise<string>

/** The token of a page that stays open: renewed before it expires, and once when it is refused. */
export class TokenKeeper {
  #token: string | null = null
  #flight: Promise<string> | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Whether there is no valid token and no new one: the customer has to sign in again. */
  isLost = false

  /** `changed` is called after each renewal, and after one that failed. */
  constructor(readonly source: TokenSource, readonly changed: (error: unknown) => void) {}

  /** The token for the next request; rejects while the customer is signed out. */
  get(): Promise<string> {
    if (this.isLost) return Promise.reject(noToken())
    return this.#token === null ? this.renew('first') : Promise.resolve(this.#token)
  }

  /** Asks for a new token, once for all who wait for it. */
  renew(reason: TokenReason): Promise<string> {
    this.#flight ??= this.#ask(reason).finally(() => {
      this.#flight = null
    })
    return this.#flight
  }

  /** A new token after one was refused, unless it was already replaced. */
  replace(refused: string): Promise<string> {
    // Nothing asks again and again: the customer does, by a button.
    if (this.isLost) return Promise.reject(noToken())
    return this.#token !== null && this.#token !== refused ? this.get() : this.renew('refused')
  }

  /** Renews the token after 80 % of its life. */
  expiresIn(seconds: number | null): void {
    clearTimeout(this.#timer)
    if (seconds === null) return
    // Asking more often than each second would not help.
    const delay = Math.max(1000, seconds * 800)
    // The source of the token has failed, which `changed` tells.
    this.#timer = setTimeout(() => void this.renew('expiring').catch(() => {}), delay)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  async #ask(reason: TokenReason): Promise<string> {
    try {
      const token = await this.source({ reason })
      if (typeof token !== 'string' || token === '') throw new Error('token() returned no token')
      this.#token = token
      this.isLost = false
      this.changed(null)
      return token
    } catch (error) {
      // A token that only expires soon works until it is refused.
      if (reason !== 'expiring') this.isLost = true
      this.changed(error)
      throw noToken(error)
    }
  }
}

function noToken(cause?: unknown): TokenError {
  return new TokenError('There is no token', { cause })
}
