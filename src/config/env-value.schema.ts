import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { LLM_PROVIDERS } from './app-config.types.js';
import { parseKeys } from './key-text.parser.js';

/**
 * A schema that parses a variable's text. `read` returns undefined for an invalid text; `allowed` describes valid texts
 * and follows "give" in the message.
 */
function checked<T>(read: (text: string) => T | undefined, allowed: string) {
  return z.string().transform((text, context) => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: `is not allowed: give ${allowed}` });
    return z.NEVER;
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
    if (!url || !/^https?:$/.test(url.protocol)) return undefined;
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
  return checked((text) => {
    const origins = text.split(',').map((part) => {
      const url = URL.parse(part.trim());
      return url && url.origin !== 'null' && url.href === `${url.origin}/` ? url.origin : undefined;
    });
    return origins.every((origin) => origin !== undefined) ? origins : undefined;
  }, 'origins without a path, comma-separated, such as https://app.example');
}

/** API keys of a provider, comma-separated. */
export function keyList() {
  return z.string().transform((text) => parseKeys(text));
}

/** Models as `provider:model`, comma-separated; a provider alone means its default model. */
export function modelList() {
  return checked(
    (text) => {
      const models = text.split(',').map((part) => {
        const [provider = '', ...name] = part.trim().split(':');
        const known = LLM_PROVIDERS.find((one) => one === provider);
        const isNameless = name.length > 0 && name.join(':').trim() === '';
        if (isNameless) return undefined;
        return known && { provider: known, ...(name.length > 0 && { model: name.join(':') }) };
      });
      return models.every((one) => one !== undefined) ? models : undefined;
    },
    `models as provider:model, comma-separated, of the providers ${LLM_PROVIDERS.join(', ')}`,
  );
}

/** Paths, comma-separated. */
export function pathList() {
  return checked((text) => {
    const paths = text.split(',').map((part) => part.trim());
    return paths.every((path) => /^[^~]/.test(path)) ? paths : undefined;
  }, 'paths, comma-separated, without ~, which only a shell expands');
}

/** Absolute paths, comma-separated. */
export function absolutePathList() {
  return checked((text) => {
    const paths = text.split(',').map((part) => part.trim());
    return paths.every((path) => isAbsolute(path)) ? paths : undefined;
  }, 'absolute paths, comma-separated');
}

/** Names of variables, comma-separated. */
export function variableNames() {
  return checked((text) => {
    const names = text.split(',').map((part) => part.trim());
    return names.every((name) => /^[A-Za-z_]\w{0,127}$/.test(name)) ? [...new Set(names)] : undefined;
  }, 'names of variables, comma-separated');
}

/** One of several words. */
export function choice<const T extends string>(served: readonly T[]) {
  const allowed = served.length === 1 ? served[0]! : `one of ${served.join(', ')}`;
  return checked((text) => served.find((name) => name === text), allowed);
}
