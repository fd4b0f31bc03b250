import { startReceiver } from './receiver.ts'

// The receiver as a process: prints its URL as one line of JSON and stays until it is told to stop.

function stop(): void {
  Deno.exit(0)
}

if (import.meta.main) {
  const { url } = startReceiver({ port: Number(Deno.args[0] ?? 0) })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) Deno.addSignalListener(signal, stop)
  await Deno.stdout.write(new TextEncoder().encode(`${JSON.stringify({ url })}\n`))
}
