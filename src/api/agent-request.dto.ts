import { ArrayMaxSize, IsArray, IsInt, IsObject, IsString, Matches, Min } from 'class-validator';
import { AsItCame } from './as-it-came.decorator.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';

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
}
