import type { DataSourceOptions } from 'typeorm';
import { unsuitable } from './read.error.js';

/** A database product in URLs and messages. */
export interface ServerProduct {
  readonly title: string;
  readonly protocols: readonly string[];
  readonly port: number;
}

/** The address of one server in TypeORM's options; `url` takes precedence. */
interface Place {
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly socketPath?: string;
}

/**
 * Address of a data source for messages: `PostgreSQL host:port/database`, without user and password.
 * @throws AppError `CONFIG_INVALID` for an invalid URL. The message contains no part of it: any part may be a mistyped
 *   password
 */
export function serverAddress(options: DataSourceOptions, product: ServerProduct): string {
  const { replication } = options as { replication?: { master: Place; slaves: readonly Place[] } };
  const places = replication ? [replication.master, ...replication.slaves] : [options as Place];
  const [address = ''] = places.map((place) => addressOf(place, product));
  return `${product.title} ${address}`;
}

function addressOf(place: Place, product: ServerProduct): string {
  const { host, socketPath } = place;
  if (place.url) return addressOfUrl(place.url, product);
  // With an empty URL the drivers would fall back to defaults.
  if ('url' in place && host === undefined && socketPath === undefined) {
    throw unsuitable('its url is empty: set the variable that it comes from.');
  }
  return socketPath ?? `${host ?? 'localhost'}:${place.port ?? product.port}/${place.database ?? ''}`;
}

function addressOfUrl(text: string, { title, protocols, port }: ServerProduct): string {
  const url = isDecodable(text) ? URL.parse(text) : null;
  if (!url || !protocols.includes(url.protocol) || isSplit(url)) {
    throw unsuitable(
      `its url is not a ${title} URL: give ${protocols[0]}//user:password@host/database, with special characters of the password encoded, such as %40 for @ and %23 for #.`,
    );
  }
  return `${url.hostname || 'localhost'}:${url.port || port}${url.pathname}`;
}

/** Whether an unencoded password was parsed as a later part of the URL. */
function isSplit({ username, pathname, search, hash }: URL): boolean {
  return hash !== '' || !/^\/?[^/@]*$/.test(pathname) || (username === '' && search.includes('@'));
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
