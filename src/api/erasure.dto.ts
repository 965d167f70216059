import { IsInt, Max, Min } from 'class-validator';
import type { Erasure } from '../agent/index.js';

/** Which sessions are deleted. */
export class PruneDto {
  /** Days since anything happened in them. */
  @IsInt()
  @Min(0)
  @Max(36_500)
  olderThanDays!: number;
}

/** How many sessions were deleted. */
export class PrunedDto {
  deleted!: number;
  /** Those that stay because runs of them have not ended. */
  held!: number;
}

/** How much of a user was deleted. */
export class ErasureDto implements Erasure {
  /** Sessions that the user began. */
  sessions!: number;
  /** Runs that the user began. */
  runs!: number;
  /** Turns that the user had in sessions which others began. */
  turns!: number;
}
