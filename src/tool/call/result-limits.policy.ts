import type { RunContext } from '../../run/context/index.js';
import type { FileRules } from '../result/result-files.builder.js';
import type { CallPlace } from './call-place.policy.js';

export interface InvokeOptions {
  /** Maximum size of a result or an error, in bytes (UTF-8); longer ones are cut. Default 65,536. */
  readonly maxResultBytes?: number;
  /** Files of the run, to which those of the result are added; without them binary content is only described. */
  readonly files?: RunContext['files'];
  /** Place returned by `admit`; by default `invoke` waits for one. */
  readonly place?: CallPlace;
}

/** Limits of one result. */
export interface ResultRules {
  /** Maximum size of a result or an error, in bytes (UTF-8). */
  readonly maxBytes: number;
  readonly files: FileRules;
}

const DEFAULT_MAX_RESULT_BYTES = 65_536;

/** Limits of all results. */
export class ResultLimits {
  /** @param maxFileBytes maximum size of all files of one result, in bytes */
  constructor(private readonly maxFileBytes: number) {}

  of({ files: ledger, ...options }: InvokeOptions): ResultRules {
    return { maxBytes: maxBytesOf(options), files: { ledger, maxBytes: this.maxFileBytes } };
  }
}

export function maxBytesOf({ maxResultBytes = DEFAULT_MAX_RESULT_BYTES }: InvokeOptions): number {
  return maxResultBytes;
}
