/** `outhook`: a typed client of the API. */

export { type Client, type ClientOptions, createClient, type Credentials } from './client.ts'
export {
  ApiError,
  ConnectionError,
  OuthookError,
  type Problem,
  type ProblemCode,
} from './errors.ts'
export { etagOf } from './etag.ts'
export type { components } from './openapi.types.ts'
export type {
  Input,
  Item,
  ListName,
  OperationName,
  Output,
  RequestOptions,
} from './operation_types.ts'
