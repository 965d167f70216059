import { Type } from 'class-transformer';
import { IsInt, IsOptional, Max, Min } from 'class-validator';

/** A page of a session's history. */
export class PageQueryDto {
  /** The number of the last turn that is already there. */
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(0)
  after?: number = 0;

  /** The most turns the page may have. */
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(200)
  limit?: number = 50;
}
