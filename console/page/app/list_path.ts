/** A path of the API with its filters, such as `/deliveries?status=held`. */
export function listPath(path: string, filters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(filters).toString()
  return query === '' ? path : `${path}?${query}`
}
