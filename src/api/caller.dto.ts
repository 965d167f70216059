import type { Scope } from '../security/index.js';

/** The principal of a request. */
export class CallerDto {
  /** Of the key, or of the user; `local` on a server without keys. */
  id!: string;
  tenant!: string;
  roles!: string[];
  /** The operations that it may request. */
  scopes!: Scope[];
}
