import { Module } from '@nestjs/common';
import { BuiltinTools } from './builtin.tool.js';
import { Clock } from './clock.js';
import { StringTools } from './string.tool.js';

@Module({ providers: [BuiltinTools, StringTools, Clock] })
export class BuiltinToolModule {}
