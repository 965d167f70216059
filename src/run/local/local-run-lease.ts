import { Injectable } from '@nestjs/common';
import { newId } from '../../common/index.js';
import { RunLease } from '../run-lease.js';

/** An application of the one process that owns the database: its runs bear an id of their own, and no other process can take them. */
@Injectable()
export class LocalRunLease extends RunLease {
  readonly node = `local-${newId()}`;

  isSure(): boolean {
    return true;
  }
}
