/**
 * Short messages between the processes on one database. After a lost message (a connection was down), the tables have
 * the data.
 */
export abstract class NotificationChannel {
  /**
   * Calls the listener with every payload of a channel, in each sender's order, including this process.
   * @param channel 1 to 63 of `a-z 0-9 _`, not starting with a digit
   * @param onReconnect called after an interruption in which payloads were lost
   * @returns a function that ends the subscription
   */
  abstract listen(
    channel: string,
    listener: (payload: string) => void,
    onReconnect?: () => void,
  ): Promise<() => Promise<void>>;

  /**
   * Sends soon, together with other payloads of the same turn of the event loop; a failure is logged.
   * @throws AppError `INTERNAL` when the payload is too long for a notification, or contains a line break or a NUL
   */
  abstract notify(channel: string, payload: string): void;

  /** Sends pending payloads and closes the connections. */
  abstract close(): Promise<void>;
}
