import { Type } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsString,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { DAY_MS } from '../kernel/index.js';
import type { ResponseFormat, ToolChoice } from '../llm/chat/index.js';
import { GivenImageDto } from './given-image.dto.js';
import { IsId } from './is-id.decorator.js';
import { IsToolChoice } from './is-tool-choice.decorator.js';
import { ModelParametersDto } from './model-parameters.dto.js';
import { Omittable } from './omittable.decorator.js';
import { RawJson } from './raw-json.decorator.js';

/** Maximum deadline: 30 days, in ms. */
export const LONGEST_DEADLINE_MS = 30 * DAY_MS;

/** Fields of every request to an agent, synchronous or in the background. */
export class AgentRequestDto {
  /** The user's message; not blank. */
  @IsString()
  @Matches(/\S/u, { message: 'query must not be blank' })
  query!: string;

  /** Session of the conversation. If omitted or unknown, a new session starts. */
  @Omittable()
  @IsId()
  sessionId?: string;

  /** Name of the agent; if omitted, the default agent. */
  @Omittable()
  @IsString()
  @Matches(/\S/u, { message: 'agent must not be blank' })
  agent?: string;

  /** Any JSON object, stored with the message in the session; models do not receive it. */
  @Omittable()
  @IsObject()
  @RawJson()
  metadata?: Record<string, unknown>;

  /** Numbers of earlier turns that the message refers to. The memory policy `lru` retains them longer. */
  @Omittable()
  @IsArray()
  @ArrayMaxSize(100)
  @IsInt({ each: true })
  @Min(1, { each: true })
  references?: number[];

  /**
   * Another model of the agent's provider, or one of another provider that is configured, as `provider:name`.
   * @example 'deepseek:deepseek-v4-flash'
   */
  @Omittable()
  // A database column stores it. PostgreSQL rejects NUL, and a run that cannot be recorded would be retried forever.
  @Matches(/^[^\s\p{Cc}\p{Cs}]{1,256}$/u, {
    message: 'model must be 1 to 256 characters without spaces or control characters',
  })
  model?: string;

  /** Model parameters; they override the agent's. */
  @Omittable()
  @IsObject()
  @ValidateNested()
  @Type(() => ModelParametersDto)
  parameters?: ModelParametersDto;

  /**
   * Tool use in the model's first reply: `auto` (the model decides), `none` (no tools in the whole run), `required` (at
   * least one call), or `{name}` (a call of that tool).
   */
  @Omittable()
  @RawJson()
  @IsToolChoice()
  toolChoice?: ToolChoice;

  /**
   * Format of the final answer; overrides the agent's. `json` (any object), or `{schema, name?}` with a JSON Schema.
   * The answer's `output` is then the validated value.
   */
  @Omittable()
  @Allow()
  @RawJson()
  responseFormat?: ResponseFormat;

  /** Images for the message; at most 20. 422 if the model does not support images. */
  @Omittable()
  @IsArray()
  @ArrayMaxSize(20)
  @ValidateNested({ each: true })
  @Type(() => GivenImageDto)
  images?: GivenImageDto[];

  /** Deadline in ms from now. The run ends at the deadline in any status. */
  @Omittable()
  @IsInt()
  @Min(1)
  @Max(LONGEST_DEADLINE_MS)
  deadlineMs?: number;
}

/** A chat request to an agent. */
export class ChatRequestDto extends AgentRequestDto {
  /** @example '计算 100 + 200' */
  declare query: string;

  /** Whether the answer includes the steps and tool results. */
  @Omittable()
  @IsBoolean()
  includeDetails?: boolean = false;

  /** Whether the run is cancelled when the client disconnects. */
  @Omittable()
  @IsBoolean()
  cancelOnDisconnect?: boolean = false;
}
