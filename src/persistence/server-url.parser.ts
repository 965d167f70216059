import type { AppConfig } from '../config/index.js';

/** A `DATABASE_URL` of a server, which the configuration has checked. */
export interface ServerUrl {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly params: URLSearchParams;
  /** For messages: no user, no password. */
  readonly name: string;
}

export function parseServerUrl({ database: { url = '' } }: AppConfig, defaultPort: number): ServerUrl {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const host = decodeURIComponent(hostname.replace(/^\[(.*)\]$/, '$1'));
  const database = decodeURIComponent(pathname.slice(1));
  return {
    host,
    port: Number(port || defaultPort),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database,
    params: searchParams,
    name: `${host}:${port || defaultPort}/${database}`,
  };
}
