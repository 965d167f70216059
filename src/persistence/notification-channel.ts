/** Short messages between the processes on one database. What it loses (a connection was down), the tables have. */
export abstract class NotificationChannel {
  /**
   * Calls the listener with every payload of a channel, in the order of their sending by each process, this one's too.
   * @param channel 1 to 63 of `a-z 0-9 _`, not beginning with a digit
   * @param onReconnect called after a time in which payloads were lost
   * @returns what ends it
   */
  abstract listen(
    channel: string,
    listener: (payload: string) => void,
    onReconnect?: () => void,
  ): Promise<() => Promise<void>>;

  /**
   * Sends soon, together with what else is to be sent in the same turn of the event loop; a failure is logged.
   * @throws AppError `INTERNAL` when the payload is longer than a notification may be, or holds a line break or a NUL
   */
  abstract notify(channel: string, payload: string): void;

  /** Sends what still waits, and ends the connections. */
  abstract close(): Promise<void>;
}
