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
  /** Whether the token replaced a refused one, and the API has not accepted it yet. */
  #isUnproven = false
  /** Whether there is no valid token and no new one: the customer has to sign in again. */
  isLost = false

  /**
   * A text as the source is a token that cannot be renewed. `changed` is called after each renewal with
   * null, and with the error if there is no token or the API refuses the new one too.
   */
  constructor(
    readonly source: TokenSource | string,
    readonly changed: (error: unknown) => void,
  ) {}

  get canRenew(): boolean {
    return typeof this.source !== 'string'
  }

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
    if (this.#token !== null && this.#token !== refused) return this.get()
    return this.refuse(refused) ? Promise.reject(noToken()) : this.renew('refused')
  }

  /** The API has accepted a token. */
  accept(token: string): void {
    if (token === this.#token) this.#isUnproven = false
  }

  /**
   * Whether a refused token is the one that has just replaced a refused one. Another would be refused
   * as well, so only the customer asks for it.
   */
  refuse(token: string): boolean {
    if (this.isLost || token !== this.#token || !this.#isUnproven) return false
    this.isLost = true
    this.changed(new TokenError('The API refuses the token'))
    return true
  }

  /** Renews the token after 80 % of its life. */
  expiresIn(seconds: number | null): void {
    clearTimeout(this.#timer)
    if (seconds === null || !this.canRenew) return
    // Asking more often than each second would not help.
    const delay = Math.max(1000, seconds * 800)
    // The source of the token has failed, which `changed` tells.
    this.#timer = setTimeout(() => void this.renew('expiring').catch(() => {}), delay)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #next(reason: TokenReason): string | Promise<string> {
    if (typeof this.source !== 'string') return this.source({ reason })
    if (reason === 'first') return this.source
    throw new Error('The token cannot be renewed')
  }

  async #ask(reason: TokenReason): Promise<string> {
    try {
      const token = await this.#next(reason)
      if (typeof token !== 'string' || token === '') throw new Error('token() returned no token')
      const isFirst = this.#token === null && !this.isLost
      this.#token = token
      this.#isUnproven = reason === 'refused'
      this.isLost = false
      if (!isFirst) this.changed(null)
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
