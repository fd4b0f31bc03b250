/** Which step of a worker used the CPU: a profile of V8, whose samples are given to steps by the file that ran. */

import inspector from 'node:inspector'

/** The part of V8's profile that is read: a tree of calls, the leaf of each sample, and the time of each in µs. */
export interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
}

/** A step and the files that belong to it, as parts of their URLs. */
export interface CodeStep {
  step: string
  files: RegExp
}

/** Samples in which V8 waited for work. */
const idle = /^\((idle|program)\)$/

/**
 * The µs of each step. A sample belongs to the innermost call of a file of a step, so a library or a function of the
 * runtime counts for the step that called it. What no step called is `other`; waiting is left out.
 */
export function timeOfSteps(
  { nodes, samples, timeDeltas }: Profile,
  steps: readonly CodeStep[],
  other: string,
): Map<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((c) => [c, id])))
  const known = new Map<number, string | null>()

  function stepOf(id: number): string | null {
    const before = known.get(id)
    if (before !== undefined) return before
    const frame = byId.get(id)?.callFrame
    const own = steps.find(({ files }) => files.test(frame?.url ?? ''))?.step
    const parent = parents.get(id)
    const step = own ?? (parent === undefined ? null : stepOf(parent))
    known.set(id, step)
    return step
  }

  const times = new Map<string, number>()
  for (const [n, id] of samples.entries()) {
    const name = byId.get(id)?.callFrame.functionName ?? ''
    if (idle.test(name)) continue
    const step = name === '(garbage collector)' ? 'collect garbage' : stepOf(id) ?? other
    times.set(step, (times.get(step) ?? 0) + (timeDeltas[n] ?? 0))
  }
  return times
}

/** Profiles this process while `work` runs. */
export async function profileOf(work: () => Promise<void>): Promise<Profile> {
  const session = new inspector.Session()
  session.connect()
  const post = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve, reject) =>
      session.post(method, params, (error, result) => error ? reject(error) : resolve(result))
    )
  try {
    await post('Profiler.enable')
    await post('Profiler.setSamplingInterval', { interval: 200 })
    await post('Profiler.start')
    await work()
    // SAFETY: the protocol of the inspector says so.
    return (await post('Profiler.stop') as { profile: Profile }).profile
  } finally {
    session.disconnect()
  }
}
