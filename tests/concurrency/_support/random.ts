/** Repeatable random numbers (mulberry32): a failing run names its seed. */
export class Random {
  #state: number

  constructor(readonly seed: number) {
    this.#state = seed | 0
  }

  /** A number from 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  /** A whole number from 0 to `below` - 1. */
  int(below: number): number {
    return Math.floor(this.next() * below)
  }

  /** The items in a random order. */
  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, key: this.next() }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item)
  }
}

/** A seed that differs from run to run, small enough to type. */
export function newSeed(): number {
  return crypto.getRandomValues(new Uint16Array(1))[0] ?? 0
}
