import { choice } from '../env-value.schema.js';
import { namespace, type NamespaceConfig } from '../namespace.factory.js';

/** The wire formats of standard clients. */
export const compatibleApiConfig = namespace(
  'jackdaw.compatible-api',
  'APIs for standard clients',
  {
    COMPATIBLE_API: choice(['on', 'off'])
      .default('on')
      .describe(
        'Whether `/v1` serves clients of OpenAI’s API (docs/openai-clients.md), `/ag-ui/:agent` those of AG-UI (docs/ag-ui.md) and `/api/agent/ui` the AI SDK (docs/ai-sdk.md): `on` or `off`',
      ),
    COMPATIBLE_API_WAITING: choice(['message', 'error'])
      .default('message')
      .describe(
        'Reply of `/v1` when a run waits for a person: `message`, a text that names the run, or `error` with the code RUN_WAITING',
      ),
    A2A: choice(['on', 'off'])
      .default('on')
      .describe('Whether `/a2a/:agent` serves the agents to clients of A2A (docs/a2a.md): `on` or `off`'),
    A2A_CARDS: choice(['private', 'public'])
      .default('private')
      .describe(
        'Who may read the A2A cards of agents, which have their names, descriptions and skills: `private`, callers with a key, where keys are used; `public`, all callers',
      ),
  },
  (env) => ({
    isEnabled: env.COMPATIBLE_API === 'on',
    onWaiting: env.COMPATIBLE_API_WAITING,
    hasA2a: env.A2A === 'on',
    areCardsPublic: env.A2A_CARDS === 'public',
  }),
);
export type CompatibleApiConfig = NamespaceConfig<typeof compatibleApiConfig>;
