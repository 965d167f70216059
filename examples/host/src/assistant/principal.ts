import type { Principal } from 'jackdaw';
import type { ReaderRequest } from '../access/reader.js';

/** The reader as a principal of Jackdaw; `undefined` without a reader. */
export function principalOf({ reader }: ReaderRequest): Principal | undefined {
  return reader && { id: reader.name, tenant: 'default', roles: [reader.isStaff ? 'admin' : 'user'] };
}
