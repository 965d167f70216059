import { Inject, Injectable, Optional } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import {
  FixedWindowPolicy,
  LruPolicy,
  SlidingWindowPolicy,
  SummaryPolicy,
  TokenBudgetPolicy,
} from './memory-policies.js';
import type { MemoryPolicy } from './memory-policy.js';
import { OWN_MEMORIES, type OwnMemories, type OwnMemory } from './own-memory.types.js';

/** The memory policies that agents may name, and the memories of the application, which share their names. */
@Injectable()
export class MemoryPolicyRegistry {
  private readonly policies = new Map<string, MemoryPolicy>();

  private readonly memories: ReadonlyMap<string, OwnMemory>;

  /** @throws AppError `MEMORY_POLICY_INVALID` for a memory without `open`, or with the name of a policy */
  constructor(@Optional() @Inject(OWN_MEMORIES) memories: OwnMemories = {}) {
    this.memories = new Map(Object.entries(memories));
    const own = [
      new SlidingWindowPolicy(),
      new FixedWindowPolicy(),
      new LruPolicy(),
      new TokenBudgetPolicy(),
      new SummaryPolicy(),
    ];
    for (const policy of own) this.register(policy);
    for (const [name, memory] of this.memories) assertMemory(name, memory);
  }

  /** Adds a custom policy. @throws AppError `MEMORY_POLICY_INVALID` if the name is in use */
  register(policy: MemoryPolicy): void {
    if (this.policies.has(policy.name) || this.memories.has(policy.name)) {
      throw new AppError('MEMORY_POLICY_INVALID', `There is a memory policy "${policy.name}" already.`);
    }
    this.policies.set(policy.name, policy);
  }

  /** @throws AppError `MEMORY_POLICY_INVALID` */
  get(name: string): MemoryPolicy {
    const policy = this.policies.get(name);
    if (policy) return policy;
    const fault = this.memories.has(name)
      ? `"${name}" is a memory, and this needs a memory policy`
      : `There is no memory policy "${name}"`;
    throw new AppError('MEMORY_POLICY_INVALID', `${fault}; there are ${[...this.policies.keys()].join(', ')}.`);
  }

  /** A memory of the application. */
  own(name: string): OwnMemory | undefined {
    return this.memories.get(name);
  }

  /** @throws AppError `MEMORY_POLICY_INVALID` if the name is that of no policy and of no memory */
  assertKnown(name: string): void {
    if (this.policies.has(name) || this.memories.has(name)) return;
    const names = [...this.policies.keys(), ...this.memories.keys()].join(', ');
    throw new AppError('MEMORY_POLICY_INVALID', `There is no memory policy "${name}"; there are ${names}.`);
  }
}

const FIELDS: ReadonlySet<string> = new Set<keyof OwnMemory>(['open', 'isOfSession']);

function assertMemory(name: string, memory: unknown): void {
  const { open, isOfSession, ...others } = (memory ?? {}) as Partial<Record<string, unknown>>;
  const [unknown] = Object.keys(others);
  const fault =
    typeof open !== 'function'
      ? 'has no function `open`, which returns a Memory'
      : unknown !== undefined
        ? `has an unknown field "${unknown}" (known: ${[...FIELDS].join(', ')})`
        : undefined;
  if (fault === undefined && (isOfSession === undefined || typeof isOfSession === 'boolean')) return;
  const message = `memories.${name} ${fault ?? 'has an isOfSession that is neither true nor false'}.`;
  throw new AppError('MEMORY_POLICY_INVALID', message);
}
