import { Module } from '@nestjs/common';
import { ApiModule } from '../api/index.js';
import { RunModule } from '../run/index.js';
import { ToolModule } from '../tool/index.js';
import { ChatCompletionService } from './openai/chat-completion.service.js';
import { ClientRunService } from './client-run.service.js';
import { ModelListService } from './openai/model-list.service.js';
import { OpenAiApiController } from './openai/openai-api.controller.js';

@Module({
  imports: [ApiModule, RunModule, ToolModule],
  controllers: [OpenAiApiController],
  providers: [ClientRunService, ChatCompletionService, ModelListService],
})
export class ClientApiModule {}
