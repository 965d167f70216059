import { DAY_MS } from '../common/index.js';
import { IsInt, Max, Min } from 'class-validator';
import { MAX_PRIORITY } from '../run/index.js';
import { AgentRequestDto } from './agent-request.dto.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';

/** A month: as far ahead as a deadline may be. */
export const LONGEST_DEADLINE_MS = 30 * DAY_MS;

/** A question to an agent that nobody waits for. */
export class BackgroundRequestDto extends AgentRequestDto {
  /** 0 to 9: of runs that wait for their turn, the higher goes first. */
  @MayBeLeftOut()
  @IsInt()
  @Min(0)
  @Max(MAX_PRIORITY)
  priority?: number = 0;

  /** Milliseconds from now after which the run ends, whatever it does or waits for. */
  @MayBeLeftOut()
  @IsInt()
  @Min(1)
  @Max(LONGEST_DEADLINE_MS)
  deadlineMs?: number;
}
