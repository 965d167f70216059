import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { ModelCapabilities } from '../../llm/chat/index.js';
import type { CallRules, SecurityPolicies } from '../../tool-policy/index.js';
import type { ToolExecutor } from '../../tool/index.js';
import type { Tool } from '../../tool/method/index.js';
import { NativeProtocol } from '../protocols/native.protocol.js';
import type { DecodedReply, Protocol } from '../protocols/protocol.js';
import { ReactProtocol } from '../protocols/react/react.protocol.js';
import { XmlProtocol } from '../protocols/xml/xml.protocol.js';
import type { Loop } from '../reasoning.types.js';
import { asApproved, FormatResultsProcessor } from './format-results.processor.js';
import { describeScripts } from '../script/script-tool.factory.js';
import { AskModelProcessor } from './ask-model.processor.js';
import { CallDecider } from './call-decider.executor.js';
import { CallExecutor } from './call.executor.js';
import { ContinueOrFinishProcessor } from './continue-or-finish.processor.js';
import { ExecuteToolsProcessor } from './execute-tools.processor.js';
import { Processor } from './processor.js';
import { TeeStreamProcessor } from './tee-stream.processor.js';

/**
 * Builds the system prompt: instructions, then the protocol's description of tools and format. To customize it, extend
 * this class and pass it as `promptBuilder`.
 */
@Injectable()
export class PromptBuilder {
  build(instructions: string, tools: readonly Tool[], protocol: Protocol): string {
    return [instructions, tools.length > 0 ? protocol.describeTools(tools) : '']
      .filter((part) => part !== '')
      .join('\n\n');
  }
}

/** Builds the system prompt, once per execution, and again after deferred tools were found. */
export class PrepareToolsProcessor extends Processor {
  readonly name = 'prepare-tools';

  constructor(private readonly prompts: PromptBuilder) {
    super();
  }

  async process(loop: Loop): Promise<void> {
    const { tools } = loop.request;
    if (loop.describedTools === tools) return;
    loop.describedTools = tools;
    const prompt = this.prompts.build(loop.request.instructions, tools, loop.protocol);
    const scripts = loop.request.isCodeMode ? describeScripts(tools) : '';
    loop.instructions = scripts === '' ? prompt : `${prompt}\n\n${scripts}`;
  }
}

/**
 * Appends the reply's message, with its calls, to the turn. If a person edited a call, the turn has the model's
 * arguments; the executed call has the edited ones.
 */
export class ExtractCallsProcessor extends Processor {
  readonly name = 'extract-calls';

  async process(loop: Loop): Promise<void> {
    loop.decoded = withEdits(loop, loop.decoded!);
    loop.turn.push(loop.decoded.message);
    loop.results = new Map();
    loop.waiting = new Map();
  }
}

function withEdits({ run, iteration, version }: Loop, decoded: DecodedReply): DecodedReply {
  const calls = decoded.calls.map((call, index) => asApproved(run, call, `${iteration}:${index + 1}`));
  if (calls.every((call, index) => call === decoded.calls[index])) return decoded;
  // In version 1 the edited call replaced the model's call.
  return version === 1
    ? { ...decoded, calls, message: { ...decoded.message, toolCalls: calls } }
    : { ...decoded, calls };
}

/** A custom processor, placed directly before or after the named one. */
export interface PlacedProcessor {
  readonly processor: Processor;
  readonly side: 'before' | 'after';
  readonly name: string;
}

/** Dependencies of the stages. */
export interface PipelineServices {
  readonly tools: ToolExecutor;
  readonly policies: SecurityPolicies;
  /** `null` if calls are not counted, and no approval covers later calls. */
  readonly rules: CallRules | null;
}

/** The seven stages in order, with the placed processors inserted in the given order. */
export function createPipeline(
  prompts: PromptBuilder,
  { tools, policies, rules }: PipelineServices,
  placed: readonly PlacedProcessor[] = [],
): readonly Processor[] {
  const preparation = new PrepareToolsProcessor(prompts);
  const stages: readonly Processor[] = [
    preparation,
    new AskModelProcessor(),
    new TeeStreamProcessor(policies, preparation),
    new ExtractCallsProcessor(),
    new ExecuteToolsProcessor(new CallExecutor(tools, new CallDecider(tools, rules), policies), tools),
    new FormatResultsProcessor(),
    new ContinueOrFinishProcessor(),
  ];
  return placed.reduce(withProcessor, stages);
}

/** The pipeline with one more stage. @throws AppError `CONFIG_INVALID` if the named stage does not exist */
export function withProcessor(
  pipeline: readonly Processor[],
  { processor, side, name }: PlacedProcessor,
): readonly Processor[] {
  const at = pipeline.findIndex((stage) => stage.name === name);
  if (at < 0) {
    const known = pipeline.map((stage) => stage.name).join(', ');
    throw new AppError(
      'CONFIG_INVALID',
      `The processor "${processor.name}" cannot be put ${side} "${name}"; there is: ${known}.`,
    );
  }
  return pipeline.toSpliced(side === 'before' ? at : at + 1, 0, processor);
}

@Injectable()
export class ProtocolRegistry {
  private readonly protocols = new Map<string, Protocol>(
    [new NativeProtocol(), new ReactProtocol(), new XmlProtocol()].map((protocol) => [protocol.name, protocol]),
  );

  /** Until version 3 of the loop, `<think>` was text under native calling. */
  private readonly olderNative = new NativeProtocol(false);

  /**
   * @param loopVersion version of the recorded run; the current one by default
   * @throws AppError `AGENT_INVALID` for an unknown name
   */
  get(name: string, loopVersion = Number.POSITIVE_INFINITY): Protocol {
    if (name === this.olderNative.name && loopVersion < 4) return this.olderNative;
    const protocol = this.protocols.get(name);
    if (protocol) return protocol;
    const known = [...this.protocols.keys()].join(', ');
    throw new AppError('AGENT_INVALID', `There is no protocol "${name}"; there is: ${known}.`);
  }
}

/** The protocol of `auto`: `native` if the model supports it, else text that every model can write. */
export function protocolFor({ functionCalling }: ModelCapabilities): string {
  return functionCalling ? 'native' : 'react';
}
