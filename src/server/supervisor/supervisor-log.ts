import { hostname } from 'node:os';
import type { SupervisorSettings } from './worker-message.types.js';

type Level = 'info' | 'warn' | 'error';
type Settings = Pick<SupervisorSettings, 'logLevel' | 'contextLevels' | 'logFormat'>;

/** The methods of Nest's `LoggerService` that the supervisor calls. */
export interface SupervisorLogger {
  log(message: string, context: string): void;
  warn(message: string, context: string): void;
  error(message: string, context: string): void;
}

/** Numbers of pino's levels. */
const NUMBER_OF: Readonly<Record<string, number>> = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 };

/**
 * Writes the few lines of the supervisor as its workers write theirs, without the packages of the log. Before the first
 * worker is ready, only errors are written.
 */
export class SupervisorLog {
  private settings: Settings = { logLevel: 'error', contextLevels: {}, logFormat: 'json' };

  /** @param own the logger of the application, if it has one */
  constructor(private readonly own?: SupervisorLogger) {}

  use(settings: Settings): void {
    this.settings = settings;
  }

  write(level: Level, message: string, context = 'Supervisor'): void {
    if (this.own) return this.own[level === 'info' ? 'log' : level](message, context);
    const { logLevel, contextLevels, logFormat } = this.settings;
    const lowest = NUMBER_OF[contextLevels[context] ?? logLevel] ?? Number.POSITIVE_INFINITY;
    if (NUMBER_OF[level]! < lowest) return;
    process.stdout.write(logFormat === 'text' ? textOf(level, message, context) : jsonOf(level, message, context));
  }
}

function jsonOf(level: Level, msg: string, context: string): string {
  const { pid } = process;
  return `${JSON.stringify({ level: NUMBER_OF[level], time: Date.now(), pid, hostname: hostname(), context, msg })}\n`;
}

function textOf(level: Level, message: string, context: string): string {
  const time = new Date().toTimeString().slice(0, 'HH:MM:SS'.length);
  return `[${time}] ${level.toUpperCase()}: ${context}: ${message}\n`;
}
