import { Module } from '@nestjs/common';
import { BuiltinTools } from './builtin.tool.js';
import { Clock } from './clock.js';

@Module({ providers: [BuiltinTools, Clock] })
export class BuiltinToolModule {}
