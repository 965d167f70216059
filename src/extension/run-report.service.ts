import { Inject, Injectable, type LoggerService, type OnModuleInit, type Provider } from '@nestjs/common';
import { Log } from '../errors/index.js';
import { ConfiguredSecrets } from '../config/index.js';
import { serverConfig, type ServerConfig } from '../config/namespaces/index.js';
import { type JsonValue, parseJson } from '../kernel/json/index.js';
import { maskSecrets } from '../kernel/text/index.js';
import { RunListenerRegistry, type RunNotice, type RunNoticeListener } from '../run/follow/index.js';
import { type Telemetry, toListener } from './telemetry.js';
import { SecurityPolicies } from '../tool-policy/index.js';
import { Tracing } from '../telemetry/index.js';

/** Receives measurements, or all run events. */
export type TelemetryOption = Partial<Telemetry> | RunNoticeListener;

/** The receivers given in code. */
interface ReportOptions {
  readonly telemetry?: TelemetryOption | undefined;
  readonly logger?: LoggerService | undefined;
}

const REPORT_OPTIONS = Symbol('REPORT_OPTIONS');

interface RunLog {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Maximum length of arguments in a line, in UTF-16 units. */
const MAX_ARGUMENTS = 1_000;
const CONTEXT = 'Run';

/**
 * Logs the iterations, model calls and tool calls of all runs at debug level, and failed calls as warnings, if the level
 * of the log is `debug` or a logger is given in code; passes measurements to the telemetry.
 */
@Injectable()
export class RunReportService implements OnModuleInit {
  private stopLog = (): void => undefined;
  private stopTelemetry = (): void => undefined;
  /** Arguments of the calls that are being executed. */
  private readonly given = new Map<string, string>();

  constructor(
    @Inject(REPORT_OPTIONS) private readonly options: ReportOptions,
    @Inject(serverConfig.KEY) private readonly config: ServerConfig,
    private readonly listeners: RunListenerRegistry,
    private readonly policies: SecurityPolicies,
    private readonly secrets: ConfiguredSecrets,
    private readonly tracing: Tracing,
  ) {}

  onModuleInit(): void {
    const { logger, telemetry } = this.options;
    this.tracing.useMask((text) => this.safe(text));
    if (telemetry) this.setTelemetry(telemetry);
    const level = this.config.contextLevels[CONTEXT] ?? this.config.logLevel;
    const isDebug = level === 'debug' || level === 'trace';
    if (logger || isDebug) this.setLogger(logger ?? new Log());
  }

  /** Replaces the telemetry. */
  setTelemetry(telemetry: TelemetryOption): void {
    this.stopTelemetry();
    const listener = typeof telemetry === 'function' ? telemetry : toListener(telemetry);
    this.stopTelemetry = this.listeners.register('telemetry', '**', listener);
  }

  /** Replaces the receiver of the log of runs. */
  setLogger(logger: LoggerService): void {
    this.stopLog();
    this.stopLog = this.listeners.register('the log of runs', '**', (notice) => this.report(logger, notice));
  }

  private report(logger: LoggerService, { runId: run_id, agent, event }: RunNotice): void {
    const log: RunLog = {
      debug: (fields, message) => void logger.debug?.({ run_id, agent, ...fields }, message, CONTEXT),
      warn: (fields, message) => void logger.warn({ run_id, agent, ...fields }, message, CONTEXT),
    };
    if (event.type === 'run.started') log.debug({}, 'Run started');
    if (event.type === 'message.completed') {
      const { iteration, tool_calls, finish_reason, execution_time_ms: duration_ms } = event;
      log.debug({ iteration, duration_ms, finish_reason, calls: tool_calls.length }, 'Model call completed');
    }
    if (event.type === 'tool.started') {
      const { iteration, tool, call_id, arguments: given } = event;
      this.given.set(keyOf(run_id, call_id), given);
      log.debug({ iteration, tool, arguments: this.masked(given) }, 'Tool call started');
    }
    if (event.type === 'tool.completed') this.reportResult(log, run_id, event);
    if (event.type === 'run.completed' || event.type === 'run.cancelled' || event.type === 'run.failed') {
      const { iterations, finish_reason } = event;
      log.debug({ iterations, finish_reason }, event.type === 'run.completed' ? 'Run completed' : 'Run ended');
    }
  }

  private reportResult(log: RunLog, runId: string, event: RunNotice<'tool.completed'>['event']): void {
    const { iteration, tool, call_id, code, error, execution_time_ms: duration_ms } = event;
    const key = keyOf(runId, call_id);
    const given = this.given.get(key) ?? '';
    this.given.delete(key);
    if (event.success) return log.debug({ iteration, tool, duration_ms }, 'Tool call completed');
    const failure = { code, error: error === undefined ? undefined : this.masked(error) };
    log.warn({ iteration, tool, duration_ms, ...failure, arguments: this.masked(given) }, 'Tool call failed');
  }

  private masked(text: string): string {
    const safe = this.safe(text);
    return safe.length > MAX_ARGUMENTS ? `${safe.slice(0, MAX_ARGUMENTS)}…` : safe;
  }

  /** Masks content of the security policy and secrets. */
  private safe(text: string): string {
    const filter = this.policies.log;
    const parsed = parseJson(text);
    const filtered = filter?.json(parsed.ok ? (parsed.value as JsonValue) : text) ?? { kind: 'clean' };
    const shown =
      filtered.kind === 'clean' ? text : filtered.kind === 'masked' ? JSON.stringify(filtered.value) : '[withheld]';
    return maskSecrets(shown, this.secrets.values);
  }
}

export function reportProviders(options: ReportOptions): Provider[] {
  return [{ provide: REPORT_OPTIONS, useValue: options }, RunReportService];
}

function keyOf(runId: string, callId: string): string {
  return `${runId} ${callId}`;
}
