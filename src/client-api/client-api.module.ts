import { Module } from '@nestjs/common';
import { ApiModule } from '../api/index.js';
import { RunModule } from '../run/index.js';
import { SessionModule } from '../session/index.js';
import { ToolModule } from '../tool/index.js';
import { AgUiController } from './ag-ui/ag-ui.controller.js';
import { AgUiResumeService } from './ag-ui/ag-ui-resume.service.js';
import { AgUiRunService } from './ag-ui/ag-ui-run.service.js';
import { AgUiService } from './ag-ui/ag-ui.service.js';
import { AgUiWaitService } from './ag-ui/ag-ui-wait.service.js';
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

@Module({
  imports: [ApiModule, RunModule, SessionModule, ToolModule],
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
    AgUiResumeService,
    AgUiWaitService,
    UiStreamService,
    UiChatService,
  ],
})
export class ClientApiModule {}
