/** A promise with its ends. Node 20 has no Promise.withResolvers(). */
export interface Deferred {
  promise: Promise<void>
  resolve(): void
  reject(error: unknown): void
}

/** Creates a promise that its owner ends. */
export function deferred(): Deferred {
  let resolve: () => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<void>((onEnd, onError) => {
    resolve = onEnd
    reject = onError
  })
  return { promise, resolve, reject }
}
