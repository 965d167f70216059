import { type DynamicModule, Module } from '@nestjs/common';
import { AppError } from '../../errors/index.js';

export const TOOL_ENHANCER_KINDS = ['guards', 'interceptors', 'pipes', 'filters'] as const;
export type ToolEnhancerKind = (typeof TOOL_ENHANCER_KINDS)[number];

export interface ToolEnhancerOptions {
  /**
   * Kinds of global enhancers (`APP_GUARD`, `app.useGlobalPipes(…)` and the like) that also run for tool calls; by default
   * none. Those bound to a tool's method or class always run. docs/tools.md.
   */
  readonly toolEnhancers?: readonly ToolEnhancerKind[];
}

export const TOOL_ENHANCERS = Symbol('TOOL_ENHANCERS');

/** Provides the kinds of global enhancers that run for tool calls; without it none does. */
@Module({})
export class ToolEnhancerModule {
  /** @throws AppError `CONFIG_INVALID` for an unknown kind */
  static forRoot({ toolEnhancers: kinds = [] }: ToolEnhancerOptions): DynamicModule {
    const known: readonly unknown[] = TOOL_ENHANCER_KINDS;
    if (!Array.isArray(kinds) || !kinds.every((kind) => known.includes(kind))) {
      throw new AppError(
        'CONFIG_INVALID',
        `toolEnhancers is ${JSON.stringify(kinds)}: give a list of ${TOOL_ENHANCER_KINDS.join(', ')}.`,
      );
    }
    return {
      module: ToolEnhancerModule,
      global: true,
      providers: [{ provide: TOOL_ENHANCERS, useValue: kinds }],
      exports: [TOOL_ENHANCERS],
    };
  }
}
