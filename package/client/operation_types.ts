import type { operations as Described } from './openapi.types.ts'
import type { operations } from './operations.ts'

/** The name of an operation, such as `publishEvent`: the operationId in openapi.json. */
export type OperationName = keyof typeof operations & keyof Described

/** Options of one request. */
export interface RequestOptions {
  /** The organisation; by default that of the client. */
  orgId?: string
  /** The same key creates the same object once; by default each request has a random one. */
  idempotencyKey?: string
  /** The ETag that the object must still have: see `etagOf`. */
  ifMatch?: string
  /** Ends the request and all retries. */
  signal?: AbortSignal
  /** The time limit of each attempt. */
  timeoutMs?: number
}

type Path<O> = O extends { parameters: { path: infer P } } ? { path: P } : { path?: undefined }

type Query<O> = O extends { parameters: { query?: infer Q } }
  ? [NonNullable<Q>] extends [never] ? { query?: undefined } : { query?: NonNullable<Q> }
  : { query?: undefined }

type Body<O> = O extends { requestBody: { content: { 'application/json': infer B } } } ? { body: B }
  : { body?: undefined }

/** The parameters and the body of an operation, and options. */
export type Input<Name extends OperationName> =
  & Path<Described[Name]>
  & Query<Described[Name]>
  & Body<Described[Name]>
  & RequestOptions

type Json<Response> = Response extends { content: { 'application/json': infer B } } ? B : undefined

type Success<R> = Json<R[keyof R & (200 | 201 | 202 | 204)]>

/** What an operation returns. */
export type Output<Name extends OperationName> = Success<Described[Name]['responses']>

/** The operations that return a page of a list. */
export type ListName = {
  [Name in OperationName]: Output<Name> extends { data: unknown[]; nextCursor: string | null }
    ? Name
    : never
}[OperationName]

/** An item of a list. */
export type Item<Name extends ListName> = Output<Name> extends { data: (infer I)[] } ? I : never

/** The arguments of an operation: none are needed if nothing in them is required. */
export type Arguments<Name extends OperationName> = Record<never, never> extends Input<Name>
  ? [input?: Input<Name>]
  : [input: Input<Name>]
