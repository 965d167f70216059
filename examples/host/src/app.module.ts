import { Module } from '@nestjs/common';
import { AssistantModule } from './assistant/assistant.module.js';
import { LibraryModule } from './library.module.js';

@Module({ imports: [LibraryModule, AssistantModule] })
export class AppModule {}
