/** Runs jobs side by side. */

/** A job of the queue. */
export interface Job {
  /** Runs while no other job does, once all those that may have company are over. */
  alone?: boolean
  /** Waits most of its time, so it runs beside the slots. */
  waits?: boolean
  run(): Promise<void>
}

/**
 * Runs the jobs in their order, at most `slots` at the same time and one of those that wait beside
 * them, then those that ask to be alone, one by one. Begins no further job once `stopped()`. Rejects with the first error of a job.
 */
export async function runJobs(
  jobs: readonly Job[],
  slots: number,
  stopped: () => boolean,
): Promise<void> {
  const together = jobs.filter(({ alone }) => !alone)
  await Promise.all([
    work(together.filter(({ waits }) => !waits), slots),
    work(together.filter(({ waits }) => waits), 1),
  ])
  await work(jobs.filter(({ alone }) => alone), 1)

  async function work(queue: readonly Job[], width: number): Promise<void> {
    const waiting = queue.values()
    const lane = async (): Promise<void> => {
      // All lanes take from one iterator, so each job goes to whichever is free first.
      for (const job of waiting) {
        if (stopped()) return
        await job.run()
      }
    }
    await Promise.all(Array.from({ length: width }, lane))
  }
}
