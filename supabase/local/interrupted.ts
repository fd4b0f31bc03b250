/** Resolves when somebody asks us to end. */
export function interrupted(): Promise<'interrupted'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      Deno.addSignalListener(signal, () => resolve('interrupted'))
    }
  })
}
