import { Module } from '@nestjs/common';
import { BuiltinTools } from './builtin.tool.js';
import { Clock } from './clock.js';
import { SequentialThinkingTools } from './sequential-thinking.tool.js';
import { StringTools } from './string.tool.js';

@Module({ providers: [BuiltinTools, StringTools, SequentialThinkingTools, Clock] })
export class BuiltinToolModule {}
