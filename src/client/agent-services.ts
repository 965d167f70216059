import type { INestApplicationContext, LoggerService, Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import {
  AgentDecisionService,
  AgentRegistry,
  AgentService,
  DirectCallService,
  UserErasureService,
} from '../agent/index.js';
import { AppError } from '../errors/index.js';
import { ExtensionLoader, OwnEventRegistry, RunReportService } from '../extension/index.js';
import { McpRegistry, McpServerService } from '../mcp/index.js';
import { RunFileService, RunService } from '../run/index.js';
import { MemoryFactory, SessionAdminService, SessionService } from '../session/index.js';
import { AccessLogService } from '../security/index.js';
import { SecurityPolicies } from '../tool-policy/index.js';
import { type OwnedStates, StatefulToolSessions, ToolStateService } from '../tool-state/index.js';
import { ToolExplorer, ToolRegistry } from '../tool/index.js';
import { WorkflowRegistry, WorkflowService } from '../workflow/index.js';
import { AgentSessions } from './agent-sessions.client.js';
import type { Principal } from '../kernel/index.js';

/** The services of an agent's application. Each getter throws AppError `SHUTTING_DOWN` after `close`. */
export class AgentServices {
  private closing: Promise<void> | null = null;
  /** Available also during `close`. */
  readonly runs: RunService;

  constructor(private readonly application: INestApplicationContext) {
    this.runs = application.get(RunService, { strict: false });
  }

  get agents(): AgentService {
    return this.get(AgentService);
  }

  get registry(): AgentRegistry {
    return this.get(AgentRegistry);
  }

  get decisions(): AgentDecisionService {
    return this.get(AgentDecisionService);
  }

  get directCalls(): DirectCallService {
    return this.get(DirectCallService);
  }

  get workflows(): WorkflowService {
    return this.get(WorkflowService);
  }

  get workflowRegistry(): WorkflowRegistry {
    return this.get(WorkflowRegistry);
  }

  get files(): RunFileService {
    return this.get(RunFileService);
  }

  get memories(): MemoryFactory {
    return this.get(MemoryFactory);
  }

  get tools(): ToolRegistry {
    return this.get(ToolRegistry);
  }

  get toolExplorer(): ToolExplorer {
    return this.get(ToolExplorer);
  }

  get toolSessions(): StatefulToolSessions {
    return this.get(StatefulToolSessions);
  }

  get mcp(): McpServerService {
    return this.get(McpServerService);
  }

  get mcpRegistry(): McpRegistry {
    return this.get(McpRegistry);
  }

  get extensions(): ExtensionLoader {
    return this.get(ExtensionLoader);
  }

  get events(): OwnEventRegistry {
    return this.get(OwnEventRegistry);
  }

  get policies(): SecurityPolicies {
    return this.get(SecurityPolicies);
  }

  statesOf(principal: Principal): OwnedStates {
    return this.get(ToolStateService).of(principal);
  }

  get reports(): RunReportService {
    return this.get(RunReportService);
  }

  get access(): AccessLogService {
    return this.get(AccessLogService);
  }

  sessionsOf(principal: Principal): AgentSessions {
    return new AgentSessions(principal, {
      sessions: this.get(SessionService),
      admin: this.get(SessionAdminService),
      users: this.get(UserErasureService),
      access: this.access,
    });
  }

  /** Replaces Nest's logger, which all applications of the process share. */
  useLogger(logger: LoggerService): void {
    this.application.useLogger(logger);
  }

  /** An instance of a class, with its dependencies. */
  create(type: Type<object>): Promise<object> {
    return this.get(ModuleRef).create(type);
  }

  /** Every call returns the same promise. */
  close(): Promise<void> {
    this.closing ??= this.application.close();
    return this.closing;
  }

  private get<T>(type: abstract new (...args: never[]) => T): T {
    if (!this.closing) return this.application.get<T>(type, { strict: false });
    throw new AppError('SHUTTING_DOWN', 'The agent is closed: create another one with createAgent().');
  }
}
