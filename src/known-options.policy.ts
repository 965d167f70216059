import { AppError } from './errors/index.js';
import type { JackdawFeatureOptions } from './jackdaw-feature.module.js';
import type { JackdawAsyncOptions, JackdawOptions } from './jackdaw-options.types.js';
import { unknownOption } from './kernel/text/index.js';

/** The types require one entry for each option. */
const FACTORY: Readonly<Record<Exclude<keyof JackdawOptions, keyof JackdawAsyncOptions>, true>> = {
  config: true,
  agents: true,
  agentChanges: true,
  chatModel: true,
  cassette: true,
  modelFactories: true,
  securityPolicy: true,
  workflows: true,
  workflowsDir: true,
  skillsDir: true,
  restTools: true,
  agentsDir: true,
  mcpServers: true,
  a2aAgents: true,
  mcpOnly: true,
};
const FIXED: Readonly<Record<Extract<keyof JackdawOptions, keyof JackdawAsyncOptions>, true>> = {
  promptBuilder: true,
  processors: true,
  cache: true,
  sessionStore: true,
  stateManagers: true,
  memories: true,
  toolEnhancers: true,
  files: true,
  requireStore: true,
  keepAlive: true,
  builtinTools: true,
  longTermMemory: true,
  embeddingModel: true,
  tools: true,
  extensions: true,
  runEvents: true,
  authenticator: true,
  telemetry: true,
  logger: true,
  recovery: true,
};
const FEATURE: Readonly<Record<keyof JackdawFeatureOptions, true>> = {
  tools: true,
  agents: true,
  mcpServers: true,
  workflows: true,
};

/** The options of each entry point. */
const ENTRIES = {
  'JackdawModule.forRoot': { ...FACTORY, ...FIXED },
  'JackdawModule.forRootAsync': { ...FIXED, imports: true, inject: true, useFactory: true },
  'JackdawModule.forRootAsync: useFactory': FACTORY,
  'JackdawModule.forFeature': FEATURE,
  serve: { ...FACTORY, ...FIXED, imports: true },
} as const;

/** Rejects unknown options, which untyped callers can pass and which would do nothing. @throws AppError `CONFIG_INVALID` */
export function assertKnownOptions(entry: keyof typeof ENTRIES, options: object): void {
  const mistake = unknownOption(options, Object.keys(ENTRIES[entry]));
  if (mistake !== undefined) throw new AppError('CONFIG_INVALID', `${entry}: ${mistake}`);
}
