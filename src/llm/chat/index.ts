/** The port of chat models: messages, requests, results and streams. */
export { ChatModel, ModelWrapper } from './chat-model.js';
export type {
  AgentBudgets,
  CallAccount,
  CallOptions,
  ChatRequest,
  ChatResult,
  ChatStreamPart,
  FinishReason,
  ModelCapabilities,
  ModelParameters,
  OwnBudget,
  ParameterLimits,
  ParameterName,
  ResponseFormat,
  ToolChoice,
  ToolSpec,
  Usage,
} from './chat.types.js';
export type {
  AssistantMessage,
  ContentPart,
  ImagePart,
  Message,
  SignedReasoning,
  SystemMessage,
  ToolCall,
  ToolMessage,
  UserMessage,
} from './message.types.js';
export type { ModelSwitch } from './chat.types.js';
export type { ImageLimits } from './chat.types.js';
