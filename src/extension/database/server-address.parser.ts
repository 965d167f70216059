import type { DataSourceOptions } from 'typeorm';
import { unsuitable } from './read.error.js';

/** A server's product as URLs and messages name it. */
export interface ServerProduct {
  readonly title: string;
  readonly protocols: readonly string[];
  readonly port: number;
}

/** Where one server is, as TypeORM has it; of a URL it takes what is there. */
interface Place {
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly socketPath?: string;
}

/**
 * Where the database of a data source is, for messages: `PostgreSQL host:port/database`, without user and password.
 * @throws AppError `CONFIG_INVALID` when a URL is none; it tells no part of it, as any part may be a password that is written wrongly
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
  // The drivers would take whatever is at hand.
  if ('url' in place && host === undefined && socketPath === undefined) {
    throw unsuitable('its url is empty: set the variable that it comes from.');
  }
  return socketPath ?? `${host ?? 'localhost'}:${place.port ?? product.port}/${place.database ?? ''}`;
}

function addressOfUrl(text: string, { title, protocols, port }: ServerProduct): string {
  const url = isDecodable(text) ? URL.parse(text) : null;
  if (!url || !protocols.includes(url.protocol) || isSplit(url)) {
    throw unsuitable(
      `its url is none of a ${title}: give ${protocols[0]}//user:password@host/database, special characters of the password encoded, as %40 for @ and %23 for #.`,
    );
  }
  return `${url.hostname || 'localhost'}:${url.port || port}${url.pathname}`;
}

/** Whether a password that is not encoded has been taken for what comes after it. */
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
