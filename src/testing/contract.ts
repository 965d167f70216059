import assert from 'node:assert/strict';

/** One rule of a port, as a test without a test framework. */
export interface ContractCase<T> {
  /** A sentence about the implementation, as the name of a test. */
  readonly name: string;
  /**
   * Rejects with an `AssertionError` if the implementation breaks the rule.
   * @param open opens the implementation; each case opens one, and closes it if it has `close`. Cases use keys of their own,
   * so that all may use one database.
   */
  readonly run: (open: () => T | Promise<T>) => Promise<void>;
}

/** Creates a case whose check receives an open implementation. */
export function contractCase<T extends object>(name: string, check: (opened: T) => Promise<void>): ContractCase<T> {
  return {
    name,
    run: async (open) => {
      const opened = await open();
      try {
        await check(opened);
      } finally {
        if ('close' in opened && typeof opened.close === 'function') await opened.close();
      }
    },
  };
}

/** Compares JSON values by their content: a test runner may create them in several realms. */
export function assertJson(actual: unknown, expected: unknown): void {
  assert.deepEqual(toJson(actual), toJson(expected));
}

function toJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
