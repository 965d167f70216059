/** The page with this table between its marks. */
export function withTable(page: string, kind: 'servers' | 'documents', table: string): string {
  const start = `<!-- ${kind}: written by \`INTEGRATIONS_WRITE=1 npm run test:integrations\` -->\n<!-- prettier-ignore-start -->\n`;
  const end = `\n<!-- prettier-ignore-end -->\n<!-- /${kind} -->`;
  const from = page.indexOf(start) + start.length;
  return `${page.slice(0, from)}${table}${page.slice(page.indexOf(end, from - 1))}`;
}
