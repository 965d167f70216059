/** Whether a list of tables has one: `orders`, `sales.orders`, or `sales.*` for all of a schema. Case is nothing to it. */
export function listsTable(list: readonly string[], schema: string, table: string): boolean {
  const names = [table, `${schema}.${table}`, `${schema}.*`].map((name) => name.toLowerCase());
  return list.some((name) => names.includes(name.toLowerCase()));
}
