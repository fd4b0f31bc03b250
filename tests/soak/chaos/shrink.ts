/**
 * Leaves out as many items as possible while what is left still fails: first halves, then smaller parts, then
 * single ones. Chance takes part in a failure, so each part gets one try, and time is limited.
 */
export async function shrink<T>(
  items: readonly T[],
  { fails, isOver }: {
    fails: (items: readonly T[]) => Promise<boolean>
    /** Whether the time is used up. */
    isOver: () => boolean
  },
): Promise<T[]> {
  let left = [...items]
  let parts = 2
  while (left.length > 1) {
    const size = Math.ceil(left.length / parts)
    let isShorter = false
    for (let at = 0; at < left.length; at += size) {
      if (isOver()) return left
      const rest = left.toSpliced(at, size)
      if (rest.length === 0 || !await fails(rest)) continue
      left = rest
      isShorter = true
      break
    }
    if (isShorter) parts = Math.max(2, parts - 1)
    else if (size === 1) return left
    else parts = Math.min(parts * 2, left.length)
  }
  return left
}
