import { AsyncLocalStorage } from 'node:async_hooks';

/** Fields that all lines of a piece of work have, such as the ids of its run. */
export type LogFields = Readonly<Record<string, string>>;

const NONE: LogFields = Object.freeze({});
const current = new AsyncLocalStorage<LogFields>();

/** Runs work whose lines in the server's log have these fields, beside those of the work around it. */
export function withLogFields<T>(fields: LogFields, work: () => T): T {
  return current.run({ ...current.getStore(), ...fields }, work);
}

/** The fields of the present work. */
export function currentLogFields(): LogFields {
  return current.getStore() ?? NONE;
}
