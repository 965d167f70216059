import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  llmConfig,
  type LlmConfig,
  runConfig,
  type RunConfig,
  serverConfig,
  type ServerConfig,
} from '../config/namespaces/index.js';
import { Log } from '../errors/index.js';
import { KeyUseRegistry } from '../security/index.js';
import { exampleRequest } from './start-page.js';
import type { StartLine } from './supervisor/worker-message.types.js';

const logger = new Log('Bootstrap');

/** Logs the start. */
export async function logStart(app: NestFastifyApplication): Promise<void> {
  for (const { level, text } of await startLines(app)) logger[level === 'info' ? 'log' : 'warn'](text);
}

/** The address and the number of workers, for people also the documentation, the model and a request, and missing settings. */
export async function startLines(app: NestFastifyApplication): Promise<readonly StartLine[]> {
  const config = app.get<ServerConfig>(serverConfig.KEY);
  const { provider, model } = app.get<LlmConfig>(llmConfig.KEY);
  const origin = await app.getUrl();
  const url = `${origin}${config.prefix}`;
  const bound = boundAddress(app);
  const listening = origin.endsWith(`//${bound}`) ? '' : ` (listening on ${bound})`;
  const workers = config.workers === 1 ? '' : ` with ${config.workers} workers`;
  const lines =
    config.logFormat === 'text'
      ? [
          `Jackdaw serves ${url}${listening}${workers}`,
          ...(config.hasConsole ? [`Console: ${url}/console`] : []),
          `Documentation: ${config.hasDocs ? `${url}/docs` : 'off (DOCS_ENABLED=true serves it at /docs)'}`,
          `Model: ${model ? `${model} of provider "${provider}"` : `provider "${provider}"`}`,
          `Try: ${exampleRequest(url, !app.get(KeyUseRegistry).isOpen)}`,
        ]
      : [`Jackdaw serves ${url}/api/agent/chat${listening}${workers} with model provider "${provider}"`];
  return [
    ...lines.map((text) => ({ level: 'info', text }) as const),
    ...startWarnings(app).map((text) => ({ level: 'warn', text }) as const),
  ];
}

function startWarnings(app: NestFastifyApplication): string[] {
  const { isReachable } = app.get<ServerConfig>(serverConfig.KEY);
  const { provider } = app.get<LlmConfig>(llmConfig.KEY);
  const limits = isReachable ? limitsThatAreOff(app) : [];
  return [
    ...(limits.length > 0
      ? [
          `Other machines can reach this server, and these limits are off: ${limits.join(', ')} (docs/configuration.md).`,
        ]
      : []),
    ...(provider === 'offline'
      ? [
          'No model is configured: the offline model answers. Set OPENAI_API_KEY=…, or LLM_PROVIDER=ollama for a local one (README).',
        ]
      : []),
  ];
}

/** Address and port that the server listens on, such as `0.0.0.0:3000`. */
function boundAddress(app: NestFastifyApplication): string {
  const [bound] = app.getHttpAdapter().getInstance().addresses();
  if (typeof bound !== 'object') return bound ?? '';
  return `${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`;
}

/** The variables of the limits on consumption that are not set. */
function limitsThatAreOff(app: NestFastifyApplication): string[] {
  const run = app.get<RunConfig>(runConfig.KEY);
  const { budget } = app.get<LlmConfig>(llmConfig.KEY);
  const limits: readonly (readonly [variable: string, isSet: boolean])[] = [
    ['RUN_TENANT_RATE_PER_MINUTE', run.tenantRatePerMinute > 0],
    ['RUN_TENANT_CONCURRENCY', run.tenantConcurrency > 0],
    ['BUDGET_TENANT_DAY', budget.tenantDay !== undefined || budget.day !== undefined],
  ];
  return limits.filter(([, isSet]) => !isSet).map(([variable]) => variable);
}
