import type { ModelFactory } from '../llm/index.js';
import type { Processor, ProcessorPlace } from '../reasoning/index.js';
import type { RunEventPattern, RunNoticeListener } from '../run/follow/index.js';
import type { MemoryPolicy } from '../session/memory/index.js';
import type { ToolRegistration } from '../tool/index.js';
import type { ToolPolicy } from '../tool/decision/index.js';
import type { Tool } from '../tool/method/index.js';
import type { AgentDefinitionInput } from './definition/agent-definition.schema.js';

/** Receives the data of an own event. May be slow, throw or reject. */
export type OwnEventListener<T = unknown> = (data: T) => unknown;

/** Operations that an extension may apply to the agents, at registration or later. */
export interface ExtensionHost {
  /** @throws AppError `TOOL_DUPLICATE`, `TOOL_INVALID` */
  registerTool(tool: Tool | ToolRegistration): void;
  /** @throws AppError `TOOL_INVALID` when the name is taken */
  registerToolPolicy(policy: ToolPolicy): void;
  /**
   * Inserts a stage into the loop: `registerProcessor(redact, { before: 'format-results' })`.
   * @throws AppError `CONFIG_INVALID`
   */
  registerProcessor(processor: Processor, place: ProcessorPlace): void;
  /** @throws AppError `MEMORY_POLICY_INVALID` when the name is taken */
  registerMemoryPolicy(policy: MemoryPolicy): void;
  /**
   * Adds a model provider, also for the agent of the environment.
   * @throws AppError `CONFIG_INVALID` when the name is taken
   */
  registerModelFactory(factory: ModelFactory): void;
  /** Adds an agent; the default agent does not change. @throws AppError `AGENT_INVALID` */
  registerAgent(definition: AgentDefinitionInput): void;
  /**
   * Receives the events of the runs that this process executes, once, after they are durable: `on('tool.*', listener)`.
   * Runs do not wait for the listener; its errors are logged.
   * @returns a function that unsubscribes the listener
   */
  on<P extends RunEventPattern>(pattern: P, listener: RunNoticeListener<P>): () => void;
  /** Receives the own events of a name such as `order.paid`, which `dispatch` emits. */
  on<T = unknown>(event: string, listener: OwnEventListener<T>): () => void;
  /**
   * Emits an own event to the listeners in this process; resolves when all have finished. Their errors are logged.
   * @throws AppError `VALIDATION_FAILED` for the name of a run event
   */
  dispatch(event: string, data?: unknown): Promise<void>;
}

/**
 * Port for extensions: a unit of tools, policies, processors, providers and listeners that is added to agents together.
 * An extension is a Nest provider: it supports injection, `@Tool` and `@OnEvent` methods, and shutdown hooks.
 */
export abstract class Extension {
  /** Unique in the application. */
  abstract readonly name: string;
  /** Version of the extension: `1.4.0`. */
  abstract readonly version: string;
  /**
   * Extensions that must register and boot first: `audit`, or `audit@^1.2.0` for that or a later, compatible version.
   */
  readonly dependencies: readonly string[] = [];

  /** Registers its parts. Called once, after its dependencies have registered. An error fails the boot. */
  register(_agent: ExtensionHost): void | Promise<void> {}

  /** Starts its work. Called once, after all have registered and before runs resume. An error fails the boot. */
  boot(): void | Promise<void> {}
}
