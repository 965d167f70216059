import { Injectable } from '@nestjs/common';
import { newId } from '../kernel/index.js';

/** The port to this process's status in the cluster: whether it surely owns its runs. */
export abstract class RunLease {
  /** The id of this process, stored in every run it owns. */
  abstract readonly node: string;

  /**
   * Whether no other process can have claimed its runs. If `false` (the process was frozen, or the database did not
   * answer for long), a run must check the journal before an effect outside.
   */
  abstract isSure(): boolean;
}

/** The lease of an application in the one process that owns the database: no other process can claim its runs. */
@Injectable()
export class LocalRunLease extends RunLease {
  readonly node = `local-${newId()}`;

  isSure(): boolean {
    return true;
  }
}
