import { IsBoolean } from 'class-validator';
import { AgentRequestDto } from './agent-request.dto.js';
import { Omittable } from './omittable.decorator.js';

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
