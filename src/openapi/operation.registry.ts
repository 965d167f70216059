/** How an operation appears in the document. */
export interface DocumentedOperation {
  /** Unique in the document. */
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  /** Statuses of its errors beside those that the shape of its request implies. */
  readonly errors?: readonly number[];
}

export const TAGS = {
  Chat: 'Questions to agents.',
  Agents: 'The registered agents.',
  Runs: 'Runs of agents, workflows and tools: status, events, decisions, forks.',
  Sessions: 'Conversations with their messages.',
  Tools: 'The registered tools, and direct calls of them.',
  'Tool states': 'Stored states of stateful tools.',
  'MCP servers': 'Connected MCP servers.',
  MCP: 'The endpoint for MCP clients.',
  Workflows: 'The registered workflows.',
  Schedules: 'Runs at set times.',
  Webhooks: 'Signed requests for run events.',
  Usage: 'Tokens and costs.',
  Keys: 'API keys, and the caller.',
  Privacy: 'Erasure and the access log.',
  Health: 'Status of the server.',
} as const;

/** A model call can fail or time out. */
const OF_MODELS = [422, 502, 504];

const chat = (id: string, errors: readonly number[] = []) =>
  ({ id, tag: 'Chat', errors: [404, 409, 422, ...errors] }) as const;
const run = (id: string, ...errors: number[]) => ({ id, tag: 'Runs', errors }) as const;
const session = (id: string, ...errors: number[]) => ({ id, tag: 'Sessions', errors }) as const;
const tool = (id: string, ...errors: number[]) => ({ id, tag: 'Tools', errors }) as const;
const state = (id: string, ...errors: number[]) => ({ id, tag: 'Tool states', errors }) as const;
const server = (id: string, ...errors: number[]) => ({ id, tag: 'MCP servers', errors }) as const;
const workflow = (id: string, ...errors: number[]) => ({ id, tag: 'Workflows', errors }) as const;

const schedule = (id: string, ...errors: number[]) => ({ id, tag: 'Schedules', errors }) as const;
const webhook = (id: string, ...errors: number[]) => ({ id, tag: 'Webhooks', errors }) as const;

/** The operations of Jackdaw's own controllers, by class and method. */
export const OPERATIONS: Readonly<Record<string, DocumentedOperation>> = {
  'ChatController.chat': chat('chat', OF_MODELS),
  'ChatController.stream': chat('streamChat'),
  'ChatController.submit': chat('startRun'),
  'CallerController.get': { id: 'getCaller', tag: 'Keys' },
  'LoginController.start': { id: 'logIn', tag: 'Keys' },
  'LoginController.end': { id: 'logOut', tag: 'Keys' },
  'AgentController.list': { id: 'listAgents', tag: 'Agents' },
  'AgentController.get': { id: 'getAgent', tag: 'Agents' },
  'SkillController.list': { id: 'listSkills', tag: 'Agents' },
  'RunListController.list': run('listRuns'),
  'RunListController.counts': run('countRuns'),
  'RunChangeController.follow': run('streamRunChanges'),
  'RunController.get': run('getRun', 410),
  'RunController.node': run('getRunNode', 410),
  'RunController.events': run('streamRunEvents', 410),
  'RunController.cancel': run('cancelRun', 409, 410),
  'RunJournalController.page': run('getRunJournal', 410),
  'RunJournalController.export': run('exportRun', 410),
  'RunJournalController.request': run('getStepRequest', 410),
  'RunFileController.get': run('getRunFile'),
  'RunForkController.fork': run('forkRun', 409, 410, 422),
  'RunDecisionController.approve': run('approveRun', 409, 410),
  'RunDecisionController.deny': run('denyRun', 409, 410, 422),
  'RunDecisionController.input': run('answerRun', 409, 410, 422),
  'RunDecisionController.settle': run('settleRun', 409, 410, 422),
  'RunDecisionController.release': run('releaseRun', 409, 410),
  'RunDecisionController.releaseAll': run('releaseRuns'),
  'FeedbackController.give': run('giveFeedback', 410),
  'FeedbackController.withdraw': run('withdrawFeedback', 410),
  'FeedbackController.of': run('getRunFeedback', 410),
  'FeedbackController.list': run('listFeedback'),
  'FeedbackController.summary': run('summariseFeedback'),
  'FeedbackController.dataset': run('getDataset'),
  'WaitingController.list': run('listWaiting'),
  'ApprovalController.list': run('listApprovals'),
  'ApprovalController.revoke': run('revokeApproval'),
  'ErasureController.prune': session('pruneSessions'),
  'ErasureController.erase': { id: 'eraseUser', tag: 'Privacy', errors: [409] },
  'SessionController.list': session('listSessions'),
  'SessionController.create': session('createSession', 404, 409, 422),
  'SessionController.import': session('importSession', 404, 409, 422),
  'SessionController.get': session('getSession'),
  'SessionController.remove': session('deleteSession', 409),
  'SessionController.messages': session('listMessages'),
  'SessionController.clear': session('clearSession', 409),
  'SessionController.metadata': session('getSessionMetadata'),
  'SessionController.setMetadata': session('setSessionMetadata', 409),
  'SessionController.pin': session('pinTurn', 409),
  'SessionController.unpin': session('unpinTurn', 409),
  'SessionController.export': session('exportSession'),
  'ToolController.list': tool('listTools'),
  'ToolController.get': tool('getTool', 409),
  'ToolController.enable': tool('enableTool', 409),
  'ToolController.disable': tool('disableTool', 409),
  'ToolCallController.call': tool('callTool', 409, 422, 502, 504),
  'ToolStateController.list': state('listToolStates'),
  'ToolStateController.get': state('getToolState'),
  'ToolStateController.remove': state('deleteToolState', 409),
  'ToolStateController.history': state('getToolStateHistory'),
  'ToolStateController.versions': state('listToolStateVersions'),
  'ToolStateController.rollback': state('rollBackToolState', 409),
  'McpController.list': server('listMcpServers'),
  'McpController.add': server('addMcpServer', 409),
  'McpController.get': server('getMcpServer'),
  'McpController.remove': server('removeMcpServer'),
  'McpController.reconnect': server('reconnectMcpServer', 409),
  'McpController.accept': server('acceptMcpTool', 409),
  'McpController.acceptAll': server('acceptMcpServer', 409),
  'McpController.resources': server('listMcpResources', 409, 502, 504),
  'McpController.templates': server('listMcpResourceTemplates', 409, 502, 504),
  'McpController.resource': server('readMcpResource', 409, 502, 504),
  'McpController.prompts': server('listMcpPrompts', 409, 502, 504),
  'McpController.prompt': server('getMcpPrompt', 409, 502, 504),
  'KeyController.list': { id: 'listKeys', tag: 'Keys' },
  'KeyController.create': { id: 'createKey', tag: 'Keys', errors: [404, 409, 422] },
  'KeyController.revoke': { id: 'revokeKey', tag: 'Keys' },
  'ScheduleController.create': schedule('createSchedule', 404, 409, 422),
  'ScheduleController.list': schedule('listSchedules'),
  'ScheduleController.get': schedule('getSchedule'),
  'ScheduleController.change': schedule('changeSchedule', 422),
  'ScheduleController.remove': schedule('deleteSchedule'),
  'ScheduleController.trigger': schedule('runSchedule', 409, 422),
  'WebhookController.create': webhook('createWebhook', 404, 409, 422),
  'WebhookController.list': webhook('listWebhooks'),
  'WebhookController.get': webhook('getWebhook'),
  'WebhookController.change': webhook('changeWebhook'),
  'WebhookController.remove': webhook('deleteWebhook'),
  'WebhookController.rotate': webhook('rotateWebhookSecret'),
  'WebhookController.test': webhook('testWebhook'),
  'WebhookController.deliveries': webhook('listWebhookDeliveries'),
  'WebhookController.retry': webhook('retryWebhookDelivery'),
  'AccessLogController.list': { id: 'listAccessLog', tag: 'Privacy' },
  'UsageController.own': { id: 'getUsage', tag: 'Usage' },
  'UsageController.latency': { id: 'getLatency', tag: 'Usage' },
  'UsageController.today': { id: 'listBudgets', tag: 'Usage' },
  'UsageController.tenants': { id: 'getTenantUsage', tag: 'Usage' },
  'UsageController.rebuild': { id: 'rebuildBudgets', tag: 'Usage', errors: [409] },
  'WorkflowController.list': workflow('listWorkflows'),
  'WorkflowController.get': workflow('getWorkflow'),
  'WorkflowController.start': workflow('startWorkflow', 409, 422, 502, 504),
  'McpEndpointController.get': { id: 'openMcpStream', tag: 'MCP', errors: [404, 405, 406] },
  'McpEndpointController.post': { id: 'sendMcpMessage', tag: 'MCP', errors: [404, 406] },
  'McpEndpointController.delete': { id: 'endMcpSession', tag: 'MCP', errors: [404, 405] },
  'HealthController.agent': { id: 'getAgentHealth', tag: 'Health' },
  'HealthController.live': { id: 'getLiveness', tag: 'Health' },
  'HealthController.ready': { id: 'getReadiness', tag: 'Health' },
};
