/**
 * Whether a selection contains a route.
 * @param route such as `GET runs/:id`
 * @param entry the start of its path, with or without the method: `runs`, `GET runs`
 */
export function isPart(route: string, entry: string): boolean {
  const [path = '', method] = entry.split(' ').toReversed();
  const [ownMethod = '', own = ''] = route.split(' ');
  const selected = path.replace(/^\/|\/$/g, '');
  return (method === undefined || method === ownMethod) && `${own}/`.startsWith(`${selected}/`);
}

export function isSelected(route: string, selection: readonly string[] | undefined): boolean {
  return selection === undefined || selection.some((entry) => isPart(route, entry));
}
