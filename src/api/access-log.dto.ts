import { IsIn, IsString } from 'class-validator';
import { ACCESS_TARGETS } from '../security/index.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';
import { TimeRangeQueryDto } from './time-range-query.dto.js';

/** Which accesses are listed. */
export class AccessLogQueryDto extends TimeRangeQueryDto {
  /** Who asked, by id. */
  @MayBeLeftOut()
  @IsString()
  principal?: string;

  @MayBeLeftOut()
  @IsIn(ACCESS_TARGETS)
  targetKind?: (typeof ACCESS_TARGETS)[number];

  @MayBeLeftOut()
  @IsString()
  targetId?: string;

  /** The most entries the page may have. */
  declare limit?: number;
}

/** One access. */
export class AccessEntryDto {
  /** Epoch ms. */
  at!: number;
  /** Who asked, by id. */
  principal!: string;
  /** `read`, `export`, `fork`, `erase`, `call`, `enable`, `disable` or `rollback`. */
  action!: string;
  target_kind!: string;
  /** Empty when all of a kind were meant. */
  target_id!: string;
}

/** A page of accesses, the newest first. */
export class AccessPageDto {
  entries!: AccessEntryDto[];
  /** What to give as `cursor` for the next page; `null` on the last one. */
  next!: string | null;
}
