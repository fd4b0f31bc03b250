/** The oldest major version of Node.js that this project is tested with. */
const OLDEST = 20

/**
 * The message for a Node.js that is too old, from the user agent that npm passes to the programs it starts
 * (`npm/10.9.2 node/v18.19.0 linux x64 …`); null if it is new enough, or if npm did not start this program.
 */
export function oldNode(userAgent: string | undefined): string | null {
  const version = /\bnode\/v(\d+\.\d+\.\d+)/.exec(userAgent ?? '')?.[1]
  if (version === undefined || Number.parseInt(version, 10) >= OLDEST) return null
  return `Node.js ${version} is too old for this project: install Node.js ${OLDEST} or newer`
}
