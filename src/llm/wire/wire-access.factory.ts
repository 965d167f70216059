import { AppError } from '../../errors/index.js';
import type { ModelSettings } from '../model-settings.types.js';
import type { WireAccess } from './wire-access.types.js';

/** The environment variable of a provider's key, and whether the key is required. */
export interface KeyRule {
  readonly variable: string;
  readonly isRequired: boolean;
}

/** Requirements and defaults of a provider over HTTP. */
export interface AccessRule {
  readonly name: string;
  readonly defaultBaseUrl?: string;
  /** Variable with its URL; `LLM_BASE_URL` by default. */
  readonly urlVariable?: string;
  /** Absent for a provider without keys. */
  readonly key?: KeyRule;
}

/** URL, key and time limits of a model. @throws AppError `CONFIG_INVALID` if the settings lack a required value */
export function createAccess(rule: AccessRule, model: string, settings: ModelSettings): WireAccess {
  return {
    provider: rule.name,
    model,
    baseUrl: baseUrlOf(rule, settings),
    apiKey: apiKeyOf(rule, settings),
    keyVariable: rule.key?.variable,
    ...(settings.headers && { headers: settings.headers }),
    timeoutMs: settings.timeoutMs,
    ...(settings.idleMs !== undefined && { idleMs: settings.idleMs }),
    ...(settings.totalMs !== undefined && { totalMs: settings.totalMs }),
    ...(settings.intervalMs !== undefined && { intervalMs: settings.intervalMs }),
  };
}

/** Error for settings that lack a required value. */
export function lacking({ name }: Pick<AccessRule, 'name'>, what: string, variable: string): AppError {
  return new AppError('CONFIG_INVALID', `The model provider "${name}" needs ${what}; set ${variable}.`);
}

function baseUrlOf(rule: AccessRule, settings: ModelSettings): string {
  const address = settings.baseUrl ?? rule.defaultBaseUrl;
  if (!address) throw lacking(rule, 'a base URL', rule.urlVariable ?? 'LLM_BASE_URL');
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw invalid(rule, `the base URL "${address}", which is not an http(s) URL`);
  }
  // User and password of a URL would appear in messages and logs.
  if (url.username || url.password) throw invalid(rule, 'a base URL with a password in it; give the key by itself');
  url.pathname = pathOf(url, rule.defaultBaseUrl);
  return url.pathname === '/' ? `${url.origin}${url.search}` : `${url.origin}${url.pathname}${url.search}`;
}

/** The path without a slash at its end. The provider's own host without a path has that of its API. */
function pathOf({ href, pathname }: URL, defaultBaseUrl: string | undefined): string {
  const path = pathname.replace(/\/+$/, '');
  return path === '' && isOwnHost(href, defaultBaseUrl) ? new URL(defaultBaseUrl).pathname : path;
}

/** Whether a URL is at the provider's own host, whose paths are known. */
export function isOwnHost(baseUrl: string, defaultBaseUrl: string | undefined): defaultBaseUrl is string {
  return defaultBaseUrl !== undefined && new URL(baseUrl).host === new URL(defaultBaseUrl).host;
}

/**
 * The URL of an endpoint: appends `path` to the base URL's path; the query stays.
 * @param path such as `/chat/completions`
 */
export function endpointOf(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  return url;
}

function apiKeyOf(rule: AccessRule, settings: ModelSettings): string | undefined {
  if (!rule.key) return undefined;
  const key = settings.apiKey?.trim();
  if (!key) {
    if (rule.key.isRequired) throw lacking(rule, 'an API key', rule.key.variable);
    return undefined;
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw invalid(rule, `an API key with characters that no HTTP header can hold; check ${rule.key.variable}`);
  }
  return key;
}

function invalid({ name }: AccessRule, what: string): AppError {
  return new AppError('CONFIG_INVALID', `The model provider "${name}" was given ${what}.`);
}
