import { Allow, IsIn, IsObject, IsString, Matches, MaxLength } from 'class-validator';
import { RawJson } from './raw-json.decorator.js';
import { IsPresent } from './is-present.decorator.js';
import { Omittable } from './omittable.decorator.js';

/** Maximum length of a person's text, in UTF-16 units. */
const MAX_TEXT_LENGTH = 10_000;

/** Approval of pending calls. */
export class ApproveDto {
  /** One pending call; if omitted, all of them. */
  @Omittable()
  @IsString()
  @Matches(/\S/u, { message: 'callId must not be blank' })
  callId?: string;

  /**
   * Arguments that replace the model's arguments of the call; validated in the same way. The history retains the model's
   * call, and its result begins with a note of the change.
   */
  @Omittable()
  @IsObject()
  @RawJson()
  arguments?: Record<string, unknown>;

  /**
   * `run` and `session` also cover later calls of the same tool with no other hosts and addresses (`covers` of the request),
   * in this run or in the runs of its session. Only for calls that wait by the rule of three facts alone, and not with `arguments`.
   */
  @Omittable()
  @IsIn(['call', 'run', 'session'])
  scope?: 'call' | 'run' | 'session' = 'call';
}

/** Denial of pending calls or, without such calls, of pending questions. */
export class DenyDto {
  /** One pending call; if omitted, all of them. */
  @Omittable()
  @IsString()
  @Matches(/\S/u, { message: 'callId must not be blank' })
  callId?: string;

  /** Reason. The model reads it, or the tool that asked, if the tool handles denials. */
  @Omittable()
  @IsString()
  @MaxLength(MAX_TEXT_LENGTH)
  reason?: string;
}

/** The answer to a tool's question. */
export class InputDto {
  /** The call that asks; required only if several calls ask. */
  @Omittable()
  @IsString()
  @Matches(/\S/u, { message: 'callId must not be blank' })
  callId?: string;

  /** Any JSON value that matches the question's `schema`. */
  @IsPresent()
  @RawJson()
  value!: unknown;
}

/** Settlement of a call whose outcome is unknown after a crash. */
export class SettleDto {
  /** The call to settle; required only if there are several. */
  @Omittable()
  @IsString()
  @Matches(/\S/u, { message: 'callId must not be blank' })
  callId?: string;

  /** `retry`: the call did not happen; repeat it. `succeeded`, `failed`: it happened, with this result. */
  @IsIn(['retry', 'succeeded', 'failed'])
  outcome!: 'retry' | 'succeeded' | 'failed';

  /** Only with `succeeded`: the tool's result, any JSON value; `null` if omitted. */
  @Allow()
  @RawJson()
  result?: unknown;

  /** Only with `failed`: the error for the model. */
  @Omittable()
  @IsString()
  @MaxLength(MAX_TEXT_LENGTH)
  error?: string;
}

/** The released runs. */
export class ReleasedRunsDto {
  /** Their ids, the oldest first. */
  run_ids!: string[];
}
