/** A text as a literal of SQL. Whatever stands in an address must not become a statement. */
export function sqlLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
