import type { Family } from '../fault.ts'

/** Upgrades while publishers, workers and functions run. */
export const schemaFaults: Family = {
  'functions replaced': ({ world: { schema } }) => schema.replace(),

  /** To the next version. Workers are restarted one by one, after the schema or before it. */
  async 'upgraded'({ world: { schema, workers }, random }): Promise<void> {
    const restart = async (): Promise<void> => {
      for (let n = 0; n < workers.count; n++) await workers.restart(n)
    }
    const workersFirst = random.int(2) === 0
    if (workersFirst) await restart()
    await schema.upgrade()
    if (!workersFirst) await restart()
  },
}
