import { Type } from 'class-transformer';
import {
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { ROLES, type Role } from '../common/index.js';
import { ALL_SCOPES, SCOPES, type KeyScope } from '../security/index.js';
import { IsTime } from './is-time.decorator.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';

const MAX_NAME_LENGTH = 100;

/** A key to be made, in the tenant of who asks. */
export class KeyRequestDto {
  /** What it is for; not blank. */
  @IsString()
  @Matches(/\S/u, { message: 'name must not be blank' })
  @MaxLength(MAX_NAME_LENGTH)
  // A column has it, and PostgreSQL stores no NUL.
  @Matches(/^[^\p{Cc}\p{Cs}]*$/u, { message: 'name must not have control characters' })
  name!: string;

  /**
   * `admin` may do everything in the tenant, `user` everything but keys and erasure, `viewer` only read; `operator` sees
   * what every tenant uses, and nothing that is said.
   */
  @IsIn(ROLES)
  role!: Role;

  /**
   * To what the rights of the role are narrowed: some of `chat`, `runs:read`, `runs:write`, `sessions:read`,
   * `sessions:write`, `tools:read`, `tools:call`, `usage:read`, `keys`, `erase`, `audit` and `operate`, or `*`, all of them, as when it is left out.
   */
  @MayBeLeftOut()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn([...SCOPES, ALL_SCOPES], { each: true })
  scopes?: KeyScope[];

  /**
   * From when on it is refused: epoch ms, or ISO 8601 with its zone; a date alone is its midnight, UTC. Never when it is
   * left out.
   * @example '2030-01-31'
   */
  @MayBeLeftOut()
  @IsTime()
  expiresAt?: string;
}

/** Which keys are listed. */
export class KeyListQueryDto {
  /** The `next` of the page before. */
  @MayBeLeftOut()
  @IsString()
  cursor?: string;

  /** The most keys the page may have. */
  @MayBeLeftOut()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(200)
  limit?: number = 50;
}

/** A key, without the key itself. Times are epoch ms. */
export class KeyDto {
  /** Also the id of the principal whose key it is. */
  id!: string;
  name!: string;
  /** `admin`, `user` or `viewer`. */
  role!: string;
  scopes!: string[];
  created_at!: number;
  /** The id of the principal who made it. */
  created_by!: string;
  /** `null` when it never does. */
  expires_at!: number | null;
  /** `null` when it was not. */
  revoked_at!: number | null;
  /** To the minute; `null` when it never was. */
  last_used_at!: number | null;
}

/** A new key. */
export class NewKeyDto extends KeyDto {
  /** The key itself: it is told only now, and kept nowhere. */
  key!: string;
}

/** A page of keys, the newest first. */
export class KeyPageDto {
  keys!: KeyDto[];
  /** What to give as `cursor` for the next page; `null` on the last one. */
  next!: string | null;
}
