import { Type } from 'class-transformer';
import { Allow, ArrayMaxSize, IsArray, IsInt, IsObject, IsString, Matches, Min, ValidateNested } from 'class-validator';
import type { ResponseFormat, ToolChoice } from '../llm/index.js';
import { AsItCame } from './as-it-came.decorator.js';
import { GivenImageDto } from './given-image.dto.js';
import { IsToolChoice } from './is-tool-choice.decorator.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';
import { ModelParametersDto } from './model-parameters.dto.js';

/** What every question to an agent says, whoever waits for the answer. */
export class AgentRequestDto {
  /** What the user says; not blank. */
  @IsString()
  @Matches(/\S/u, { message: 'query must not be blank' })
  query!: string;

  /** The conversation it belongs to; a new one is begun when it is left out or not known yet. */
  @MayBeLeftOut()
  @Matches(/^[A-Za-z0-9_-]{1,128}$/, { message: 'sessionId must be 1 to 128 of A-Z a-z 0-9 _ -' })
  sessionId?: string;

  /** The agent that is asked; the default one when it is left out. */
  @MayBeLeftOut()
  @IsString()
  @Matches(/\S/u, { message: 'agent must not be blank' })
  agent?: string;

  /** Kept with the question in the session: any JSON object; no model sees it. */
  @MayBeLeftOut()
  @IsObject()
  @AsItCame()
  metadata?: Record<string, unknown>;

  /** Numbers of earlier turns that the question refers to: with the memory policy `lru` they stay longer. */
  @MayBeLeftOut()
  @IsArray()
  @ArrayMaxSize(100)
  @IsInt({ each: true })
  @Min(1, { each: true })
  references?: number[];

  /**
   * Another model of the agent's provider, or one of another provider that is configured, as `provider:name`.
   * @example 'deepseek:deepseek-v4-flash'
   */
  @MayBeLeftOut()
  // A column has it: PostgreSQL stores no NUL, and a run that cannot be recorded would be tried again and again.
  @Matches(/^[^\s\p{Cc}\p{Cs}]{1,256}$/u, {
    message: 'model must be 1 to 256 characters without spaces or control characters',
  })
  model?: string;

  /** They win over the agent's. */
  @MayBeLeftOut()
  @IsObject()
  @ValidateNested()
  @Type(() => ModelParametersDto)
  parameters?: ModelParametersDto;

  /**
   * Whether the model calls tools in its first reply: `auto` (as it likes), `none` (it is told of none in the whole run),
   * `required` (at least one), or `{name}` (that one).
   */
  @MayBeLeftOut()
  @AsItCame()
  @IsToolChoice()
  toolChoice?: ToolChoice;

  /**
   * What the final answer must be, instead of what the agent says: `json` (any object), or `{schema, name?}` with a JSON
   * Schema. The answer's `output` is then its value, checked.
   */
  @MayBeLeftOut()
  @Allow()
  @AsItCame()
  responseFormat?: ResponseFormat;

  /** What the user shows beside the question: 20 at most. 422 when the model cannot see. */
  @MayBeLeftOut()
  @IsArray()
  @ArrayMaxSize(20)
  @ValidateNested({ each: true })
  @Type(() => GivenImageDto)
  images?: GivenImageDto[];
}
