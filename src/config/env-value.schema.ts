import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { parseKeys } from './key-text.parser.js';

/**
 * A schema that parses a variable's text. `read` returns undefined for an invalid text; `allowed` describes valid texts
 * and follows "give" in the message; docs/configuration.md shows it too.
 */
export function checked<T>(read: (text: string) => T | undefined, allowed: string) {
  const schema = z.string().transform((text, context) => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: `is not allowed: give ${allowed}` });
    return z.NEVER;
  });
  return schema.meta({ allowed });
}

/** A comma-separated list. `read` parses one trimmed element, and returns undefined for an invalid one. */
export function list<T>(read: (element: string) => T | undefined, allowed: string) {
  return checked((text): readonly T[] | undefined => {
    const elements = text.split(',').map((part) => read(part.trim()));
    return elements.every((one) => one !== undefined) ? elements : undefined;
  }, allowed);
}

/**
 * Comma-separated entries with secrets: errors name an entry by its number, from 1, never by its text.
 * @param parse returns the entry, or its error
 * @param faultBeside the error of an entry beside the earlier ones
 */
export function entries<T extends object>(
  parse: (text: string) => T | string,
  faultBeside: (entry: T, earlier: readonly T[]) => string | undefined,
  remedy: string,
) {
  return z.string().transform((text, context) => {
    const read: T[] = [];
    for (const [index, part] of text.split(',').entries()) {
      const entry = parse(part.trim());
      const fault = typeof entry === 'string' ? entry : faultBeside(entry, read);
      if (fault) {
        context.addIssue({ code: 'custom', message: `is not allowed: entry ${index + 1} ${fault} (${remedy})` });
      }
      if (typeof entry !== 'string') read.push(entry);
    }
    return read;
  });
}

export function integer(min: number, max: number, unit = '') {
  return checked(
    (text) => {
      const value = /^-?\d{1,15}$/.test(text) ? Number(text) : NaN;
      return value >= min && value <= max ? value : undefined;
    },
    `an integer from ${min} to ${max}${unit && ` (${unit})`}`,
  );
}

export function decimal(min: number, max: number) {
  return checked((text) => {
    const value = /^-?(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : NaN;
    return value >= min && value <= max ? value : undefined;
  }, `a number from ${min} to ${max}`);
}

export function pattern(expression: RegExp, allowed: string) {
  return checked((text) => (expression.test(text) ? text : undefined), allowed);
}

export function flag() {
  const values = new Map([
    ['true', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ]);
  return checked((text) => values.get(text.toLowerCase()), 'true or false');
}

/** Endpoints that Jackdaw itself adds to a base URL. */
const ENDPOINT = /\/(?:chat\/completions|completions|responses|messages|embeddings)\/*$/i;

/** The base URL of a provider's API. A complete endpoint is cut to its base URL; its query is retained. */
export function baseUrl() {
  return checked((text) => {
    const url = URL.parse(text);
    if (!isHttp(url)) return undefined;
    if (endpointIn(text) === undefined) return text;
    url.pathname = url.pathname.replace(ENDPOINT, '');
    return url.href;
  }, 'an http:// or https:// URL');
}

/** The endpoint at the end of the path of a URL, such as `/chat/completions`. */
export function endpointIn(text = ''): string | undefined {
  return ENDPOINT.exec(URL.parse(text)?.pathname ?? '')?.[0].replace(/\/+$/, '');
}

/** Origins of web pages, comma-separated, as browsers write them. */
export function originList() {
  return list((element) => {
    const url = URL.parse(element);
    return url && url.origin !== 'null' && url.href === `${url.origin}/` ? url.origin : undefined;
  }, 'origins without a path, comma-separated, such as https://app.example');
}

const PROXY_NETWORKS: readonly string[] = ['loopback', 'linklocal', 'uniquelocal'];

/** The proxies to trust, as Fastify's `trustProxy` expects them. */
export function proxyTrust() {
  return checked((text): boolean | number | string[] | undefined => {
    if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
    if (/^[1-9]$/.test(text)) return Number(text);
    const proxies = text.split(',').map((part) => part.trim());
    return proxies.every((proxy) => PROXY_NETWORKS.includes(proxy) || isNetwork(proxy)) ? proxies : undefined;
  }, 'the number of proxies (1 to 9), or their addresses and ranges, comma-separated, such as 10.0.0.0/8 or loopback');
}

/** Whether a text is an address or a CIDR range. */
function isNetwork(text: string): boolean {
  const [address = '', bits = '0', ...rest] = text.split('/');
  const maxBits = isIP(address) === 4 ? 32 : 128;
  return isIP(address) !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= maxBits;
}

export function httpUrl() {
  return checked((text) => (isHttp(URL.parse(text)) ? text : undefined), 'an http:// or https:// URL');
}

function isHttp(url: URL | null): url is URL {
  return url !== null && /^https?:$/.test(url.protocol);
}

/** `HTTP_PROXY`. The message contains no part of it: it may have a password. */
export function proxyUrl() {
  return checked((text) => {
    const url = URL.parse(text);
    return isHttp(url) && url.pathname === '/' ? text : undefined;
  }, 'an http:// or https:// URL without a path');
}

/** API keys of a provider, comma-separated. */
export function keyList() {
  return z.string().transform((text) => parseKeys(text));
}

/** Paths, comma-separated. */
export function pathList() {
  const allowed = 'paths, comma-separated, without ~, which only a shell expands';
  return list((path) => (/^[^~]/.test(path) ? path : undefined), allowed);
}

/** Absolute paths, comma-separated. */
export function absolutePathList() {
  return list((path) => (isAbsolute(path) ? path : undefined), 'absolute paths, comma-separated');
}

/** Names of variables, comma-separated. */
export function variableNames() {
  return list((name) => (/^[A-Za-z_]\w{0,127}$/.test(name) ? name : undefined), 'names of variables, comma-separated');
}

/** One of several words. */
export function choice<const T extends string>(served: readonly T[]) {
  const allowed = served.length === 1 ? served[0]! : `one of ${served.join(', ')}`;
  return checked((text) => served.find((name) => name === text), allowed);
}

/** Some of several words, comma-separated; `none` for an empty list. */
export function choices<const T extends string>(served: readonly T[]) {
  const allowed = `none, or one or more of ${served.join(', ')}, comma-separated`;
  return checked((text): readonly T[] | undefined => {
    const names =
      text.trim() === 'none' ? [] : text.split(',').map((name) => served.find((one) => one === name.trim()));
    return names.every((name) => name !== undefined) ? [...new Set(names)] : undefined;
  }, allowed);
}
