import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  llmConfig,
  type LlmConfig,
  runConfig,
  type RunConfig,
  serverConfig,
  type ServerConfig,
} from '../config/index.js';
import { Log } from '../errors/index.js';
import { KeyUseRegistry } from '../security/index.js';
import { exampleRequest } from './start-page.js';

const logger = new Log('Bootstrap');

/** Logs the address, for people also the documentation, the model and a request, and warns of missing settings. */
export async function logStart(app: NestFastifyApplication): Promise<void> {
  const config = app.get<ServerConfig>(serverConfig.KEY);
  const { provider, model } = app.get<LlmConfig>(llmConfig.KEY);
  const origin = await app.getUrl();
  const url = `${origin}${config.prefix}`;
  const bound = boundAddress(app);
  const listening = origin.endsWith(`//${bound}`) ? '' : ` (listening on ${bound})`;
  const lines =
    config.logFormat === 'text'
      ? [
          `Jackdaw serves ${url}${listening}`,
          ...(config.hasConsole ? [`Console: ${url}/console`] : []),
          `Documentation: ${config.hasDocs ? `${url}/docs` : 'off (DOCS_ENABLED=true serves it at /docs)'}`,
          `Model: ${model ? `${model} of provider "${provider}"` : `provider "${provider}"`}`,
          `Try: ${exampleRequest(url, !app.get(KeyUseRegistry).isOpen)}`,
        ]
      : [`Jackdaw serves ${url}/api/agent/chat${listening} with model provider "${provider}"`];
  for (const line of lines) logger.log(line);
  const limits = config.isReachable ? limitsThatAreOff(app) : [];
  if (limits.length > 0) {
    logger.warn(
      `Other machines can reach this server, and these limits are off: ${limits.join(', ')} (docs/configuration.md).`,
    );
  }
  if (provider === 'offline') {
    logger.warn(
      'No model is configured: the offline model answers. Set OPENAI_API_KEY=…, or LLM_PROVIDER=ollama for a local one (README).',
    );
  }
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
