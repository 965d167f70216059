import type { JsonValue } from '../../kernel/json/index.js';

/** A value that a call records in the journal before its result: a repetition after a crash reads it. */
export interface CallNote {
  /** The recorded value; `undefined` if it is absent. */
  read(): Promise<JsonValue | undefined>;
  /** Records the value; resolves when it is durable. Once in a call. */
  write(value: JsonValue): Promise<void>;
}
