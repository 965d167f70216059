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

/** Amount of deleted data of a user. */
export class ErasureDto implements Erasure {
  /** Sessions that the user created. */
  sessions!: number;
  /** Runs that the user started. */
  runs!: number;
  /** Turns of the user in sessions of other users. */
  turns!: number;
}
