import { signal } from '@preact/signals';

/** The place in the console. It is the fragment of the URL, so that the page works below any path. */
export interface Route {
  /** Decoded segments: `#/runs/x?tab=events` has `['runs', 'x']`. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

function parse(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const segments = path.split('/').filter((segment) => segment !== '');
  return { path: segments.map(decode), query: Object.fromEntries(new URLSearchParams(search)) };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export const route = signal<Route>(parse(location.hash));

addEventListener('hashchange', () => {
  route.value = parse(location.hash);
});

/** The link to a place. Empty values of the query are left out. */
export function href(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

export function go(path: readonly string[], query?: Readonly<Record<string, string | undefined>>): void {
  location.hash = href(path, query);
}

/** Changes values of the query in place, without an entry in the history. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { path, query } = route.value;
  history.replaceState(null, '', href(path, { ...query, ...changes }));
  route.value = parse(location.hash);
}
