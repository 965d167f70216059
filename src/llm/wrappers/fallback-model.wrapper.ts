import { AppError, type ErrorCode } from '../../errors/index.js';
import { steadyNow } from '../../kernel/index.js';
import { type ChatModel, ModelWrapper } from '../chat/chat-model.js';
import type {
  CallOptions,
  ChatRequest,
  ChatResult,
  ChatStreamPart,
  ModelCapabilities,
  ModelSwitch,
  ParameterName,
} from '../chat/chat.types.js';
import { fitParameters } from '../request-fit.policy.js';
import { noteRetry } from './retrying-model.wrapper.js';

/** Errors after which another model may succeed: retries are used up, the circuit is open, no key is left. */
const SWITCHES: readonly ErrorCode[] = [
  'MODEL_TIMEOUT',
  'MODEL_UNREACHABLE',
  'MODEL_UNAVAILABLE',
  'MODEL_BAD_REPLY',
  'MODEL_RATE_LIMITED',
  'MODEL_AUTHENTICATION',
  'MODEL_CIRCUIT_OPEN',
  'MODEL_BUSY',
];

/** Falls back to other models, in order, if the first one fails. The reply names the model that answered. */
export class FallbackModel extends ModelWrapper {
  private readonly models: readonly ChatModel[];
  private readonly common: ModelCapabilities;

  constructor(first: ChatModel, others: readonly ChatModel[]) {
    super(first);
    this.models = [first, ...others];
    this.common = this.models.map(({ capabilities }) => capabilities).reduce(both);
  }

  /** Common capabilities for the parts of a request that are built once; images are adapted to each model later. */
  override get capabilities(): ModelCapabilities {
    return this.common;
  }

  async generate(request: ChatRequest, options: CallOptions = {}): Promise<ChatResult> {
    const switches: ModelSwitch[] = [];
    for (const [at, model] of this.models.entries()) {
      try {
        return withSwitches(await model.generate(requestTo(at, request), options), switches);
      } catch (error) {
        switches.push(this.switchFrom(at, request, error, options));
      }
    }
    throw new Error('unreachable');
  }

  async *stream(request: ChatRequest, options: CallOptions = {}): AsyncGenerator<ChatStreamPart, void> {
    const switches: ModelSwitch[] = [];
    for (const [at, model] of this.models.entries()) {
      let hasShown = false;
      try {
        for await (const part of model.stream(requestTo(at, request), options)) {
          hasShown = part.type !== 'restart';
          yield part.type === 'finish' ? { type: 'finish', result: withSwitches(part.result, switches) } : part;
        }
        return;
      } catch (error) {
        switches.push(this.switchFrom(at, request, error, options));
        if (hasShown) yield { type: 'restart' };
      }
    }
  }

  /** @throws the error itself if there is no fallback */
  private switchFrom(at: number, request: ChatRequest, error: unknown, options: CallOptions): ModelSwitch {
    const { signal, deadlineAt } = options;
    const [model, next] = [this.models[at]!, this.models[at + 1]];
    const isLate = deadlineAt !== undefined && steadyNow() >= deadlineAt;
    if (!next || signal?.aborted || isLate || !(error instanceof AppError) || !SWITCHES.includes(error.code))
      throw error;
    noteRetry(options, error);
    const dropped = droppedBy(next, request);
    const change = { from: nameOf(model), to: nameOf(next), code: error.code };
    return dropped.length === 0 ? change : { ...change, dropped };
  }
}

/** The parameters of a request are those of the first model: another one may refuse them. */
function requestTo(at: number, request: ChatRequest): ChatRequest {
  if (at === 0 || !request.parameters) return request;
  return { ...request, optionalParameters: Object.keys(request.parameters) as ParameterName[] };
}

/** The parameters that a caller set and that a model does not support. */
function droppedBy({ capabilities }: ChatModel, request: ChatRequest): ParameterName[] {
  const { parameters = {}, optionalParameters = [] } = request;
  const { refused } = fitParameters(parameters, capabilities.parameterLimits);
  return refused.map(({ name }) => name).filter((name) => !optionalParameters.includes(name));
}

function both(a: ModelCapabilities, b: ModelCapabilities): ModelCapabilities {
  return {
    ...a,
    functionCalling: a.functionCalling && b.functionCalling,
    jsonMode: a.jsonMode && b.jsonMode,
    forcedToolChoice: (a.forcedToolChoice ?? true) && (b.forcedToolChoice ?? true),
  };
}

function withSwitches(result: ChatResult, switches: readonly ModelSwitch[]): ChatResult {
  return switches.length === 0 ? result : { ...result, switches };
}

function nameOf({ provider, name }: ChatModel): string {
  return `${provider}:${name}`;
}
