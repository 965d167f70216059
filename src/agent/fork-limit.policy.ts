import { fieldMistake, type FieldMistake } from '../kernel/index.js';
import type { MemoryRules } from '../session/memory/index.js';
import type { AgentDefinition } from './definition/agent-definition.schema.js';

type Memory = Pick<AgentDefinition, 'model' | 'memory'>;

/**
 * The limits that a fork's definition exceeds. Of several limiting definitions, the greatest value of each limit counts.
 * @param memoryRules the memory rules of an agent, with the default limits
 */
export function limitExcesses(
  fork: AgentDefinition,
  limiting: readonly AgentDefinition[],
  memoryRules: (of: Memory) => MemoryRules,
): FieldMistake[] {
  const { model } = fork;
  const memory = memoryRules(fork);
  const allowedMemory = limiting.map((one) => memoryRules({ memory: one.memory, model }));
  const limitNames = ['maxIterations', 'runTimeoutMs', 'maxResultBytes', 'maxDepth'] as const;
  const memoryNames = ['maxMessages', 'maxContextTokens'] as const;
  const limits: readonly (readonly [field: string, value: number | undefined, allowed: number])[] = [
    ...limitNames.map((name) => {
      return [`agent.limits.${name}`, fork.limits[name], most(limiting, (one) => one.limits[name])] as const;
    }),
    ...memoryNames.map((name) => {
      return [`agent.memory.${name}`, memory[name], most(allowedMemory, (one) => one[name])] as const;
    }),
    ['model.parameters.maxTokens', model.parameters.maxTokens, most(limiting, (one) => one.model.parameters.maxTokens)],
  ];
  return limits.flatMap(([name, value = 0, allowed]) => {
    if (value <= allowed) return [];
    const message = `it may be ${allowed} at most, as in the definition of the agent "${fork.name}"`;
    return [fieldMistake(`edit.${name}`, message, 'max', value)];
  });
}

function most<T>(of: readonly T[], limit: (one: T) => number | undefined): number {
  return Math.max(...of.map((one) => limit(one) ?? Infinity));
}
