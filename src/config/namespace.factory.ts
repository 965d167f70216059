import { getConfigToken } from '@nestjs/config';
import type { z } from 'zod';
import type { DeclarationsFile, McpServersFile } from './mcp-servers.loader.js';
import type { ModelPatterns } from './models-file.loader.js';

/** `wait`: the start waits for the owner's end, then fails. `defer`: the start continues, calls wait or fail. `fail`: the start fails. */
export type WhenLocked = 'wait' | 'defer' | 'fail';

/** Values that depend on all variables, or on files that variables name. */
export interface ConfigContext {
  /** Whether the application authenticates requests itself. */
  readonly hasAuthenticator: boolean;
  /** Whether Jackdaw is part of a host application. */
  readonly isHost: boolean;
  /** Behaviour if another process owns the database. */
  readonly whenLocked: WhenLocked;
  /** Whether an idle application keeps the process alive; undefined: if it works for others. */
  readonly keepAlive: boolean | undefined;
  /** Whether files in the folder `config` apply without being named. */
  readonly hasFiles: boolean;
  /** The name by which a variable was set, or would be set. */
  readonly nameOf: (name: string) => string;
  /** Every valid variable, by name. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The secrets of `TOOL_SECRETS`, by name. */
  readonly toolSecrets: Readonly<Record<string, string>>;
  readonly mcpServers: McpServersFile;
  readonly remoteAgents: DeclarationsFile;
  /** Facts of models that override the built-in tables. */
  readonly models: ModelPatterns;
  /** The variables that agent files may insert, by name. */
  readonly agentVariables: Readonly<Record<string, string>>;
}

export type ValuesOf<S extends z.ZodRawShape> = z.output<z.ZodObject<S>>;

/** The variables of one module, and the typed value that its classes inject by `KEY`. */
export interface Namespace<S extends z.ZodRawShape = z.ZodRawShape, V extends object = object> {
  readonly name: string;
  readonly KEY: string;
  /** The heading in docs/configuration.md. */
  readonly title: string;
  /** Schema, default and description of each variable. */
  readonly variables: S;
  shape(env: Readonly<Record<string, unknown>>, context: ConfigContext): V;
}

type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;

/** The value of a namespace, deeply frozen. */
export type NamespaceConfig<N extends Namespace> = Frozen<ReturnType<N['shape']>>;

/**
 * Declares a namespace.
 * @param name unique in the application, such as `jackdaw.run`
 * @param shape builds the value from the namespace's variables and from those of `uses`
 */
export function namespace<S extends z.ZodRawShape, V extends object, U extends z.ZodRawShape = z.ZodRawShape>(
  name: `jackdaw.${string}`,
  title: string,
  variables: S,
  shape: (env: ValuesOf<S> & ValuesOf<U>, context: ConfigContext) => V,
  _uses?: Namespace<U>,
): Namespace<S, V> {
  return { name, KEY: getConfigToken(name), title, variables, shape };
}

/** Drops undefined fields, so that a spread never overwrites a default with undefined. */
export function compact<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
