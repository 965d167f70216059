import { z } from 'zod';
import {
  compact,
  type ConfigContext,
  type Namespace,
  type NamespaceConfig,
  type ValuesOf,
} from './namespace.factory.js';
import { agentConfig } from './namespaces/agent.config.js';
import { cacheConfig } from './namespaces/cache.config.js';
import { databaseConfig } from './namespaces/database.config.js';
import { definitionFilesConfig } from './namespaces/definition-files.config.js';
import { llmConfig } from './namespaces/llm.config.js';
import { mcpConfig } from './namespaces/mcp.config.js';
import { a2aConfig } from './namespaces/a2a.config.js';
import { compatibleApiConfig } from './namespaces/compatible-api.config.js';
import { mcpServerConfig } from './namespaces/mcp-server.config.js';
import { runConfig } from './namespaces/run.config.js';
import { securityConfig } from './namespaces/security.config.js';
import { serverConfig } from './namespaces/server.config.js';
import { sessionConfig } from './namespaces/session.config.js';
import { telemetryConfig } from './namespaces/telemetry.config.js';
import { toolConfig } from './namespaces/tool.config.js';
import { toolStateConfig } from './namespaces/tool-state.config.js';
import { webhookConfig } from './namespaces/webhook.config.js';

/** All namespaces, in the order of the documentation. */
export const NAMESPACES = {
  server: serverConfig,
  telemetry: telemetryConfig,
  database: databaseConfig,
  security: securityConfig,
  llm: llmConfig,
  cache: cacheConfig,
  agent: agentConfig,
  definitionFiles: definitionFilesConfig,
  run: runConfig,
  session: sessionConfig,
  tool: toolConfig,
  toolState: toolStateConfig,
  mcp: mcpConfig,
  mcpServer: mcpServerConfig,
  a2a: a2aConfig,
  compatibleApi: compatibleApiConfig,
  webhook: webhookConfig,
};
export type NamespaceName = keyof typeof NAMESPACES;
export const NAMESPACE_NAMES = Object.keys(NAMESPACES) as NamespaceName[];

/** The values of all namespaces of one application, deeply frozen. */
export type Configuration = { readonly [K in NamespaceName]: NamespaceConfig<(typeof NAMESPACES)[K]> };

type Intersection<T> = (T extends unknown ? (one: T) => void : never) extends (all: infer All) => void ? All : never;
type Variables = Intersection<(typeof NAMESPACES)[NamespaceName]['variables']>;

const VARIABLES = Object.assign({}, ...Object.values<Namespace>(NAMESPACES).map((one) => one.variables)) as Variables;

export type EnvValues = ValuesOf<typeof VARIABLES>;
export type EnvName = keyof EnvValues;
export const ENV_NAMES = Object.keys(VARIABLES) as EnvName[];

export function schemaOf(name: EnvName): z.ZodType {
  return VARIABLES[name];
}

export function isSecret(name: EnvName): boolean {
  return schemaOf(name).meta()?.['isSecret'] === true;
}

/** Keys of providers: their file is `…_API_KEY_FILE`, which may contain several and is reloaded. */
const PROVIDER_KEY = /_API_KEYS?$/;

/** The variable with the path of a file that contains a secret; declared files of a provider's keys are not meant. */
export function secretFileOf(name: EnvName): string | undefined {
  return isSecret(name) && !PROVIDER_KEY.test(name) ? `${name}_FILE` : undefined;
}

/** The default of a variable in environment notation. */
export function defaultOf(name: EnvName): string | undefined {
  const fallback = schemaOf(name).safeParse(undefined).data as string | number | boolean | undefined;
  return fallback === undefined ? undefined : String(fallback);
}

/** Builds the values of all namespaces from the checked variables. */
export function createConfiguration(values: EnvValues, context: ConfigContext): Configuration {
  const entries = NAMESPACE_NAMES.map((key) => {
    const one: Namespace = NAMESPACES[key];
    return [key, deepFreeze(one.shape(values, context))] as const;
  });
  return Object.freeze(Object.fromEntries(entries)) as Configuration;
}

function deepFreeze(value: object): object {
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null) deepFreeze(child as object);
  }
  return Object.freeze(value);
}

export interface ConfigVariable {
  readonly name: string;
  readonly description: string;
  /** In environment notation. */
  readonly default?: string;
  /** The valid texts, if they are simple to describe. */
  readonly allowed?: string;
  /** The variable with the path of a file that contains this secret. */
  readonly file?: string;
}

/** The variables by namespace, for the documentation. */
export function configVariables(): { readonly title: string; readonly variables: readonly ConfigVariable[] }[] {
  return Object.values<Namespace>(NAMESPACES).map(({ title, variables }) => ({
    title,
    variables: (Object.keys(variables) as EnvName[]).map((name) => {
      const fallback = defaultOf(name);
      const allowed = innermost(schemaOf(name)).meta()?.['allowed'] as string | undefined;
      const description = schemaOf(name).description ?? '';
      return { name, description, ...compact({ default: fallback, allowed, file: secretFileOf(name) }) };
    }),
  }));
}

/** The schema without its default. */
function innermost(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? innermost(schema.unwrap() as z.ZodType)
    : schema;
}
