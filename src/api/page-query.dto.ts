import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';

/** A page. Its heirs declare a field again only to say in the OpenAPI document what it counts. */
export class LimitQueryDto {
  /** The most entries the page may have. */
  @MayBeLeftOut()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(200)
  limit?: number = 50;
}

/** A page of what is numbered from 1. */
export class PageQueryDto extends LimitQueryDto {
  /** The number of the last entry that is already there. */
  @MayBeLeftOut()
  @Type(() => Number)
  @IsInt()
  @Min(0)
  // The databases number in 32 bits, and PostgreSQL fails of a larger one.
  @Max(2_147_483_647)
  after?: number = 0;
}
