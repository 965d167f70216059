import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { Log, messageOf } from '../errors/index.js';
import { databaseConfig, type DatabaseConfig } from '../config/namespaces/index.js';
import { Database } from '../persistence/index.js';
import { openRateLimiter, type RateLimit, type RateLimiter } from '../security/index.js';
import type { CallSite, CheckedCall, ToolResult } from '../tool/index.js';
import type { PolicyNote } from '../tool/decision/index.js';
import { failedResult } from '../tool/result/index.js';
import type { CompiledLimit } from './compiled-policy.factory.js';
import { SecurityPolicies } from './security-policies.registry.js';

/** A limit that applies to one call, with the key of its counter. */
interface PlacedLimit extends RateLimit {
  readonly rule: CompiledLimit;
}

/** Outcome of the rate limits for a call; a rejected call has its result. */
export interface RateDecision {
  readonly note: PolicyNote;
  readonly rejected?: ToolResult;
}

const NAME = 'rate-limit';

/** Applies the rate limits of the security policy. Each call is counted once, immediately before its execution. */
@Injectable()
export class CallRates implements OnApplicationShutdown {
  private readonly logger = new Log(CallRates.name);
  private limiter: Promise<RateLimiter> | null = null;

  constructor(
    private readonly policies: SecurityPolicies,
    @Inject(databaseConfig.KEY) private readonly config: DatabaseConfig,
    private readonly database: Database,
  ) {}

  /** Whether a limit applies to the call. */
  concerns({ tool }: CheckedCall): boolean {
    return this.policies.current.limits.some(({ matches }) => matches(tool.definition.name));
  }

  /** Counts the call, or rejects it. A rejected call is not counted by any limit. */
  async admit({ tool }: CheckedCall, site: CallSite): Promise<RateDecision> {
    const { name } = tool.definition;
    const limits = this.limitsOn(name, site);
    try {
      this.limiter ??= openRateLimiter(this.config, this.database);
      const verdict = await (await this.limiter).admit(limits);
      if (verdict.kind === 'admitted') return { note: { policy: NAME, decision: 'allowed' } };
      return limited(name, (verdict.limit as PlacedLimit).rule, verdict.resetsAt);
    } catch (error) {
      return this.uncounted(name, error);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await (await this.limiter)?.close();
  }

  private limitsOn(tool: string, { principal, sessionId, runId }: CallSite): PlacedLimit[] {
    const limits = new Map<string, PlacedLimit>();
    for (const rule of this.policies.current.limits) {
      if (!rule.matches(tool)) continue;
      const { per, about, calls, windowMs } = rule;
      const subject = { tool, tenant: about, session: `${about}\n${sessionId ?? runId}` }[per];
      const key = createHash('sha256')
        .update(JSON.stringify([per, principal.tenant, subject, windowMs]))
        .digest('hex');
      // Limits on the same calls share a counter, so that a call is counted once; the lowest limit applies.
      const other = limits.get(key);
      if (!other || calls < other.calls) limits.set(key, { key, calls, windowMs, rule });
    }
    return [...limits.values()];
  }

  /** Decision while the store is unavailable. */
  private uncounted(tool: string, error: unknown): RateDecision {
    this.logger.warn(`Rate limit check of "${tool}" failed: ${messageOf(error)}`);
    const why = 'calls cannot be counted now';
    const held = this.policies.current.limits.filter(({ matches }) => matches(tool));
    if (held.every(({ whenUncounted }) => whenUncounted === 'allow')) {
      return { note: { policy: NAME, decision: 'allowed', reason: why } };
    }
    const rejected = failedResult(tool, 'TOOL_RATE_LIMITED', `Not executed: ${why}; try again later.`);
    return { note: { policy: NAME, decision: 'limited', reason: why }, rejected };
  }
}

function limited(tool: string, { per, calls, windowMs }: CompiledLimit, resetsAt: number): RateDecision {
  const reason = `${calls} calls in ${windowMs / 1000} s ${OF[per]} are the limit`;
  const resets = new Date(resetsAt).toISOString();
  const error = `Not executed: ${reason}, and it is reached until ${resets}. Do without the call, or try it after that.`;
  const rejected = failedResult(tool, 'TOOL_RATE_LIMITED', error);
  return { note: { policy: NAME, decision: 'limited', reason, resets_at: resetsAt }, rejected };
}

const OF = { tool: 'of this tool', tenant: 'of this tenant', session: 'in this session' };
