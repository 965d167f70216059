import { type DynamicModule, Module, type ModuleMetadata, type Provider } from '@nestjs/common';
import { ApiModule } from '../api/index.js';
import type { CompatibleApiConfig } from '../config/namespaces/index.js';
import { RunModule } from '../run/index.js';
import { SessionModule } from '../session/index.js';
import { ToolModule } from '../tool/index.js';
import { A2aController } from './a2a/a2a.controller.js';
import { A2aMessageService } from './a2a/a2a-message.service.js';
import { A2aRestController } from './a2a/a2a-rest.controller.js';
import { A2aReplyService } from './a2a/a2a-reply.service.js';
import { A2aService } from './a2a/a2a.service.js';
import { A2aTaskService } from './a2a/a2a-task.service.js';
import { AgentCardController, PublicAgentCardController } from './a2a/agent-card.controller.js';
import { AgUiController } from './ag-ui/ag-ui.controller.js';
import { RunResumeService } from './interrupts/run-resume.service.js';
import { AgUiRunService } from './ag-ui/ag-ui-run.service.js';
import { AgUiService } from './ag-ui/ag-ui.service.js';
import { RunWaitService } from './interrupts/run-wait.service.js';
import { RunWatchService } from './interrupts/run-watch.service.js';
import { ChatCompletionService } from './openai/chat-completion.service.js';
import { ClientOriginService } from './client-origin.service.js';
import { ClientWatchService } from './client-watch.service.js';
import { ConversationService } from './openai/responses/conversation.service.js';
import { ConversationsController } from './openai/responses/conversations.controller.js';
import { ResponseAdminService } from './openai/responses/response-admin.service.js';
import { ResponseHistoryService } from './openai/responses/response-history.service.js';
import { ResponseStartService } from './openai/responses/response-start.service.js';
import { ResponseService } from './openai/responses/response.service.js';
import { ResponsesController } from './openai/responses/responses.controller.js';
import { ClientRunService } from './client-run.service.js';
import { ModelListService } from './openai/model-list.service.js';
import { OpenAiApiController } from './openai/openai-api.controller.js';
import { UiChatService } from './ui-stream/ui-chat.service.js';
import { UiStreamController } from './ui-stream/ui-stream.controller.js';
import { UiStreamService } from './ui-stream/ui-stream.service.js';

/** The common services of the protocols. */
const COMMON: readonly Provider[] = [RunResumeService, RunWaitService, RunWatchService];

const COMPATIBLE: Protocols = {
  controllers: [OpenAiApiController, ResponsesController, ConversationsController, AgUiController, UiStreamController],
  providers: [
    ClientRunService,
    ClientWatchService,
    ClientOriginService,
    ChatCompletionService,
    ModelListService,
    ResponseStartService,
    ResponseService,
    ResponseHistoryService,
    ResponseAdminService,
    ConversationService,
    AgUiService,
    AgUiRunService,
    UiStreamService,
    UiChatService,
  ],
};

const A2A: Protocols = {
  controllers: [A2aController, A2aRestController],
  providers: [A2aService, A2aMessageService, A2aTaskService, A2aReplyService],
};

type Protocols = Required<Pick<ModuleMetadata, 'controllers' | 'providers'>>;

/** The protocols that the configuration enables. */
@Module({})
export class ClientApiModule {
  static forRoot({ isEnabled, hasA2a, areCardsPublic }: CompatibleApiConfig): DynamicModule {
    const protocols = [...(isEnabled ? [COMPATIBLE] : []), ...(hasA2a ? [A2A] : [])];
    const cards = hasA2a ? [areCardsPublic ? PublicAgentCardController : AgentCardController] : [];
    return {
      module: ClientApiModule,
      imports: [ApiModule, RunModule, SessionModule, ToolModule],
      controllers: [...protocols.flatMap(({ controllers }) => controllers), ...cards],
      providers: [...COMMON, ...protocols.flatMap(({ providers }) => providers)],
    };
  }
}
