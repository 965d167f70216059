import { IsBoolean, IsString, Matches } from 'class-validator';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';

/** A question to an agent. */
export class ChatRequestDto {
  /**
   * What the user says; not blank.
   * @example '计算 100 + 200'
   */
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

  /** Whether the answer tells its steps and tool results. */
  @MayBeLeftOut()
  @IsBoolean()
  includeDetails?: boolean = false;

  /** Whether the run is cancelled when the client goes away. */
  @MayBeLeftOut()
  @IsBoolean()
  cancelOnDisconnect?: boolean = false;
}
