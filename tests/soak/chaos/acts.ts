import { pause, type Step } from './fault.ts'

/**
 * Begins each step at its time, and waits until all that have begun are over, also if one fails: whoever removes
 * what they act on must wait for them. After a failure it begins no other one, and it throws the first error.
 */
export async function playSteps(
  steps: readonly Step[],
  act: (step: Step) => Promise<void>,
): Promise<void> {
  const began = performance.now()
  const acting: Promise<void>[] = []
  const errors: unknown[] = []
  for (const step of steps) {
    await pause(Math.max(0, step.at - (performance.now() - began)))
    if (errors.length > 0) break
    acting.push(act(step).catch((error) => void errors.push(error)))
  }
  await Promise.all(acting)
  if (errors.length > 0) throw errors[0]
}

/** The error that came first, if further ones came while what it had left was removed. */
export function firstError(error: unknown): unknown {
  return error instanceof SuppressedError ? firstError(error.suppressed) : error
}
