import { Injectable } from '@nestjs/common';

/** Source of the current time; tests provide their own. */
@Injectable()
export class Clock {
  /** Current time, epoch ms. */
  now(): number {
    return Date.now();
  }
}
