import type { FactoryProvider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { AgentService, DirectCallService, UserErasureService } from '../agent/index.js';
import { AgentDecisionService } from '../agent/decision/index.js';
import { AgentRegistry } from '../agent/definition/index.js';
import { ExtensionLoader, OwnEventRegistry, RunReportService } from '../extension/index.js';
import { McpRegistry, McpServerService } from '../mcp/index.js';
import { RunService } from '../run/index.js';
import { RunFileService } from '../run/files/index.js';
import { SessionAdminService, SessionService } from '../session/index.js';
import { MemoryFactory } from '../session/memory/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { SecurityPolicies } from '../tool-policy/index.js';
import { StatefulToolSessions, ToolStateService } from '../tool-state/index.js';
import { ToolRegistry } from '../tool/index.js';
import { ToolExplorer } from '../tool/method/index.js';
import { WorkflowRegistry, WorkflowService } from '../workflow/index.js';

const SERVICES = {
  agents: AgentService,
  registry: AgentRegistry,
  decisions: AgentDecisionService,
  directCalls: DirectCallService,
  users: UserErasureService,
  runs: RunService,
  files: RunFileService,
  workflows: WorkflowService,
  workflowRegistry: WorkflowRegistry,
  sessions: SessionService,
  sessionAdmin: SessionAdminService,
  memories: MemoryFactory,
  tools: ToolRegistry,
  toolExplorer: ToolExplorer,
  toolSessions: StatefulToolSessions,
  toolStates: ToolStateService,
  mcp: McpServerService,
  mcpRegistry: McpRegistry,
  extensions: ExtensionLoader,
  events: OwnEventRegistry,
  reports: RunReportService,
  policies: SecurityPolicies,
  access: AccessLogService,
  modules: ModuleRef,
} as const;

/** The services of an agent's application. */
export type AgentServices = { readonly [Name in keyof typeof SERVICES]: InstanceType<(typeof SERVICES)[Name]> };

export const AGENT_SERVICES = Symbol('AGENT_SERVICES');

/** Provides them to the root module of the application, which imports `JackdawModule`. */
export const agentServicesProvider: FactoryProvider<AgentServices> = {
  provide: AGENT_SERVICES,
  useFactory: (...services: readonly unknown[]) =>
    Object.fromEntries(Object.keys(SERVICES).map((name, at) => [name, services[at]])) as AgentServices,
  inject: Object.values(SERVICES),
};
