import { choice, integer } from '../env-value.schema.js';
import { compact, namespace, type NamespaceConfig } from '../namespace.factory.js';

/** Limits of runs, the cluster, retention and shutdown. A limit of 0 means none, except for `concurrency` and `queueLimit`. */
export const runConfig = namespace(
  'jackdaw.run',
  'Runs',
  {
    RUN_CONCURRENCY: integer(1, 100_000)
      .default(500)
      .describe('Maximum runs executed at once per process; further runs queue'),
    RUN_QUEUE_WAIT_MS: integer(0, 600_000, 'ms')
      .default(2000)
      .describe(
        'Longest wait for capacity of an HTTP request whose client waits for the answer, in ms; a request that would wait longer gets 503 with `Retry-After`',
      ),
    RUN_TENANT_CONCURRENCY: integer(0, 100_000)
      .default(0)
      .describe('Maximum concurrent runs of a tenant, across all processes; 0 means no limit'),
    RUN_AGENT_CONCURRENCY: integer(0, 100_000)
      .default(0)
      .describe('Maximum concurrent runs of an agent, across all processes; 0 means no limit'),
    RUN_QUEUE_LIMIT: integer(0, 10_000_000)
      .default(10_000)
      .describe('Maximum queued runs; further runs are rejected with 503 and `Retry-After`'),
    RUN_TENANT_QUEUE_LIMIT: integer(0, 10_000_000)
      .default(0)
      .describe('Maximum queued runs of a tenant, else 429; 0 means no limit'),
    RUN_TENANT_RATE_PER_MINUTE: integer(0, 10_000_000)
      .default(0)
      .describe('Maximum new runs of a tenant per minute, else 429; 0 means no limit'),
    SESSION_BUSY: choice(['queue', 'reject'])
      .default('queue')
      .describe(
        'Handling of a chat in a session with an open run: `queue`, or `reject` with 409 `SESSION_BUSY`. Behind a run that waits for a decision it is always 409; background runs always queue',
      ),
    CLUSTER_LEASE_MS: integer(500, 600_000, 'ms')
      .default(10_000)
      .describe(
        'Time without a heartbeat after which other processes of the cluster take over a process’s runs, in ms',
      ),
    CLUSTER_CHECK_MS: integer(100, 60_000, 'ms')
      .default(2000)
      .describe('Interval of the sweep for orphaned runs in a cluster, in ms'),
    RUN_RETENTION_DAYS: integer(0, 36_500, 'days')
      .default(90)
      .describe('Days after which the journal of a completed run is deleted; 0 disables the deletion'),
    RUN_RETENTION_FAILED_DAYS: integer(0, 36_500, 'days')
      .optional()
      .describe('Same for failed and cancelled runs; by default as `RUN_RETENTION_DAYS`'),
    USAGE_RETENTION_DAYS: integer(0, 36_500, 'days')
      .default(400)
      .describe(
        'Days after which the usage rows of model calls are deleted (`GET /api/usage`); 0 disables the deletion',
      ),
    RUN_OUTAGE_PATIENCE_MS: integer(0, 604_800_000, 'ms')
      .default(3_600_000)
      .describe(
        'Time for which background runs, resumed runs and workflows outlast an outage of their provider, in ms; then they fail. 0 lets them fail at once',
      ),
    RECOVERY: choice(['resume', 'pause'])
      .optional()
      .describe(
        'Open runs at the start: `resume`, or `pause`, so that they wait (`restored`) until a person releases them. By default `pause` on a copied or restored database, otherwise `resume`',
      ),
    SHUTDOWN_TIMEOUT_MS: integer(0, 9000, 'ms')
      .default(8000)
      .describe(
        'Time for running work to finish at shutdown, in ms; unfinished runs resume in another process or at the next start',
      ),
  },
  (env) => ({
    ...compact({ recovery: env.RECOVERY }),
    concurrency: env.RUN_CONCURRENCY,
    queueWaitMs: env.RUN_QUEUE_WAIT_MS,
    tenantConcurrency: env.RUN_TENANT_CONCURRENCY,
    agentConcurrency: env.RUN_AGENT_CONCURRENCY,
    queueLimit: env.RUN_QUEUE_LIMIT,
    tenantQueueLimit: env.RUN_TENANT_QUEUE_LIMIT,
    tenantRatePerMinute: env.RUN_TENANT_RATE_PER_MINUTE,
    sessionBusy: env.SESSION_BUSY,
    cluster: { leaseMs: env.CLUSTER_LEASE_MS, checkMs: env.CLUSTER_CHECK_MS },
    retention: {
      completedDays: env.RUN_RETENTION_DAYS,
      failedDays: env.RUN_RETENTION_FAILED_DAYS ?? env.RUN_RETENTION_DAYS,
      usageDays: env.USAGE_RETENTION_DAYS,
    },
    outagePatienceMs: env.RUN_OUTAGE_PATIENCE_MS,
    shutdownTimeoutMs: env.SHUTDOWN_TIMEOUT_MS,
  }),
);
export type RunConfig = NamespaceConfig<typeof runConfig>;
