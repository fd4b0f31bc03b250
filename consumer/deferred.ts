/** A promise that can be resolved from outside. Node 20 has no Promise.withResolvers(). */
export interface Deferred {
  promise: Promise<void>
  resolve(): void
  reject(error: unknown): void
}

/** Creates such a promise. */
export function deferred(): Deferred {
  let resolve: () => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<void>((onEnd, onError) => {
    resolve = onEnd
    reject = onError
  })
  return { promise, resolve, reject }
}
