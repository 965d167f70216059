import { ProcessorRegistry } from '../../src/reasoning/loop/processor.registry.js';
import { PromptBuilder, ProtocolRegistry } from '../../src/reasoning/loop/pipeline.js';
import { ReasoningEngine } from '../../src/reasoning/reasoning.engine.js';
import { type CallRules, SecurityPolicies } from '../../src/tool-policy/index.js';
import type { ToolExecutor } from '../../src/tool/index.js';
import { toolExecutor } from './tool-parts.js';

interface EngineParts {
  readonly executor?: ToolExecutor;
  readonly processors?: ProcessorRegistry;
  readonly policies?: SecurityPolicies;
  readonly rules?: CallRules | null;
}

/** A reasoning engine without an application. */
export function reasoningEngine(parts: EngineParts = {}): ReasoningEngine {
  const { executor = toolExecutor(), processors = new ProcessorRegistry() } = parts;
  const { policies = new SecurityPolicies(), rules = null } = parts;
  return new ReasoningEngine(new ProtocolRegistry(), new PromptBuilder(), executor, processors, policies, rules);
}
