import { Module } from '@nestjs/common';
import { LlmModule } from '../llm/index.js';
import { RunModule } from '../run/index.js';
import { ScheduleModule } from '../schedule/index.js';
import { SessionModule } from '../session/index.js';
import { ToolModule } from '../tool/index.js';
import { ToolStateModule } from '../tool-state/index.js';
import { WebhookModule } from '../webhook/index.js';
import { AccessLogController } from './access-log.controller.js';
import { ApprovalController } from './approval.controller.js';
import { CallerController } from './caller.controller.js';
import { AgentController } from './agent.controller.js';
import { ChatController } from './chat.controller.js';
import { ChatService } from './chat.service.js';
import { ErasureController } from './erasure.controller.js';
import { EvalController } from './eval.controller.js';
import { FeedbackController } from './feedback.controller.js';
import { EventStreamService, HeartbeatRegistry } from './event-stream.service.js';
import { IdempotentCreationService } from './idempotent-creation.service.js';
import { KeyController } from './key.controller.js';
import { McpController } from './mcp.controller.js';
import { RunStreamService } from './run-stream.service.js';
import { RunDecisionController } from './run-decision.controller.js';
import { RunFileController } from './run-file.controller.js';
import { RunForkRequestService } from './run-fork-request.service.js';
import { RunForkController } from './run-fork.controller.js';
import { RunJournalController } from './run-journal.controller.js';
import { RunChangeController } from './run-change.controller.js';
import { RunListController } from './run-list.controller.js';
import { RunController } from './run.controller.js';
import { ScheduleController } from './schedule.controller.js';
import { SessionController } from './session.controller.js';
import { SkillController } from './skill.controller.js';
import { ToolCallController } from './tool-call.controller.js';
import { ToolStateController } from './tool-state.controller.js';
import { ToolController } from './tool.controller.js';
import { UsageController } from './usage.controller.js';
import { WaitingController } from './waiting.controller.js';
import { WebhookController } from './webhook.controller.js';
import { WorkflowController } from './workflow.controller.js';
import { WorkflowRunService } from './workflow-run.service.js';

/** The routes of the REST API for an application, which authenticates its callers itself and so has no API keys. */
export const REST_ROUTES = {
  imports: [LlmModule, RunModule, ScheduleModule, SessionModule, ToolModule, ToolStateModule, WebhookModule],
  controllers: [
    ChatController,
    AgentController,
    CallerController,
    RunListController,
    RunChangeController,
    RunController,
    RunJournalController,
    RunFileController,
    RunForkController,
    RunDecisionController,
    EvalController,
    FeedbackController,
    ApprovalController,
    WaitingController,
    ErasureController,
    ScheduleController,
    SessionController,
    SkillController,
    ToolController,
    ToolCallController,
    ToolStateController,
    McpController,
    AccessLogController,
    UsageController,
    WebhookController,
    WorkflowController,
  ],
  providers: [
    ChatService,
    RunStreamService,
    EventStreamService,
    HeartbeatRegistry,
    RunForkRequestService,
    WorkflowRunService,
    IdempotentCreationService,
  ],
};

@Module({
  ...REST_ROUTES,
  controllers: [...REST_ROUTES.controllers, KeyController],
  exports: [EventStreamService],
})
export class ApiModule {}
