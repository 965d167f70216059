import { ArrayMaxSize, ArrayNotEmpty, ArrayUnique, IsArray, IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { ROLES, VISIBILITIES, type Role, type Visibility } from '../kernel/index.js';
import { ALL_SCOPES, SCOPES } from '../security/index.js';
import type { KeyScope } from '../security/keys/index.js';
import { IsTime } from './is-time.decorator.js';
import { IsWholeNumber } from './is-whole-number.decorator.js';
import { IsCursor } from './list-cursor.js';
import { Omittable } from './omittable.decorator.js';

const MAX_NAME_LENGTH = 100;

/** A new API key, in the caller's tenant. */
export class KeyRequestDto {
  /** Purpose of the key; not blank. */
  @IsString()
  @Matches(/\S/u, { message: 'name must not be blank' })
  @MaxLength(MAX_NAME_LENGTH)
  // A database column stores it, and PostgreSQL rejects NUL.
  @Matches(/^[^\p{Cc}\p{Cs}]*$/u, { message: 'name must not have control characters' })
  name!: string;

  /**
   * `admin` may do everything in the tenant, `user` everything except keys and erasure, `viewer` only read. `operator`
   * sees the usage of every tenant, but no content.
   */
  @IsIn(ROLES)
  role!: Role;

  /**
   * Narrows the rights of the role: some of `chat`, `runs:read`, `runs:write`, `sessions:read`, `sessions:write`,
   * `sessions:trust`, `tools:read`, `tools:call`, `usage:read`, `webhooks`, `keys`, `erase`, `audit` and `operate`, or `*` for all of them (the
   * default).
   */
  @Omittable()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(SCOPES.length + 1)
  @ArrayUnique()
  @IsIn([...SCOPES, ALL_SCOPES], { each: true })
  scopes?: KeyScope[];

  /**
   * The visible sessions, runs and tool states: the key's `own`, or `all` of its tenant. By default keys with the role
   * `user` see their own, others all.
   */
  @Omittable()
  @IsIn(VISIBILITIES)
  visibility?: Visibility;

  /**
   * Expiry time: epoch ms, or ISO 8601 with a time zone; a date alone is its midnight, UTC. If omitted, the key never
   * expires.
   * @example '2030-01-31'
   */
  @Omittable()
  @IsTime()
  expiresAt?: string;
}

/** Filter of the list of API keys. */
export class KeyListQueryDto {
  /** The `next` of the previous page. */
  @Omittable()
  @IsCursor('keys', /^[\w-]{1,64}$/)
  cursor?: string;

  /** Maximum number of keys in the page. */
  @Omittable()
  @IsWholeNumber(1, 200)
  limit?: number = 50;
}

/** An API key, without the key itself. Times are epoch ms. */
export class KeyDto {
  /** Also the id of the key's principal. */
  id!: string;
  name!: string;
  role!: Role;
  scopes!: string[];
  visibility!: Visibility;
  created_at!: number;
  /** Id of the principal who created the key. */
  created_by!: string;
  /** `null` if the key never expires. */
  expires_at!: number | null;
  /** `null` if the key is not revoked. */
  revoked_at!: number | null;
  /** To the minute; `null` if the key was never used. */
  last_used_at!: number | null;
}

/** A new API key. */
export class NewKeyDto extends KeyDto {
  /** The key itself. Only the first response contains it, not its repetition: the server stores only its hash. */
  key?: string;
}

/** A page of API keys, newest first. */
export class KeyPageDto {
  keys!: KeyDto[];
  /** The `cursor` of the next page; `null` on the last page. */
  next!: string | null;
}
