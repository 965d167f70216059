import { IsIn, IsString } from 'class-validator';
import { ACCESS_TARGETS, type AccessAction, type AccessTarget } from '../security/access-log/index.js';
import { IsCursor, TIME_PLACE } from './list-cursor.js';
import { Omittable } from './omittable.decorator.js';
import { TimeRangeQueryDto } from './time-range-query.dto.js';

/** Filter of the access log. */
export class AccessLogQueryDto extends TimeRangeQueryDto {
  /** Id of the principal who made the request. */
  @Omittable()
  @IsString()
  principal?: string;

  @Omittable()
  @IsIn(ACCESS_TARGETS)
  targetKind?: (typeof ACCESS_TARGETS)[number];

  @Omittable()
  @IsString()
  targetId?: string;

  /** The `next` of the previous page. */
  @Omittable()
  @IsCursor('access', TIME_PLACE)
  cursor?: string;

  /** Maximum number of entries in the page. */
  declare limit?: number;
}

/** One access log entry. */
export class AccessEntryDto {
  /** Epoch ms. */
  at!: number;
  /** Id of the principal who made the request. */
  principal!: string;
  /**
   * `read`, `export`, `import`, `fork`, `erase`, `call`, `enable`, `disable`, `rollback`; `approve`, `deny`, `input` and
   * `settle` for decisions; `create` and `revoke` for keys; `refuse` for an answer 401 or 403.
   */
  action!: AccessAction;
  target_kind!: AccessTarget;
  /** Empty if the access concerned all targets of the kind. */
  target_id!: string;
}

/** A page of access log entries, newest first. */
export class AccessPageDto {
  entries!: AccessEntryDto[];
  /** The `cursor` of the next page; `null` on the last page. */
  next!: string | null;
}
