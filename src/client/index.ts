/** Jackdaw without HTTP: `createAgent`, `AgentBuilder`, and additions of an application's modules. */
export { AgentBuilder, createAgent, openAgent } from './agent.builder.js';
export { Agent } from './agent.client.js';
export { IterationLimitError } from './agent-reply.mapper.js';
export type { ChatOptions, ChatReply, ChatStreamOptions } from './agent-reply.mapper.js';
export type { ChatMessage, ChatPart } from './chat-message.mapper.js';
export { AgentSession } from './agent-session.client.js';
export { AgentSessions } from './agent-sessions.client.js';
export type { CreateAgentOptions, McpChoice, MemoryPersistence } from './create-agent-options.js';
export type { AgentEvents } from './agent-events.client.js';
