import { IsInt, Max, Min } from 'class-validator';
import { MAX_PRIORITY } from '../run/index.js';
import { AgentRequestDto } from './chat-request.dto.js';
import { Omittable } from './omittable.decorator.js';

/** A request to an agent that runs in the background. */
export class BackgroundRequestDto extends AgentRequestDto {
  /** Priority in the queue, 0 to 9; runs with a higher priority start first. */
  @Omittable()
  @IsInt()
  @Min(0)
  @Max(MAX_PRIORITY)
  priority?: number = 0;
}
