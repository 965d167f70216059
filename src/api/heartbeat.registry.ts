import { Inject, Injectable } from '@nestjs/common';
import type { Writable } from 'node:stream';
import { serverConfig, type ServerConfig } from '../config/index.js';

const HEARTBEAT = ': heartbeat\n\n';

/** Heartbeats of open streams. One timer serves all streams and writes to one share of them each second. */
@Injectable()
export class HeartbeatRegistry {
  /** One share for each second of the interval. */
  private readonly shares: readonly Set<Writable>[];
  private second = 0;
  private size = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(@Inject(serverConfig.KEY) { heartbeatSeconds }: Pick<ServerConfig, 'heartbeatSeconds'>) {
    this.shares = Array.from({ length: heartbeatSeconds }, () => new Set<Writable>());
  }

  /** @returns a function that stops the heartbeats */
  add(stream: Writable): () => void {
    // The share that is due last: a new stream needs no heartbeat yet.
    const share = this.shares[(this.second + this.shares.length - 1) % this.shares.length]!;
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
    // A client with unread data needs no heartbeat.
    for (const stream of this.shares[this.second]!) if (stream.writableLength === 0) stream.write(HEARTBEAT);
    this.second = (this.second + 1) % this.shares.length;
  }
}
