import { withoutTrailing } from '../../kernel/index.js';
import { unmappable } from './openapi.error.js';
import { isNode } from './openapi.types.js';

const NOT_ABSOLUTE = 'is not https://host/path: give `server`';

/** Mistakes of an import's own `server`. */
export function serverMistakes(server: string | undefined): readonly string[] {
  return server === undefined || isAbsolute(server) ? [] : [`its server ${JSON.stringify(server)} ${NOT_ABSOLUTE}`];
}

/**
 * The base URL of an operation: the import's `server`, else the only server of the nearest list.
 * @param lists servers of the operation, its path and the document, in this order
 * @throws AppError `TOOL_INVALID` unless that is one absolute URL
 */
export function mapServer(override: string | undefined, lists: readonly unknown[], where: string): string {
  const url = override ?? onlyServer(lists, where);
  if (!isAbsolute(url)) throw unmappable(where, `its server ${JSON.stringify(url)} ${NOT_ABSOLUTE}`);
  return withoutTrailing(url, '/');
}

function isAbsolute(url: string): boolean {
  return /^https?:\/\/[^/]/i.test(url) && !/[{}?#@]/.test(url) && URL.canParse(url);
}

function onlyServer(lists: readonly unknown[], where: string): string {
  const [servers = []] = lists.filter((list): list is unknown[] => Array.isArray(list) && list.length > 0);
  const [server, ...others] = servers.filter(isNode);
  if (!server) throw unmappable(where, 'the document names no server: give `server`');
  if (others.length > 0) {
    const urls = servers.map((one) => String(isNode(one) ? one['url'] : one)).join(', ');
    throw unmappable(where, `the document names several servers (${urls}): give one as \`server\``);
  }
  const variables = isNode(server['variables']) ? server['variables'] : {};
  return String(server['url']).replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = variables[name];
    const fallback = isNode(variable) ? variable['default'] : undefined;
    return typeof fallback === 'string' ? fallback : whole;
  });
}
