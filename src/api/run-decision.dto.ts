import { Allow, IsIn, IsObject, IsString, Matches, MaxLength } from 'class-validator';
import { AsItCame } from './as-it-came.decorator.js';
import { IsPresent } from './is-present.decorator.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';

/** What people write, in UTF-16 units. */
const MAX_TEXT_LENGTH = 10_000;

/** Leave to make the calls that wait for it. */
export class ApproveDto {
  /** The one call that is meant; all of them when it is left out. */
  @MayBeLeftOut()
  @IsString()
  @Matches(/\S/u, { message: 'callId must not be blank' })
  callId?: string;

  /**
   * Arguments that replace the model's arguments of the call; validated in the same way. The history retains the model's
   * call, and its result begins with a note of the change.
   */
  @MayBeLeftOut()
  @IsObject()
  @AsItCame()
  arguments?: Record<string, unknown>;
}

/** A no to the calls that wait for approval or, where none does, to those that ask something. */
export class DenyDto {
  /** The one call that is meant; all of them when it is left out. */
  @MayBeLeftOut()
  @IsString()
  @Matches(/\S/u, { message: 'callId must not be blank' })
  callId?: string;

  /** Why; the model reads it, or the tool that asked and takes a denial. */
  @MayBeLeftOut()
  @IsString()
  @MaxLength(MAX_TEXT_LENGTH)
  reason?: string;
}

/** The answer to a tool's question. */
export class InputDto {
  /** The call that asks; needed only when several do. */
  @MayBeLeftOut()
  @IsString()
  @Matches(/\S/u, { message: 'callId must not be blank' })
  callId?: string;

  /** Any JSON value that fits the question's `schema`. */
  @IsPresent()
  @AsItCame()
  value!: unknown;
}

/** What became of a call that a crash cut off. */
export class SettleDto {
  /** The call that is meant; needed only when there are several. */
  @MayBeLeftOut()
  @IsString()
  @Matches(/\S/u, { message: 'callId must not be blank' })
  callId?: string;

  /** `retry`: it did not happen, make it again. `succeeded` and `failed`: it happened, this is its result. */
  @IsIn(['retry', 'succeeded', 'failed'])
  outcome!: 'retry' | 'succeeded' | 'failed';

  /** With `succeeded` only: what the tool would have given, any JSON value; `null` when left out. */
  @Allow()
  @AsItCame()
  result?: unknown;

  /** With `failed` only: the error that the model reads. */
  @MayBeLeftOut()
  @IsString()
  @MaxLength(MAX_TEXT_LENGTH)
  error?: string;
}
