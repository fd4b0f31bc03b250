/** A thread that takes a share of a processor, in pieces of 5 ms, until its process ends; `?share=`, by default all. */

const share = Number(new URL(import.meta.url).searchParams.get('share') ?? 1)
const PIECE_MS = 5

/** Numbers that a piece adds up: as many as take the time while nothing else runs. */
const size = calibrate()

function work(count: number): number {
  let sum = 0
  for (let n = 0; n < count; n++) sum += Math.sqrt(n)
  return sum
}

function calibrate(): number {
  const count = 1_000_000
  let least = Infinity
  for (let n = 0; n < 10; n++) {
    const begun = performance.now()
    work(count)
    least = Math.min(least, performance.now() - begun)
  }
  return count * PIECE_MS / least
}

let at = performance.now()
for (;;) {
  if (share < 1) {
    const wait = at - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
  }
  work(size)
  at = Math.max(at + PIECE_MS / share, performance.now() - 100)
}
