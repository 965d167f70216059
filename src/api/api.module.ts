import { Module } from '@nestjs/common';
import { RunModule } from '../run/index.js';
import { SessionModule } from '../session/index.js';
import { ChatController } from './chat.controller.js';
import { ChatService } from './chat.service.js';
import { EventStreamService } from './event-stream.service.js';
import { RunStreamService } from './run-stream.service.js';
import { RunController } from './run.controller.js';
import { SessionController } from './session.controller.js';

@Module({
  imports: [RunModule, SessionModule],
  controllers: [ChatController, RunController, SessionController],
  providers: [ChatService, RunStreamService, EventStreamService],
})
export class ApiModule {}
