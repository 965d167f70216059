import { Injectable } from '@nestjs/common';
import { RunLease } from '../run-lease.js';

/** The one process that owns the database: nobody can take its runs over. */
@Injectable()
export class LocalRunLease extends RunLease {
  readonly node = 'local';

  isSure(): boolean {
    return true;
  }
}
