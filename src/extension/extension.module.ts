import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { LlmModule } from '../llm/index.js';
import { RunModule } from '../run/index.js';
import { SessionModule } from '../session/index.js';
import { ToolModule } from '../tool/index.js';
import { OwnEventRegistry } from './events/own-event.registry.js';
import { ExtensionHostFactory, LastingHostFactory } from './extension-host.factory.js';
import { ExtensionLoader } from './extension.loader.js';

@Module({
  imports: [DiscoveryModule, LlmModule, ToolModule, RunModule, SessionModule],
  providers: [LastingHostFactory, ExtensionHostFactory, ExtensionLoader, OwnEventRegistry],
  exports: [ExtensionLoader, OwnEventRegistry],
})
export class ExtensionModule {}
