/** A slot in use. */
export type Slot = {
  /** Says that it is in use for long. */
  isLong(): void
  /** Gives it back, once. */
  leave(): void
}

/** Slots that lanes share. */
export type Turns = {
  /** Calls `enter` with a slot, now or in the turn of the lane. The returned function leaves the queue. */
  take(lane: string, enter: (slot: Slot) => void): () => void
}

type Lane = { taken: number; long: number; share: number; waiting: Set<(slot: Slot) => void> }

/** The share of a lane begins small, because nobody knows yet whether its uses are short. */
const leastShare = 4

/**
 * Creates `size` slots. Lanes that wait get them in turns. The share of a lane grows by one with each short use
 * and halves with each long one, which no longer counts in it. So one lane gets nearly all slots if it gives
 * them back soon, and some are always left for the others.
 */
export function createTurns(size: number): Turns {
  const most = size - Math.floor(size / 6)
  /** The lane whose turn is next is the first one. */
  const lanes = new Map<string, Lane>()
  let taken = 0
  let isServing = false

  function take(name: string, enter: (slot: Slot) => void): () => void {
    const lane = lanes.get(name) ??
      { taken: 0, long: 0, share: leastShare, waiting: new Set() }
    lanes.set(name, lane)
    lane.waiting.add(enter)
    serve()
    return () => {
      lane.waiting.delete(enter)
      forget(name, lane)
    }
  }

  /** `enter` may call it again: then the loop goes on with what has changed. */
  function serve(): void {
    if (isServing) return
    isServing = true
    for (let name = nextLane(); name !== null; name = nextLane()) serveOne(name)
    isServing = false
  }

  function nextLane(): string | null {
    if (taken >= size) return null
    for (const [name, lane] of lanes) {
      const isFree = lane.taken < Math.min(lane.share + lane.long, most)
      if (lane.waiting.size > 0 && isFree) return name
    }
    return null
  }

  function serveOne(name: string): void {
    const lane = lanes.get(name)
    const [enter] = lane?.waiting ?? []
    if (lane === undefined || enter === undefined) return
    lane.waiting.delete(enter)
    lanes.delete(name)
    lanes.set(name, lane)
    lane.taken++
    taken++
    enter(slotOf(name, lane))
  }

  function slotOf(name: string, lane: Lane): Slot {
    let isLong = false
    return {
      isLong(): void {
        isLong = true
        lane.long++
        lane.share = Math.max(leastShare, Math.floor(lane.share / 2))
        serve()
      },
      leave(): void {
        if (isLong) lane.long--
        else lane.share = Math.min(lane.share + 1, most)
        lane.taken--
        taken--
        forget(name, lane)
        serve()
      },
    }
  }

  function forget(name: string, lane: Lane): void {
    if (lane.taken === 0 && lane.waiting.size === 0) lanes.delete(name)
  }

  return { take }
}
