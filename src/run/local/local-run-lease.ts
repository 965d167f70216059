import { Injectable } from '@nestjs/common';
import { newId } from '../../kernel/index.js';
import { RunLease } from '../run-lease.js';

/** The lease of an application in the one process that owns the database: no other process can claim its runs. */
@Injectable()
export class LocalRunLease extends RunLease {
  readonly node = `local-${newId()}`;

  isSure(): boolean {
    return true;
  }
}
