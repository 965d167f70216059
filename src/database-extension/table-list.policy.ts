/** Whether a list names a table: `orders`, `sales.orders`, or `sales.*` for a whole schema. Case-insensitive. */
export function listsTable(list: readonly string[], schema: string, table: string): boolean {
  const names = [table, `${schema}.${table}`, `${schema}.*`].map((name) => name.toLowerCase());
  return list.some((name) => names.includes(name.toLowerCase()));
}
