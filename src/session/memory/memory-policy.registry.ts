import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import {
  FixedWindowPolicy,
  LruPolicy,
  SlidingWindowPolicy,
  SummaryPolicy,
  TokenBudgetPolicy,
} from './memory-policies.js';
import type { MemoryPolicy } from './memory-policy.js';

/** The memory policies that agents may name. */
@Injectable()
export class MemoryPolicyRegistry {
  private readonly policies = new Map<string, MemoryPolicy>();

  constructor() {
    const own = [
      new SlidingWindowPolicy(),
      new FixedWindowPolicy(),
      new LruPolicy(),
      new TokenBudgetPolicy(),
      new SummaryPolicy(),
    ];
    for (const policy of own) this.register(policy);
  }

  /** Adds a custom policy. @throws AppError `MEMORY_POLICY_INVALID` if the name is in use */
  register(policy: MemoryPolicy): void {
    if (this.policies.has(policy.name)) {
      throw new AppError('MEMORY_POLICY_INVALID', `There is a memory policy "${policy.name}" already.`);
    }
    this.policies.set(policy.name, policy);
  }

  /** @throws AppError `MEMORY_POLICY_INVALID` */
  get(name: string): MemoryPolicy {
    const policy = this.policies.get(name);
    if (policy) return policy;
    throw new AppError(
      'MEMORY_POLICY_INVALID',
      `There is no memory policy "${name}"; there are ${[...this.policies.keys()].join(', ')}.`,
    );
  }
}
