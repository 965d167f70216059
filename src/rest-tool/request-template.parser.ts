import { attempt } from '../tool/index.js';
import { isHeaderName, isHeaderText, isReservedHeader } from './header.policy.js';
import { compilePair, type PairTemplate } from './query-template.mapper.js';
import type { RestToolDeclaration } from './rest-tool.types.js';
import { UrlTemplate } from './url-template.parser.js';
import { compileValue, type ValueTemplate } from './value-template.mapper.js';

/** The compiled request of a declaration, with placeholders for arguments. */
export interface RequestTemplate {
  readonly url: UrlTemplate;
  readonly query: readonly PairTemplate[];
  readonly headers: readonly PairTemplate[];
  readonly body?: ValueTemplate;
}

/** Compiles a declaration's request; `undefined` after a mistake, which is appended to `problems`. */
export function parseRequest(declaration: RestToolDeclaration, problems: string[]): RequestTemplate | undefined {
  const { query = {}, headers = {}, body } = declaration;
  const url = attempt(() => UrlTemplate.parse(declaration.url), problems);
  const pairs = Object.entries(query).map(([name, value]) => attempt(() => compilePair(name, value), problems));
  const named = Object.entries(headers).map(([name, value]) =>
    attempt(() => compilePair(checkedHeader(name, value), value), problems),
  );
  const content = attempt(() => bodyOf(declaration), problems);
  if (!url) return undefined;
  const all = { url, query: pairs.filter(isThere), headers: named.filter(isThere) };
  const isWhole = all.query.length === pairs.length && all.headers.length === named.length;
  if (!isWhole || (body !== undefined && !content)) return undefined;
  return { ...all, ...(content && { body: content }) };
}

function bodyOf({ method = 'GET', body }: RestToolDeclaration): ValueTemplate | undefined {
  if (body === undefined) return undefined;
  if (method === 'GET' || method === 'HEAD') throw new Error(`it has a body, which ${method} cannot have`);
  return compileValue(body);
}

function isThere(template: PairTemplate | undefined): template is PairTemplate {
  return template !== undefined;
}

/** @throws Error for a header that a tool cannot set */
function checkedHeader(given: string, value: string): string {
  const name = given.toLowerCase();
  if (!isHeaderName(given)) throw new Error(`its header ${JSON.stringify(given)} is not a valid header name`);
  if (name === 'authorization') {
    throw new Error('its headers contain authorization: use `auth`, which reads a secret');
  }
  if (isReservedHeader(name)) throw new Error(`its headers contain ${name}, which a tool cannot set`);
  if (!isHeaderText(value)) {
    throw new Error(`its header "${name}" is ${JSON.stringify(value)}, which a header cannot contain: use plain ASCII`);
  }
  return name;
}
