import { IsObject, IsString, MaxLength } from 'class-validator';
import { IsWholeNumber } from './is-whole-number.decorator.js';
import { IsCursor, TIME_PLACE } from './list-cursor.js';
import { Omittable } from './omittable.decorator.js';
import { RawJson } from './raw-json.decorator.js';

/** The report of an eval that has ended. */
export class EvalRequestDto {
  /** In the format of `jackdaw eval --report`. Its `comparison` is not stored. */
  @IsObject()
  @RawJson()
  report!: Record<string, unknown>;
}

/** A stored eval. */
export class EvalDto {
  id!: string;
  /** Id of the principal who stored it. */
  created_by!: string;
  /** Epoch ms. */
  created_at!: number;
  /** In the format of `jackdaw eval --report`; in lists without `results`. */
  report!: Record<string, unknown>;
}

/** Filter and place in the list of evals. */
export class EvalQueryDto {
  /** Name of the eval. */
  @Omittable()
  @IsString()
  @MaxLength(255)
  name?: string;

  /** The `next` of the previous page. */
  @Omittable()
  @IsCursor('evals', TIME_PLACE)
  cursor?: string;

  /** Maximum number of evals in the page. */
  @Omittable()
  @IsWholeNumber(1, 200)
  limit?: number = 50;
}

/** A page of evals, newest first. */
export class EvalPageDto {
  evals!: EvalDto[];
  /** The `cursor` of the next page; `null` on the last page. */
  next!: string | null;
}
