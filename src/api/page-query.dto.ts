import { Type } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';

/** A page of a session's history. */
export class PageQueryDto {
  /** The number of the last turn that is already there. */
  @MayBeLeftOut()
  @Type(() => Number)
  @IsInt()
  @Min(0)
  after?: number = 0;

  /** The most turns the page may have. */
  @MayBeLeftOut()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(200)
  limit?: number = 50;
}
