import { createSigningKey } from '../../functions/_shared/signing/ed25519.ts'
import { runCommand } from './command.ts'
import { print } from './print.ts'

const help =
  `Generate an ed25519 key pair for outbox.rotate_secret: the secret key, then the public key.

  npx -y deno@2.9.6 task keypair

  --help  show this`

function run(): Promise<number> {
  const { secret, publicKey } = createSigningKey()
  print(`${secret}  for outbox.rotate_secret; keep it secret`)
  print(`${publicKey}  for the receivers`)
  return Promise.resolve(0)
}

if (import.meta.main) await runCommand({ help, flags: {}, run })
