import type { Request } from 'express';

/** A person who may borrow books. */
export interface Reader {
  readonly name: string;
  readonly isStaff: boolean;
}

export interface ReaderRequest extends Request {
  reader?: Reader;
}
