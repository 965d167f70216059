import { IsInt, Max, Min } from 'class-validator';
import type { Erasure } from '../agent/index.js';

/** Selects the sessions to delete. */
export class PruneDto {
  /** Days since the last activity in a session. */
  @IsInt()
  @Min(0)
  @Max(36_500)
  olderThanDays!: number;
}

/** Result of a pruning. */
export class PrunedDto {
  deleted!: number;
  /** Sessions that stay because they have unfinished runs. */
  held!: number;
}

type Remainder = Erasure['remaining'][number];

/** Data that an erasure leaves, with their place and a remedy. */
export class RemainderDto implements Remainder {
  /**
   * `fork`: runs of others that copied a run of the user. `answer`: runs of others with decisions of the user.
   * `conversation`: runs of others that may quote the user. `cache`, `backup`, `database`: copies. `ids`: ids and names.
   */
  kind!: 'fork' | 'answer' | 'conversation' | 'cache' | 'backup' | 'database' | 'ids';
  where!: string;
  action!: string;
  /** Number of runs or files, if known. */
  count?: number;
  /** The runs, at most 100. */
  run_ids?: string[];
}

/** Amount of deleted data of a user, and what remains. */
export class ErasureDto implements Erasure {
  /** Sessions that the user created. */
  sessions!: number;
  /** Runs that the user started. */
  runs!: number;
  /** Turns of the user in sessions of other users. */
  turns!: number;
  /** Data of the user that remain. */
  remaining!: RemainderDto[];
}
