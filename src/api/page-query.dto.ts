import { IsWholeNumber } from './is-whole-number.decorator.js';
import { Omittable } from './omittable.decorator.js';

/** A page. Subclasses declare a field again only to describe it in the OpenAPI document. */
export class LimitQueryDto {
  /** Maximum number of entries in the page. */
  @Omittable()
  @IsWholeNumber(1, 200)
  limit?: number = 50;
}

/** A page of entries that are numbered from 1. */
export class PageQueryDto extends LimitQueryDto {
  /** The number of the last entry of the previous page. */
  @Omittable()
  // Columns are 32 bits wide; PostgreSQL rejects larger numbers.
  @IsWholeNumber(0, 2_147_483_647)
  after?: number = 0;
}
