import { Module } from '@nestjs/common';
import { ToolModule } from '../tool/index.js';
import { PromptBuilder } from './prompt.builder.js';
import { ProtocolRegistry } from './protocols/protocol.registry.js';
import { ReasoningEngine } from './reasoning.engine.js';

@Module({
  imports: [ToolModule],
  providers: [ReasoningEngine, PromptBuilder, ProtocolRegistry],
  exports: [ReasoningEngine, ProtocolRegistry],
})
export class ReasoningModule {}
