import { Injectable } from '@nestjs/common';
import type { Writable } from 'node:stream';

/** How often an open stream is written to when nothing happens, so that nobody between takes it for dead. */
const HEARTBEAT_S = 15;
const HEARTBEAT = ': heartbeat\n\n';

/** Open streams and their heartbeats: one timer for all, and each second's share of the streams, never all at once. */
@Injectable()
export class HeartbeatRegistry {
  private readonly shares = Array.from({ length: HEARTBEAT_S }, () => new Set<Writable>());
  private second = 0;
  private size = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @returns a function that ends the heartbeats */
  add(stream: Writable): () => void {
    // The share that is due last: a stream that has just begun needs none yet.
    const share = this.shares[(this.second + HEARTBEAT_S - 1) % HEARTBEAT_S]!;
    share.add(stream);
    this.size++;
    this.timer ??= setInterval(() => this.beat(), 1_000).unref();
    return () => {
      if (!share.delete(stream) || --this.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    };
  }

  private beat(): void {
    // Who has not taken what is there already needs no sign of life.
    for (const stream of this.shares[this.second]!) if (stream.writableLength === 0) stream.write(HEARTBEAT);
    this.second = (this.second + 1) % HEARTBEAT_S;
  }
}
