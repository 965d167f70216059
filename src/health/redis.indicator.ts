import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import {
  databaseConfig,
  type DatabaseConfig,
  sessionConfig,
  type SessionConfig,
  toolStateConfig,
  type ToolStateConfig,
} from '../config/namespaces/index.js';
import { isDoneWithin } from '../kernel/index.js';
import { createRedisClient } from '../persistence/index.js';

const TIMEOUT_MS = 1_000;
/** Age of an answer that needs no new request, in ms. */
const FRESH_MS = 1_000;

type RedisClient = ReturnType<typeof createRedisClient>;

/** A Redis, and whether requests fail without it. */
interface UsedRedis {
  readonly url: string;
  readonly isNeeded: boolean;
}

interface Answer {
  readonly at: number;
  readonly isUp: Promise<boolean>;
}

/** Whether the configured Redis servers answer. */
@Injectable()
export class RedisIndicator implements OnApplicationShutdown {
  private readonly used: readonly UsedRedis[];
  private readonly clients = new Map<string, RedisClient>();
  private readonly last = new Map<string, Answer>();

  constructor(
    private readonly indicators: HealthIndicatorService,
    @Inject(databaseConfig.KEY) { redisUrl, kind }: DatabaseConfig,
    @Inject(sessionConfig.KEY) { store }: SessionConfig,
    @Inject(toolStateConfig.KEY) { redis }: ToolStateConfig,
  ) {
    this.used = [
      // The queue on PostgreSQL has a substitute, as have caches and limits.
      ...(redisUrl === undefined ? [] : [{ url: redisUrl, isNeeded: kind === 'mariadb' }]),
      ...(store.kind === 'redis' ? [{ url: store.url, isNeeded: true }] : []),
      ...(redis.url === undefined ? [] : [{ url: redis.url, isNeeded: true }]),
    ];
  }

  /** Empty without a Redis. */
  checks(): (() => Promise<HealthIndicatorResult>)[] {
    return this.used.length === 0 ? [] : [() => this.check()];
  }

  async onApplicationShutdown(): Promise<void> {
    for (const client of this.clients.values()) (await client).disconnect();
  }

  private async check(): Promise<HealthIndicatorResult> {
    const session = this.indicators.check('redis');
    const answers = await Promise.all(this.used.map(({ url }) => this.isUp(url)));
    const silent = this.used.filter((_, at) => !answers[at]);
    if (silent.length === 0) return session.up();
    const isNeeded = silent.some((one) => one.isNeeded);
    return isNeeded ? session.down('it does not answer') : session.degraded('it does not answer');
  }

  private isUp(url: string): Promise<boolean> {
    const known = this.last.get(url);
    if (known && performance.now() - known.at <= FRESH_MS) return known.isUp;
    const isUp = this.answers(url);
    this.last.set(url, { at: performance.now(), isUp });
    return isUp;
  }

  private async answers(url: string): Promise<boolean> {
    let client = this.clients.get(url);
    if (!client) this.clients.set(url, (client = createRedisClient(url, TIMEOUT_MS)));
    const redis = await client;
    if (redis.status === 'wait') await redis.connect().catch(() => undefined);
    return isDoneWithin(TIMEOUT_MS, redis.ping());
  }
}
