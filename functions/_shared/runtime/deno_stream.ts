import { Duplex } from 'node:stream'
import { Buffer } from 'node:buffer'
import { asError } from '../base/errors.ts'
import { coded } from './deno_error.ts'

/** A Deno connection as a Node stream. Destroying the stream closes it. */
export class DenoStream extends Duplex {
  #buffer = new Uint8Array(16_384)

  constructor(readonly conn: Deno.Conn) {
    super()
  }

  override _read(): void {
    this.conn.read(this.#buffer).then((size) => {
      this.push(size === null ? null : Buffer.from(this.#buffer.slice(0, size)))
    }, (error) => this.destroy(asError(coded(error))))
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#writeAll(chunk).then(() => done(), (error) => done(asError(coded(error))))
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    try {
      this.conn.close()
    } catch {
      // It is closed already.
    }
    done(error)
  }

  async #writeAll(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length;) at += await this.conn.write(chunk.subarray(at))
  }
}
