const encoder = new TextEncoder()

/** Write one line to standard output, at once. */
export function print(line = ''): void {
  writeAll(Deno.stdout, line + '\n')
}

/** Write one line to standard error, at once. */
export function printError(line: string): void {
  writeAll(Deno.stderr, line + '\n')
}

/** Write text as it is to standard output; a pipe may take it in several pieces. */
export function printRaw(text: string): void {
  writeAll(Deno.stdout, text)
}

function writeAll(to: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let rest = encoder.encode(text)
  while (rest.length > 0) rest = rest.subarray(to.writeSync(rest))
}
