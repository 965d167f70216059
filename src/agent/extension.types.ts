import type { ModelFactory } from '../llm/index.js';
import type { Processor, ProcessorPlace } from '../reasoning/index.js';
import type { RunEventPattern, RunNoticeListener } from '../run/index.js';
import type { MemoryPolicy } from '../session/index.js';
import type { Tool, ToolPolicy, ToolRegistration } from '../tool/index.js';
import type { AgentDefinitionInput } from './agent-definition.schema.js';

/** What an extension may do to the agents. It may be kept, and used later too. */
export interface ExtensionHost {
  /** @throws AppError `TOOL_DUPLICATE`, `TOOL_INVALID` */
  registerTool(tool: Tool | ToolRegistration): void;
  /** @throws AppError `TOOL_INVALID` when the name is taken */
  registerToolPolicy(policy: ToolPolicy): void;
  /** Puts a stage into the loop: `registerProcessor(redact, { before: 'format-results' })`. @throws AppError `CONFIG_INVALID` */
  registerProcessor(processor: Processor, place: ProcessorPlace): void;
  /** @throws AppError `MEMORY_POLICY_INVALID` when the name is taken */
  registerMemoryPolicy(policy: MemoryPolicy): void;
  /** Adds a provider of models, also for the agent of the environment. @throws AppError `CONFIG_INVALID` when the name is taken */
  registerModelFactory(factory: ModelFactory): void;
  /** Adds an agent; the default stays the default. @throws AppError `AGENT_INVALID` */
  registerAgent(definition: AgentDefinitionInput): void;
  /**
   * Hears what the runs tell that are executed by this process, once, after it is durable: `on('tool.*', listener)`. Nobody waits for
   * the listener, and what it throws is logged.
   * @returns a function that ends it
   */
  on<P extends RunEventPattern>(pattern: P, listener: RunNoticeListener<P>): () => void;
}
