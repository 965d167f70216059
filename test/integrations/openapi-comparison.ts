import { isDeepStrictEqual } from 'node:util';
import type { MappedParameter } from '../../src/rest-tool/openapi/openapi-parameter.mapper.js';
import { isNode, type Node } from '../../src/rest-tool/openapi/openapi.types.js';
import { CANARY } from '../support/rest-world.js';
import type { SeenRequest } from '../support/web-server.js';
import type { TriedOperation } from './openapi-trial.js';

type Pair = readonly [name: string, value: string];

/** The file that every argument for a file names. */
export const TRIED_FILE = { n: 1, mediaType: 'application/pdf', bytes: Buffer.from('%PDF-1.7\n\0'), name: 'a.pdf' };
/** Headers that no argument sets. */
const OWN_HEADERS = new Set([
  'host',
  'connection',
  'accept',
  'accept-encoding',
  'user-agent',
  'content-length',
  'content-type',
  'authorization',
]);

/** Differences between a request and the given values; its decoder shares no code with the import. */
export function differencesOf(sent: SeenRequest, { request, declaration }: TriedOperation, values: Node): string[] {
  const faults: string[] = [];
  const given = (place: MappedParameter['place']) =>
    request.parameters.filter((one) => one.place === place && isPresent(values[one.argument]));
  if (sent.method !== declaration.method) faults.push(`the method is ${sent.method}`);
  const [path = '', ...queries] = sent.path.split('?');
  const segments = request.path.map((pieces) =>
    pieces.map((piece) => (typeof piece === 'string' ? piece : pathText(piece, values[piece.argument]))).join(''),
  );
  const wanted = `/api/${segments.join('/')}`;
  if (decoded(path) !== wanted) faults.push(`the path is ${path}, not ${wanted}`);
  const isSecret = ([, value]: Pair) => value === CANARY;
  const pairs = given('query').flatMap((one) => pairsOf(one.name, values[one.argument], one));
  const sentPairs = pairsIn(queries.join('?'), false).filter((pair) => !isSecret(pair));
  compare('query', sentPairs, [...new URLSearchParams(request.search), ...pairs], faults);
  const headers = Object.entries(sent.headers).map(([name, value]): Pair => [name, String(value)]);
  const own = headers.filter((pair) => !OWN_HEADERS.has(pair[0]) && pair[0] !== 'cookie' && !isSecret(pair));
  const texts = given('header').map((one): Pair => [one.name.toLowerCase(), headerText(one, values[one.argument])]);
  compare(
    'header',
    own,
    texts.filter(([name]) => !OWN_HEADERS.has(name)),
    faults,
  );
  const cookies = given('cookie').flatMap((one) => pairsOf(one.name, values[one.argument], one));
  compare('cookie', pairsIn((sent.headers.cookie ?? '').replaceAll('; ', '&'), false), cookies, faults);
  return [...faults, ...bodyFaults(sent, request.body, values)];
}

function bodyFaults(sent: SeenRequest, body: TriedOperation['request']['body'], values: Node): string[] {
  const value = body && values[body.argument];
  if (value === undefined) return sent.body === '' ? [] : [`an unwanted body is sent: ${sent.body.slice(0, 200)}`];
  const faults: string[] = [];
  const { kind, encoding, files } = body!;
  const content = (name: string, one: unknown) => (files.has(name) ? contentOf(one) : one);
  const fields = Object.entries(isNode(value) ? value : {});
  const other = `the body is ${sent.body.slice(0, 200)}`;
  switch (kind) {
    case 'json':
      if (!isDeepStrictEqual(parsed(sent.body), parsed(JSON.stringify(value)))) faults.push(other);
      break;
    case 'form':
      compare(
        'form',
        pairsIn(sent.body, true),
        fields.flatMap(([name, one]) => fieldPairs(name, one, encoding[name])),
        faults,
      );
      break;
    case 'multipart':
      compare(
        'parts',
        partsIn(sent),
        fields.flatMap(([name, one]) => memberPairs(name, content(name, one), encoding[name])),
        faults,
      );
      break;
    case 'bytes':
      if (!sent.bytes.equals(TRIED_FILE.bytes)) faults.push(other);
      break;
    case 'text':
      if (sent.body !== textOf(value)) faults.push(other);
  }
  return faults;
}

/** The contents of the files that a value names. */
function contentOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(contentOf);
  return typeof value === 'number' ? TRIED_FILE.bytes.toString() : value;
}

function compare(what: string, sent: readonly Pair[], wanted: readonly Pair[], faults: string[]): void {
  const [has, wants] = [sent, wanted].map((pairs) => pairs.map((pair) => pair.join('=')).toSorted());
  if (isDeepStrictEqual(has, wants)) return;
  faults.push(`the ${what} has ${has!.join(' & ').slice(0, 300)}, not ${wants!.join(' & ').slice(0, 300)}`);
}

function pairsOf(name: string, value: unknown, how: Pick<MappedParameter, 'style' | 'isExploded'>): readonly Pair[] {
  if (how.style === 'json') return [[name, JSON.stringify(value)]];
  if (how.style === 'deepObject') return deepPairs(name, value);
  if (!isComposite(value)) return [[name, textOf(value)]];
  const [entries, isList] = [Object.entries(value).filter(([, one]) => isPresent(one)), Array.isArray(value)];
  if (how.isExploded) return entries.map(([key, one]) => [isList ? name : key, String(one)]);
  const delimiter = { spaceDelimited: ' ', pipeDelimited: '|' }[how.style as string] ?? ',';
  const texts = isList ? entries.map(([, one]) => one as unknown) : entries.flat();
  return texts.length === 0 ? [] : [[name, texts.map(String).join(delimiter)]];
}

function deepPairs(name: string, value: unknown): readonly Pair[] {
  if (!isComposite(value)) return isPresent(value) ? [[name, String(value)]] : [];
  return Object.entries(value).flatMap(([key, one]) => deepPairs(`${name}[${key}]`, one));
}

function fieldPairs(name: string, value: unknown, encoding: unknown): readonly Pair[] {
  if (!isPresent(value)) return [];
  const { style, explode, allowReserved } = (isNode(encoding) ? encoding : {}) as Partial<Record<string, never>>;
  if ([style, explode, allowReserved].every((one) => one === undefined)) return memberPairs(name, value, encoding);
  const chosen = style ?? 'form';
  return pairsOf(name, value, { style: chosen, isExploded: explode ?? ['form', 'deepObject'].includes(chosen) });
}

function memberPairs(name: string, value: unknown, encoding: unknown): readonly Pair[] {
  if (!isPresent(value)) return [];
  const isJson = isNode(encoding) && String(encoding['contentType']).includes('json');
  const members: readonly unknown[] = Array.isArray(value) && !isJson ? value : [value];
  return members.map((one) => [name, isComposite(one) || isJson ? JSON.stringify(one) : String(one)]);
}

function pathText({ style, name }: MappedParameter, value: unknown): string {
  if (isComposite(value)) return Object.values(value).join(',');
  const text = String(value);
  if (style === 'label') return `.${text}`;
  return style === 'matrix' ? `;${name}=${text}` : text;
}

function headerText({ style, isExploded }: MappedParameter, value: unknown): string {
  if (style === 'json') return JSON.stringify(value);
  if (!isComposite(value)) return String(value);
  if (Array.isArray(value)) return value.join(',');
  return Object.entries(value)
    .map((pair) => pair.join(isExploded ? '=' : ','))
    .join(',');
}

function pairsIn(text: string, isForm: boolean): readonly Pair[] {
  const plain = (part: string) => decoded(isForm ? part.replaceAll('+', ' ') : part);
  return text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => [plain(pair.split('=')[0]!), plain(pair.split('=').slice(1).join('='))]);
}

function partsIn({ headers, body }: SeenRequest): readonly Pair[] {
  const [, boundary = ''] = /boundary=(\S+)/.exec(headers['content-type'] ?? '') ?? [];
  return body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const [head = '', ...rest] = part.replace(/^\r\n/, '').split('\r\n\r\n');
      const [, name = ''] = /name="([^"]*)"/.exec(head) ?? [];
      return [name.replaceAll('%22', '"'), rest.join('\r\n\r\n').replace(/\r\n$/, '')];
    });
}

/** Of a text, a number or a boolean. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isComposite(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
