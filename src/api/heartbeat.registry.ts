import { Injectable } from '@nestjs/common';
import type { Writable } from 'node:stream';

/** Heartbeat interval of an idle stream, in s; keeps proxies from closing the connection. */
const HEARTBEAT_S = 15;
const HEARTBEAT = ': heartbeat\n\n';

/** Heartbeats of open streams. One timer serves all streams and writes to one share of them each second. */
@Injectable()
export class HeartbeatRegistry {
  private readonly shares = Array.from({ length: HEARTBEAT_S }, () => new Set<Writable>());
  private second = 0;
  private size = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @returns a function that stops the heartbeats */
  add(stream: Writable): () => void {
    // The share that is due last: a new stream needs no heartbeat yet.
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
    // A client with unread data needs no heartbeat.
    for (const stream of this.shares[this.second]!) if (stream.writableLength === 0) stream.write(HEARTBEAT);
    this.second = (this.second + 1) % HEARTBEAT_S;
  }
}
