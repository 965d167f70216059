import type { DatabaseConfig } from '../config/namespaces/index.js';

/** A validated `DATABASE_URL` of a server. */
export interface ServerUrl {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly params: URLSearchParams;
  /** For messages, without user and password. */
  readonly name: string;
}

export function parseServerUrl({ url = '' }: DatabaseConfig, defaultPort: number): ServerUrl {
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
