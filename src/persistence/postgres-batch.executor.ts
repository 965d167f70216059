import type { Connection, PoolClient, Submittable } from 'pg';
import type { PreparedText } from './postgres-statement.registry.js';
import { SERVER_LIMITS } from './server-limits.policy.js';
import type { SqlValue } from './statement.types.js';

/** A statement as it is sent. */
export interface BatchStep extends PreparedText {
  readonly values: readonly SqlValue[];
}

/** Which statement the server refused, counted from 0, and what it said. */
export interface BatchFailure {
  readonly at: number;
  readonly error: Error;
}

/** What we use of a connection's protocol messages; the declared types want arguments that the driver ignores. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  parse(message: PreparedText): void;
  bind(message: { statement: string; values: readonly (string | null)[] }): void;
  execute(message: object): void;
  close(message: { type: 'S'; name: string }): void;
  sync(): void;
}

/** The names that a connection has prepared. */
const prepared = new WeakMap<PoolClient, Set<string>>();

/**
 * Sends a batch in one write. Statements up to one Sync message are one transaction to PostgreSQL, so it needs neither
 * BEGIN nor COMMIT, and once it is sent the server ends it, whatever becomes of this process: a frozen one holds no lock.
 * (https://www.postgresql.org/docs/current/protocol-flow.html, "Pipelining")
 */
export function executeBatch(client: PoolClient, steps: readonly BatchStep[]): Promise<BatchFailure | null> {
  const values = steps.map((step) => step.values.map(toWireText));
  return new Promise((resolve) => {
    client.query(new BatchQuery(client, steps, values, resolve));
  });
}

/** The driver calls it by these names as the server's answers come in. */
class BatchQuery implements Submittable {
  /** The driver reads it. */
  readonly query_timeout = SERVER_LIMITS.answerMs;
  private done = 0;
  private readonly fresh = new Set<string>();

  constructor(
    private readonly client: PoolClient,
    private readonly steps: readonly BatchStep[],
    private readonly values: readonly (readonly (string | null)[])[],
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

  /** The driver puts its timeout before it. */
  callback = (error: Error | null): void => {
    this.resolve(error && { at: this.done, error });
  };

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}

  /** A batch that failed leaves it open which of its new names are there; closing an unknown name is no error. */
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
  throw new TypeError(`A ${typeof value} is no value of a database.`);
}
