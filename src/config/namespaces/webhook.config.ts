import { checked, choice, httpUrl, integer, list } from '../env-value.schema.js';
import { compact, namespace, type NamespaceConfig } from '../namespace.factory.js';
import { parseTarget } from '../outgoing-target.parser.js';

const EVENTS = ['run.waiting', 'run.completed', 'run.failed', 'run.cancelled'] as const;

/** Prefix of a secret in the format of Standard Webhooks; base64 of 24 to 64 bytes follows. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/;

/** The bytes of a secret, or undefined if it has another format. */
function isSecret(text: string): boolean {
  const bytes = Buffer.from(text.slice('whsec_'.length), 'base64').length;
  return SECRET.test(text) && bytes >= 24 && bytes <= 64;
}

/** Outgoing webhooks. */
export const webhookConfig = namespace(
  'jackdaw.webhook',
  'Webhooks',
  {
    WEBHOOK_URL: httpUrl()
      .optional()
      .describe(
        'URL that receives the run events of all tenants as signed POST requests (docs/webhooks.md). Its host needs no entry in `OUTGOING_ALLOW`. `POST /api/webhooks` adds further URLs',
      ),
    WEBHOOK_SECRET: checked(
      (text) => (isSecret(text) ? text : undefined),
      'whsec_ and base64 of 24 to 64 bytes, such as the output of: echo "whsec_$(openssl rand -base64 32)"',
    )
      .optional()
      .meta({ isSecret: true, description: 'Secret that signs the requests to `WEBHOOK_URL`' }),
    WEBHOOK_EVENTS: list(
      (name) => EVENTS.find((event) => event === name),
      `events, comma-separated: ${EVENTS.join(', ')}`,
    )
      .optional()
      .describe('Events that `WEBHOOK_URL` receives; by default all'),
    WEBHOOK_CONTENT: choice(['on', 'off'])
      .optional()
      .describe(
        'Whether requests to `WEBHOOK_URL` contain the answer of the run and the arguments of waiting calls: `on` or `off` (the default)',
      ),
    WEBHOOK_TIMEOUT_MS: integer(100, 60_000, 'ms')
      .default(15_000)
      .describe('Time limit of one request to a webhook, in ms'),
  },
  (env) => ({
    timeoutMs: env.WEBHOOK_TIMEOUT_MS,
    /** Undefined without `WEBHOOK_URL`. */
    configured:
      env.WEBHOOK_URL === undefined
        ? undefined
        : {
            url: env.WEBHOOK_URL,
            // The rules between variables require it.
            secret: env.WEBHOOK_SECRET ?? '',
            events: env.WEBHOOK_EVENTS ?? EVENTS,
            hasContent: env.WEBHOOK_CONTENT === 'on',
            ...compact({ allowed: targetOf(env.WEBHOOK_URL) }),
          },
  }),
);
export type WebhookConfig = NamespaceConfig<typeof webhookConfig>;

/** The host and port of a URL as an entry of `OUTGOING_ALLOW`. */
function targetOf(text: string) {
  const { hostname, port, protocol } = new URL(text);
  return parseTarget(`${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`);
}
