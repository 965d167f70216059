import { IsBoolean } from 'class-validator';
import { AgentRequestDto } from './agent-request.dto.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';

/** A chat request to an agent. */
export class ChatRequestDto extends AgentRequestDto {
  /** @example '计算 100 + 200' */
  declare query: string;

  /** Whether the answer includes the steps and tool results. */
  @MayBeLeftOut()
  @IsBoolean()
  includeDetails?: boolean = false;

  /** Whether the run is cancelled when the client disconnects. */
  @MayBeLeftOut()
  @IsBoolean()
  cancelOnDisconnect?: boolean = false;
}
