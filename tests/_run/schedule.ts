/** Runs jobs side by side. */

/** A job of the queue. */
export interface Job {
  /** Runs while no other job does, once all those that may have company are over. */
  alone?: boolean
  /** Waits most of its time, so it runs beside the slots. */
  waits?: boolean
  run(): Promise<void>
}

/** How many jobs run at the same time. */
export interface Width {
  slots: number
  /** How many more may run while the machine is idle. */
  spare: number
  /** Resolves after a while with whether the machine has been idle for a good part of it. */
  isIdle: () => Promise<boolean>
}

/** How many of those that wait run at the same time: they keep about half of a core busy. */
const WAITING = 2

/**
 * Runs the jobs in their order, at most `slots` at the same time, `spare` more where they leave the
 * machine idle, and two of those that wait beside them; then those that ask to be alone, one by one. Begins
 * no further job once `stopped()`. Rejects with the first error of a job.
 */
export async function runJobs(
  jobs: readonly Job[],
  { slots, spare, isIdle }: Width,
  stopped: () => boolean,
): Promise<void> {
  const together = jobs.filter(({ alone }) => !alone)
  const busy = together.filter(({ waits }) => !waits)
  const waiting = together.filter(({ waits }) => waits)
  await Promise.all([work(busy, slots, spare), work(waiting, WAITING)])
  await work(jobs.filter(({ alone }) => alone), 1)

  async function work(queue: readonly Job[], width: number, more = 0): Promise<void> {
    // All lanes take from one list, so each job goes to whichever is free first.
    const left = [...queue]
    const lane = async (mayTake?: () => Promise<boolean>): Promise<void> => {
      while (left.length > 0 && !stopped()) {
        if (mayTake !== undefined && !await mayTake()) continue
        if (!stopped()) await left.shift()?.run()
      }
    }
    await Promise.all([
      ...Array.from({ length: width }, () => lane()),
      ...Array.from({ length: more }, () => lane(isIdle)),
    ])
  }
}
