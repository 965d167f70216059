import { Injectable } from '@nestjs/common';

/** The time a tool tells; provide another for tests. */
@Injectable()
export class Clock {
  /** Milliseconds since the epoch. */
  now(): number {
    return Date.now();
  }
}
