import type { Connection } from './connection.js';
import type { Interrupt } from './interrupt.js';
import type { Terminal } from './terminal.js';

export interface ArgumentSpec {
  readonly name: string;
  readonly help: string;
  readonly isOptional?: boolean;
  /** Whether it takes all further words. */
  readonly isRest?: boolean;
}

export interface OptionSpec {
  /** Placeholder of the value; a flag has none. */
  readonly value?: string;
  readonly help: string;
  readonly isMultiple?: boolean;
}

/** A command: the source of its help, its documentation and its call. */
export interface Command {
  /** One or two words, such as `runs list`. */
  readonly name: string;
  readonly summary: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: Readonly<Record<string, OptionSpec>>;
  /** Output of `--json`: a schema of docs/openapi.json, or its members. */
  readonly json: string;
  /** @returns the exit code; by default 0 */
  readonly run: (call: Call) => Promise<number | void>;
}

/** The call of a command. */
export interface Call {
  readonly args: readonly string[];
  readonly terminal: Terminal;
  readonly interrupt: Interrupt;
  readonly isJson: boolean;
  /** The value of an option. */
  text(name: string): string | undefined;
  /** All values of an option that may be repeated. */
  texts(name: string): readonly string[];
  flag(name: string): boolean;
  /** Opens the server of `JACKDAW_URL`, or the one of this folder inside of this process. It is closed after the command. */
  connect(purpose?: 'read' | 'execute'): Promise<Connection>;
}
