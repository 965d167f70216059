import { IsInt, IsObject, Max, Min } from 'class-validator';
import { IsId } from './is-id.decorator.js';
import { RawJson } from './raw-json.decorator.js';
import { LONGEST_DEADLINE_MS } from './chat-request.dto.js';
import { Omittable } from './omittable.decorator.js';
import { RunFileDto, ToldImageDto, WaitingRequestDto } from './run-answer.dto.js';
import type { RunStatus } from '../run/index.js';

/** A direct tool call. */
export class ToolCallDto {
  /** Arguments of the tool; if omitted, none. */
  @Omittable()
  @IsObject()
  @RawJson()
  arguments?: Record<string, unknown>;

  /** The session of the call, which must exist. The call locks it while it runs and adds no messages to it. */
  @Omittable()
  @IsId()
  sessionId?: string;

  /** Deadline of the call, in ms from now. */
  @Omittable()
  @IsInt()
  @Min(1)
  @Max(LONGEST_DEADLINE_MS)
  deadlineMs?: number;
}

/** A tool call so far. A failed call is also a normal response: `success` states the outcome. */
export class ToolCallAnswerDto {
  /** The call's run: `GET /api/runs/{id}` returns it. */
  run_id!: string;
  session_id!: string | null;
  tool!: string;
  /** `waiting`: for a person. */
  status!: RunStatus;
  /** Present after the call has ended. */
  success?: boolean;
  /** The tool's result, if the call succeeded. */
  result?: unknown;
  /** Binary content in the result. */
  files?: RunFileDto[];
  /** Images in the result. */
  images?: ToldImageDto[];
  /** The number of its other images: too many, too large, or no PNG, JPEG, GIF or WebP. */
  images_left_out?: number;
  /** The error of a failed call. */
  error?: string;
  /** Stable code of the error. */
  code?: string;
  execution_time_ms?: number;
  /** Pending decisions; only for a `waiting` call. */
  waiting?: WaitingRequestDto[];
}
