import type { Connection, PoolClient, Submittable } from 'pg';
import type { PreparedText } from './postgres-statement.registry.js';
import type { SqlValue } from './statement/statement.types.js';

/** A statement in the form that is sent. */
export interface BatchStep extends PreparedText {
  readonly values: readonly SqlValue[];
}

/** The number of the failed statement, counted from 0, and the server's error. */
export interface BatchFailure {
  readonly at: number;
  readonly error: Error;
}

/** The used part of a connection's protocol methods; the declared types require arguments that the driver ignores. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  parse(message: PreparedText): void;
  bind(message: { statement: string; values: readonly (string | null)[] }): void;
  execute(message: object): void;
  close(message: { type: 'S'; name: string }): void;
  sync(): void;
}

/** Prepared statement names by connection. */
const prepared = new WeakMap<PoolClient, Set<string>>();

/**
 * Sends a batch in one write. PostgreSQL treats statements up to one Sync message as one transaction, without BEGIN and
 * COMMIT. Once sent, the server completes it even if this process freezes, so no lock remains.
 * (https://www.postgresql.org/docs/current/protocol-flow.html, "Pipelining")
 */
export function executeBatch(
  client: PoolClient,
  steps: readonly BatchStep[],
  limitMs: number,
): Promise<BatchFailure | null> {
  const values = steps.map((step) => step.values.map(toWireText));
  return new Promise((resolve) => {
    client.query(new BatchQuery(client, steps, values, limitMs, resolve));
  });
}

/** A query object for the driver, which calls these methods as the server's answers arrive. */
class BatchQuery implements Submittable {
  private done = 0;
  private readonly fresh = new Set<string>();

  constructor(
    private readonly client: PoolClient,
    private readonly steps: readonly BatchStep[],
    private readonly values: readonly (readonly (string | null)[])[],
    /** Limit of the answer, read by the driver. */
    readonly query_timeout: number,
    private readonly resolve: (failure: BatchFailure | null) => void,
  ) {}

  submit(connection: Connection): void {
    const wire = connection as unknown as Wire;
    const known = prepared.get(this.client) ?? new Set();
    prepared.set(this.client, known);
    wire.stream.cork();
    for (const [at, step] of this.steps.entries()) {
      if (!known.has(step.name) && !this.fresh.has(step.name)) this.prepare(wire, step);
      wire.bind({ statement: step.name, values: this.values[at]! });
      wire.execute({});
    }
    wire.sync();
    wire.stream.uncork();
  }

  handleCommandComplete(): void {
    this.done++;
  }

  handleReadyForQuery(): void {
    const known = prepared.get(this.client)!;
    for (const name of this.fresh) known.add(name);
    this.callback(null);
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  /** The driver wraps it with its time-out. */
  callback = (error: Error | null): void => {
    this.resolve(error && { at: this.done, error });
  };

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}

  /**
   * After a failed batch it is unknown which of its new names exist, so they are closed first; closing an unknown name
   * is not an error.
   */
  private prepare(wire: Wire, { name, text }: PreparedText): void {
    if (name !== '') {
      wire.close({ type: 'S', name });
      this.fresh.add(name);
    }
    wire.parse({ name, text });
  }
}

function toWireText(value: SqlValue): string | null {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw new TypeError(`A ${typeof value} is not a value of a database.`);
}
