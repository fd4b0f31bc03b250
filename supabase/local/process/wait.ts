/**
 * Resolves true as soon as `condition` holds, or false after `timeoutMs`. The condition is looked
 * at every `everyMs`, at once the first time.
 */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  { timeoutMs, everyMs = 20 }: { timeoutMs: number; everyMs?: number },
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (!await condition()) {
    if (performance.now() > deadline) return false
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
  return true
}
