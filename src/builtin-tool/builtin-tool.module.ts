import { type DynamicModule, type FactoryProvider, Module, type Type } from '@nestjs/common';
import { toolConfig, type ToolConfig } from '../config/namespaces/index.js';
import { AppError } from '../errors/index.js';
import { CalculatorTool, Clock, TimestampTool } from './builtin.tool.js';
import { SequentialThinkingTools } from './sequential-thinking.tool.js';
import { StringTools } from './string.tool.js';

type BuiltinToolName = ToolConfig['builtinTools'][number];

const CLASSES: Readonly<Record<BuiltinToolName, Type>> = {
  calculator: CalculatorTool,
  get_timestamp: TimestampTool,
  string_tools: StringTools,
  sequentialthinking: SequentialThinkingTools,
};

/** Names of built-in tools; `true`: those of `BUILTIN_TOOLS`; `false`: none. */
export type BuiltinToolSelection = boolean | readonly BuiltinToolName[];

@Module({})
export class BuiltinToolModule {
  /** @throws AppError `CONFIG_INVALID` for an unknown name */
  static forRoot(selection: BuiltinToolSelection = true): DynamicModule {
    const names = selection === true ? undefined : selection || [];
    const unknown = names?.find((name) => !Object.hasOwn(CLASSES, name));
    if (unknown !== undefined) {
      const known = Object.keys(CLASSES).join(', ');
      throw new AppError('CONFIG_INVALID', `builtinTools: there is no built-in tool "${unknown}"; there are ${known}.`);
    }
    const providers = Object.entries(CLASSES).map(([name, type]) => provide(name as BuiltinToolName, type, names));
    return { module: BuiltinToolModule, providers: [Clock, ...providers] };
  }
}

function provide(name: BuiltinToolName, type: Type, names?: readonly BuiltinToolName[]): FactoryProvider {
  return {
    provide: type,
    // `null` provides no tool.
    useFactory: (config: ToolConfig, clock: Clock): object | null =>
      (names ?? config.builtinTools).includes(name) ? new type(clock) : null,
    inject: [toolConfig.KEY, Clock],
  };
}
