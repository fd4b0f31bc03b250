/**
 * What the publishers committed and the receivers accepted, by receiver: how many, and the sum of the random
 * parts of their ids. Two sums agree only if the same ids are in both, each once.
 */

interface Sum {
  n: number
  ids: number
}

const MODULUS = 2 ** 52

function add(sum: Sum, event: string): void {
  sum.n += 1
  // The last 48 bits of a uuid v7 are random.
  sum.ids = (sum.ids + parseInt(event.slice(-12), 16)) % MODULUS
}

export class DayLedger {
  readonly #due = new Map<string, Sum>()
  readonly #ended = new Map<string, Sum>()
  accepted = 0
  discarded = 0
  due = 0

  /** An event was committed for this receiver. */
  publish(endpoint: string, event: string): void {
    this.due += 1
    add(of(this.#due, endpoint), event)
  }

  /** The receiver accepted it. */
  accept(endpoint: string, event: string): void {
    this.accepted += 1
    add(of(this.#ended, endpoint), event)
  }

  /** An operator discarded its dead letter. */
  discard(endpoint: string, event: string): void {
    this.discarded += 1
    add(of(this.#ended, endpoint), event)
  }

  /** The receivers for which what ended is not what was published; for use when nothing is open. */
  differences(): string[] {
    return [...this.#due].flatMap(([endpoint, due]) => {
      const ended = of(this.#ended, endpoint)
      if (due.n === ended.n && due.ids === ended.ids) return []
      return [`${endpoint}: ${due.n} published, ${ended.n} ended, or not the same ones`]
    })
  }
}

function of(sums: Map<string, Sum>, endpoint: string): Sum {
  const sum = sums.get(endpoint) ?? { n: 0, ids: 0 }
  sums.set(endpoint, sum)
  return sum
}
