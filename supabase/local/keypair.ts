import { createSigningKey } from '../../functions/_shared/signing/ed25519.ts'
import { print } from './print.ts'

if (import.meta.main) {
  const { secret, publicKey } = createSigningKey()
  print(`${secret}  for outbox.rotate_secret; keep it secret`)
  print(`${publicKey}  for the receivers`)
}
